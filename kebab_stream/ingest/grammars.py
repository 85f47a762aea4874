"""Which grammar reads which language, and what in its syntax trees has a name. The grammars are an optional extra.

The queries are in the language of tree-sitter. Their captures:

    @leaf    a definition that is not looked into: a function, a type without functions
    @entry   a leaf that counts only if it has several lines: a property, an entry of a table
    @class   a definition with definitions in it
    @scope   what only qualifies the names in it: a namespace
    @name    its name, as it is written (a scope may have none)
    @owner   the type it belongs to, with type arguments and all
    @declarator  what has the name somewhere in it, as C does it
    @above   a comment
    @mark    what else belongs to the definition below it: a decorator, an attribute
    @opening what begins something with a line that says nothing alone: a condition of the preprocessor
    @error   what is no syntax (for all languages the same)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Query


@dataclass(frozen=True, slots=True)
class Grammar:
    """A parser of a language and what to look for in its trees."""

    package: str
    query: str
    function: str = "language"
    """The function of the package that gives the grammar."""


_PYTHON = """
(comment) @above
(decorator) @mark
(class_definition name: (_) @name) @class
(function_definition name: (_) @name) @leaf
(assignment left: (identifier) @name right: (lambda)) @leaf
(type_alias_statement left: (_) @name) @leaf
"""

_JAVASCRIPT = """
(comment) @above
(decorator) @mark
(class_declaration name: (_) @name) @class
(function_declaration name: (_) @name) @leaf
(generator_function_declaration name: (_) @name) @leaf
(method_definition name: (_) @name) @leaf
(variable_declarator name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) @leaf
(variable_declarator name: (identifier) @name
  value: (call_expression arguments: (arguments [(arrow_function) (function_expression)]))) @leaf
(variable_declarator name: (identifier) @name value: (class)) @class
(variable_declarator name: (identifier) @name value: (object
  [(method_definition) (pair value: [(arrow_function) (function_expression)])])) @class
(assignment_expression left: (member_expression) @name
  right: [(arrow_function) (function_expression) (generator_function)]) @leaf
