"""Kubernetes quantities: amounts such as ``500m``, ``40Gi`` and ``1e3``.

The arithmetic, the rounding and the text forms are those of apimachinery, including what looks like a fault there
(above ``E`` the suffix is lost), because a test of a manifest must see what the API server would store.

Source: k8s.io/apimachinery/pkg/api/resource (1.37).
"""

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

Format = Literal["DecimalSI", "BinarySI", "DecimalExponent"]

MIN_INT64 = -(1 << 63)
MAX_INT64 = (1 << 63) - 1

_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_TEXTS = {exponent: suffix for suffix, exponent in _DECIMAL_SUFFIXES.items()}
_BINARY_TEXTS = {exponent: suffix for suffix, exponent in _BINARY_SUFFIXES.items()}

_FORM = re.compile(r"([+-]?)0*([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)", re.ASCII)
_NANO = -9
_MAX_INT64_DIGITS = 18
# Go computes with any exponent (and may take minutes); here amounts above 10^1000 compare as 10^1000.
_SCALE_LIMIT = 1000
# Digits beyond this are beyond every limit of the API; Python refuses to convert them.
_DIGIT_LIMIT = 4000
_REMEMBERED_LENGTH = 32
_DIGIT_CHUNK = 10**_DIGIT_LIMIT
_POWERS = tuple(10**exponent for exponent in range(64))

FORMAT_ERROR = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC_ERROR = "unable to parse numeric part of quantity"
SUFFIX_ERROR = "unable to parse quantity's suffix"


def _power(exponent: int) -> int:
    return _POWERS[exponent] if exponent < 64 else int(10 ** min(exponent, _SCALE_LIMIT + 9))


def _divide_up(value: int, divisor: int) -> int:
    """Division that rounds away from zero."""
    return -((-value) // divisor) if value >= 0 else -((-value + divisor - 1) // divisor)


def _fits(value: int) -> bool:
    return MIN_INT64 <= value <= MAX_INT64


class Quantity(Struct, frozen=True, eq=False):
    """An exact amount with its way of being written.

    Two quantities are equal when their amounts are, however they are written.

    Attributes:
        nano: the amount in billionths, the smallest unit there is.
        mantissa: the amount is ``mantissa * 10**scale``.
        scale: see ``mantissa``; at least -9.
        format: how ``str`` writes the amount.
        kept: the text as it was given, where the API server returns it unchanged.
        big: the amount is held as a big number in Go, which is why Go's 64-bit shortcuts say no to it.
    """

    nano: int = 0
    mantissa: int = 0
    scale: int = 0
    format: Format = "DecimalSI"
    kept: str = ""
    big: bool = False

    def __str__(self) -> str:
        return self.kept or _canonical(self)

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __hash__(self) -> int:
        return hash(self.nano)

    def __eq__(self, other: object) -> bool:
        return self.nano == other.nano if isinstance(other, Quantity) else NotImplemented

    # Struct has a comparison of its own, which Python would ask for `!=` otherwise.
    def __ne__(self, other: object) -> bool:
        return self.nano != other.nano if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: "Quantity") -> bool:
        return self.nano < other.nano

    def __le__(self, other: "Quantity") -> bool:
        return self.nano <= other.nano

    def __gt__(self, other: "Quantity") -> bool:
        return self.nano > other.nano

    def __ge__(self, other: "Quantity") -> bool:
        return self.nano >= other.nano

    def __bool__(self) -> bool:
        return self.nano != 0

    def __neg__(self) -> "Quantity":
        return _make(-self.mantissa, self.scale, self.format, big=self.big)

    def __add__(self, other: "Quantity") -> "Quantity":
        form = self.format if self.mantissa else other.format
        if not (self.big or other.big):
            if not other.mantissa:
                return _make(self.mantissa, self.scale, form)
            if not self.mantissa:
                return _make(other.mantissa, other.scale, form)
        scale = min(self.scale, other.scale)
        left = self.mantissa * _power(self.scale - scale)
        right = other.mantissa * _power(other.scale - scale)
        total = left + right
        big = self.big or other.big or not (_fits(left) and _fits(right) and _fits(total))
        return _make(total, scale, form, big=big)

    def __sub__(self, other: "Quantity") -> "Quantity":
        result = self + -other
        form = self.format if self.mantissa else other.format
        return result if result.format == form else _make(result.mantissa, result.scale, form, big=result.big)

    def __mul__(self, factor: int) -> "Quantity":
        if not self.mantissa and not self.big:
            return _make(0, self.scale, self.format)
        product = self.mantissa * factor
        return _make(product, self.scale if factor else 0, self.format, big=self.big or not _fits(product))

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.nano > 0) - (self.nano < 0)

    def canonical(self) -> "Quantity":
        """The same amount without the text it was given in."""
        return _make(self.mantissa, self.scale, self.format, big=self.big) if self.kept else self

    def as_int64(self) -> int | None:
        """The amount as a 64-bit integer, or None where Go's ``AsInt64`` gives up (``1000m`` is such a case)."""
        if self.big or self.scale < 0:
            return None
        value = self.mantissa * _power(self.scale)
        return value if _fits(value) else None

    def stored_int64(self) -> int | None:
        """As ``as_int64``, of the amount as the API server stores it: as short as can be (``1000m`` is ``1``)."""
        whole, rest = divmod(self.nano, 1_000_000_000)
        return whole if not rest and _fits(whole) else None

    def value(self) -> int:
        """The amount in whole units, rounded up as Go's ``Value`` does; what 64 bits do not hold is wrong as there."""
        return self.scaled_value(0)

    def milli_value(self) -> int:
        """The amount in thousandths, as ``value``."""
        return self.scaled_value(-3)

    def scaled_value(self, scale: int) -> int:
        """The amount in units of ``10**scale``, rounded up, with Go's 64-bit overflows (see ``value``)."""
        if self.big:
            return _scaled_big(self.mantissa, scale - self.scale)
        if self.scale < scale:
            return _divide_up(self.mantissa, _power(scale - self.scale))
        up = self.scale - scale
        result = self.mantissa * _power(up)
        if _fits(result):
            return result
        # Go multiplies at once by these powers and returns the overflown product; by others it stops with 0.
        return _wrap(result) if up in {1, 2, 3, 6, 9} and self.mantissa != MIN_INT64 else 0

    def round_up(self, scale: int) -> "Quantity":
        """The amount rounded away from zero to a multiple of ``10**scale``."""
        if self.scale >= scale:
            return self
        return _make(_divide_up(self.mantissa, _power(scale - self.scale)), scale, self.format, big=self.big)

    def decimal_text(self) -> str:
        """The digits with a decimal point and no suffix, trailing zeros as they come out of reading (``1.500``)."""
        if self.scale >= 0:
            return _digits(self.mantissa * _power(self.scale))
        digits = _digits(abs(self.mantissa)).rjust(1 - self.scale, "0")
        return f"{'-' if self.mantissa < 0 else ''}{digits[: self.scale]}.{digits[self.scale :]}"

    def approximate_float(self) -> float:
        """The nearest floating point number, for the CEL function that asks for one."""
        try:
            return self.nano / 10**9
        except OverflowError:
            return float("inf") if self.nano > 0 else float("-inf")


