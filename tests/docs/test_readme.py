"""The two READMEs say the same, and links in the documentation lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import fences
from tests.paths import ROOT

READMES = sorted(ROOT.glob("README*.md"))
PAGES = sorted(ROOT.glob("docs/*.md"))
INTEGRATIONS = ROOT / "integrations" / "README.md"

_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def test_the_korean_readme_has_the_same_commands() -> None:
    assert fences(ROOT / "README.ko.md") == fences(ROOT / "README.md")


@pytest.mark.parametrize("readme", READMES, ids=lambda page: page.name)
def test_a_readme_lists_every_page(readme: Path) -> None:
    linked = {target for target, _ in _LINK.findall(readme.read_text(encoding="utf-8"))}

    assert {f"docs/{page.name}" for page in PAGES} | {"integrations/README.md"} <= linked


@pytest.mark.parametrize("page", [*READMES, *PAGES, INTEGRATIONS, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target, anchor in _LINK.findall(page.read_text(encoding="utf-8")):
        there = page.parent / target if target else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


@pytest.mark.parametrize("page", [*READMES, *PAGES, INTEGRATIONS], ids=lambda page: page.name)
def test_a_page_has_one_sentence_per_line(page: Path) -> None:
    text = re.sub(r"```.*?```|`[^`\n]*`", "x", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    paragraphs = [line for line in text.splitlines() if not line.startswith(("|", "- ", "#"))]

    assert [line for line in paragraphs if re.search(r"[a-z다)][.?!] +[A-Z가-힣]", line)] == []


def anchors(page: Path) -> set[str]:
    """The names that headings of a page have in links."""
    headings = re.findall("^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
