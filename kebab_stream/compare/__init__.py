"""What changed between two runs over the same queries.

`answers.py` reads both files in step, `measures.py` says how alike two rankings are, `run.py` sums up, `page.py` shows.
"""

from kebab_stream.compare.answers import By
from kebab_stream.compare.run import PERSISTENCE, compare

__all__ = ["PERSISTENCE", "By", "compare"]
