"""The types of resource.k8s.io/v1beta1 that differ from v1: flat requests, and devices wrapped in ``basic``.

v1beta2, and v1alpha3 for DeviceTaintRule, have the fields of v1.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from dralang.api.affinity import NodeSelector
from dralang.api.base import Always, ApiType, Int64, since
from dralang.api.device import CapacityRequirements, DeviceSelector, DeviceTaint, DeviceToleration
from dralang.api.enums import SkipNodeOperation
from dralang.api.meta import ObjectMeta
from dralang.api.resourceclaim import (
    DeviceClaimConfiguration,
    DeviceConstraint,
    DeviceDerivedAttribute,
    DeviceSubRequest,
    ResourceClaimStatus,
)
from dralang.api.resourceslice import (
    CounterSet,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    NodeAllocatableResource,
    ResourcePool,
)


class DeviceRequestV1beta1(ApiType, frozen=True):
    """resource/v1beta1 DeviceRequest."""

    name: Always[str] = ""
    device_class_name: Always[str] = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: Annotated[tuple[DeviceDerivedAttribute, ...], since("1.37")] = ()


class DeviceClaimV1beta1(ApiType, frozen=True):
    """resource/v1beta1 DeviceClaim."""

    requests: Always[tuple[DeviceRequestV1beta1, ...]] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpecV1beta1(ApiType, frozen=True):
    """resource/v1beta1 ResourceClaimSpec."""

    devices: Always[DeviceClaimV1beta1] = DeviceClaimV1beta1()


class ResourceClaimV1beta1(ApiType, frozen=True):
    """resource/v1beta1 ResourceClaim."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[ResourceClaimSpecV1beta1] = ResourceClaimSpecV1beta1()
    status: Always[ResourceClaimStatus] = ResourceClaimStatus()


class ResourceClaimTemplateSpecV1beta1(ApiType, frozen=True):
    """resource/v1beta1 ResourceClaimTemplateSpec."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[ResourceClaimSpecV1beta1] = ResourceClaimSpecV1beta1()


class ResourceClaimTemplateV1beta1(ApiType, frozen=True):
    """resource/v1beta1 ResourceClaimTemplate."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[ResourceClaimTemplateSpecV1beta1] = ResourceClaimTemplateSpecV1beta1()


class BasicDevice(ApiType, frozen=True):
    """resource/v1beta1 BasicDevice."""

    attributes: Mapping[str, DeviceAttribute] = field(default_factory=dict)
    capacity: Mapping[str, DeviceCapacity] = field(default_factory=dict)
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: Annotated[Mapping[str, NodeAllocatableResource], since("1.37")] = field(
        default_factory=dict
    )


class DeviceV1beta1(ApiType, frozen=True):
    """resource/v1beta1 Device."""

    name: Always[str] = ""
    basic: BasicDevice | None = None


class ResourceSliceSpecV1beta1(ApiType, frozen=True):
    """resource/v1beta1 ResourceSliceSpec."""

    driver: Always[str] = ""
    pool: Always[ResourcePool] = ResourcePool()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    devices: tuple[DeviceV1beta1, ...] = ()
    per_device_node_selection: bool | None = None
    shared_counters: tuple[CounterSet, ...] = ()
    partition_type_attribute: Annotated[str | None, since("1.37")] = None
    skip_node_operations: Annotated[tuple[SkipNodeOperation, ...], since("1.37")] = ()


class ResourceSliceV1beta1(ApiType, frozen=True):
    """resource/v1beta1 ResourceSlice."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[ResourceSliceSpecV1beta1] = ResourceSliceSpecV1beta1()
