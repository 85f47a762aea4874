"""`python -m benchmarks` is `python -m benchmarks.speed`."""

from benchmarks.speed.__main__ import main

if __name__ == "__main__":
    main()
