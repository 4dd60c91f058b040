"""The written result by itself: whoever reads it, a kubelet or a driver, must find in it what the decision used."""

from collections.abc import Iterator, Sequence

from dralang.allocator.node_selection import NodeSelectorError, node_matches
from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult
from dralang.api.device import OpaqueDeviceConfiguration
from dralang.api.nodes import Node
from dralang.api.resourceclaim import ExactDeviceRequest, ResourceClaim
from dralang.run.invariants.allocations import reaches
from dralang.run.invariants.naive import Request
from dralang.run.invariants.world import Published, World, device_name, request_of


def results_say_everything(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """An allocation tells by itself the tolerations, shares, conditions, configuration and nodes of its devices."""
    for result in allocation.devices.results:
        request = request_of(claim, result.request)
        found = world.published((result.driver, result.pool, result.device), world.since(claim))
        if request is None or not found:
            continue
        problems = [_problem(world, result, request, each) for each in found]
        if all(problems):
            yield f"{device_name(result)} in {claim.metadata.name}: {problems[-1]}"
        elsewhere = [each.metadata.name for each in world.store.objects(Node) if not _is_there(allocation, each, found)]
        if elsewhere:
            yield f"{claim.metadata.name} can be used on {elsewhere[0]}, where {device_name(result)} is not"
    if not world.profile.has("claim-config-repeated"):
        yield from _configuration(world, claim, allocation)


def _problem(world: World, result: DeviceRequestAllocationResult, request: Request, found: Published) -> str:
    """What a result says otherwise than the request and a version of the device; empty if nothing."""
    features, device = world.profile.features, found.device
    admin = isinstance(request, ExactDeviceRequest) and bool(request.admin_access)
    shared = bool(device.allow_multiple_allocations) and features.consumable_capacity
    conditions = features.binding_conditions
    said: tuple[tuple[str, object, object], ...] = (
        ("tolerations", result.tolerations, request.tolerations),
        ("administrative access", bool(result.admin_access), admin),
        ("a share", result.share_id is not None, shared),
        ("binding conditions", result.binding_conditions, device.binding_conditions if conditions else ()),
        (
            "conditions of failure",
            result.binding_failure_conditions,
            device.binding_failure_conditions if conditions else (),
        ),
    )
    for what, has, wanted in said:
        if has != wanted and not (what == "tolerations" and "result tolerations" in world.profile.lacks):
            return f"the result says otherwise about {what} than request and device"
    return ""


def _is_there(allocation: AllocationResult, node: Node, found: Sequence[Published]) -> bool:
    """Whether a device is on a node, if the allocation says that it can be used there."""
    return not reaches(allocation, node) or any(_reaches(each, node) for each in found)


def _reaches(found: Published, node: Node) -> bool:
    spec, device = found.slice.spec, found.device
    try:
        if spec.per_device_node_selection:
            return node_matches(node, device.node_name, device.node_selector, all_nodes=device.all_nodes)
        return node_matches(node, spec.node_name, spec.node_selector, all_nodes=spec.all_nodes)
    except NodeSelectorError:
        return True


def _configuration(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """Each request finds the configuration of its class, then that of the claim, and no other."""
    since = world.since(claim)
    for name in dict.fromkeys(result.request for result in allocation.devices.results):
        request = request_of(claim, name)
        classes = [] if request is None else world.classes_since(request.device_class_name, since)
        if len(classes) != 1:
            continue
        wanted: list[tuple[str, OpaqueDeviceConfiguration | None]] = [
            ("FromClass", each.opaque) for each in classes[0].spec.config
        ]
        wanted += [("FromClaim", each.opaque) for each in claim.spec.devices.config if _is_for(each.requests, name)]
        has = [(each.source, each.opaque) for each in allocation.devices.config if _is_for(each.requests, name)]
        if has != wanted:
            numbers = f"{len(has)} configurations, other than the {len(wanted)} of its class and claim"
            yield f"request {name} of {claim.metadata.name} has {numbers}"


def _is_for(requests: Sequence[str], name: str) -> bool:
    return not requests or name in requests or name.partition("/")[0] in requests
