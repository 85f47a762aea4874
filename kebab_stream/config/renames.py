"""Settings that have another name by now. Old names go on working until `migrate` brings the file up to date."""

from collections.abc import Mapping

RENAMED = {
    "models.embedding.num_threads": "threads",
    "models.llm.request_timeout_secs": "timeout_s",
    "search.hybrid_fusion": "fusion",
}
"""Dotted names of the earlier program for this format, and what the same setting is called now, in the same table.

Only settings of the same meaning and unit: its sizes of chunks, for example, were in tokens, and nobody can say what
they are in characters.
"""


def current_name(name: str, table: Mapping[str, object]) -> str:
    """What a setting of a config file is called now; an old name beside the new one in its table stays unknown."""
    new = RENAMED.get(name)
    return name if new is None or new in table else f"{name.rpartition('.')[0]}.{new}"
