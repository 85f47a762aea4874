"""`python -m kebab_stream` and the script `kebab`."""

import os
import signal
from typing import NoReturn

_EXIT_INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line. Ctrl-C leaves quietly from the first moment on, also while modules are imported."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(_EXIT_INTERRUPTED))
    from kebab_stream.cli.main import main as run_command_line  # late: this takes most of the start-up

    signal.signal(signal.SIGINT, signal.default_int_handler)
    run_command_line()


if __name__ == "__main__":
    main()
