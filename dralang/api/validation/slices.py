"""ResourceSlice: the handwritten rules.

Source: validateResourceSliceSpec and below in pkg/apis/resource/validation (1.37).
"""

import re
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from dralang.api.resourceslice import (
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    NodeAllocatableMapping,
    NodeAllocatableOverhead,
    NodeAllocatableResource,
    ResourceSliceSpec,
)
from dralang.api.validation import formats, limits
from dralang.api.validation.allocation import binding_parameters, skipped_operations
from dralang.api.validation.capacity import device_capacity
from dralang.api.validation.claims import duplicates
from dralang.api.validation.context import ValidationContext
from dralang.api.validation.errors import (
    IMMUTABLE_TEXT,
    Errors,
    invalid,
    not_found,
    required,
    too_long,
    too_many,
)
from dralang.api.validation.nodeselectors import node_selector
from dralang.api.validation.taints import device_taint
from dralang.values.names import byte_length

_NUMBER = r"(0|[1-9]\d*)"
_PRE = r"(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_BUILD = "[0-9a-zA-Z-]+"
_VERSION = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(-{_PRE}(\.{_PRE})*)?(\+{_BUILD}(\.{_BUILD})*)?",
    re.ASCII,
)
_VERSION_TEXT = "must be a string compatible with semver.org spec 2.0.0"
_PLACES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_DEVICE_PLACES = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NO_DEVICE_PLACES = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)


def resource_slice(
    spec: ResourceSliceSpec, old: ResourceSliceSpec | None, context: ValidationContext, out: Errors
) -> None:
    """The spec of a slice."""
    formats.driver_name(spec.driver, "spec.driver", out)
    _pool(spec, out)
    if old is not None:
        for path, new_value, old_value in (
            ("spec.pool.name", spec.pool.name, old.pool.name),
            ("spec.driver", spec.driver, old.driver),
            ("spec.nodeName", spec.node_name, old.node_name),
        ):
            if new_value != old_value:
                out.append(invalid(path, new_value, IMMUTABLE_TEXT))
    _place(spec, out)
    _devices(spec, old, context, out)
    if len(spec.shared_counters) > limits.SLICE_MAX_COUNTER_SETS:
        count = len(spec.shared_counters)
        out.append(too_many("spec.sharedCounters", count, limits.SLICE_MAX_COUNTER_SETS, covered=True))
    else:
        for index, counter_set in enumerate(spec.shared_counters):
            _counter_set(counter_set, f"spec.sharedCounters[{index}]", out)
        duplicates((item.name for item in spec.shared_counters), "spec.sharedCounters", out, covered=True)
    if spec.partition_type_attribute is not None:
        _partition_type(spec, spec.partition_type_attribute, out)
    skipped_operations(spec.skip_node_operations, "spec.skipNodeOperations", out)


def _pool(spec: ResourceSliceSpec, out: Errors) -> None:
    formats.pool_name(spec.pool.name, "spec.pool.name", out)
    if spec.pool.resource_slice_count <= 0:
        count = spec.pool.resource_slice_count
        out.append(invalid("spec.pool.resourceSliceCount", count, "must be greater than zero"))
    if spec.pool.generation < 0:
        text = "must be greater than or equal to zero"
        out.append(invalid("spec.pool.generation", spec.pool.generation, text))


def _place(spec: ResourceSliceSpec, out: Errors) -> None:
    """Where the devices of the slice are."""
    given = []
    if spec.node_name is not None:
        if spec.node_name:
            given.append("`nodeName`")
            formats.subdomain(spec.node_name, "spec.nodeName", out)
        else:
            out.append(invalid("spec.nodeName", "", "must be either unset or set to a non-empty string"))
    if spec.node_selector is not None:
        given.append("`nodeSelector`")
        node_selector(spec.node_selector, "spec.nodeSelector", out)
        terms = spec.node_selector.node_selector_terms
        if len(terms) != 1:
            text = "must have exactly one node selector term"
            out.append(invalid("spec.nodeSelector.nodeSelectorTerms", terms or None, text))
    for name, flag in (("allNodes", spec.all_nodes), ("perDeviceNodeSelection", spec.per_device_node_selection)):
        if flag:
            given.append(f"`{name}`")
        elif flag is not None:
            out.append(invalid(f"spec.{name}", flag, "must be either unset or set to true"))
    if not given:
        out.append(required("spec", _PLACES))
    elif len(given) > 1:
        out.append(invalid("spec", "{" + ", ".join(given) + "}", f"{_PLACES}, but multiple fields are set"))


