"""Embedding through a real server on loopback."""

import gc
import os
import re
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest

from kebab_stream.config import Embedding, Models
from kebab_stream.embed import load_embedder, remote
from kebab_stream.embed.profile import profile_of
from kebab_stream.embed.remote import RemoteEmbedder, load_remote
from kebab_stream.errors import ConfigInvalidError, InvalidInputError, KebabError, ModelUnavailableError
from tests.cli.program import Finished, kebab
from tests.corpora import config_of, ingest_files
from tests.embed.loopback import DIM, MODEL, Handler, Vectors, letters, vector_server

PROVIDERS = ["ollama", "openai"]


@pytest.fixture
def vectors() -> Iterator[Vectors]:
    """A server that runs."""
    with vector_server() as running:
        yield running


def loaded(wanted: Embedding, **environ: str) -> RemoteEmbedder:
    embedder = load_embedder(wanted, environ=environ)
    assert isinstance(embedder, RemoteEmbedder)
    return embedder


def refused(wanted: Embedding) -> KebabError:
    """The error that embedding three passages ends with."""
    with pytest.raises(KebabError) as caught:
        loaded(wanted).embed_passages(["a", "b", "c"])
    return caught.value


@pytest.mark.parametrize("provider", PROVIDERS)
def test_passages_go_in_batches_and_come_back_in_order_as_unit_vectors(vectors: Vectors, provider: str) -> None:
    embedder = loaded(vectors.embedding(provider, batch_size=2))
    texts = ["abba", "bcd", "\ud800 z", "zzz", "커피"]

    rows = embedder.embed_passages(texts)

    assert vectors.texts[1:] == [["abba", "bcd"], ["? z", "zzz"], ["커피"]]
    expected = np.array([letters(text) for text in texts])
    norms = np.linalg.norm(expected, axis=1, keepdims=True)
    assert rows.dtype == np.float32
    assert rows == pytest.approx(expected / np.maximum(norms, 1), abs=1e-6)
    assert np.array_equal(embedder.embed_query("abba"), rows[0])
    assert embedder.embed_passages([]).shape == (0, DIM)
    assert (embedder.model_id, embedder.dim) == (MODEL, DIM)


def test_each_interface_is_asked_as_it_wants(vectors: Vectors) -> None:
    loaded(vectors.embedding("ollama"))
    loaded(vectors.embedding("openai"))
    loaded(vectors.embedding("openai", endpoint=f"{vectors.address}/some/v1/"))

    assert vectors.paths == ["/api/embed", "/api/tags", "/v1/embeddings", "/some/v1/embeddings"]
    assert vectors.asked[0] == {"model": MODEL, "input": ["probe"], "truncate": True}
    assert vectors.asked[1] == {"model": MODEL, "input": ["probe"], "encoding_format": "float"}


def test_prefixes_stand_before_what_they_are_for(vectors: Vectors) -> None:
    embedder = loaded(vectors.embedding(query_prefix="q: ", passage_prefix="p: "))
    embedder.embed_passages(["x"])
    embedder.embed_query("x")

    assert vectors.texts[-2:] == [["p: x"], ["q: x"]]


def test_a_key_is_sent_to_its_server_only_and_never_told(vectors: Vectors) -> None:
    wanted = vectors.embedding("openai", api_key_env="MY_KEY")
    with_key = loaded(wanted, MY_KEY="sk-secret")
    loaded(vectors.embedding("openai"))
    assert [headers.get("authorization") for headers in vectors.headers] == ["Bearer sk-secret", None]

    vectors.misbehave = lambda handler: handler.plainly(401, {"error": {"message": "Incorrect API key: sk-secret"}})
    with pytest.raises(ModelUnavailableError, match="Incorrect API key: …") as caught:
        with_key.embed_query("x")
    assert "sk-secret" not in f"{caught.value} {caught.value.hint} {caught.value.details} {with_key!r}"
    assert caught.value.hint is not None
    assert "models.embedding.api_key_env" in caught.value.hint

    with pytest.raises(ConfigInvalidError, match="MY_KEY, which is not set"):
        loaded(wanted)


def test_the_fingerprint_is_of_all_that_is_known_to_change_vectors(vectors: Vectors) -> None:
    plain = loaded(vectors.embedding()).fingerprint
    prefixed = loaded(vectors.embedding(query_prefix="q: ")).fingerprint
    other = loaded(vectors.embedding("openai")).fingerprint
    with vector_server() as elsewhere:
        moved = loaded(elsewhere.embedding()).fingerprint
    vectors.digest = "sha256:2"
    pulled_again = loaded(vectors.embedding()).fingerprint

    assert moved == plain
    assert len({plain, prefixed, other, pulled_again}) == 4


