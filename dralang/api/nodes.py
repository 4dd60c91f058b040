"""Node.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from dralang.api.affinity import Taint
from dralang.api.base import Always, ApiType, Int32, Int64, Time, since
from dralang.api.enums import ConditionStatus, NodeAddressType, NodePhase
from dralang.api.meta import ObjectMeta
from dralang.values.quantity import Quantity


class ConfigMapNodeConfigSource(ApiType, frozen=True):
    """core/v1 ConfigMapNodeConfigSource."""

    namespace: Always[str] = ""
    name: Always[str] = ""
    uid: str = ""
    resource_version: str = ""
    kubelet_config_key: Always[str] = ""


class NodeConfigSource(ApiType, frozen=True):
    """core/v1 NodeConfigSource."""

    config_map: ConfigMapNodeConfigSource | None = None


class NodePodPreemptionPolicy(ApiType, frozen=True):
    """core/v1 NodePodPreemptionPolicy."""

    disable_resize_preemption: tuple[str, ...] = ()


class NodeSpec(ApiType, frozen=True):
    """core/v1 NodeSpec."""

    pod_cidr: str = field(default="", name="podCIDR")
    pod_cid_rs: tuple[str, ...] = field(default=(), name="podCIDRs")
    provider_id: str = field(default="", name="providerID")
    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    config_source: NodeConfigSource | None = None
    external_id: str = field(default="", name="externalID")
    pod_preemption_policy: NodePodPreemptionPolicy | None = None


class NodeCondition(ApiType, frozen=True):
    """core/v1 NodeCondition."""

    type: Always[str] = ""
    status: Always[ConditionStatus] = ""
    last_heartbeat_time: Time | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class NodeAddress(ApiType, frozen=True):
    """core/v1 NodeAddress."""

    type: Always[NodeAddressType] = ""
    address: Always[str] = ""


class DaemonEndpoint(ApiType, frozen=True):
    """core/v1 DaemonEndpoint."""

    port: Always[Int32] = field(default=0, name="Port")


class NodeDaemonEndpoints(ApiType, frozen=True):
    """core/v1 NodeDaemonEndpoints."""

    kubelet_endpoint: Always[DaemonEndpoint] = DaemonEndpoint()


class NodeSwapStatus(ApiType, frozen=True):
    """core/v1 NodeSwapStatus."""

    capacity: Int64 | None = None


class NodeSystemInfo(ApiType, frozen=True):
    """core/v1 NodeSystemInfo."""

    machine_id: Always[str] = field(default="", name="machineID")
    system_uuid: Always[str] = field(default="", name="systemUUID")
    boot_id: Always[str] = field(default="", name="bootID")
    kernel_version: Always[str] = ""
    os_image: Always[str] = ""
    container_runtime_version: Always[str] = ""
    kubelet_version: Always[str] = ""
    kube_proxy_version: Always[str] = ""
    operating_system: Always[str] = ""
    architecture: Always[str] = ""
    swap: NodeSwapStatus | None = None
    running_in_user_namespace: bool | None = None


class ContainerImage(ApiType, frozen=True):
    """core/v1 ContainerImage."""

    names: Always[tuple[str, ...]] = ()
    size_bytes: Int64 = 0


class AttachedVolume(ApiType, frozen=True):
    """core/v1 AttachedVolume."""

    name: Always[str] = ""
    device_path: Always[str] = ""


class NodeConfigStatus(ApiType, frozen=True):
    """core/v1 NodeConfigStatus."""

    assigned: NodeConfigSource | None = None
    active: NodeConfigSource | None = None
    last_known_good: NodeConfigSource | None = None
    error: str = ""


class NodeRuntimeHandlerFeatures(ApiType, frozen=True):
    """core/v1 NodeRuntimeHandlerFeatures."""

    recursive_read_only_mounts: bool | None = None
    user_namespaces: bool | None = None


class NodeRuntimeHandler(ApiType, frozen=True):
    """core/v1 NodeRuntimeHandler."""

    name: Always[str] = ""
    features: NodeRuntimeHandlerFeatures | None = None


class NodeFeatures(ApiType, frozen=True):
    """core/v1 NodeFeatures."""

    supplemental_groups_policy: bool | None = None


class NodeStatus(ApiType, frozen=True):
    """core/v1 NodeStatus."""

    capacity: Mapping[str, Quantity] = field(default_factory=dict)
    allocatable: Mapping[str, Quantity] = field(default_factory=dict)
    phase: NodePhase = ""
    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    daemon_endpoints: Always[NodeDaemonEndpoints] = NodeDaemonEndpoints()
    node_info: Always[NodeSystemInfo] = NodeSystemInfo()
    images: tuple[ContainerImage, ...] = ()
    volumes_in_use: tuple[str, ...] = ()
    volumes_attached: tuple[AttachedVolume, ...] = ()
    config: NodeConfigStatus | None = None
    runtime_handlers: tuple[NodeRuntimeHandler, ...] = ()
    features: NodeFeatures | None = None
    declared_features: Annotated[tuple[str, ...], since("1.35")] = ()


class Node(ApiType, frozen=True):
    """core/v1 Node."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[NodeSpec] = NodeSpec()
    status: Always[NodeStatus] = NodeStatus()
