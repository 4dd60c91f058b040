"""A second evaluator, to check the first: cel-python's interpreter, with Kubernetes' operators and functions.

The walk over the tree, logic, macros, variables and look-ups are cel-python's; operators and functions are those of
the library here, for cel-python's own differ from cel-go in many places. What compiles is decided by our checker,
since cel-python has none. Where cel-python is known to be wrong or knows no syntax, ``unsound_for`` says so.

cel-python is imported with this module, which is why nothing else imports it.
"""

import re
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, Final

import celpy
from celpy import celtypes
from celpy.celparser import CELParseError
from celpy.evaluation import CELEvalError, Evaluator
from lark import Tree

from dralang.api.expressions import ExpressionError, PreparedDevice
from dralang.api.resourceslice import Device, DeviceAttribute
from dralang.cel.declarations import all_overloads
from dralang.cel.device import AnyPrepared, prepare, prepare_for
from dralang.cel.environment import Environment
from dralang.cel.evaluate import EvaluationError, as_attribute, as_bool
from dralang.cel.expressions import CelExpressions
from dralang.cel.issues import CompileError
from dralang.cel.library import SINGLETONS, resolve
from dralang.cel.paths import path_of
from dralang.cel.program import Compiled, Purpose, compile_expression
from dralang.cel.tree import Call, Comprehension, ListLiteral, MapLiteral, Node, Select
from dralang.cel.types import BOOL
from dralang.cel.values import Abort, CelError, DomainMap, TypeValue, Uint, Value

_MAX_DEPTH: Final = 25
_RECURSION: Final = 10_000
_ODD_TEXT: Final = re.compile(r"""\\(?!["'\\nrt])|[rR]["']|""\"|\'\'\'|,\s*[\])}]|\b[0-9]+\.(?![0-9])|`|//""")
_MISSING: Final = re.compile(r"no such member in mapping: '(.*)'")
_OPTIONAL: Final = frozenset({"_?._", "_[?_]", "or", "orValue", "hasValue", "value"})
_ONE_VARIABLE: Final = frozenset({"all", "exists", "exists_one", "filter", "map"})
_OPERATORS: Final = frozenset(
    {"!_", "-_", "_+_", "_-_", "_*_", "_/_", "_%_", "_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_", "_[_]"}
)


class _Text(celtypes.StringType):
    """A string over which macros do not iterate."""

    def __iter__(self) -> Any:
        raise TypeError("a string is no range")


class _Domains(celtypes.MapType):
    """Attributes or capacities by domain: an unknown domain is an empty map."""

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(key) if key in self else celtypes.MapType()


def to_celpy(value: Value) -> Any:
    """A value of ours as one of cel-python's; those it has no type for stay as they are."""
    kind = type(value)
    if kind is bool:
        return celtypes.BoolType(value)
    if kind is int:
        return celtypes.IntType(value)
    if kind is Uint:
        return celtypes.UintType(value)
    if kind is float:
        return celtypes.DoubleType(value)
    if kind is str:
        return _Text(value)
    if kind is bytes:
        return celtypes.BytesType(value)
    if kind is tuple:
        return celtypes.ListType([to_celpy(item) for item in value])
    if isinstance(value, dict):
        made = _Domains() if kind is DomainMap else celtypes.MapType()
        for key, item in value.items():
            made[to_celpy(key)] = to_celpy(item)
        return made
    return value


_PLAIN: Final[tuple[tuple[type, Callable[[Any], Value]], ...]] = (
    (celtypes.BoolType, bool),
    (celtypes.UintType, Uint),
    (celtypes.IntType, int),
    (celtypes.DoubleType, float),
    (celtypes.StringType, str),
    (celtypes.BytesType, bytes),
)
_TYPE_NAMES: Final[dict[Any, str]] = {
    celtypes.BoolType: "bool",
    celtypes.BytesType: "bytes",
    celtypes.DoubleType: "double",
    celtypes.IntType: "int",
    celtypes.ListType: "list",
    celtypes.MapType: "map",
    celtypes.StringType: "string",
    celtypes.UintType: "uint",
    celtypes.TypeType: "type",
    type(None): "null_type",
}


