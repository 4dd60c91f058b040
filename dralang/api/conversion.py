"""Objects of older API versions to the version in which they are held, and back.

Source: pkg/apis/resource/v1beta1 (1.37).
"""

from typing import Any

from dralang.api.base import ApiType
from dralang.api.encode import to_json
from dralang.api.kinds import KIND_OF_TYPE
from dralang.api.resourceclaim import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from dralang.api.resourceslice import Device, ResourceSlice, ResourceSliceSpec
from dralang.api.v1beta1 import (
    BasicDevice,
    DeviceClaimV1beta1,
    DeviceRequestV1beta1,
    DeviceV1beta1,
    ResourceClaimSpecV1beta1,
    ResourceClaimTemplateSpecV1beta1,
    ResourceClaimTemplateV1beta1,
    ResourceClaimV1beta1,
    ResourceSliceSpecV1beta1,
    ResourceSliceV1beta1,
)

_FLAT = tuple(ExactDeviceRequest.__struct_fields__)
_BASIC = tuple(BasicDevice.__struct_fields__)
_CLAIM = ("constraints", "config")
_SLICE = (
    "driver",
    "pool",
    "node_selector",
    "per_device_node_selection",
    "shared_counters",
    "partition_type_attribute",
    "skip_node_operations",
)


def _copied(source: ApiType, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def to_current(value: ApiType) -> ApiType:
    """An object as the version says in which all objects are held; one of that version stays as it is."""
    if isinstance(value, ResourceClaimV1beta1):
        return ResourceClaim(value.metadata, _claim_spec(value.spec), value.status)
    if isinstance(value, ResourceClaimTemplateV1beta1):
        spec = ResourceClaimTemplateSpec(value.spec.metadata, _claim_spec(value.spec.spec))
        return ResourceClaimTemplate(value.metadata, spec)
    if isinstance(value, ResourceSliceV1beta1):
        return ResourceSlice(value.metadata, _slice_spec(value.spec))
    return value


def from_current(value: ApiType, version: str) -> ApiType:
    """An object as an older version of its API shows it."""
    if version != "v1beta1":
        return value
    if isinstance(value, ResourceClaim):
        return ResourceClaimV1beta1(value.metadata, _flat_claim_spec(value.spec), value.status)
    if isinstance(value, ResourceClaimTemplate):
        spec = ResourceClaimTemplateSpecV1beta1(value.spec.metadata, _flat_claim_spec(value.spec.spec))
        return ResourceClaimTemplateV1beta1(value.metadata, spec)
    if isinstance(value, ResourceSlice):
        return ResourceSliceV1beta1(value.metadata, _basic_slice_spec(value.spec))
    return value


def versioned_json(value: ApiType, version: str) -> dict[str, Any]:
    """The JSON form of an object in one of the versions of its API."""
    info = KIND_OF_TYPE[type(value)]
    shown = to_json(from_current(value, version))
    rest = {name: entry for name, entry in shown.items() if name not in {"apiVersion", "kind"}}
    return {"apiVersion": info.in_version(version), "kind": info.name, **rest}


def not_carried(value: ApiType, version: str) -> tuple[str, ...]:
    """What is lost when an object is written in an older version, as paths; nothing in most cases."""
    if to_current(from_current(value, version)) == value:
        return ()
    lost: list[str] = []
    if isinstance(value, ResourceClaim):
        lost = _lost_requests(value.spec, "spec.devices.requests")
    elif isinstance(value, ResourceClaimTemplate):
        lost = _lost_requests(value.spec.spec, "spec.spec.devices.requests")
    elif isinstance(value, ResourceSlice):
        lost = ["spec.nodeName"] if value.spec.node_name == "" else []
        lost += ["spec.allNodes"] if value.spec.all_nodes is False else []
    return tuple(lost)


def _lost_requests(spec: ResourceClaimSpec, path: str) -> list[str]:
    empty = ExactDeviceRequest()
    return [
        f"{path}[{index}].exactly" for index, request in enumerate(spec.devices.requests) if request.exactly == empty
    ]


def _claim_spec(spec: ResourceClaimSpecV1beta1) -> ResourceClaimSpec:
    requests = tuple(map(_request, spec.devices.requests))
    return ResourceClaimSpec(DeviceClaim(requests, **_copied(spec.devices, _CLAIM)))


def _request(request: DeviceRequestV1beta1) -> DeviceRequest:
    exactly = ExactDeviceRequest(**_copied(request, _FLAT))
    # One field of the plain form is enough to make the request one.
    given = exactly if exactly != ExactDeviceRequest() else None
    return DeviceRequest(request.name, given, request.first_available)


def _flat_claim_spec(spec: ResourceClaimSpec) -> ResourceClaimSpecV1beta1:
    requests = tuple(map(_flat_request, spec.devices.requests))
    return ResourceClaimSpecV1beta1(DeviceClaimV1beta1(requests, **_copied(spec.devices, _CLAIM)))


def _flat_request(request: DeviceRequest) -> DeviceRequestV1beta1:
    flat = {} if request.exactly is None else _copied(request.exactly, _FLAT)
    return DeviceRequestV1beta1(name=request.name, first_available=request.first_available, **flat)


def _slice_spec(spec: ResourceSliceSpecV1beta1) -> ResourceSliceSpec:
    devices = tuple(
        Device(name=device.name, **_copied(device.basic or BasicDevice(), _BASIC)) for device in spec.devices
    )
    return ResourceSliceSpec(
        node_name=spec.node_name or None, all_nodes=spec.all_nodes or None, devices=devices, **_copied(spec, _SLICE)
    )


def _basic_slice_spec(spec: ResourceSliceSpec) -> ResourceSliceSpecV1beta1:
    devices = tuple(DeviceV1beta1(device.name, BasicDevice(**_copied(device, _BASIC))) for device in spec.devices)
    return ResourceSliceSpecV1beta1(
        node_name=spec.node_name or "", all_nodes=bool(spec.all_nodes), devices=devices, **_copied(spec, _SLICE)
    )
