"""Which fields have which declarative rules.

Source: the ``+k8s:`` tags of k8s.io/api resource/v1, resource/v1alpha3 and scheduling/v1beta1 (1.37). Rules of the
alpha level are not here: what they say is enforced by the handwritten checks.
"""

from dralang.api.allocation import (
    AllocatedDeviceStatus,
    DeviceAllocationConfiguration,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    NetworkDeviceData,
)
from dralang.api.base import ApiType
from dralang.api.device import DeviceTaint, DeviceToleration, OpaqueDeviceConfiguration
from dralang.api.deviceclass import DeviceClassSpec
from dralang.api.resourceclaim import (
    DeviceClaim,
    DeviceClaimConfiguration,
    DeviceConstraint,
    DeviceDerivedAttribute,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimStatus,
)
from dralang.api.resourcepoolstatusrequest import (
    PartitionTypeStatus,
    PoolStatus,
    ResourcePoolStatusRequest,
    ResourcePoolStatusRequestSpec,
    ResourcePoolStatusRequestStatus,
    ShareableCapacityStatus,
    ShareableSummaryStatus,
)
from dralang.api.resourceslice import (
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCounterConsumption,
    NodeAllocatableMapping,
    ResourceSliceSpec,
)
from dralang.api.validation import formats, limits
from dralang.api.validation.allocation import CONFIG_SOURCES
from dralang.api.validation.claims import ALLOCATION_MODES, TAINT_EFFECTS, TOLERATION_OPERATORS
from dralang.api.validation.declarative import Declarations, Rules, TypeRules, Union
from dralang.api.workloads import (
    CompositeDisruptionMode,
    CompositeGangSchedulingPolicy,
    CompositePodGroupSchedulingConstraints,
    CompositePodGroupSchedulingPolicy,
    CompositePodGroupTemplate,
    DisruptionMode,
    GangSchedulingPolicy,
    PodGroupResourceClaim,
    PodGroupResourceClaimStatus,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    PodGroupStatus,
    PodGroupTemplate,
    TopologyConstraint,
    WorkloadObjectReference,
    WorkloadReference,
    WorkloadSpec,
)

_OPERATIONS = ("NodePrepareResources", "NodeUnprepareResources", "*")


def _list(limit: int, *keys: str) -> Rules:
    """A list of the beta level; with keys, elements are told apart by them."""
    return Rules(max_items=limit, keys=keys or None, beta=True)


def _set(limit: int | None = None) -> Rules:
    return Rules(max_items=limit, keys=(), beta=True)


def _enum(values: tuple[str, ...], *, required: bool = False) -> Rules:
    return Rules(enum=values, required=required, beta=True)


_FULLY_QUALIFIED = Rules(check=formats.strict_fully_qualified_name, beta=True)
_UUID = Rules(check=formats.uuid, beta=True)
_DRIVER = Rules(required=True, check=formats.caseless_driver_name, beta=True)
_REFERENCES = _set(limits.CLAIM_MAX_REQUESTS)
_SELECTORS = _list(limits.REQUEST_MAX_SELECTORS)
_DERIVED = Rules(max_items=limits.REQUEST_MAX_DERIVED_ATTRIBUTES)
_BINDING = _list(limits.DEVICE_MAX_BINDING_CONDITIONS)
_SKIPPED = Rules(keys=(), enum=_OPERATIONS)
_COUNT = Rules(minimum=0)
_REQUIRED = Rules(required=True)
_REQUIRED_COUNT = Rules(required=True, minimum=0)
_IMMUTABLE = Rules(immutable=True)
_COUNTERS = Rules(required=True, each_key=formats.short_name, beta=True)
_COUNTER_SET_NAME = Rules(required=True, check=formats.short_name, beta=True)
_PARTITION_TYPE = Rules(gate="DRAPartitionableDevicesType", check=formats.strict_fully_qualified_name)

