"""What the allocator answered before, for as long as nothing changed that it looks at.

Most pods of a cluster ask for the same, and between two pods only one node changes; so nearly all answers of the last
cycle still hold. Slices, classes and allocations are immutable values that are shared as long as they do not change,
which makes "nothing changed" a comparison of identities.
"""

from collections.abc import Sequence

from dralang.allocator.allocate import Attempt
from dralang.allocator.inventory import Inventory, NodeView
from dralang.allocator.outcome import Allocated, Outcome, Unallocatable
from dralang.allocator.state import AllocatedState, PoolAllocations
from dralang.api.nodes import Node
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimSpec

Signature = tuple[int, ...]


class _Entry:
    __slots__ = ("allocations", "classes", "outcome", "view")

    def __init__(
        self, classes: object, view: NodeView, allocations: tuple[PoolAllocations, ...], outcome: Outcome
    ) -> None:
        self.classes = classes
        self.view = view
        self.allocations = allocations
        self.outcome = outcome


class AllocationMemo:
    """Answers by node and by what is asked for. Only the plugin changes it."""

    MOST = 100_000

    def __init__(self) -> None:
        self._entries: dict[tuple[Signature, str], _Entry] = {}
        self._specs: dict[int, ResourceClaimSpec] = {}

    def signature(self, claims: Sequence[ResourceClaim]) -> Signature:
        """What the claims ask for, by identity: claims of one template share their spec."""
        for claim in claims:
            # Kept alive, so that its identity stays its own.
            self._specs.setdefault(id(claim.spec), claim.spec)
        return tuple(id(claim.spec) for claim in claims)

    def ask(
        self,
        signature: Signature,
        attempt: Attempt,
        node: Node,
        first_share: int,
        inventory: Inventory,
        state: AllocatedState,
    ) -> Outcome:
        """The answer for a node, from memory if everything that decides it is the same."""
        key = (signature, node.metadata.name)
        view = inventory.view(node)
        known = self._entries.get(key)
        allocations = tuple([state.pool(pool.id) for pool in view.pools])
        if (
            known is not None
            and known.view is view
            and known.classes is inventory.classes
            and len(known.allocations) == len(allocations)
            and all(mine is theirs for mine, theirs in zip(known.allocations, allocations, strict=True))
        ):
            return known.outcome
        outcome = attempt.on(node, first_share)
        # Numbered shares differ each time, and errors name the claim.
        if isinstance(outcome, Unallocatable) or (isinstance(outcome, Allocated) and not outcome.shares):
            if len(self._entries) >= self.MOST:
                self._entries.clear()
                self._specs = {id(spec): spec for spec in self._specs.values() if id(spec) in signature}
            self._entries[key] = _Entry(inventory.classes, view, allocations, outcome)
        return outcome
