"""What the plugin keeps for one scheduling cycle of one pod."""

from typing import Protocol, TypeAlias

from dralang.allocator.allocate import Attempt
from dralang.allocator.inventory import Inventory
from dralang.allocator.state import AllocatedState
from dralang.api.affinity import NodeSelector
from dralang.api.allocation import AllocationResult
from dralang.api.pods import ContainerExtendedResourceRequest, NodeAllocatableResourceClaimStatus
from dralang.api.resourceclaim import ResourceClaim
from dralang.scheduler.framework import StateKey


class NodeAllocation:
    """What the pod would get on one node.

    Attributes:
        results: one allocation per claim that is to be allocated, in the order of the claims.
        special: the claim for extended resources as this node needs it.
        mappings: which container uses which of its requests.
        footprint: what the devices add to the requests of the pod.
    """

    __slots__ = ("footprint", "mappings", "results", "special")

    def __init__(
        self,
        results: tuple[AllocationResult, ...],
        special: ResourceClaim | None,
        mappings: tuple[ContainerExtendedResourceRequest, ...],
        footprint: tuple[NodeAllocatableResourceClaimStatus, ...],
    ) -> None:
        self.results = results
        self.special = special
        self.mappings = mappings
        self.footprint = footprint


SpecialOnNode: TypeAlias = tuple[ResourceClaim, tuple[ContainerExtendedResourceRequest, ...]]
"""The claim for extended resources as a node needs it, and which container uses which of its requests."""


class StateReader(Protocol):
    """What a cycle reads of the manager."""

    @property
    def inventory(self) -> Inventory:
        """Slices and classes."""


class Effects:
    """What other pods would change, on one clone of the cycle's state.

    Attributes:
        removed: by claim the victims (UIDs) that are assumed to be gone.
        released: the claims that are free without them, with what they held.
        subtracted: victims' claims that are not counted because a nominated pod takes their devices.
    """

    __slots__ = ("released", "removed", "subtracted")

    def __init__(self) -> None:
        self.removed: dict[str, frozenset[str]] = {}
        self.released: dict[str, AllocationResult] = {}
        self.subtracted: dict[str, AllocationResult] = {}

    def clone(self) -> "Effects":
        """A copy."""
        copy = Effects()
        copy.removed = dict(self.removed)
        copy.released = dict(self.released)
        copy.subtracted = dict(self.subtracted)
        return copy


class StateData:
    """The cycle of one pod.

    Attributes:
        claims: of the pod, in order; the one for extended resources comes last. Binding replaces them by what the API
            server returned.
        special: whether the last claim is the one for extended resources.
        selectors: where each allocated claim can be used.
        extended: the extended resources that the pod requests.
        inventory, allocated: what the allocator works on; None if nothing is to be allocated.
        specials: the claim for extended resources as nodes need it, by the names that devices serve there.
        attempts: the allocator with the claims, by the identity of the one for extended resources, 0 without it.
        nodes: what the pod would get, by node.
        unavailable: the claims that some node refused although it could have been allocated there.
        reserved: the allocations chosen by Reserve, by index of the claim.
        in_flight: the UIDs for which these count as taken; another claim of the name may have taken the place since.
        refreshed: the claims (by index) that are written on their newest version, after a conflict.
        shared: what another member of the pod's group was given in the same cycle, by index of the claim.
        effects: what other pods would change; None if they cannot (gate DRAPreemption off).
        preempted: the pod had to give up its place before it was bound.
    """

    __slots__ = (
        "allocated",
        "attempts",
        "claims",
        "effects",
        "extended",
        "in_flight",
        "inventory",
        "nodes",
        "preempted",
        "refreshed",
        "reserved",
        "selectors",
        "shared",
        "special",
        "specials",
        "unavailable",
    )

    def __init__(self, effects: Effects | None = None) -> None:
        self.claims: list[ResourceClaim] = []
        self.special = False
        self.selectors: dict[int, NodeSelector] = {}
        self.extended: dict[str, int] = {}
        self.inventory: Inventory | None = None
        self.allocated: AllocatedState | None = None
        self.attempts: dict[int, Attempt] = {}
        self.specials: dict[tuple[str, ...], SpecialOnNode] = {}
        self.nodes: dict[str, NodeAllocation] = {}
        self.unavailable: set[int] = set()
        self.reserved: dict[int, AllocationResult] = {}
        self.in_flight: dict[int, str] = {}
        self.refreshed: set[int] = set()
        self.shared: dict[int, AllocationResult] = {}
        self.effects = effects
        self.preempted = False

    def clone(self) -> "StateData":
        """A copy on which other pods can be tried; the same object where they would change nothing."""
        if self.effects is None:
            return self
        copy = StateData(self.effects.clone())
        copy.claims = self.claims
        copy.special = self.special
        copy.selectors = self.selectors
        copy.extended = self.extended
        copy.inventory = self.inventory
        copy.allocated = self.allocated
        copy.attempts = self.attempts
        copy.refreshed = self.refreshed
        copy.specials = self.specials
        copy.nodes = dict(self.nodes)
        copy.unavailable = self.unavailable
        copy.reserved = self.reserved
        copy.in_flight = self.in_flight
        copy.shared = self.shared
        copy.preempted = self.preempted
        return copy

    def change(self, manager: "StateReader", allocated: AllocatedState) -> None:
        """Go on as if something else were taken; only for clones."""
        self.inventory = manager.inventory
        self.allocated = allocated
        self.attempts = {}

    @property
    def special_claim(self) -> ResourceClaim | None:
        """The claim for extended resources."""
        return self.claims[-1] if self.special else None

    @property
    def user_claims(self) -> list[ResourceClaim]:
        """The claims that the pod names."""
        return self.claims[:-1] if self.special else self.claims

    def to_allocate(self) -> list[int]:
        """The indices of the claims without an allocation, those that lose theirs with the victims included."""
        released = self.effects.released if self.effects is not None else {}
        return [
            index
            for index, claim in enumerate(self.claims)
            if claim.status.allocation is None or claim.metadata.uid in released
        ]

    def to_ask(self) -> list[int]:
        """The indices of the claims that the allocator is asked for."""
        return [index for index in self.to_allocate() if index not in self.shared]


STATE: StateKey[StateData] = StateKey("DynamicResources")
