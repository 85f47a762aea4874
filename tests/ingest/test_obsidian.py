import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.config import Chunking
from kebab_stream.ingest.chunk import chunk
from kebab_stream.ingest.markdown import heading_text, markdown_blocks
from kebab_stream.ingest.obsidian import with_inline_tags
from kebab_stream.ingest.parse import parse
from tests.ingest.strategies import few


def tags_of(text: str) -> tuple[str, ...]:
    return parse("a.md", text).tags


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("#tag and #nested/tag.", ("tag", "nested/tag")),
        ("#태그 #한글-태그, #태그와", ("태그", "한글-태그", "태그와")),
        ("#\u1112\u1161\u11ab", ("한",)),
        ("#हिन्दी #ไทย #🔥 #a_b", ("हिन्दी", "ไทย", "🔥", "a_b")),
        ("#태그。 #가·나 #「x」", ("태그", "가")),
        (
            "# 주간 #업무\n\n> [!note] #알림\n\n- [ ] #todo\n\n| a | b |\n|---|---|\n| #표 | c |",
            ("업무", "알림", "todo", "표"),
        ),
        ("#1984 #y1984 #2024/05 #1-2 #12/ #- #/", ("y1984", "2024/05", "1-2")),
        ("#fff", ("fff",)),
        ("C# F# a#b ##c (#d) \\#e", ()),
        ("https://x.y/#z [a](#b) [[c#d]] [[c #d]] <#e> <b #f> &#39;", ()),
        ("[ref]: #anchor\n[other]:\n  #anchor", ()),
        ("`#a` `` ` #b `` ` #c\n#d ` #e", ("e",)),
        ("`not closed #a", ("a",)),
        ("```\n#a\n```\n\n    #b\n\n<div>\n#c\n</div>\n\n<!-- #d -->\n\n<!-- e -->\nx <!-- #f -->", ()),
        ("%% #a %% #b\n\n%%\n#c\n\n#d\n%%", ("b",)),
        ("#" + "x" * 300 + " #" + "y" * 301, ("x" * 300,)),
    ],
)
def test_tags_in_the_text_are_those_of_obsidian(text: str, tags: tuple[str, ...]) -> None:
    assert tags_of(text) == tags


def test_tags_follow_those_of_the_front_matter_and_are_spelled_as_first_seen() -> None:
    assert tags_of("---\ntags: [B, a/C]\n---\n#b #A/c #New #new") == ("B", "a/C", "New")


def test_front_matter_has_no_tags_in_its_text() -> None:
    assert tags_of("---\ntitle: x #y\n---\n") == ()
    assert tags_of("---\ntitle: x #y\n---\n#z") == ("z",)


def test_a_document_has_at_most_a_hundred_tags() -> None:
    text = "#same " * 2000 + " ".join(f"#t{number}" for number in range(200))

    assert tags_of(text) == ("same", *(f"t{number}" for number in range(99)))


@few
@given(st.text(st.sampled_from("# #%`[]<>:!|\\$/-ab1가\n{}*"), max_size=300))
def test_no_text_makes_tags_that_obsidian_would_not_take(text: str) -> None:
    lines = text.split("\n")
    tags = with_inline_tags((), lines, markdown_blocks(lines))

    assert all(f"#{tag}" in text and not tag.isdigit() and not set(tag) & set(" #%`[]<>:!|\\$\n{}*") for tag in tags)
    assert len({tag.casefold() for tag in tags}) == len(tags)


# --- comments --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("%% note %%\n\ntext", ["comment", "text"]),
        ("%% two\nlines %%", ["comment"]),
        ("%%\n# no heading\n\n- note\n%%\n\n# heading", ["comment", "comment", "comment", "heading"]),
        ("%% a %% text\n\ntext %% b %%\n\n%% c %% %% d %%", ["text", "text", "text"]),
        ("%%\nnever closed\n\n# heading", ["text", "heading"]),
        ("a\n\n%%\nb\n%%\n\nc\n\n%%\nd", ["text", "comment", "text", "text"]),
        ("```mermaid\n%%\n```\n\ntext\n\n```\n%%\n```", ["fence", "text", "fence"]),
        ("100%%\n\n%%time", ["text", "text"]),
    ],
)
def test_comments_are_no_content(text: str, kinds: list[str]) -> None:
    assert [block.kind for block in markdown_blocks(text.split("\n"))] == kinds


# --- links and blocks ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("See [[Page]]", "See Page"),
        ("See [[folder/Page|the *page*]]", "See the *page*"),
        ("[[Page#Part]] and [[#Part]]", "Page > Part and Part"),
        ("[[Page#^block]]", "Page"),
        ("![[그림.png|300]] ![[그림.png|300x200]]", "그림.png 그림.png"),
        ("**[[Page|강조]]**", "강조"),
        ("`[[Page]]` \\[[Page]]", "[[Page]] [[Page]]"),
        ("[[docs]](https://example.org)", "[docs]"),
        ("[[]] [[a\n]]", "[[]] [[a ]]"),
        ("Title[^1] ^block-id", "Title"),
        ("x^2 ^", "x^2 ^"),
    ],
)
def test_headings_show_what_links_show(source: str, text: str) -> None:
    assert heading_text(source) == text


def test_chunks_stay_as_they_were_written() -> None:
    text = (
        "# [[Page|별칭]]\n\n| link | b |\n|---|---|\n| [[Page\\|alias]] | ![[x.png\\|300]] |\n\n"
        "> [!warning]- 접는 콜아웃\n> - item\n>   - deeper\n>\n> ```py\n> # code\n> ```\n\n글 ==형광== ^block"
    )
    (piece,) = chunk(parse("a.md", text), Chunking())

    assert (piece.text, piece.heading_path) == (text, ("별칭",))
    assert [block.kind for block in markdown_blocks(text.split("\n"))] == [
        *("heading", "table", "text", "text", "text", "text", "fence", "text")
    ]