_CLAIM_RULES: dict[type[ApiType], TypeRules] = {
    ResourceClaim: TypeRules({"spec": Rules(immutable=True, beta=True)}),
    DeviceClaim: TypeRules(
        {
            "requests": _list(limits.CLAIM_MAX_REQUESTS, "name"),
            "constraints": _list(limits.CLAIM_MAX_CONSTRAINTS),
            "config": _list(limits.CLAIM_MAX_CONFIGS),
        }
    ),
    DeviceRequest: TypeRules({"first_available": _list(limits.REQUEST_MAX_ALTERNATIVES, "name")}),
    ExactDeviceRequest: TypeRules(
        {"selectors": _SELECTORS, "allocation_mode": _enum(ALLOCATION_MODES), "derived_attributes": _DERIVED}
    ),
    DeviceSubRequest: TypeRules(
        {
            "device_class_name": Rules(required=True, check=formats.long_name, beta=True),
            "selectors": _SELECTORS,
            "allocation_mode": _enum(ALLOCATION_MODES),
            "derived_attributes": _DERIVED,
        }
    ),
    DeviceDerivedAttribute: TypeRules(
        {
            "name": Rules(required=True, check=formats.strict_fully_qualified_name),
            "expression": _REQUIRED,
        }
    ),
    DeviceConstraint: TypeRules(
        {
            "requests": _REFERENCES,
            "match_attribute": _FULLY_QUALIFIED,
            "distinct_attribute": _FULLY_QUALIFIED,
        }
    ),
    DeviceClaimConfiguration: TypeRules({"requests": _REFERENCES}),
    OpaqueDeviceConfiguration: TypeRules({"driver": _DRIVER}),
    DeviceToleration: TypeRules(
        {
            "key": Rules(check=formats.label_key, beta=True),
            # An optional field with a default is never empty.
            "operator": _enum(TOLERATION_OPERATORS, required=True),
            "effect": _enum(TAINT_EFFECTS),
        }
    ),
    DeviceClassSpec: TypeRules(
        {
            "selectors": _SELECTORS,
            "config": _list(limits.CLAIM_MAX_CONFIGS),
            "extended_resource_name": Rules(check=formats.extended_resource_name, beta=True),
        }
    ),
}

_STATUS_RULES: dict[type[ApiType], TypeRules] = {
    ResourceClaimStatus: TypeRules(
        {
            "allocation": Rules(no_modify=True, beta=True),
            "reserved_for": _list(limits.CLAIM_MAX_RESERVED_FOR, "uid"),
            "devices": Rules(keys=("driver", "device", "pool", "share_id"), beta=True),
        }
    ),
    DeviceAllocationResult: TypeRules(
        {"results": _list(limits.ALLOCATION_MAX_RESULTS), "config": _list(limits.ALLOCATION_MAX_CONFIGS)}
    ),
    DeviceRequestAllocationResult: TypeRules(
        {
            "driver": _DRIVER,
            "pool": Rules(required=True, check=formats.segmented_pool_name, beta=True),
            "binding_conditions": _BINDING,
            "binding_failure_conditions": _BINDING,
            "share_id": _UUID,
            "skip_node_operations": _SKIPPED,
        }
    ),
    DeviceAllocationConfiguration: TypeRules({"source": _enum(CONFIG_SOURCES, required=True), "requests": _REFERENCES}),
    AllocatedDeviceStatus: TypeRules({"share_id": _UUID}),
    NetworkDeviceData: TypeRules(
        {
            "interface_name": Rules(max_bytes=limits.NETWORK_INTERFACE_NAME_MAX_LENGTH, beta=True),
            "ips": _set(limits.NETWORK_MAX_IPS),
            "hardware_address": Rules(max_bytes=limits.NETWORK_HARDWARE_ADDRESS_MAX_LENGTH, beta=True),
        }
    ),
}

