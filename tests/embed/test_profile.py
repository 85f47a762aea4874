"""What is known of families of models, and what settings make of it."""

from pathlib import Path
from typing import Any

import pytest

from kebab_stream.config import Embedding
from kebab_stream.embed.profile import Profile, family_of, profile_of

RETRIEVAL = "Represent this sentence for searching relevant passages: "


@pytest.mark.parametrize(
    ("model", "profile"),
    [
        ("intfloat/multilingual-e5-large", Profile("query: ", "passage: ", 0.7)),
        ("multilingual-e5-small", Profile("query: ", "passage: ", 0.7)),
        ("BAAI/bge-small-en", Profile(RETRIEVAL, "", 0.6)),
        ("BAAI/bge-base-en-v1.5", Profile(RETRIEVAL)),
        ("bge-m3", Profile()),
        ("nomic-ai/nomic-embed-text-v1.5-Q", Profile("search_query: ", "search_document: ")),
        ("nomic-embed-text:latest", Profile("search_query: ", "search_document: ")),
        ("mixedbread-ai/mxbai-embed-large-v1", Profile(RETRIEVAL)),
        ("snowflake/snowflake-arctic-embed-m-long", Profile(RETRIEVAL)),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", Profile("query: ")),
        ("snowflake-arctic-embed2", Profile("query: ")),
        ("embeddinggemma:300m", Profile("task: search result | query: ", "title: none | text: ")),
        ("sentence-transformers/all-MiniLM-L6-v2", Profile()),
        ("text-embedding-3-small", Profile()),
        ("me5-like", Profile()),
    ],
)
def test_a_family_is_told_by_its_name(model: str, profile: Profile) -> None:
    assert family_of(model) == profile


def test_an_instructed_e5_wants_a_task_before_its_queries() -> None:
    profile = family_of("intfloat/multilingual-e5-large-instruct")

    assert profile.query_prefix.startswith("Instruct: ")
    assert (profile.passage_prefix, profile.score_floor) == ("", 0.7)


@pytest.mark.parametrize(
    ("settings", "profile"),
    [
        ({}, Profile("query: ", "passage: ", 0.7)),
        ({"query_prefix": "none", "passage_prefix": "doc: ", "score_floor": 0.0}, Profile("", "doc: ", 0.0)),
        ({"model": "mine", "model_path": Path("/models/e5-small-ko")}, Profile("query: ", "passage: ", 0.7)),
        ({"provider": "static", "score_floor": 0.1}, Profile("", "", 0.1)),
    ],
)
def test_a_setting_is_stronger_than_what_is_known(settings: dict[str, Any], profile: Profile) -> None:
    wanted: dict[str, Any] = {"provider": "ollama", "model": "multilingual-e5-large", **settings}

    assert profile_of(Embedding(**wanted)) == profile
