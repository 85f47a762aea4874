"""Where things are: the XDG folders on every platform, and paths as people write them."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from kebab_stream.errors import ConfigInvalidError

XDG_DEFAULTS = {
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_CACHE_HOME": ".cache",
    "XDG_STATE_HOME": ".local/state",
}
"""Below the home folder, by the XDG Base Directory Specification."""

_VARIABLE = re.compile(r"\$\{([^}]*)(\}?)|\$([A-Za-z_][A-Za-z0-9_]*)")


def default_config_path(environ: Mapping[str, str]) -> Path:
    """The config file that is read without --config; it need not exist."""
    return xdg_dir(environ, "XDG_CONFIG_HOME") / "kebab" / "config.toml"


def xdg_dir(environ: Mapping[str, str], name: str) -> Path:
    """The folder that an XDG variable names. As the specification says, empty and relative values do not count.

    Args:
        environ: environment variables.
        name: one of `XDG_DEFAULTS`.

    Raises:
        ConfigInvalidError: the home folder is needed and unknown.
    """
    value = environ.get(name, "")
    return Path(value) if Path(value).is_absolute() else _home(environ) / XDG_DEFAULTS[name]


def resolved(text: str, *, base: Path, environ: Mapping[str, str]) -> Path:
    """The absolute path that a non-empty text names: `~` and `${VAR}` expanded, relative paths below `base`.

    Raises:
        ValueError: an unknown or empty variable, an unknown user, an unclosed brace; the message says which.
    """
    path = (base / _with_variables(_with_home(text, environ), environ)).absolute()
    # `..` behind a symbolic link leads to the parent of its target, so it is not cut off as text
    return Path(os.path.realpath(path)) if ".." in path.parts else path


def _with_home(text: str, environ: Mapping[str, str]) -> str:
    start, slash, rest = text.partition("/")
    if not start.startswith("~"):
        return text
    home = str(_home(environ)) if start == "~" else os.path.expanduser(start)  # noqa: PTH111  # a name, no Path yet
    if home == start:
        raise ValueError(f"there is no user {start[1:]!r}")
    return f"{home}{slash}{rest}"


def _with_variables(text: str, environ: Mapping[str, str]) -> str:
    def value_of(match: re.Match[str]) -> str:
        name, brace, bare = match.groups()
        if bare is not None:  # a folder may be called `a$b`; nobody means one called `$HOME`
            if bare in environ:
                raise ValueError(f"write ${{{bare}}} for the variable {bare}")
            return match[0]
        if not brace:
            raise ValueError("`${` without a closing `}`")
        value = str(xdg_dir(environ, name)) if name in XDG_DEFAULTS else environ.get(name)
        if not value:
            raise ValueError(f"the environment variable {name!r} is not set or empty")
        return value

    return _VARIABLE.sub(value_of, text)


def _home(environ: Mapping[str, str]) -> Path:
    given = Path(environ.get("HOME", ""))
    if given.is_absolute():
        return given
    try:
        return Path.home()
    except RuntimeError as error:
        raise ConfigInvalidError(f"the home folder is unknown: {error}", "set HOME to an absolute path") from error