def from_celpy(value: Any) -> Value:
    """A value of cel-python's as one of ours."""
    for kind, convert in _PLAIN:
        if isinstance(value, kind):
            return convert(value)
    if isinstance(value, celtypes.ListType):
        return tuple(from_celpy(item) for item in value)
    if isinstance(value, celtypes.MapType):
        made = DomainMap() if isinstance(value, _Domains) else {}
        made.update((from_celpy(key), from_celpy(item)) for key, item in value.items())
        return made
    if isinstance(value, type):
        return TypeValue(_TYPE_NAMES.get(value, value.__name__))
    if isinstance(value, FunctionType):
        # The names of types are those of the functions that convert to them.
        return TypeValue(value.__name__)
    return value


def _wrapped(name: str, call: Callable[..., Value]) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        for arg in args:
            if isinstance(arg, CELEvalError):
                return arg
        try:
            return to_celpy(call(*(from_celpy(arg) for arg in args)))
        except (CelError, Abort) as problem:
            return CELEvalError(problem.message)

    function.__name__ = name
    return function


def _functions() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {"_in_": _wrapped("_in_", SINGLETONS["@in"])}
    for name, overloads in all_overloads().items():
        if name in _OPERATORS or (name[0].isalpha() and "." not in name):
            found[name] = _wrapped(name, resolve(name, tuple(overloads)))
    return found


class _Evaluator(Evaluator):
    """cel-python's evaluator; what escapes from its macros as an exception becomes an error value, as for functions."""

    def sub_evaluator(self, ast: Tree[Any]) -> Evaluator:
        return _Evaluator(ast, activation=self.activation)

    def member_dot_arg(self, tree: Tree[Any]) -> Any:
        try:
            return super().member_dot_arg(tree)
        except CELEvalError as problem:
            return problem
        except (TypeError, ValueError) as problem:
            return CELEvalError(str(problem))


class _Runner(celpy.InterpretedRunner):
    def evaluate(self, context: Any) -> Any:
        return _Evaluator(ast=self.ast, activation=self.new_activation()).evaluate(context)


class _Parser:
    """cel-python's environment; the recursion limit that it changes is put back."""

    def __init__(self) -> None:
        limit = sys.getrecursionlimit()
        try:
            self.environment = celpy.Environment(runner_class=_Runner)
        finally:
            sys.setrecursionlimit(limit)
        self.functions = _functions()

    def runner(self, text: str) -> celpy.Runner:
        return self.environment.program(self.environment.compile(text), functions=self.functions)


class _ReadyDevice:
    """A device as cel-python's value, made once, beside ours."""

    __slots__ = ("ours", "problem", "value")

    def __init__(self, device: AnyPrepared) -> None:
        self.ours = device
        self.problem = device.problem
        self.value = to_celpy(device.whole)


class ReferenceExpressions:
    """Expressions of one environment, evaluated by cel-python.

    Implements ``dralang.api.expressions.DeviceExpressions``. What cel-python cannot read does not compile here.

    Args:
        environment: of the expressions.
        ours: takes over where cel-python is no judge: for expressions that ``unsound_for`` names, and for the text of
            an error where both evaluators end in one. Without it cel-python answers everything.

    Attributes:
        left: the expressions that were left to ours, and why.
    """

    def __init__(self, environment: Environment | None = None, ours: CelExpressions | None = None) -> None:
        self.environment = Environment() if environment is None else environment
        self.left: dict[str, str] = {}
        self._ours = ours
        self._parser = _Parser()
        self._runners: dict[tuple[Purpose, str], celpy.Runner] = {}

    def prepare(self, driver: str, device: Device) -> PreparedDevice:
        """Return the device in the form in which expressions see it."""
        return _ReadyDevice(prepare_for(self.environment, driver, device))

    def prepare_as(self, driver: str, device: Device, *, forgiving: bool) -> PreparedDevice:
        """Return the device in the form in which expressions see it, whatever the version does with bad attributes."""
        return _ReadyDevice(prepare(driver, device, lists=self.environment.list_attributes, lazy=forgiving))

    def selector(self, expression: str) -> Callable[[PreparedDevice], bool]:
        """Return the compiled selector.

        Raises:
            ExpressionError: it does not compile.
        """
        ours = None if self._ours is None else self._ours.selector(expression)
        return self._function(expression, "selector", as_bool, ours)

    def derived(self, expression: str) -> Callable[[PreparedDevice], DeviceAttribute]:
        """Return the compiled derived attribute.

        Raises:
            ExpressionError: it does not compile.
        """
        ours = None if self._ours is None else self._ours.derived(expression)
        return self._function(expression, "derived", as_attribute, ours)

    def _function(
        self, text: str, purpose: Purpose, convert: Callable[[Value], Any], ours: Callable[[Any], Any] | None
    ) -> Callable[[Any], Any]:
        if ours is not None and self._is_left(text, purpose):
            return lambda device: ours(device.ours)
        runner = self._runners.get((purpose, text))
        if runner is None:
            try:
                compile_expression(text, self.environment, purpose)
                runner = self._parser.runner(text)
            except (CompileError, CELParseError) as problem:
                raise ExpressionError(str(problem), "compile") from None
            self._runners[(purpose, text)] = runner

        def evaluate(device: _ReadyDevice) -> Any:
            if device.problem:
                raise ExpressionError(device.problem, "runtime")
            try:
                return convert(from_celpy(_run(runner, device)))
            except EvaluationError as problem:
                error = ExpressionError(problem.message, "runtime")
            if ours is not None:
                # If ours fails as well, it says why: cel-python has texts of its own.
                ours(device.ours)
            raise error

        return evaluate

    def _is_left(self, text: str, purpose: Purpose) -> bool:
        """Whether an expression that compiles is nothing for cel-python."""
        if text in self.left:
            return True
        reason = unsound_for(compile_expression(text, self.environment, purpose))
        if reason:
            self.left[text] = reason
        return bool(reason)


