"""What the graph over the vectors costs and misses, on windows of real documents.

    python benchmarks/graph_recall.py ../shared/corpora ../shared/data/queries/replay-20k.ndjson --windows 200000

The documents are cut and embedded as ingest does it. To get more windows than they have, whole copies are added in
which a part of the words is dropped or exchanged with words from elsewhere. The graph is compared with the exact scan.
"""

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from kebab_stream.config import Chunking, Embedding
from kebab_stream.embed import Embedder, load_embedder
from kebab_stream.index import graph as graph_module
from kebab_stream.index.generation import Additions, EmbeddingSpec, Generation, write_generation
from kebab_stream.index.graph import GRAPH_FILE
from kebab_stream.index.ranking import rounded, top
from kebab_stream.index.vectors import quantise
from kebab_stream.ingest.chunk import chunk
from kebab_stream.ingest.parse import parse
from kebab_stream.ingest.windows import windows

Mask = NDArray[np.bool_]
Vectors = NDArray[np.int8]

DROPPED, EXCHANGED = 0.15, 0.25
"""Share of a copy's words."""
AT = 50
SHARES = (1.0, 0.5, 0.1, 0.01)
"""What filters let through."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Build, ask, and print a table."""
    options = parsed(arguments)
    embedder = load_embedder(Embedding())
    assert embedder
    random = np.random.default_rng(options.seed)
    chunks = embedded(embedder, options.corpora, options.windows, random)
    queries = [
        query for text in texts_of(options.queries, options.asked) if (query := embedder.embed_query(text)).any()
    ]
    graph_module.WALK_COST = options.walk_cost
    say(f"{len(chunks)} chunks, {sum(map(len, chunks.values()))} windows, {len(queries)} queries")
    with tempfile.TemporaryDirectory() as place:
        fresh = timed("fresh build", lambda: written(Path(place, "fresh"), chunks, embedder))
        report(fresh, queries, options.depth, random)
        names = list(chunks)
        before = {name: chunks[name] for name in names[: len(names) * 9 // 10]}
        after = {name: chunks[name] for name in names[len(names) // 10 :]}
        old = written(Path(place, "before"), before, embedder)
        grown = timed(
            "a tenth gone, a tenth added", lambda: written(Path(place, "after"), after, embedder, old=old, had=before)
        )
        report(grown, queries, options.depth, random)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path, help="folder of Markdown files")
    parser.add_argument("queries", type=Path, help="NDJSON with a field `query`")
    parser.add_argument("--windows", type=int, default=200_000)
    parser.add_argument("--asked", type=int, default=300, help="queries")
    parser.add_argument("--depth", type=int, default=200, help="chunks wanted, as `search.candidate_depth`")
    parser.add_argument(
        "--walk-cost", type=int, default=graph_module.WALK_COST, help="1 walks with filters too that are cheap to scan"
    )
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def embedded(embedder: Embedder, corpora: Path, n_windows: int, random: np.random.Generator) -> dict[bytes, Vectors]:
    """Chunk id to the vectors of its windows: those of the documents, then of copies, until there are enough."""
    originals = [
        windows(piece.text)
        for path in sorted(corpora.rglob("*.md"))
        for piece in chunk(parse(path.name, path.read_text("utf-8", errors="replace")), Chunking())
    ]
    words = np.array([word for texts in originals for text in texts for word in text.split()], dtype=object)
    found: dict[bytes, Vectors] = {}
    total, copy = 0, 0
    while total < n_windows:
        for number, texts in enumerate(originals):
            shown = [varied(text, words, random) for text in texts] if copy else texts
            rows = quantise(embedder.embed_passages(shown))
            found[hashlib.blake2b(f"{copy} {number}".encode(), digest_size=16).digest()] = rows[rows.any(axis=1)]
            total += len(rows)
            if total >= n_windows:
                break
        copy += 1
    return found


def varied(text: str, words: NDArray[np.object_], random: np.random.Generator) -> str:
    """A text with some words exchanged and some dropped."""
    own = np.array(text.split(), dtype=object)
    exchanged = random.random(len(own)) < EXCHANGED
    own[exchanged] = words[random.integers(0, len(words), int(exchanged.sum()))]
    return " ".join(own[random.random(len(own)) >= DROPPED])


def texts_of(path: Path, count: int) -> Iterator[str]:
    """The first queries of a file."""
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line)["query"] for line in islice(lines, count))


def written(
    folder: Path,
    chunks: dict[bytes, Vectors],
    embedder: Embedder,
    *,
    old: Generation | None = None,
    had: dict[bytes, Vectors] | None = None,
) -> Generation:
    """A generation with a graph, which continues the one of `old`, if there is one, that `had` some chunks."""
    added = Additions()
    for name in chunks if had is None else chunks.keys() - had.keys():
        added.ids.append(name)
        added.lexical.add([])
        added.texts.append(b"")
        added.vectors.add(chunks[name])
    spec = EmbeddingSpec(model_id=embedder.model_id, fingerprint=embedder.fingerprint, dim=embedder.dim)
    keys = [(name, b"\0" * 16) for name in sorted(chunks)]
    write_generation(folder, keys=keys, old=old, added=added, embedding=spec, graph_above=0)
    return Generation.open(folder)


def timed(what: str, build: Callable[[], Generation]) -> Generation:
    """Build, and say how long that took and how large the graph is."""
    started = perf_counter()
    generation = build()
    seconds = perf_counter() - started
    size, _ = generation.manifest.files[GRAPH_FILE]
    n_windows = generation.manifest.n_windows
    say(f"\n{what}: {seconds:.1f} s, graph {size / 1e6:.1f} MB, {size / n_windows:.0f} bytes a window")
    return generation


def report(
    generation: Generation, queries: Sequence[NDArray[np.float32]], depth: int, random: np.random.Generator
) -> None:
    """Print a line for each filter."""
    say(f"filter   walked   recall@{AT}   recall@{depth}   graph p50 ms   exact p50 ms")
    for share in SHARES:
        allowed = random.random(generation.manifest.n_chunks) < share if share < 1 else None
        outcomes = [compared(generation, query, allowed, depth) for query in queries]
        walked, at, deep = (sum(values) / len(queries) for values in list(zip(*outcomes, strict=True))[:3])
        graph_ms, exact_ms = (median(values) for values in list(zip(*outcomes, strict=True))[3:])
        say(f"{share:6.0%} {walked:8.0%} {at:11.4f} {deep:12.4f} {graph_ms:14.2f} {exact_ms:14.2f}")


def compared(
    generation: Generation, query: NDArray[np.float32], allowed: Mask | None, depth: int
) -> tuple[bool, float, float, float, float]:
    """(whether the graph was walked, recall at AT and at `depth`, milliseconds with the graph, and of the scan)."""
    vectors, graph = generation.vectors, generation.graph
    assert vectors
    assert graph
    eligible = vectors.has_vector if allowed is None else vectors.has_vector & allowed
    started = perf_counter()
    exact = top(rounded(vectors.cosines(query)), depth, eligible)
    scanned = perf_counter()
    near = graph.candidates(query, wanted=depth, allowed=allowed)
    is_small = allowed is not None and vectors.worth_picking(vectors.windows_of(allowed))
    numbers = np.flatnonzero(allowed) if near is None and allowed is not None and is_small else near
    chosen = np.zeros(len(eligible), dtype=np.bool_)
    chosen[slice(None) if numbers is None else numbers] = True
    found = top(rounded(vectors.cosines(query, numbers)), depth, eligible & chosen)
    ended = perf_counter()
    at, deep = (np.isin(exact[:limit], found[:limit]).mean() if len(exact) else 1.0 for limit in (AT, depth))
    return near is not None, float(at), float(deep), (ended - scanned) * 1000, (scanned - started) * 1000


def say(line: str) -> None:
    """Print at once: the next line may take minutes."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
