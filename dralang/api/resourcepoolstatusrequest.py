"""ResourcePoolStatusRequest.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from typing import Annotated

from dralang.api.base import Always, ApiType, Int32, Int64, since
from dralang.api.meta import Condition, ObjectMeta
from dralang.values.quantity import Quantity


class ResourcePoolStatusRequestSpec(ApiType, frozen=True):
    """resource/v1alpha3 ResourcePoolStatusRequestSpec."""

    driver: Always[str] = ""
    pool_name: str | None = None
    limit: Int32 | None = None
    default_partition_type_attribute: Annotated[str | None, since("1.37")] = None


class PartitionTypeStatus(ApiType, frozen=True):
    """resource/v1alpha3 PartitionTypeStatus."""

    attribute: str = ""
    type: str = ""
    total: Int32 | None = None
    allocatable: Int32 | None = None


class ShareableCapacityStatus(ApiType, frozen=True):
    """resource/v1alpha3 ShareableCapacityStatus."""

    name: str = ""
    total: Quantity | None = None
    consumed: Quantity | None = None
    available: Quantity | None = None


class ShareableSummaryStatus(ApiType, frozen=True):
    """resource/v1alpha3 ShareableSummaryStatus."""

    fully_available_devices: Int32 | None = None
    partially_available_devices: Int32 | None = None
    capacity: tuple[ShareableCapacityStatus, ...] = ()


class PoolStatus(ApiType, frozen=True):
    """resource/v1alpha3 PoolStatus."""

    driver: str = ""
    pool_name: str = ""
    generation: Always[Int64] = 0
    resource_slice_count: Int32 | None = None
    total_devices: Int32 | None = None
    allocated_devices: Int32 | None = None
    available_devices: Int32 | None = None
    unavailable_devices: Int32 | None = None
    node_name: str | None = None
    validation_error: str | None = None
    partition_summary: tuple[PartitionTypeStatus, ...] = ()
    shareable_summary: ShareableSummaryStatus | None = None


class ResourcePoolStatusRequestStatus(ApiType, frozen=True):
    """resource/v1alpha3 ResourcePoolStatusRequestStatus."""

    pool_count: Int32 | None = None
    pools: tuple[PoolStatus, ...] = ()
    conditions: tuple[Condition, ...] = ()


class ResourcePoolStatusRequest(ApiType, frozen=True):
    """resource/v1alpha3 ResourcePoolStatusRequest."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[ResourcePoolStatusRequestSpec] = ResourcePoolStatusRequestSpec()
    status: ResourcePoolStatusRequestStatus | None = None
