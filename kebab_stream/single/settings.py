"""What tunes the ranking and shaping of one query, as the configuration gives it."""

from typing import Literal, Protocol

from kebab_stream.model import Fusion

VectorPath = Literal["auto", "hnsw", "exact"]

MAX_RESULTS = 1000
"""Size of the result set of a lexical or vector query."""


class SearchSettings(Protocol):
    """Settings of a search that do not come with the query; `config.Search` has them, with defaults and ranges."""

    @property
    def default_k(self) -> int:
        """Hits on a page where the query does not say."""

    @property
    def snippet_chars(self) -> int:
        """Longest snippet, in code points, where the query does not say."""

    @property
    def fusion(self) -> Fusion:
        """How two rankings become one."""

    @property
    def fusion_weight(self) -> float:
        """Share of the cosine in the convex fusion, from 0 to 1."""

    @property
    def rrf_k(self) -> int:
        """Damping of the reciprocal rank fusion."""

    @property
    def candidate_depth(self) -> int:
        """How many of the best chunks of each side enter fusion."""

    @property
    def vector_index(self) -> VectorPath:
        """Whether the graph over the vectors is walked, if there is one: `exact` never, `auto` where it saves work."""

    @property
    def exact_below(self) -> int:
        """Number of windows up to which `auto` is exact."""

    @property
    def stale_threshold_days(self) -> int:
        """Age in days from which a document counts as stale; 0 means never."""

    @property
    def chars_per_token(self) -> float:
        """Characters counted as one token of a budget."""