_SLICE_RULES: dict[type[ApiType], TypeRules] = {
    ResourceSliceSpec: TypeRules(
        {
            "shared_counters": _list(limits.SLICE_MAX_COUNTER_SETS, "name"),
            "partition_type_attribute": _PARTITION_TYPE,
            "skip_node_operations": _SKIPPED,
        }
    ),
    CounterSet: TypeRules({"name": _COUNTER_SET_NAME, "counters": _COUNTERS}),
    Device: TypeRules(
        {
            "consumes_counters": _list(limits.DEVICE_MAX_COUNTER_CONSUMPTIONS, "counter_set"),
            "binding_conditions": _BINDING,
            "binding_failure_conditions": _BINDING,
        }
    ),
    DeviceCounterConsumption: TypeRules(
        {
            "counter_set": _COUNTER_SET_NAME,
            "counters": _COUNTERS,
            "compatibility_groups": Rules(
                max_items=limits.DEVICE_MAX_COMPATIBILITY_GROUPS, keys=(), each=formats.label
            ),
        }
    ),
    DeviceAttribute: TypeRules(
        {},
        Union(("int_", "bool_", "string", "version", "ints", "bools", "strings", "versions"), beta=True),
    ),
    NodeAllocatableMapping: TypeRules({}, Union(("capacity_key", "device_multiplier"))),
    DeviceTaint: TypeRules({"effect": _enum(TAINT_EFFECTS, required=True)}),
}

_POOL_RULES: dict[type[ApiType], TypeRules] = {
    ResourcePoolStatusRequest: TypeRules({"spec": _IMMUTABLE}),
    ResourcePoolStatusRequestSpec: TypeRules(
        {
            "driver": Rules(required=True, check=formats.subdomain_caseless),
            "pool_name": Rules(check=formats.segmented_pool_name),
            "limit": Rules(required=True, minimum=1, maximum=limits.POOL_REQUEST_MAX_LIMIT),
            "default_partition_type_attribute": _PARTITION_TYPE,
        }
    ),
    ResourcePoolStatusRequestStatus: TypeRules(
        {
            "pool_count": _REQUIRED_COUNT,
            "pools": Rules(max_items=limits.POOL_STATUS_MAX_POOLS),
            "conditions": Rules(max_items=limits.POOL_STATUS_MAX_CONDITIONS),
        }
    ),
    PoolStatus: TypeRules(
        {
            "driver": Rules(required=True, check=formats.subdomain_caseless),
            "pool_name": Rules(required=True, check=formats.segmented_pool_name),
            "generation": _REQUIRED_COUNT,
            "resource_slice_count": Rules(minimum=1),
            "total_devices": _COUNT,
            "allocated_devices": _COUNT,
            "available_devices": _COUNT,
            "unavailable_devices": _COUNT,
            "node_name": Rules(check=formats.long_name),
            "validation_error": Rules(max_bytes=limits.POOL_STATUS_ERROR_MAX_LENGTH),
            "partition_summary": Rules(max_items=limits.POOL_STATUS_MAX_PARTITION_TYPES, keys=("attribute", "type")),
        }
    ),
    PartitionTypeStatus: TypeRules(
        {"attribute": _REQUIRED, "type": _REQUIRED, "total": _REQUIRED_COUNT, "allocatable": _REQUIRED_COUNT}
    ),
    ShareableSummaryStatus: TypeRules(
        {
            "fully_available_devices": _REQUIRED_COUNT,
            "partially_available_devices": _REQUIRED_COUNT,
            "capacity": Rules(max_items=limits.POOL_STATUS_MAX_CAPACITIES),
        }
    ),
    ShareableCapacityStatus: TypeRules(
        {"name": _REQUIRED, "total": _REQUIRED, "consumed": _REQUIRED, "available": _REQUIRED}
    ),
}

_PRIORITY = Rules(immutable=True, maximum=limits.HIGHEST_USER_PRIORITY)
_PRIORITY_CLASS = Rules(immutable=True, check=formats.long_name)
_PREEMPTION = Rules(immutable=True, gate="PodGroupPreemptionPolicy", enum=("PreemptLowerPriority", "Never"))
_TOPOLOGY = Rules(immutable=True, gate="TopologyAwareWorkloadScheduling")
_CLAIMS = Rules(immutable=True, max_items=limits.POD_GROUP_MAX_CLAIMS, keys=("name",))
_TEMPLATES = Rules(max_items=limits.WORKLOAD_MAX_TEMPLATES, keys=("name",), fixed_items=True)
_NAME = Rules(required=True, check=formats.short_name)
_CLAIM_NAME = Rules(check=formats.long_name)
_AT_LEAST_ONE = Rules(required=True, minimum=1)
_POLICY = TypeRules({"basic": _IMMUTABLE, "gang": Rules(no_toggle=True)}, Union(("basic", "gang")))
_MODE = TypeRules({}, Union(("single", "all")))

