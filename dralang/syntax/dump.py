"""A tree as one line of text, without places and comments: what two readings of a scenario have in common."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec import Struct

from dralang.syntax.nodes import File, Node


def dump(node: Node) -> str:
    """The S-expression of a tree: ``(Use (Word "std.x" false) -)``.

    A node is its type and the values of its fields in their order; spans, sources and comments are left out. Two trees
    have the same dump exactly when they say the same. Needs no Python stack.
    """
    written: list[str] = []
    write = written.append
    # Of each open node or tuple, what is still to be written, and its closing bracket.
    open_parts: list[tuple[Iterator[Any], str]] = [(iter((node,)), "")]
    space = ""
    while open_parts:
        parts, closing = open_parts[-1]
        for part in parts:
            if isinstance(part, Struct):
                kind = type(part)
                write(f"{space}({kind.__name__}")
                open_parts.append((iter([getattr(part, name) for name in _fields(kind)]), ")"))
                space = " "
                break
            if type(part) is tuple:
                write(f"{space}[")
                open_parts.append((iter(part), "]"))
                space = ""
                break
            write(space + _scalar(part))
            space = " "
        else:
            write(closing)
            open_parts.pop()
            space = " "
    return "".join(written)


def _scalar(part: Any) -> str:
    if type(part) is str:
        # Quoted and escaped, so that a text cannot be confused with anything else.
        return json.dumps(part)
    return "-" if part is None else str(part).lower()


@cache
def _fields(kind: type[Struct]) -> tuple[str, ...]:
    """The fields of a type of node that say something."""
    # What stands twice in a scenario's head is a mistake that ``check`` reports, no part of what the scenario says.
    silent = {"span", "source", "comments"} if kind is File else {"span", "repeated"}
    return tuple([name for name in kind.__struct_fields__ if name not in silent])
