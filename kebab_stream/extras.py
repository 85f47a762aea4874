"""The optional parts of the package: which there are, and which are installed. Its own metadata says both."""

import re
from importlib.metadata import PackageNotFoundError, distribution

PACKAGE = "kebab-stream"

_REQUIREMENT = re.compile(r"""([\w.-]+).*;.*\bextra\s*==\s*['"]([\w.-]+)['"]""")


def version() -> str:
    """The version of the installed package; `unknown` where only its source files are there."""
    try:
        return distribution(PACKAGE).version
    except PackageNotFoundError:
        return "unknown"


def extras(package: str = PACKAGE) -> dict[str, bool]:
    """Each optional part, by name, and whether every library it needs is installed (of whatever version)."""
    try:
        requirements = distribution(package).requires or []
    except PackageNotFoundError:
        return {}
    found: dict[str, bool] = {}
    for requirement in requirements:
        if match := _REQUIREMENT.fullmatch(requirement):
            library, extra = match.groups()
            found[extra] = found.get(extra, True) and _is_installed(library)
    return dict(sorted(found.items()))


def _is_installed(library: str) -> bool:
    try:
        distribution(library)
    except PackageNotFoundError:
        return False
    return True
