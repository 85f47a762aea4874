import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.front_matter import FrontMatter, front_matter

NONE = FrontMatter()


def read(text: str) -> FrontMatter:
    return front_matter(text.split("\n"))


def test_all_fields_of_yaml_are_read() -> None:
    found = read(
        "---\ntitle: '제목: 하나'\ntags: [회의, work/프로젝트]\naliases:\n  - 별칭 하나\n  - 둘\nlang: ko-KR\n"
        "trust_level: Primary\nsource_type: wiki\nother: {a: [b]}\n---\n본문"
    )

    assert found == FrontMatter(
        line_count=11,
        title="제목: 하나",
        tags=("회의", "work/프로젝트"),
        aliases=("별칭 하나", "둘"),
        lang="ko",
        trust_level="primary",
        source_type="wiki",
    )


def test_toml_between_plus_signs_is_read() -> None:
    found = read('+++\ntitle = "제목"\ntags = ["a", 2024]\ndate = 2024-01-01\n[extra]\nlang = "en"\n+++\n본문')

    assert found == FrontMatter(line_count=7, title="제목", tags=("a", "2024"))


@pytest.mark.parametrize(
    ("field", "tags"),
    [
        ("tags: a, b c ,, #d", ("a", "b c")),  # YAML: a comment begins at " #"
        ("tags: 'a, #b'", ("a", "b")),
        ("tags: [a, b, a]", ("a", "b")),
        ("tags:\n  - a\n  - b", ("a", "b")),
        ("tags:\n- a\n- '#b'", ("a", "b")),
        ("tags: [no, 2024, 1e3, 0x10, 2024-13-45]", ("no", "2024", "1e3", "0x10", "2024-13-45")),
        ("tags: [a, ~, null, '', 'null', [b, c], {d: e}, f]", ("a", "null", "f")),
        ("tags: {a: b}", ()),
        ("tags: ~", ()),
        ("tags:", ()),
        ("tags: &x [a, *x, *y]", ("a",)),
        ('"tags": a', ("a",)),
        ("Tags: a", ("a",)),
        ("tags: \u1112\u1161\u11ab", ("한",)),
        ("tags: [" + "a, " * 5000 + "]", ()),
    ],
)
def test_tags_come_as_list_or_text_and_stay_as_they_are_written(field: str, tags: tuple[str, ...]) -> None:
    assert read(f"---\n{field}\n---").tags == tags


def test_a_broken_field_is_dropped_alone() -> None:
    found = read('---\ntags: [열린, "따옴표\n  - 들여쓰기\nlang: en\ntrust_level: high\ndate: 2024-13-45\n---')

    assert found == FrontMatter(line_count=7, lang="en")


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("title: a: b: c", "a: b: c"),
        ("title: [초안] 계획", "[초안] 계획"),
        ('title: "열린 따옴표', "열린 따옴표"),
        ("title: @here", "@here"),
        ("title: 2024-01-01", "2024-01-01"),
        ("title: no", "no"),
        ("title: null", None),
        ("title: ''", None),
        ("title: [a, b]", None),
        ("title: >-\n  접힌\n  제목", "접힌 제목"),
    ],
)
def test_a_title_is_taken_as_it_was_meant(line: str, title: str | None) -> None:
    assert read(f"---\n{line}\n---").title == title


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: x\n---\nbody",
        "--- \t\ntitle: x\n---  \nbody",
        "---\n\n# comment\ntitle: x\n...\nbody",
    ],
)
def test_fences_may_have_trailing_blanks_and_other_ends(text: str) -> None:
    found = read(text)

    assert found.title == "x"
    assert found.line_count == text.count("\n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# title: x",
        "\n---\ntitle: x\n---",
        "---\ntitle: x\n# never closed",
        "---\n\nA rule, then text.\n\n---\nmore",
        "---\nhttp://example.org/\n---",
        "---\nJust words\n---",
        "---\n- an item\n- of a list\n---",
        "---\n  indented: words\n---",
        "----\ntitle: x\n----",
        '+++\ntitle = "x"\n# never closed',
        "+++\nnot toml\n+++",
        "+++\nx = " + "[" * 5000 + "\n+++",
        '{\n  "title": "x"\n}',
    ],
)
def test_what_does_not_look_like_front_matter_stays_text(text: str) -> None:
    assert read(text) == NONE


@pytest.mark.parametrize("text", ["---\n---\nbody", "---\n\n# comment\n---", "+++\n+++\nbody"])
def test_front_matter_may_be_empty(text: str) -> None:
    found = read(text)

    assert found == FrontMatter(line_count=found.line_count)
    assert found.line_count in (2, 4)


def test_long_values_are_bounded() -> None:
    found = read(f"---\ntitle: {'x' * 4000}\ntags: [{', '.join(map(str, range(500)))}]\n---")

    assert found.title == "x" * 300
    assert len(found.tags) == 100


@pytest.mark.parametrize("last", ["last", "[a, [last"])
def test_of_several_fields_with_one_name_the_last_is_meant(last: str) -> None:
    tags = ("last",) if last == "last" else ()

    assert read(f"---\ntags: first\ntitle: x\nTags: {last}\n---") == FrontMatter(line_count=5, title="x", tags=tags)


def test_a_field_that_is_given_a_thousand_times_takes_no_time() -> None:
    start = time.perf_counter()
    read("---\n" + ("tags: [" + "a, " * 1300 + "]\n") * 1000 + "---")

    assert time.perf_counter() - start < 0.5


@given(st.text(st.sampled_from("---\n\n+: [],{}#'\"&*!|>%@`\\\tatitle가\x85\x00\ud800")))
def test_no_front_matter_can_fail(text: str) -> None:
    found = read("---\ntags: " + text + "\n---\n")

    assert found.line_count <= text.count("\n") + 3
