"""Completeness: a claim that the allocator refuses cannot be satisfied by any assignment of whole devices.

A search of its own over a few devices, written from the rules and not from the allocator. It uses less than there is
(no shares, no mode All, no derived attributes): what it finds is a solution, what it does not find says nothing.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from dralang.allocator.taints import tolerates
from dralang.api.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dralang.api.expressions import ExpressionError
from dralang.api.resourceclaim import DeviceSubRequest, ExactDeviceRequest, ResourceClaim
from dralang.cluster.taint_rules import selects
from dralang.run.invariants.allocations import constraints_hold
from dralang.run.invariants.world import PoolId, Published, World
from dralang.run.simulation import Simulation
from dralang.run.waiting import AllocationQuestion, waiting
from dralang.values.quantity import ZERO, Quantity

MOST_SLOTS: Final = 6
MOST_DEVICES: Final = 12
MOST_STEPS: Final = 4_000
_BLOCKING: Final = ("NoSchedule", "NoExecute")
Counters = dict[tuple[PoolId, str, str], Quantity]


class _Slot(Struct, frozen=True):
    """One device that is wanted."""

    claim: ResourceClaim
    name: str
    request: ExactDeviceRequest | DeviceSubRequest


def refusals_are_right(simulation: Simulation, world: World) -> Iterator[str]:
    """A pod that waits for devices could not have them: no choice of whole devices satisfies its claims."""
    if world.features.enabled("DRAPreemption"):
        return  # devices may be held for somebody
    for pod in simulation.pods():
        if pod.spec.node_name or pod.status.phase not in ("", "Pending") or pod.metadata.deletion_timestamp is not None:
            continue
        why = waiting(simulation, pod.metadata.namespace, pod.metadata.name)
        if why is None or why.place != "unschedulable" or why.gate[0] or why.before_nodes[1]:
            continue
        for refusal in why.refusals:
            question = refusal.question
            if question is None or refusal.reasons != ("cannot allocate all claims",):
                continue
            found = _Search(world, question).run()
            if found:
                yield f"{pod.metadata.name} is refused on {refusal.node}, where {', '.join(found)} would do"
                break


class _Search:
    """One question, asked again; private to this module."""

    def __init__(self, world: World, question: AllocationQuestion) -> None:
        self.world = world
        self.claims = question.claims
        self.steps = 0
        self.devices = [each for each in self._devices(question.node.metadata.name) if self._is_whole_and_free(each)]
        self.left = self._counters()
        self.taken: list[tuple[_Slot, Published]] = []

    def run(self) -> list[str]:
        """The devices of a solution, in the order of the requests; empty if none was found."""
        if len(self.devices) > MOST_DEVICES or any(amount < ZERO for amount in self.left.values()):
            return []
        for slots in self._choices(list(self.claims)):
            if 0 < len(slots) <= MOST_SLOTS and self._place(slots, 0):
                return [f"{each.slice.spec.driver}/{each.device.name} for {slot.name}" for slot, each in self.taken]
        return []

    # ---- what there is ----------------------------------------------------------------------------------------------

    def _devices(self, node: str) -> Iterator[Published]:
        for pool in sorted(self.world.slices):
            slices = list(self.world.pool_slices(pool))
            if any(each.spec.pool.resource_slice_count != len(slices) for each in slices):
                continue
            for each in slices:
                if each.spec.node_name == node:
                    yield from (Published(each, device) for device in each.spec.devices)

    def _is_whole_and_free(self, found: Published) -> bool:
        spec, device = found.slice.spec, found.device
        held = (spec.driver, spec.pool.name, device.name) in self.world.holders
        return not (held or device.allow_multiple_allocations or device.binding_conditions)

    def _counters(self) -> Counters:
        left: Counters = {}
        for pool in self.world.slices:
            slices = list(self.world.pool_slices(pool))
            for each in slices:
                for shared in each.spec.shared_counters:
                    for counter, value in shared.counters.items():
                        left[pool, shared.name, counter] = value.value
            for each in slices:
                for device in each.spec.devices:
                    if (*pool, device.name) in self.world.holders:
                        self._draw(left, Published(each, device), undo=False)
        return left

    @staticmethod
    def _draw(left: Counters, found: Published, *, undo: bool) -> bool:
        """Take what a device draws, or give it back; whether there is enough."""
        enough = True
        pool = (found.slice.spec.driver, found.slice.spec.pool.name)
        for consumption in found.device.consumes_counters:
            for counter, value in consumption.counters.items():
                key = (pool, consumption.counter_set, counter)
                before = left.get(key, ZERO)
                left[key] = before + value.value if undo else before - value.value
                enough = enough and left[key] >= ZERO
        return enough

    # ---- what is wanted ---------------------------------------------------------------------------------------------

    def _choices(self, claims: Sequence[ResourceClaim]) -> Iterator[list[_Slot]]:
        """Every choice of alternatives, as the devices that it needs."""
        wanted: list[list[list[_Slot]]] = []
        for claim in claims:
            for request in claim.spec.devices.requests:
                if request.exactly is not None:
                    options = [_slots(claim, request.name, request.exactly)]
                else:
                    options = [_slots(claim, f"{request.name}/{each.name}", each) for each in request.first_available]
                wanted.append([option for option in options if option])
        yield from _product(wanted)

    # ---- the search -------------------------------------------------------------------------------------------------

    def _place(self, slots: list[_Slot], at: int) -> bool:
        self.steps += 1
        if self.steps > MOST_STEPS:
            return False
        if at == len(slots):
            return all(self._constraints(claim) for claim in self.claims)
        for found in self.devices:
            if any(other is found for _, other in self.taken) or not self._fits(slots[at], found):
                continue
            enough = self._draw(self.left, found, undo=False)
            self.taken.append((slots[at], found))
            if enough and self._place(slots, at + 1):
                return True
            self.taken.pop()
            self._draw(self.left, found, undo=True)
        return False

    def _fits(self, slot: _Slot, found: Published) -> bool:
        world, spec = self.world, found.slice.spec
        classes = world.classes_since(slot.request.device_class_name, world.events.now + 1)
        if not classes:
            return False
        prepared = world.expressions.prepare(spec.driver, found.device)
        try:
            for selector in (*classes[-1].spec.selectors, *slot.request.selectors):
                if selector.cel is not None and not world.expressions.selector(selector.cel.expression)(prepared):
                    return False
        except ExpressionError:
            return False
        rules = world.rules_since(world.events.now + 1)[-1]
        of_rules = [
            rule.spec.taint
            for rule in rules
            if selects(rule.spec.device_selector, spec.driver, spec.pool.name, found.device.name)
        ]
        return all(
            taint.effect not in _BLOCKING or any(tolerates(each, taint) for each in slot.request.tolerations)
            for taint in (*found.device.taints, *of_rules)
        )

    def _constraints(self, claim: ResourceClaim) -> bool:
        results = tuple(
            [
                DeviceRequestAllocationResult(
                    request=slot.name,
                    driver=found.slice.spec.driver,
                    pool=found.slice.spec.pool.name,
                    device=found.device.name,
                )
                for slot, found in self.taken
                if slot.claim is claim
            ]
        )
        made = AllocationResult(devices=DeviceAllocationResult(results=results))
        names = {self.world.is_steady((each.driver, each.pool), self.world.since(claim)) for each in results}
        return False not in names and not list(constraints_hold(self.world, claim, made))


def _slots(claim: ResourceClaim, name: str, request: ExactDeviceRequest | DeviceSubRequest) -> list[_Slot]:
    """The devices of a request; none if it asks for something that is not judged here."""
    admin = isinstance(request, ExactDeviceRequest) and request.admin_access
    if request.allocation_mode == "All" or request.derived_attributes or request.capacity is not None or admin:
        return []
    return [_Slot(claim, name, request)] * (request.count or 1)


def _product(wanted: list[list[list[_Slot]]]) -> Iterator[list[_Slot]]:
    if not wanted:
        yield []
        return
    for option in wanted[0]:
        for rest in _product(wanted[1:]):
            yield [*option, *rest]