def _make(mantissa: int, scale: int, form: Format, kept: str = "", *, big: bool = False) -> Quantity:
    return Quantity(mantissa * _power(scale - _NANO), mantissa, scale, form, kept, big)


def _wrap(value: int) -> int:
    """The lower 64 bits, as a signed number."""
    return (value - MIN_INT64) % (1 << 64) + MIN_INT64


def _scaled_big(mantissa: int, down: int) -> int:
    """Go's ``scaledValue``: rounds up, but a negative remainder in the 64-bit way counts as one more."""
    if down <= 0:
        factor = _power(-down)
        return _wrap(_wrap(mantissa) * (factor if factor <= MAX_INT64 else MIN_INT64))
    if mantissa < MAX_INT64 and down < _MAX_INT64_DIGITS + 1:
        value, divisor = _wrap(mantissa), _power(down)
        quotient = abs(value) // divisor * (1 if value >= 0 else -1)
        return quotient + (value % divisor != 0)
    return _wrap(-(-mantissa // _power(down)))


def _strip_factors(value: int, base: int) -> tuple[int, int]:
    times = 0
    while abs(value) >= base and value % base == 0:
        value //= base
        times += 1
    return value, times


def _canonical(quantity: Quantity) -> str:
    if not quantity.mantissa:
        return "0"
    form = quantity.format
    if form == "BinarySI":
        small = abs(quantity.nano) < 1024 * 10**9
        if small or quantity.nano % 10**9:
            form = "DecimalSI"
        else:
            number, times = _strip_factors(quantity.nano // 10**9, 1024)
            return _digits(number) + _BINARY_TEXTS.get(times * 10, "")
    number, times = _strip_factors(quantity.mantissa, 10)
    exponent = quantity.scale + times
    number *= _power(exponent % 3)
    exponent -= exponent % 3
    if form == "DecimalSI":
        return _digits(number) + _DECIMAL_TEXTS.get(exponent, "")
    return _digits(number) + (f"e{exponent}" if exponent else "")


def _digits(number: int) -> str:
    """``str`` without Python's limit on the number of digits, which sums of absurd amounts can pass."""
    if -_DIGIT_CHUNK < number < _DIGIT_CHUNK:
        return str(number)
    rest, parts = abs(number), []
    while rest:
        rest, part = divmod(rest, _DIGIT_CHUNK)
        parts.append(str(part).rjust(_DIGIT_LIMIT, "0"))
    return ("-" if number < 0 else "") + "".join(reversed(parts)).lstrip("0")


ZERO = Quantity(kept="0")


def quantity_of(value: int, form: Format = "DecimalSI") -> Quantity:
    """A whole amount."""
    return _make(value, 0, form, big=not _fits(value))


def milli_quantity(value: int, form: Format = "DecimalSI") -> Quantity:
    """An amount given in thousandths."""
    return _make(value, -3, form, big=not _fits(value))


def parse_quantity(text: str) -> Quantity:
    """Read a quantity.

    Raises:
        ValueError: not a quantity; the message is the API server's.
    """
    return _parse_remembering(text) if len(text) <= _REMEMBERED_LENGTH else _parse(text)


# The same few texts occur in every device of a slice.
@lru_cache(4096)
def _parse_remembering(text: str) -> Quantity:
    return _parse(text)


def _parse(text: str) -> Quantity:
    if not text:
        raise ValueError(FORMAT_ERROR)
    if text == "0":
        return ZERO
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError(FORMAT_ERROR)
    sign, whole, point, fraction, suffix = match.groups()
    digits_end = match.start(5)
    whole = whole or "0"
    fraction = fraction or ""
    exponent, form = _interpret(suffix)
    quick = _parse_quick(text, -1 if sign == "-" else 1, whole, fraction, exponent, form)
    if quick is not None:
        return quick
    number = text[:digits_end].lstrip("+-")
    if not number or number == point:
        raise ValueError(NUMERIC_ERROR)
    return _parse_slowly(-1 if sign == "-" else 1, whole, fraction, exponent, form)


def _interpret(suffix: str) -> tuple[int, Format]:
    """The exponent that a suffix stands for, of 10 or of 2."""
    decimal = _DECIMAL_SUFFIXES.get(suffix)
    if decimal is not None:
        return decimal, "DecimalSI"
    binary = _BINARY_SUFFIXES.get(suffix)
    if binary is not None:
        return binary, "BinarySI"
    match = _EXPONENT.fullmatch(suffix)
    if match is None or len(match[1].lstrip("+-0")) > 19 or not _fits(int(match[1])):
        raise ValueError(SUFFIX_ERROR)
    # Go keeps the lower 32 bits.
    return (int(match[1]) + (1 << 31)) % (1 << 32) - (1 << 31), "DecimalExponent"


def _parse_quick(text: str, sign: int, whole: str, fraction: str, exponent: int, form: Format) -> Quantity | None:
    """The 64-bit way of Go, which also decides which texts are kept as they are."""
    factor = 1
    if form == "BinarySI":
        if fraction:
            return None
        precision = 15 - len(whole) - exponent * 3 // 10 - 1
        scale = 0
        factor = 1 << exponent
    else:
        precision = _MAX_INT64_DIGITS - len(whole) - len(fraction)
        scale = exponent - len(fraction)
    if precision < 0 or scale < _NANO:
        return None
    shifted = whole + fraction
    value = int(shifted)
    product = value * factor
    if not _fits(product):
        return None
    if form == "BinarySI":
        keep = value & 7 != 0
    else:
        keep = scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
    return _make(sign * product, scale, form, text if keep else "")


def _parse_slowly(sign: int, whole: str, fraction: str, exponent: int, form: Format) -> Quantity:
    """The way of Go with big numbers: rounding up to billionths, and the cap of binary amounts."""
    digits = (whole + fraction).lstrip("0")
    scale = -len(fraction)
    if len(digits) > _DIGIT_LIMIT:
        scale += len(digits) - _DIGIT_LIMIT
        digits = digits[:_DIGIT_LIMIT]
    mantissa = int(digits or "0")
    if form == "BinarySI":
        mantissa <<= exponent
    else:
        scale += exponent
    if scale < _NANO:
        too_fine = _NANO - scale
        # Whatever is left of the point by less than that is a fraction of one billionth.
        mantissa = _divide_up(mantissa, 10**too_fine) if too_fine <= 2 * _DIGIT_LIMIT else min(mantissa, 1)
        scale = _NANO
    elif mantissa and scale <= _SCALE_LIMIT:
        mantissa, scale = mantissa * _power(scale - _NANO), _NANO
    if form == "BinarySI":
        # Still above the point means more digits than any limit.
        if scale > 0 or mantissa > MAX_INT64 * _power(-scale):
            mantissa, scale = (MAX_INT64 if mantissa else 0), 0
        elif 0 < mantissa < _power(-scale):
            form = "DecimalSI"
    return _make(sign * mantissa, scale, form, big=True)
