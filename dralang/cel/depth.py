"""Deep expressions: Kubernetes' limit on nesting, and room for Python to walk what is below it."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Final

from dralang.cel.tree import Call, Comprehension, Node, Select


class RecursionLimitError(Exception):
    """Nested deeper than Kubernetes parses; the text is its message."""


def depth_of(root: Node) -> int:
    """How many levels a tree has."""
    depth = 0
    level = [root]
    while level:
        depth += 1
        level = [child for node in level for child in node.children()]
    return depth


_NOT_COUNTED: Final = frozenset({"_&&_", "_||_", "!_", "-_"})


def walking_depth(root: Node) -> int:
    """How deep Kubernetes' parser recurses when it walks what it has parsed.

    It counts selections, member calls, indices, comparisons, arithmetic and ``?:``; a macro counts once, whatever it
    expands to.
    """
    deepest = 0
    todo: list[tuple[Node, int, int]] = [(root, 0, -1)]
    while todo:
        node, depth, expanded_at = todo.pop()
        if node.pos != expanded_at and _counts(node):
            depth += 1
        deepest = max(deepest, depth)
        below = node.pos if isinstance(node, Comprehension) else expanded_at
        todo.extend((child, depth, below) for child in node.children())
    return deepest


def _counts(node: Node) -> bool:
    if isinstance(node, Call):
        operator = node.function.startswith(("_", "@")) and node.function not in _NOT_COUNTED
        return operator or node.target is not None
    return isinstance(node, (Select, Comprehension))


@contextlib.contextmanager
def room_for(depth: int) -> Iterator[None]:
    """Let Python recurse through a tree of that depth, whatever the limit outside."""
    needed = depth * 4 + 1000
    before = sys.getrecursionlimit()
    if before >= needed:
        yield
        return
    sys.setrecursionlimit(needed)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
