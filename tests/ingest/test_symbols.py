import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab_stream.ingest import outline
from kebab_stream.ingest.document import Block
from kebab_stream.ingest.grammars import GRAMMARS
from kebab_stream.ingest.symbols import symbol_blocks
from tests.ingest.code_samples import BLOCKS, SOURCES
from tests.ingest.strategies import few

if TYPE_CHECKING:
    from tree_sitter import Language, Tree


def blocks_of(source: str, language: str) -> list[Block]:
    blocks = symbol_blocks(source.split("\n"), GRAMMARS[language])
    assert blocks is not None
    return blocks


def symbols(source: str, language: str) -> list[tuple[int, int, str | None]]:
    return [(block.line_start, block.line_end, block.symbol) for block in blocks_of(source, language)]


# --- languages -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("language", GRAMMARS)
def test_each_language_is_cut_at_its_definitions(language: str) -> None:
    assert symbols(SOURCES[language], language) == BLOCKS[language]


@pytest.mark.parametrize(
    ("language", "source", "symbol"),
    [
        ("c", "typedef struct node { int x; } node_t, *node_ptr;", "node_t"),
        ("c", "typedef enum { A } color;", "color"),
        ("c", "union u { int a; };", "u"),
        ("c", "unsigned long **f(int (*g)(int)) { return 0; }", "f"),
        ("cpp", "template <> void A<B<int>, C>::D<E>::run() {}", "A.D.run"),
        ("cpp", "A::~A() {}", "A.~A"),
        ("cpp", "bool A::operator()(int x) { return true; }", "A.operator()"),
        ("cpp", "bool operator<(A a, A b) { return true; }", "operator<"),
        ("cpp", "using Map = std::map<int, int>;", "Map"),
        ("go", "func (s *pkg[K, V]) Do() {}", "pkg.Do"),
        ("go", "type A = B", "A"),
        ("java", "@interface Ann { int v(); }", "Ann"),
        ("javascript", "export default () => {\n};", "default"),
        ("javascript", "export default class {\n}", "default"),
        ("javascript", "function* g() {}", "g"),
        ("javascript", "const C = class {\n};", "C"),
        ("javascript", "module.exports = function () {};", "module.exports"),
        ("javascript", "window.app.start = async () => {};", "window.app.start"),
        ("javascript", "const View = React.memo(function View() {\n});", "View"),
        ("javascript", "const $el_1 = x => x;", "$el_1"),
        ("typescript", "declare function over(a: string): void;", "over"),
        ("typescript", "const f = <T>(x: T): T => x;", "f"),
        ("typescript", "const el = (x: string) => <div>{x}</div>;", "el"),  # TSX
        ("rust", "impl<'a, T: Fn() -> u8> Tr for &'a mut Store<T> {}", "Store"),
        ("rust", "impl Tr for dyn Shape + Send {}", "Shape"),
        ("rust", "impl a::b::C {}", "a.b.C"),
        ("rust", "union U { a: u8 }", "U"),
        ("rust", "type X = u8;", "X"),
        ("php", "<?php enum E: string { case A = 'a'; }", "E"),
        ("php", "<?php $f = fn($x) => $x;", "f"),
        ("kotlin", "typealias T = Int", "T"),
        ("kotlin", "enum class E { A }", "E"),
        ("swift", "typealias T = Int", "T"),
        ("swift", "actor A { }", "A"),
        ("scala", "type X = Int", "X"),
        ("ruby", "class A::B < C\nend", "A.B"),
        ("ruby", "def []=(key, value)\nend", "[]="),
        ("lua", "function a.b.c:d() end", "a.b.c.d"),
        ("bash", "my-func.v2() { :; }", "my-func.v2"),
    ],
)
def test_a_definition_has_the_name_that_it_is_known_by(language: str, source: str, symbol: str) -> None:
    assert {block.symbol for block in blocks_of(source, language)} == {symbol}


