"""DeviceClass.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from typing import Annotated

from dralang.api.base import Always, ApiType, since
from dralang.api.device import CapacityRequirements, DeviceSelector, OpaqueDeviceConfiguration
from dralang.api.meta import ObjectMeta


class DeviceClassConfiguration(ApiType, frozen=True):
    """resource/v1 DeviceClassConfiguration."""

    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(ApiType, frozen=True):
    """resource/v1 DeviceClassSpec."""

    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceClassConfiguration, ...] = ()
    extended_resource_name: str | None = None
    # Of KEP-6406, which no released API has.
    extended_resource_capacity_requests: Annotated[CapacityRequirements | None, since("1.38")] = None


class DeviceClass(ApiType, frozen=True):
    """resource/v1 DeviceClass."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[DeviceClassSpec] = DeviceClassSpec()
