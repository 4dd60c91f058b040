"""What an API server fills in before it looks at an object.

Of a pod only what concerns resources is filled in.

Source: pkg/apis/resource/*/defaults.go, pkg/apis/core/v1/defaults.go, pkg/apis/scheduling (1.37).
"""

from typing import TypeVar, cast

from msgspec import structs

from dralang.api.allocation import AllocationResult
from dralang.api.base import ApiType
from dralang.api.device import DeviceTaint, DeviceToleration
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.podresources import requests_from_limits
from dralang.api.pods import Pod
from dralang.api.resourceclaim import (
    DeviceClaim,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
)
from dralang.api.resourcepoolstatusrequest import ResourcePoolStatusRequest
from dralang.api.resourceslice import ResourceSlice
from dralang.api.v1beta1 import (
    DeviceRequestV1beta1,
    ResourceClaimTemplateV1beta1,
    ResourceClaimV1beta1,
    ResourceSliceV1beta1,
)
from dralang.api.validation.limits import POOL_REQUEST_DEFAULT_LIMIT
from dralang.api.workloads import DisruptionMode, PodGroup, SingleDisruptionMode

_T = TypeVar("_T", bound=ApiType)
_Request = TypeVar("_Request", ExactDeviceRequest, DeviceSubRequest)


def with_defaults(value: _T, now: str) -> _T:
    """An object, in the version in which it was sent, with its defaults.

    Args:
        value: a kind of any version.
        now: the time to note for taints, as objects show times.
    """
    return cast("_T", _with_defaults(value, now))


def _with_defaults(value: ApiType, now: str) -> ApiType:
    match value:
        case ResourceClaim() | ResourceClaimV1beta1():
            return _claim(value)
        case ResourceClaimTemplate():
            devices = _device_claim(value.spec.spec.devices)
            spec = structs.replace(value.spec.spec, devices=devices)
            return structs.replace(value, spec=structs.replace(value.spec, spec=spec))
        case ResourceClaimTemplateV1beta1():
            flat = value.spec.spec.devices
            devices_v1beta1 = structs.replace(flat, requests=tuple(map(_flat_request, flat.requests)))
            flat_spec = structs.replace(value.spec.spec, devices=devices_v1beta1)
            return structs.replace(value, spec=structs.replace(value.spec, spec=flat_spec))
        case ResourceSlice():
            return _slice(value, now)
        case ResourceSliceV1beta1():
            return _slice_v1beta1(value, now)
        case DeviceTaintRule():
            taint = _taint(value.spec.taint, now)
            return structs.replace(value, spec=structs.replace(value.spec, taint=taint))
        case ResourcePoolStatusRequest() if value.spec.limit is None:
            return structs.replace(value, spec=structs.replace(value.spec, limit=POOL_REQUEST_DEFAULT_LIMIT))
        case Pod():
            return _pod(value)
        case PodGroup() if value.spec.disruption_mode is None:
            mode = DisruptionMode(single=SingleDisruptionMode())
            return structs.replace(value, spec=structs.replace(value.spec, disruption_mode=mode))
        case _:
            return value


def _claim(value: ResourceClaim | ResourceClaimV1beta1) -> ApiType:
    allocation = value.status.allocation
    if allocation is not None:
        value = structs.replace(value, status=structs.replace(value.status, allocation=_allocation(allocation)))
    if isinstance(value, ResourceClaim):
        return structs.replace(value, spec=structs.replace(value.spec, devices=_device_claim(value.spec.devices)))
    flat = value.spec.devices
    devices = structs.replace(flat, requests=tuple(map(_flat_request, flat.requests)))
    return structs.replace(value, spec=structs.replace(value.spec, devices=devices))


def _device_claim(claim: DeviceClaim) -> DeviceClaim:
    return structs.replace(claim, requests=tuple(map(_request, claim.requests)))


def _request(request: DeviceRequest) -> DeviceRequest:
    exactly = None if request.exactly is None else _body(request.exactly)
    return structs.replace(request, exactly=exactly, first_available=tuple(map(_body, request.first_available)))


def _flat_request(request: DeviceRequestV1beta1) -> DeviceRequestV1beta1:
    alternatives = tuple(map(_body, request.first_available))
    tolerations = _tolerations(request.tolerations)
    if not request.device_class_name:
        # Without a class the request is one with alternatives, in which these fields must stay empty.
        return structs.replace(request, first_available=alternatives, tolerations=tolerations)
    mode, count = _mode_and_count(request.allocation_mode, request.count)
    return structs.replace(
        request, allocation_mode=mode, count=count, first_available=alternatives, tolerations=tolerations
    )


def _body(request: _Request) -> _Request:
    mode, count = _mode_and_count(request.allocation_mode, request.count)
    tolerations = _tolerations(request.tolerations)
    return structs.replace(request, allocation_mode=mode, count=count, tolerations=tolerations)


def _mode_and_count(mode: str, count: int) -> tuple[str, int]:
    mode = mode or "ExactCount"
    return mode, 1 if mode == "ExactCount" and count == 0 else count


def _tolerations(items: tuple[DeviceToleration, ...]) -> tuple[DeviceToleration, ...]:
    return tuple(item if item.operator else structs.replace(item, operator="Equal") for item in items)


def _allocation(allocation: AllocationResult) -> AllocationResult:
    results = tuple(
        structs.replace(result, tolerations=_tolerations(result.tolerations)) if result.tolerations else result
        for result in allocation.devices.results
    )
    return structs.replace(allocation, devices=structs.replace(allocation.devices, results=results))


def _taint(taint: DeviceTaint, now: str) -> DeviceTaint:
    return taint if taint.time_added is not None else structs.replace(taint, time_added=now)


def _taints(items: tuple[DeviceTaint, ...], now: str) -> tuple[DeviceTaint, ...]:
    return tuple(_taint(item, now) for item in items)


def _slice(value: ResourceSlice, now: str) -> ResourceSlice:
    devices = value.spec.devices
    if not any(device.taints for device in devices):
        return value
    replaced = tuple(structs.replace(device, taints=_taints(device.taints, now)) for device in devices)
    return structs.replace(value, spec=structs.replace(value.spec, devices=replaced))


def _slice_v1beta1(value: ResourceSliceV1beta1, now: str) -> ResourceSliceV1beta1:
    devices = tuple(
        device
        if device.basic is None
        else structs.replace(device, basic=structs.replace(device.basic, taints=_taints(device.basic.taints, now)))
        for device in value.spec.devices
    )
    return structs.replace(value, spec=structs.replace(value.spec, devices=devices))


def _pod(value: Pod) -> Pod:
    spec = value.spec
    containers, init_containers = requests_from_limits(spec.containers), requests_from_limits(spec.init_containers)
    if containers is spec.containers and init_containers is spec.init_containers:
        return value
    spec = structs.replace(spec, containers=containers, init_containers=init_containers)
    return structs.replace(value, spec=spec)
