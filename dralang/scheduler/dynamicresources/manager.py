"""What the scheduler knows of claims, slices and classes: its informers, its assumptions, and what is in flight.

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/dra_manager.go, allocateddevices.go,
pkg/scheduler/util/assumecache.
"""

from collections.abc import Callable, Iterable

from dralang.allocator.allocate import Attempt
from dralang.allocator.inventory import Inventory
from dralang.allocator.outcome import Outcome
from dralang.allocator.prepared import PoolId
from dralang.allocator.state import AllocatedState
from dralang.api.allocation import AllocationResult
from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.nodes import Node
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.cluster.taint_rules import with_rules
from dralang.scheduler.dynamicresources.class_names import ClassNames
from dralang.scheduler.dynamicresources.extended_resources import extended_owner
from dralang.scheduler.dynamicresources.inventories import Inventories
from dralang.scheduler.dynamicresources.nominations import Nominations

ClaimKey = tuple[str, str]
NodesWatcher = Callable[[Iterable[str] | None], None]
ClaimWatcher = Callable[[ResourceClaim | None, ResourceClaim | None], None]
Listener = Callable[[Attempt, Node, Outcome], None]


class DRAManager:
    """The scheduler's view of everything that has to do with devices. Only the scheduler and its plugin change it.

    Args:
        inventories: prepares slices and classes.
        taint_rules: whether DeviceTaintRules count.
        recomputes_names: see `ClassNames`.
        changed: told of every change of a claim as the scheduler sees it, its own assumptions included.
        touched: told which nodes can use something else than before; None for all.
        forgets: everything is computed anew whenever it is asked for.
    """

    def __init__(
        self,
        inventories: Inventories,
        *,
        taint_rules: bool,
        recomputes_names: bool,
        changed: ClaimWatcher,
        touched: NodesWatcher,
        forgets: bool = False,
    ) -> None:
        self._forgets = forgets
        self._changed = changed
        self._touched = touched
        self._inventories = inventories
        self._uses_rules = taint_rules
        self._forgets_written = inventories.profile.has("failed-binding-forgets-devices")
        self.counts_twice = inventories.profile.has("claim-named-twice-counts-twice")
        """Whether a claim that a pod names twice is two claims for it."""
        self.makes_empty = inventories.profile.has("native-resource-blocks-claims")
        """Whether the claim for extended resources is made also where the node serves all of them itself."""
        self.keeps_of_remade = inventories.profile.has("remade-claim-keeps-devices")
        """Whether nobody gives back what is in flight for a claim that another one of its name has replaced."""
        self.names = ClassNames(recomputes=recomputes_names)
        self._claims: dict[ClaimKey, ResourceClaim] = {}
        self._informed: dict[ClaimKey, ResourceClaim] = {}
        self._extended: dict[str, dict[ClaimKey, None]] = {}
        self._pending: dict[str, tuple[ResourceClaim, AllocationResult, dict[str, None]]] = {}
        self._counted: dict[str, AllocationResult] = {}
        self._state = AllocatedState.of((), inventories.profile.features)
        self._slices: dict[str, ResourceSlice] = {}
        self._tainted: dict[str, ResourceSlice] = {}
        self._rules: dict[str, DeviceTaintRule] = {}
        self._classes: dict[str, DeviceClass] = {}
        self._inventory: Inventory | None = None
        self.nominations = Nominations()
        """What preemption has promised (KEP-5690)."""
        self.shares = 0
        """How many shares were numbered so far."""
        self.on_asked: Listener | None = None
        """Told of every question to the allocator, with its answer."""

    def ask(self, attempt: Attempt, node: Node) -> Outcome:
        """Ask the allocator for a node; shares go on to be numbered where they are."""
        outcome = attempt.on(node, self.shares + 1)
        if self.on_asked is not None:
            self.on_asked(attempt, node, outcome)
        return outcome

    # Claims.

    def claim(self, namespace: str, name: str) -> ResourceClaim | None:
        """The newest version of a claim, assumed ones included."""
        return self._claims.get((namespace, name))

    def claims(self) -> list[ResourceClaim]:
        """All claims in the order in which they came."""
        return list(self._claims.values())

    def extended_claim(self, pod: str) -> ResourceClaim | None:
        """The claim that was made for the extended resources of a pod (by UID)."""
        if self._forgets:
            return next((claim for claim in self._claims.values() if extended_owner(claim) == pod), None)
        keys = self._extended.get(pod)
        if not keys:
            return None
        if len(keys) > 1:
            return next(claim for key, claim in self._claims.items() if key in keys)
        return self._claims[next(iter(keys))]

    def _index(self, key: ClaimKey, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        """The claim under a key is another one, or another version."""
        before = extended_owner(old) if old is not None else None
        after = extended_owner(new) if new is not None else None
        if before == after:
            return
        if before is not None:
            self._extended[before].pop(key)
            if not self._extended[before]:
                del self._extended[before]
        if after is not None:
            self._extended.setdefault(after, {})[key] = None

    def inform(self, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        """The informer saw a change."""
        if new is not None:
            key = (new.metadata.namespace, new.metadata.name)
            self._informed[key] = new
            self._store(key, new)
            return
        assert old is not None
        key = (old.metadata.namespace, old.metadata.name)
        self._informed.pop(key, None)
        known = self._claims.pop(key, None)
        self._index(key, known, None)
        self._recount(old.metadata.uid, None)
        self._changed(known if known is not None else old, None)

    def assume(self, claim: ResourceClaim, *, is_new: bool = False) -> None:
        """Use what an API call returned before the informer sees it; a claim nobody heard of only if it was made now.

        DEVIATES: upstream waits until the informer has seen a claim that it made itself.
        """
        key = (claim.metadata.namespace, claim.metadata.name)
        if is_new or key in self._claims:
            self._store(key, claim)

    def _store(self, key: ClaimKey, claim: ResourceClaim) -> None:
        """Take over a version of a claim unless a newer one is known."""
        known = self._claims.get(key)
        if (
            known is not None
            and known.metadata.uid == claim.metadata.uid
            and int(known.metadata.resource_version) >= int(claim.metadata.resource_version)
        ):
            return
        if known is not None and known.metadata.uid != claim.metadata.uid:
            self._recount(known.metadata.uid, None)
        self._claims[key] = claim
        self._index(key, known, claim)
        self._recount(claim.metadata.uid, claim)
        self._changed(known, claim)

    def restore(self, claim: ResourceClaim, *, is_written: bool) -> None:
        """Drop what was assumed of a claim, also what is written already: `failed-binding-forgets-devices`."""
        if is_written and not self._forgets_written:
            return
        key = (claim.metadata.namespace, claim.metadata.name)
        known, informed = self._claims.get(key), self._informed.get(key)
        if known is None or informed is None or known is informed:
            return
        self._claims[key] = informed
        self._index(key, known, informed)
        self._recount(informed.metadata.uid, informed)
        self._changed(known, informed)

    # Allocations.

    def pending(self, uid: str) -> AllocationResult | None:
        """The allocation of a claim that is not written yet."""
        found = self._pending.get(uid)
        return found[1] if found is not None else None

    def reserve(self, claim: ResourceClaim, allocation: AllocationResult, pod: str) -> None:
        """From now on the devices count as taken for a pod (by UID), although nothing is written.

        What is in flight for a claim stays what it was first, for whoever else wants the claim.
        """
        uid = claim.metadata.uid
        known = self._pending.get(uid)
        sharers = known[2] if known is not None else {}
        sharers[pod] = None
        if known is None or self._inventories.profile.has("second-mention-replaces-first"):
            self._pending[uid] = (claim, allocation, sharers)
        self._recount(uid, self._claims.get((claim.metadata.namespace, claim.metadata.name)))

    def settle(self, uid: str, pod: str | None = None) -> bool:
        """The allocation is written, or a pod gives it up; return whether nothing is in flight any more.

        Args:
            uid: of the claim.
            pod: who gives it up; others may still want it.
        """
        found = self._pending.get(uid)
        if found is None:
            return False
        claim, _, sharers = found
        if pod is not None:
            sharers.pop(pod, None)
            if sharers:
                return False
        del self._pending[uid]
        self._recount(uid, self._claims.get((claim.metadata.namespace, claim.metadata.name)))
        return True

    def allocation_of(self, uid: str) -> AllocationResult | None:
        """What a claim (by UID) holds, written or in flight."""
        return self._holding().get(uid, (None, None))[1] if self._forgets else self._counted.get(uid)

    def held(self) -> dict[str, AllocationResult]:
        """What each claim (by UID) holds, written or in flight."""
        if self._forgets:
            return {uid: allocation for uid, (_, allocation) in self._holding().items()}
        return dict(self._counted)

    def left_of_remade(self) -> frozenset[str]:
        """The UIDs of claims that are gone and hold something for ever: `remade-claim-keeps-devices`."""
        if not self.keeps_of_remade or not self._pending:
            return frozenset()
        return frozenset(self._pending) - {each.metadata.uid for each in self._claims.values()}

    def sharers(self, uid: str) -> frozenset[str]:
        """The pods (UIDs) for which a claim's allocation is in flight."""
        found = self._pending.get(uid)
        return frozenset(found[2]) if found is not None else frozenset()

    def has_drifted(self) -> bool:
        """Whether what counts as taken is not the sum of all allocations, which would be a fault of ours."""
        fresh = AllocatedState.of(
            [(uid, allocation) for uid, allocation in self._counted.items()], self._inventories.profile.features
        )
        pools = {(each.driver, each.pool) for held in self._counted.values() for each in held.devices.results}
        return any(
            fresh.pool(pool).devices() != self._state.pool(pool).devices()
            or fresh.pool(pool).consumed != self._state.pool(pool).consumed
            for pool in pools
        )

    def without(self, state: AllocatedState | None, allocation: AllocationResult) -> AllocatedState:
        """What would be taken without an allocation; this changes nothing."""
        return (self.state if state is None else state).without_allocation(allocation)

    def plus(self, state: AllocatedState | None, claim: ResourceClaim, allocation: AllocationResult) -> AllocatedState:
        """What would be taken with one more allocation; this changes nothing."""
        holder = f"{claim.metadata.namespace}/{claim.metadata.name}"
        return (self.state if state is None else state).with_allocation(holder, allocation)

    @property
    def state(self) -> AllocatedState:
        """What is taken: written, assumed and in flight, each claim once."""
        if self._forgets:
            held = [
                (f"{claim.metadata.namespace}/{claim.metadata.name}", has) for claim, has in self._holding().values()
            ]
            return AllocatedState.of(held, self._inventories.profile.features)
        return self._state

    def _holding(self) -> dict[str, tuple[ResourceClaim, AllocationResult]]:
        """All claims that hold something, by UID."""
        held = {uid: (claim, allocation) for uid, (claim, allocation, _) in self._pending.items()}
        for claim in self._claims.values():
            if claim.status.allocation is not None:
                held[claim.metadata.uid] = (claim, claim.status.allocation)
        return held

    def _recount(self, uid: str, claim: ResourceClaim | None) -> None:
        wanted: AllocationResult | None = None
        holder: ResourceClaim | None = None
        if claim is not None and claim.metadata.uid == uid and claim.status.allocation is not None:
            holder, wanted = claim, claim.status.allocation
        elif uid in self._pending:
            holder, wanted, _ = self._pending[uid]
        counted = self._counted.get(uid)
        if wanted is counted or (wanted is not None and wanted == counted):
            return
        for allocation in (counted, wanted):
            if allocation is not None:
                self._touch_pools((each.driver, each.pool) for each in allocation.devices.results)
        if counted is not None:
            del self._counted[uid]
            self._state = self._state.without_allocation(counted)
        if wanted is None:
            self.nominations.deallocated(uid)
        if wanted is not None and holder is not None:
            self._counted[uid] = wanted
            self._state = self._state.with_allocation(f"{holder.metadata.namespace}/{holder.metadata.name}", wanted)

    def _touch_pools(self, pools: Iterable[PoolId]) -> None:
        """Something about these pools changed: tell for which nodes that matters."""
        if self._inventory is None:
            return
        for pool in set(pools):
            nodes = self._inventory.nodes_of(pool)
            self._touched(None if "" in nodes else nodes)

    # Slices, rules and classes.

    def slices(self) -> list[ResourceSlice]:
        """The slices with all taints, in the order in which they came."""
        if self._forgets:
            rules = self._ordered_rules()
            return [with_rules(slice_, rules) for slice_ in self._slices.values()]
        return [self._tainted[name] for name in self._slices]

    def inform_slice(self, old: ResourceSlice | None, new: ResourceSlice | None) -> None:
        """The informer saw a change of a slice."""
        if new is None:
            assert old is not None
            name = old.metadata.name
            self._slices.pop(name, None)
            self._tainted.pop(name, None)
            self._touch_pools([(old.spec.driver, old.spec.pool.name)])
            if self._inventory is not None:
                self._inventory = self._inventory.without_slice(name)
            return
        if old is not None:
            self._touch_pools([(old.spec.driver, old.spec.pool.name)])
        self._slices[new.metadata.name] = new
        self._taint(new)

    def _taint(self, slice_: ResourceSlice) -> bool:
        """Apply the rules to a slice; return whether that gave something new."""
        name = slice_.metadata.name
        before = self._tainted.get(name)
        after = with_rules(slice_, self._ordered_rules()) if self._rules else slice_
        self._tainted[name] = after
        if self._inventory is not None and (before is None or before.spec is not after.spec):
            self._inventory = self._inventory.with_slice(after)
            self._touch_pools([(after.spec.driver, after.spec.pool.name)])
        return before is None or before.spec != after.spec

    def _ordered_rules(self) -> list[DeviceTaintRule]:
        return [self._rules[name] for name in sorted(self._rules)]

    def inform_rule(self, old: DeviceTaintRule | None, new: DeviceTaintRule | None) -> list[ResourceSlice]:
        """The informer saw a change of a rule; return the slices whose taints changed."""
        if not self._uses_rules:
            return []
        if old is not None:
            self._rules.pop(old.metadata.name, None)
        if new is not None:
            self._rules[new.metadata.name] = new
        if old is not None and new is not None and old.spec == new.spec:
            return []
        return [self._tainted[name] for name, slice_ in list(self._slices.items()) if self._taint(slice_)]

    def inform_class(self, old: DeviceClass | None, new: DeviceClass | None) -> None:
        """The informer saw a change of a class."""
        self.names.update(old, new)
        self._touched(None)
        if new is None:
            assert old is not None
            self._classes.pop(old.metadata.name, None)
            if self._inventory is not None:
                self._inventory = self._inventory.without_class(old.metadata.name)
            return
        self._classes[new.metadata.name] = new
        if self._inventory is not None:
            self._inventory = self._inventory.with_class(new)

    def classes(self) -> dict[str, DeviceClass]:
        """All classes by name."""
        return dict(self._classes)

    def has_class(self, name: str) -> bool:
        """Whether a class exists."""
        return name in self._classes

    @property
    def inventory(self) -> Inventory:
        """Slices and classes, prepared for the allocator."""
        if self._inventory is None:
            self._inventory = self._inventories.of(self.slices(), self._classes.values())
        if self._forgets:
            return self._inventory.anew(self.slices(), self._classes.values())
        return self._inventory
