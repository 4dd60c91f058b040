"""What the checks must know beside the object."""

from typing import Protocol

from msgspec import Struct

from dralang.features import FeatureGates


class CelVerdict(Struct, frozen=True):
    """What compiling an expression says.

    Attributes:
        error: why it does not compile; empty if it does.
        cost: the estimated cost in the worst case.
    """

    error: str = ""
    cost: int = 0


class CelChecker(Protocol):
    """Compiles expressions as an API server with certain feature gates does."""

    def check_selector(self, expression: str) -> CelVerdict:
        """Compile a new selector."""
        ...

    def check_derived(self, expression: str) -> CelVerdict:
        """Compile the expression of a new derived attribute."""
        ...


class ValidationContext(Struct, frozen=True):
    """The server that validates.

    Attributes:
        gates: its feature gates.
        cel: compiles expressions.
    """

    gates: FeatureGates
    cel: CelChecker
