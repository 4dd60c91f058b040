"""What an allocation attempt on one node comes to.

Source: k8s.io/dynamic-resource-allocation structured/allocator.go Allocate, kube-scheduler's Filter.
"""

from typing import TypeAlias

from msgspec import Struct

from dralang.api.allocation import AllocationResult


class Allocated(Struct, frozen=True):
    """Success.

    Attributes:
        results: one per claim, in the order of the claims.
        shares: how many shares were numbered; the next attempt starts that much higher.
        quirks: the quirks that had an effect on the answer, sorted.
    """

    results: tuple[AllocationResult, ...]
    shares: int = 0
    quirks: tuple[str, ...] = ()


class Unallocatable(Struct, frozen=True):
    """Neither result nor error: this node cannot serve the claims."""

    quirks: tuple[str, ...] = ()


class NodeError(Struct, frozen=True):
    """An error that concerns this node only."""

    message: str
    quirks: tuple[str, ...] = ()


class FatalError(Struct, frozen=True):
    """An error that ends the attempt on all nodes."""

    message: str
    quirks: tuple[str, ...] = ()


class GaveUp(Struct, frozen=True):
    """The search used up its budget; nothing is known.

    Attributes:
        steps: the budget.
    """

    steps: int


Outcome: TypeAlias = Allocated | Unallocatable | NodeError | FatalError | GaveUp
