"""Invariants of a single allocation, looked at when it is written: what it says must be allowed, however it was found.

The checks know nothing of the allocator. They read the claim, the written result, and what was published.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from dralang.allocator.node_selection import NodeSelectorError, selector_matches
from dralang.allocator.taints import tolerates
from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult
from dralang.api.device import DeviceSelector
from dralang.api.expressions import ExpressionError
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import DeviceConstraint, DeviceSubRequest, ExactDeviceRequest, ResourceClaim
from dralang.api.resourceslice import DeviceAttribute
from dralang.cluster.podclaims import used_claim_names
from dralang.cluster.taint_rules import selects
from dralang.run.invariants.world import Published, World
from dralang.values.quantity import ZERO

MOST_RESULTS: Final = 32
_BLOCKING: Final = ("NoSchedule", "NoExecute")
Request = ExactDeviceRequest | DeviceSubRequest


def _name(result: DeviceRequestAllocationResult) -> str:
    return f"{result.driver}/{result.pool}/{result.device}"


def _request(claim: ResourceClaim, name: str) -> Request | None:
    """The request, or the alternative ``request/alternative``, that a result names."""
    head, _, tail = name.partition("/")
    for request in claim.spec.devices.requests:
        if request.name == head:
            if not tail:
                return request.exactly
            return next((each for each in request.first_available if each.name == tail), None)
    return None


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
                    yield f"{_name(result)} is in {claim.metadata.name} twice"
                continue
            shared = result.share_id is not None
            other_shared = all(each.share_id is not None for each in others)
            if (shared and other_shared) or (excused and shared != other_shared) or _is_unprotected(world):
                continue
            yield f"{_name(result)} is given to {claim.metadata.name} while another claim ({uid}) holds it"


def _is_unprotected(world: World) -> bool:
    """Whether devices that are about to be written may be free for others: some pod names a claim twice."""
    if not world.profile.has("second-mention-replaces-first"):
        return False
    named = [list(used_claim_names(pod)) for pod in world.store.objects(Pod)]
    return any(len(names) > len(set(names)) for names in named)


def no_capacity_below_zero(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """What is consumed of a device's capacity never exceeds it, and nobody consumes less than nothing."""
    for result in allocation.devices.results:
        for capacity, amount in (result.consumed_capacity or {}).items():
            if amount < ZERO:
                yield f"{claim.metadata.name} consumes {amount} {capacity} of {_name(result)}"
            device = (result.driver, result.pool, result.device)
            found = world.published(device, world.since(claim))
            sizes = [each.device.capacity[capacity].value for each in found if capacity in each.device.capacity]
            if not sizes:
                continue
            total = ZERO
            for others in world.holders.get(device, {}).values():
                for each in others:
                    total += (each.consumed_capacity or {}).get(capacity, ZERO)
            if total > max(sizes):
                yield f"{total} {capacity} of {_name(result)} are consumed, it has {max(sizes)}"


def no_counter_below_zero(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """The devices in use never draw more from a counter than it has; a device counts once, however many share it."""
    for pool in dict.fromkeys((each.driver, each.pool) for each in allocation.devices.results if not each.admin_access):
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
            if amount < ZERO:
                yield f"counter {counter} of {name} in pool {pool[1]} is {amount} after {claim.metadata.name}"


# ---- requests -------------------------------------------------------------------------------------------------------


def requests_answered(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """Every request gets the number of devices it asks for, from one of its alternatives, and nothing else is given."""
    results = allocation.devices.results
    if len(results) > MOST_RESULTS:
        yield f"{claim.metadata.name} has {len(results)} devices, more than {MOST_RESULTS}"
    named = dict.fromkeys(result.request for result in results)
    for name in named:
        if _request(claim, name) is None:
            yield f"{claim.metadata.name} has devices for `{name}`, which it does not request"
    for request in claim.spec.devices.requests:
        answered = [name for name in named if name.partition("/")[0] == request.name]
        if len(answered) != 1:
            yield f"request {request.name} of {claim.metadata.name} is answered by {', '.join(answered) or 'nothing'}"
            continue
        asked = _request(claim, answered[0])
        count = sum(result.request == answered[0] for result in results)
        if asked is not None and asked.allocation_mode != "All" and count != (asked.count or 1):
            yield f"request {answered[0]} of {claim.metadata.name} wants {asked.count or 1} devices and has {count}"


def devices_published(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """Only devices that some slice has published are allocated."""
    for result in allocation.devices.results:
        if not world.published((result.driver, result.pool, result.device), world.since(claim)):
            yield f"{claim.metadata.name} has {_name(result)}, which no slice has"


def selectors_hold(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """The selectors of class and request hold for every device that is allocated."""
    since = world.since(claim)
    for result in allocation.devices.results:
        request = _request(claim, result.request)
        if request is None or request.derived_attributes:
            continue
        found = world.published((result.driver, result.pool, result.device), since)
        classes = world.classes_since(request.device_class_name, since)
        wanted = [each.spec.selectors for each in classes]
        if not classes:
            yield f"{claim.metadata.name} has {_name(result)} by {request.device_class_name}, which is no class"
        elif found and not any(
            _selected(world, each, (*selectors, *request.selectors)) for each in found for selectors in wanted
        ):
            yield f"{claim.metadata.name} has {_name(result)}, which its selectors do not select"


def _selected(world: World, found: Published, selectors: Sequence[DeviceSelector]) -> bool:
    prepared = world.expressions.prepare(found.slice.spec.driver, found.device)
    try:
        return all(
            world.expressions.selector(each.cel.expression)(prepared) for each in selectors if each.cel is not None
        )
    except ExpressionError:
        return False


def taints_respected(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """No device with a NoSchedule or NoExecute taint is allocated to a request that does not tolerate it."""
    if not world.features.enabled("DRADeviceTaints"):
        return
    since = world.since(claim)
    for result in allocation.devices.results:
        request = _request(claim, result.request)
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
                    if taint.effect in _BLOCKING and not any(tolerates(one, taint) for one in tolerations)
                ]
                worst = f"{left[0].key}:{left[0].effect}" if left else ""
                if not left:
                    break
            if not worst:
                break
        if worst:
            yield f"{claim.metadata.name} has {_name(result)}, which has the taint {worst} that it does not tolerate"


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
        request = _request(claim, result.request)
        found = world.published((result.driver, result.pool, result.device), since)
        if len(found) != 1 or request is None or request.derived_attributes:
            return None
        attributes = found[0].device.attributes
        domain, _, bare = name.rpartition("/")
        value = attributes.get(name) or (attributes.get(bare) if domain == result.driver else None)
        plain = None if value is None else _plain(value)
        if value is not None and plain is None:
            return None
        values.append(plain)
    return values


def _plain(value: DeviceAttribute) -> tuple[str, object] | None:
    """A scalar with its type; None for lists, and for versions, whose equality is a matter of its own."""
    for kind, found in (("int", value.int_), ("bool", value.bool_), ("string", value.string)):
        if found is not None:
            return kind, found
    return None


# ---- nodes ----------------------------------------------------------------------------------------------------------


def reaches(allocation: AllocationResult, node: Node) -> bool:
    """Whether the devices of an allocation can be used on a node."""
    if allocation.node_selector is None:
        return True
    try:
        return selector_matches(allocation.node_selector, node)
    except NodeSelectorError:
        return False
