"""Pieces of generated code."""

import contextlib
import math
from collections.abc import Iterator
from typing import Final, NamedTuple

from dralang.cel.types import Type
from dralang.cel.values import Value

_NO_VALUE: Final = object()


class Unsupported(Exception):  # noqa: N818 - no error, but a decision
    """The generator leaves this to the interpreter."""


class Code(NamedTuple):
    """A Python expression.

    Attributes:
        text: the expression.
        fallible: whether it may raise.
        kind: the Python type that its value certainly has; ``attribute`` for the value of an attribute of a device;
            empty if nothing is certain.
        constant: its value, if that is known.
    """

    text: str
    fallible: bool = True
    kind: str = ""
    constant: Value = _NO_VALUE

    @property
    def is_constant(self) -> bool:
        """Whether the value is known."""
        return self.constant is not _NO_VALUE


_KINDS: Final = {
    "bool": "bool",
    "bytes": "bytes",
    "double": "float",
    "int": "int",
    "string": "str",
    "uint": "Uint",
    "list": "tuple",
}


def python_kind(static: Type) -> str:
    """The Python type of values of a static type, where there is exactly one."""
    if static.name == "kubernetes.Semver":
        return "Semver"
    return "Quantity" if static.name == "kubernetes.Quantity" else _KINDS.get(static.kind, "")


def literal_code(value: Value) -> str | None:
    """A Python literal of a value, if there is one."""
    kind = type(value)
    if kind in {bool, int, str, bytes} or value is None:
        return repr(value)
    if kind is float and math.isfinite(value):
        return repr(value)
    return None


class Writer:
    """Lines of Python with indentation."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._indent = ""

    def line(self, text: str) -> None:
        """Add a line."""
        self._lines.append(self._indent + text)

    @contextlib.contextmanager
    def block(self) -> Iterator[None]:
        """Indent what is written inside."""
        before = self._indent
        self._indent = before + " "
        yield
        self._indent = before

    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines) + "\n"
