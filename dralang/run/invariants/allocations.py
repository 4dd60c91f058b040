"""Invariants of a single allocation, looked at when it is written: what it says must be allowed, however it was found.

The checks know nothing of the allocator. They read the claim, the written result, and what was published.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from dralang.allocator.node_selection import NodeSelectorError, selector_matches
from dralang.allocator.taints import tolerates
from dralang.api.allocation import AllocationResult
from dralang.api.device import DeviceSelector
from dralang.api.deviceclass import DeviceClass
from dralang.api.expressions import ExpressionError
from dralang.api.nodes import Node
from dralang.api.resourceclaim import DeviceConstraint, ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.cluster.taint_rules import selects
from dralang.run.invariants.amounts import UnclearError
from dralang.run.invariants.naive import Request, Situation, all_devices
from dralang.run.invariants.world import BLOCKING, Published, World, device_name, request_of, value_of
from dralang.values.quantity import ZERO

MOST_RESULTS: Final = 32


# ---- shared devices, counters, capacity -----------------------------------------------------------------------------


def no_device_over_allocated(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """No device is held by two claims, unless both hold shares of it; administrative access holds nothing."""
    excused = world.profile.has("dedicated-ignores-shares")
    for result in allocation.devices.results:
        if result.admin_access:
            continue
        held = world.holders.get((result.driver, result.pool, result.device), {})
        for uid, others in held.items():
            if uid == claim.metadata.uid:
                if len(others) > 1 and any(each.share_id is None for each in others):
                    yield f"{device_name(result)} is in {claim.metadata.name} twice"
                continue
            shared = result.share_id is not None
            other_shared = all(each.share_id is not None for each in others)
            if (shared and other_shared) or (excused and shared != other_shared):
                continue
            if world.has_claims_named_twice("second-mention-replaces-first"):
                continue
            if world.may_have_forgotten_devices("failed-binding-forgets-devices"):
                continue
            yield f"{device_name(result)} is given to {claim.metadata.name} while another claim ({uid}) holds it"


def no_capacity_below_zero(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """What is consumed of a device's capacity never exceeds it, and nobody consumes less than nothing."""
    for result in allocation.devices.results:
        for capacity, amount in (result.consumed_capacity or {}).items():
            if amount < ZERO:
                yield f"{claim.metadata.name} consumes {amount} {capacity} of {device_name(result)}"
            device = (result.driver, result.pool, result.device)
            found = world.published(device, world.since(claim))
            sizes = [each.device.capacity[capacity].value for each in found if capacity in each.device.capacity]
            if not sizes:
                continue
            total = ZERO
            for others in world.holders.get(device, {}).values():
                for each in others:
                    total += (each.consumed_capacity or {}).get(capacity, ZERO)
            if total > max(sizes) and not world.may_have_forgotten_devices("failed-binding-forgets-devices"):
                yield f"{total} {capacity} of {device_name(result)} are consumed, it has {max(sizes)}"