_GROUP_RULES: dict[type[ApiType], TypeRules] = {
    PodGroupSpec: TypeRules(
        {
            "parent_composite_pod_group_name": Rules(immutable=True, gate="CompositePodGroup", check=formats.long_name),
            "workload_ref": _IMMUTABLE,
            "scheduling_constraints": _TOPOLOGY,
            "resource_claims": _CLAIMS,
            "disruption_mode": Rules(immutable=True, required=True),
            "priority_class_name": _PRIORITY_CLASS,
            "priority": _PRIORITY,
            "preemption_policy": _PREEMPTION,
        }
    ),
    PodGroupTemplate: TypeRules(
        {
            "name": _NAME,
            "scheduling_constraints": _TOPOLOGY,
            "resource_claims": _CLAIMS,
            "disruption_mode": _IMMUTABLE,
            "priority_class_name": _PRIORITY_CLASS,
            "priority": _PRIORITY,
            "preemption_policy": _PREEMPTION,
        }
    ),
    CompositePodGroupTemplate: TypeRules(
        {
            "name": _NAME,
            "scheduling_constraints": _IMMUTABLE,
            "disruption_mode": _IMMUTABLE,
            "priority_class_name": _PRIORITY_CLASS,
            "priority": _PRIORITY,
            "preemption_policy": _PREEMPTION,
            "pod_group_templates": _TEMPLATES,
            "composite_pod_group_templates": _TEMPLATES,
        }
    ),
    PodGroupResourceClaim: TypeRules(
        {"name": _NAME, "resource_claim_name": _CLAIM_NAME, "resource_claim_template_name": _CLAIM_NAME},
        Union(("resource_claim_name", "resource_claim_template_name")),
    ),
    PodGroupStatus: TypeRules(
        {"resource_claim_statuses": Rules(max_items=limits.POD_GROUP_MAX_CLAIMS, keys=("name",))}
    ),
    PodGroupResourceClaimStatus: TypeRules({"resource_claim_name": _CLAIM_NAME}),
    PodGroupSchedulingPolicy: _POLICY,
    CompositePodGroupSchedulingPolicy: _POLICY,
    GangSchedulingPolicy: TypeRules({"min_count": _AT_LEAST_ONE}),
    CompositeGangSchedulingPolicy: TypeRules({"min_group_count": _AT_LEAST_ONE}),
    PodGroupSchedulingConstraints: TypeRules({"topology": Rules(max_items=1)}),
    CompositePodGroupSchedulingConstraints: TypeRules({"topology": Rules(max_items=1)}),
    TopologyConstraint: TypeRules({"key": Rules(required=True, check=formats.label_key)}),
    DisruptionMode: _MODE,
    CompositeDisruptionMode: _MODE,
    WorkloadReference: TypeRules(
        {"workload_name": Rules(required=True, check=formats.long_name), "template_name": _NAME}
    ),
    WorkloadSpec: TypeRules(
        {
            "controller_ref": _IMMUTABLE,
            "pod_group_templates": _TEMPLATES,
            "composite_pod_group_templates": Rules(
                max_items=limits.WORKLOAD_MAX_TEMPLATES,
                keys=("name",),
                fixed_items=True,
                gate="CompositePodGroup",
            ),
        },
        Union(("pod_group_templates", "composite_pod_group_templates")),
    ),
    WorkloadObjectReference: TypeRules(
        {
            "api_group": Rules(check=formats.long_name),
            "kind": Rules(required=True, check=formats.path_segment),
            "name": Rules(required=True, check=formats.path_segment),
        }
    ),
}

DECLARATIONS = Declarations({**_CLAIM_RULES, **_STATUS_RULES, **_SLICE_RULES, **_POOL_RULES, **_GROUP_RULES})
"""The rules of all kinds."""
