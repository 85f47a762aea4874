"""A bulk item is answered like a single search, to the byte; on the real engine, by the real serializer."""

import re

import orjson
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.bulk.emit import JsonEmitter
from kebab_stream.bulk.execute import answer
from kebab_stream.bulk.validate import BatchLine
from kebab_stream.engine import Engine
from kebab_stream.errors import KebabError
from kebab_stream.model import Filters, SearchOpts, SearchQuery
from kebab_stream.render import error_record, to_json
from tests.corpora import prose
from tests.single.conftest import *  # noqa: F403  # the session's corpus
from tests.single.library import LANGS, TAGS
from tests.wire import checked

items = st.fixed_dictionaries(
    {"query": prose | st.sampled_from(['"pour over"', "?!", "coffee", "커피"])},
    optional={
        "mode": st.sampled_from(["lexical", "vector", "hybrid"]),
        "k": st.integers(0, 60),
        "per_doc": st.integers(0, 3),
        "rerank": st.sampled_from([False, False, False, True]),  # no model is set: an error
        "max_tokens": st.integers(1, 4000),
        "snippet_chars": st.integers(1, 500),
        "trace": st.booleans(),
        "tag": st.lists(st.sampled_from(TAGS), max_size=2),
        "lang": st.sampled_from(LANGS),
        "cursor": st.just("bm9uZQ"),
    },
)


@given(item=items)
def test_the_response_of_an_item_is_that_of_a_single_search(library: Engine, item: dict[str, object]) -> None:
    line = BatchLine(orjson.dumps(item))
    written: list[bytes] = []
    JsonEmitter(written.append, written.append).item(1, line, answer(library, line.value))

    assert without_times(written[0]) == without_times(
        b'{"schema_version":"bulk_search_item.v1","query":%b,%b}\n'
        % (
            line.data,
            single(library, item),
        )
    )
    checked(written[0])


def single(engine: Engine, item: dict[str, object]) -> bytes:
    """What a single search gives, as the last two keys of an item."""
    given = dict(item)
    query = SearchQuery(
        query=str(given["query"]),
        mode=given.get("mode", "hybrid"),  # type: ignore[arg-type]  # as drawn
        k=given.get("k"),  # type: ignore[arg-type]  # as drawn
        per_doc=given.get("per_doc"),  # type: ignore[arg-type]  # as drawn
        rerank=bool(given.get("rerank")),
        filters=Filters(tag=tuple(given.get("tag", ())), lang=given.get("lang")),  # type: ignore[arg-type]  # as drawn
    )
    shape = ("max_tokens", "snippet_chars", "trace", "cursor")
    opts = SearchOpts(**{name: given[name] for name in shape if name in given})  # type: ignore[arg-type]  # as drawn
    try:
        return b'"response":%b,"error":null' % to_json(engine.search_with_opts(query, opts))
    except KebabError as error:
        return b'"response":null,"error":%b' % to_json(error_record(error))


def without_times(line: bytes) -> bytes:
    return re.sub(rb'"timing":\{[^}]*\}', b"", line)
