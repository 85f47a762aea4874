"""`python -m kebab_stream` and the script `kebab`.

Ctrl-C leaves quietly from here on. What Python does before, some 15 ms, is its own: there it ends by the signal, with
a traceback. So this module, and the package's own, import next to nothing.
"""

import gc
import os
import signal

_EXIT_INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process and leave."""
    # Until the command line can end in order, which it says by putting another handler in the place of this one.
    signal.signal(signal.SIGINT, lambda *_: os._exit(_EXIT_INTERRUPTED))
    # numpy would start a thread for each core that only burns time: no BLAS routine is called (embed/static.py).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Python looks for cycles of garbage after each 700 new objects; importing makes many, and none of it is garbage.
    gc.set_threshold(20_000)
    from kebab_stream.cli.main import main as run_command_line  # late: this takes most of the start-up

    run_command_line()


if __name__ == "__main__":
    main()
