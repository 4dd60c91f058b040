"""Macros: calls that are really loops, presence tests and names for values.

They are expanded exactly as cel-go expands them, because types, costs and errors are those of the expansion.

Source: cel-go parser/macro.go, ext/bindings.go, ext/comprehensions.go, ext/lists.go (sortBy), cel/library.go (optMap).
"""

from collections.abc import Callable
from typing import Final

from dralang.cel.tree import Call, Comprehension, Ident, ListLiteral, Literal, MapLiteral, Node, Select, copy_of

ACCUMULATOR: Final = "@result"
UNUSED: Final = "#unused"
_RESERVED: Final = frozenset({ACCUMULATOR, "__result__"})


class MacroError(Exception):
    """Arguments that the macro cannot use."""

    def __init__(self, pos: int, message: str) -> None:
        super().__init__(message)
        self.pos = pos
        self.message = message


Expander = Callable[[int, Node | None, list[Node]], Node | None]
"""Place of the call, receiver, arguments; gives the expansion, or None to leave the call alone."""


def _accu(pos: int) -> Ident:
    return Ident(pos, ACCUMULATOR)


def _variable(node: Node, message: str) -> str:
    if not isinstance(node, Ident):
        raise MacroError(node.pos, message)
    if node.name in _RESERVED:
        raise MacroError(node.pos, "iteration variable overwrites accumulator variable")
    return node.name


def _two_variables(args: list[Node]) -> tuple[str, str]:
    for node in args[:2]:
        if not isinstance(node, Ident):
            raise MacroError(node.pos, "argument must be a simple name")
    first, second = args[0], args[1]
    assert isinstance(first, Ident)
    assert isinstance(second, Ident)
    if first.name == second.name:
        raise MacroError(second.pos, f"duplicate variable name: {first.name}")
    return (
        _variable(first, "argument must be a simple name"),
        _variable(second, "argument must be a simple name"),
    )


def _fold(
    pos: int, macro: str, target: Node, names: tuple[str, str], parts: tuple[Node, Node, Node, Node]
) -> Comprehension:
    init, condition, step, result = parts
    return Comprehension(pos, macro, target, names[0], names[1], ACCUMULATOR, init, condition, step, result)


def _quantifier(macro: str, pos: int, target: Node, names: tuple[str, str], predicate: Node) -> Node:
    if macro == "all":
        parts: tuple[Node, Node, Node, Node] = (
            Literal(pos, value=True),
            Call(pos, "@not_strictly_false", [_accu(pos)]),
            Call(pos, "_&&_", [_accu(pos), predicate]),
            _accu(pos),
        )
    elif macro == "exists":
        parts = (
            Literal(pos, value=False),
            Call(pos, "@not_strictly_false", [Call(pos, "!_", [_accu(pos)])]),
            Call(pos, "_||_", [_accu(pos), predicate]),
            _accu(pos),
        )
    else:
        parts = (
            Literal(pos, 0),
            Literal(pos, value=True),
            Call(pos, "_?_:_", [predicate, Call(pos, "_+_", [_accu(pos), Literal(pos, 1)]), _accu(pos)]),
            Call(pos, "_==_", [_accu(pos), Literal(pos, 1)]),
        )
    return _fold(pos, macro, target, names, parts)


def _one_variable_quantifier(macro: str) -> Expander:
    def expand(pos: int, target: Node | None, args: list[Node]) -> Node:
        assert target is not None
        return _quantifier(macro, pos, target, (_variable(args[0], "argument must be a simple name"), ""), args[1])

    return expand


def _two_variable_quantifier(macro: str) -> Expander:
    def expand(pos: int, target: Node | None, args: list[Node]) -> Node:
        assert target is not None
        return _quantifier(macro, pos, target, _two_variables(args), args[2])

    return expand


def _collect(
    pos: int, macro: str, target: Node, names: tuple[str, str], transform: Node, predicate: Node | None
) -> Node:
    step: Node = Call(pos, "_+_", [_accu(pos), ListLiteral(pos, [transform])])
    if predicate is not None:
        step = Call(pos, "_?_:_", [predicate, step, _accu(pos)])
    return _fold(pos, macro, target, names, (ListLiteral(pos, []), Literal(pos, value=True), step, _accu(pos)))


def _map(pos: int, target: Node | None, args: list[Node]) -> Node:
    assert target is not None
    name = _variable(args[0], "argument is not an identifier")
    predicate = args[1] if len(args) == 3 else None
    return _collect(pos, "map", target, (name, ""), args[-1], predicate)


def _filter(pos: int, target: Node | None, args: list[Node]) -> Node:
    assert target is not None
    name = _variable(args[0], "argument is not an identifier")
    return _collect(pos, "filter", target, (name, ""), args[0], args[1])


