"""Devices that bring or cost cpu, memory and the like of their node (DRANodeAllocatableResources).

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/nodeallocatabledynamicresources.go.
"""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from dralang.allocator.node_selection import NodeSelectorError, selector_matches
from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult
from dralang.api.nodes import Node
from dralang.api.pods import (
    NodeAllocatableMappedResources,
    NodeAllocatableOverheadResources,
    NodeAllocatableResourceClaimStatus,
    Pod,
)
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import Device, NodeAllocatableMapping, ResourceSlice
from dralang.scheduler.framework import Code, Status
from dralang.scheduler.node_info import NodeInfo
from dralang.scheduler.resource_plugins import shortages
from dralang.scheduler.resources import (
    CPU,
    MEMORY,
    STORAGE,
    amount,
    container_requests,
    device_amounts,
    is_pod_level,
    pod_requests,
)
from dralang.values.quantity import Quantity, parse_quantity

Footprint = tuple[NodeAllocatableResourceClaimStatus, ...]
_HUGE = "hugepages-"
_NANO = 10**9


def slices_for(node: Node, slices: Iterable[ResourceSlice]) -> list[ResourceSlice]:
    """The slices with devices that the node may use, whatever their generation."""
    result = []
    for slice_ in slices:
        spec = slice_.spec
        if spec.node_name == node.metadata.name or spec.all_nodes:
            result.append(slice_)
        elif spec.node_selector is not None:
            try:
                if selector_matches(spec.node_selector, node):
                    result.append(slice_)
            except NodeSelectorError:
                continue
        elif spec.per_device_node_selection:
            result.append(slice_)
    return result


def device_of(
    result: DeviceRequestAllocationResult, slices: Iterable[ResourceSlice], node: Node | None
) -> Device | str:
    """The published device of a result, or why there is none."""
    for slice_ in slices:
        if slice_.spec.driver != result.driver or slice_.spec.pool.name != result.pool:
            continue
        for device in slice_.spec.devices:
            if device.name == result.device:
                if slice_.spec.per_device_node_selection and node is not None and not _is_for(device, node):
                    return f"device {device.name} does not match node"
                return device
    return f"device {result.device} not found in pool {result.pool} for driver {result.driver}"


def _is_for(device: Device, node: Node) -> bool:
    if device.node_name == node.metadata.name or device.all_nodes:
        return True
    try:
        return device.node_selector is not None and selector_matches(device.node_selector, node)
    except NodeSelectorError:
        return False


def is_mapped(allocation: AllocationResult, slices: Sequence[ResourceSlice]) -> bool:
    """Whether some device of the allocation stands for a resource of the node."""
    for result in allocation.devices.results:
        device = device_of(result, slices, None)
        if isinstance(device, Device) and any(
            each.mapping is not None for each in device.node_allocatable_resources.values()
        ):
            return True
    return False


def footprint(
    pod: Pod,
    claims: Sequence[tuple[str, ResourceClaim, AllocationResult]],
    slices: Sequence[ResourceSlice],
    node: Node,
) -> Footprint | str:
    """What the devices add to the requests of the pod, or the error.

    Args:
        pod: the pod.
        claims: entry of the pod, claim and its allocation, of all claims that have one.
        slices: those of the node.
        node: the node.
    """
    statuses: list[NodeAllocatableResourceClaimStatus] = []
    for entry, claim, allocation in claims:
        if not any(_declares(result, slices, node) for result in allocation.devices.results):
            continue
        status = _claim_status(pod, entry, claim, allocation, slices, node)
        if isinstance(status, str):
            return status
        if status is not None:
            statuses.append(status)
    return tuple(sorted(statuses, key=lambda each: each.resource_claim_name))


def _declares(result: DeviceRequestAllocationResult, slices: Sequence[ResourceSlice], node: Node) -> bool:
    device = device_of(result, slices, node)
    return isinstance(device, Device) and bool(device.node_allocatable_resources)