@pytest.mark.parametrize(
    ("status", "value", "message"),
    [
        (500, {"error": "out of memory"}, r"failed \(500\): out of memory"),
        (503, {}, r"too busy \(503\)"),
        (429, {}, r"too busy \(429\)"),
        (200, b"<html>", "no list of its models"),
        (200, {"models": None}, "no list of its models"),
    ],
)
def test_a_list_that_cannot_be_had_just_now_does_not_make_another_model(
    vectors: Vectors, status: int, value: Any, message: str
) -> None:
    vectors.misbehave_about_models = lambda handler: handler.plainly(status, value)

    with pytest.raises(ModelUnavailableError, match=message):
        loaded(vectors.embedding())


@pytest.mark.parametrize("status", [404, 405])
def test_a_server_without_such_a_list_is_asked_without_a_checksum(vectors: Vectors, status: int) -> None:
    vectors.misbehave_about_models = lambda handler: handler.plainly(status, {})

    assert loaded(vectors.embedding()).embed_query("x").any()


def test_a_busy_server_is_asked_again_for_passages(vectors: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_PAUSES_S", (0.01, 0.01))
    embedder = loaded(vectors.embedding())

    vectors.busy = 2
    assert embedder.embed_passages(["a"]).any()
    vectors.busy = 3
    with pytest.raises(ModelUnavailableError, match=r"too busy \(429\)"):
        embedder.embed_passages(["a"])
    vectors.busy = 1
    with pytest.raises(ModelUnavailableError, match=r"too busy \(429\)"):
        embedder.embed_query("a")


def test_nobody_there_is_model_unavailable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        endpoint = f"http://127.0.0.1:{taken.getsockname()[1]}"
        error = refused(Embedding(provider="ollama", endpoint=endpoint, model="m"))

    assert (error.code, error.message.partition(": ")[0]) == ("model_unavailable", f"cannot connect to {endpoint}")
    assert error.hint == "start it with `ollama serve`, or set models.embedding.endpoint"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_that_is_not_there_is_told_with_the_way_out(vectors: Vectors, provider: str) -> None:
    error = refused(vectors.embedding(provider, model="other"))

    assert (error.code, error.message) == ("model_unavailable", f"{vectors.address} does not have the model other")
    assert error.hint is not None
    assert "models.embedding.model" in error.hint


def rows(value: Any) -> Any:
    return lambda handler: handler.answer(value)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("misbehave", "code", "message"),
    [
        (rows([[1.0] * DIM] * 2), "embedding_failed", "2 vectors for 3 texts"),
        (rows([[1.0] * 3] * 3), "embedding_failed", f"3 dimensions, and {DIM} before"),
        (rows([[1.0], [1.0, 2.0], [1.0]]), "embedding_failed", "several lengths"),
        (rows([["one"] * DIM] * 3), "embedding_failed", "no number"),
        (rows([[]] * 3), "embedding_failed", "without components"),
        (rows([1.0] * 3), "embedding_failed", "another form"),
        (rows([["1.0"] * DIM] * 3), "embedding_failed", "no number"),
        (rows([[True, *[1.0] * (DIM - 1)]] * 3), "embedding_failed", "no number"),
        (rows([[None] * DIM] * 3), "embedding_failed", "not finite|no number"),
        (rows([[float("nan")] * DIM] * 3), "model_unavailable", "not valid JSON"),
        (lambda handler: handler.plainly(200, {"vectors": []}), "embedding_failed", "another form"),
        (lambda handler: handler.plainly(200, {"embeddings": None, "data": None}), "embedding_failed", "another form"),
        (lambda handler: handler.plainly(200, {"embeddings": 5, "data": 5}), "embedding_failed", "another form"),
        (lambda handler: handler.plainly(200, {"error": "out of memory"}), "model_unavailable", "out of memory"),
        (lambda handler: handler.plainly(200, b"<html>"), "model_unavailable", "not valid JSON"),
        (lambda handler: handler.plainly(500, {"error": "no memory"}), "model_unavailable", r"failed \(500\): no mem"),
        (
            lambda handler: handler.plainly(307, b"", Location="http://127.0.0.1:1/x"),
            "model_unavailable",
            "redirects to http://127.0.0.1:1/x",
        ),
        (lambda handler: handler.plainly(200, b"[" * 5_000_000), "model_unavailable", "more than 1 MiB"),
        (lambda handler: handler.plainly(502, b"x" * 5_000_000), "model_unavailable", r"failed \(502\)"),
    ],
)
def test_each_answer_that_is_none_is_told(
    vectors: Vectors, provider: str, misbehave: Any, code: str, message: str
) -> None:
    embedder = loaded(vectors.embedding(provider))
    vectors.misbehave = misbehave

    with pytest.raises(KebabError) as caught:
        embedder.embed_passages(["a", "b", "c"])

    assert caught.value.code == code
    assert re.search(message, caught.value.message)
    assert len(vectors.asked) == 2  # no redirect is followed


