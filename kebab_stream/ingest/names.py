"""What a definition is called, from what a query captured of it; the same form in all languages."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_CHARS = 200

_TYPE_ARGUMENTS = re.compile(r"(?<=\w)(?<!operator)<[^<>]*(?:<[^<>]*>[^<>]*)*>(?=\.|$)")
"""In `Map<K, List<V>>.get`, but not the operator in `operator<=>`."""
_SEPARATORS = re.compile(r"::|\\|(?<=\w):(?=\w)")
_PARAMETERS = re.compile(r"(?<!operator)\(.*")
_OWN_EXPORTS = re.compile(r"^(?:module\.)?exports\.|\.prototype(?=\.)")
_INSIDE = ("parenthesized_declarator", "reference_declarator", "attributed_declarator")


def name_of(captures: "dict[str, list[Node]]") -> str:
    """The name that captures `owner`, `name` and `declarator` give; empty if they give none.

    `::`, `\\` and `:` become dots, type arguments are left out, and so are quotation marks, `exports` and `prototype`
    of JavaScript. At most 200 characters, all printable.
    """
    parts = [_type_name(node) for node in captures.get("owner", ())]
    parts += [_cleaned(_text(node)) for node in captures.get("name", ())[:1]]
    parts += [_cleaned(_PARAMETERS.sub("", _text(_declared(node)))) for node in captures.get("declarator", ())[:1]]
    return ".".join(filter(None, parts))


def _text(node: "Node") -> str:
    return " ".join((node.text or b"")[: 4 * _MOST_CHARS].decode(errors="replace").split())[:_MOST_CHARS]


def _cleaned(text: str) -> str:
    text = _SEPARATORS.sub(".", text.strip("'\"`"))
    text = _OWN_EXPORTS.sub("", _TYPE_ARGUMENTS.sub("", text))
    return "".join(character for character in text if character.isprintable()).strip()


def _type_name(node: "Node") -> str:
    """`Store` of `*Store[K]`, `&'a mut Store<'a>` and `dyn Store + Send`; the text where there is no such name."""
    text = _text(node)
    bare = re.sub(r"[<\[(+].*", "", text)
    return _cleaned((re.findall(r"[\w:.$]+", bare) or [text])[-1])


def _declared(node: "Node") -> "Node":
    """What `*f(int a)` or `(*callback)(int)` declares, in the way of C."""
    while True:
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in _INSIDE:
            inner = node.named_child(0)
        if inner is None or inner.type.startswith("abstract_"):
            return node
        node = inner
