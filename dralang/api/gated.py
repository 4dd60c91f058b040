"""Fields of features that are off: dropped, unless the stored object already uses the feature.

Source: the strategies under pkg/registry/resource and pkg/registry/scheduling, pkg/api/resourceclaimspec (1.37).
"""

from collections.abc import Callable

from msgspec import structs

from dralang.api.allocation import DeviceRequestAllocationResult
from dralang.api.deviceclass import DeviceClass, DeviceClassSpec
from dralang.api.resourceclaim import (
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimStatus,
)
from dralang.api.resourcepoolstatusrequest import ResourcePoolStatusRequest
from dralang.api.resourceslice import Device, DeviceAttribute, DeviceCapacity, ResourceSlice, ResourceSliceSpec
from dralang.api.workloads import PodGroup, PodGroupSpec
from dralang.features import FeatureGates

_Body = ExactDeviceRequest | DeviceSubRequest
_NO_LISTS = {"ints": None, "bools": None, "strings": None, "versions": None}


def gated_slice(new: ResourceSlice, old: ResourceSlice | None, gates: FeatureGates) -> ResourceSlice:
    """A slice without what its server does not offer."""
    spec = new.spec
    before = ResourceSliceSpec() if old is None else old.spec
    binding = gates.enabled("DRADeviceBindingConditions") and gates.enabled("DRAResourceClaimDeviceStatus")
    for keep, in_use, drop in (
        (gates.enabled("DRADeviceTaints"), _uses_taints, _without_taints),
        (gates.enabled("DRAPartitionableDevices"), _uses_partitions, _without_partitions),
        (binding, _uses_binding, _without_binding),
        (gates.enabled("DRAConsumableCapacity"), _uses_shares, _without_shares),
        (gates.enabled("DRADeviceCompatibilityGroups"), _uses_compatibility, _without_compatibility),
        (gates.enabled("DRANodeAllocatableResources"), _uses_node_resources, _without_node_resources),
        (gates.enabled("DRAListTypeAttributes"), _uses_lists, _without_lists),
        (gates.enabled("DRAPartitionableDevicesType"), _uses_partition_type, _without_partition_type),
        (gates.enabled("DRAOptionalNodeOperations"), _uses_skipping, _without_skipping),
    ):
        if not keep and in_use(spec) and not in_use(before):
            spec = drop(spec)
    return new if spec is new.spec else structs.replace(new, spec=spec)


def _each_device(spec: ResourceSliceSpec, change: Callable[[Device], Device]) -> ResourceSliceSpec:
    return structs.replace(spec, devices=tuple(map(change, spec.devices)))


def _uses_taints(spec: ResourceSliceSpec) -> bool:
    return any(device.taints for device in spec.devices)


