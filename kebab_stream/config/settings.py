"""The table of settings: frozen dataclasses whose fields carry default, range and help text.

All else follows from it: what the file, the environment and the flags may hold, the commented file and the docs.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kebab_stream.config.keys import about, keys_of
from kebab_stream.model import EmbeddingProvider, Fusion, Pooling, TrustLevel

VectorIndex = Literal["auto", "hnsw", "exact"]
LlmProvider = Literal["none", "ollama", "openai"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Storage:
    """Where the index lives."""

    data_dir: Path = field(metadata=about("Folder of the index and its data.", default="${XDG_DATA_HOME}/kebab"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A folder to index: one `[[workspace.sources]]` table."""

    id: str = field(
        metadata=about(
            "Name of the source, used by `--source`; unique, without commas. "
            "Documents are identified by it, so it outlives a moved folder."
        )
    )
    root: Path = field(metadata=about("Folder to index."))
    exclude: tuple[str, ...] = field(
        default=(), metadata=about("Patterns, as in a `.gitignore` file, of what to leave out.")
    )
    trust_level: TrustLevel = field(
        default="primary", metadata=about("How far its documents are trusted, for `--trust-min`.")
    )
    source_type: str = field(default="notes", metadata=about("Free label, for `--source-type`; without commas."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """What is indexed when `kebab ingest` is given no folder."""

    root: Path | None = field(default=None, metadata=about("A folder to index, as a source named after it."))
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """The model that turns text into vectors."""

    provider: EmbeddingProvider = field(
        default="static",
        metadata=about(
            "`static` is the bundled Korean and English model, `fastembed` runs an ONNX model, `ollama` asks a local "
            "server, `openai` any server with an OpenAI-compatible interface, `none` switches vectors off. "
            "The next `kebab ingest` embeds everything with a new model."
        ),
    )
    model: str = field(
        default="static-koen-256",
        metadata=about("Name of the model; with `fastembed` a name from its list, with a server one that it has."),
    )
    model_path: Path | None = field(
        default=None,
        metadata=about(
            "Folder that holds the model's files, in place of the bundled or downloaded ones; "
            "with `fastembed` any ONNX model with its tokenizer."
        ),
    )
    pooling: Pooling = field(
        default="auto",
        metadata=about(
            "How an ONNX model in a folder makes one vector of those of the tokens; `auto` does what the folder says, "
            "or else takes the mean."
        ),
    )
    query_prefix: str = field(
        default="auto",
        metadata=about(
            "Text put before each query, with its space; `auto` takes what the model's family was trained with, "
            "`none` puts nothing."
        ),
    )
    passage_prefix: str = field(
        default="auto", metadata=about("Text put before each passage, with its space; `auto` and `none` as above.")
    )
    score_floor: float = field(
        default=-1.0,
        metadata=about(
            "Cosine of texts that have nothing in common, which counts as 0 in a hybrid search; "
            "-1 takes what is known of the model's family, or else 0; other numbers below 0 are refused.",
            low=-1,
            high=0.99,
        ),
    )
    batch_size: int = field(
        default=64,
        metadata=about("Texts in one request to a server; other models take one at a time.", low=1, high=4096),
    )
    threads: int = field(
        default=0, metadata=about("Threads of an ONNX model; 0 lets its library choose.", low=0, high=256)
    )
    endpoint: str | None = field(
        default=None,
        metadata=about(
            "Address of the server, beginning with `http://` or `https://`. "
            "With `ollama` it may be left out: `http://127.0.0.1:11434`; with `openai` it may end with `/v1`."
        ),
    )
    api_key_env: str | None = field(
        default=None,
        metadata=about("Name of an environment variable that holds the key of the server. The key is never a setting."),
    )
    timeout_s: float = field(
        default=120.0,
        metadata=about(
            "Seconds that one request to the server may take, the loading of the model included.", low=0.1, high=86_400
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerank:
    """The model that `--rerank` orders the best hits with."""

    model: str | None = field(
        default=None,
        metadata=about("Name of a cross-encoder from fastembed's list; without it `--rerank` is an error."),
    )
    model_path: Path | None = field(
        default=None,
        metadata=about(
            "Folder that holds the model's files (`model.onnx`, `tokenizer.json`, `tokenizer_config.json`), in place "
            "of downloaded ones; any cross-encoder will do then, and `model` may be left out."
        ),
    )
    depth: int = field(
        default=50, metadata=about("How many of the best hits the model is asked about.", low=1, high=1000)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """The language model of `kebab ask`."""

    provider: LlmProvider = field(
        default="none",
        metadata=about(
            "`none` switches `kebab ask` off, `ollama` is a local server, "
            "`openai` any server with an OpenAI-compatible interface."
        ),
    )
    endpoint: str | None = field(
        default=None,
        metadata=about(
            "Address of the server, beginning with `http://` or `https://`. "
            "With `ollama` it may be left out: `http://127.0.0.1:11434`; with `openai` it may end with `/v1`."
        ),
    )
    model: str | None = field(default=None, metadata=about("Name of the model on that server."))
    api_key_env: str | None = field(
        default=None,
        metadata=about(
            "Name of an environment variable that holds the key of the server, for servers that want one. "
            "The key itself is never a setting."
        ),
    )
    timeout_s: float = field(
        default=120.0,
        metadata=about(
            "Seconds that a whole answer may take, the loading of the model included. There is no value for no limit.",
            low=0.1,
            high=86_400,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models in use."""

    embedding: Embedding = Embedding()
    rerank: Rerank = Rerank()
    llm: Llm = Llm()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunking:
    """How documents are cut. Sizes are in characters: overlap < target <= max."""

    target_chars: int = field(
        default=1600, metadata=about("Size that a chunk aims at, in characters.", low=100, high=100_000)
    )
    overlap_chars: int = field(
        default=200,
        metadata=about("Text repeated from the chunk before; less than `target_chars`.", low=0, high=99_999),
    )
    max_chars: int = field(
        default=4000,
        metadata=about("Size that no chunk exceeds; at least `target_chars`.", low=100, high=1_000_000),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingest:
    """What becomes documents and chunks."""

    max_file_bytes: int = field(
        default=10_485_760,
        metadata=about(
            "Larger files are skipped, PDFs if they are ten times larger; the default is 10 MiB.",
            low=1,
            high=1_073_741_824,
        ),
    )
    processes: int = field(
        default=0,
        metadata=about(
            "Processes that parse files at once, about 100 MB each; 0 starts as many as there are processors, at most "
            "4, where there is enough to do, and with 1 there are no others.",
            low=0,
            high=64,
        ),
    )
    chunking: Chunking = Chunking()


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """How queries are answered."""

    default_k: int = field(default=10, metadata=about("Hits on a page where `--k` is absent or 0.", low=1, high=1000))
    snippet_chars: int = field(
        default=220,
        metadata=about("Longest snippet, in characters, where `--snippet-chars` is absent.", low=1, high=10_000),
    )
    fusion: Fusion = field(
        default="convex",
        metadata=about("How a hybrid search joins its two rankings: by weighted scores, or by reciprocal ranks."),
    )
    fusion_weight: float = field(
        default=0.25, metadata=about("Share of the vector side in `convex` fusion.", low=0, high=1)
    )
    rrf_k: int = field(
        default=60,
        metadata=about(
            "Damping of `rrf` fusion; larger values flatten the difference between ranks.", low=1, high=1000
        ),
    )
    candidate_depth: int = field(
        default=200,
        metadata=about("Best chunks of each side that a hybrid search joins.", low=1, high=1000),
    )
    vector_index: VectorIndex = field(
        default="auto",
        metadata=about(
            "`exact` compares all vectors; `hnsw` walks a graph, which may miss a few of the nearest; `auto` walks it "
            "in large indexes, where that is quicker. Ingest builds the graph, with the next change or with "
            "`--rebuild-index`; a search without one compares all."
        ),
    )
    exact_below: int = field(
        default=1_000_000,
        metadata=about("Number of vectors up to which `auto` is exact.", low=0, high=100_000_000),
    )
    stale_threshold_days: int = field(
        default=0,
        metadata=about(
            "Hits indexed more days ago than this are marked as stale; with 0, the default, none is.",
            low=0,
            high=36_500,
        ),
    )
    chars_per_token: float = field(
        default=4.0,
        metadata=about("Characters counted as one token of a `--max-tokens` budget.", low=0.01, high=1000),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All settings, merged and checked; the sections mirror the keys.

    Paths are absolute. `path` is the file that was read, None where there was none.
    """

    path: Path | None = None
    readonly: bool = field(default=False, metadata=about("Refuse every command that writes, as `--readonly` does."))
    storage: Storage
    workspace: Workspace = Workspace()
    models: Models = Models()
    ingest: Ingest = Ingest()
    search: Search = Search()


KEYS = {key.name: key for key in keys_of(Config)}
"""Every scalar setting by its dotted name, in the order of the config file."""

SOURCE_KEYS = {key.name: key for key in keys_of(Source)}
"""Keys of one `[[workspace.sources]]` table."""

SOURCES = "workspace.sources"
SECTIONS = {name[:dot] for name in KEYS for dot in range(len(name)) if name[dot] == "."}
"""Dotted names of the tables that hold settings."""


def variable_of(name: str) -> str:
    """The environment variable that sets a key."""
    return f"KEBAB_{name.upper().replace('.', '_')}"


ENVIRONMENT = {variable_of(name): name for name in KEYS}
"""Environment variables and the settings they set."""
