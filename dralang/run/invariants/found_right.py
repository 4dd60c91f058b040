"""What was looked at and found out, so that a fuzz need not look at the same allocation in every story."""

from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult
from dralang.api.nodes import Node
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimSpec

MOST: Final = 1_000
"""How many a world remembers."""
Held: TypeAlias = Mapping[tuple[str, str, str], Sequence[DeviceRequestAllocationResult]]
"""What each device in use is used for."""


class FoundRight:
    """What is known of worlds with the same slices, classes, taint rules and nodes, of which none changed in a story.

    Args:
        world: these objects, kept alive because they are known by their identity.
    """

    def __init__(self, world: tuple[object, ...]) -> None:
        self.world = world
        self._known: dict[tuple[int, bool], list[tuple[ResourceClaimSpec, AllocationResult]]] = {}
        self._count = 0
        self._possible: dict[tuple[object, ...], tuple[tuple[ResourceClaimSpec, ...], bool]] = {}

    def has(self, claim: ResourceClaim, allocation: AllocationResult, *, decided: bool) -> bool:
        """Whether the same devices were given for the same requests; when that was does not matter.

        Args:
            claim: whose they are.
            allocation: the devices.
            decided: whether the scheduler has chosen them.
        """
        for _, known in self._known.get((id(claim.spec), decided), ()):
            if known.devices == allocation.devices and known.node_selector == allocation.node_selector:
                return True
        return False

    def add(self, claim: ResourceClaim, allocation: AllocationResult, *, decided: bool) -> None:
        """Nothing is wrong with an allocation."""
        if self._count >= MOST:
            self._known.clear()
            self._count = 0
        self._count += 1
        self._known.setdefault((id(claim.spec), decided), []).append((claim.spec, allocation))

    def is_possible(self, node: Node, specs: tuple[ResourceClaimSpec, ...], held: Held) -> bool | None:
        """Whether claims can be allocated together on a node while devices are in use; None if nobody has looked."""
        key = _question(node, specs, held)
        found = None if key is None else self._possible.get(key)
        return None if found is None else found[1]

    def note_possible(self, node: Node, specs: tuple[ResourceClaimSpec, ...], held: Held, *, possible: bool) -> None:
        """The answer to that question."""
        key = _question(node, specs, held)
        if key is not None:
            if len(self._possible) >= MOST:
                self._possible.clear()
            self._possible[key] = (specs, possible)


def _question(node: Node, specs: tuple[ResourceClaimSpec, ...], held: Held) -> tuple[object, ...] | None:
    """A question by the devices that are taken; None where some are shared, and it matters how much is left."""
    for uses in held.values():
        for each in uses:
            if each.share_id is not None or each.consumed_capacity:
                return None
    return (node.metadata.name, tuple(map(id, specs)), frozenset(held))
