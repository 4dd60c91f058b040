"""What the allocator uses: ``DeviceExpressions`` over one environment of stored expressions."""

from collections.abc import Callable
from typing import Any, Final, cast

from dralang.api.expressions import DecidingPart, ExpressionError, PreparedDevice
from dralang.api.resourceslice import Device, DeviceAttribute
from dralang.cel.device import AnyPrepared, prepare, prepare_for
from dralang.cel.environment import DEFAULT, Environment
from dralang.cel.evaluate import EvaluationError, as_attribute, as_bool, interpret
from dralang.cel.explain import deciding
from dralang.cel.generate import MAX_DEPTH, generate
from dralang.cel.issues import CompileError
from dralang.cel.program import Compiled, Purpose, compile_expression
from dralang.cel.tree import Call
from dralang.cel.values import Value

_LAST_LOOSE: Final = 36


class CelExpressions:
    """Compiled expressions of one environment, each text once.

    Implements ``dralang.api.expressions.DeviceExpressions``.
    """

    def __init__(self, environment: Environment | None = None) -> None:
        self.environment = Environment(minor=DEFAULT) if environment is None else environment
        self._selectors: dict[str, Callable[[PreparedDevice], bool] | ExpressionError] = {}
        self._derived: dict[str, Callable[[PreparedDevice], DeviceAttribute] | ExpressionError] = {}

    def prepare(self, driver: str, device: Device) -> PreparedDevice:
        """Return the device in the form in which expressions see it."""
        return prepare_for(self.environment, driver, device)

    def prepare_as(self, driver: str, device: Device, *, forgiving: bool) -> PreparedDevice:
        """Return the device in the form in which expressions see it, whatever the version does with bad attributes."""
        return prepare(driver, device, lists=self.environment.list_attributes, lazy=forgiving)

    def _compile(self, expression: str, purpose: Purpose) -> Compiled:
        try:
            return compile_expression(expression, self.environment, purpose)
        except CompileError as problem:
            raise ExpressionError(problem.message, "compile") from None

    def selector(self, expression: str) -> Callable[[PreparedDevice], bool]:
        """Return the compiled selector.

        Raises:
            ExpressionError: it does not compile.
        """
        found = self._selectors.get(expression)
        if found is None:
            try:
                found = _selector(self._compile(expression, "selector"))
            except ExpressionError as problem:
                found = problem
            self._selectors[expression] = found
        if isinstance(found, ExpressionError):
            raise ExpressionError(found.message, found.phase)
        return found

    def derived(self, expression: str) -> Callable[[PreparedDevice], DeviceAttribute]:
        """Return the compiled derived attribute.

        Raises:
            ExpressionError: it does not compile.
        """
        found = self._derived.get(expression)
        if found is None:
            try:
                found = _derived(self._compile(expression, "derived"))
            except ExpressionError as problem:
                found = problem
            self._derived[expression] = found
        if isinstance(found, ExpressionError):
            raise ExpressionError(found.message, found.phase)
        return found

    def deciding_parts(self, expression: str, device: PreparedDevice) -> tuple[DecidingPart, ...]:
        """Return the parts of a selector that make it false on a device, with what they found there."""
        decisions = deciding(self._compile(expression, "selector"), cast("AnyPrepared", device))
        return tuple(
            (decision.text, tuple(f"`{read.text}` is {read.value}" for read in decision.values))
            for decision in decisions
        )


def _function(compiled: Compiled, convert: Callable[[Value], Any]) -> Callable[[Any], Any]:
    """What evaluates an expression: generated code, or the interpreter where costs must be counted."""

    def interpreted(device: AnyPrepared) -> Any:
        try:
            return convert(interpret(compiled, device)[0])
        except EvaluationError as problem:
            raise ExpressionError(problem.message, "runtime") from None

    if compiled.too_costly or compiled.depth > MAX_DEPTH or _is_loose(compiled):
        return interpreted
    return generate(compiled.tree, compiled.purpose, interpreted) or interpreted


def _is_loose(compiled: Compiled) -> bool:
    """Whether it may ask a value that is no optional for an alternative, which generated code refuses: so does 1.37."""
    if compiled.environment.minor > _LAST_LOOSE or "or" not in compiled.text:
        return False
    left = [compiled.tree]
    while left:
        node = left.pop()
        if isinstance(node, Call) and node.function in {"or", "orValue"}:
            target = node.target
            if target is not None and target.type.name != "optional_type":
                return True
        left += node.children()
    return False


def _selector(compiled: Compiled) -> Callable[[PreparedDevice], bool]:
    return _function(compiled, as_bool)


def _derived(compiled: Compiled) -> Callable[[PreparedDevice], DeviceAttribute]:
    return _function(compiled, as_attribute)
