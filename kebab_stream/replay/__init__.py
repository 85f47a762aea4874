"""Queries of any number, from a file: answered by several processes or on a cluster, in order, resumably.

`lines.py` cuts the input into batches; `worker.py` and `pool.py` answer them on this machine, `ray_cluster.py` on a
cluster, to which `shipping.py` may bring the index, both with `answers.py`; `results.py` writes, and `journal.py`
remembers what is written; `run.py` joins these.
"""

from kebab_stream.replay.run import Progress, ReplayRequest, replay

__all__ = ["Progress", "ReplayRequest", "replay"]
