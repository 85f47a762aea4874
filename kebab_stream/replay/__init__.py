"""Queries of any number, from a file: answered by several processes or on a cluster, in order, resumably.

`lines.py` cuts the input into batches, `ordered.py` has them answered side by side and written in order; `worker.py`
and `pool.py` answer on this machine, `ray_cluster.py` on a cluster, both with `answers.py`; `results.py` writes, and
`journal.py` remembers what is written; `run.py` joins these.
"""

from kebab_stream.replay.run import Progress, ReplayRequest, replay

__all__ = ["Progress", "ReplayRequest", "replay"]