def _devices(spec: ResourceSliceSpec, old: ResourceSliceSpec | None, context: ValidationContext, out: Errors) -> None:
    limit = limits.SLICE_MAX_DEVICES
    if any(device.taints or device.consumes_counters or _has_list(device) for device in spec.devices):
        limit = limits.SLICE_MAX_DEVICES_WITH_ADVANCED_FEATURES
    if len(spec.devices) > limit:
        out.append(too_many("spec.devices", len(spec.devices), limit))
        return
    before = {} if old is None else {device.name: device for device in reversed(old.devices)}
    per_device = bool(spec.per_device_node_selection)
    checks = _DeviceChecks(context, out, per_device=per_device)
    for index, device in enumerate(spec.devices):
        checks.device(device, before.get(device.name), f"spec.devices[{index}]")
    duplicates((device.name for device in spec.devices), "spec.devices", out)


def _has_list(device: Device) -> bool:
    return any(
        attribute.ints is not None
        or attribute.bools is not None
        or attribute.strings is not None
        or attribute.versions is not None
        for attribute in device.attributes.values()
    )


def _truncated(key: str, limit: int) -> str:
    """A key as paths show it; long ones lose their middle (lengths in bytes)."""
    if byte_length(key) <= limit:
        return key
    data = key.encode("utf-8", "surrogatepass")
    rest = limit - 3
    return (data[: (rest + 1) // 2] + b"..." + data[len(data) - rest // 2 :]).decode("utf-8", "replace")


class _DeviceChecks:
    """The checks of the devices of one slice."""

    def __init__(self, context: ValidationContext, out: Errors, *, per_device: bool) -> None:
        self.context = context
        self.out = out
        self.per_device = per_device

    def device(self, device: Device, old: Device | None, path: str) -> None:
        out = self.out
        formats.label(device.name, f"{path}.name", out)
        self._sizes(device, path)
        for name, attribute in device.attributes.items():
            formats.qualified_name(name, f"{path}.attributes", out)
            _attribute(attribute, name, path, out)
        if old is None or old.capacity != device.capacity:
            self._capacities(device.capacity, path, shareable=bool(device.allow_multiple_allocations))
        if old is None or old.taints != device.taints:
            self._taints(device, path)
        self._consumption(device.consumes_counters, f"{path}.consumesCounters")
        self._place(device, path)
        binding_parameters(device.binding_conditions, device.binding_failure_conditions, path, out)
        for name, resource in device.node_allocatable_resources.items():
            here = f"{path}.nodeAllocatableResources[{name}]"
            _node_allocatable(name, resource, device.capacity, here, out)

    def _sizes(self, device: Device, path: str) -> None:
        total = len(device.attributes) + len(device.capacity)
        if total > limits.DEVICE_MAX_ATTRIBUTES_AND_CAPACITIES:
            limit = limits.DEVICE_MAX_ATTRIBUTES_AND_CAPACITIES
            text = f"the total number of attributes and capacities must not exceed {limit}"
            self.out.append(invalid(path, total, text))
        # Scalars count one each, so a device with few attributes cannot have too many values unless it has lists.
        values = sum(map(_value_count, device.attributes.values()))
        if values > limits.DEVICE_MAX_ATTRIBUTE_VALUES:
            text = f"the total number of attribute values must not exceed {limits.DEVICE_MAX_ATTRIBUTE_VALUES}"
            self.out.append(invalid(path, values, text))

    def _capacities(self, capacities: Mapping[str, DeviceCapacity], path: str, *, shareable: bool) -> None:
        for name, capacity in capacities.items():
            formats.qualified_name(name, f"{path}.capacity", self.out)
            if capacity.request_policy is not None:
                here = f"{path}.capacity[{_truncated(name, limits.QUALIFIED_NAME_MAX_LENGTH)}]"
                device_capacity(capacity, here, self.context, self.out, shareable=shareable)

    def _taints(self, device: Device, path: str) -> None:
        if len(device.taints) > limits.DEVICE_MAX_TAINTS:
            self.out.append(too_many(f"{path}.taints", len(device.taints), limits.DEVICE_MAX_TAINTS))
            return
        for index, taint in enumerate(device.taints):
            device_taint(taint, None, f"{path}.taints[{index}]", self.out)

    def _consumption(self, consumption: tuple[DeviceCounterConsumption, ...], path: str) -> None:
        if len(consumption) > limits.DEVICE_MAX_COUNTER_CONSUMPTIONS:
            limit = limits.DEVICE_MAX_COUNTER_CONSUMPTIONS
            self.out.append(too_many(path, len(consumption), limit, covered=True))
            return
        for index, item in enumerate(consumption):
            here = f"{path}[{index}]"
            _counter_set_name(item.counter_set, f"{here}.counterSet", self.out)
            limit = limits.DEVICE_MAX_COUNTERS_PER_CONSUMPTION
            _counters(item.counters, limit, f"{here}.counters", self.out)
        duplicates((item.counter_set for item in consumption), path, self.out, covered=True)

    def _place(self, device: Device, path: str) -> None:
        out = self.out
        if not self.per_device:
            if device.node_name is not None or device.node_selector is not None or device.all_nodes is not None:
                out.append(invalid(path, None, _NO_DEVICE_PLACES))
            return
        given = []
        if device.node_name is not None:
            if device.node_name:
                given.append("`nodeName`")
                formats.subdomain(device.node_name, f"{path}.nodeName", out)
            else:
                out.append(invalid(f"{path}.nodeName", "", "must not be empty"))
        if device.node_selector is not None:
            given.append("`nodeSelector`")
            node_selector(device.node_selector, f"{path}.nodeSelector", out)
        if device.all_nodes:
            given.append("`allNodes`")
        elif device.all_nodes is not None:
            out.append(invalid(f"{path}.allNodes", device.all_nodes, "must be either unset or set to true"))
        if not given:
            out.append(required(path, _DEVICE_PLACES))
        elif len(given) > 1:
            out.append(invalid(path, "{" + ", ".join(given) + "}", _DEVICE_PLACES))


def _value_count(attribute: DeviceAttribute) -> int:
    lists = _list_values(attribute)
    return 1 if lists == _NO_LISTS else sum(len(values) for values in lists if values) or 1


_NO_LISTS = (None, None, None, None)
_list_values = attrgetter("ints", "bools", "strings", "versions")
_given_values = attrgetter("int_", "bool_", "string", "version", "ints", "bools", "strings", "versions")


def _attribute(attribute: DeviceAttribute, name: str, device_path: str, out: Errors) -> None:
    given = 8 - _given_values(attribute).count(None)
    if given == 1 and (attribute.int_ is not None or attribute.bool_ is not None):
        return
    limit = limits.ATTRIBUTE_VALUE_MAX_LENGTH
    if given == 1 and attribute.string is not None and byte_length(attribute.string) <= limit:
        return
    path = f"{device_path}.attributes[{_truncated(name, limits.QUALIFIED_NAME_MAX_LENGTH)}]"
    if attribute.string is not None and byte_length(attribute.string) > limit:
        out.append(too_long(f"{path}.string", limit))
    if attribute.version is not None:
        _version(attribute.version, f"{path}.version", out)
    for list_name in ("bools", "ints", "strings", "versions"):
        values: tuple[Any, ...] | None = getattr(attribute, list_name)
        if values is not None and not values:
            out.append(invalid(f"{path}.{list_name}", values, "must not be empty if specified"))
    for index, text in enumerate(attribute.strings or ()):
        if byte_length(text) > limit:
            out.append(too_long(f"{path}.strings[{index}]", limit, covered=True))
    for index, text in enumerate(attribute.versions or ()):
        _version(text, f"{path}.versions[{index}]", out)
    if given != 1:
        out.append(invalid(path, attribute if given else "", "exactly one value must be specified", covered=True))


def _version(text: str, path: str, out: Errors) -> None:
    if not _VERSION.fullmatch(text):
        out.append(invalid(path, text, _VERSION_TEXT))
    if byte_length(text) > limits.ATTRIBUTE_VALUE_MAX_LENGTH:
        out.append(too_long(path, limits.ATTRIBUTE_VALUE_MAX_LENGTH))


def _counter_set(counter_set: CounterSet, path: str, out: Errors) -> None:
    _counter_set_name(counter_set.name, f"{path}.name", out)
    _counters(counter_set.counters, limits.SLICE_MAX_COUNTERS_PER_SET, f"{path}.counters", out)


def _counter_set_name(name: str, path: str, out: Errors) -> None:
    if not name:
        out.append(required(path, covered=True))
    else:
        formats.label(name, path, out, covered=True)


def _counters(counters: Mapping[str, Counter], limit: int, path: str, out: Errors) -> None:
    if not counters:
        out.append(required(path, covered=True))
    elif len(counters) > limit:
        out.append(too_many(path, len(counters), limit))
    else:
        for name in counters:
            formats.label(name, path, out, covered=True)


def is_node_allocatable_resource(name: str) -> bool:
    """Whether devices can stand for a native resource: cpu, memory and huge pages."""
    return name in {"cpu", "memory"} or name.startswith("hugepages-")


def _node_allocatable(
    name: str, resource: NodeAllocatableResource, capacities: Mapping[str, DeviceCapacity], path: str, out: Errors
) -> None:
    if not is_node_allocatable_resource(name):
        out.append(invalid(path, name, "must be a node allocatable resource name"))
    if resource.mapping is None and resource.overhead is None:
        out.append(required(path, "at least one of mapping or overhead must be set"))
    if resource.mapping is not None:
        _node_mapping(resource.mapping, capacities, f"{path}.mapping", out)
    if resource.overhead is not None:
        _node_overhead(resource.overhead, f"{path}.overhead", out)


def _node_mapping(
    mapping: NodeAllocatableMapping, capacities: Mapping[str, DeviceCapacity], path: str, out: Errors
) -> None:
    key, multiplier = mapping.capacity_key, mapping.capacity_multiplier
    if key is not None:
        if not key:
            out.append(invalid(f"{path}.capacityKey", "", "capacityKey must not be an empty string"))
        elif key not in capacities:
            out.append(not_found(f"{path}.capacityKey", key))
        if multiplier is None:
            text = "capacityMultiplier is required when capacityKey is set"
            out.append(required(f"{path}.capacityMultiplier", text, covered=True))
        elif multiplier.sign <= 0:
            out.append(invalid(f"{path}.capacityMultiplier", multiplier, "must be positive"))
    elif multiplier is not None:
        text = "capacityKey is required when capacityMultiplier is set"
        out.append(required(f"{path}.capacityKey", text, covered=True))
    if mapping.device_multiplier is not None and mapping.device_multiplier.sign <= 0:
        out.append(invalid(f"{path}.deviceMultiplier", mapping.device_multiplier, "must be positive"))


def _node_overhead(overhead: NodeAllocatableOverhead, path: str, out: Errors) -> None:
    if overhead.per_pod is None and overhead.per_container is None:
        out.append(invalid(path, "", "at least one of perPod or perContainer must be set"))
    for name, amount in (("perPod", overhead.per_pod), ("perContainer", overhead.per_container)):
        if amount is not None and amount.sign < 0:
            out.append(invalid(f"{path}.{name}", amount, "must be non-negative"))


def _partition_type(spec: ResourceSliceSpec, name: str, out: Errors) -> None:
    if not any(device.consumes_counters for device in spec.devices):
        text = "may only be set on a slice which declares devices that consume counters"
        out.append(invalid("spec.partitionTypeAttribute", name, text))
        return
    malformed: Errors = []
    formats.fully_qualified_name(name, "", malformed)
    if malformed:
        return
    bare = name.removeprefix(f"{spec.driver}/")
    for index, device in enumerate(spec.devices):
        if not device.consumes_counters:
            continue
        path = f"spec.devices[{index}].attributes[{name}]"
        attribute = device.attributes.get(name)
        if attribute is None:
            attribute = device.attributes.get(bare)
        if attribute is None:
            text = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
            out.append(required(path, text))
        elif attribute.string is None:
            text = "must be a string value because `partitionTypeAttribute` names this attribute"
            out.append(invalid(path, attribute, text))
