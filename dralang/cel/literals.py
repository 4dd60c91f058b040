"""Literals: what quotes, escapes and digits stand for.

Source: cel-go parser/unescape.go, parser.go (VisitInt and the like).
"""

import re
from typing import Final

from dralang.cel.values import MAX_INT, MAX_UINT, MIN_INT, Uint

_SIMPLE: Final = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}
_ESCAPES = re.compile(
    r"\\(?:([abfnrtv\\'\"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))"
)
_NEWLINES = re.compile(r"\r\n?")


class LiteralError(Exception):
    """The message for a literal that the grammar takes and its value does not."""


def _content(text: str) -> tuple[str, bool]:
    """What stands between the quotes, and whether escapes count."""
    if "\r" in text:
        text = _NEWLINES.sub("\n", text)
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    width = 3 if len(text) >= 6 and text[:3] in {'"""', "'''"} else 1
    return text[width:-width], not raw


def _character(match: re.Match[str]) -> str:
    simple, byte, short, long, octal = match.groups()
    if simple is not None:
        return _SIMPLE[simple]
    code = int(octal, 8) if octal is not None else int(byte or short or long, 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise LiteralError("invalid unicode code point")
    return chr(code)


def string_value(text: str) -> str:
    """The value of a string literal, quotes and prefix included in ``text``.

    Raises:
        LiteralError: an escape that names no character.
    """
    content, escapes = _content(text)
    if escapes and "\\" in content:
        return _ESCAPES.sub(_character, content)
    return content


def bytes_value(text: str) -> bytes:
    """The value of a bytes literal, with its ``b``.

    Raises:
        LiteralError: it has a unicode escape.
    """
    content, escapes = _content(text[1:])
    if not escapes or "\\" not in content:
        return content.encode("utf-8", "surrogatepass")
    parts: list[bytes] = []
    at = 0
    for match in _ESCAPES.finditer(content):
        parts.append(content[at : match.start()].encode("utf-8", "surrogatepass"))
        at = match.end()
        simple, byte, short, long, octal = match.groups()
        if short is not None or long is not None:
            raise LiteralError("unable to unescape string")
        parts.append(
            _SIMPLE[simple].encode() if simple is not None else bytes([int(octal, 8) if octal else int(byte, 16)])
        )
    parts.append(content[at:].encode("utf-8", "surrogatepass"))
    return b"".join(parts)


_LONGEST_NUMBER: Final = 1000


def _integer(text: str) -> int | None:
    """The number, or None if it is far too long to be one (Python refuses some conversions)."""
    if text[:2] == "0x":
        digits = text[2:].lstrip("0") or "0"
        return None if len(digits) > _LONGEST_NUMBER else int(digits, 16)
    digits = text.lstrip("0") or "0"
    return None if len(digits) > _LONGEST_NUMBER else int(digits)


def int_value(text: str, *, negative: bool = False) -> int:
    """The value of an int literal.

    Raises:
        LiteralError: it does not fit 64 bits.
    """
    value = _integer(text)
    if value is not None and negative:
        value = -value
    if value is None or not MIN_INT <= value <= MAX_INT:
        raise LiteralError("invalid int literal")
    return value


def uint_value(text: str) -> Uint:
    """The value of a uint literal, with its ``u``.

    Raises:
        LiteralError: it does not fit 64 bits.
    """
    value = _integer(text[:-1])
    if value is None or value > MAX_UINT:
        raise LiteralError("invalid uint literal")
    return Uint(value)


def double_value(text: str, *, negative: bool = False) -> float:
    """The value of a double literal.

    Raises:
        LiteralError: it is too large.
    """
    value = float(text)
    if value == float("inf"):
        raise LiteralError("invalid double literal")
    return -value if negative else value