def test_no_error_repeats_a_text(vectors: Vectors) -> None:
    embedder = loaded(vectors.embedding())
    secret = "the safe opens with 42-17-3 and nobody knows"

    def quote(handler: Handler) -> None:
        handler.plainly(400, {"error": f"input too long: {handler.body['input'][0]}"})

    vectors.misbehave = quote
    with pytest.raises(ModelUnavailableError) as caught:
        embedder.embed_passages([secret])
    assert caught.value.message == f"{vectors.address} failed (400)"

    vectors.misbehave = lambda handler: handler.plainly(400, {"error": "this model does not support embeddings"})
    with pytest.raises(ModelUnavailableError, match="does not support embeddings"):
        embedder.embed_passages([secret])


def test_a_text_that_kebab_itself_repeats_takes_no_way_out_away(vectors: Vectors) -> None:
    embedder = loaded(vectors.embedding())
    text = f"Set the key of {vectors.address} in api_key_env; ollama pull letters, then see the server's log"

    vectors.misbehave = lambda handler: handler.plainly(401, {"error": "bad key"})
    with pytest.raises(ModelUnavailableError) as caught:
        embedder.embed_passages([text])
    assert caught.value.message == f"{vectors.address} refuses access (401): bad key"
    assert "api_key_env" in str(caught.value.hint)

    vectors.misbehave = lambda handler: handler.plainly(404, {"error": f"model not found: {handler.body['input'][0]}"})
    with pytest.raises(ModelUnavailableError) as caught:
        embedder.embed_passages([text])
    assert caught.value.message == f"{vectors.address} does not have the model {MODEL}"
    assert "ollama pull" in str(caught.value.hint)


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_server_that_repeats_a_text_is_still_told_to_be_busy(vectors: Vectors, status: int) -> None:
    embedder = loaded(vectors.embedding())
    vectors.misbehave = lambda handler: handler.plainly(status, {"error": f"queue full: {handler.body['input'][0]}"})

    with pytest.raises(ModelUnavailableError) as caught:
        embedder.embed_query("the safe opens with 42-17-3")

    assert caught.value.message == f"{vectors.address} is too busy ({status})"
    assert caught.value.hint == "wait, then try again"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("bad key sk-0123456789abcdef.", "bad key …."),
        ("bad key sk-0123***", "bad key sk-0123***"),
        ("bad key sk-0123456***, sent sk-0123456789abcdefsk-0123456789abcdef", "bad key …***, sent ……"),
        ("the key that ends with 89abcdef", "the key that ends with …"),
    ],
)
def test_no_eight_characters_of_a_key_are_told(vectors: Vectors, said: str, shown: str) -> None:
    embedder = loaded(vectors.embedding("openai", api_key_env="MY_KEY"), MY_KEY="sk-0123456789abcdef")

    vectors.misbehave = lambda handler: handler.plainly(401, {"error": {"message": said}})
    with pytest.raises(ModelUnavailableError, match=re.escape(f"(401): {shown}") + "$"):
        embedder.embed_query("x")

    vectors.misbehave = lambda handler: handler.plainly(307, b"", Location="/login?key=sk-0123456789abcdef")
    with pytest.raises(ModelUnavailableError, match=r"redirects to /login\?key=…$"):
        embedder.embed_query("x")


@pytest.mark.parametrize(("status", "said"), [(400, "failed (400)"), (200, "failed: it does not say why")])
@pytest.mark.parametrize("text", ["hunter2-and", "the safe\n\topens with 42-17-3"])
def test_short_texts_and_several_lines_are_not_repeated_either(
    vectors: Vectors, text: str, status: int, said: str
) -> None:
    embedder = loaded(vectors.embedding())
    vectors.misbehave = lambda handler: handler.plainly(status, {"error": f"cannot embed {text}"})

    with pytest.raises(ModelUnavailableError) as caught:
        embedder.embed_query(text)

    assert caught.value.message == f"{vectors.address} {said}"


@pytest.mark.parametrize("drips", ["nothing", "headers", "body"])
def test_a_server_that_takes_too_long_is_a_timeout(vectors: Vectors, drips: str) -> None:
    embedder = loaded(vectors.embedding(timeout_s=0.3))

    def stall(handler: Handler) -> None:
        if drips != "nothing":
            handler.send_response(200)
            handler.send_header("Content-Length", "100000")
            handler.flush_headers()
        if drips == "body":
            handler.end_headers()
        while not vectors.stopped.wait(0.05):
            handler.wfile.write({"nothing": b"", "headers": b"X-More: 1\r\n", "body": b" "}[drips])

    vectors.misbehave = stall
    began = monotonic()
    with pytest.raises(KebabError, match=r"within 0\.3 s") as caught:
        embedder.embed_query("x")

    assert caught.value.code == "timeout"
    assert caught.value.hint is not None
    assert "models.embedding.timeout_s" in caught.value.hint
    assert monotonic() - began < 5