def _run(runner: celpy.Runner, device: _ReadyDevice) -> Any:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, _RECURSION))
    try:
        return runner.evaluate({"device": device.value})
    except (CELEvalError, TypeError, ValueError, ArithmeticError, LookupError) as problem:
        # cel-python lets errors of Python escape.
        raise EvaluationError(_text_of(problem)) from None
    finally:
        sys.setrecursionlimit(limit)


def _text_of(problem: Exception) -> str:
    """The text of an error, of a missing key as cel-go has it."""
    text = str(problem.args[0]) if problem.args else type(problem).__name__
    missing = _MISSING.fullmatch(text)
    return f"no such key: {missing[1]}" if missing is not None else text


# Where cel-python is right


def unsound_for(compiled: Compiled) -> str:
    """Why cel-python is no judge of an expression; empty if it is one."""
    if _ODD_TEXT.search(compiled.text):
        return "it reads some literals, trailing commas and comments otherwise"
    if compiled.depth > _MAX_DEPTH:
        return "it recurses too deep"
    for node in _below(compiled.tree):
        reason = _unsound_node(node)
        if reason:
            return reason
    return ""


def _below(root: Node) -> Iterable[Node]:
    left = [root]
    while left:
        node = left.pop()
        yield node
        left += node.children()


def _unsound_node(node: Node) -> str:
    if isinstance(node, Comprehension):
        if node.macro not in _ONE_VARIABLE or node.iter_var2:
            return f"it has no {node.macro}, or not this form"
        return _unsound_macro(node)
    if isinstance(node, Select) and node.test:
        path = path_of(node.operand, {})
        if path is None or not path.field or len(path.names) != 1:
            return "its has() hides every error"
    if isinstance(node, Select) and node.field in {"in", "true", "false", "null"}:
        return "it allows these names"
    if isinstance(node, ListLiteral) and node.optionals:
        return "it has no optionals"
    if isinstance(node, MapLiteral) and len(node.entries) > 1:
        return "it refuses keys that come twice"
    return _unsound_call(node) if isinstance(node, Call) else ""


def _unsound_macro(node: Comprehension) -> str:
    step = node.step
    if node.macro == "map" and isinstance(step, Call) and step.function == "_?_:_":
        return "its map() has no predicate"
    if node.macro in {"filter", "exists_one"} and isinstance(step, Call) and step.args[0].type is not BOOL:
        return "it takes any value for a predicate"
    return ""


def _unsound_call(node: Call) -> str:
    function = node.function
    if function in _OPTIONAL or "optional" in node.type.text:
        return "it has no optionals"
    if "." in function or (function[0] == "@" and function not in {"@in", "@not_strictly_false"}):
        return f"it has no {function}"
    if function == "min" and node.target is not None:
        return "it has another min()"
    if function == "@in" and isinstance(node.args[1], ListLiteral) and not node.args[1].elements:
        return "it evaluates what it looks for in an empty list"
    if function == "_?_:_" and node.args[0].type is not BOOL:
        return "it takes any value for a condition"
    return ""
