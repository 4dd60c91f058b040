"""Quantities in expressions.

Source: k8s.io/apiserver pkg/cel/library/quantity.go.
"""

from collections.abc import Callable
from typing import Final

from dralang.cel.values import CelError, Value, quantity_result
from dralang.values.quantity import Quantity, parse_quantity, quantity_of


def to_quantity(text: str) -> Quantity:
    """``quantity(text)``."""
    try:
        return parse_quantity(text)
    except ValueError as problem:
        raise CelError(str(problem)) from None


def _is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except ValueError:
        return False
    return True


def _as_integer(value: Quantity) -> int:
    number = value.as_int64()
    if number is None:
        raise CelError("cannot convert value to integer")
    return number


_SMALLEST: Final = -(1 << 63)


def _wide(value: Quantity) -> int | None:
    number = value.as_int64()
    return _SMALLEST if number is None and value.nano == _SMALLEST * 10**9 else number


def _as_wide_integer(value: Quantity) -> int:
    number = _wide(value)
    if number is None:
        raise CelError("cannot convert value to integer")
    return number


QUANTITIES: Final[dict[str, Callable[..., Value]]] = {
    "string_to_quantity": to_quantity,
    "is_quantity_string": _is_quantity,
    "quantity_sign": lambda value: value.sign,
    "quantity_is_integer": lambda value: value.as_int64() is not None,
    "quantity_get_int": _as_integer,
    "quantity_is_integer_wide": lambda value: _wide(value) is not None,
    "quantity_get_int_wide": _as_wide_integer,
    "quantity_get_float": Quantity.approximate_float,
    "quantity_is_greater_than": lambda one, two: one.nano > two.nano,
    "quantity_is_less_than": lambda one, two: one.nano < two.nano,
    "quantity_compare_to": lambda one, two: (one.nano > two.nano) - (one.nano < two.nano),
    "quantity_add": lambda one, two: quantity_result(one + two),
    "quantity_add_int": lambda one, two: quantity_result(one + quantity_of(two)),
    "quantity_sub": lambda one, two: quantity_result(one - two),
    "quantity_sub_int": lambda one, two: quantity_result(one - quantity_of(two)),
}
