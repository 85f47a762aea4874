"""Docstrings and the functions they describe, out of Python packages."""

import ast
import importlib.util
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tools.static_model.markup import clean, read
from tools.static_model.pairs import SNIPPET_CHARS, Collector, files_below

BODY_LINES: Final = 80

_DOCSTRING: Final = re.compile(r'("""|\'\'\').*?\1', re.DOTALL)


def package_folder(name: str) -> Path:
    """Where an installed package lies; it is not imported. Raises FileNotFoundError where it is not installed."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.origin:
        raise FileNotFoundError(f"package {name} is not installed")
    return Path(spec.origin).parent


def standard_library() -> Path:
    return Path(sysconfig.get_path("stdlib"))


def add_functions(collector: Collector, folder: Path, source: str, limit: int) -> None:
    """The first paragraph of each docstring with the body below it; a third of the bodies become snippets too.

    Stops after the file in which `limit` is passed; tests and nested `site-packages` are left out.
    """
    paths = files_below(folder, (".py",))
    collector.rng.shuffle(paths)
    found = 0
    for path in paths:
        if found > limit:
            return
        inner = f"/{path.relative_to(folder).as_posix()}"
        if "/test" in inner or "site-packages" in inner:
            continue
        for summary, body in documented(read(path)):
            found += 1
            collector.add(summary, body, "code", source)
            if found % 3 == 0:
                collector.add_text(body[:SNIPPET_CHARS], source)


def documented(code: str) -> Iterator[tuple[str, str]]:
    """(first paragraph of the docstring, the rest of the definition) of functions and classes; none of invalid code."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return
    lines = code.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            docstring = ast.get_docstring(node) or ""
            body = "\n".join(lines[node.lineno - 1 : node.end_lineno][:BODY_LINES])
            body = _DOCSTRING.sub("", body, count=1)
            if len(docstring) > 15 and len(body) > 40:
                yield clean(docstring.split("\n\n")[0]), body
