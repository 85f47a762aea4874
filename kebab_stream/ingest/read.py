"""Bytes to text to lines: which encodings are read, and where a line ends."""

import codecs
import hashlib

from kebab_stream.errors import InvalidInputError


def content_hash(data: bytes) -> str:
    """BLAKE2b of the raw bytes: 32 lower-case hex digits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def decode(path: str, data: bytes) -> str:
    """The text of a file: UTF-8, or UTF-16 if a byte order mark says so; the mark itself is dropped.

    Raises:
        InvalidInputError: not such a text. `details` has `problem` (`not_text` or `binary`) and the byte
            `offset`, from 0, of the first byte that cannot be read.
    """
    encoding, mark = _encoding(data)
    try:
        text = data[len(mark) :].decode(encoding)
    except UnicodeDecodeError as error:
        offset = error.start + len(mark)
        raise InvalidInputError(
            f"not {'UTF-8' if encoding == 'utf-8' else 'UTF-16'} text: byte {offset} cannot be decoded",
            "save the file as UTF-8",
            {"problem": "not_text", "offset": offset},
        ) from error
    zero = text.find("\0")
    if zero >= 0:
        offset = len(mark) + len(text[:zero].encode(encoding))
        raise InvalidInputError(f"binary data: byte {offset} is zero", None, {"problem": "binary", "offset": offset})
    return text


def split_lines(text: str) -> list[str]:
    r"""Lines without their ends. Only `\n`, `\r\n` and `\r` end a line, as in editors and in Markdown.

    A line end at the very end does not begin another line; an empty text has no lines.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def _encoding(data: bytes) -> tuple[str, bytes]:
    for encoding, mark in (
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
    ):
        if data.startswith(mark):
            return encoding, mark
    return "utf-8", b""
