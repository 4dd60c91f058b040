"""All nodes of a tree, in the order in which their text begins."""

from collections.abc import Iterator

from dralang.syntax.nodes import Node


def children(node: Node) -> list[Node]:
    """The nodes directly below a node, in source order.

    Nodes that no text stands for (their spans are equal and empty) keep the order of the fields.
    """
    found: list[Node] = []
    for name in node.__struct_fields__:
        value = getattr(node, name)
        if isinstance(value, Node):
            found.append(value)
        elif type(value) is tuple:
            found.extend([item for item in value if isinstance(item, Node)])
    if len(found) > 1:
        found.sort(key=_start)
    return found


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, parents first, in source order.

    Needs no Python stack: a tree may be as deep as its text is long (``maybe maybe maybe ...``).
    """
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(children(current)))


def _start(node: Node) -> int:
    return node.span.start
