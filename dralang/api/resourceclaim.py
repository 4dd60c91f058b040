"""ResourceClaim and ResourceClaimTemplate.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from typing import Annotated

from dralang.api.allocation import AllocatedDeviceStatus, AllocationResult, ResourceClaimConsumerReference
from dralang.api.base import Always, ApiType, Int64, since
from dralang.api.device import CapacityRequirements, DeviceSelector, DeviceToleration, OpaqueDeviceConfiguration
from dralang.api.meta import ObjectMeta


class DeviceDerivedAttribute(ApiType, frozen=True):
    """resource/v1 DeviceDerivedAttribute."""

    name: Always[str] = ""
    expression: Always[str] = ""


class ExactDeviceRequest(ApiType, frozen=True):
    """resource/v1 ExactDeviceRequest."""

    device_class_name: Always[str] = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: Annotated[tuple[DeviceDerivedAttribute, ...], since("1.37")] = ()


class DeviceSubRequest(ApiType, frozen=True):
    """resource/v1 DeviceSubRequest."""

    name: Always[str] = ""
    device_class_name: Always[str] = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: Annotated[tuple[DeviceDerivedAttribute, ...], since("1.37")] = ()


class DeviceRequest(ApiType, frozen=True):
    """resource/v1 DeviceRequest."""

    name: Always[str] = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(ApiType, frozen=True):
    """resource/v1 DeviceConstraint."""

    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class DeviceClaimConfiguration(ApiType, frozen=True):
    """resource/v1 DeviceClaimConfiguration."""

    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(ApiType, frozen=True):
    """resource/v1 DeviceClaim."""

    requests: Always[tuple[DeviceRequest, ...]] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(ApiType, frozen=True):
    """resource/v1 ResourceClaimSpec."""

    devices: Always[DeviceClaim] = DeviceClaim()


class ResourceClaimStatus(ApiType, frozen=True):
    """resource/v1 ResourceClaimStatus."""

    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(ApiType, frozen=True):
    """resource/v1 ResourceClaim."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[ResourceClaimSpec] = ResourceClaimSpec()
    status: Always[ResourceClaimStatus] = ResourceClaimStatus()


class ResourceClaimTemplateSpec(ApiType, frozen=True):
    """resource/v1 ResourceClaimTemplateSpec."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[ResourceClaimSpec] = ResourceClaimSpec()


class ResourceClaimTemplate(ApiType, frozen=True):
    """resource/v1 ResourceClaimTemplate."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[ResourceClaimTemplateSpec] = ResourceClaimTemplateSpec()
