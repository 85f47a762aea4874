"""The settings in writing: the commented file of `kebab init`, and docs/configuration.md."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from kebab_stream.config.keys import Key
from kebab_stream.config.settings import KEYS, SOURCE_KEYS, variable_of

_SOURCE_EXAMPLE = """\
#   [[workspace.sources]]
#   id = "notes"
#   root = "~/notes"
#   exclude = ["drafts/", "*.tmp.md"]
#   trust_level = "primary"
#   source_type = "notes"
"""

_FILE_HEAD = """\
# Settings of kebab. Each line that begins with `#` and a name shows a default: remove the `#` to change it.
# Relative paths are relative to this file; `~` and `${VAR}` are expanded; an empty path or text means unset.
# Environment variables (KEBAB_SEARCH_DEFAULT_K for search.default_k) win over this file, flags over both.
"""

_PAGE_HEAD = """\
# Configuration

Nothing needs to be configured: `kebab ingest .` and `kebab search …` work without a file.
`kebab init` writes a file with every setting commented out, to begin from.

## Where settings come from

In increasing weight:

1. the defaults below;
2. the config file: the one given by `--config FILE`, else `~/.config/kebab/config.toml`;
3. environment variables: `KEBAB_SEARCH_DEFAULT_K` for `search.default_k`;
4. options of the command.

The default file is `$XDG_CONFIG_HOME/kebab/config.toml` where that variable is set.
A variable's name is `KEBAB_` and the key in capitals, with `_` for each dot.

The places are the same on every platform.
A file given by `--config` must exist (`config_not_found`); the one at the default place may be absent.
An unknown key, an unknown `KEBAB_` variable or a value that is not accepted is an error (`config_invalid`).
The error names the key, the value, where it was given and what is accepted.
Values are checked after all layers are merged, so a value that a stronger layer replaces is not looked at.

```toml
# ~/.config/kebab/config.toml
[storage]
data_dir = "~/kebab-data"

[search]
default_k = 20
fusion_weight = 0.3

[[workspace.sources]]
id = "notes"
root = "~/notes"
exclude = ["drafts/"]

[[workspace.sources]]
id = "handbook"
root = "${PROJECTS}/handbook"
trust_level = "secondary"
source_type = "docs"
```

```sh
KEBAB_SEARCH_DEFAULT_K=5 kebab search "how do I rotate keys"
KEBAB_STORAGE_DATA_DIR=/mnt/index kebab search "배포 절차"
kebab --config ./kebab.toml ingest
```

## Values

Relative paths in the file are relative to the file; those in variables and options are relative to the current folder.
`~`, `~user` and `${VAR}` are expanded in paths; a variable that is not set or empty is an error.
`${XDG_CONFIG_HOME}`, `${XDG_DATA_HOME}`, `${XDG_CACHE_HOME}` and `${XDG_STATE_HOME}` always have a value.
Where they are not set, it is the default of the XDG specification, such as `~/.local/share` for `${XDG_DATA_HOME}`.
A path or a text that is empty counts as not given.
Neither may hold control characters.
Any other empty value is an error, except `KEBAB_READONLY`, where it means false.
In environment variables, true is `1`, `true`, `yes` or `on`, and false is `0`, `false`, `no` or `off`.
Small and capital letters are the same there.
Whole numbers take no fraction: `5.0` is an error.

## Keys
"""

_PAGE_SOURCES = """\
### `[[workspace.sources]]`

One table for each folder to index, in the file only.
No two sources may have the same `id` or the same folder.
"""


def commented_config() -> str:
    """A config file with every key commented out: help, what it accepts and its default.

    Uncommenting every line `#key = …` gives the defaults.
    """
    return "\n".join((_FILE_HEAD, *_file_sections()))


def configuration_markdown() -> str:
    """docs/configuration.md, as users read it."""
    lines = [_PAGE_HEAD]
    for section, keys in _by_section():
        lines.append(f"### `[{section}]`\n" if section else "### Outside any table\n")
        lines.extend(_key_in_markdown(key, variable_of(key.name)) for key in keys)
        if section == "workspace":
            lines.append(_PAGE_SOURCES)
            lines.extend(_key_in_markdown(key, None) for key in SOURCE_KEYS.values())
    return "\n".join(lines).rstrip("\n") + "\n"


def _by_section() -> Iterator[tuple[str, Iterable[Key]]]:
    yield from groupby(KEYS.values(), key=lambda key: key.name.rpartition(".")[0])


def _file_sections() -> Iterator[str]:
    for section, keys in _by_section():
        lines = [f"[{section}]"] if section else []
        for key in keys:
            lines += [f"# {key.help}", f"# Accepts {key.accepts}."]
            lines += [f"#{key.name.rpartition('.')[2]} = {_as_toml(key.default)}", ""]
        if section == "workspace":
            lines += ["# Folders to index, one table each:", _SOURCE_EXAMPLE]
        yield "\n".join(lines)


def _key_in_markdown(key: Key, variable: str | None) -> str:
    match key.default:
        case None:
            default = "required"
        case "":
            default = "unset by default"
        case _:
            default = f"default `{_as_toml(key.default)}`"
    names = f"`{key.name}`, `{variable}`" if variable else f"`{key.name}`"
    sentences = key.help.replace(". ", ".\n  ")
    return f"- {names}: {key.accepts}; {default}.\n  {sentences}\n"


def _as_toml(value: object) -> str:
    """A default as a TOML literal; no default holds quotes, backslashes or more than an empty array."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case ():
            return "[]"
        case _:
            return str(value)
