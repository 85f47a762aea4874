import time
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest.front_matter import FrontMatter, front_matter, normal_date

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

    assert found == FrontMatter(line_count=7, title="제목", tags=("a", "2024"), created="2024-01-01")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ('title = "x"\nbroken = = 1\ntags = ["a"', FrontMatter(title="x")),
        ('broken =\ntags = [\n  "a", # one\n  "b",\n]\n', FrontMatter(tags=("a", "b"))),
        ("date = 2024-13-45\nlang = 'ko'", FrontMatter(lang="ko")),
        ('[params]\ntitle = "x"', FrontMatter()),
        ('title = """\n두\n줄"""\n[[a.b]]\ntags = ["c"]', FrontMatter(title="두 줄")),
        (
            '"title" = true\ntags = [true, 1.5, [1], {a = 1}]\na.title = 1',
            FrontMatter(title="true", tags=("true", "1.5")),
        ),
        (
            '# comment\n\nTitle = "x"\nLastMod = 2024-01-02T03:04:05.678+09:00',
            FrontMatter(title="x", modified="2024-01-02T03:04:05+09:00"),
        ),
        ("title = 0x" + "f" * 4000 + "\nlang = 'ko'", FrontMatter(lang="ko")),
        ("tags = ['a', 0x" + "f" * 4000 + ", 12]", FrontMatter(tags=("a", "12"))),
        ("x = " + "[" * 5000 + "\n" + "a." * 5000 + "a = 1\ntags = " + "[" * 5000, FrontMatter()),
    ],
)
def test_a_broken_field_of_toml_is_dropped_alone(fields: str, expected: FrontMatter) -> None:
    text = f"+++\n{fields}\n+++"

    assert read(text) == replace(expected, line_count=text.count("\n") + 1)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("tag: a", FrontMatter(tags=("a",))),
        ("tag: a\ntags: [b, a]", FrontMatter(tags=("b", "a"))),
        ("alias: 별칭 하나", FrontMatter(aliases=("별칭 하나",))),
        ("language: en_US", FrontMatter(lang="en")),
        ("lang: 한국어\nlanguage: ko", FrontMatter(lang="ko")),
        ("Trust-Level: primary\nsource type: wiki", FrontMatter(trust_level="primary", source_type="wiki")),
        ("source_type: a, b\ntitle: x", FrontMatter(title="x")),
        ("source_type: ' wiki  page '", FrontMatter(source_type="wiki page")),
        (
            "date created: 2024-01-01\ndate modified: 2024-01-02",
            FrontMatter(created="2024-01-01", modified="2024-01-02"),
        ),
        ("date: 2024-01-02\ncreated: 2024-01-01", FrontMatter(created="2024-01-01")),
        ("created: soon\npublishDate: 2024-01-02", FrontMatter(created="2024-01-02")),
        ("created_at: 2024-01-01\nupdated_at: 2024-01-02", FrontMatter(created="2024-01-01", modified="2024-01-02")),
        ("lastmod: 2024-01-02", FrontMatter(modified="2024-01-02")),
        ("last_modified: 2024-01-02T00:00:00Z", FrontMatter(modified="2024-01-02T00:00:00Z")),
        ("updated: [2024-01-02]\ncreated: {a: b}\ntitle: x", FrontMatter(title="x")),
        ("created: {{date}}\npublished: true", FrontMatter()),
    ],
)
def test_fields_have_the_names_that_tools_give_them(field: str, expected: FrontMatter) -> None:
    text = f"---\n{field}\n---"

    assert read(text) == replace(expected, line_count=text.count("\n") + 1)


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2024-01-05", "2024-01-05"),
        ("2024-1-5", "2024-01-05"),
        ("2024/01/05", "2024-01-05"),
        ("2024.01.05", "2024-01-05"),
        ("[[2024-01-05]]", "2024-01-05"),
        ("2024-01-05T10:20:30Z", "2024-01-05T10:20:30Z"),
        ("2024-01-05t10:20:30.123+09:00", "2024-01-05T10:20:30+09:00"),
        ("2024-01-05 10:20:30 +0900", "2024-01-05T10:20:30+09:00"),
        ("2024-01-05 10:20 UTC", "2024-01-05T10:20:00Z"),
        ("2001-12-14 21:59:43.10 -5", "2001-12-14T21:59:43-05:00"),
        ("2024-01-05 10:20:30", "2024-01-05"),
        ("2024-01-05T10:20", "2024-01-05"),
        ("2024-02-30", None),
        ("2024-01/05", None),
        ("2024-01-05 25:00", None),
        ("2024-01-05T10:00:00+25:00", None),
        ("0000-01-01", None),
        ("2024-01", None),
        ("2024", None),
        ("1704412800", None),
        ("2024-01-05 or so", None),
        ("\u0662\u0660\u0662\u0664-01-05", None),
        ("", None),
    ],
)
def test_a_date_is_one_that_can_be_compared_or_none(text: str, date: str | None) -> None:
    assert normal_date(text) == date


@given(st.datetimes(), st.integers(-23 * 60, 23 * 60), st.sampled_from("T "))
def test_dates_keep_their_moment_to_the_second(local: datetime, offset_minutes: int, mark: str) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=offset_minutes)))

    assert normal_date(moment.isoformat(mark)) == moment.isoformat(timespec="seconds").replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("field", "tags"),
    [
        ("tags: a, b c ,, #d", ("a", "b c")),  # YAML: a comment begins at " #"
        ("tags: 'a, #b'", ("a", "b")),
        ("tags: a b  area/topic", ("a", "b", "area/topic")),
        ("tags: '#a #b'", ("a", "b")),
        ("tags: |\n  a\n  b", ("a", "b")),
        ("tags: [a b]", ("a b",)),
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
        '+++\nwords\ntitle = "x"\n+++',
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

    assert read(f"---\ntitle: {'x' * 299} y\n---").title == "x" * 299
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


@given(
    st.sampled_from(["tags", "title", "date", "source_type"]),
    st.lists(
        st.sampled_from(["0x", "f" * 4000, "9" * 4090, "2024-13-45", "[", "]", ",", "'", '"', " ", "{", "}", "="])
    ),
)
def test_no_front_matter_in_toml_can_fail(name: str, parts: list[str]) -> None:
    value = "".join(parts)

    assert read(f"+++\n{name} = {value}\n+++").line_count == 3
    assert read(f"+++\n{name} = [0x{value}]\n+++").line_count == 3
