"""Rules over several settings."""

from pathlib import Path

import pytest

from tests.config.loading import load, refusal


def test_overlap_must_be_less_than_target_even_where_it_is_the_default(file: Path) -> None:
    error = refusal("ingest.chunking.target_chars = 200", file=file)

    assert str(error) == (
        "ingest.chunking.overlap_chars = 200 (the defaults): "
        f"expected less than ingest.chunking.target_chars = 200 ({file})"
    )
    assert error.hint == "set ingest.chunking.overlap_chars too"


def test_target_must_not_exceed_max() -> None:
    load(overrides={"ingest.chunking.target_chars": 4000})

    error = refusal(overrides={"ingest.chunking.target_chars": 4001})

    assert "expected at most ingest.chunking.max_chars = 4000 (the defaults)" in str(error)


def sources(*tables: str) -> str:
    return "".join(f"[[workspace.sources]]\n{table}\n" for table in tables)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (["root = '/a'"], "workspace.sources[0].id is missing ({})"),
        (["id = ''\nroot = '/a'"], "workspace.sources[0].id is missing ({})"),
        (["id = 'a'"], "workspace.sources[0].root is missing ({})"),
        (
            ["id = 'a'\nroot = '/a'", "id = 'a'\nroot = '/b'"],
            "workspace.sources[1].id = 'a' ({}): expected a name that workspace.sources[0] does not have",
        ),
        (
            ["id = 'a'\nroot = '/a'", "id = 'b'\nroot = '/x/../a/'"],
            "workspace.sources[1].root = '/a' ({}): expected a folder other than workspace.sources[0].root",
        ),
        (
            ["id = 'a'\nroot = '/top'"],
            "workspace.sources[0].root = '/top' ({}): expected a folder other than workspace.root",
        ),
        (
            ["id = 'a,b'\nroot = '/a'"],
            "workspace.sources[0].id = 'a,b' ({}): expected no comma, and no space at its ends",
        ),
        (
            ["id = 'a'\nroot = '/a'\nsource_type = ' x'"],
            "workspace.sources[0].source_type = ' x' ({}): expected no comma, and no space at its ends",
        ),
        (
            ["id = 'a'\nroot = '/a'\nexclude = 'x'"],
            "workspace.sources[0].exclude = 'x' ({}): expected an array of texts",
        ),
        (
            ["id = 'a'\nroot = '/a'\nexclude = [1]"],
            "workspace.sources[0].exclude = an array ({}): expected an array of texts",
        ),
        (
            ["id = 'a'\nroot = '/a'\ntrust_level = 'high'"],
            'workspace.sources[0].trust_level = \'high\' ({}): expected "generated", "secondary" or "primary"',
        ),
    ],
)
def test_sources_are_checked_one_by_one_and_together(file: Path, tables: list[str], message: str) -> None:
    error = refusal("workspace.root = '/top'\n" + sources(*tables), file=file)

    assert str(error) == message.format(file)


def test_two_names_of_one_folder_are_found_through_symbolic_links(file: Path) -> None:
    (file.parent / "real").mkdir()
    (file.parent / "link").symlink_to("real")

    error = refusal(sources("id = 'a'\nroot = 'real'", "id = 'b'\nroot = 'link'"), file=file)

    assert "expected a folder other than workspace.sources[0].root" in str(error)
