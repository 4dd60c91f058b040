"""What an allocation records in the status of a claim.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from dralang.api.affinity import NodeSelector
from dralang.api.base import Always, ApiType, Raw, Time, since
from dralang.api.device import DeviceToleration, OpaqueDeviceConfiguration
from dralang.api.enums import AllocationConfigSource, SkipNodeOperation
from dralang.api.meta import Condition
from dralang.values.quantity import Quantity


class DeviceRequestAllocationResult(ApiType, frozen=True):
    """resource/v1 DeviceRequestAllocationResult."""

    request: Always[str] = ""
    driver: Always[str] = ""
    pool: Always[str] = ""
    device: Always[str] = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    share_id: str | None = field(default=None, name="shareID")
    consumed_capacity: Mapping[str, Quantity] | None = None
    skip_node_operations: Annotated[tuple[SkipNodeOperation, ...], since("1.37")] = ()


class DeviceAllocationConfiguration(ApiType, frozen=True):
    """resource/v1 DeviceAllocationConfiguration."""

    source: Always[AllocationConfigSource] = ""
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(ApiType, frozen=True):
    """resource/v1 DeviceAllocationResult."""

    results: tuple[DeviceRequestAllocationResult, ...] = ()
    config: tuple[DeviceAllocationConfiguration, ...] = ()


class AllocationResult(ApiType, frozen=True):
    """resource/v1 AllocationResult."""

    devices: Always[DeviceAllocationResult] = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: Time | None = None


class ResourceClaimConsumerReference(ApiType, frozen=True):
    """resource/v1 ResourceClaimConsumerReference."""

    api_group: str = ""
    resource: Always[str] = ""
    name: Always[str] = ""
    uid: Always[str] = ""


class NetworkDeviceData(ApiType, frozen=True):
    """resource/v1 NetworkDeviceData."""

    interface_name: str = ""
    ips: tuple[str, ...] = ()
    hardware_address: str = ""


class AllocatedDeviceStatus(ApiType, frozen=True):
    """resource/v1 AllocatedDeviceStatus."""

    driver: Always[str] = ""
    pool: Always[str] = ""
    device: Always[str] = ""
    share_id: str | None = field(default=None, name="shareID")
    conditions: Always[tuple[Condition, ...]] = ()
    data: Raw | None = None
    network_data: NetworkDeviceData | None = None
