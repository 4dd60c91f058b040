"""Checks of literals that follow the type check.

Source: cel-go cel/validator.go, ext/formatting.go (the format validator), as k8s.io/apiserver configures them.
"""

from collections.abc import Iterator
from typing import Final

from dralang.cel import types
from dralang.cel.formatting import ERRORS, FormatError, interpolate
from dralang.cel.issues import Issues
from dralang.cel.library import resolve
from dralang.cel.strings import compile_regex
from dralang.cel.tree import Call, ListLiteral, Literal, MapLiteral, Node
from dralang.cel.types import Type
from dralang.cel.values import CelError

_KINDS: Final = {
    "d": frozenset({"int", "uint"}),
    "f": frozenset({"double", "string"}),
    "e": frozenset({"double", "string"}),
    "b": frozenset({"int", "uint", "bool"}),
    "x": frozenset({"int", "uint", "string", "bytes"}),
    "X": frozenset({"int", "uint", "string", "bytes"}),
    "o": frozenset({"int", "uint"}),
}
_STRINGS: Final = frozenset(
    {
        "list",
        "map",
        "int",
        "uint",
        "double",
        "bool",
        "string",
        "timestamp",
        "bytes",
        "duration",
        "type",
        "null",
    }
)


def _walk(root: Node) -> Iterator[tuple[Node, bool]]:
    """Every node, and whether it is below a call of ``format``."""
    todo = [(root, False)]
    while todo:
        node, inside = todo.pop()
        yield node, inside
        inside = inside or (isinstance(node, Call) and node.function == "format")
        todo.extend((child, inside) for child in node.children())


def validate_literals(root: Node, issues: Issues) -> None:
    """Report durations, timestamps, patterns, literals of mixed types and format strings that are wrong."""
    for node, inside_format in _walk(root):
        if isinstance(node, Call):
            if node.function in {"duration", "timestamp", "matches"}:
                _argument(node, issues)
            elif node.function == "format":
                _format(node, issues)
        elif isinstance(node, ListLiteral):
            if not inside_format and len(node.elements) > 1:
                _list(node, issues)
        elif isinstance(node, MapLiteral) and not inside_format and len(node.entries) > 1:
            _map(node, issues)


def _argument(node: Call, issues: Issues) -> None:
    if not node.args or not isinstance(node.args[0], Literal):
        return
    literal = node.args[0]
    try:
        if node.function == "matches":
            compile_regex(literal.value)
        else:
            resolve(node.function, node.overloads)(literal.value)
    except (CelError, ValueError):
        issues.add(literal.pos, f"invalid {node.function} argument")


def _inner(found: Type, *, optional: bool) -> Type:
    return found.params[0] if optional and found.params else found


def _mismatch(node: Node, wanted: Type, found: Type, issues: Issues) -> None:
    issues.add(node.pos, f"expected type '{wanted.text}' but found '{found.text}'")


def _list(node: ListLiteral, issues: Issues) -> None:
    wanted: Type | None = None
    for index, element in enumerate(node.elements):
        found = _inner(element.type, optional=index in node.optionals)
        if wanted is None:
            wanted = found
        elif not types.equivalent(wanted, found):
            _mismatch(element, wanted, found, issues)
            return


def _map(node: MapLiteral, issues: Issues) -> None:
    first = node.entries[0]
    keys, values = first.key.type, _inner(first.value.type, optional=first.optional)
    for entry in node.entries[1:]:
        found = _inner(entry.value.type, optional=entry.optional)
        if not types.equivalent(keys, entry.key.type):
            _mismatch(entry.key, keys, entry.key.type, issues)
        if not types.equivalent(values, found):
            _mismatch(entry.value, values, found, issues)


class _Types:
    """Arguments of which only the types are known."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.used = 0

    def size(self) -> int:
        return len(self.nodes)

    def clause(self, kind: str, precision: int, index: int) -> str:
        self.used += 1
        node = self.nodes[index]
        if kind == "s":
            wrong = _not_a_string(node)
            if wrong is not None:
                raise FormatError(ERRORS["s"].format(wrong.type.name), wrong)
        elif node.type is not types.DYN and node.type.kind not in _KINDS[kind]:
            raise FormatError(ERRORS[kind.lower()].format(node.type.name), node)
        return ""


def _not_a_string(node: Node) -> Node | None:
    """The part that the string clause cannot show."""
    if node.type is not types.DYN and node.type.kind not in _STRINGS:
        return node
    if isinstance(node, ListLiteral):
        parts = node.elements
    elif isinstance(node, MapLiteral):
        parts = node.children()
    else:
        return None
    return next((wrong for part in parts if (wrong := _not_a_string(part)) is not None), None)


def _format(node: Call, issues: Issues) -> None:
    target = node.target
    if not isinstance(target, Literal) or type(target.value) is not str or len(node.args) != 1:
        return
    argument = node.args[0]
    if not isinstance(argument, ListLiteral):
        return
    arguments = _Types(argument.elements)
    try:
        interpolate(target.value, arguments)
    except FormatError as problem:
        at = problem.at.pos if isinstance(problem.at, Node) else node.pos
        issues.add(at, problem.message)
        return
    if len(argument.elements) > arguments.used:
        issues.add(
            node.pos,
            f"too many arguments supplied to string.format (expected {arguments.used}, got {len(argument.elements)})",
        )
