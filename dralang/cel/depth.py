"""Deep expressions: Kubernetes' limit on nesting, and room for Python to walk what is below it."""

import contextlib
import sys
from collections.abc import Iterator

from dralang.cel.tree import Node


class RecursionLimitError(Exception):
    """Nested deeper than Kubernetes parses."""


def check_depth(text: str) -> None:
    """Raise if the parser of Kubernetes would give up on the nesting.

    Raises:
        RecursionLimitError: it would; the text is its message.
    """


def depth_of(root: Node) -> int:
    """How many levels a tree has."""
    depth = 0
    level = [root]
    while level:
        depth += 1
        level = [child for node in level for child in node.children()]
    return depth


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
