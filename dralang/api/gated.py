"""Fields of features that are off: dropped, unless the stored object already uses the feature.

Only gates that `features` knows have rules; what the others guard concerns neither devices nor scheduling and is kept.

Source: the strategies under pkg/registry/resource, pkg/registry/scheduling and pkg/registry/core/node,
pkg/api/resourceclaimspec, pkg/api/pod/util.go (1.37).
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar, cast

from msgspec import structs

from dralang.api.base import ApiType
from dralang.api.containers import Container, EphemeralContainer
from dralang.api.deviceclass import DeviceClass
from dralang.api.nodes import Node
from dralang.api.pods import Pod, PodSpec
from dralang.api.resourceclaim import (
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
)
from dralang.api.resourcepoolstatusrequest import ResourcePoolStatusRequest
from dralang.api.resourceslice import Device, DeviceAttribute, DeviceCapacity, ResourceSlice, ResourceSliceSpec
from dralang.api.schema import fields_of
from dralang.api.workloads import PodGroup
from dralang.features import FeatureGates

T = TypeVar("T")
Path = tuple[str | int, ...]

_Body = ExactDeviceRequest | DeviceSubRequest
_NO_LISTS = {"ints": None, "bools": None, "strings": None, "versions": None}


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
    # Spelled out: it is asked of every attribute of every slice that is written.
    return (
        attribute.ints is not None
        or attribute.bools is not None
        or attribute.strings is not None
        or attribute.versions is not None
    )


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


def uses_capacity(spec: ResourceClaimSpec) -> bool:
    """Whether a request or constraint is about shares of devices."""
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


def _says(name: str) -> Callable[[Any], bool]:
    """Whether a field is given."""
    return lambda spec: getattr(spec, name) is not None and getattr(spec, name) != ()


def _without(**fields: object) -> Callable[[Any], Any]:
    return lambda spec: structs.replace(spec, **fields)


def _containers(spec: PodSpec) -> tuple[Container | EphemeralContainer, ...]:
    return (*spec.containers, *spec.init_containers, *spec.ephemeral_containers)


def _each_container(spec: PodSpec, change: Callable[[Any], Any]) -> PodSpec:
    kinds = ("containers", "init_containers", "ephemeral_containers")
    return structs.replace(spec, **{kind: tuple(map(change, getattr(spec, kind))) for kind in kinds})


def _uses_mount_options(spec: PodSpec) -> bool:
    return any(mount.bind_mount_options for each in _containers(spec) for mount in each.volume_mounts)


def _without_mount_options(spec: PodSpec) -> PodSpec:
    def plain(each: Container | EphemeralContainer) -> Container | EphemeralContainer:
        mounts = tuple(structs.replace(mount, bind_mount_options=()) for mount in each.volume_mounts)
        return structs.replace(each, volume_mounts=mounts)

    return _each_container(spec, plain)


def _uses_claims(spec: PodSpec) -> bool:
    return bool(spec.resource_claims) or any(each.resources.claims for each in _containers(spec))


def _without_claims(spec: PodSpec) -> PodSpec:
    def plain(each: Container | EphemeralContainer) -> Container | EphemeralContainer:
        return structs.replace(each, resources=structs.replace(each.resources, claims=()))

    return structs.replace(_each_container(spec, plain), resource_claims=())


def _uses_groups_policy(spec: PodSpec) -> bool:
    return spec.security_context is not None and spec.security_context.supplemental_groups_policy is not None


def _without_groups_policy(spec: PodSpec) -> PodSpec:
    assert spec.security_context is not None
    context = structs.replace(spec.security_context, supplemental_groups_policy=None)
    return structs.replace(spec, security_context=context)


class _Rule(NamedTuple):
    """Fields that are kept only while gates are on.

    Attributes:
        gates: all of them must be on.
        in_use: whether an object's part (its spec, for most kinds) uses the fields.
        drop: the part without them.
    """

    gates: tuple[str, ...]
    in_use: Callable[[Any], bool]
    drop: Callable[[Any], Any]


class _Gated(NamedTuple):
    """The rules of a kind, for the part of its objects at a path of attributes."""

    part: tuple[str, ...]
    rules: tuple[_Rule, ...]


_BINDING: Final = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
_CLAIM: Final = (
    _Rule(("DRAPrioritizedList",), _uses_alternatives, _without_alternatives),
    _Rule(("DRADeviceTaints",), _uses_tolerations, _without_tolerations),
    _Rule(("DRAAdminAccess",), uses_admin_access, _without_admin_access),
    _Rule(("DRAConsumableCapacity",), uses_capacity, _without_capacity),
    _Rule(("DRADerivedAttributes",), _uses_derived, _without_derived),
)


def _field(gate: str, name: str, empty: object = None) -> _Rule:
    return _Rule((gate,), _says(name), _without(**{name: empty}))


_GATED: Final[Mapping[type[Any], _Gated]] = {
    ResourceSlice: _Gated(
        ("spec",),
        (
            _Rule(("DRADeviceTaints",), _uses_taints, _without_taints),
            _Rule(("DRAPartitionableDevices",), _uses_partitions, _without_partitions),
            _Rule(_BINDING, _uses_binding, _without_binding),
            _Rule(("DRAConsumableCapacity",), _uses_shares, _without_shares),
            _Rule(("DRADeviceCompatibilityGroups",), _uses_compatibility, _without_compatibility),
            _Rule(("DRANodeAllocatableResources",), _uses_node_resources, _without_node_resources),
            _Rule(("DRAListTypeAttributes",), _uses_lists, _without_lists),
            _field("DRAPartitionableDevicesType", "partition_type_attribute"),
            _field("DRAOptionalNodeOperations", "skip_node_operations", ()),
        ),
    ),
    ResourceClaim: _Gated(("spec",), _CLAIM),
    ResourceClaimTemplate: _Gated(("spec", "spec"), _CLAIM),
    DeviceClass: _Gated(
        ("spec",),
        (
            _field("DRAExtendedResource", "extended_resource_name"),
            _field("DRAExtendedResourceCapacity", "extended_resource_capacity_requests"),
        ),
    ),
    ResourcePoolStatusRequest: _Gated(
        ("spec",), (_field("DRAPartitionableDevicesType", "default_partition_type_attribute"),)
    ),
    PodGroup: _Gated(
        ("spec",),
        (
            _field("TopologyAwareWorkloadScheduling", "scheduling_constraints"),
            _field("DRAWorkloadResourceClaims", "resource_claims", ()),
            _field("PodGroupPreemptionPolicy", "preemption_policy"),
            _field("CompositePodGroup", "parent_composite_pod_group_name"),
        ),
    ),
    Pod: _Gated(
        ("spec",),
        (
            _Rule(("DynamicResourceAllocation",), _uses_claims, _without_claims),
            _field("GenericWorkload", "scheduling_group"),
            _field("PodLevelResources", "resources"),
            _Rule(("SupplementalGroupsPolicy",), _uses_groups_policy, _without_groups_policy),
            _Rule(("VolumeBindMountOptions",), _uses_mount_options, _without_mount_options),
        ),
    ),
    Node: _Gated(("status",), (_field("NodeDeclaredFeatures", "declared_features", ()),)),
}


@cache
def _off(kind: type[ApiType], gates: FeatureGates) -> tuple[_Rule, ...]:
    """The rules whose fields a server does not keep."""
    gated = _GATED.get(kind)
    rules = () if gated is None else gated.rules
    return tuple([rule for rule in rules if not all(map(gates.enabled, rule.gates))])


def _part(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        value = getattr(value, name)
    return value


def _with_part(value: Any, path: tuple[str, ...], part: Any) -> Any:
    if not path:
        return part
    return structs.replace(value, **{path[0]: _with_part(getattr(value, path[0]), path[1:], part)})


def without_gated(new: T, old: T | None, gates: FeatureGates) -> T:
    """An object without the fields that its server does not offer; those of a feature in use already stay.

    Args:
        new: what is written.
        old: what is stored, if anything is.
        gates: those of the server.
    """
    kind = cast("type[ApiType]", type(new))
    rules = _off(kind, gates)
    if not rules:
        return new
    path = _GATED[kind].part
    here = part = _part(new, path)
    if old is not None and part is _part(old, path):
        return new  # whatever is in use is so already
    for rule in rules:
        if rule.in_use(part) and not (old is not None and rule.in_use(_part(old, path))):
            part = rule.drop(part)
    if part is here:
        return new
    kept: T = _with_part(new, path, part)
    return kept


class Dropped(NamedTuple):
    """Fields that a server forgets.

    Attributes:
        gates: those of the fields' gates that are off.
        paths: where the fields stand, in JSON names; at least one.
    """

    gates: tuple[str, ...]
    paths: tuple[Path, ...]


def dropped_fields(new: ApiType, gates: FeatureGates) -> list[Dropped]:
    """What a server with these gates forgets of a new object, by gate."""
    rules = _off(type(new), gates)
    if not rules:
        return []
    path = _GATED[type(new)].part
    result: list[Dropped] = []
    for rule in rules:
        part = _part(new, path)
        if rule.in_use(part):
            less = _with_part(new, path, rule.drop(part))
            off = tuple([gate for gate in rule.gates if not gates.enabled(gate)])
            result.append(Dropped(off, tuple(_lost(new, less, ()))))
            new = less
    return result


def _lost(before: Any, after: Any, path: Path) -> Iterator[Path]:
    """Where two objects differ."""
    if before == after:
        return
    if isinstance(before, ApiType) and isinstance(after, ApiType):
        for field in fields_of(type(before)).values():
            inside = (getattr(before, field.attribute), getattr(after, field.attribute))
            yield from _lost(*inside, (*path, field.json))
    elif isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _lost(one, other, (*path, index))
    elif isinstance(before, Mapping) and isinstance(after, Mapping) and before.keys() == after.keys():
        for name, one in before.items():
            yield from _lost(one, after[name], (*path, name))
    else:
        yield path
