import subprocess
import sys
from importlib.metadata import version

import pytest

from kebab_stream.ingest.grammars import GRAMMARS, Grammar, code_parser_version, load
from kebab_stream.ingest.media import media_of
from tests.paths import ROOT

ALL = sorted({grammar for grammars in GRAMMARS.values() for grammar in grammars}, key=repr)


@pytest.mark.parametrize("grammar", ALL, ids=lambda grammar: f"{grammar.package}.{grammar.function}")
def test_every_grammar_can_be_loaded_and_has_what_is_asked_for(grammar: Grammar) -> None:
    assert load(grammar) is not None


@pytest.mark.parametrize(
    "grammar",
    [
        Grammar("tree_sitter_nowhere", "(comment) @above"),
        Grammar("tree_sitter_python", "(comment) @above", "language_nowhere"),
        Grammar("tree_sitter_python", "(no_such_node) @leaf"),
        Grammar("tree_sitter_python", "(comment"),
    ],
)
def test_a_grammar_that_is_missing_or_another_than_expected_is_none(grammar: Grammar) -> None:
    assert load(grammar) is None


def test_every_language_with_a_grammar_is_one_that_files_have() -> None:
    names = ["a.sh", "a.c", "a.cc", "a.cs", "a.go", "a.java", "a.js", "a.kt", "a.lua", "a.php", "a.py", "a.rb"]
    names += ["a.rs", "a.scala", "a.swift", "a.tsx"]

    assert {code_lang for name in names if (media := media_of(name)) and (code_lang := media[1])} == set(GRAMMARS)


def test_the_version_names_the_grammars_and_the_parser() -> None:
    core, c, cpp = (version(name) for name in ("tree-sitter", "tree-sitter-c", "tree-sitter-cpp"))

    assert code_parser_version("c") == f"tree-sitter-c {c}/tree-sitter-cpp {cpp}/tree-sitter {core}"
    assert code_parser_version("csharp").startswith("tree-sitter-c-sharp ")
    assert code_parser_version("cobol") == code_parser_version("yaml") == "lines"


def test_the_version_is_of_lines_where_the_parser_or_the_grammar_is_not_installed() -> None:
    code = """if True:
        import importlib.metadata as metadata, sys
        real = metadata.version
        def version(name):
            if name in sys.argv[1:]:
                raise metadata.PackageNotFoundError(name)
            return real(name)
        metadata.version = version
        from kebab_stream.ingest.grammars import code_parser_version
        print(code_parser_version("python"), code_parser_version("go") == "lines")
    """

    def printed(*missing: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", code, *missing], capture_output=True, check=True, text=True, cwd=ROOT
        ).stdout

    assert printed("tree-sitter") == "lines True\n"
    assert printed("tree-sitter-python") == "lines False\n"


def test_no_grammar_is_imported_before_a_file_needs_it() -> None:
    code = """if True:
        import sys
        from kebab_stream.ingest.parse import parse
        def loaded():
            return sorted(name for name in sys.modules if name.startswith("tree_sitter") and "." not in name)
        parse("a.md", "# x"), parse("a.toml", "x = 1")
        print(loaded())
        parse("a.py", "x = 1")
        print(loaded())
    """
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True, cwd=ROOT)

    assert found.stdout.split("\n")[:2] == ["[]", "['tree_sitter', 'tree_sitter_python']"]