def _without_taints(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    return _each_device(spec, lambda device: structs.replace(device, taints=()))


def _has_place(device: Device) -> bool:
    return device.node_name is not None or device.node_selector is not None or device.all_nodes is not None


def _uses_partitions(spec: ResourceSliceSpec) -> bool:
    if spec.shared_counters or spec.per_device_node_selection is not None:
        return True
    return any(device.consumes_counters or _has_place(device) for device in spec.devices)


def _without_partitions(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    spec = structs.replace(spec, shared_counters=(), per_device_node_selection=None)
    return _each_device(
        spec,
        lambda device: structs.replace(
            device, consumes_counters=(), node_name=None, node_selector=None, all_nodes=None
        ),
    )


def _uses_binding(spec: ResourceSliceSpec) -> bool:
    return any(
        device.binding_conditions or device.binding_failure_conditions or device.binds_to_node is not None
        for device in spec.devices
    )


def _without_binding(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    return _each_device(
        spec,
        lambda device: structs.replace(
            device, binding_conditions=(), binding_failure_conditions=(), binds_to_node=None
        ),
    )


def _uses_shares(spec: ResourceSliceSpec) -> bool:
    return any(
        device.allow_multiple_allocations is not None
        or any(capacity.request_policy is not None for capacity in device.capacity.values())
        for device in spec.devices
    )


def _without_shares(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    return _each_device(
        spec,
        lambda device: structs.replace(
            device,
            allow_multiple_allocations=None,
            capacity={name: DeviceCapacity(value=item.value) for name, item in device.capacity.items()},
        ),
    )


def _uses_compatibility(spec: ResourceSliceSpec) -> bool:
    return any(item.compatibility_groups for device in spec.devices for item in device.consumes_counters)


def _without_compatibility(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    return _each_device(
        spec,
        lambda device: structs.replace(
            device,
            consumes_counters=tuple(
                structs.replace(item, compatibility_groups=()) for item in device.consumes_counters
            ),
        ),
    )


def _uses_node_resources(spec: ResourceSliceSpec) -> bool:
    return any(device.node_allocatable_resources for device in spec.devices)


def _without_node_resources(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    return _each_device(spec, lambda device: structs.replace(device, node_allocatable_resources={}))


def _is_list(attribute: DeviceAttribute) -> bool:
    return any(getattr(attribute, name) is not None for name in _NO_LISTS)


def _uses_lists(spec: ResourceSliceSpec) -> bool:
    return any(_is_list(attribute) for device in spec.devices for attribute in device.attributes.values())


def _without_lists(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    return _each_device(
        spec,
        lambda device: structs.replace(
            device,
            attributes={name: structs.replace(item, **_NO_LISTS) for name, item in device.attributes.items()},
        ),
    )


def _uses_partition_type(spec: ResourceSliceSpec) -> bool:
    return spec.partition_type_attribute is not None


def _without_partition_type(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    return structs.replace(spec, partition_type_attribute=None)


def _uses_skipping(spec: ResourceSliceSpec) -> bool:
    return bool(spec.skip_node_operations)


def _without_skipping(spec: ResourceSliceSpec) -> ResourceSliceSpec:
    return structs.replace(spec, skip_node_operations=())


def gated_claim_spec(new: ResourceClaimSpec, old: ResourceClaimSpec | None, gates: FeatureGates) -> ResourceClaimSpec:
    """The spec of a claim or template without what its server does not offer."""
    before = ResourceClaimSpec() if old is None else old
    for gate, in_use, drop in (
        ("DRAPrioritizedList", _uses_alternatives, _without_alternatives),
        ("DRADeviceTaints", _uses_tolerations, _without_tolerations),
        ("DRAAdminAccess", uses_admin_access, _without_admin_access),
        ("DRAConsumableCapacity", _uses_capacity, _without_capacity),
        ("DRADerivedAttributes", _uses_derived, _without_derived),
    ):
        if not gates.enabled(gate) and in_use(new) and not in_use(before):
            new = drop(new)
    return new


def _bodies(spec: ResourceClaimSpec) -> list[_Body]:
    found: list[_Body] = []
    for request in spec.devices.requests:
        if request.exactly is not None:
            found.append(request.exactly)
        found += request.first_available
    return found


def _each_request(spec: ResourceClaimSpec, change: Callable[[DeviceRequest], DeviceRequest]) -> ResourceClaimSpec:
    devices = structs.replace(spec.devices, requests=tuple(map(change, spec.devices.requests)))
    return structs.replace(spec, devices=devices)


def _each_body(spec: ResourceClaimSpec, **fields: object) -> ResourceClaimSpec:
    return _each_request(
        spec,
        lambda request: structs.replace(
            request,
            exactly=None if request.exactly is None else structs.replace(request.exactly, **fields),
            first_available=tuple(structs.replace(sub, **fields) for sub in request.first_available),
        ),
    )


def _uses_alternatives(spec: ResourceClaimSpec) -> bool:
    return any(request.first_available for request in spec.devices.requests)


def _without_alternatives(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    return _each_request(spec, lambda request: structs.replace(request, first_available=()))


def _uses_tolerations(spec: ResourceClaimSpec) -> bool:
    return any(body.tolerations for body in _bodies(spec))


def _without_tolerations(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    return _each_body(spec, tolerations=())


def uses_admin_access(spec: ResourceClaimSpec) -> bool:
    """Whether a request says anything about admin access, be it false."""
    exact = (request.exactly for request in spec.devices.requests)
    return any(body is not None and body.admin_access is not None for body in exact)


def _without_admin_access(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    return _each_request(
        spec,
        lambda request: (
            request
            if request.exactly is None
            else structs.replace(request, exactly=structs.replace(request.exactly, admin_access=None))
        ),
    )


def _uses_capacity(spec: ResourceClaimSpec) -> bool:
    if any(constraint.distinct_attribute is not None for constraint in spec.devices.constraints):
        return True
    return any(body.capacity is not None for body in _bodies(spec))


def _without_capacity(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    constraints = tuple(structs.replace(item, distinct_attribute=None) for item in spec.devices.constraints)
    spec = structs.replace(spec, devices=structs.replace(spec.devices, constraints=constraints))
    return _each_body(spec, capacity=None)


def _uses_derived(spec: ResourceClaimSpec) -> bool:
    return any(body.derived_attributes for body in _bodies(spec))


def _without_derived(spec: ResourceClaimSpec) -> ResourceClaimSpec:
    return _each_body(spec, derived_attributes=())


def gated_claim_status(new: ResourceClaim, old: ResourceClaim, gates: FeatureGates) -> ResourceClaimStatus:
    """The status of a claim without what its server does not offer, and without devices no longer allocated."""
    status = new.status
    keeps_devices = gates.enabled("DRAResourceClaimDeviceStatus") or bool(old.status.devices)
    if not keeps_devices:
        status = structs.replace(status, devices=())
    old_results = _results(old.status)
    if not gates.enabled("DRAAdminAccess") and not (
        uses_admin_access(old.spec) or any(result.admin_access is not None for result in old_results)
    ):
        status = _each_result(status, admin_access=None)
    if not gates.enabled("DRAConsumableCapacity") and not _status_uses_shares(old):
        status = _each_result(status, share_id=None, consumed_capacity=None)
        devices = tuple(structs.replace(device, share_id=None) for device in status.devices)
        status = structs.replace(status, devices=devices)
    if not gates.enabled("DRADeviceBindingConditions") and not any(
        result.binding_conditions or result.binding_failure_conditions for result in old_results
    ):
        status = _each_result(status, binding_conditions=(), binding_failure_conditions=())
    if not gates.enabled("DRAOptionalNodeOperations") and not any(
        result.skip_node_operations for result in old_results
    ):
        status = _each_result(status, skip_node_operations=())
    return _without_deallocated(status, old.status) if keeps_devices else status


def _results(status: ResourceClaimStatus) -> tuple[DeviceRequestAllocationResult, ...]:
    return () if status.allocation is None else status.allocation.devices.results


def _each_result(status: ResourceClaimStatus, **fields: object) -> ResourceClaimStatus:
    allocation = status.allocation
    if allocation is None:
        return status
    results = tuple(structs.replace(result, **fields) for result in allocation.devices.results)
    devices = structs.replace(allocation.devices, results=results)
    return structs.replace(status, allocation=structs.replace(allocation, devices=devices))


def _status_uses_shares(claim: ResourceClaim) -> bool:
    return (
        _uses_capacity(claim.spec)
        or any(result.share_id is not None or result.consumed_capacity is not None for result in _results(claim.status))
        or any(device.share_id is not None for device in claim.status.devices)
    )


def _without_deallocated(status: ResourceClaimStatus, old: ResourceClaimStatus) -> ResourceClaimStatus:
    def identify(device: object) -> tuple[object, ...]:
        return tuple(getattr(device, name) or "" for name in ("driver", "pool", "device", "share_id"))

    gone = set(map(identify, _results(old))) - set(map(identify, _results(status)))
    if not gone:
        return status
    return structs.replace(status, devices=tuple(device for device in status.devices if identify(device) not in gone))


def gated_class(new: DeviceClass, old: DeviceClass | None, gates: FeatureGates) -> DeviceClass:
    """A class without what its server does not offer."""
    before = DeviceClassSpec() if old is None else old.spec
    dropped: dict[str, None] = {}
    for field, gate in (
        ("extended_resource_name", "DRAExtendedResource"),
        ("extended_resource_capacity_requests", "DRAExtendedResourceCapacity"),
    ):
        unused = getattr(before, field) is None
        if unused and getattr(new.spec, field) is not None and not gates.enabled(gate):
            dropped[field] = None
    # A class that loses nothing stays the same object: what was prepared for it is found by that.
    return structs.replace(new, spec=structs.replace(new.spec, **dropped)) if dropped else new


def gated_pool_request(
    new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest | None, gates: FeatureGates
) -> ResourcePoolStatusRequest:
    """A pool request without what its server does not offer."""
    kept = gates.enabled("DRAPartitionableDevicesType") or (
        old is not None and old.spec.default_partition_type_attribute is not None
    )
    if kept:
        return new
    return structs.replace(new, spec=structs.replace(new.spec, default_partition_type_attribute=None))


def gated_pod_group(new: PodGroup, old: PodGroup | None, gates: FeatureGates) -> PodGroup:
    """The spec of a group without what its server does not offer."""
    before = PodGroupSpec() if old is None else old.spec
    spec = new.spec
    if not gates.enabled("TopologyAwareWorkloadScheduling") and before.scheduling_constraints is None:
        spec = structs.replace(spec, scheduling_constraints=None)
    if not gates.enabled("DRAWorkloadResourceClaims") and not before.resource_claims:
        spec = structs.replace(spec, resource_claims=())
    if not gates.enabled("PodGroupPreemptionPolicy") and before.preemption_policy is None:
        spec = structs.replace(spec, preemption_policy=None)
    if not gates.enabled("CompositePodGroup") and before.parent_composite_pod_group_name is None:
        spec = structs.replace(spec, parent_composite_pod_group_name=None)
    return structs.replace(new, spec=spec)


def gated_pod_group_status(new: PodGroup, old: PodGroup, gates: FeatureGates) -> PodGroup:
    """The status of a group without what its server does not offer."""
    if gates.enabled("DRAWorkloadResourceClaims") or old.spec.resource_claims:
        return new
    return structs.replace(new, status=structs.replace(new.status, resource_claim_statuses=()))
