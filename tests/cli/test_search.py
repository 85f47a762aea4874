"""`kebab search QUERY`, as a user or an agent runs it."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import COMMAND, environment, kebab
from tests.wire import checked


def test_json_is_one_line_of_search_response(fixture_data: Path) -> None:
    done = kebab("search", "커피 추출", "--json", data_dir=fixture_data)

    (response,) = done.lines
    assert (done.status, done.err) == (0, b"")
    assert response["hits"][0]["doc_path"] == "ko/coffee-brewing.md"
    assert "커피".encode() in done.out  # letters as they are, not as \u escapes


def test_people_get_two_lines_a_hit(fixture_data: Path) -> None:
    done = kebab("search", "coffee grind", "--k", "2", data_dir=fixture_data)

    lines = done.out.decode().splitlines()
    assert (done.status, len(lines)) == (0, 4)
    assert lines[0].startswith("1. 0.")
    assert "en/coffee-brewing.md:" in lines[0]
    assert lines[1].startswith("    ")
    assert "\x1b" not in done.out.decode()  # not a terminal


def test_common_options_stand_before_and_after_the_command(fixture_data: Path) -> None:
    before = kebab("--json", "search", "coffee", data_dir=fixture_data)
    after = kebab("search", "coffee", "--json", data_dir=fixture_data)

    assert before.out == after.out
    assert before.lines[0]["hits"]


def test_no_hits_are_a_success_with_a_word_on_stderr(fixture_data: Path) -> None:
    done = kebab("search", "zzzzqqqq", "--mode", "lexical", data_dir=fixture_data)

    assert (done.status, done.out) == (0, b"")
    assert done.err.startswith(b"no hits\n")


@pytest.mark.parametrize("query", ["", "  \t", "　"])
def test_a_blank_query_is_refused(fixture_data: Path, query: str) -> None:
    done = kebab("search", query, "--json", data_dir=fixture_data)

    assert (done.status, done.out, done.error["code"]) == (2, b"", "invalid_input")


def test_punctuation_finds_nothing_in_any_mode(fixture_data: Path) -> None:
    for mode in ("lexical", "vector", "hybrid"):
        done = kebab("search", "?! …", "--mode", mode, "--json", data_dir=fixture_data)

        assert (done.status, done.lines[0]["hits"]) == (0, [])


def test_searching_without_an_index_creates_nothing(tmp_path: Path) -> None:
    done = kebab("search", "coffee", "--json", data_dir=tmp_path / "data")

    assert (done.status, done.error["code"]) == (2, "not_indexed")
    assert list(tmp_path.iterdir()) == []


def test_a_query_may_begin_with_a_dash_after_two_dashes(fixture_data: Path) -> None:
    done = kebab("search", "--json", "--", "-f tail --json", data_dir=fixture_data)

    assert done.status == 0
    assert done.lines[0]["schema_version"] == "search_response.v1"


def test_a_repeated_option_counts_with_its_last_value(fixture_data: Path) -> None:
    done = kebab("search", "coffee", "--k", "5", "--k", "1", "--json", data_dir=fixture_data)

    assert len(done.lines[0]["hits"]) == 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["search", "x", "--k", "many"], "many"),
        (["search", "x", "--k", "1001"], "1001"),
        (["search", "x", "--k", "-1"], "-1"),
        (["search", "x", "--max-tokens", "0"], "0"),
        (["search", "x", "--snippet-chars", "10001"], "10001"),
        (["search", "x", "--mode", "fuzzy"], "fuzzy"),
        (["search", "x", "--trust-min", "high"], "high"),
        (["search", "x", "--ingested-after", "2026-01-01T00:00:00"], "2026-01-01T00:00:00"),
        (["search", "x", "--path-glob", "a[b"], "a[b"),
        (["search", "x", "--no-such-option"], "--no-such-option"),
        (["search", "one", "two"], "two"),
        (["search"], "QUERY"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_a_bad_argument_is_an_error_that_names_it(fixture_data: Path, arguments: list[str], named: str) -> None:
    done = kebab(*arguments, "--json", data_dir=fixture_data)

    assert (done.status, done.out, done.error["code"]) == (2, b"", "invalid_input")
    assert named in done.error["message"]


def test_an_argument_that_is_not_utf8_is_an_error(fixture_data: Path) -> None:
    done = kebab("search", b"caf\xe9", "--json", data_dir=fixture_data)

    assert (done.status, done.error["code"]) == (2, "invalid_input")


def test_an_error_for_people_has_a_code_and_a_hint(tmp_path: Path) -> None:
    done = kebab("search", "coffee", data_dir=tmp_path)

    assert done.err.decode() == f"error: [not_indexed] no index in {tmp_path}\nhint: run `kebab ingest PATH` first\n"


def test_pages_continue_where_the_cursor_says(fixture_data: Path) -> None:
    first = kebab("search", "the", "--k", "3", "--json", data_dir=fixture_data).lines[0]
    second = kebab("search", "the", "--k", "3", "--cursor", first["next_cursor"], "--json", data_dir=fixture_data)

    both = kebab("search", "the", "--k", "6", "--json", data_dir=fixture_data).lines[0]
    assert first["hits"] + second.lines[0]["hits"] == both["hits"]


def test_the_language_of_the_locale_changes_nothing(fixture_data: Path) -> None:
    usual = kebab("search", "커피", "--json", data_dir=fixture_data)
    plain = kebab("search", "커피", "--json", data_dir=fixture_data, extra={"LC_ALL": "C", "PYTHONUTF8": "0"})

    assert plain.out == usual.out


def test_the_version_is_told_before_and_after_the_command() -> None:
    assert kebab("--version").out == kebab("search", "--version").out
    assert kebab("--version").out.startswith(b"kebab ")


def test_default_k_comes_from_the_settings(fixture_data: Path) -> None:
    configured = kebab("search", "the", "--json", data_dir=fixture_data, extra={"KEBAB_SEARCH_DEFAULT_K": "2"})
    zero = kebab("search", "the", "--k", "0", "--json", data_dir=fixture_data, extra={"KEBAB_SEARCH_DEFAULT_K": "2"})

    assert len(configured.lines[0]["hits"]) == 2
    assert configured.out == zero.out


def test_a_bad_setting_is_an_error_that_names_it(fixture_data: Path) -> None:
    done = kebab("search", "x", "--json", data_dir=fixture_data, extra={"KEBAB_SEARCH_DEFAULT_K": "0"})

    assert (done.status, done.error["code"]) == (2, "config_invalid")
    assert "KEBAB_SEARCH_DEFAULT_K" in json.dumps(done.error)


def test_closed_standard_streams_are_no_bug(fixture_data: Path) -> None:
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        command = f"{' '.join(COMMAND)} search coffee --mode lexical --json {closed}"
        done = subprocess.run(["bash", "-c", command], env=environment(fixture_data), capture_output=True, check=False)

        assert (done.returncode, done.stderr) == (0, b"")


def test_a_list_of_nothing_is_no_filter_that_is_dropped_in_silence(fixture_data: Path) -> None:
    done = kebab("search", "coffee", "--media", " , ", "--json", data_dir=fixture_data)

    assert (done.status, done.error["code"], done.error["details"]["key"]) == (2, "invalid_input", "media")


def test_words_that_no_document_has_are_named(fixture_data: Path) -> None:
    done = kebab("search", 'coffee "zzqq" 퀀텀비트?', "--json", data_dir=fixture_data)

    assert done.lines[0]["hint"] == 'no document has "zzqq", "퀀텀비트"'


def test_a_full_disk_behind_stdout_is_an_io_error_and_behind_stderr_none(fixture_data: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        results = [
            subprocess.run(
                [*COMMAND, *arguments, "--json"],
                stdout=full,
                stderr=subprocess.PIPE,
                env=environment(fixture_data),
                check=False,
            )
            for arguments in (["search", "coffee"], ["--help"])
        ]
        quiet = subprocess.run(
            [*COMMAND, "search", "zzqq"],
            stdout=subprocess.PIPE,
            stderr=full,
            env=environment(fixture_data),
            check=False,
        )

    assert [(done.returncode, checked(done.stderr)["code"]) for done in results] == [(2, "io_error")] * 2
    assert quiet.returncode == 0


def test_a_bad_choice_says_what_is_accepted(fixture_data: Path) -> None:
    details = kebab("search", "x", "--mode", "fuzzy", "--json", data_dir=fixture_data).error["details"]

    assert details == {"key": "mode", "value": '"fuzzy"', "accepted": "lexical, vector or hybrid"}


def test_file_names_and_arguments_are_utf8_in_any_locale(tmp_path: Path) -> None:
    notes = tmp_path / "메모"
    notes.mkdir()
    (notes / "커피.md").write_text("# 커피\n\n내리는 법\n", encoding="utf-8")
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}

    assert kebab("ingest", str(notes), data_dir=tmp_path / "data", extra=plain).out.startswith(b"1 new")
    found = kebab("search", "커피", data_dir=tmp_path / "data", extra=plain)
    assert "커피.md" in found.out.decode()


def test_a_reader_that_leaves_is_status_141_and_silence(fixture_data: Path) -> None:
    for arguments in ("search the --k 1000 --json", "search the", "--help", "--version"):
        command = f"{' '.join(COMMAND)} {arguments} | true; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", command], env=environment(fixture_data), capture_output=True, check=True)

        assert (done.stdout, done.stderr) == (b"141\n", b"")


@pytest.mark.parametrize("library", ["orjson", "_multiarray_umath", "tokenizers"])
def test_an_interrupt_while_libraries_load_is_quiet(fixture_data: Path, library: str) -> None:
    with subprocess.Popen(
        [*COMMAND, "search", "coffee", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(fixture_data),
    ) as process:
        while process.poll() is None and library not in Path(f"/proc/{process.pid}/maps").read_text():
            pass
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()

    assert err == b""
    assert process.returncode in (0, 130)
    assert out.count(b"\n") == bool(out)


def test_numbers_are_plain_ascii_digits(fixture_data: Path) -> None:
    for text in ("1_0", "٣", " 3", "3.0", "9" * 23, ""):
        done = kebab("search", "coffee", "--k", text, "--json", data_dir=fixture_data)

        assert (done.status, done.error["details"]["key"]) == (2, "k")


def test_a_budget_of_200_tokens_shows_less_and_says_so(fixture_data: Path) -> None:
    whole = kebab("search", "the backup", "--json", data_dir=fixture_data).lines[0]
    cut = kebab("search", "the backup", "--max-tokens", "800", "--json", data_dir=fixture_data)
    least = kebab("search", "the backup", "--max-tokens", "200", "--json", data_dir=fixture_data).lines[0]

    (response,) = cut.lines
    assert response["truncated"]
    assert 1 < len(response["hits"]) < len(whole["hits"])
    assert len(cut.out.decode().rstrip("\n")) <= 800 * 4
    assert (least["truncated"], len(least["hits"])) == (True, 1)
    assert len(least["hits"][0]["snippet"]) <= 60


def test_people_are_told_how_to_go_on_after_a_cut(fixture_data: Path) -> None:
    cut = kebab("search", "the backup", "--max-tokens", "800", data_dir=fixture_data)

    (note,) = cut.err.decode().splitlines()
    cursor = note.removeprefix("[truncated; use --cursor ").removesuffix(" for the next page]")
    following = kebab("search", "the backup", "--cursor", cursor, data_dir=fixture_data)
    assert following.out.startswith(b"%d. " % (cut.out.count(b"\n") // 2 + 1))
