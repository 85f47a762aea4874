"""Settings: one table of keys, read from the config file, the environment and the command line, checked at the end.

`settings.py` holds the table, as dataclasses; `keys.py` derives from it what a value must look like, `load.py` reads
and merges the three layers, `places.py` resolves paths, `describe.py` writes the commented file and the user's page.

No pydantic here, although it validates the rest of what comes from outside: importing it with one model takes about
300 ms, more than a whole search, and each command loads its settings. Thirty flat keys of seven kinds do not need it.
"""

from kebab_stream.config.load import load_config
from kebab_stream.config.places import default_config_path
from kebab_stream.config.settings import (
    Chunking,
    Config,
    Embedding,
    Ingest,
    Llm,
    Models,
    Search,
    Source,
    Storage,
    Workspace,
)
from kebab_stream.model import EmbeddingProvider

__all__ = [
    "Chunking",
    "Config",
    "Embedding",
    "EmbeddingProvider",
    "Ingest",
    "Llm",
    "Models",
    "Search",
    "Source",
    "Storage",
    "Workspace",
    "default_config_path",
    "load_config",
]
