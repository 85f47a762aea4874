"""Source code as blocks: chooses how a language is taken apart."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from kebab_stream.ingest.document import Block, BlockKind
from kebab_stream.ingest.grammars import GRAMMARS
from kebab_stream.ingest.margin import margin_blocks
from kebab_stream.ingest.symbols import symbol_blocks

_ONLY_CPP = re.compile(r"\s*(?:(?:class|namespace|template|using)\b|(?:public|protected|private)\s*:)")
_BEGINS_YAML = re.compile(r"---(?:\s|$)")
_YAML_KIND = re.compile(r"kind:\s+(\S.*)")
_YAML_METADATA = re.compile(r"metadata:\s*(?:#.*)?$")
_MOST_YAML_NAME = 100


def code_blocks(lines: Sequence[str], code_lang: str | None) -> list[Block]:
    """Cut source code at its definitions, where a grammar of the language is installed and understands it.

    YAML is cut at its documents, all else where a blank line is followed by an unindented one.
    Every line that is not blank is in exactly one block.
    """
    if code_lang == "yaml":
        return list(_yaml_blocks(lines))
    grammars = GRAMMARS.get(code_lang or "", ())
    if code_lang == "c" and any(map(_ONLY_CPP.match, lines)):  # its grammar would read much of C++ as odd functions
        grammars = grammars[::-1]
    blocks = symbol_blocks(lines, grammars)
    return list(margin_blocks(lines, 1, len(lines))) if blocks is None else blocks


def _yaml_blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Each document of a file; one that has a kind and a name, as those of Kubernetes do, has the symbol `kind/name`.

    A document of comments alone goes with the next one.
    """
    begins = [1, *(number for number, line in enumerate(lines, 1) if number > 1 and _BEGINS_YAML.match(line))]
    for first, following in zip(begins, [*begins[1:], len(lines) + 1], strict=True):
        document = lines[first - 1 : following - 1]
        kind: BlockKind = "comment" if all(map(_says_nothing, document)) else "text"
        symbol = _yaml_symbol(document)
        for block in margin_blocks(lines, first, following - 1):
            yield replace(block, kind=kind, symbol=symbol)


def _says_nothing(line: str) -> bool:
    text = line.strip()
    return text in ("", "---") or text.startswith("#")


def _yaml_symbol(document: Sequence[str]) -> str | None:
    kind = next(filter(None, map(_YAML_KIND.match, document)), None)
    metadata = next((index for index, line in enumerate(document) if _YAML_METADATA.match(line)), None)
    if kind is None or metadata is None:
        return None
    name = _yaml_child("name", document[metadata + 1 :])
    return f"{_yaml_value(kind[1])}/{name}" if name else None


def _yaml_child(key: str, lines: Iterable[str]) -> str | None:
    """The value of a key of the mapping that begins here, if it is on the line of the key."""
    indent = None
    for line in lines:
        text = line.lstrip(" ")
        if not text or text.startswith("#"):
            continue
        depth = len(line) - len(text)
        indent = indent or depth
        if depth < indent or depth == 0:
            return None
        if depth == indent and text.startswith(f"{key}: "):
            return _yaml_value(text.removeprefix(f"{key}: "))
    return None


def _yaml_value(text: str) -> str:
    value = re.sub(r"\s+#.*", "", text[:_MOST_YAML_NAME]).strip().strip("'\"")
    return "".join(character for character in value if character.isprintable())
