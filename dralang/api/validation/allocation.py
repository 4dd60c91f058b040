"""The status of a ResourceClaim.

Source: validateResourceClaimStatusUpdate and below in pkg/apis/resource/validation (1.37).
"""

from typing import TypeAlias

from dralang.api.allocation import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceRequestAllocationResult,
    NetworkDeviceData,
    ResourceClaimConsumerReference,
)
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.validation import formats, limits
from dralang.api.validation.claims import (
    RequestNames,
    configuration,
    duplicates,
    raw_object,
    request_names,
    request_reference,
    request_references,
    toleration,
)
from dralang.api.validation.errors import (
    IMMUTABLE_TEXT,
    Errors,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from dralang.api.validation.metadata import conditions
from dralang.api.validation.nodeselectors import node_selector
from dralang.values.names import byte_length

DeviceId: TypeAlias = tuple[str, str, str, str]
CONFIG_SOURCES = ("FromClass", "FromClaim")


def device_id(device: DeviceRequestAllocationResult | AllocatedDeviceStatus) -> DeviceId:
    """Driver, pool, device and share, which together name an allocated device."""
    return device.driver, device.pool, device.device, device.share_id or ""


def claim_status(claim: ResourceClaim, old: ResourceClaim, out: Errors) -> None:
    """A new status of a claim, which must fit the claim and its status so far."""
    status = claim.status
    _reserved_for(claim, old, out)
    results = () if status.allocation is None else status.allocation.devices.results
    allocated = {device_id(result) for result in results}
    for index, device in enumerate(status.devices):
        _device_status(device, allocated, f"status.devices[{index}]", out)
    duplicates(map(device_id, status.devices), "status.devices", out, covered=True)
    if status.allocation is None:
        return
    if old.status.allocation is None:
        _allocation(status.allocation, request_names(claim.spec.devices), "status.allocation", out)
    elif status.allocation != old.status.allocation:
        out.append(invalid("status.allocation", status.allocation, IMMUTABLE_TEXT, covered=True))


def _reserved_for(claim: ResourceClaim, old: ResourceClaim, out: Errors) -> None:
    consumers, path = claim.status.reserved_for, "status.reservedFor"
    if len(consumers) > limits.CLAIM_MAX_RESERVED_FOR:
        out.append(too_many(path, len(consumers), limits.CLAIM_MAX_RESERVED_FOR, covered=True))
    else:
        for index, consumer in enumerate(consumers):
            _consumer(consumer, f"{path}[{index}]", out)
        duplicates((consumer.uid for consumer in consumers), path, out, covered=True)
    if not consumers:
        return
    if claim.status.allocation is None:
        out.append(forbidden(path, "may not be specified when `allocated` is not set"))
    elif claim.metadata.deletion_timestamp is not None:
        before = set(old.status.reserved_for)
        if any(consumer not in before for consumer in consumers):
            text = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            out.append(forbidden(path, text))


def _consumer(consumer: ResourceClaimConsumerReference, path: str, out: Errors) -> None:
    for name, value in (("resource", consumer.resource), ("name", consumer.name), ("uid", consumer.uid)):
        if not value:
            out.append(required(f"{path}.{name}"))


def _allocation(allocation: AllocationResult, names: RequestNames, path: str, out: Errors) -> None:
    results, configs = allocation.devices.results, allocation.devices.config
    if len(results) > limits.ALLOCATION_MAX_RESULTS:
        here = f"{path}.devices.results"
        out.append(too_many(here, len(results), limits.ALLOCATION_MAX_RESULTS, covered=True))
    else:
        for index, result in enumerate(results):
            _result(result, names, f"{path}.devices.results[{index}]", out)
    if len(configs) > limits.ALLOCATION_MAX_CONFIGS:
        here = f"{path}.devices.config"
        out.append(too_many(here, len(configs), limits.ALLOCATION_MAX_CONFIGS, covered=True))
    else:
        for index, config in enumerate(configs):
            here = f"{path}.devices.config[{index}]"
            if not config.source:
                out.append(required(f"{here}.source", covered=True))
            elif config.source not in CONFIG_SOURCES:
                out.append(not_supported(f"{here}.source", config.source, CONFIG_SOURCES, covered=True))
            request_references(config.requests, f"{here}.requests", names, out)
            configuration(config.opaque, here, out)
    if allocation.node_selector is not None:
        node_selector(allocation.node_selector, f"{path}.nodeSelector", out)


def _result(result: DeviceRequestAllocationResult, names: RequestNames, path: str, out: Errors) -> None:
    request_reference(result.request, f"{path}.request", names, out)
    formats.driver_name(result.driver, f"{path}.driver", out, covered=True)
    formats.pool_name(result.pool, f"{path}.pool", out, covered=True)
    formats.label(result.device, f"{path}.device", out)
    binding_parameters(result.binding_conditions, result.binding_failure_conditions, path, out)
    for index, item in enumerate(result.tolerations):
        toleration(item, f"{path}.tolerations[{index}]", out)
    if result.share_id is not None:
        formats.uuid(result.share_id, f"{path}.shareID", out, covered=True)
    skipped_operations(result.skip_node_operations, f"{path}.skipNodeOperations", out)


def binding_parameters(binding: tuple[str, ...], failure: tuple[str, ...], path: str, out: Errors) -> None:
    """Binding conditions and binding failure conditions: both or none, and no condition in both."""
    ready_path, failure_path = f"{path}.bindingConditions", f"{path}.bindingFailureConditions"
    if not binding and not failure:
        return
    for names, here in ((binding, ready_path), (failure, failure_path)):
        if len(names) > limits.DEVICE_MAX_BINDING_CONDITIONS:
            out.append(too_many(here, len(names), limits.DEVICE_MAX_BINDING_CONDITIONS, covered=True))
        else:
            for index, name in enumerate(names):
                formats.label_key(name, f"{here}[{index}]", out)
    duplicates(binding, ready_path, out)
    seen: set[str] = set()
    for index, name in enumerate(failure):
        if name in seen:
            out.append(duplicate(f"{failure_path}[{index}]", name))
        seen.add(name)
        if name in binding:
            text = "bindingFailureConditions must not overlap with bindingConditions"
            out.append(invalid(f"{failure_path}[{index}]", name, text))
    if not binding:
        text = "bindingConditions are required to use bindingFailureConditions"
        out.append(invalid(ready_path, None, text))
    if not failure:
        text = "bindingFailureConditions are required to use bindingConditions"
        out.append(invalid(failure_path, None, text))


def skipped_operations(operations: tuple[str, ...], path: str, out: Errors) -> None:
    """Preparing can be skipped only together with unpreparing."""
    if "NodePrepareResources" in operations and not {"NodeUnprepareResources", "*"} & set(operations):
        text = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"
        out.append(invalid(path, operations, text))


def _device_status(device: AllocatedDeviceStatus, allocated: set[DeviceId], path: str, out: Errors) -> None:
    formats.driver_name(device.driver, f"{path}.driver", out)
    formats.pool_name(device.pool, f"{path}.pool", out)
    formats.label(device.device, f"{path}.device", out)
    if device.share_id is not None:
        formats.uuid(device.share_id, f"{path}.shareID", out, covered=True)
    if device_id(device) not in allocated:
        shown = dict(zip(("Driver", "Pool", "Device", "ShareID"), device_id(device), strict=True))
        out.append(invalid(path, shown, "must be an allocated device in the claim"))
    if len(device.conditions) > limits.DEVICE_STATUS_MAX_CONDITIONS:
        here = f"{path}.conditions"
        out.append(too_many(here, len(device.conditions), limits.DEVICE_STATUS_MAX_CONDITIONS))
    conditions(device.conditions, f"{path}.conditions", out)
    if device.data is not None:
        raw_object(device.data, f"{path}.data", limits.DEVICE_STATUS_DATA_MAX_LENGTH, out)
    if device.network_data is not None:
        _network_data(device.network_data, f"{path}.networkData", out)


def _network_data(data: NetworkDeviceData, path: str, out: Errors) -> None:
    if byte_length(data.interface_name) > limits.NETWORK_INTERFACE_NAME_MAX_LENGTH:
        out.append(too_long(f"{path}.interfaceName", limits.NETWORK_INTERFACE_NAME_MAX_LENGTH, covered=True))
    if byte_length(data.hardware_address) > limits.NETWORK_HARDWARE_ADDRESS_MAX_LENGTH:
        out.append(too_long(f"{path}.hardwareAddress", limits.NETWORK_HARDWARE_ADDRESS_MAX_LENGTH, covered=True))
    if len(data.ips) > limits.NETWORK_MAX_IPS:
        out.append(too_many(f"{path}.ips", len(data.ips), limits.NETWORK_MAX_IPS, covered=True))
        return
    for index, address in enumerate(data.ips):
        formats.interface_address(address, f"{path}.ips[{index}]", out)
    duplicates(data.ips, f"{path}.ips", out, covered=True)