def _transform_list(pos: int, target: Node | None, args: list[Node]) -> Node:
    assert target is not None
    predicate = args[2] if len(args) == 4 else None
    return _collect(pos, "map", target, _two_variables(args), args[-1], predicate)


def _transform_map(pos: int, target: Node | None, args: list[Node]) -> Node:
    assert target is not None
    names = _two_variables(args)
    step: Node = Call(pos, "cel.@mapInsert", [_accu(pos), Ident(pos, names[0]), args[-1]])
    return _collect_map(pos, target, names, step, args[2] if len(args) == 4 else None)


def _transform_entry(pos: int, target: Node | None, args: list[Node]) -> Node:
    assert target is not None
    names = _two_variables(args)
    step: Node = Call(pos, "cel.@mapInsert", [_accu(pos), args[-1]])
    return _collect_map(pos, target, names, step, args[2] if len(args) == 4 else None)


def _collect_map(pos: int, target: Node, names: tuple[str, str], step: Node, predicate: Node | None) -> Node:
    if predicate is not None:
        step = Call(pos, "_?_:_", [predicate, step, _accu(pos)])
    parts = (MapLiteral(pos, []), Literal(pos, value=True), step, _accu(pos))
    return _fold(pos, "transform", target, names, parts)


def _has(pos: int, _target: Node | None, args: list[Node]) -> Node:
    argument = args[0]
    if not isinstance(argument, Select):
        raise MacroError(argument.pos, "invalid argument to has() macro")
    return Select(pos, argument.operand, argument.field, test=True)


def _named(pos: int, name: str, init: Node, result: Node) -> Node:
    return Comprehension(
        pos,
        "bind",
        ListLiteral(pos, []),
        UNUSED,
        "",
        name,
        init,
        Literal(pos, value=False),
        Ident(pos, name),
        result,
    )


def _bind(pos: int, target: Node | None, args: list[Node]) -> Node | None:
    if not isinstance(target, Ident) or target.name != "cel":
        return None
    if not isinstance(args[0], Ident):
        raise MacroError(args[0].pos, "cel.bind() variable names must be simple identifiers")
    return _named(pos, args[0].name, args[1], args[2])


def _optional_map(name: str, *, wrap: bool) -> Expander:
    def expand(pos: int, target: Node | None, args: list[Node]) -> Node:
        assert target is not None
        if not isinstance(args[0], Ident):
            raise MacroError(args[0].pos, f"{name}() variable name must be a simple identifier")
        inner = _named(pos, args[0].name, Call(pos, "value", [], copy_of(target)), args[1])
        if wrap:
            inner = Call(pos, "optional.of", [inner])
        return Call(pos, "_?_:_", [Call(pos, "hasValue", [], target), inner, Call(pos, "optional.none", [])])

    return expand


_SORT_INPUT: Final = "@__sortBy_input__"


def _sort_by(pos: int, target: Node | None, args: list[Node]) -> Node:
    assert target is not None
    if not isinstance(target, (ListLiteral, Select, Ident, Comprehension, Call)):
        raise MacroError(
            target.pos, "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        )
    keys = _map(pos, Ident(pos, _SORT_INPUT), args)
    return _named(pos, _SORT_INPUT, target, Call(pos, "@sortByAssociatedKeys", [keys], Ident(pos, _SORT_INPUT)))


_GLOBAL: Final[dict[tuple[str, int], Expander]] = {("has", 1): _has}
_BASE: Final[dict[tuple[str, int], Expander]] = {
    ("all", 2): _one_variable_quantifier("all"),
    ("exists", 2): _one_variable_quantifier("exists"),
    ("exists_one", 2): _one_variable_quantifier("exists_one"),
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("bind", 3): _bind,
    ("all", 3): _two_variable_quantifier("all"),
    ("exists", 3): _two_variable_quantifier("exists"),
    ("exists_one", 3): _two_variable_quantifier("exists_one"),
    ("existsOne", 3): _two_variable_quantifier("exists_one"),
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_entry,
    ("transformMapEntry", 4): _transform_entry,
    ("optMap", 2): _optional_map("optMap", wrap=True),
    ("optFlatMap", 2): _optional_map("optFlatMap", wrap=False),
}
_LISTS: Final[dict[tuple[str, int], Expander]] = {("sortBy", 2): _sort_by}


def macro_names() -> set[str]:
    """The names of all macros."""
    return {name for name, _ in (*_GLOBAL, *_BASE, *_LISTS)}


def global_macro(name: str, count: int) -> Expander | None:
    """The macro of that name and number of arguments, if there is one."""
    return _GLOBAL.get((name, count))


def member_macro(name: str, count: int, *, lists: bool) -> Expander | None:
    """Same for macros with a receiver; ``lists``: with those of the list library."""
    found = _BASE.get((name, count))
    if found is None and lists:
        found = _LISTS.get((name, count))
    return found