def test_names_are_short_and_printable() -> None:
    name = "a" * 5000
    found = symbols(f"def {name}(): pass\nclass B:\n  x = 1\n", "python")

    assert [symbol for _, _, symbol in found] == ["a" * 200, "B"]
    assert symbols("class A {\n  'x\u0007\u202ey'() {\n  }\n}", "javascript") == [(1, 1, "A"), (2, 4, "A.xy")]


# --- what belongs to a definition ------------------------------------------------------------------------


def test_what_is_directly_above_belongs_to_a_definition_and_what_is_apart_does_not() -> None:
    source = """\
x = 1  # of x
def a():
    pass

# about b

# of b
# as well
@cache
@route(
    "/",
)
def b():
    pass
# after b
"""

    assert blocks_of(source, "python") == [
        Block("text", 1, 1),
        Block("text", 2, 3, symbol="a"),
        Block("comment", 5, 5),
        Block("text", 7, 14, symbol="b"),
        Block("comment", 15, 15),
    ]


def test_members_are_deeper_than_their_class_and_so_is_what_is_between_them() -> None:
    source = "class A:\n    x = 1\n    def f(self): pass\n    y = 2\n    class B:\n        def g(self): pass\nz = 3"

    assert [(block.line_start, block.symbol, block.depth) for block in blocks_of(source, "python")] == [
        (1, "A", 0),
        (3, "A.f", 1),
        (4, "A", 1),
        (5, "A.B", 1),
        (6, "A.B.g", 2),
        (7, None, 0),
    ]


def test_definitions_are_found_in_statements_but_not_in_functions() -> None:
    source = "if (x) {\n  (function () {\n    function a() {\n      function b() {}\n    }\n  })();\n}"

    assert symbols(source, "javascript") == [(1, 2, None), (3, 7, "a")]


def test_definitions_that_begin_on_one_line_are_not_told_apart() -> None:
    source = "function a(){}function b(){}var c=()=>3;class D{m(){}}\nfunction e() {\n} function f() {\n}"

    assert symbols(source, "javascript") == [(1, 1, None), (2, 2, "e"), (3, 4, "f")]


def test_a_class_on_one_line_has_no_members() -> None:
    assert symbols("class A { b() { } c() { } }", "javascript") == [(1, 1, "A")]


def test_line_ends_inside_a_line_and_characters_of_any_width_do_not_shift_lines() -> None:
    source = "s = '가나다\u2028\x0b\x0c\u0085👩'  # 주석\n# 설명\ndef f(): return '\ud800'"

    assert symbols(source, "python") == [(1, 1, None), (2, 3, "f")]


# --- broken code -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("javascript", "function a() {\n  if (x) {\n}\n\nfunction b() {\n  return 2;\n}\n", {"b"}),
        (
            "python",
            "def a():\n    x = (1,\n\ndef b():\n    pass\n\nclass C:\n    def m(self): pass\n",
            {"b", "C", "C.m"},
        ),
        ("rust", "fn a() {\n    let x = ;;; (\n\n}\n\nfn b() {\n    1\n}\nstruct S { a: i32 }\n", {"a", "b", "S"}),
        ("c", "int a(void) {\n    if (x) {\n}\n\nint b(void) {\n    return 1;\n}\n", {"a", "b"}),
        (
            "java",
            "class A {\n  void a() {\n    foo(;\n  }\n\n  void b() {\n  }\n}\nclass B {\n  void c() {}\n",
            {"A.b", "B.c"},
        ),
        ("go", "package m\nfunc a() {\n\tx := {\n}\n\nfunc b() int {\n\treturn 1\n}\n", {"a", "b"}),
    ],
)
def test_an_error_in_one_function_does_not_hide_the_others(language: str, source: str, expected: set[str]) -> None:
    assert {block.symbol for block in blocks_of(source, language)} >= expected


def test_a_text_that_is_another_language_is_not_cut_at_symbols() -> None:
    prose = "This isn't Python (not at all.\n\nIt's a text; def something: {in it}\nand more of it\n"

    assert symbol_blocks(prose.split("\n"), GRAMMARS["python"]) is None


