"""Sizes and costs as the estimator computes with them: 64-bit unsigned numbers that stop at the largest one.

Source: cel-go checker/cost.go; k8s.io/dynamic-resource-allocation cel/compile.go (the declared sizes of a device).
"""

import math
from typing import Final, NamedTuple

MAX: Final = (1 << 64) - 1
STRING_FACTOR: Final = 0.1
REGEX_FACTOR: Final = 0.25
_TWO_64: Final = 2.0**64


def by_factor(value: int, factor: float) -> int:
    """The product, rounded up, in floating point as there."""
    real = float(value)
    if real > 0 and factor > 0 and real > _TWO_64 / factor:
        return MAX
    product = math.ceil(real * factor)
    return MAX if product >= _TWO_64 else product


def capped(value: int) -> int:
    """The value, or the largest one."""
    return value if value < MAX else MAX


class Size(NamedTuple):
    """How many elements, characters or bytes there may be.

    Attributes:
        least: the lower bound.
        most: the upper bound.
        key: the same of the keys of a map; only the cost model of 1.38 keeps it.
        elem: the same of the elements of a list or the values of a map; likewise.
    """

    least: int
    most: int
    key: "Size | None" = None
    elem: "Size | None" = None

    def __add__(self, other: "Size") -> "Size":  # type: ignore[override]
        return Size(capped(self.least + other.least), capped(self.most + other.most), *self._parts(other))

    def _parts(self, other: "Size") -> "tuple[Size | None, Size | None]":
        return merged(self.key, other.key), merged(self.elem, other.elem)

    def times(self, other: "Size") -> "Size":
        """The product."""
        return Size(capped(self.least * other.least), capped(self.most * other.most), *self._parts(other))

    def union(self, other: "Size") -> "Size":
        """The range that holds both."""
        return Size(min(self.least, other.least), max(self.most, other.most), *self._parts(other))

    def cost(self, factor: float) -> int:
        """What a traversal costs at most."""
        return by_factor(self.most, factor)


def merged(left: Size | None, right: Size | None) -> Size | None:
    """The range that holds both, where there are both."""
    if left is None or right is None:
        return left or right
    return left.union(right)


def fixed(value: int) -> Size:
    """A known size."""
    return Size(value, value)


UNKNOWN: Final = Size(0, MAX)
ONE: Final = Size(1, 1)


class Shape:
    """The declared shape of a part of the device: how large it may be, and the shapes of its parts."""

    __slots__ = ("element", "fields", "key", "most")

    def __init__(
        self,
        most: int,
        fields: "dict[str, Shape] | None" = None,
        key: "Shape | None" = None,
        element: "Shape | None" = None,
    ) -> None:
        self.most = most
        self.fields = fields or {}
        self.key = key
        self.element = element


_ATTRIBUTE: Final = Shape(64)
_ATTRIBUTES: Final = Shape(32, key=Shape(63), element=Shape(32, key=Shape(32), element=_ATTRIBUTE))
_CAPACITIES: Final = Shape(32, key=Shape(63), element=Shape(32, key=Shape(32), element=Shape(0)))
DEVICE: Final = Shape(
    0,
    fields={
        "driver": Shape(63),
        "attributes": _ATTRIBUTES,
        "capacity": _CAPACITIES,
        "allowMultipleAllocations": Shape(1),
    },
)


class Way:
    """How a value is reached from the device, as names; a Go slice, with the sharing that slices have.

    Where cel-go extends a slice that has room, it overwrites what an earlier extension of the same slice wrote. Some
    estimates depend on it.
    """

    __slots__ = ("length", "names")

    def __init__(self, names: list[str], length: int) -> None:
        self.names = names
        self.length = length

    def extended(self, name: str) -> "Way":
        """The way with one more name."""
        names = self.names
        if self.length == len(names):
            names = names[: self.length] + [""] * max(self.length, 1)
        names[self.length] = name
        return Way(names, self.length + 1)

    def copied(self) -> "Way":
        """The same way, sharing nothing."""
        return Way(self.names[: self.length], self.length)

    def shape(self) -> Shape | None:
        """The shape at the end, if all of the way is declared."""
        names = self.names[: self.length]
        if not names or names[0] != "device":
            return None
        shape: Shape | None = DEVICE
        for name in names[1:]:
            if shape is None:
                return None
            shape = _next(shape, name)
        return shape

    def items(self) -> Shape | None:
        """The shape of the elements of what is at the end."""
        shape = self.shape()
        return None if shape is None else shape.element


def _next(shape: Shape, name: str) -> Shape | None:
    if name in {"@items", "@values"}:
        return shape.element
    if name == "@keys":
        return shape.key
    found = shape.fields.get(name)
    if found is not None:
        return found
    # Every attribute of a domain has the same shape, whatever its name; capacities have no such rule.
    return _ATTRIBUTE if shape.element is _ATTRIBUTE else None


def way_from(name: str) -> Way:
    """The way to a variable."""
    return Way([name], 1)


NO_WAY: Final = Way([], 0)
