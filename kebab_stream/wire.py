"""One search as JSON: a bulk item or the arguments of the MCP tool, checked and turned into what the engine takes."""

from collections.abc import Callable
from difflib import get_close_matches
from itertools import islice
from typing import Annotated, Any, Final

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from kebab_stream.errors import InvalidInputError
from kebab_stream.model import Filters, Mode, SearchOpts, SearchQuery, TrustLevel
from kebab_stream.single import validate

SHAPE: Final = '{"query": "text", "mode": "hybrid", "k": 10, "tag": ["a"], …}'
"""An item, for messages."""
_HINT: Final = f"an item looks like {SHAPE}"
_ACCEPTED: Final = {
    **validate.ACCEPTED,
    "tags": "text or an array of texts where tag is absent: another name for it",
    "id": "any JSON, ignored",
    "meta": "any JSON, ignored",
}
_MAX_PROBLEMS: Final = 10
"""More unknown keys are not looked into: a line has room for a hundred thousand."""


def _passing(check: Callable[[str], object]) -> AfterValidator:
    def validator(text: str) -> str:
        try:
            check(text)
        except InvalidInputError as error:
            raise ValueError(error.message) from error
        return text

    return AfterValidator(validator)


def _in_range(limits: validate.Range) -> Any:
    return Field(ge=limits.least, le=limits.most)


def _describe(schema: dict[str, Any]) -> None:
    for key, text in _ACCEPTED.items():
        schema["properties"][key]["description"] = text
        schema["properties"][key].pop("title", None)


Texts = str | Annotated[list[str], Field(fail_fast=True)]
"""One string is one value: it is never split at commas."""


class SearchItem(BaseModel):
    """The keys of one search. An absent key and null are the same; integers have no fraction."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, json_schema_extra=_describe)

    query: Annotated[str, _passing(validate.query_text)]
    mode: Mode | None = None
    k: Annotated[int, _in_range(validate.K)] | None = None
    per_doc: Annotated[int, _in_range(validate.PER_DOC)] | None = None
    rerank: bool | None = None
    max_tokens: Annotated[int, _in_range(validate.MAX_TOKENS)] | None = None
    snippet_chars: Annotated[int, _in_range(validate.SNIPPET_CHARS)] | None = None
    cursor: str | None = None
    trace: bool | None = None
    tag: Texts | None = None
    tags: Texts | None = None
    lang: str | None = None
    path_glob: str | None = None
    trust_min: TrustLevel | None = None
    media: Texts | None = None
    ingested_after: Annotated[str, _passing(validate.instant)] | None = None
    doc_id: str | None = None
    repo: Texts | None = None
    code_lang: Texts | None = None
    source: Texts | None = None
    source_type: Texts | None = None
    must: Texts | None = None
    must_not: Texts | None = None
    id: Any = None
    meta: Any = None

    @field_validator("tags")
    @classmethod
    def _not_beside_tag(cls, tags: Texts | None, info: ValidationInfo) -> Texts | None:
        if tags is not None and info.data.get("tag") is not None:
            raise ValueError(_ACCEPTED["tags"])
        return tags


def parse_item(value: object) -> tuple[SearchQuery, SearchOpts]:
    """Check one decoded item and return what to search and how to shape the answer.

    Raises:
        InvalidInputError: the first problem in the order of `SearchItem`, unknown keys last (first where the query is
            missing). `details` has its `key`, `value` and `accepted`; of several, `problems` has those of each.
    """
    if not isinstance(value, dict):
        raise _no_object(value)
    fields = SearchItem.model_fields
    problems = [_unknown(key, value[key]) for key in islice((key for key in value if key not in fields), _MAX_PROBLEMS)]
    try:
        item = SearchItem.model_validate({key: value[key] for key in fields if key in value})
    except ValidationError as error:
        refusals = _refusals(value, error)
        # A missing query mostly goes by another name: the unknown key tells more then.
        problems = refusals + problems if "query" in value else problems + refusals
        raise _joined(problems) from None  # pydantic's own text would repeat whole values
    if problems:
        raise _joined(problems)
    return _query(item), SearchOpts(
        max_tokens=item.max_tokens, snippet_chars=item.snippet_chars, cursor=item.cursor, trace=bool(item.trace)
    )


def _query(item: SearchItem) -> SearchQuery:
    filters = Filters(
        tag=_texts(item.tag if item.tag is not None else item.tags),
        lang=item.lang,
        doc_id=item.doc_id,
        path_glob=item.path_glob,
        trust_min=item.trust_min,
        media=_texts(item.media),
        code_lang=_texts(item.code_lang),
        repo=_texts(item.repo),
        source=_texts(item.source),
        source_type=_texts(item.source_type),
        ingested_after=None if item.ingested_after is None else validate.instant(item.ingested_after),
        must=_texts(item.must),
        must_not=_texts(item.must_not),
    )
    return SearchQuery(
        query=item.query,
        mode=item.mode or "hybrid",
        k=item.k,
        per_doc=item.per_doc,
        rerank=bool(item.rerank),
        filters=filters,
    )


def _texts(value: Texts | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def _no_object(value: object) -> InvalidInputError:
    kind, seen = validate.json_type(value), validate.shown(value)
    return InvalidInputError(
        f'expected a JSON object with a "query", got {kind if kind == seen else f"{kind} {seen}"}',
        _HINT,
        {"value": seen, "accepted": SHAPE},
    )


def _refusals(value: dict[Any, Any], error: ValidationError) -> list[InvalidInputError]:
    """One error for each key that pydantic refused, in field order."""
    # A key may be refused several times: once for each kind of value it accepts.
    found = error.errors(include_url=False, include_context=False, include_input=False)
    keys = {problem["loc"][0] for problem in found}
    return [_refusal(key, value) for key in SearchItem.model_fields if key in keys]


def _refusal(key: str, value: dict[Any, Any]) -> InvalidInputError:
    accepted = _ACCEPTED[key]
    if key in value:
        return validate.refused(key, value[key], accepted)
    return InvalidInputError(f"{key}: missing, expected {accepted}", _HINT, {"key": key, "accepted": accepted})


def _unknown(key: object, value: object) -> InvalidInputError:
    name, seen = validate.shown(key), validate.shown(value)
    close = get_close_matches(key, SearchItem.model_fields, n=1) if isinstance(key, str) else []
    advice = f"; did you mean {close[0]}?" if close else ""
    accepted = ", ".join(SearchItem.model_fields)
    return InvalidInputError(
        f"unknown key {name} with value {seen}{advice}; accepted are {accepted}",
        _HINT,
        {"key": validate.shortened(key) if isinstance(key, str) else name, "value": seen, "accepted": accepted},
    )


def _joined(problems: list[InvalidInputError]) -> InvalidInputError:
    first = problems[0]
    if len(problems) == 1:
        return first
    every = [{"message": problem.message, **problem.details} for problem in problems]
    return InvalidInputError(first.message, first.hint, {**first.details, "problems": every})