def no_counter_below_zero(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """The devices in use never draw more from a counter than it has; a device counts once, however many share it."""
    for pool in dict.fromkeys((each.driver, each.pool) for each in allocation.devices.results if not each.admin_access):
        if pool not in world.counted:
            continue
        if not world.is_steady(pool, world.since(claim)):
            continue  # what the decision counted with has changed since
        slices = list(world.pool_slices(pool))
        left = {
            (shared.name, counter): value.value
            for each in slices
            for shared in each.spec.shared_counters
            for counter, value in shared.counters.items()
        }
        for each in slices:
            for device in each.spec.devices:
                if (*pool, device.name) not in world.holders:
                    continue
                for consumption in device.consumes_counters:
                    for counter, value in consumption.counters.items():
                        key = (consumption.counter_set, counter)
                        if key in left:
                            left[key] -= value.value
        for (name, counter), amount in left.items():
            if amount < ZERO and not world.may_have_forgotten_devices("failed-binding-forgets-devices"):
                yield f"counter {counter} of {name} in pool {pool[1]} is {amount} after {claim.metadata.name}"


# ---- requests -------------------------------------------------------------------------------------------------------


def requests_answered(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """Every request gets the number of devices it asks for, from one of its alternatives, and nothing else is given."""
    results = allocation.devices.results
    if len(results) > MOST_RESULTS:
        yield f"{claim.metadata.name} has {len(results)} devices, more than {MOST_RESULTS}"
    named = dict.fromkeys(result.request for result in results)
    for name in named:
        if request_of(claim, name) is None:
            yield f"{claim.metadata.name} has devices for `{name}`, which it does not request"
    for request in claim.spec.devices.requests:
        answered = [name for name in named if name.partition("/")[0] == request.name]
        if len(answered) != 1:
            yield f"request {request.name} of {claim.metadata.name} is answered by {', '.join(answered) or 'nothing'}"
            continue
        asked = request_of(claim, answered[0])
        count = sum(result.request == answered[0] for result in results)
        if asked is not None and asked.allocation_mode != "All" and count != (asked.count or 1):
            yield f"request {answered[0]} of {claim.metadata.name} wants {asked.count or 1} devices and has {count}"


def devices_published(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """Only devices that some slice has published are allocated."""
    for result in allocation.devices.results:
        if not world.published((result.driver, result.pool, result.device), world.since(claim)):
            yield f"{claim.metadata.name} has {device_name(result)}, which no slice has"


def all_means_all(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """A request for all devices gets every one that it admits on its node, and at least one."""
    since = world.since(claim)
    answered = {result.request for result in allocation.devices.results}
    for request in claim.spec.devices.requests:
        names = [request.name, *(f"{request.name}/{each.name}" for each in request.first_available)]
        asked = next((found for name in names if name in answered and (found := request_of(claim, name))), None)
        if asked is None:
            asked = request.exactly
        if asked is None or asked.allocation_mode != "All":
            continue
        given = [
            (result.driver, result.pool, result.device)
            for result in allocation.devices.results
            if result.request.partition("/")[0] == request.name
        ]
        if not given:
            yield f"{claim.metadata.name} is allocated and request {request.name}, for all devices, has none"
        elif world.is_quiet(since):
            wanted = [found for node in world.store.objects(Node) for found in _all_on(world, allocation, node, asked)]
            if wanted and not any(set(given) == set(each) for each in wanted):
                missing = [sorted({"/".join(id_) for id_ in set(each) ^ set(given)}) for each in wanted]
                yield f"request {request.name} of {claim.metadata.name} wants all devices; it differs in {missing[0]}"


def _all_on(
    world: World, allocation: AllocationResult, node: Node, request: Request
) -> Iterator[list[tuple[str, str, str]]]:
    """What mode All means on a node where the allocation can be used; nothing if that cannot be told."""
    if not reaches(allocation, node):
        return
    classes = {each.metadata.name: each for each in world.store.objects(DeviceClass)}
    try:
        yield all_devices(world, Situation(node, world.store.objects(ResourceSlice), classes, {}), request)
    except UnclearError:
        return


def pools_are_complete(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """Devices are given only from pools of which every slice of the newest generation was there."""
    if "skipped bad pools" in world.profile.lacks:
        return  # 1.34 takes what there is
    for result in allocation.devices.results:
        states = world.pool_states((result.driver, result.pool), world.since(claim))
        several = any(len({each.spec.pool.generation for each in state}) > 1 for state in states)
        if not states or (several and world.profile.has("old-generation-hides-newer")):
            continue
        if not any(_is_complete_with(state, result.device) for state in states):
            yield f"{claim.metadata.name} has {device_name(result)} of a pool that was never complete"


def _is_complete_with(state: Sequence[ResourceSlice], device: str) -> bool:
    newest = max((each.spec.pool.generation for each in state), default=0)
    slices = [each for each in state if each.spec.pool.generation == newest]
    return any(each.name == device for slice_ in slices for each in slice_.spec.devices) and any(
        each.spec.pool.resource_slice_count == len(slices) for each in slices
    )


def selectors_hold(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """The selectors of class and request hold for every device that is allocated."""
    since = world.since(claim)
    for result in allocation.devices.results:
        request = request_of(claim, result.request)
        if request is None or request.derived_attributes:
            continue
        found = world.published((result.driver, result.pool, result.device), since)
        classes = world.classes_since(request.device_class_name, since)
        wanted = [each.spec.selectors for each in classes]
        if not classes:
            yield f"{claim.metadata.name} has {device_name(result)} by {request.device_class_name}, which is no class"
        elif found and not any(
            _selected(world, each, (*selectors, *request.selectors)) for each in found for selectors in wanted
        ):
            yield f"{claim.metadata.name} has {device_name(result)}, which its selectors do not select"


def _selected(world: World, found: Published, selectors: Sequence[DeviceSelector]) -> bool:
    try:
        return all(world.selects(found, each.cel.expression) for each in selectors if each.cel is not None)
    except ExpressionError:
        return False


def taints_respected(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """No device with a NoSchedule or NoExecute taint is allocated to a request that does not tolerate it."""
    if not world.has_taints or not world.features.enabled("DRADeviceTaints"):
        return
    since = world.since(claim)
    for result in allocation.devices.results:
        request = request_of(claim, result.request)
        found = world.published((result.driver, result.pool, result.device), since)
        if request is None or not found:
            continue
        tolerations = request.tolerations
        worst = ""
        for each in found:
            for rules in world.rules_since(since):
                of_rules = [
                    rule.spec.taint
                    for rule in rules
                    if selects(rule.spec.device_selector, result.driver, result.pool, result.device)
                ]
                left = [
                    taint
                    for taint in (*each.device.taints, *of_rules)
                    if taint.effect in BLOCKING and not any(tolerates(one, taint) for one in tolerations)
                ]
                worst = f"{left[0].key}:{left[0].effect}" if left else ""
                if not left:
                    break
            if not worst:
                break
        if worst:
            name = claim.metadata.name
            yield f"{name} has {device_name(result)}, which has the taint {worst} that it does not tolerate"


# ---- constraints ----------------------------------------------------------------------------------------------------


def constraints_hold(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """The devices of a claim agree where `matchAttribute` says so and differ where `distinctAttribute` does."""
    since = world.since(claim)
    for constraint in claim.spec.devices.constraints:
        if constraint.distinct_attribute and (
            world.profile.has("distinct-attribute-knows-latest-device")
            or world.profile.has("distinct-attribute-compares-identity")
        ):
            continue
        values = _values(world, claim, allocation, constraint, since)
        if values is None:
            continue
        name = constraint.match_attribute or constraint.distinct_attribute
        if None in values:
            yield f"{claim.metadata.name} has a device without {name}, which its constraint needs"
        elif constraint.match_attribute and len(set(values)) > 1:
            yield f"the devices of {claim.metadata.name} differ in {name}"
        elif constraint.distinct_attribute and len(set(values)) < len(values):
            yield f"two devices of {claim.metadata.name} are alike in {name}"


def _values(
    world: World, claim: ResourceClaim, allocation: AllocationResult, constraint: DeviceConstraint, since: int
) -> list[object] | None:
    """The values that a constraint compares; None where that cannot be told from what is published."""
    name = constraint.match_attribute or constraint.distinct_attribute or ""
    values: list[object] = []
    for result in allocation.devices.results:
        head = result.request.partition("/")[0]
        if constraint.requests and head not in constraint.requests and result.request not in constraint.requests:
            continue
        request = request_of(claim, result.request)
        found = world.published((result.driver, result.pool, result.device), since)
        if len(found) != 1 or request is None or request.derived_attributes:
            return None
        value = value_of(found[0], name)
        if value == "unclear":
            return None
        values.append(None if value == "missing" else value)
    return values


# ---- nodes ----------------------------------------------------------------------------------------------------------


def reaches(allocation: AllocationResult, node: Node) -> bool:
    """Whether the devices of an allocation can be used on a node."""
    if allocation.node_selector is None:
        return True
    try:
        return selector_matches(allocation.node_selector, node)
    except NodeSelectorError:
        return False
