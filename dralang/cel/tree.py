"""The core syntax tree: what is left of an expression when its macros are expanded.

Nodes carry the place of the token to which Kubernetes attaches its errors, and get their type and overloads from the
checker. They live only while one expression is compiled, which is why they are not frozen.
"""

from dralang.cel.types import ERROR, Type
from dralang.cel.values import Value


class Node:
    """Base of all nodes; ``pos`` is a code point offset, ``type`` is set by the checker."""

    __slots__ = ("pos", "type")

    def __init__(self, pos: int) -> None:
        self.pos = pos
        self.type: Type = ERROR

    def children(self) -> list["Node"]:
        """The nodes directly below, in the order in which the checker visits them."""
        return []


class Literal(Node):
    """A scalar written in the text; ``number`` keeps how, while a sign before it may still belong to it."""

    __slots__ = ("number", "value")

    def __init__(self, pos: int, value: Value, number: str = "") -> None:
        super().__init__(pos)
        self.value = value
        self.number = number


class Ident(Node):
    """A name."""

    __slots__ = ("name",)

    def __init__(self, pos: int, name: str) -> None:
        super().__init__(pos)
        self.name = name


class Select(Node):
    """``operand.field``, or ``has(operand.field)`` if ``test``."""

    __slots__ = ("field", "operand", "test")

    def __init__(self, pos: int, operand: Node, field: str, *, test: bool = False) -> None:
        super().__init__(pos)
        self.operand = operand
        self.field = field
        self.test = test

    def children(self) -> list[Node]:
        """The operand."""
        return [self.operand]


class Call(Node):
    """A function, an operator or a member function (then ``target`` is set).

    ``&&`` and ``||`` have any number of arguments. ``overloads`` are the ids that the checker found possible.
    """

    __slots__ = ("args", "function", "overloads", "target")

    def __init__(self, pos: int, function: str, args: list[Node], target: Node | None = None) -> None:
        super().__init__(pos)
        self.function = function
        self.args = args
        self.target = target
        self.overloads: tuple[str, ...] = ()

    def children(self) -> list[Node]:
        """Target and arguments."""
        return self.args if self.target is None else [self.target, *self.args]

    def operands(self) -> list[Node]:
        """Same as ``children``: the values that the function is called with."""
        return self.args if self.target is None else [self.target, *self.args]


class ListLiteral(Node):
    """``[a, ?b]``; ``optionals`` holds the indices marked with ``?``."""

    __slots__ = ("elements", "optionals")

    def __init__(self, pos: int, elements: list[Node], optionals: frozenset[int] = frozenset()) -> None:
        super().__init__(pos)
        self.elements = elements
        self.optionals = optionals

    def children(self) -> list[Node]:
        """The elements."""
        return self.elements


class Entry:
    """One ``key: value`` of a map literal."""

    __slots__ = ("key", "optional", "value")

    def __init__(self, key: Node, value: Node, *, optional: bool) -> None:
        self.key = key
        self.value = value
        self.optional = optional


class MapLiteral(Node):
    """``{k: v, ?k: v}``."""

    __slots__ = ("entries",)

    def __init__(self, pos: int, entries: list[Entry]) -> None:
        super().__init__(pos)
        self.entries = entries

    def children(self) -> list[Node]:
        """Keys and values in turn."""
        return [node for entry in self.entries for node in (entry.key, entry.value)]


class Message(Node):
    """``name{...}``: no message type exists in the environment, so it never compiles."""

    __slots__ = ("name",)

    def __init__(self, pos: int, name: str) -> None:
        super().__init__(pos)
        self.name = name


class Comprehension(Node):
    """A fold, as the macros expand to it; ``macro`` remembers which macro it was, for the code generator."""

    __slots__ = ("accu_init", "accu_var", "condition", "iter_range", "iter_var", "iter_var2", "macro", "result", "step")

    def __init__(
        self,
        pos: int,
        macro: str,
        iter_range: Node,
        iter_var: str,
        iter_var2: str,
        accu_var: str,
        accu_init: Node,
        condition: Node,
        step: Node,
        result: Node,
    ) -> None:
        super().__init__(pos)
        self.macro = macro
        self.iter_range = iter_range
        self.iter_var = iter_var
        self.iter_var2 = iter_var2
        self.accu_var = accu_var
        self.accu_init = accu_init
        self.condition = condition
        self.step = step
        self.result = result

    def children(self) -> list[Node]:
        """Range, start, condition, step and result."""
        return [self.iter_range, self.accu_init, self.condition, self.step, self.result]

    @property
    def is_bind(self) -> bool:
        """Whether it only names a value (``cel.bind`` and its like), without a loop."""
        return self.macro == "bind"


def makes_map(node: Node) -> bool:
    """Whether it is a map written in the expression."""
    while isinstance(node, Call) and node.function == "dyn":
        node = node.args[0]
    return isinstance(node, MapLiteral)


def copy_of(node: Node) -> Node:
    """A copy of the tree below a node, as ``optMap`` needs it for its second use of the target."""
    if isinstance(node, Literal):
        return Literal(node.pos, node.value)
    if isinstance(node, Ident):
        return Ident(node.pos, node.name)
    if isinstance(node, Select):
        return Select(node.pos, copy_of(node.operand), node.field, test=node.test)
    if isinstance(node, Call):
        target = None if node.target is None else copy_of(node.target)
        return Call(node.pos, node.function, [copy_of(arg) for arg in node.args], target)
    if isinstance(node, ListLiteral):
        return ListLiteral(node.pos, [copy_of(element) for element in node.elements], node.optionals)
    if isinstance(node, MapLiteral):
        entries = [Entry(copy_of(item.key), copy_of(item.value), optional=item.optional) for item in node.entries]
        return MapLiteral(node.pos, entries)
    if isinstance(node, Comprehension):
        return Comprehension(
            node.pos,
            node.macro,
            copy_of(node.iter_range),
            node.iter_var,
            node.iter_var2,
            node.accu_var,
            copy_of(node.accu_init),
            copy_of(node.condition),
            copy_of(node.step),
            copy_of(node.result),
        )
    # What an error left, or a message: nothing below it is ever looked at.
    return node
