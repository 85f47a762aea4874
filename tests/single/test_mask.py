"""Which chunks filters let through, and what is said where none is left."""

from unicodedata import normalize

import numpy as np
import pytest

from kebab_stream.engine import Engine
from kebab_stream.errors import InvalidInputError
from kebab_stream.model import Filters
from kebab_stream.single.mask import allowed_chunks, nothing_allowed_hint
from tests.single.library import EPOCH, ITEMS


def count(engine: Engine, **filters: object) -> int:
    mask = allowed_chunks(engine.snapshot, Filters(**filters))  # type: ignore[arg-type]  # as the tests say
    assert mask is not None
    assert mask.dtype == np.bool_
    assert mask.shape == (len(ITEMS),)
    return int(mask.sum())


def test_without_filters_there_is_no_mask(plain_library: Engine) -> None:
    assert allowed_chunks(plain_library.snapshot, Filters()) is None


def test_the_mask_is_true_for_the_chunks_of_the_documents_that_pass(plain_library: Engine) -> None:
    mask = allowed_chunks(plain_library.snapshot, Filters(code_lang=("rust",)))
    assert mask is not None

    generation = plain_library.snapshot.generation
    ids = [generation.chunk_id(number) for number in np.flatnonzero(mask).tolist()]
    rows = plain_library.snapshot.store.chunks_by_id(ids)

    assert {document.doc_path for _, document in rows.values()} == {
        item.path for item in ITEMS if item.code_lang == "rust"
    }


def test_values_are_compared_in_composed_form(plain_library: Engine) -> None:
    assert count(plain_library, tag=(normalize("NFD", "가나"),)) == count(plain_library, tag=("가나",)) > 0


def test_more_values_than_sqlite_has_variables_are_no_problem(plain_library: Engine) -> None:
    values = (*(f"tag{number}" for number in range(300_000)), "alpha")

    assert count(plain_library, tag=values) == count(plain_library, tag=("alpha",)) > 0


@pytest.mark.parametrize("name", ["tag", "lang", "doc_id", "path_glob", "media", "repo", "source", "must", "must_not"])
def test_a_value_that_is_no_valid_text_is_refused(plain_library: Engine, name: str) -> None:
    is_one = getattr(Filters(), name) is None
    with pytest.raises(InvalidInputError) as caught:
        count(plain_library, **{name: "\udcff" if is_one else ("\udcff",)})

    assert caught.value.details["key"] == name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("pour over", "  POUR \n over  "),
        ("pour over", "ｐｏｕｒ　ｏｖｅｒ"),
        ("straße", "STRASSE"),
        ("커피를", normalize("NFD", "커피를")),
        ("각설탕", "각설탕"),
    ],
)
def test_texts_are_contained_whatever_their_form_case_and_white_space(
    plain_library: Engine, one: str, other: str
) -> None:
    kept = count(plain_library, must=(one,))

    assert 0 < kept < len(ITEMS)
    assert count(plain_library, must=(other,)) == kept
    assert count(plain_library, must_not=(other,)) == len(ITEMS) - kept


def test_all_texts_must_be_contained_and_none_of_the_others(plain_library: Engine) -> None:
    both = count(plain_library, must=("pour over", "coffee", "word1"))
    one = count(plain_library, must=("pour over", "coffee"))

    assert 0 < both < one
    assert count(plain_library, must=("pour over", "coffee"), must_not=("word1",)) == one - both


def test_signs_that_mean_something_in_sql_are_plain_text(plain_library: Engine) -> None:
    assert count(plain_library, must=("%",)) == 0
    assert count(plain_library, must=("_",)) == 0
    assert count(plain_library, tag=("alph_", "%", "') OR 1 --")) == 0


@pytest.mark.parametrize(
    ("filters", "hint"),
    [
        (Filters(tag=("x", "y")), 'nothing in the index passes tag ["x","y"]'),
        (Filters(lang="xx", tag=("alpha",)), 'nothing in the index passes lang "xx"'),
        (Filters(path_glob="x/*", doc_id="Z"), 'nothing in the index passes doc_id "Z", nor path_glob "x/*"'),
        (Filters(must=("a\nb",)), r'nothing in the index passes must ["a\nb"]'),
        (
            Filters(ingested_after=EPOCH.replace(year=2030)),
            'nothing in the index passes ingested_after "2030-01-01T00:00:00+00:00"',
        ),
        (Filters(lang="ko", code_lang=("rust",)), "nothing in the index passes all filters together"),
    ],
    ids=str,
)
def test_the_hint_names_the_filters_that_nothing_passes(plain_library: Engine, filters: Filters, hint: str) -> None:
    assert nothing_allowed_hint(plain_library.snapshot, filters) == hint


def test_a_glob_that_begins_with_a_source_gets_a_hint(plain_library: Engine) -> None:
    def hint(glob: str) -> str | None:
        return plain_library.nothing_listed_hint(Filters(path_glob=glob))

    assert hint("left/docs/*") == (
        'nothing in the index passes path_glob "left/docs/*"; "left" is a source, not a folder in one:'
        ' --source left --path-glob "docs/*"'
    )
    assert hint("docs/*") is None
    assert hint("leftover/*") == 'nothing in the index passes path_glob "leftover/*"'


@pytest.mark.parametrize("filters", [Filters(must=("커피", " \n")), Filters(must_not=("",))])
def test_blank_text_to_be_contained_is_refused(library: Engine, filters: Filters) -> None:
    with pytest.raises(InvalidInputError, match="not blank"):
        allowed_chunks(library.snapshot, filters)
