"""`kebab inspect`: how a document or a chunk is indexed."""

from collections.abc import Mapping

import asyncclick as click

from kebab_stream.cli.options import common, common_options, settings
from kebab_stream.cli.output import write_line, write_text
from kebab_stream.cli.table import table
from kebab_stream.render import printable
from kebab_stream.reports.lookup import ChunkSummary, InspectResult

_EPILOG = """\b
Examples:
  kebab inspect ko/notes.md
  kebab inspect 0123456789abcdef0123456789abcdef
  kebab inspect ko/notes.md --json | jq -r '.chunks[].chunk_id'"""


@click.command(name="inspect", epilog=_EPILOG, short_help="Tell how something is indexed.")
@click.argument("id_or_path", metavar="ID_OR_PATH")
@click.option("--source", metavar="ID", help="The source of the document, where several have its path.")
@common_options
def command(id_or_path: str, source: str | None) -> None:
    """Tell how a document or chunk is indexed: the chunks of the one, the terms and vectors of the other."""
    from kebab_stream.engine import Engine  # late: a wrong argument is told sooner

    with Engine.open(settings()) as engine:
        result = engine.inspect(id_or_path, source=source)
    if common().json:
        write_line(result)
    else:
        write_text(_chunk_text(result) if result.kind == "chunk" else _document_text(result))


def _document_text(result: InspectResult) -> str:
    document = result.document
    facts = {
        "doc_id": document.doc_id,
        "source": f"{document.source_id} ({document.source_type}, {document.trust_level})",
        "path": document.doc_path,
        "title": document.title,
        "aliases": ", ".join(document.aliases),
        "kind": ", ".join(filter(None, (document.media, document.code_lang, document.lang))),
        "repo": document.repo,
        "tags": ", ".join(document.tags),
        "created": document.created,
        "modified": document.modified,
        "indexed": document.indexed_at + (" (stale)" if document.stale else ""),
        "size": f"{document.size} bytes, {document.chunks} chunks",
        "model": result.embedding_model or "none",
    }
    heads = ("#", "place", "chars", "vectors", "chunk_id", "headings")
    rows = [
        (chunk.ordinal, _place(chunk), chunk.chars, chunk.windows, chunk.chunk_id, " > ".join(chunk.heading_path))
        for chunk in result.chunks
    ]
    return _facts_text(facts) + ("\n" + table([heads, *rows], right=(0, 2, 3)) if rows else "")


def _chunk_text(result: InspectResult) -> str:
    (chunk,) = result.chunks
    facts = {
        "chunk_id": chunk.chunk_id,
        "place": f"{chunk.citation.uri}, chunk {chunk.ordinal} of {result.document.chunks}, counted from 0",
        "headings": " > ".join(chunk.heading_path),
        "size": f"{chunk.chars} characters, {chunk.windows} vectors ({result.embedding_model or 'no model'})",
    }
    text = "".join(f"    {printable(line)}\n" for line in (result.text or "").split("\n"))
    heads = ("here", "chunks", "idf", "term")
    rows = [(term.frequency, term.document_frequency, f"{term.idf:.2f}", term.term) for term in result.terms or ()]
    return f"{_facts_text(facts)}\n{text}\n{table([heads, *rows], right=(0, 1, 2))}"


def _facts_text(facts: Mapping[str, str | None]) -> str:
    return table([(name, value) for name, value in facts.items() if value])


def _place(chunk: ChunkSummary) -> str:
    """The part of the citation that comes after the path."""
    return chunk.citation.uri.rpartition("#")[2]
