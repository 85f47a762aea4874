"""How fast and how good the program is. `python -m benchmarks` measures the speed; README.md names the rest."""
