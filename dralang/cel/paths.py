"""Selections that lead from the device to one of its parts by constant names."""

from typing import NamedTuple

from dralang.cel.tree import Call, Ident, Literal, Node, Select


class Path(NamedTuple):
    """A part of the device.

    Attributes:
        field: ``driver``, ``attributes``, ``capacity``, ``allowMultipleAllocations``, or empty for the device itself.
        names: domain and identifier, as far as the path goes.
    """

    field: str = ""
    names: tuple[str, ...] = ()


Aliases = dict[str, Path | None]
"""Variables that stand for a part of the device; None for those that hide an outer one."""


def step(node: Node) -> tuple[Node, str] | None:
    """Operand and constant name of a plain selection or index."""
    if type(node) is Select:
        return None if node.test else (node.operand, node.field)
    if type(node) is Call and node.function == "_[_]":
        key = node.args[1]
        if type(key) is Literal and type(key.value) is str:
            return node.args[0], key.value
    return None


def path_of(node: Node, aliases: Aliases) -> Path | None:
    """The path that a node is, if it is one."""
    names: list[str] = []
    while True:
        found = step(node)
        if found is None:
            break
        node, name = found
        names.append(name)
        if len(names) > 3:
            return None
    if type(node) is not Ident:
        return None
    name = node.name
    if name in aliases:
        start = aliases[name]
        if start is None:
            return None
        known = ([start.field] if start.field else []) + list(start.names)
    elif name.removeprefix(".") == "device":
        known = []
    else:
        return None
    parts = [*known, *reversed(names)]
    if not parts:
        return Path()
    field, rest = parts[0], tuple(parts[1:])
    if field in {"attributes", "capacity"}:
        return Path(field, rest) if len(rest) <= 2 else None
    return Path(field) if field in {"driver", "allowMultipleAllocations"} and not rest else None
