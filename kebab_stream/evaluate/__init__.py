"""How good the search is on queries whose answers are known.

`beir.py` and `golden.py` read them into the values of `judged.py`; `corpus.py` makes an index of a set's own corpus;
`run.py` asks, `targets.py` says what was found, `metrics.py` how good that is; `report.py` and `significance.py`
compare; `page.py` and `plots.py` show it.
"""

from kebab_stream.evaluate.page import page
from kebab_stream.evaluate.report import mean_of, metrics_in, read_report, report_of, require_distinct
from kebab_stream.evaluate.run import Progress, evaluate, read_set

__all__ = [
    "Progress",
    "evaluate",
    "mean_of",
    "metrics_in",
    "page",
    "read_report",
    "read_set",
    "report_of",
    "require_distinct",
]
