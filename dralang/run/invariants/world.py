"""What invariants judge by: who holds what, and what slices, classes and taint rules said and when.

Kept from the writes of the store alone, never from the memory of the scheduler. A decision may rest on what its maker
had heard of: an allocation is right if some version that was current since the claim came to be makes it right.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec import Struct

from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult
from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.expressions import DeviceExpressions, ExpressionError
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import DeviceSubRequest, ExactDeviceRequest, ResourceClaim
from dralang.api.resourceslice import Device, DeviceAttribute, ResourceSlice
from dralang.cluster.clock import EventQueue
from dralang.cluster.podclaims import used_claim_names
from dralang.cluster.store import ObjectStore
from dralang.run.invariants.found_right import FoundRight
from dralang.run.simulation import Environment
from dralang.run.waiting import Waiting

BLOCKING: Final = ("NoSchedule", "NoExecute")
"""The effects of taints that keep requests away."""
MOST_SELECTED = 10_000
"""Verdicts of selectors that are remembered."""
SURROUNDINGS: Final[tuple[type[Any], ...]] = (ResourceSlice, DeviceClass, DeviceTaintRule, Node)
"""The kinds of object that say whether an allocation is right by itself."""
DeviceId = tuple[str, str, str]
PoolId = tuple[str, str]
Value = tuple[str, object]
"""A scalar attribute with its type."""


class Violation(Struct, frozen=True):
    """An invariant that did not hold.

    Attributes:
        invariant: its name.
        actual: what is the case.
        time: in milliseconds.
        after: how many entries the record had.
    """

    invariant: str
    actual: str
    time: int
    after: int


class Published(Struct, frozen=True, gc=False):
    """A device as a slice said at some time."""

    slice: ResourceSlice
    device: Device


class Waited(Struct, frozen=True):
    """What a preemptor waits for.

    Attributes:
        memory: of the scheduler that chose; another one knows nothing of it.
        node: where.
        claims: what the victims held: UID of the claim and the allocation.
    """

    memory: object
    node: str
    claims: tuple[tuple[str, AllocationResult], ...]


def device_name(result: DeviceRequestAllocationResult) -> str:
    """A device as people call it."""
    return f"{result.driver}/{result.pool}/{result.device}"


def request_of(claim: ResourceClaim, name: str) -> ExactDeviceRequest | DeviceSubRequest | None:
    """The request, or the alternative ``request/alternative``, that a result names."""
    head, _, tail = name.partition("/")
    for request in claim.spec.devices.requests:
        if request.name == head:
            if not tail:
                return request.exactly
            return next((each for each in request.first_available if each.name == tail), None)
    return None


def value_of(found: Published, name: str) -> Value | Literal["missing", "unclear"]:
    """The value that constraints compare; lists, and versions with an equality of their own, are not judged."""
    attributes = found.device.attributes
    domain, _, bare = name.rpartition("/")
    value = attributes.get(name) or (attributes.get(bare) if domain == found.slice.spec.driver else None)
    return "missing" if value is None else _plain(value) or "unclear"


def _plain(value: DeviceAttribute) -> Value | None:
    for kind, found in (("int", value.int_), ("bool", value.bool_), ("string", value.string)):
        if found is not None:
            return kind, found
    return None


class World:
    """The bookkeeping of one simulation."""

    def __init__(self, store: ObjectStore, events: EventQueue, environment: Environment) -> None:
        self.store = store
        self.events = events
        self.features = environment.features
        self.profile = environment.profile
        self.expressions: DeviceExpressions = environment.inventories.expressions
        self.holders: dict[DeviceId, dict[str, tuple[DeviceRequestAllocationResult, ...]]] = {}
        self.born: dict[str, int] = {}
        self.served: set[str] = set()
        """Claims (UIDs) that were ever reserved for somebody."""
        self.given_back: set[str] = set()
        """Those whose last reservation the scheduler has taken back, which frees no device."""
        self.priorities: dict[tuple[str, str], int] = {}
        self.slices: dict[PoolId, dict[str, list[tuple[int, ResourceSlice | None]]]] = {}
        self.pool_writes: dict[PoolId, list[tuple[int, str, ResourceSlice | None]]] = {}
        self.rules: list[tuple[int, tuple[DeviceTaintRule, ...]]] = [(0, ())]
        self.classes: dict[str, list[tuple[int, DeviceClass | None]]] = {}
        self.has_taints = False
        """Whether a device ever had a taint of its own or by a rule."""
        self.counted: set[PoolId] = set()
        """The pools that ever had counters."""
        self.lag = 0
        self.waited: dict[str, Waited] = {}
        """What each preemptor (UID) waits for."""
        self.moment: tuple[int, ...] = ()
        self.waits: dict[str, Waiting | None] = {}
        """Why pods (UIDs) wait at a moment, as far as somebody asked; see ``rest``."""
        self.right: FoundRight | None = None
        """Allocations that need no second look, as long as the surroundings are those of the beginning."""
        self._selected = environment.inventories.selected
        self._published: dict[tuple[DeviceId, int], list[Published]] = {}
        """What was looked up since a slice was written last."""

    # ---- bookkeeping ------------------------------------------------------------------------------------------------

    def note(self, kind: type[Any], old: Any, new: Any) -> None:
        """Take over a write, before or after it was judged."""
        now = self.events.now
        if kind in SURROUNDINGS:
            self.right = None
        if kind is ResourceClaim:
            self._note_claim(old, new, now)
        elif kind is Pod:
            if new is not None:
                meta = new.metadata
                self.priorities[meta.namespace, meta.name] = new.spec.priority or 0
        elif kind is ResourceSlice:
            found = old if new is None else new
            pool = (found.spec.driver, found.spec.pool.name)
            self.slices.setdefault(pool, {}).setdefault(found.metadata.name, []).append((now, new))
            self.pool_writes.setdefault(pool, []).append((now, found.metadata.name, new))
            self._published.clear()
            self._note_slice(found)
        elif kind is DeviceTaintRule:
            self.rules.append((now, tuple(self.store.objects(DeviceTaintRule))))
            self.has_taints = True
        elif kind is DeviceClass:
            found = old if new is None else new
            self.classes.setdefault(found.metadata.name, []).append((now, new))

    def surroundings(self) -> tuple[object, ...]:
        """What an allocation is judged by besides itself."""
        return tuple([each for kind in SURROUNDINGS for each in self.store.objects(kind)])

    def _note_slice(self, found: ResourceSlice) -> None:
        spec = found.spec
        if spec.shared_counters:
            self.counted.add((spec.driver, spec.pool.name))
        self.has_taints = self.has_taints or any(device.taints for device in spec.devices)

    def _note_claim(self, old: ResourceClaim | None, new: ResourceClaim | None, now: int) -> None:
        found = old if new is None else new
        assert found is not None
        uid = found.metadata.uid
        before = None if old is None else old.status.allocation
        after = None if new is None else new.status.allocation
        if old is None:
            self.born[uid] = now
        if before is not after:
            self._hold(uid, before, None)
            self._hold(uid, None, after)
        if new is not None and new.status.reserved_for:
            self.served.add(uid)
            self.given_back.discard(uid)
        elif old is not None and old.status.reserved_for and self.events.running == "scheduler":
            self.given_back.add(uid)

    def _hold(self, uid: str, before: AllocationResult | None, after: AllocationResult | None) -> None:
        for result in before.devices.results if before is not None else ():
            device = (result.driver, result.pool, result.device)
            held = self.holders.get(device)
            if held is not None:
                held.pop(uid, None)
                if not held:
                    del self.holders[device]
        for result in after.devices.results if after is not None else ():
            if not result.admin_access:
                held = self.holders.setdefault((result.driver, result.pool, result.device), {})
                held[uid] = (*held.get(uid, ()), result)

    def has_claims_named_twice(self, quirk: str) -> bool:
        """Whether a fault is modelled that befalls pods which name a claim twice, and there is one."""
        if not self.profile.has(quirk):
            return False
        named = [list(used_claim_names(pod)) for pod in self.store.objects(Pod)]
        return any(len(names) > len(set(names)) for names in named)

    def has_unwritable_footprint(self, quirk: str) -> bool:
        """Whether a fault is modelled by which the API server refuses what devices take of a node, and it struck."""
        return self.profile.has(quirk) and any(
            condition.message.endswith("no mapping found in pod reference")
            for pod in self.store.objects(Pod)
            for condition in pod.status.conditions
        )

    def has_empty_claim_for_resources(self, quirk: str) -> bool:
        """Whether a fault is modelled by which a claim without requests is made for a pod, and it struck."""
        return self.profile.has(quirk) and any(
            "nil or empty request mappings" in condition.message
            for pod in self.store.objects(Pod)
            for condition in pod.status.conditions
        )

    def has_undated_allocation(self, quirk: str) -> bool:
        """Whether a fault is modelled by which an allocation without a time cannot be reserved, and there is one."""
        return self.profile.has(quirk) and any(
            claim.status.allocation is not None and claim.status.allocation.allocation_timestamp is None
            for claim in self.store.objects(ResourceClaim)
        )

    def may_be_overlooked(self) -> bool:
        """Whether a fault is modelled by which a change does not wake whom it helps, and there are such devices."""
        room = self.profile.has("mapped-resources-wake-nobody")
        operations = self.profile.has("node-operations-wake-nobody")
        return (room or operations) and any(
            (operations and spec.skip_node_operations)
            or (room and any(device.node_allocatable_resources for device in spec.devices))
            for spec in (each.spec for each in self.store.objects(ResourceSlice))
        )

    def may_have_forgotten_devices(self, quirk: str) -> bool:
        """Whether a fault is modelled that frees devices in a late scheduler's memory, and a binding failed in one."""
        if not self.profile.has(quirk) or not max(self.lag, self.events.lag("scheduler")):
            return False
        failed = ("running PreBind plugin", "running Bind plugin")
        return any(each.message.startswith(failed) for each in self.store.journal.entries)

    # ---- looking back -----------------------------------------------------------------------------------------------

    def since(self, claim: ResourceClaim) -> int:
        """From when on a decision about a claim may have been taken, as its maker saw the world."""
        return self.born.get(claim.metadata.uid, 0) - max(self.lag, self.events.lag("scheduler"))

    def published(self, device: DeviceId, since: int) -> list[Published]:
        """Every version of a device that was current at some time since then, the newest last."""
        found = self._published.get((device, since))
        if found is None:
            if len(self._published) >= MOST_SELECTED:
                self._published.clear()
            found = self._published[device, since] = []
            for versions in self.slices.get(device[:2], {}).values():
                for slice_ in _current(versions, since):
                    if slice_ is not None:
                        found += [Published(slice_, each) for each in slice_.spec.devices if each.name == device[2]]
        return found

    def selects(self, found: Published, expression: str) -> bool:
        """Whether a selector is true of a device; remembered.

        Raises:
            ExpressionError: it cannot be told.
        """
        key = (found.slice.spec.driver, id(found.device), expression)
        known = self._selected.get(key)
        if known is None:
            prepared = self.expressions.prepare(found.slice.spec.driver, found.device)
            verdict: bool | ExpressionError
            try:
                verdict = bool(self.expressions.selector(expression)(prepared))
            except ExpressionError as error:
                verdict = error
            if len(self._selected) >= MOST_SELECTED:
                self._selected.clear()
            # The device is kept with it, so that no other one can take its place in memory.
            known = self._selected[key] = (found.device, verdict)
        if isinstance(known[1], ExpressionError):
            raise known[1]
        return known[1]

    def is_steady(self, pool: PoolId, since: int) -> bool:
        """Whether a pool has not changed since then."""
        return all(len(_current(versions, since)) == 1 for versions in self.slices.get(pool, {}).values())

    def is_quiet(self, since: int) -> bool:
        """Whether no slice and no class has changed since then."""
        return all(self.is_steady(pool, since) for pool in self.slices) and all(
            len(_current(versions, since)) == 1 for versions in self.classes.values()
        )

    def pool_states(self, pool: PoolId, since: int) -> list[list[ResourceSlice]]:
        """All slices of a pool as they were together since then, between the writes of one instant too."""
        states: list[list[ResourceSlice]] = []
        state: dict[str, ResourceSlice] = {}
        for time, name, slice_ in self.pool_writes.get(pool, ()):
            if time >= since:
                states.append(list(state.values()))
            state.pop(name, None)
            if slice_ is not None:
                state[name] = slice_
        return [*states, list(state.values())]

    def rules_since(self, since: int) -> list[tuple[DeviceTaintRule, ...]]:
        """The sets of taint rules that were current at some time since then."""
        if not (self.features.enabled("DRADeviceTaintRules") and self.features.enabled("DRADeviceTaints")):
            return [()]
        return _current(self.rules, since)

    def classes_since(self, name: str, since: int) -> list[DeviceClass]:
        """The versions of a class that were current at some time since then."""
        return [each for each in _current(self.classes.get(name, []), since) if each is not None]

    def pool_slices(self, pool: PoolId) -> Iterator[ResourceSlice]:
        """The slices of the newest generation of a pool, as they are now."""
        last = [versions[-1][1] for versions in self.slices.get(pool, {}).values()]
        slices = [each for each in last if each is not None]
        newest = max((each.spec.pool.generation for each in slices), default=0)
        return (each for each in slices if each.spec.pool.generation == newest)

    def node(self, name: str) -> Node | None:
        """A node, or None."""
        return self.store.get(Node, "", name)


def _current(versions: Any, since: int) -> list[Any]:
    """What was current at some time since an instant."""
    first = 0
    for number, (time, _) in enumerate(versions):
        if time < since:
            first = number
    return [each for _, each in versions[first:]]
