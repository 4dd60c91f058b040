"""What a device publishes and what requests and classes share.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from collections.abc import Mapping

from msgspec import field

from dralang.api.base import Always, ApiType, Int64, Raw, Time
from dralang.api.enums import DeviceTaintEffect, DeviceTolerationOperator
from dralang.values.quantity import Quantity


class DeviceTaint(ApiType, frozen=True):
    """resource/v1 DeviceTaint."""

    key: Always[str] = ""
    value: str = ""
    effect: Always[DeviceTaintEffect] = ""
    time_added: Time | None = None


class CELDeviceSelector(ApiType, frozen=True):
    """resource/v1 CELDeviceSelector."""

    expression: Always[str] = ""


class DeviceSelector(ApiType, frozen=True):
    """resource/v1 DeviceSelector."""

    cel: CELDeviceSelector | None = None


class DeviceToleration(ApiType, frozen=True):
    """resource/v1 DeviceToleration."""

    key: str = ""
    operator: DeviceTolerationOperator = ""
    value: str = ""
    effect: DeviceTaintEffect = ""
    toleration_seconds: Int64 | None = None


class CapacityRequirements(ApiType, frozen=True):
    """resource/v1 CapacityRequirements."""

    requests: Mapping[str, Quantity] = field(default_factory=dict)


class OpaqueDeviceConfiguration(ApiType, frozen=True):
    """resource/v1 OpaqueDeviceConfiguration."""

    driver: Always[str] = ""
    parameters: Always[Raw | None] = None
