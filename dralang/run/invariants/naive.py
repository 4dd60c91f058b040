"""A second allocator, for those who check the first: the plainest search there is, written from the rules.

It tries requests, alternatives, pools, slices and devices in their order, one after the other, remembers nothing and is
clever about nothing. What it does not model, or what Kubernetes answers in a way of its own (a quirk that is on), it
does not judge: it says so by ``UnclearError``.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from dralang.allocator.node_selection import NodeSelectorError, node_matches
from dralang.allocator.taints import tolerates
from dralang.api.allocation import DeviceRequestAllocationResult
from dralang.api.device import DeviceSelector
from dralang.api.deviceclass import DeviceClass
from dralang.api.expressions import ExpressionError
from dralang.api.nodes import Node
from dralang.api.resourceclaim import DeviceConstraint, DeviceSubRequest, ExactDeviceRequest, ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.run.invariants.amounts import UnclearError, amounts_of
from dralang.run.invariants.world import BLOCKING, DeviceId, PoolId, Published, Value, World, value_of

MOST_DEVICES: Final = 24
MOST_STEPS: Final = 4_000
MOST_RESULTS: Final = 32
Held = Mapping[DeviceId, Sequence[DeviceRequestAllocationResult]]
Request = ExactDeviceRequest | DeviceSubRequest


class Situation(Struct, frozen=True):
    """What a decision about claims is taken upon.

    Attributes:
        node: where.
        slices: of the whole cluster, with the taints of rules.
        classes: by name.
        held: what each device in use is used for, administrative access left out.
    """

    node: Node
    slices: Sequence[ResourceSlice]
    classes: Mapping[str, DeviceClass]
    held: Held


class Choice(Struct, frozen=True):
    """A device for a request.

    Attributes:
        claim: number of the claim.
        name: of the request or alternative, as results have it.
        rank: number of the alternative, from 0.
        device: the device.
    """

    claim: int
    name: str
    rank: int
    device: Published

    @property
    def id(self) -> DeviceId:
        """Driver, pool and name of the device."""
        spec = self.device.slice.spec
        return spec.driver, spec.pool.name, self.device.device.name


def first_solution(world: World, situation: Situation, claims: Sequence[ResourceClaim]) -> list[Choice] | None:
    """The first complete choice in the order of the search; None if there is none at all.

    Raises:
        UnclearError: this is not judged.
    """
    search = _Search(world, situation, claims)
    return search.chosen if search.run() else None


def all_devices(world: World, situation: Situation, request: Request) -> list[DeviceId]:
    """What mode All means on a node: every device that the request admits, whoever has it.

    Raises:
        UnclearError: this is not judged.
    """
    search = _Search(world, situation, ())
    class_ = situation.classes.get(request.device_class_name)
    if class_ is None or request.derived_attributes or search.bad_pool:
        raise UnclearError
    return [Choice(0, "", 0, found).id for found, _ in search.matching(class_, request)]


class _Slot(Struct, frozen=True):
    """A request or an alternative of it; private to this module."""

    claim: int
    name: str
    rank: int
    request: Request
    constraints: tuple[int, ...]
    candidates: tuple[Published, ...]
    amounts: Mapping[int, Mapping[str, int]]

    @property
    def takes_all(self) -> bool:
        return self.request.allocation_mode == "All"

    @property
    def number(self) -> int:
        return len(self.candidates) if self.takes_all else self.request.count or 1


class _Search:
    """One question; private to this module."""

    def __init__(self, world: World, situation: Situation, claims: Sequence[ResourceClaim]) -> None:
        self.world = world
        self.situation = situation
        self.claims = claims
        self.bad_pool = False
        self.pools = self._pools()
        self.devices = [each for pool in sorted(self.pools) for each in self._devices(pool)]
        if len(self.devices) > MOST_DEVICES or any(each.device.binding_conditions for each in self.devices):
            raise UnclearError
        self.counters = self._counters()
        self.steps = 0
        self.chosen: list[Choice] = []
        self.taken: dict[DeviceId, list[Mapping[str, int]]] = {}
        self.requests = [self._slots(number, claim) for number, claim in enumerate(claims)]
        self.order = [slots for of_claim in self.requests for slots in of_claim]
        most = sum(max((slot.number for slot in slots), default=0) for slots in self.order)
        if most > MOST_RESULTS:
            raise UnclearError

    def run(self) -> bool:
        return self._request(0)

    # ---- what there is ----------------------------------------------------------------------------------------------

    def _pools(self) -> dict[PoolId, list[ResourceSlice]]:
        """The slices of the newest generation of the good pools that the node can reach, all nodes' slices included."""
        by_pool: dict[PoolId, list[ResourceSlice]] = {}
        for each in self.situation.slices:
            by_pool.setdefault((each.spec.driver, each.spec.pool.name), []).append(each)
        good: dict[PoolId, list[ResourceSlice]] = {}
        for pool, slices in by_pool.items():
            if not any(self._reaches(each) for each in slices):
                continue
            if len({each.spec.pool.generation for each in slices}) > 1:
                raise UnclearError  # who still sees the old generation is a chapter of its own
            if len({each.spec.pool.resource_slice_count for each in slices}) > 1:
                raise UnclearError
            if slices[0].spec.pool.resource_slice_count != len(slices) or self._is_invalid(slices):
                self.bad_pool = True
                if "skipped bad pools" in self.world.profile.lacks:
                    raise UnclearError
                continue
            good[pool] = sorted(slices, key=lambda each: each.metadata.name)
        return good

    def _is_invalid(self, slices: Sequence[ResourceSlice]) -> bool:
        names = [device.name for each in slices for device in each.spec.devices]
        sets = [shared for each in slices for shared in each.spec.shared_counters]
        known = {(shared.name, counter) for shared in sets for counter in shared.counters}
        used = {
            (consumption.counter_set, counter)
            for each in slices
            for device in each.spec.devices
            for consumption in device.consumes_counters
            for counter in consumption.counters
        }
        if len({shared.name for shared in sets}) < len(sets) or not used <= known or len(set(names)) < len(names):
            # What makes a pool bad on one node and not on another depends on what that node sees of it.
            if any(each.spec.node_name != self.situation.node.metadata.name for each in slices):
                raise UnclearError
            return True
        return False

    def _reaches(self, each: ResourceSlice) -> bool:
        spec = each.spec
        if spec.skip_node_operations:
            raise UnclearError
        if spec.per_device_node_selection:
            return any(self._reaches_device(Published(each, device)) for device in spec.devices)
        try:
            return node_matches(self.situation.node, spec.node_name, spec.node_selector, all_nodes=spec.all_nodes)
        except NodeSelectorError:
            raise UnclearError from None

    def _reaches_device(self, found: Published) -> bool:
        device = found.device
        try:
            return node_matches(self.situation.node, device.node_name, device.node_selector, all_nodes=device.all_nodes)
        except NodeSelectorError:
            raise UnclearError from None

    def _devices(self, pool: PoolId) -> Iterator[Published]:
        for each in self.pools[pool]:
            if not self._reaches(each):
                continue
            for device in each.spec.devices:
                found = Published(each, device)
                if not each.spec.per_device_node_selection or self._reaches_device(found):
                    yield found

    def _counters(self) -> dict[tuple[PoolId, str, str], int]:
        left: dict[tuple[PoolId, str, str], int] = {}
        for pool, slices in self.pools.items():
            for each in slices:
                for shared in each.spec.shared_counters:
                    for counter, value in shared.counters.items():
                        left[pool, shared.name, counter] = value.value.nano
            published = {device.name for each in slices for device in each.spec.devices}
            if any(device[:2] == pool and device[2] not in published for device in self.situation.held):
                raise UnclearError  # what is in use and no longer published
            for each in slices:
                for device in each.spec.devices:
                    if (*pool, device.name) in self.situation.held:
                        self._draw(left, Published(each, device), 1)
        if any(amount < 0 for amount in left.values()):
            raise UnclearError
        return left

    @staticmethod
    def _draw(left: dict[tuple[PoolId, str, str], int], found: Published, sign: int) -> bool:
        """Take what a device draws, or with -1 give it back; whether there was enough."""
        enough = True
        pool = (found.slice.spec.driver, found.slice.spec.pool.name)
        for consumption in found.device.consumes_counters:
            if consumption.compatibility_groups:
                raise UnclearError
            for counter, value in consumption.counters.items():
                key = (pool, consumption.counter_set, counter)
                left[key] = left.get(key, 0) - sign * value.value.nano
                enough = enough and left[key] >= 0
        return enough

    # ---- what is wanted ---------------------------------------------------------------------------------------------

    def _slots(self, number: int, claim: ResourceClaim) -> list[list[_Slot]]:
        result: list[list[_Slot]] = []
        for request in claim.spec.devices.requests:
            if request.exactly is not None:
                asked: list[tuple[str, Request]] = [(request.name, request.exactly)]
            else:
                asked = [(f"{request.name}/{each.name}", each) for each in request.first_available]
            result.append([self._slot(number, claim, name, rank, each) for rank, (name, each) in enumerate(asked)])
        return result

    def _slot(self, number: int, claim: ResourceClaim, name: str, rank: int, request: Request) -> _Slot:
        class_ = self.situation.classes.get(request.device_class_name)
        admin = isinstance(request, ExactDeviceRequest) and request.admin_access
        constraints = claim.spec.devices.constraints
        covering = tuple(index for index, each in enumerate(constraints) if not each.requests or _covers(each, name))
        takes_all = request.allocation_mode == "All"
        if class_ is None or admin or request.derived_attributes:
            raise UnclearError
        if takes_all and (self.bad_pool or (covering and self.world.profile.has("all-constraint-is-fatal"))):
            raise UnclearError
        found = list(self.matching(class_, request))
        amounts = {id(each.device): takes for each, takes in found}
        return _Slot(number, name, rank, request, covering, tuple([each for each, _ in found]), amounts)

    def matching(self, class_: DeviceClass, request: Request) -> Iterator[tuple[Published, Mapping[str, int]]]:
        """The devices that class, selectors and size admit, with what the request takes of each."""
        requested = {} if request.capacity is None else request.capacity.requests
        for found in self.devices:
            if self._selects(found, (*class_.spec.selectors, *request.selectors)):
                takes = amounts_of(self.world, found.slice.spec.driver, found.device, requested)
                if takes is not None:
                    yield found, takes

    def _selects(self, found: Published, selectors: Sequence[DeviceSelector]) -> bool:
        try:
            return all(self.world.selects(found, each.cel.expression) for each in selectors if each.cel is not None)
        except ExpressionError:
            raise UnclearError from None

    # ---- the search -------------------------------------------------------------------------------------------------

    def _request(self, at: int) -> bool:
        """Whether the requests from one on can be served."""
        if at == len(self.order):
            return True
        return any(slot.number and self._device(at, slot, 0, 0) for slot in self.order[at])

    def _device(self, at: int, slot: _Slot, index: int, first: int) -> bool:
        """Whether a request can be served from its device number ``index`` on, and all requests after it."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise UnclearError
        if index == slot.number:
            return self._request(at + 1)
        last = first + 1 if slot.takes_all else len(slot.candidates)
        for place in range(first, last):
            found = slot.candidates[place]
            choice = Choice(slot.claim, slot.name, slot.rank, found)
            drawn = self._take(slot, choice)
            if drawn is None:
                continue
            if self._device(at, slot, index + 1, place + 1):
                return True
            self.chosen.pop()
            self.taken[choice.id].pop()
            if drawn:
                self._draw(self.counters, found, -1)
        return False

    def _take(self, slot: _Slot, choice: Choice) -> bool | None:
        """Take a device, if nothing is against it; whether it drew on counters. None if it cannot be taken."""
        found, id_ = choice.device, choice.id
        device = found.device
        held = self.situation.held.get(id_, ())
        taken = self.taken.setdefault(id_, [])
        shared = bool(device.allow_multiple_allocations)
        if any(each.share_id is None for each in held) or (taken and not shared):
            return None
        if held and not shared:
            raise UnclearError  # what was shared when it was given, and is not any more
        takes = slot.amounts[id(device)]
        if shared and not _has_room(found, takes, held, taken):
            return None
        if any(
            taint.effect in BLOCKING and not any(tolerates(each, taint) for each in slot.request.tolerations)
            for taint in device.taints
        ):
            return None
        if not all(self._agrees(slot, choice, index) for index in slot.constraints):
            return None
        draws = bool(device.consumes_counters) and not (shared and (held or taken))
        if draws and not self._draw(self.counters, found, 1):
            self._draw(self.counters, found, -1)
            return None
        taken.append(takes)
        self.chosen.append(choice)
        return draws

    def _agrees(self, slot: _Slot, choice: Choice, index: int) -> bool:
        constraint = self.claims[slot.claim].spec.devices.constraints[index]
        own = self._value(choice.device, constraint)
        if own is None:
            return False
        others = [
            self._value(each.device, constraint)
            for each in self.chosen
            if each.claim == slot.claim and (not constraint.requests or _covers(constraint, each.name))
        ]
        return all(each == own for each in others) if constraint.match_attribute else own not in others

    def _value(self, found: Published, constraint: DeviceConstraint) -> Value | None:
        value = value_of(found, constraint.match_attribute or constraint.distinct_attribute or "")
        if value == "unclear":
            raise UnclearError
        return value if isinstance(value, tuple) else None


def _covers(constraint: DeviceConstraint, name: str) -> bool:
    return name in constraint.requests or name.partition("/")[0] in constraint.requests


def _has_room(
    found: Published,
    takes: Mapping[str, int],
    held: Sequence[DeviceRequestAllocationResult],
    taken: Sequence[Mapping[str, int]],
) -> bool:
    for name, capacity in found.device.capacity.items():
        used = sum((each.consumed_capacity or {})[name].nano for each in held if name in (each.consumed_capacity or {}))
        used += sum(each.get(name, 0) for each in taken)
        if used + takes.get(name, 0) > capacity.value.nano:
            return False
    return True