(assignment_expression left: (member_expression) @name right: (class)) @class
((assignment_expression left: (member_expression) @name
  right: (object [(method_definition) (pair value: [(arrow_function) (function_expression)])])) @class
  (#not-eq? @name "module.exports"))
(pair key: (_) @name value: [(arrow_function) (function_expression)]) @entry
(export_statement "default" @name value: [(arrow_function) (function_expression)]) @leaf
(export_statement "default" @name value: [(class) (object)]) @class
"""

_FIELDS_OF_JAVASCRIPT = """
(field_definition property: (_) @name value: [(arrow_function) (function_expression)]) @leaf
"""

_FIELDS_OF_TYPESCRIPT = """
(public_field_definition name: (_) @name value: [(arrow_function) (function_expression)]) @leaf
(abstract_class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @leaf
(type_alias_declaration name: (_) @name) @leaf
(enum_declaration name: (_) @name) @leaf
(function_signature name: (_) @name) @leaf
(internal_module name: (_) @name) @scope
(module name: (_) @name) @scope
"""

_RUST = """
[(line_comment) (block_comment)] @above
(attribute_item) @mark
(struct_item name: (_) @name) @leaf
(union_item name: (_) @name) @leaf
(enum_item name: (_) @name) @leaf
(type_item name: (_) @name) @leaf
(trait_item name: (_) @name) @class
(impl_item type: (_) @owner) @class
(function_item name: (_) @name) @leaf
(macro_definition name: (_) @name) @leaf
(const_item name: (_) @name value: (closure_expression)) @leaf
(mod_item name: (_) @name body: (_)) @scope
"""

_GO = """
(comment) @above
(type_spec name: (_) @name) @leaf
(type_alias name: (_) @name) @leaf
(function_declaration name: (_) @name) @leaf
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @owner)) name: (_) @name) @leaf
(var_spec name: (_) @name value: (expression_list (func_literal))) @leaf
"""

_JAVA = """
[(line_comment) (block_comment)] @above
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(annotation_type_declaration name: (_) @name) @leaf
(method_declaration name: (_) @name) @leaf
(constructor_declaration name: (_) @name) @leaf
(compact_constructor_declaration name: (_) @name) @leaf
"""

_C = """
(comment) @above
[(preproc_if) (preproc_ifdef) (preproc_elif) (preproc_else)] @opening
(type_definition declarator: (_) @declarator) @leaf
(struct_specifier name: (_) @name body: (_)) @leaf
(union_specifier name: (_) @name body: (_)) @leaf
(enum_specifier name: (_) @name body: (_)) @leaf
(function_definition declarator: (_) @declarator) @leaf
(preproc_function_def name: (_) @name) @leaf
"""

_CPP = """
(comment) @above
[(preproc_if) (preproc_ifdef) (preproc_elif) (preproc_else) (linkage_specification)] @opening
(template_parameter_list) @mark
(class_specifier name: (_) @name body: (_)) @class
(struct_specifier name: (_) @name body: (_)) @class
(union_specifier name: (_) @name body: (_)) @class
(enum_specifier name: (_) @name body: (_)) @leaf
(type_definition declarator: (_) @declarator) @leaf
(alias_declaration name: (_) @name) @leaf
(concept_definition name: (_) @name) @leaf
(function_definition declarator: (_) @declarator) @leaf
(init_declarator declarator: (identifier) @name value: (lambda_expression)) @leaf
(preproc_function_def name: (_) @name) @leaf
(namespace_definition name: (_)? @name) @scope
"""

_BASH = """
(comment) @above
(function_definition name: (_) @name) @leaf
"""

_RUBY = """
(comment) @above
(module name: (_) @name) @class
(class name: (_) @name) @class
(singleton_class) @scope
(method name: (_) @name) @leaf
(singleton_method name: (_) @name) @leaf
(assignment left: (constant) @name right: (call block: (_))) @class
"""

_CSHARP = """
(comment) @above
(namespace_declaration name: (_) @name) @scope
(class_declaration name: (_) @name) @class
(struct_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(record_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @leaf
(delegate_declaration name: (_) @name) @leaf
(method_declaration name: (_) @name) @leaf
(constructor_declaration name: (_) @name) @leaf
(destructor_declaration name: (_) @name) @leaf
(operator_declaration "operator" @name) @leaf
(indexer_declaration "this" @name) @leaf
(property_declaration name: (_) @name) @entry
(local_function_statement name: (_) @name) @leaf
"""

_PHP = """
(comment) @above
(namespace_definition name: (_) @name body: (_)) @scope
(class_declaration name: (_) @name) @class
(interface_declaration name: (_) @name) @class
(trait_declaration name: (_) @name) @class
(enum_declaration name: (_) @name) @class
(method_declaration name: (_) @name) @leaf
(function_definition name: (_) @name) @leaf
(assignment_expression left: (variable_name (name) @name) right: [(anonymous_function) (arrow_function)]) @leaf
"""

_KOTLIN = """
[(line_comment) (block_comment)] @above
(class_declaration name: (_) @name) @class
(object_declaration name: (_) @name) @class
(companion_object) @scope
(function_declaration name: (_) @name) @leaf
(secondary_constructor "constructor" @name) @leaf
(type_alias type: (identifier) @name) @leaf
(property_declaration (variable_declaration (identifier) @name) (lambda_literal)) @leaf
(property_declaration (variable_declaration (identifier) @name) (getter)) @entry
"""

_SWIFT = """
[(comment) (multiline_comment)] @above
(class_declaration name: (_) @owner) @class
(protocol_declaration name: (_) @name) @class
(function_declaration name: _ @name) @leaf
(protocol_function_declaration name: _ @name) @leaf
(init_declaration name: _ @name) @leaf
(deinit_declaration "deinit" @name) @leaf
(subscript_declaration "subscript" @name) @leaf
(typealias_declaration name: (type_identifier) @name) @leaf
(property_declaration name: (pattern) @name value: (lambda_literal)) @leaf
(property_declaration name: (pattern) @name computed_value: (_)) @entry
"""

_SCALA = """
[(comment) (block_comment)] @above
(class_definition name: (_) @name) @class
(object_definition name: (_) @name) @class
(trait_definition name: (_) @name) @class
(enum_definition name: (_) @name) @class
(package_object name: (_) @name) @class
(given_definition name: (_) @name) @class
(function_definition name: (_) @name) @leaf
(function_declaration name: (_) @name) @leaf
(type_definition name: (_) @name) @leaf
(val_definition pattern: (identifier) @name value: (lambda_expression)) @leaf
"""

_LUA = """
(comment) @above
(function_declaration name: (_) @name) @leaf
(assignment_statement (variable_list name: (_) @name) (expression_list value: (function_definition))) @leaf
(field name: (_) @name value: (function_definition)) @entry
"""

_CPP_GRAMMAR = Grammar("tree_sitter_cpp", _CPP)
_TYPESCRIPT = _JAVASCRIPT + _FIELDS_OF_TYPESCRIPT

GRAMMARS: dict[str, tuple[Grammar, ...]] = {
    "bash": (Grammar("tree_sitter_bash", _BASH),),
    "c": (Grammar("tree_sitter_c", _C), _CPP_GRAMMAR),  # a header may be either
    "cpp": (_CPP_GRAMMAR,),
    "csharp": (Grammar("tree_sitter_c_sharp", _CSHARP),),
    "go": (Grammar("tree_sitter_go", _GO),),
    "java": (Grammar("tree_sitter_java", _JAVA),),
    "javascript": (Grammar("tree_sitter_javascript", _JAVASCRIPT + _FIELDS_OF_JAVASCRIPT),),
    "kotlin": (Grammar("tree_sitter_kotlin", _KOTLIN),),
    "lua": (Grammar("tree_sitter_lua", _LUA),),
    "php": (Grammar("tree_sitter_php", _PHP, "language_php"),),
    "python": (Grammar("tree_sitter_python", _PYTHON),),
    "ruby": (Grammar("tree_sitter_ruby", _RUBY),),
    "rust": (Grammar("tree_sitter_rust", _RUST),),
    "scala": (Grammar("tree_sitter_scala", _SCALA),),
    "swift": (Grammar("tree_sitter_swift", _SWIFT),),
    "typescript": (
        Grammar("tree_sitter_typescript", _TYPESCRIPT, "language_typescript"),
        Grammar("tree_sitter_typescript", _TYPESCRIPT, "language_tsx"),
    ),
}
"""Grammars by language, the usual one first; another is tried where that one finds errors."""


@cache
def load(grammar: Grammar) -> "tuple[Language, Query] | None":
    """The grammar ready for use; None where it is not installed, or not one that this version knows."""
    try:
        # Late and by name: an optional extra, of which each language needs a part.
        tree_sitter = import_module("tree_sitter")
        language = tree_sitter.Language(getattr(import_module(grammar.package), grammar.function)())
        return language, tree_sitter.Query(language, "(ERROR) @error" + grammar.query)
    except (ImportError, AttributeError, ValueError):  # ValueError: an ABI, or a name in the query, is unknown
        return None


@cache
def code_parser_version(code_lang: str) -> str:
    """Names what decides how source code of a language is taken apart, besides this package: `lines`, or grammars.

    Changes when grammars are installed, removed or replaced. Looked up once for each language of a process.
    """
    installed = _versions([grammar.package for grammar in GRAMMARS.get(code_lang, ())])
    core = _versions(["tree_sitter"])
    return "/".join(installed + core) if installed and core else "lines"


def _versions(packages: Sequence[str]) -> list[str]:
    # Late: it takes a while to import, and only source code needs it.
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for distribution in sorted({package.replace("_", "-") for package in packages}):
        try:
            found.append(f"{distribution} {version(distribution)}")
        except PackageNotFoundError:
            continue
    return found
