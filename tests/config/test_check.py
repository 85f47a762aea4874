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


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            "provider = 'fastembed'",
            "model = 'static-koen-256' (the defaults): expected with provider \"fastembed\" a name",
        ),
        (
            "provider = 'ollama'",
            "model = 'static-koen-256' (the defaults): expected with provider \"ollama\" a model that",
        ),
        (
            "model = 'nomic-embed-text'",
            "model = 'nomic-embed-text' ({}): expected \"static-koen-256\", or another name",
        ),
        (
            "provider = 'ollama'\nmodel = 'm'\nmodel_path = '/models/m'",
            "model_path = '/models/m' ({}): expected nothing with provider \"ollama\"",
        ),
        (
            "provider = 'openai'\nmodel = 'm'",
            "endpoint = '' (the defaults): expected with provider \"openai\" the address of the server",
        ),
        ("endpoint = 'localhost:1'", "endpoint = 'localhost:1' ({}): expected an address that begins with http://"),
        (
            "endpoint = 'http://me:pw@h'",
            "endpoint = 'http://…@h' ({}): expected an address without a user and password",
        ),
        ("endpoint = 'http://h/v1?key=SECRET'", "endpoint = 'http://h/v1?…' ({}): expected an address that begins"),
        ("endpoint = 'http://h:1:2#SECRET'", "endpoint = 'http://h:1:2?…' ({}): expected an address that begins"),
        ("endpoint = 'http://me:p?w@h'", "endpoint = '…' ({}): expected an address that begins"),
        ("endpoint = 'me:pw@h?key=SECRET'", "endpoint = '…@h?…' ({}): expected an address that begins"),
        ("api_key_env = 'sk-123'", "api_key_env = '…' ({}): expected the name of an environment variable"),
        ("score_floor = -0.5", "score_floor = -0.5 ({}): expected -1, or a number from 0 to 0.99"),
        ("score_floor = 1.0", "score_floor = 1.0 ({}): expected a number from -1 to 0.99"),
        ("pooling = 'max'", 'pooling = \'max\' ({}): expected "auto", "mean", "cls" or "last"'),
    ],
)
def test_an_embedding_model_that_its_provider_cannot_have_is_refused(file: Path, settings: str, message: str) -> None:
    error = refusal(f"[models.embedding]\n{settings}", file=file)

    assert str(error).startswith("models.embedding." + message.format(file))


@pytest.mark.parametrize(
    "settings",
    [
        "provider = 'fastembed'\nmodel = 'BAAI/bge-small-en-v1.5'",
        "provider = 'fastembed'\nmodel_path = '/models/m'",
        "provider = 'ollama'\nmodel = 'nomic-embed-text'",
        "provider = 'openai'\nmodel = 'm'\nendpoint = 'http://127.0.0.1:8080/v1'",
        "provider = 'none'\nmodel = 'anything'",
        "model_path = '/models/m'",
        "score_floor = -1",
        "score_floor = 0",
    ],
)
def test_each_provider_is_a_setting_or_two_away(file: Path, settings: str) -> None:
    load(f"[models.embedding]\n{settings}", file=file)
