"""CEL over API-shaped objects, for expectations: the same language as device expressions, with other variables.

Variables are maps of JSON with dynamic types. Names are checked when an expression is compiled; it is compiled once.
Where it is false, ``deciding`` says which part made it so, with the values on both sides.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from dralang.cel import types
from dralang.cel.check import Checker, Scope
from dralang.cel.declarations import functions
from dralang.cel.depth import depth_of, room_for
from dralang.cel.interpret import Plan, Planner, Run
from dralang.cel.issues import CompileError, Issues
from dralang.cel.parse import parse
from dralang.cel.tree import Call, Comprehension, Ident, Node, Select
from dralang.cel.values import Abort, CelError, Value
from dralang.spelling import nearest

COST_LIMIT: Final = 50_000_000
"""Objects are larger than devices; an expectation may look at all of them."""

_ROOT: Final = "device"
_MINOR: Final = 38


class ObjectExpressionError(Exception):
    """An expression that cannot be compiled or evaluated.

    Attributes:
        offset: where in the expression, 0-based; None if that is not known.
        help: the way out, or empty.
    """

    def __init__(self, message: str, offset: int | None = None, way_out: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.help = way_out


class ObjectExpression:
    """A compiled expression over some variables."""

    __slots__ = ("_depth", "_plan", "_tree", "names", "text")

    def __init__(self, text: str, tree: Node, plan: Plan, depth: int, names: frozenset[str]) -> None:
        self.text = text
        self.names = names
        """The variables that it reads."""
        self._tree = tree
        self._plan = plan
        self._depth = depth

    def evaluate(self, variables: Mapping[str, Any]) -> Value:
        """Its value; ``variables`` hold JSON in the form of ``cel_value``.

        Raises:
            ObjectExpressionError: it fails on these values.
        """
        try:
            with room_for(self._depth):
                value = self._plan(Run(dict(variables), COST_LIMIT), None)
        except (Abort, CelError) as problem:
            raise ObjectExpressionError(problem.message) from None
        if type(value) is CelError:
            raise ObjectExpressionError(value.message)
        return value

    def deciding(self, variables: Mapping[str, Any]) -> str:
        """For a false expression: the innermost comparison that decided, with its values; else empty."""
        with room_for(self._depth):
            node = self._tree
            while isinstance(node, Call) and node.function in ("_&&_", "_||_"):
                false = [each for each in node.operands() if _part(each, variables) is False]
                if not false:
                    return ""
                node = false[0]
            if not isinstance(node, Call) or len(node.operands()) != 2:
                return ""
            left, right = [_part(each, variables) for each in node.operands()]
        if isinstance(left, CelError) or isinstance(right, CelError):
            return ""
        return f"{_shown(left)} {node.function.strip('_@')} {_shown(right)}"


def _part(node: Node, variables: Mapping[str, Any]) -> Value:
    """The value of a part that stands in no comprehension."""
    try:
        return Planner(minor=_MINOR).plan(node)(Run(dict(variables), COST_LIMIT), None)
    except CelError as problem:
        return problem
    except Abort as problem:
        return CelError(problem.message)


def _shown(value: Value) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, bool) or value is None:
        return str(value).lower().replace("none", "null")
    if isinstance(value, tuple):
        return "[" + ", ".join(_shown(each) for each in value[:5]) + (", ...]" if len(value) > 5 else "]")
    if isinstance(value, dict):
        keys = ", ".join(sorted(map(str, value))[:5])
        return f"{{{keys}{', ...' if len(value) > 5 else ''}}}"
    return str(value)


def cel_value(json: Any) -> Value:
    """JSON as CEL sees it: lists as tuples, maps as they are."""
    if isinstance(json, dict):
        return {key: cel_value(each) for key, each in json.items()}
    if isinstance(json, list | tuple):
        return tuple([cel_value(each) for each in json])
    return json


@lru_cache(maxsize=512)
def compile_object_expression(text: str, variables: tuple[str, ...]) -> ObjectExpression:
    """Compile an expression that may use these variables, each a map from text to anything.

    Raises:
        ObjectExpressionError: it does not compile, or can never be a boolean.
    """
    try:
        tree = parse(text)
        names: set[str] = set()
        tree = _rooted(tree, frozenset(variables), frozenset(), names)
        depth = depth_of(tree)
        with room_for(depth):
            issues = Issues(text)
            Checker(_scope(variables), issues).run(tree)
            issues.raise_if_any()
            plan = Planner(minor=_MINOR).plan(tree)
    except CompileError as error:
        raise _for_people(error, variables) from None
    except CelError as error:
        raise ObjectExpressionError(error.message) from None
    if tree.type.kind not in ("bool", "dyn", "any"):
        raise ObjectExpressionError(f"an expectation is true or false; this is a {tree.type.display()}")
    return ObjectExpression(text, tree, plan, depth, frozenset(names))


@lru_cache(maxsize=8)
def _scope(variables: tuple[str, ...]) -> Scope:
    fields = {name: types.map_of(types.STRING, types.DYN) for name in variables}
    known = functions(lists=True, includes=True)
    return Scope(known, fields, container="", strict=True)


def _rooted(node: Node, variables: frozenset[str], local: frozenset[str], names: set[str]) -> Node:
    """The tree with every variable as a field of the one root that the engine knows."""
    if isinstance(node, Ident):
        if node.name in variables and node.name not in local:
            names.add(node.name)
            return Select(node.pos, Ident(node.pos, _ROOT), node.name)
        if node.name == _ROOT and node.name not in local:
            # Not a variable here; under another name the checker says so.
            return Ident(node.pos, f"{_ROOT}?")
        return node
    if isinstance(node, Comprehension):
        inner = local | {node.iter_var, node.iter_var2, node.accu_var}
        node.iter_range = _rooted(node.iter_range, variables, local, names)
        node.accu_init = _rooted(node.accu_init, variables, local, names)
        node.condition = _rooted(node.condition, variables, inner, names)
        node.step = _rooted(node.step, variables, inner, names)
        node.result = _rooted(node.result, variables, inner, names)
        return node
    return _rooted_parts(node, variables, local, names)


def _rooted_parts(node: Node, variables: frozenset[str], local: frozenset[str], names: set[str]) -> Node:
    from_tree = _rooted
    if isinstance(node, Select):
        node.operand = from_tree(node.operand, variables, local, names)
    elif isinstance(node, Call):
        node.args = [from_tree(each, variables, local, names) for each in node.args]
        if node.target is not None:
            node.target = from_tree(node.target, variables, local, names)
    else:
        _rooted_literal(node, variables, local, names)
    return node


def _rooted_literal(node: Node, variables: frozenset[str], local: frozenset[str], names: set[str]) -> None:
    elements = getattr(node, "elements", None)
    if elements is not None:
        node.elements = [_rooted(each, variables, local, names) for each in elements]  # type: ignore[attr-defined]
    for entry in getattr(node, "entries", ()):
        entry.key = _rooted(entry.key, variables, local, names)
        entry.value = _rooted(entry.value, variables, local, names)


def _for_people(error: CompileError, variables: tuple[str, ...]) -> ObjectExpressionError:
    if not error.issues:
        return ObjectExpressionError(error.message)
    first = error.issues[0]
    message = first.message
    way_out = ""
    if message.startswith("undeclared reference to '"):
        name = message.split("'")[1].removesuffix("?")
        near = nearest(name, variables)
        message = f"there is no variable or function `{name}`"
        way_out = f"did you mean `{near}`?" if near else f"variables are {', '.join(variables)}"
    return ObjectExpressionError(message, first.offset if first.offset >= 0 else None, way_out)
