"""The page about answers explains all there is."""

import dataclasses
import re
from typing import get_args

from kebab_stream.ask.passages import CONTEXT_CHARS, DEFAULT_K, MIN_COSINE, MIN_SHARE
from kebab_stream.ask.server import ANSWER_TOKENS
from kebab_stream.reports.answers import Answer, AnswerCitation, NoAnswerReason
from kebab_stream.servers.server import OLLAMA_ENDPOINT
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "ask.md").read_text(encoding="utf-8")


def test_every_field_and_every_reason_is_explained() -> None:
    names = {field.name for kind in (Answer, AnswerCitation) for field in dataclasses.fields(kind)}

    assert names | set(get_args(NoAnswerReason)) <= set(re.findall("`([a-z_]+)`", PAGE))


def test_the_figures_are_those_of_the_code() -> None:
    assert f"{DEFAULT_K} by default" in PAGE
    assert f"{CONTEXT_CHARS:,} characters" in PAGE
    assert f"{MIN_SHARE:.0%}".replace("%", " %") in PAGE
    assert f"below {MIN_COSINE}" in PAGE
    assert f"{ANSWER_TOKENS:,} tokens" in PAGE
    assert f"`{OLLAMA_ENDPOINT}`" in PAGE
