"""How a model wants to be used: what stands before its texts, and which cosine means nothing to it.

Many models were trained with a prefix, and find less without it. Prefixes are those of the models' own pages. A floor
is there only where a model's page names the range of its cosines: .7 to 1 for E5, .6 to 1 for the first BGE.
"""

import re
from dataclasses import dataclass
from typing import Final

from kebab_stream.embed.settings import EmbeddingSettings

AUTO: Final = "auto"
NONE: Final = "none"

_RETRIEVAL: Final = "Represent this sentence for searching relevant passages: "
_TASK: Final = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"


@dataclass(frozen=True, slots=True)
class Profile:
    """What texts and scores of a model need."""

    query_prefix: str = ""
    passage_prefix: str = ""
    score_floor: float = 0.0
    """Cosine of texts that have nothing in common."""


_FAMILIES: Final = (
    (r"\be5-.*\binstruct\b", Profile(f"{_TASK} ", "", 0.7)),
    (r"\be5-", Profile("query: ", "passage: ", 0.7)),
    (r"\bbge-(small|base|large)-en$", Profile(_RETRIEVAL, "", 0.6)),
    (r"\bbge-(small|base|large)-en\b", Profile(_RETRIEVAL)),
    (r"\bbge-(small|base|large)-zh\b", Profile("为这个句子生成表示以用于检索相关文章：")),
    (r"\bnomic-embed-text\b", Profile("search_query: ", "search_document: ")),
    (r"\bmxbai-embed-(large|xsmall)\b", Profile(_RETRIEVAL)),
    (r"\bsnowflake-arctic-embed(2|-[ml]-v2)", Profile("query: ")),
    (r"\bsnowflake-arctic-embed\b", Profile(_RETRIEVAL)),
    (r"\bembedding-?gemma\b", Profile("task: search result | query: ", "title: none | text: ")),
    (r"\bqwen3-embedding\b", Profile(_TASK)),
)
"""The first pattern that occurs in the name of a model, without capitals, tells its family."""


def profile_of(wanted: EmbeddingSettings) -> Profile:
    """The profile that the settings give, with what is known of the model's family where they leave it open."""
    name = wanted.model if wanted.model_path is None else f"{wanted.model} {wanted.model_path.name}"
    known = Profile() if wanted.provider in ("static", "none") else family_of(name)
    return Profile(
        _prefix(wanted.query_prefix, known.query_prefix),
        _prefix(wanted.passage_prefix, known.passage_prefix),
        known.score_floor if wanted.score_floor < 0 else wanted.score_floor,
    )


def family_of(model: str) -> Profile:
    """What is known of models with such a name."""
    name = model.lower().replace("_", "-")
    return next((profile for pattern, profile in _FAMILIES if re.search(pattern, name)), Profile())


def _prefix(given: str, known: str) -> str:
    return {AUTO: known, NONE: ""}.get(given, given)
