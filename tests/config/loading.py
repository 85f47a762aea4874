"""Load settings over a home folder that nobody has."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kebab_stream.config import Config, Storage, load_config
from kebab_stream.errors import ConfigInvalidError

HOME = {"HOME": "/home/ada"}
DEFAULT = Config(storage=Storage(data_dir=Path("/home/ada/.local/share/kebab")))


def load(
    text: str = "",
    *,
    file: Path | None = None,
    environ: Mapping[str, str] = {},
    overrides: Mapping[str, object] = {},
    cwd: Path = Path("/home/ann"),
) -> Config:
    """Load `text` as the file, if there is one, over /home/ada."""
    if file is not None:
        file.write_text(text, encoding="utf-8")
    return load_config(file, environ={**HOME, **environ}, overrides=overrides, cwd=cwd)


def refusal(
    text: str = "", *, file: Path | None = None, environ: Mapping[str, str] = {}, overrides: Mapping[str, object] = {}
) -> ConfigInvalidError:
    with pytest.raises(ConfigInvalidError) as caught:
        load(text, file=file, environ=environ, overrides=overrides)
    return caught.value


def value_of(config: Config, name: str) -> Any:
    value: Any = config
    for part in name.split("."):
        value = getattr(value, part)
    return value