def _claim_status(
    pod: Pod,
    entry: str,
    claim: ResourceClaim,
    allocation: AllocationResult,
    slices: Sequence[ResourceSlice],
    node: Node,
) -> NodeAllocatableResourceClaimStatus | str | None:
    name = f"{claim.metadata.namespace}/{claim.metadata.name}"
    mapped: dict[str, Quantity] = {}
    overhead: dict[str, NodeAllocatableOverheadResources] = {}
    for result in allocation.devices.results:
        device = device_of(result, slices, node)
        if isinstance(device, str):
            return f"claim {name}, device {result.device}, driver {result.driver}: {device}"
        for resource in sorted(device.node_allocatable_resources):
            declared = device.node_allocatable_resources[resource]
            if declared.mapping is not None:
                more = _mapped_amount(declared.mapping, result)
                if more is None:
                    key = declared.mapping.capacity_key
                    return (
                        f"claim {name}, device {result.device}: ConsumedCapacity is nil, but Capacity key '{key}' "
                        f"is set in NodeAllocatableResources for resource {resource}"
                    )
                if more:
                    mapped[resource] = mapped[resource] + more[0] if resource in mapped else more[0]
            cost = declared.overhead
            if cost is not None and (cost.per_pod is not None or cost.per_container is not None):
                known = overhead.get(resource, NodeAllocatableOverheadResources(name=resource))
                overhead[resource] = replace(
                    known,
                    per_pod=_plus(known.per_pod, cost.per_pod),
                    per_container=_plus(known.per_container, cost.per_container),
                )
    if not mapped and not overhead:
        return None
    containers = tuple(
        container.name
        for container in (*pod.spec.init_containers, *pod.spec.containers)
        for used in container.resources.claims
        if entry and used.name == entry
    )
    return NodeAllocatableResourceClaimStatus(
        resource_claim_name=claim.metadata.name,
        containers=containers,
        mapping=tuple(
            NodeAllocatableMappedResources(name=each, quantity=quantity) for each, quantity in sorted(mapped.items())
        ),
        overhead=tuple(overhead[each] for each in sorted(overhead)),
    )


def _mapped_amount(
    mapping: NodeAllocatableMapping, result: DeviceRequestAllocationResult
) -> tuple[Quantity, ...] | None:
    """The amount of one device as a tuple of one, nothing if it has none, None if it cannot be told."""
    if mapping.capacity_key:
        if result.consumed_capacity is None:
            return None
        consumed = result.consumed_capacity.get(mapping.capacity_key)
        if consumed is None:
            return ()
        return (_times(consumed, mapping.capacity_multiplier),)
    return () if mapping.device_multiplier is None else (mapping.device_multiplier,)


def _times(quantity: Quantity, factor: Quantity | None) -> Quantity:
    if factor is None or factor.nano == _NANO:
        return quantity
    product = -(-quantity.nano * factor.nano // _NANO)
    return replace(parse_quantity(f"{product}n").canonical(), format=quantity.format)


def _plus(left: Quantity | None, right: Quantity | None) -> Quantity | None:
    if left is None or right is None:
        return left if right is None else right
    return left + right


def check(pod: Pod, statuses: Footprint, node: NodeInfo) -> Status | None:
    """Why the pod with its devices does not fit on the node, None if it does."""
    tried = replace(pod, status=replace(pod.status, node_allocatable_resource_claim_statuses=statuses))
    devices = device_amounts(tried)
    problem = _pod_level_problem(tried, container_requests(tried, devices))
    if problem:
        return Status(Code.UNRESOLVABLE, problem)
    native = {
        name: value
        for name, value in pod_requests(tried, devices).items()
        if name in (CPU, MEMORY, STORAGE) or name.startswith(_HUGE)
    }
    short = shortages(native, node, lambda _name, _node: False)
    if not short:
        return None
    code = Code.UNRESOLVABLE if any(hopeless for _, hopeless in short) else Code.UNSCHEDULABLE
    return Status(code, *(f"Insufficient {name}" for name, _ in short))


def _pod_level_problem(pod: Pod, total: Mapping[str, int]) -> str:
    """Whether what is set for the whole pod covers its containers and devices."""
    resources = pod.spec.resources
    if resources is None:
        return ""
    for name in sorted(resources.requests):
        if is_pod_level(name) and total.get(name, 0) > amount(name, resources.requests[name]):
            return (
                f"pod level request for {name} is insufficient to cover the aggregated container and "
                "node-allocatable DRA requests"
            )
    devices = device_amounts(pod)
    for container in pod.spec.containers:
        own = devices.per_container.get(container.name, {})
        for name in sorted(container.resources.limits):
            if name.startswith(_HUGE) or name not in resources.limits:
                continue
            extra = own.get(name, 0) + _fixed_of(pod, container.name, name)
            if amount(name, container.resources.limits[name]) + extra > amount(name, resources.limits[name]):
                return (
                    f"pod level limit for {name} is insufficient to cover the limit and DRA overhead for container "
                    f"{container.name}"
                )
    return ""


def _fixed_of(pod: Pod, container: str, resource: str) -> int:
    """What the claims of one container add once: mappings and costs per pod."""
    total = 0
    for status in pod.status.node_allocatable_resource_claim_statuses:
        if container not in status.containers:
            continue
        total += sum(
            amount(resource, each.quantity) for each in status.mapping if each.name == resource and each.quantity
        )
        total += sum(
            amount(resource, each.per_pod) for each in status.overhead if each.name == resource and each.per_pod
        )
    return total
