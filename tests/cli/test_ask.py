"""`kebab ask`: against a real server on loopback, in processes of their own, on terminals where it matters."""

import os
import pty
import re
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab_stream.config import load_config
from kebab_stream.errors import ConfigInvalidError
from tests.ask.loopback import MODEL, Handler, Spoken, language_server, ollama_line
from tests.cli.program import COMMAND, Finished, environment, kebab
from tests.cli.test_start_up import loaded

QUESTION = "How do I restore the wiki database?"


@pytest.fixture
def spoken() -> Iterator[Spoken]:
    with language_server() as running:
        yield running


def settings(spoken: Spoken, **more: str) -> dict[str, str]:
    given = {"provider": "ollama", "endpoint": spoken.address, "model": MODEL, **more}
    return {f"KEBAB_MODELS_LLM_{name.upper()}": value for name, value in given.items()}


def asked(data_dir: Path, spoken: Spoken, *arguments: str, **more: str) -> Finished:
    return kebab("ask", *arguments, data_dir=data_dir, extra=settings(spoken, **more))


def on_a_terminal(
    data_dir: Path, spoken: Spoken, *arguments: str, interrupt: threading.Event | None = None
) -> Finished:
    """A run whose stdout is a terminal; with `interrupt`, Ctrl-C once the event is set."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "ask", *arguments],
        stdout=slave,
        stderr=subprocess.PIPE,
        env=environment(data_dir, {"TERM": "xterm", **settings(spoken)}),
    ) as process:
        os.close(slave)
        if interrupt:
            assert interrupt.wait(30)
            process.send_signal(signal.SIGINT)
        printed = b""
        while chunk := _read(master):
            printed += chunk
        assert process.stderr
        said = process.stderr.read()
    os.close(master)
    return Finished(process.returncode, printed.replace(b"\r\n", b"\n"), said)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # the other side is closed
        return b""


def test_json_is_one_line(fixture_data: Path, spoken: Spoken) -> None:
    done = asked(fixture_data, spoken, QUESTION, "--json")

    (answer,) = done.lines
    assert (done.status, done.err) == (0, b"")
    assert answer["answer"] == "It is in the notes [1]."
    assert (answer["grounded"], answer["reason"], answer["model"]) == (True, None, MODEL)
    assert [each["number"] for each in answer["citations"]] == [1]


def test_programs_get_the_answer_and_then_its_sources(fixture_data: Path, spoken: Spoken) -> None:
    done = asked(fixture_data, spoken, QUESTION)

    assert done.status == 0
    assert re.fullmatch(
        r"It is in the notes \[1\]\.\n\n\[1\] en/backup-runbook\.md#L\d+(-L\d+)?  .+\n", done.out.decode()
    )
    uri = done.out.decode().splitlines()[-1].split()[1]
    assert kebab("fetch", "span", uri, data_dir=fixture_data).status == 0


def test_a_terminal_gets_the_answer_as_it_comes(fixture_data: Path, spoken: Spoken) -> None:
    spoken.pieces = ["It ", "is [1]", " so [99]."]

    done = on_a_terminal(fixture_data, spoken, QUESTION)

    assert done.status == 0
    assert re.fullmatch(r"It is \[1\] so \[99\]\.\n\n\[1\] en/backup-runbook\.md#\S+  .+\n", done.out.decode())


@pytest.mark.parametrize("terminal", [True, False])
def test_no_piece_of_an_escape_sequence_reaches_a_terminal(fixture_data: Path, spoken: Spoken, terminal: bool) -> None:
    spoken.pieces = ["a\x1b", "]0;title\x07b", "\x9b2J \u202e", "\tc\r\nd\x1b[31", "m [1]"]

    done = (on_a_terminal if terminal else asked)(fixture_data, spoken, QUESTION)

    assert done.out.decode().startswith(r"a\x1b]0;title\x07b\x9b2J \u202e    c " + "\n" + r"d\x1b[31m [1]" + "\n")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", done.out.decode())


@pytest.mark.parametrize(
    ("pieces", "question", "said"),
    [
        (["NO_ANSWER", "_IN_SOURCES"], QUESTION, "the model found none"),
        (["Cheese."], QUESTION, "the model named no passage"),
        (["Cheese [1]."], "!!! ???", "nothing in the index matches"),
        (["Cheese [1]."], "rath vorpal the bandersnatch", "too little to do"),
    ],
)
def test_without_a_grounded_answer_the_status_is_1(
    fixture_data: Path, spoken: Spoken, pieces: list[str], question: str, said: str
) -> None:
    spoken.pieces = pieces

    plain = asked(fixture_data, spoken, question, "--quiet")

    assert (plain.status, plain.out) == (1, b"")
    assert plain.err.decode().startswith("no answer: ")
    assert said in plain.err.decode()


def test_in_json_the_reason_is_a_word_of_its_own(fixture_data: Path, spoken: Spoken) -> None:
    spoken.pieces = ["Cheese."]

    done = asked(fixture_data, spoken, QUESTION, "--json")

    (answer,) = done.lines
    assert (done.status, done.err) == (1, b"")
    assert (answer["grounded"], answer["answer"], answer["reason"]) == (False, None, "no_citations")


def test_a_text_that_was_shown_and_then_refused_is_taken_back(fixture_data: Path, spoken: Spoken) -> None:
    spoken.pieces = ["Cheese."]

    done = on_a_terminal(fixture_data, spoken, QUESTION)

    assert (done.status, done.out) == (1, b"Cheese.\n")
    assert b"do not rely on the text above" in done.err


def test_the_sentinel_never_reaches_a_terminal(fixture_data: Path, spoken: Spoken) -> None:
    spoken.pieces = ["NO_ANS", "WER_IN_SOURCES"]

    assert on_a_terminal(fixture_data, spoken, QUESTION).out == b""


def test_an_answer_that_was_cut_is_marked(fixture_data: Path, spoken: Spoken) -> None:
    spoken.reason = "length"

    assert asked(fixture_data, spoken, QUESTION).err.startswith(b"[truncated; ")


def test_filters_mode_k_and_model_are_options(fixture_data: Path, spoken: Spoken) -> None:
    done = asked(
        *(fixture_data, spoken, "백업은 어떻게 하나요?", "--json", "--lang", "ko", "--k", "2", "--mode", "lexical"),
        *("--model", MODEL),
        model="other",
    )

    (answer,) = done.lines
    assert answer["hits_considered"] <= 2
    assert all(each["doc_path"].startswith("ko/") for each in answer["citations"])
    assert spoken.asked[0]["model"] == MODEL


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "QUESTION is missing"),
        ([" "], "not blank"),
        (["x", "--k", "1.5"], "k: expected a whole number"),
        (["x", "--k", "1001"], "k: expected a whole number"),
        (["x", "--mode", "fuzzy"], "mode: expected"),
        (["x", "--model", " "], "model: expected the name of a model"),
        (["x", "--trust-min", "high"], "trust_min: expected"),
    ],
)
def test_wrong_arguments_are_named(spoken: Spoken, arguments: list[str], said: str) -> None:
    done = kebab("ask", "--json", *arguments, extra=settings(spoken))

    assert (done.status, done.error["code"], done.out) == (2, "invalid_input", b"")
    assert said in done.error["message"]


def test_without_a_model_the_hint_tells_how_to_set_one(fixture_data: Path) -> None:
    done = kebab("ask", QUESTION, "--json", data_dir=fixture_data)

    assert (done.status, done.error["code"]) == (2, "model_unavailable")
    assert "KEBAB_MODELS_LLM_PROVIDER=ollama" in done.error["hint"]


def test_without_an_index_it_is_not_indexed(tmp_path: Path, spoken: Spoken) -> None:
    assert asked(tmp_path, spoken, QUESTION, "--json").error["code"] == "not_indexed"
    assert list(tmp_path.iterdir()) == []


def test_errors_of_the_server_keep_their_codes(fixture_data: Path, spoken: Spoken) -> None:
    missing = asked(fixture_data, spoken, QUESTION, "--json", model="other:7b")
    nowhere = asked(fixture_data, spoken, QUESTION, "--json", endpoint="http://127.0.0.1:9")
    spoken.misbehave = Handler.stall
    late = asked(fixture_data, spoken, QUESTION, "--json", timeout_s="0.3")

    assert [done.status for done in (missing, nowhere, late)] == [2, 2, 2]
    assert [done.error["code"] for done in (missing, nowhere, late)] == [
        "model_not_pulled",
        "model_unreachable",
        "timeout",
    ]
    assert "ollama pull other:7b" in missing.error["hint"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("timeout_s", "0"),
        ("timeout_s", "-1"),
        ("endpoint", "ftp://x"),
        ("endpoint", "http://"),
        ("endpoint", "http://h:99999"),
        ("endpoint", "http://h:x"),
        ("endpoint", "http://user:hunter2@h"),
        ("endpoint", "http://h/?a=b"),
        ("endpoint", "http://h x"),
        ("endpoint", "http://[::1"),
        ("provider", "gpt"),
        ("api_key_env", "sk-hunter2"),
        ("api_key_env", "KEBAB_KEY"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_when_they_are_loaded(name: str, value: str) -> None:
    """A timeout of 0 is neither "none" nor "at once": it is refused."""
    with pytest.raises(ConfigInvalidError) as caught:
        load_config(None, environ={**os.environ, f"KEBAB_MODELS_LLM_{name.upper()}": value})

    assert f"models.llm.{name}" in str(caught.value)
    assert "hunter2" not in f"{caught.value}{caught.value.details}"


def test_a_key_is_sent_and_never_shown(fixture_data: Path, spoken: Spoken) -> None:
    extra = {**settings(spoken, provider="openai", api_key_env="MY_KEY"), "MY_KEY": "sk-hunter2"}

    answer = kebab("ask", QUESTION, "--json", data_dir=fixture_data, extra=extra)
    shown = kebab("config", "show", "--json", extra=extra)

    assert answer.status == 0
    assert spoken.headers[0]["authorization"] == "Bearer sk-hunter2"
    assert b"MY_KEY" in shown.out
    assert b"hunter2" not in shown.out + answer.out


def test_ctrl_c_leaves_with_130_and_ends_the_line(fixture_data: Path, spoken: Spoken) -> None:
    begun = threading.Event()

    def stall(handler: Handler) -> None:
        handler.begin()
        handler.chunk(ollama_line("It is"))
        time.sleep(0.3)
        begun.set()
        handler.stall()

    spoken.misbehave = stall

    done = on_a_terminal(fixture_data, spoken, QUESTION, interrupt=begun)

    assert (done.status, done.out, done.err) == (130, b"It is\n", b"")
    assert spoken.hung_up.wait(5)


def test_a_reader_that_went_away_is_141(fixture_data: Path, spoken: Spoken) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with subprocess.Popen(
        [*COMMAND, "ask", QUESTION],
        stdout=writer,
        stderr=subprocess.PIPE,
        env=environment(fixture_data, settings(spoken)),
    ) as process:
        os.close(writer)
        assert process.stderr
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_help_loads_no_http() -> None:
    modules, loops = loaded("ask", "--help", data_dir=Path())

    assert not modules & {"httpx", "httpx2", "numpy", "pydantic", "anyio"}
    assert loops == []
