"""Cursors: read back as they were written, and refused with the right reason."""

import base64
from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Search
from kebab_stream.errors import StaleCursorError
from kebab_stream.model import Filters, SearchQuery
from kebab_stream.single.cursor import decode_cursor, encode_cursor, fingerprint

REVISION = "00000007-0123456789ab"
QUERY = "0123456789abcdef"


def refusal(cursor: str, revision: str = REVISION, query: str = QUERY) -> StaleCursorError:
    with pytest.raises(StaleCursorError) as caught:
        decode_cursor(cursor, revision).offset_in(query)
    return caught.value


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(value)).rstrip(b"=").decode()


def with_fields(**changes: object) -> str:
    return encoded({"offset": 10, "corpus_revision": REVISION, "query": QUERY} | changes)


@given(st.integers(0, 2**64 - 1), st.text(), st.text())
def test_an_offset_is_read_back(offset: int, revision: str, query: str) -> None:
    assert decode_cursor(encode_cursor(offset, revision, query), revision).offset_in(query) == offset


def test_a_cursor_is_unpadded_base64url_of_json_with_offset_and_revision() -> None:
    for offset in range(0, 5000, 7):
        cursor = encode_cursor(offset, REVISION, QUERY)
        fields = orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))

        assert "=" not in cursor
        assert fields["offset"] == offset
        assert fields["corpus_revision"] == REVISION


GOOD = encode_cursor(10, REVISION, QUERY)
STANDARD = (
    base64.b64encode(orjson.dumps({"offset": 1, "corpus_revision": "??>>~~", "query": "a"})).rstrip(b"=").decode()
)
MALFORMED = {
    "empty": "",
    "blank": " ",
    "one character": "A",
    "padded": encode_cursor(100, REVISION, QUERY) + "=",
    "padding alone": "====",
    "cut off": GOOD[:-3],
    "foreign character in it": GOOD[:8] + "!" + GOOD[8:],
    "white space in it": GOOD[:8] + "\n" + GOOD[8:],
    "white space around it": f" {GOOD} ",
    "standard base64": base64.b64encode(
        orjson.dumps({"offset": 1, "corpus_revision": "??>>~~", "query": QUERY})
    ).decode(),
    "not ASCII": "다음",
    "a full-width letter": GOOD[:-1] + "Ａ",
    "a lone surrogate": "\udcff",
    "a null character": "\0",
    "an offset in plain text": "10",
    "no JSON": base64.urlsafe_b64encode(b"offset=10").rstrip(b"=").decode(),
    "no UTF-8": base64.urlsafe_b64encode(b'{"offset":1,"corpus_revision":"\xff","query":"a"}').rstrip(b"=").decode(),
    "an array": encoded([10, REVISION, QUERY]),
    "a number": encoded(10),
    "null": encoded(None),
    "deep nesting": encoded([[[[]]]]),
    "bottomless nesting": base64.urlsafe_b64encode(b"[" * 3000).rstrip(b"=").decode(),
    "a negative offset": with_fields(offset=-1),
    "a boolean offset": with_fields(offset=True),
    "an offset with a fraction": with_fields(offset=10.0),
    "a text for an offset": with_fields(offset="10"),
    "null for an offset": with_fields(offset=None),
    "a huge offset": base64.urlsafe_b64encode(
        b'{"offset":' + b"9" * 400 + f',"corpus_revision":"{REVISION}","query":"{QUERY}"}}'.encode()
    )
    .rstrip(b"=")
    .decode(),
    "a number for a revision": with_fields(corpus_revision=7),
    "a number for a query": with_fields(query=7),
    "no offset": encoded({"corpus_revision": REVISION, "query": QUERY}),
    "no revision": encoded({"offset": 10, "query": QUERY}),
    "no query": encoded({"offset": 10, "corpus_revision": REVISION}),
}


@pytest.mark.parametrize("cursor", MALFORMED.values(), ids=MALFORMED.keys())
def test_what_this_program_did_not_write_is_malformed(cursor: str) -> None:
    error = refusal(cursor)

    assert error.code == "stale_cursor"
    assert error.details == {"reason": "malformed"}
    assert error.message.isprintable()


@given(st.text() | st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()))
def test_any_text_is_an_offset_or_refused(cursor: str) -> None:
    assert refusal(cursor).details == {"reason": "malformed"}


