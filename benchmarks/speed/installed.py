"""Section: how large what is installed is, package by package."""

import json

from benchmarks.speed.figures import Section, Table, Target, shown
from benchmarks.speed.setup import Setup
from benchmarks.speed.timing import Command, run

LIMIT_MB = 400

SIZES = """
import json, re, sys
from importlib.metadata import PackageNotFoundError, distribution
sizes, waiting = {}, ["kebab-stream"]
while waiting:
    name = re.sub("[-_.]+", "-", waiting.pop().lower())
    if name in sizes:
        continue
    try:
        found = distribution(name)
    except PackageNotFoundError:  # for another platform or version of Python
        continue
    paths = [file.locate() for file in found.files or ()]
    sizes[name] = sum(path.stat().st_size for path in paths if path.is_file())
    for wanted in found.requires or ():
        if not re.search(r";.*\\bextra\\b", wanted):
            waiting.append(re.match(r"[\\w.-]+", wanted).group())
sys.stdout.write(json.dumps(sizes))
"""
"""Prints the bytes of each package that the default install needs, by its record of files."""


def measure(setup: Setup) -> Section:
    """Of the install that `kebab` belongs to."""
    sizes = json.loads(run(Command(argv=[setup.python, "-c", SIZES])).output)
    total = sum(sizes.values()) / 1e6
    rows = [(name, shown(size / 1e6)) for name, size in sorted(sizes.items(), key=lambda one: (-one[1], one[0]))]
    return Section(
        "Installed size",
        ["The default install, without extras, by the files that each package names, compiled bytecode among them."],
        [Target("installed size", LIMIT_MB, total, unit="MB")],
        [Table("", ("package", "MB"), [*rows, ("together", shown(total))])],
    )