@pytest.mark.parametrize("language", GRAMMARS)
@pytest.mark.parametrize("unit", ["(", "f({[", "class A { ", "namespace a {\n", "# if A\n"])
def test_deep_nesting_neither_fails_nor_takes_long(language: str, unit: str) -> None:
    start = time.perf_counter()
    lines = (unit * 3000).split("\n")
    blocks = symbol_blocks(lines, GRAMMARS[language])

    assert time.perf_counter() - start < 10
    assert blocks is None or max((len(block.symbol or "") for block in blocks), default=0) < 50


def test_classes_in_classes_have_symbols_up_to_a_depth() -> None:
    lines = [" " * depth + f"class C{depth}:" for depth in range(60)] + [" " * 60 + "pass"]
    found = blocks_of("\n".join(lines), "python")

    assert len(found) == 12
    assert found[-1] == Block("text", 12, 61, symbol=".".join(f"C{depth}" for depth in range(12)), depth=11)


@pytest.mark.parametrize("language", ["python", "javascript", "cpp", "c", "typescript"])
def test_a_large_file_takes_time_in_proportion(language: str) -> None:
    part = SOURCES[language].replace("%", "") + "\n"
    lines = (part * (1_000_000 // len(part))).split("\n")
    start = time.perf_counter()
    blocks = symbol_blocks(lines, GRAMMARS[language])

    assert time.perf_counter() - start < 20
    assert blocks
    assert len(blocks) > 5000


def test_a_file_of_millions_of_characters_is_not_parsed() -> None:
    assert symbol_blocks(["x = 1"] * 400_000, GRAMMARS["python"]) is None


def test_a_text_that_takes_too_long_is_not_cut_at_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["def f(): pass"] * 10_000
    found = symbol_blocks(lines, GRAMMARS["python"])
    monkeypatch.setattr(outline, "_MOST_STEPS", 0)

    assert found
    assert symbol_blocks(lines, GRAMMARS["python"]) is None


def test_all_attempts_to_read_a_text_share_their_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["int f(int a) { return a; }", "", "int = ;", ""] * 2000  # errors: two grammars, and parts
    parse, stopped = outline._parsed, []
    monkeypatch.setattr(outline, "_MOST_STEPS", 500)

    def counted(language: "Language", source: bytes, steps: Iterator[int]) -> "Tree | None":
        tree = parse(language, source, steps)
        stopped.append(next(steps))
        return tree

    monkeypatch.setattr(outline, "_parsed", counted)
    symbol_blocks(lines, GRAMMARS["c"])

    assert len(stopped) > 1
    assert stopped == sorted(stopped)
    assert stopped[-1] <= 500 + 2 * len(stopped)


# --- laws ------------------------------------------------------------------------------------------------

languages = st.sampled_from(sorted(GRAMMARS))
cuts = st.lists(
    st.tuples(
        st.floats(0, 1), st.integers(0, 20), st.sampled_from(["", "{", "}", "(", ")", "\n", '"', "'", "/*", "가", " "])
    ),
    max_size=6,
)


@st.composite
def mangled(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A sample of a language with pieces taken out and others put in."""
    language = draw(languages)
    text = SOURCES[language]
    for place, length, instead in draw(cuts):
        start = int(place * len(text))
        text = text[:start] + instead + text[start + length :]
    return language, text.split("\n")


def check(lines: list[str], blocks: list[Block]) -> None:
    covered = [number for block in blocks for number in range(block.line_start, block.line_end + 1)]
    assert covered == sorted(set(covered))
    assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(covered)
    for block in blocks:
        assert lines[block.line_start - 1].strip()
        assert lines[block.line_end - 1].strip()
        assert block.symbol != ""
        assert block.symbol or block.depth == 0


@few
@given(mangled())
def test_whatever_is_broken_every_line_is_in_one_block(sample: tuple[str, list[str]]) -> None:
    language, lines = sample
    blocks = symbol_blocks(lines, GRAMMARS[language])

    assert blocks == symbol_blocks(lines, GRAMMARS[language])
    if blocks is not None:
        check(lines, blocks)
