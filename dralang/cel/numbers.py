"""Numbers: checked arithmetic, comparison across types, and Go's ways of writing and reading them.

Source: cel-go common/types/overflow.go, compare.go, int.go, double.go; Go's strconv.
"""

import math
import re
from decimal import Decimal
from typing import Final

from dralang.cel.values import MAX_INT, MAX_UINT, MIN_INT, CelError, Uint


def checked_int(value: int) -> int:
    """A computed int.

    Raises:
        CelError: it does not fit 64 bits.
    """
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CelError("integer overflow")


def checked_uint(value: int) -> Uint:
    """A computed uint.

    Raises:
        CelError: it does not fit 64 bits.
    """
    if 0 <= value <= MAX_UINT:
        return Uint(value)
    raise CelError("unsigned integer overflow")


def int_divide(left: int, right: int) -> int:
    """Division towards zero."""
    if right == 0:
        raise CelError("division by zero")
    quotient = abs(left) // abs(right)
    return checked_int(quotient if (left < 0) == (right < 0) else -quotient)


def int_modulo(left: int, right: int) -> int:
    """The remainder, with the sign of the dividend."""
    if right == 0:
        raise CelError("modulus by zero")
    if right == -1 and left == MIN_INT:
        raise CelError("integer overflow")
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def uint_divide(left: int, right: int) -> Uint:
    """Division of unsigned integers."""
    if right == 0:
        raise CelError("division by zero")
    return Uint(left // right)


def uint_modulo(left: int, right: int) -> Uint:
    """The remainder of unsigned integers."""
    if right == 0:
        raise CelError("modulus by zero")
    return Uint(left % right)


def double_divide(left: float, right: float) -> float:
    """Division as IEEE 754 has it."""
    if right:
        return left / right
    if left == 0 or left != left:
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def double_to_int(value: float) -> int:
    """Towards zero.

    Raises:
        CelError: it does not fit.
    """
    if value != value or value in {math.inf, -math.inf} or value <= -(2.0**63) or value >= 2.0**63:
        raise CelError("integer overflow")
    return int(value)


def double_to_uint(value: float) -> Uint:
    """Towards zero.

    Raises:
        CelError: it does not fit.
    """
    if value != value or value in {math.inf, -math.inf} or value < 0 or value >= 2.0**64:
        raise CelError("unsigned integer overflow")
    return Uint(int(value))


_DECIMAL = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UNSIGNED = re.compile(r"[0-9]+", re.ASCII)
_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)", re.ASCII | re.IGNORECASE
)
_HEX_FLOAT = re.compile(r"[+-]?0x(?:[0-9a-f]+(?:\.[0-9a-f]*)?|\.[0-9a-f]+)p[+-]?[0-9]+", re.ASCII | re.IGNORECASE)
_LONGEST: Final = 1000


def parse_int(text: str) -> int | None:
    """Decimal digits with an optional sign, within 64 bits."""
    if not _DECIMAL.fullmatch(text) or len(text) > _LONGEST:
        return None
    value = int(text)
    return value if MIN_INT <= value <= MAX_INT else None


def parse_uint(text: str) -> Uint | None:
    """Decimal digits, within 64 bits."""
    if not _UNSIGNED.fullmatch(text) or len(text) > _LONGEST:
        return None
    value = int(text)
    return Uint(value) if value <= MAX_UINT else None


def parse_double(text: str) -> float | None:
    """Go's ``ParseFloat``: decimal or hexadecimal, infinities and NaN; None if it is none or too large."""
    if "_" in text:
        return None
    if _FLOAT.fullmatch(text):
        value = float(text)
        infinite = math.isinf(value) and "i" not in text.lower()
        return None if infinite else value
    if _HEX_FLOAT.fullmatch(text):
        try:
            return float.fromhex(text)
        except OverflowError:
            return None
    return None


_BOOLEANS: Final = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


def parse_bool(text: str) -> bool | None:
    """Go's ``ParseBool``."""
    return _BOOLEANS.get(text)


def format_double(value: float, verb: str = "g") -> str:
    """Go's shortest text of a float: ``%g``, or without exponent for verb ``f``."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if verb == "f":
        text = format(Decimal(repr(value)), "f")
        return text.removesuffix(".0") if "." in text else text
    sign, digits, point = Decimal(repr(value)).as_tuple()
    assert isinstance(point, int)
    text = "".join(map(str, digits)).rstrip("0") or "0"
    # Position of the decimal point after the first digit.
    exponent = len(digits) + point - 1 if text != "0" else 0
    start = "-" if sign else ""
    # Where no precision is given, Go decides as if it were 6.
    if exponent < -4 or exponent >= 6:
        mantissa = text[0] + ("." + text[1:] if len(text) > 1 else "")
        return f"{start}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{start}0.{'0' * (-exponent - 1)}{text}"
    if len(text) <= exponent + 1:
        return start + text + "0" * (exponent + 1 - len(text))
    return f"{start}{text[: exponent + 1]}.{text[exponent + 1 :]}"


def compare_numbers(left: float, right: float) -> int:
    """-1, 0 or 1 for any two numbers that are not NaN, as cel-go compares them."""
    if type(left) is float and type(right) is not float:
        return _compare_double(left, right)
    if type(right) is float and type(left) is not float:
        return -_compare_double(right, left)
    return (left > right) - (left < right)


def _compare_double(double: float, whole: float) -> int:
    if type(whole) is Uint:
        if double < 0:
            return -1
        if double > 2.0**64:
            return 1
    else:
        if double < -(2.0**63):
            return -1
        if double > 2.0**63:
            return 1
    converted = float(whole)
    return (double > converted) - (double < converted)
