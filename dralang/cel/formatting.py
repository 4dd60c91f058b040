"""``format``: clauses, values and the errors of both.

Source: cel-go ext/formatting.go (strings version 2, locale en_US).
"""

import math
import re
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from dralang.cel.gotext import quoted
from dralang.cel.numbers import parse_double
from dralang.cel.operators import find, is_map, key_text, type_name
from dralang.cel.times import Duration, Timestamp
from dralang.cel.values import CelError, TypeValue, Uint, Value

DEFAULT_PRECISION: Final = 6
_MAX_PRECISION: Final = 100_000
_DIGITS = re.compile(r"[0-9]*", re.ASCII)


class FormatError(Exception):
    """A clause that does not fit; ``at`` is what it was applied to, if that is a part of the argument."""

    def __init__(self, message: str, at: object = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


ERRORS: Final = {
    "b": "only integers and bools can be formatted as binary, was given {}",
    "d": "decimal clause can only be used on integers, was given {}",
    "f": "fixed-point clause can only be used on doubles, was given {}",
    "x": "only integers, byte buffers, and strings can be formatted as hex, was given {}",
    "o": "octal clause can only be used on integers, was given {}",
    "e": "scientific clause can only be used on doubles, was given {}",
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and"
    " timestamps, was given {}",
}


class Arguments(Protocol):
    """Where the clauses find their arguments, and what they do with them."""

    def size(self) -> int:
        """How many there are."""
        ...

    def clause(self, kind: str, precision: int, index: int) -> str:
        """The text of one argument in one clause."""
        ...


def interpolate(text: str, arguments: Arguments) -> str:
    """Walk through a format string.

    Raises:
        FormatError: a clause that is none, or an argument that does not fit.
    """
    parts: list[str] = []
    at = index = 0
    while True:
        found = text.find("%", at)
        if found < 0:
            parts.append(text[at:])
            return "".join(parts)
        parts.append(text[at:found])
        if text.startswith("%%", found):
            parts.append("%")
            at = found + 2
            continue
        if index >= arguments.size():
            raise FormatError(f"index {index} out of range")
        if found + 1 >= len(text):
            raise FormatError("unexpected end of string")
        at, kind, precision = _clause(text, found + 1)
        try:
            parts.append(arguments.clause(kind, precision, index))
        except FormatError as problem:
            raise FormatError(f"error during formatting: {problem.message}", problem.at) from None
        index += 1


def _clause(text: str, at: int) -> tuple[int, str, int]:
    precision = DEFAULT_PRECISION
    start = "could not parse formatting clause: "
    if text[at] == ".":
        match = _DIGITS.match(text, at + 1)
        digits = match[0] if match is not None else ""
        at += 1 + len(digits)
        if at >= len(text):
            raise FormatError(f"{start}error while parsing precision: could not find end of precision specifier")
        if not digits or len(digits) > 18:
            reason = "invalid syntax" if not digits else "value out of range"
            raise FormatError(
                f"{start}error while parsing precision: error while converting precision to integer: strconv.Atoi:"
                f' parsing "{digits}": {reason}'
            )
        precision = int(digits)
    kind = text[at]
    if kind not in "sdfebxXo":
        # Go looks at a byte.
        shown = kind if ord(kind) < 128 else chr(kind.encode("utf-8", "surrogatepass")[0])
        raise FormatError(f'{start}unrecognized formatting clause "{shown}"')
    return at + 1, kind, precision


class _Values:
    """Arguments at run time."""

    def __init__(self, values: Sequence[Value]) -> None:
        self.values = values

    def size(self) -> int:
        return len(self.values)

    def clause(self, kind: str, precision: int, index: int) -> str:
        value = self.values[index]
        if kind == "s":
            return _string(value)
        if kind in "fe":
            return _real(value, kind, precision)
        return _WHOLE[kind](value, kind)


def format_values(text: str, values: tuple[Value, ...]) -> str:
    """``text.format(values)``.

    Raises:
        CelError: a clause and its argument do not fit.
    """
    try:
        return interpolate(text, _Values(values))
    except FormatError as problem:
        raise CelError(problem.message) from None


def _unfit(kind: str, value: Value) -> FormatError:
    return FormatError(ERRORS[kind.lower()].format(type_name(value)))


def _decimal(value: Value, kind: str) -> str:
    if type(value) is int or type(value) is Uint:
        return str(int(value))
    raise _unfit(kind, value)


def _binary(value: Value, kind: str) -> str:
    if type(value) is bool:
        return "1" if value else "0"
    if type(value) is int or type(value) is Uint:
        return format(int(value), "b")
    raise _unfit(kind, value)


def _octal(value: Value, kind: str) -> str:
    if type(value) is int or type(value) is Uint:
        return format(int(value), "o")
    raise _unfit(kind, value)


def _hexadecimal(value: Value, kind: str) -> str:
    if type(value) is str:
        text = value.encode("utf-8", "surrogatepass").hex()
    elif type(value) is bytes:
        text = value.hex()
    elif type(value) is int or type(value) is Uint:
        text = format(int(value), "x")
    else:
        raise _unfit(kind, value)
    return text.upper() if kind == "X" else text


_WHOLE: Final[dict[str, Callable[[Value, str], str]]] = {
    "d": _decimal,
    "b": _binary,
    "o": _octal,
    "x": _hexadecimal,
    "X": _hexadecimal,
}
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _real(value: Value, kind: str, precision: int) -> str:
    if type(value) is str and value in {"NaN", "Infinity", "-Infinity"}:
        value = parse_double(value)
    if type(value) is not float:
        raise _unfit(kind, value)
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if precision > _MAX_PRECISION:
        raise FormatError("precision is too large")
    if kind == "f":
        return f"{value:,.{precision}f}"
    mantissa, _, exponent = f"{value:.{precision}e}".partition("e")
    # The English locale writes a power of ten.
    power = str(int(exponent))
    return f"{mantissa}\u202f×\u202f10" + power.rjust(2 + (power[0] == "-"), "0").translate(_SUPERSCRIPTS)


def _string(value: Value) -> str:
    kind = type(value)
    if kind is tuple or is_map(value):
        return _nested(value)
    if kind is str:
        return str(value)
    if kind is bytes:
        try:
            return bytes(value).decode("utf-8")
        except UnicodeDecodeError:
            raise FormatError(
                'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" to string'
            ) from None
    if value is None:
        return "null"
    if kind in {bool, int, Uint, float}:
        return key_text(value)
    if kind is Duration or kind is Timestamp:
        return str(value)
    if kind is TypeValue:
        return str(value.name)
    raise _unfit("s", value)


def _nested(value: Value) -> str:
    """A value inside a list or map, as a literal."""
    kind = type(value)
    if kind is tuple:
        return "[" + ", ".join(_nested(item) for item in value) + "]"
    if is_map(value):
        pairs = sorted((_map_key(key), _nested(find(value, key))) for key in value)
        return "{" + ", ".join(f"{key}:{item}" for key, item in pairs) + "}"
    if kind is str:
        return quoted(value)
    if kind is bytes:
        return "b" + quoted(_string(value))
    if kind is float:
        if value != value or math.isinf(value):
            return quoted(key_text(value))
        return f"{value:.{DEFAULT_PRECISION}f}"
    if kind is Timestamp:
        return f"timestamp({quoted(str(value))})"
    if kind is Duration:
        return f"duration({quoted(str(value))})"
    if kind in {bool, int, Uint, TypeValue} or value is None:
        return _string(value)
    raise FormatError(f"no formatting function for {type_name(value)}")


def _map_key(key: Value) -> str:
    if type(key) is str:
        return quoted(key)
    if type(key) in {bool, int, Uint}:
        return key_text(key)
    raise FormatError(f"no formatting function for map key of type {type_name(key)}")
