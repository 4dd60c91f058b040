"""Pod.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from collections.abc import Mapping
from typing import Annotated, Final

from msgspec import field

from dralang.api.affinity import Affinity, Toleration, TopologySpreadConstraint
from dralang.api.base import Always, ApiType, Int32, Int64, Time, since
from dralang.api.containers import (
    AppArmorProfile,
    Container,
    ContainerStatus,
    EphemeralContainer,
    ResourceRequirements,
    SeccompProfile,
    SELinuxOptions,
    WindowsSecurityContextOptions,
)
from dralang.api.enums import (
    ConditionStatus,
    DNSPolicy,
    OSName,
    PodFSGroupChangePolicy,
    PodPhase,
    PodQOSClass,
    PodResizeStatus,
    PodSELinuxChangePolicy,
    PreemptionPolicy,
    RestartPolicy,
    SupplementalGroupsPolicy,
    VolumeHealthStatusType,
)
from dralang.api.meta import ObjectMeta
from dralang.api.volumes import LocalObjectReference, Volume
from dralang.values.quantity import Quantity

TERMINAL: Final = ("Succeeded", "Failed")
"""The phases of pods that have ended."""


class Sysctl(ApiType, frozen=True):
    """core/v1 Sysctl."""

    name: Always[str] = ""
    value: Always[str] = ""


class PodSecurityContext(ApiType, frozen=True):
    """core/v1 PodSecurityContext."""

    se_linux_options: SELinuxOptions | None = None
    windows_options: WindowsSecurityContextOptions | None = None
    run_as_user: Int64 | None = None
    run_as_group: Int64 | None = None
    run_as_non_root: bool | None = None
    supplemental_groups: tuple[Int64, ...] = ()
    supplemental_groups_policy: SupplementalGroupsPolicy | None = None
    fs_group: Int64 | None = None
    sysctls: tuple[Sysctl, ...] = ()
    fs_group_change_policy: PodFSGroupChangePolicy | None = None
    seccomp_profile: SeccompProfile | None = None
    app_armor_profile: AppArmorProfile | None = None
    se_linux_change_policy: PodSELinuxChangePolicy | None = None


class HostAlias(ApiType, frozen=True):
    """core/v1 HostAlias."""

    ip: Always[str] = ""
    hostnames: tuple[str, ...] = ()


class PodDNSConfigOption(ApiType, frozen=True):
    """core/v1 PodDNSConfigOption."""

    name: str = ""
    value: str | None = None


class PodDNSConfig(ApiType, frozen=True):
    """core/v1 PodDNSConfig."""

    nameservers: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    options: tuple[PodDNSConfigOption, ...] = ()


class PodReadinessGate(ApiType, frozen=True):
    """core/v1 PodReadinessGate."""

    condition_type: Always[str] = ""


class PodOS(ApiType, frozen=True):
    """core/v1 PodOS."""

    name: Always[OSName] = ""


class PodSchedulingGate(ApiType, frozen=True):
    """core/v1 PodSchedulingGate."""

    name: Always[str] = ""


class PodResourceClaim(ApiType, frozen=True):
    """core/v1 PodResourceClaim."""

    name: Always[str] = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(ApiType, frozen=True):
    """core/v1 PodSchedulingGroup."""

    pod_group_name: str | None = None


class EvictionResponder(ApiType, frozen=True):
    """core/v1 EvictionResponder."""

    name: Always[str] = ""
    priority: Always[Int32 | None] = None


class PodSpec(ApiType, frozen=True):
    """core/v1 PodSpec."""

    volumes: tuple[Volume, ...] = ()
    init_containers: tuple[Container, ...] = ()
    containers: Always[tuple[Container, ...]] = ()
    ephemeral_containers: tuple[EphemeralContainer, ...] = ()
    restart_policy: RestartPolicy = ""
    termination_grace_period_seconds: Int64 | None = None
    active_deadline_seconds: Int64 | None = None
    dns_policy: DNSPolicy = ""
    node_selector: Mapping[str, str] = field(default_factory=dict)
    service_account_name: str = ""
    service_account: str = ""
    automount_service_account_token: bool | None = None
    node_name: str = ""
    host_network: bool = False
    host_pid: bool = field(default=False, name="hostPID")
    host_ipc: bool = field(default=False, name="hostIPC")
    share_process_namespace: bool | None = None
    security_context: PodSecurityContext | None = None
    image_pull_secrets: tuple[LocalObjectReference, ...] = ()
    hostname: str = ""
    subdomain: str = ""
    affinity: Affinity | None = None
    scheduler_name: str = ""
    tolerations: tuple[Toleration, ...] = ()
    host_aliases: tuple[HostAlias, ...] = ()
    priority_class_name: str = ""
    priority: Int32 | None = None
    dns_config: PodDNSConfig | None = None
    readiness_gates: tuple[PodReadinessGate, ...] = ()
    runtime_class_name: str | None = None
    enable_service_links: bool | None = None
    preemption_policy: PreemptionPolicy | None = None
    overhead: Mapping[str, Quantity] = field(default_factory=dict)
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] = ()
    set_hostname_as_fqdn: bool | None = field(default=None, name="setHostnameAsFQDN")
    os: PodOS | None = None
    host_users: bool | None = None
    scheduling_gates: tuple[PodSchedulingGate, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    resources: ResourceRequirements | None = None
    hostname_override: str | None = None
    scheduling_group: Annotated[PodSchedulingGroup | None, since("1.36")] = None
    eviction_responders: Annotated[tuple[EvictionResponder, ...], since("1.37")] = ()


class PodCondition(ApiType, frozen=True):
    """core/v1 PodCondition."""

    type: Always[str] = ""
    observed_generation: Int64 = 0
    status: Always[ConditionStatus] = ""
    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class HostIP(ApiType, frozen=True):
    """core/v1 HostIP."""

    ip: Always[str] = ""


class PodIP(ApiType, frozen=True):
    """core/v1 PodIP."""

    ip: Always[str] = ""


class PodResourceClaimStatus(ApiType, frozen=True):
    """core/v1 PodResourceClaimStatus."""

    name: Always[str] = ""
    resource_claim_name: str | None = None


class ContainerExtendedResourceRequest(ApiType, frozen=True):
    """core/v1 ContainerExtendedResourceRequest."""

    container_name: Always[str] = ""
    resource_name: Always[str] = ""
    request_name: Always[str] = ""


class PodExtendedResourceClaimStatus(ApiType, frozen=True):
    """core/v1 PodExtendedResourceClaimStatus."""

    request_mappings: Always[tuple[ContainerExtendedResourceRequest, ...]] = ()
    resource_claim_name: Always[str] = ""


class NodeAllocatableMappedResources(ApiType, frozen=True):
    """core/v1 NodeAllocatableMappedResources."""

    name: Always[str] = ""
    quantity: Always[Quantity | None] = None


class NodeAllocatableOverheadResources(ApiType, frozen=True):
    """core/v1 NodeAllocatableOverheadResources."""

    name: Always[str] = ""
    per_pod: Quantity | None = None
    per_container: Quantity | None = None


class NodeAllocatableResourceClaimStatus(ApiType, frozen=True):
    """core/v1 NodeAllocatableResourceClaimStatus."""

    resource_claim_name: Always[str] = ""
    containers: tuple[str, ...] = ()
    mapping: tuple[NodeAllocatableMappedResources, ...] = ()
    overhead: tuple[NodeAllocatableOverheadResources, ...] = ()


class VolumeHealthCondition(ApiType, frozen=True):
    """core/v1 VolumeHealthCondition."""

    status: Always[VolumeHealthStatusType] = ""
    reason: Always[str] = ""
    message: str = ""


class PodVolumeHealth(ApiType, frozen=True):
    """core/v1 PodVolumeHealth."""

    name: Always[str] = ""
    health_conditions: tuple[VolumeHealthCondition, ...] = ()
    last_transition_time: Time | None = None


class PodStatus(ApiType, frozen=True):
    """core/v1 PodStatus."""

    observed_generation: Int64 = 0
    phase: PodPhase = ""
    conditions: tuple[PodCondition, ...] = ()
    message: str = ""
    reason: str = ""
    nominated_node_name: str = ""
    host_ip: str = field(default="", name="hostIP")
    host_i_ps: tuple[HostIP, ...] = ()
    pod_ip: str = field(default="", name="podIP")
    pod_i_ps: tuple[PodIP, ...] = ()
    start_time: Time | None = None
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    qos_class: PodQOSClass = ""
    ephemeral_container_statuses: tuple[ContainerStatus, ...] = ()
    resize: PodResizeStatus = ""
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    allocated_resources: Mapping[str, Quantity] = field(default_factory=dict)
    resources: ResourceRequirements | None = None
    node_allocatable_resource_claim_statuses: Annotated[
        tuple[NodeAllocatableResourceClaimStatus, ...], since("1.36")
    ] = ()
    volume_health: Annotated[tuple[PodVolumeHealth, ...], since("1.37")] = ()


class Pod(ApiType, frozen=True):
    """core/v1 Pod."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[PodSpec] = PodSpec()
    status: Always[PodStatus] = PodStatus()
