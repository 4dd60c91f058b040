"""CEL over API-shaped objects, for expectations: cel-python's interpreter on JSON.

Device expressions have an environment and an evaluator of their own; here names are few, types are dynamic, and an
expression runs once. Imported only when a scenario has such an expression.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import celpy
from celpy import celtypes
from celpy.adapter import json_to_cel
from celpy.celparser import CELParseError
from celpy.evaluation import CELEvalError


class JsonExpressionError(Exception):
    """An expression that cannot be compiled or evaluated.

    Attributes:
        offset: where in the expression, 0-based; None if that is not known.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.offset = offset


@lru_cache(maxsize=256)
def _program(expression: str) -> Any:
    environment = celpy.Environment()
    try:
        return environment.program(environment.compile(expression))
    except CELParseError as error:
        offset = None
        if error.line is not None and error.column is not None:
            lines = expression.splitlines(keepends=True)
            offset = sum(len(line) for line in lines[: error.line - 1]) + error.column - 1
        raise JsonExpressionError("this is not CEL", offset) from None
    except RecursionError:
        raise JsonExpressionError("this expression is nested too deeply") from None


def check_json_expression(expression: str) -> None:
    """Compile an expression.

    Raises:
        JsonExpressionError: it does not parse.
    """
    _program(expression)


# What cel-python says, and what it means; the rest of its texts is fit for people.
_MEANINGS: Final = (
    (re.compile(r"undeclared reference to '(.*?)' \(in activation "), "there is no variable or function `{}`"),
    (re.compile(r"found no matching overload for _\[_\] "), "this has no entries"),
    (re.compile(r"found no matching overload for "), "no operator or function for values of these types"),
    (re.compile(r"no such member in mapping: '(.*)'"), "there is no field `{}`"),
    (re.compile(r"invalid_argument"), "there is no such entry in the list"),
)


def _for_people(error: CELEvalError) -> str:
    """One line; cel-python adds all variables and functions to what it does not know."""
    said = str(error.args[0]) if error.args else ""
    for pattern, meaning in _MEANINGS:
        found = pattern.match(said)
        if found is not None:
            return meaning.format(*found.groups())
    return said or "it fails"


def evaluate_json(expression: str, variables: Mapping[str, Any]) -> object:
    """The value of an expression; ``variables`` hold JSON.

    Raises:
        JsonExpressionError: it does not parse, or fails on these values.
    """
    activation: dict[str, Any] = {name: json_to_cel(value) for name, value in variables.items()}
    try:
        result = _program(expression).evaluate(activation)
    except CELEvalError as error:
        raise JsonExpressionError(_for_people(error)) from None
    except (TypeError, ValueError, KeyError, IndexError, RecursionError) as error:
        raise JsonExpressionError(str(error) or type(error).__name__) from None
    return bool(result) if isinstance(result, celtypes.BoolType) else result
