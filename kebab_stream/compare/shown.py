"""What the table and the page of a comparison say alike: the names of hits, and why pages of two lengths differ."""

from collections.abc import Callable

from kebab_stream.reports.offline import ComparedHit, CompareReport


def namer(report: CompareReport) -> Callable[[ComparedHit], str]:
    """The name of a hit: its path, as `SOURCE/path` where the hits of the report are of several sources."""
    sources = {hit.source_id for one in report.worst for hit in (*one.a, *one.b)}
    with_source = len(sources) > 1
    return lambda hit: f"{hit.source_id}/{hit.doc_path}" if with_source and hit.source_id else hit.doc_path


def unequal_lengths(report: CompareReport) -> str | None:
    """That one run has longer pages than the other: the same ranking is not identical then."""
    a, b = report.a.most_hits, report.b.most_hits
    if a == b:
        return None
    return (
        f"the longest answer has {a} hits in A, {b} in B: a longer page of the same ranking is not identical, and its"
        f" overlap@{report.k} is below 1; RBO allows for it"
    )
