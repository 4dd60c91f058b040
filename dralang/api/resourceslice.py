"""ResourceSlice.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from dralang.api.affinity import NodeSelector
from dralang.api.base import Always, ApiType, Int64, since
from dralang.api.device import DeviceTaint
from dralang.api.enums import SkipNodeOperation
from dralang.api.meta import ObjectMeta
from dralang.values.quantity import ZERO, Quantity


class ResourcePool(ApiType, frozen=True):
    """resource/v1 ResourcePool."""

    name: Always[str] = ""
    generation: Always[Int64] = 0
    resource_slice_count: Always[Int64] = 0


class DeviceAttribute(ApiType, frozen=True):
    """resource/v1 DeviceAttribute."""

    int_: Int64 | None = field(default=None, name="int")
    bool_: bool | None = field(default=None, name="bool")
    string: str | None = None
    version: str | None = None
    ints: Annotated[tuple[Int64, ...] | None, since("1.36")] = None
    bools: Annotated[tuple[bool, ...] | None, since("1.36")] = None
    strings: Annotated[tuple[str, ...] | None, since("1.36")] = None
    versions: Annotated[tuple[str, ...] | None, since("1.36")] = None


class CapacityRequestPolicyRange(ApiType, frozen=True):
    """resource/v1 CapacityRequestPolicyRange."""

    min: Quantity | None = None
    max: Quantity | None = None
    step: Quantity | None = None


class CapacityRequestPolicy(ApiType, frozen=True):
    """resource/v1 CapacityRequestPolicy."""

    default: Always[Quantity | None] = None
    valid_values: tuple[Quantity, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(ApiType, frozen=True):
    """resource/v1 DeviceCapacity."""

    value: Always[Quantity] = ZERO
    request_policy: CapacityRequestPolicy | None = None


class Counter(ApiType, frozen=True):
    """resource/v1 Counter."""

    value: Always[Quantity] = ZERO


class DeviceCounterConsumption(ApiType, frozen=True):
    """resource/v1 DeviceCounterConsumption."""

    counter_set: Always[str] = ""
    counters: Mapping[str, Counter] = field(default_factory=dict)
    compatibility_groups: Annotated[tuple[str, ...], since("1.37")] = ()


class NodeAllocatableMapping(ApiType, frozen=True):
    """resource/v1 NodeAllocatableMapping."""

    capacity_key: str | None = None
    capacity_multiplier: Quantity | None = None
    device_multiplier: Quantity | None = None


class NodeAllocatableOverhead(ApiType, frozen=True):
    """resource/v1 NodeAllocatableOverhead."""

    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableResource(ApiType, frozen=True):
    """resource/v1 NodeAllocatableResource."""

    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class Device(ApiType, frozen=True):
    """resource/v1 Device."""

    name: Always[str] = ""
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


class CounterSet(ApiType, frozen=True):
    """resource/v1 CounterSet."""

    name: Always[str] = ""
    counters: Mapping[str, Counter] = field(default_factory=dict)


class ResourceSliceSpec(ApiType, frozen=True):
    """resource/v1 ResourceSliceSpec."""

    driver: Always[str] = ""
    pool: Always[ResourcePool] = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    devices: tuple[Device, ...] = ()
    per_device_node_selection: bool | None = None
    shared_counters: tuple[CounterSet, ...] = ()
    partition_type_attribute: Annotated[str | None, since("1.37")] = None
    skip_node_operations: Annotated[tuple[SkipNodeOperation, ...], since("1.37")] = ()


class ResourceSlice(ApiType, frozen=True):
    """resource/v1 ResourceSlice."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[ResourceSliceSpec] = ResourceSliceSpec()
