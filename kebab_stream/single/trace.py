"""The trace of one query: what each side returned, what fusion made of it, and how long each took."""

from time import perf_counter

from kebab_stream.index.snapshot import Snapshot
from kebab_stream.model import ChunkId, DocId, FusionInput, Timing, Trace, TraceRow
from kebab_stream.single.retrieve import Ranking, Side


def trace_of(snapshot: Snapshot, ranking: Ranking, started: float) -> Trace:
    """Describe a ranking in full.

    Args:
        started: `perf_counter()` when the query came in.
    """
    generation = snapshot.generation
    lexical, vector = ranking.lexical, ranking.vector
    sides = [side.best for side in (lexical, vector) if side]  # more than the ranking, where documents have a limit
    numbers = {int(number) for some in (ranking.numbers, *sides) for number in some}
    ids = {number: generation.chunk_id(number) for number in sorted(numbers)}
    paths = snapshot.store.chunk_paths(list(ids.values()))

    def rows(side: Side | None) -> tuple[TraceRow, ...]:
        numbers = [] if side is None else [int(number) for number in side.best]
        return tuple(_row(ids[number], paths, side, number) for number in numbers if side)

    inputs = tuple(
        FusionInput(chunk_id=ChunkId(ids[number].hex()), fusion_score=float(score), **ranking.found(number))
        for number, score in zip(map(int, ranking.numbers), ranking.scores, strict=True)
    )
    timing = Timing(
        lexical_ms=round(lexical.milliseconds, 3) if lexical else 0.0,
        vector_ms=round(vector.milliseconds, 3) if vector else 0.0,
        fusion_ms=round(ranking.fusion_ms, 3),
        total_ms=round((perf_counter() - started) * 1000, 3),
    )
    return Trace(lexical=rows(lexical), vector=rows(vector), rrf_inputs=inputs, timing=timing)


def _row(chunk_id: bytes, paths: dict[ChunkId, tuple[DocId, str]], side: Side, number: int) -> TraceRow:
    name = ChunkId(chunk_id.hex())
    doc_id, doc_path = paths[name]
    rank = side.rank(number)
    assert rank is not None
    return TraceRow(chunk_id=name, doc_id=doc_id, doc_path=doc_path, rank=rank, score=side.score(number))
