"""Baselines on the texts of our chunks: SQLite FTS5, bm25s, tantivy, and NumPy's scan of all vectors."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from kebab_stream.index.store import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from kebab_stream.index.lexical import LexicalIndex

K = 10
_WORD = re.compile(r"\w+")
_FTS5_QUERY = "SELECT rowid, bm25(texts) FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 10"

FTS5_SCRIPT = f"""
import json, re, sqlite3, sys
words = re.findall(r"\\w+", sys.argv[2])
match = " OR ".join('"' + word + '"' for word in words)
rows = sqlite3.connect(sys.argv[1]).execute({_FTS5_QUERY!r}, (match,)).fetchall()
sys.stdout.write(json.dumps(rows))
"""
"""One query from a fresh interpreter: the database, the query."""


def texts_of(data: Path) -> Iterator[str]:
    """The texts of the chunks of an index."""
    with closing(Store.open(data)) as store:
        yield from (chunk.text for chunk, _ in store.every_chunk())


def write_fts5(data: Path, database: Path) -> Path:
    """A table of SQLite FTS5 with the texts of an index."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
        connection.executemany("INSERT INTO texts VALUES (?)", ((text,) for text in texts_of(data)))
        connection.execute("INSERT INTO texts (texts) VALUES ('optimize')")
    return database


def fts5(data: Path, database: Path) -> Callable[[str], object]:
    """Ask it for any of the words."""
    connection = sqlite3.connect(write_fts5(data, database))

    def ask(query: str) -> object:
        match = " OR ".join(f'"{word}"' for word in _WORD.findall(query)) or '""'
        return connection.execute(_FTS5_QUERY, (match,)).fetchall()

    return ask


def tantivy_index(data: Path) -> Callable[[str], object]:
    """An index in memory, asked for any of the words."""
    import tantivy

    schema = tantivy.SchemaBuilder().add_text_field("text", stored=False).add_integer_field("id", stored=True).build()
    index = tantivy.Index(schema)
    writer = index.writer(num_threads=1)
    for number, text in enumerate(texts_of(data)):
        writer.add_document(tantivy.Document(id=number, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def ask(query: str) -> object:
        wanted = index.parse_query(" ".join(_WORD.findall(query)) or "nothing", ["text"])
        return [(score, searcher.doc(address)["id"]) for score, address in searcher.search(wanted, K).hits]

    return ask


def bm25s_index(lexical: "LexicalIndex") -> Callable[[Sequence[str]], object]:
    """An index of the terms of our chunks, as they are analysed; asked for terms, too."""
    import bm25s

    retriever = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    retriever.index(_terms_of(lexical), show_progress=False)

    def ask(terms: Sequence[str]) -> object:
        return retriever.retrieve([list(terms)], k=K, show_progress=False)

    return ask


def _terms_of(lexical: "LexicalIndex") -> list[list[str]]:
    """The terms of each chunk, a repeated one as often, in no particular order."""
    import numpy as np

    postings = lexical.postings()
    order = np.argsort(postings.chunks, kind="stable")
    repeats = postings.frequencies[order].astype(np.int64)
    words = np.array([term.decode("utf-8", "replace") for term in postings.terms], dtype=object)
    every = words[np.repeat(postings.term_numbers[order], repeats)].tolist()
    ends = np.cumsum(np.bincount(postings.chunks[order], weights=repeats, minlength=lexical.n_chunks)).astype(int)
    return [every[start:end] for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)]


def exact_scan(rows: "NDArray[np.int8]") -> "Callable[[NDArray[np.float32]], object]":
    """Every vector as float32, of length 1, compared by one product of NumPy."""
    import numpy as np

    matrix = rows.astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)

    def ask(query: "NDArray[np.float32]") -> object:
        cosines = matrix @ query
        best = np.argpartition(-cosines, min(K, len(cosines) - 1))[:K]
        return best[np.argsort(-cosines[best])]

    return ask
