"""Expressions as an API server looks at new ones: do they compile, and what may they cost?"""

from functools import lru_cache

from msgspec import Struct

from dralang.api.validation.context import CelVerdict
from dralang.cel.environment import Environment, parse_minor
from dralang.cel.issues import CompileError
from dralang.cel.program import Purpose, compile_expression
from dralang.features import FeatureGates

_REMEMBERED = 4096


class AdmissionChecker(Struct, frozen=True):
    """A ``CelChecker`` for the environment of new expressions of one server."""

    environment: Environment

    def check_selector(self, expression: str) -> CelVerdict:
        """Compile a new selector."""
        return _verdict(expression, self.environment, "selector")

    def check_derived(self, expression: str) -> CelVerdict:
        """Compile the expression of a new derived attribute."""
        return _verdict(expression, self.environment, "derived")


def admission_checker(gates: FeatureGates) -> AdmissionChecker:
    """What compiles new expressions as a server with these gates does."""
    return AdmissionChecker(
        Environment(
            minor=parse_minor(gates.version),
            new=True,
            lists=gates.enabled("DRAListTypeAttributes"),
            multiple=gates.enabled("DRAConsumableCapacity"),
        )
    )


@lru_cache(_REMEMBERED)
def _verdict(expression: str, environment: Environment, purpose: Purpose) -> CelVerdict:
    try:
        return CelVerdict(cost=compile_expression(expression, environment, purpose).cost)
    except CompileError as error:
        return CelVerdict(error=error.message)
