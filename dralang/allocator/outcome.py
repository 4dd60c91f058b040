"""What an allocation attempt on one node comes to.

Source: k8s.io/dynamic-resource-allocation structured/allocator.go Allocate, kube-scheduler's Filter.
"""

from typing import TypeAlias

from msgspec import Struct

from dralang.api.allocation import AllocationResult


class Allocated(Struct, frozen=True, gc=False):
    """Success.

    Attributes:
        results: one per claim, in the order of the claims.
        shares: how many shares were numbered; the next attempt starts that much higher.
    """

    results: tuple[AllocationResult, ...]
    shares: int = 0


class Unallocatable(Struct, frozen=True, gc=False):
    """Neither result nor error: this node cannot serve the claims."""


class NodeError(Struct, frozen=True, gc=False):
    """An error that concerns this node only."""

    message: str


class FatalError(Struct, frozen=True, gc=False):
    """An error that ends the attempt on all nodes.

    Attributes:
        message: its text.
        quirk: the quirk without which it were no such error, or empty.
    """

    message: str
    quirk: str = ""


class GaveUp(Struct, frozen=True, gc=False):
    """The search used up its budget; nothing is known.

    Attributes:
        steps: the budget.
    """

    steps: int


Outcome: TypeAlias = Allocated | Unallocatable | NodeError | FatalError | GaveUp
