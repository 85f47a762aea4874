"""The private memory of processes, without and with the pages of mapped files that no other process has mapped now.

The first, `Private_Dirty`, is what a process has for itself. The second adds `Private_Clean`: pages of index files and
libraries, which the system keeps once for all processes and takes back when it needs them.
"""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

_EVERY_S = 0.05

PRINT_PRIVATE = """
import re, sys
rollup = open("/proc/self/smaps_rollup").read()
dirty, clean = (int(re.search(f"Private_{kind}: +([0-9]+)", rollup).group(1)) for kind in ("Dirty", "Clean"))
sys.stdout.write(f"{dirty} {dirty + clean}")
"""
"""Python that prints both figures of its process, KiB."""


def private_kib(pid: int) -> int:
    """What one process has for itself; 0 for one that has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_Dirty"))


def descendants(pid: int) -> Iterator[int]:
    """The processes that a process started, and those that they started."""
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in path.read_text().split()]
        except OSError:
            continue
        for child in children:
            yield child
            yield from descendants(child)


class Watch:
    """While it is entered: looks at what everything that this process has started has for itself, all together."""

    def __init__(self) -> None:
        self.peak_mib = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(_EVERY_S):
            total = sum(map(private_kib, descendants(os.getpid())))
            self.peak_mib = max(self.peak_mib, total / 1024)