def test_a_connection_stays_open_for_all_threads_and_is_closed_with_the_embedder(vectors: Vectors) -> None:
    gc.collect()
    before = {*threading.enumerate()}
    embedder = loaded(vectors.embedding())
    with ThreadPoolExecutor(4) as threads:
        rows = list(threads.map(embedder.embed_query, ["a", "b", "c", "d"] * 5))
    assert [int(row.argmax()) for row in rows] == [0, 1, 2, 3] * 5
    assert len(set(vectors.clients)) <= 4

    (thread,) = [each for each in {*threading.enumerate()} - before if each.name == "requests"]
    del embedder
    gc.collect()
    thread.join(5)
    assert not thread.is_alive()


def test_a_process_that_was_forked_off_asks_over_a_connection_of_its_own(vectors: Vectors) -> None:
    embedder = loaded(vectors.embedding())
    expected = embedder.embed_query("a")
    child = os.fork()
    if child == 0:
        os._exit(not np.array_equal(embedder.embed_query("a"), expected))  # no clean-up: that is the test runner's
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(embedder.embed_query("a"), expected)


def test_no_proxy_stands_before_a_server_on_this_machine(vectors: Vectors, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")

    assert loaded(vectors.embedding()).embed_query("x").any()


def test_a_proxy_that_cannot_be_used_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "gopher://proxy")
    wanted = Embedding(provider="ollama", endpoint="http://elsewhere.invalid:1", model="m")

    with pytest.raises(ModelUnavailableError, match="proxy"):
        load_remote("ollama", wanted, profile_of(wanted), {})


class Place:
    """A note to index, and the settings of a server."""

    def __init__(self, folder: Path, wanted: Embedding) -> None:
        self.folder = folder
        (folder / "notes").mkdir()
        (folder / "notes" / "coffee.md").write_text("# Coffee\n\nThe beans are in the cupboard.\n")
        self.wanted = wanted

    def kebab(self, *arguments: str, stdin: bytes = b"") -> Finished:
        names = ("provider", "endpoint", "model", "timeout_s")
        extra = {f"KEBAB_MODELS_EMBEDDING_{name.upper()}": str(getattr(self.wanted, name)) for name in names}
        return kebab(*arguments, data_dir=self.folder / "data", stdin=stdin, extra=extra)


def test_switching_to_a_server_is_a_setting_and_an_ingest(tmp_path: Path, vectors: Vectors) -> None:
    place = Place(tmp_path, Embedding())
    place.wanted = replace(vectors.embedding(), provider="static", model="static-koen-256")
    assert place.kebab("ingest", str(tmp_path / "notes")).status == 0

    place.wanted = vectors.embedding()
    assert place.kebab("search", "beans", "--json").error["code"] == "model_unavailable"
    assert place.kebab("ingest", "--json").lines[0]["embedding_model"] == MODEL
    found = place.kebab("search", "nabes", "--json", "--mode", "vector").lines[0]["hits"]
    bulk = place.kebab("search", "--bulk", "--json", stdin=b'{"query":"beans"}\n{"query":"cupboard"}\n')

    assert (found[0]["doc_path"], found[0]["embedding_model"]) == ("coffee.md", MODEL)
    assert [line["error"] for line in bulk.lines] == [None, None]
    assert sum(texts == ["probe"] for texts in vectors.texts) == 4  # one for each program, not for each query

    vectors.misbehave = lambda handler: handler.plainly(500, {"error": "no memory"})
    gone = place.kebab("search", "--bulk", "--json", stdin=b'{"query":"beans"}\n{"query":"x","mode":"lexical"}\n')
    assert [(line["error"] or {}).get("code") for line in gone.lines] == ["model_unavailable", None]


def test_an_ingest_asks_the_model_even_where_nothing_changed_but_tells_mistakes_first(
    tmp_path: Path, vectors: Vectors
) -> None:
    config = replace(config_of(tmp_path / "data"), models=Models(embedding=vectors.embedding()))
    ingest_files(config, tmp_path / "notes", {"coffee.md": "# Coffee"})
    before = len(vectors.asked)
    ingest_files(config, tmp_path / "notes", {})
    assert vectors.texts[before:] == [["probe"]]

    vectors.misbehave = lambda handler: handler.plainly(500, {})
    with pytest.raises(ModelUnavailableError):
        ingest_files(config, tmp_path / "notes", {})
    with pytest.raises(InvalidInputError, match="gone"):
        ingest_files(config, tmp_path / "gone", {})
    assert len(vectors.asked) == before + 2
