"""The tokens of the real parser, for the words of syntax errors and for counting nesting.

Source: cel-go parser/gen/CEL.g4 (lexer rules); ANTLR's way of naming what it cannot read.
"""

import re
from typing import Final, NamedTuple

EOF: Final = 0
_LITERALS: Final = (
    *("==", "!=", "in", "<", "<=", ">=", ">", "&&", "||", "[", "]", "{", "}", "(", ")", ".", ",", "-", "!", "?"),
    *(":", "+", "*", "/", "%", "true", "false", "null"),
)
TYPES: Final = {text: number for number, text in enumerate(_LITERALS, 1)}
_SYMBOLS: Final = {
    "NUM_FLOAT": 31,
    "NUM_INT": 32,
    "NUM_UINT": 33,
    "STRING": 34,
    "BYTES": 35,
    "IDENTIFIER": 36,
    "ESC_IDENTIFIER": 37,
}
TYPES.update(_SYMBOLS)
NAMES: Final = (
    {EOF: "<EOF>"}
    | {number: f"'{text}'" for number, text in enumerate(_LITERALS, 1)}
    | {number: name for name, number in _SYMBOLS.items()}
)

_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"
TEXT = (
    rf'"""(?:{_ESCAPE}|[^\\])*?"""|'
    rf"'''(?:{_ESCAPE}|[^\\])*?'''|"
    rf'"(?:{_ESCAPE}|[^"\n\r\\])*"|'
    rf"'(?:{_ESCAPE}|[^'\n\r\\])*'|"
    r'[rR]"""[\s\S]*?"""|'
    r"[rR]'''[\s\S]*?'''|"
    r'[rR]"[^"\n\r]*"|'
    r"[rR]'[^'\n\r]*'"
)
"""A string literal, as a regular expression."""
_TOKEN = re.compile(
    r"(?P<skip>[\t\n\f\r ]+|//[^\n]*)"
    rf"|(?P<BYTES>[bB](?:{TEXT}))"
    rf"|(?P<STRING>{TEXT})"
    r"|(?P<NUM_FLOAT>[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+)"
    r"|(?P<NUM_UINT>(?:0x[0-9a-fA-F]+|[0-9]+)[uU])"
    r"|(?P<NUM_INT>0x[0-9a-fA-F]+|[0-9]+)"
    r"|(?P<literal>(?:in|true|false|null)(?![_a-zA-Z0-9])|[=!<>]=|&&|\|\||[<>\[\]{}().,\-!?:+*/%])"
    r"|(?P<IDENTIFIER>[_a-zA-Z][_a-zA-Z0-9]*)"
    r"|(?P<ESC_IDENTIFIER>`[a-zA-Z0-9_.\-/ ]+`)"
)
_ESCAPED_NAME = re.compile(r"`[a-zA-Z0-9_.\-/ ]*")
_SIMPLE_ESCAPES: Final = frozenset("abfnrtv\"'\\?`")
_HEX: Final = frozenset("0123456789abcdefABCDEF")


class Token(NamedTuple):
    """A token; ``start`` and ``end`` are offsets."""

    type: int
    start: int
    end: int


class LexicalError(NamedTuple):
    """Text that is no token; ``offset`` is where it starts."""

    offset: int
    text: str


def tokenize(text: str) -> tuple[list[Token], list[LexicalError]]:
    """All tokens, with one for the end of the text, and what could not be read."""
    tokens: list[Token] = []
    errors: list[LexicalError] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            stop = _failing_at(text, at)
            errors.append(LexicalError(at, text[at : stop + 1]))
            # The reader goes on behind the character that it could not use.
            at = stop + 1
            continue
        kind = match.lastgroup
        assert kind is not None
        if kind != "skip":
            name = match[0] if kind == "literal" else kind
            tokens.append(Token(TYPES[name], at, match.end()))
        at = match.end()
    tokens.append(Token(EOF, len(text), len(text)))
    return tokens, errors


def _failing_at(text: str, start: int) -> int:
    """The offset of the character with which no token that begins at ``start`` can go on."""
    first = text[start]
    if first in "\"'":
        return _failing_in_string(text, start)
    if first == "`":
        match = _ESCAPED_NAME.match(text, start)
        return start if match is None else match.end()
    return start + 1 if first in "=&|" else start


def _failing_in_string(text: str, start: int) -> int:
    quote = text[start]
    at = start + 1
    while at < len(text):
        char = text[at]
        if char in "\n\r" or char == quote:
            return at
        if char != "\\":
            at += 1
            continue
        at, good = _escape(text, at + 1)
        if not good:
            return at
    return at


def _escape(text: str, at: int) -> tuple[int, bool]:
    """Where an escape ends, or where it goes wrong; ``at`` is behind the backslash."""
    if at >= len(text):
        return at, False
    char = text[at]
    if char in _SIMPLE_ESCAPES:
        return at + 1, True
    wanted: list[frozenset[str]]
    if char in "0123":
        wanted = [frozenset("01234567")] * 2
    elif char in "xXuU":
        wanted = [_HEX] * {"x": 2, "X": 2, "u": 4, "U": 8}[char]
    else:
        return at, False
    for allowed in wanted:
        at += 1
        if at >= len(text) or text[at] not in allowed:
            return at, False
    return at + 1, True