@given(st.integers(0, len(GOOD) - 1), st.characters())
def test_no_changed_character_goes_unnoticed_or_breaks_the_reader(place: int, char: str) -> None:
    cursor = GOOD[:place] + char + GOOD[place + 1 :]
    try:
        offset = decode_cursor(cursor, REVISION).offset_in(QUERY)
    except StaleCursorError:
        return

    assert cursor == GOOD or offset != 10


def test_a_cursor_of_another_revision_names_both_and_says_what_to_do() -> None:
    error = refusal(GOOD, revision="00000008-ba9876543210")

    assert error.details == {"reason": "revision"}
    assert REVISION in error.message
    assert "00000008-ba9876543210" in error.message
    assert "Re-issue search" in error.message


def test_a_message_repeats_no_more_than_the_beginning_of_a_forged_revision() -> None:
    error = refusal(with_fields(corpus_revision="x" * 10_000 + "\x1b"))

    assert error.details == {"reason": "revision"}
    assert len(error.message) < 300
    assert error.hint == "search again without the cursor"  # fits flags, items and arguments alike


def test_a_cursor_of_another_query_is_refused() -> None:
    assert refusal(GOOD, query="f" * 16).details == {"reason": "query"}


def test_the_form_is_checked_first_then_the_revision_then_the_query() -> None:
    assert refusal(with_fields(offset=-1), revision="other", query="other").details == {"reason": "malformed"}
    assert refusal(GOOD, revision="other", query="other").details == {"reason": "revision"}


ASKED = SearchQuery(query="커피", mode="hybrid", k=10, filters=Filters(tag=("a", "b")))


def other(**changes: object) -> SearchQuery:
    return replace(ASKED, filters=replace(ASKED.filters, **changes))  # type: ignore[arg-type]  # as the caller says


@pytest.mark.parametrize("k", [None, 0, 1, 1000])
def test_the_page_size_may_change_between_pages(k: int | None) -> None:
    assert fingerprint(replace(ASKED, k=k), "hybrid", Search()) == fingerprint(ASKED, "hybrid", Search())


CHANGED_QUERIES = [
    replace(ASKED, query="커피 "),
    replace(ASKED, query="\udcff"),
    replace(ASKED, mode="lexical"),
    replace(ASKED, per_doc=1),
    replace(ASKED, per_doc=2),
    replace(ASKED, rerank=True),
    other(tag=("a",)),
    other(tag=("a,b",)),
    other(lang="ko"),
    other(doc_id="0" * 32),
    other(path_glob="**"),
    other(trust_min="primary"),
    other(media=("code",)),
    other(code_lang=("rust",)),
    other(repo=("a",)),
    other(source=("a",)),
    other(source_type=("a",)),
    other(ingested_after=datetime(2026, 1, 1, tzinfo=UTC)),
    other(ingested_after=datetime(2026, 1, 1, 0, 0, 0, 1, tzinfo=UTC)),
    other(must=("a",)),
    other(must_not=("a",)),
    other(must_not=("\udcff",)),
]


def test_query_mode_and_every_filter_are_part_of_the_fingerprint() -> None:
    prints = {fingerprint(query, "hybrid", Search()) for query in [ASKED, *CHANGED_QUERIES]}

    assert len(prints) == 1 + len(CHANGED_QUERIES)


def test_the_method_and_every_ranking_setting_are_part_of_the_fingerprint() -> None:
    settings = [Search(fusion="rrf"), Search(fusion_weight=0.3), Search(rrf_k=61), Search(candidate_depth=201)]
    prints = {fingerprint(ASKED, "hybrid", changed) for changed in [Search(), *settings]}

    assert len(prints | {fingerprint(ASKED, "lexical", Search())}) == 6


def test_a_page_in_the_order_of_one_reranking_model_does_not_continue_another() -> None:
    prints = {fingerprint(ASKED, "hybrid", Search(), "exact", reranker) for reranker in (None, "a", "b")}

    assert len(prints) == 3


def test_the_cosine_that_counts_as_nothing_is_part_of_the_fingerprint() -> None:
    prints = {fingerprint(ASKED, "hybrid", Search(), score_floor=floor) for floor in (None, 0.0, 0.6)}

    assert len(prints) == 3


def test_settings_of_the_page_are_not_part_of_the_fingerprint() -> None:
    settings = Search(default_k=3, snippet_chars=50, chars_per_token=1.5, stale_threshold_days=7)

    assert fingerprint(ASKED, "hybrid", settings) == fingerprint(ASKED, "hybrid", Search())
