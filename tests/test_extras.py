"""The optional parts of a package, as its metadata tells them."""

from pathlib import Path

import pytest

from kebab_stream.extras import extras, version

METADATA = """\
Metadata-Version: 2.1
Name: some-package
Version: 1
Requires-Dist: numpy>=2
Requires-Dist: numpy>=2; extra == 'arrays'
Requires-Dist: numpy; python_version >= "3" and extra == "both"
Requires-Dist: no-such-library[fast]>=1; extra == "both"
"""


def test_an_extra_is_installed_when_all_its_libraries_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "some_package-1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(METADATA, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    assert extras("some-package") == {"arrays": True, "both": False}


def test_what_is_not_installed_has_no_extras() -> None:
    assert extras("no-such-package") == {}


def test_the_version_is_that_of_the_package() -> None:
    assert version()[0].isdigit()
