"""What generated code calls."""

from collections.abc import Callable
from typing import Any, Final, NoReturn

from dralang.api.expressions import ExpressionError
from dralang.cel import operators as op
from dralang.cel.device import UnreadyError
from dralang.cel.evaluate import EvaluationError, as_attribute, as_bool
from dralang.cel.library import no_overload
from dralang.cel.numbers import checked_int
from dralang.cel.values import NONE, Abort, CelError, Optional, Semver, Uint, Value
from dralang.values.quantity import Quantity

ERRORS: Final = (KeyError, CelError)
"""What the evaluation of a term may raise; a KeyError comes from a lookup in the flat device."""


def message_of(problem: Exception) -> str:
    """The text of an error, whichever of ``ERRORS`` it is."""
    if isinstance(problem, KeyError):
        return f"no such key: {str(problem.args[0]).partition(chr(0))[2]}"
    assert isinstance(problem, (CelError, EvaluationError, Abort))
    return problem.message


def failed(problem: Exception) -> ExpressionError:
    """The error that the caller sees."""
    return ExpressionError(message_of(problem), "runtime")


def not_bool(_value: Value) -> CelError:
    """The error of a value that is no bool, where one is needed."""
    return CelError("no such overload")


def fail(message: str) -> NoReturn:
    """Raise an error that was found while the code was generated."""
    raise CelError(message)


def unsuitable() -> NoReturn:
    """Raise the error of a value of an unsuitable type."""
    raise CelError("no such overload")


def lacking(operator: str) -> NoReturn:
    """Raise the error of a value that has no such operator."""
    raise CelError(f"no such overload: {operator}")


def truth(value: Value) -> bool:
    """A condition, checked."""
    if type(value) is bool:
        return value
    raise CelError("no such overload")


class Lazy:
    """A value that is computed when it is first used, once, be it an error."""

    __slots__ = ("compute", "error", "value")

    def __init__(self, compute: Callable[[], Value]) -> None:
        self.compute: Callable[[], Value] | None = compute
        self.error: Exception | None = None
        self.value: Value = None

    def __call__(self) -> Value:
        """Evaluate."""
        if self.compute is not None:
            try:
                self.value = self.compute()
            except ERRORS as problem:
                self.error = problem
            self.compute = None
        if self.error is not None:
            raise self.error
        return self.value


def or_nothing(value: Value) -> bool:
    """Whether the left side of ``or`` and ``orValue`` has a value."""
    if type(value) is not Optional:
        raise CelError("no such overload")
    return value.has_value


RUNTIME: Final[dict[str, Any]] = {
    "ERRORS": ERRORS,
    "Abort": Abort,
    "CelError": CelError,
    "EMPTY": {},
    "EvaluationError": EvaluationError,
    "Lazy": Lazy,
    "NONE": NONE,
    "Optional": Optional,
    "Quantity": Quantity,
    "Semver": Semver,
    "Uint": Uint,
    "UnreadyError": UnreadyError,
    "add": op.add,
    "as_attribute": as_attribute,
    "as_bool": as_bool,
    "checked_int": checked_int,
    "contained": op.contained,
    "divide": op.divide,
    "equal": op.equal,
    "fail": fail,
    "failed": failed,
    "greater": op.greater,
    "greater_equal": op.greater_equal,
    "has": op.has,
    "in_constants": op.contained_in_constants,
    "index": op.index,
    "iterate": op.iterate,
    "iterate_pairs": op.iterate_pairs,
    "lacking": lacking,
    "less": op.less,
    "less_equal": op.less_equal,
    "logical_not": op.logical_not,
    "modulo": op.modulo,
    "multiply": op.multiply,
    "negate": op.negate,
    "no_overload": no_overload,
    "not_bool": not_bool,
    "not_equal": op.not_equal,
    "optional_index": op.optional_index,
    "or_nothing": or_nothing,
    "size": op.size,
    "subtract": op.subtract,
    "truth": truth,
    "unsuitable": unsuitable,
}
