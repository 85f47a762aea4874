"""Three layers of settings, and the names nobody knows."""

import subprocess
import sys
from pathlib import Path

import pytest

from kebab_stream.config import Chunking, Search, Source
from tests.config.loading import DEFAULT, load, refusal
from tests.paths import ROOT


def test_every_section_and_the_sources_are_read(file: Path) -> None:
    text = """
        [storage]
        data_dir = "data"
        [workspace]
        root = "notes"
        [[workspace.sources]]
        id = "위키"
        root = "~/wiki"
        exclude = ["drafts/", "*.tmp"]
        trust_level = "secondary"
        source_type = "docs"
        [[workspace.sources]]
        id = "code"
        root = "/src"
        [ingest.chunking]
        target_chars = 800
        [search]
        fusion = "rrf"
        chars_per_token = 3
    """

    config = load(text, file=file)

    assert config.storage.data_dir == file.parent / "data"
    assert config.workspace.root == file.parent / "notes"
    assert config.workspace.sources == (
        Source(
            id="위키",
            root=Path("/home/ada/wiki"),
            exclude=("drafts/", "*.tmp"),
            trust_level="secondary",
            source_type="docs",
        ),
        Source(id="code", root=Path("/src"), trust_level="primary", source_type="notes"),
    )
    assert config.ingest.chunking == Chunking(target_chars=800)
    assert config.search == Search(fusion="rrf", chars_per_token=3.0)


def test_the_environment_wins_over_the_file_and_flags_win_over_both(file: Path) -> None:
    text = "[search]\ndefault_k = 1\nsnippet_chars = 1\nrrf_k = 1"
    environ = {"KEBAB_SEARCH_SNIPPET_CHARS": "2", "KEBAB_SEARCH_RRF_K": "2"}

    config = load(text, file=file, environ=environ, overrides={"search.rrf_k": 3})

    assert config.search == Search(default_k=1, snippet_chars=2, rrf_k=3)


def test_an_override_of_none_is_not_given() -> None:
    assert load(overrides={"search.default_k": None}) == DEFAULT


def test_an_override_may_be_text_or_a_path() -> None:
    config = load(overrides={"search.default_k": "5", "storage.data_dir": Path("data")})

    assert (config.search.default_k, config.storage.data_dir) == (5, Path("/home/ann/data"))


def test_a_value_that_a_stronger_layer_replaces_is_not_looked_at(file: Path) -> None:
    assert load("search.default_k = 0", file=file, environ={"KEBAB_SEARCH_DEFAULT_K": "5"}).search.default_k == 5


def test_the_environment_cannot_bring_back_what_the_file_may_not_say(file: Path) -> None:
    error = refusal(
        "ingest.chunking.target_chars = 500", file=file, environ={"KEBAB_INGEST_CHUNKING_OVERLAP_CHARS": "500"}
    )

    assert str(error) == (
        "ingest.chunking.overlap_chars = 500 (KEBAB_INGEST_CHUNKING_OVERLAP_CHARS): "
        f"expected less than ingest.chunking.target_chars = 500 ({file})"
    )


@pytest.mark.parametrize(
    ("text", "name", "closest"),
    [
        ("search.defualt_k = 5", "search.defualt_k", "search.default_k"),
        ("default_k = 5", "default_k", "search.default_k"),
        ("[serach]\ndefault_k = 5", "serach", "search"),
        ("[models.embeddings]\nmodel = 'x'", "models.embeddings", "models.embedding"),
        ("[[workspace.source]]\nid = 'x'", "workspace.source", "workspace.sources"),
        ("[[workspace.sources]]\nid = 'x'\nrot = '/'", "workspace.sources[0].rot", "workspace.sources[0].root"),
        ("'search.default_k' = 5", '"search.default_k"', "search.default_k"),
        ('"se\\u001barch" = 5', r"'se\x1barch'", "search"),
    ],
)
def test_an_unknown_key_in_the_file_names_the_closest(file: Path, text: str, name: str, closest: str) -> None:
    error = refusal(text, file=file)

    assert str(error).startswith(f"unknown key {name} = ")
    assert str(error).endswith(f" ({file})")
    assert error.hint == f"the closest known key is {closest}"


def test_an_unknown_variable_names_the_closest_and_keeps_its_value_secret() -> None:
    error = refusal(environ={"KEBAB_SEARCH_DEFAULTK": "s3cret"})

    assert str(error) == (
        "unknown environment variable KEBAB_SEARCH_DEFAULTK: names that begin with KEBAB_ are settings"
    )
    assert error.hint == "the closest known one is KEBAB_SEARCH_DEFAULT_K; otherwise unset KEBAB_SEARCH_DEFAULTK"
    assert "s3cret" not in repr(error)


def test_the_variable_named_is_the_first_by_name_whatever_the_order() -> None:
    environ = {"KEBAB_Z": "", "KEBAB_A": "", "KEBAB_SEARCH_DEFAULT_K": "bad"}

    assert "KEBAB_A" in str(refusal(environ=environ))


def test_variables_of_other_programs_are_left_alone() -> None:
    assert load(environ={"KEBABS": "1", "kebab_search_k": "1", "MY_KEBAB_X": "1"}) == DEFAULT


def test_an_unknown_override_names_the_closest() -> None:
    error = refusal(overrides={"search.k": 5})

    assert str(error) == "unknown key search.k = 5 (the command line)"
    assert error.hint == "the closest known key is search.rrf_k"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("search = 5", "search = 5 ({}): expected a table, [search]"),
        ("[[search]]\ndefault_k = 5", "search = an array ({}): expected a table, [search]"),
        (
            "[workspace.sources]\nid = 'x'",
            "workspace.sources = a table ({}): expected an array of tables, [[workspace.sources]]",
        ),
        ("workspace.sources = [5]", "workspace.sources[0] = 5 ({}): expected a table, [[workspace.sources]]"),
        ("[search.fusion]\nweight = 1", 'search.fusion = a table ({}): expected "convex" or "rrf"'),
    ],
)
def test_a_table_where_a_value_belongs_or_the_reverse_is_refused(file: Path, text: str, message: str) -> None:
    assert str(refusal(text, file=file)) == message.format(file)


def test_loading_the_defaults_imports_neither_toml_nor_anything_heavy() -> None:
    code = (
        "import sys; from kebab_stream.config import load_config; load_config(None, environ={'HOME': '/nowhere'});"
        "print([m for m in ('tomllib', 'difflib', 'json', 'pydantic', 'numpy', 'asyncio') if m in sys.modules])"
    )

    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)

    assert shown.stdout.strip() == "[]"
