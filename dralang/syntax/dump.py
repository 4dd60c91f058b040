"""A tree as one line of text, without places and comments: what two readings of a scenario have in common."""

import json
from typing import Any

from msgspec import Struct

from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax.nodes import Node
from dralang.syntax.tokens import Comment


def dump(node: Node) -> str:
    """The S-expression of a tree: ``(Use (Word "std.x" false) -)``.

    A node is its type and the values of its fields in their order; spans, sources and comments are left out. Two trees
    have the same dump exactly when they say the same. Needs no Python stack.
    """
    written: list[str] = []
    # A stack of what is still to be written; plain strings are written as they are.
    waiting: list[Any] = [node]
    while waiting:
        value = waiting.pop()
        if type(value) is str:
            written.append(value)
            continue
        parts: list[Any] = [type(value).__name__] if isinstance(value, Struct) else []
        for part in _values(value):
            if parts:
                parts.append(" ")
            parts.append(part if isinstance(part, (Struct, tuple)) else _scalar(part))
        opening, closing = ("[", "]") if type(value) is tuple else ("(", ")")
        waiting.append(closing)
        waiting.extend(reversed(parts))
        waiting.append(opening)
    return "".join(written)


def _values(value: Any) -> list[Any]:
    if type(value) is tuple:
        return [item for item in value if not isinstance(item, Comment)]
    return [
        part
        for part in [getattr(value, name) for name in value.__struct_fields__ if name != "comments"]
        if not isinstance(part, (Span, SourceFile))
    ]


def _scalar(value: Any) -> str:
    """A leaf; texts are quoted and escaped, so that they cannot be confused with anything else."""
    if value is None:
        return "-"
    return json.dumps(value)
