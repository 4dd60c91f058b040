"""Containers of a pod, their probes, ports and resources.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import field

from dralang.api.base import Always, ApiType, Int32, Int64, IntOrString, Time, since
from dralang.api.enums import (
    AppArmorProfileType,
    ContainerRestartPolicy,
    ContainerRestartRuleAction,
    ContainerRestartRuleOnExitCodesOperator,
    GRPCProbeMode,
    HTTPProtocol,
    MountPropagationMode,
    ProcMountType,
    Protocol,
    PullPolicy,
    RecursiveReadOnlyMode,
    ResourceHealthStatus,
    ResourceResizeRestartPolicy,
    SeccompProfileType,
    TerminationMessagePolicy,
    URIScheme,
)
from dralang.api.references import ObjectFieldSelector, ResourceFieldSelector
from dralang.values.quantity import Quantity


class ContainerPort(ApiType, frozen=True):
    """core/v1 ContainerPort."""

    name: str = ""
    host_port: Int32 = 0
    container_port: Always[Int32] = 0
    protocol: Protocol = ""
    host_ip: str = field(default="", name="hostIP")


class ConfigMapEnvSource(ApiType, frozen=True):
    """core/v1 ConfigMapEnvSource."""

    name: str = ""
    optional: bool | None = None


class SecretEnvSource(ApiType, frozen=True):
    """core/v1 SecretEnvSource."""

    name: str = ""
    optional: bool | None = None


class EnvFromSource(ApiType, frozen=True):
    """core/v1 EnvFromSource."""

    prefix: str = ""
    config_map_ref: ConfigMapEnvSource | None = None
    secret_ref: SecretEnvSource | None = None


class ConfigMapKeySelector(ApiType, frozen=True):
    """core/v1 ConfigMapKeySelector."""

    name: str = ""
    key: Always[str] = ""
    optional: bool | None = None


class SecretKeySelector(ApiType, frozen=True):
    """core/v1 SecretKeySelector."""

    name: str = ""
    key: Always[str] = ""
    optional: bool | None = None


class FileKeySelector(ApiType, frozen=True):
    """core/v1 FileKeySelector."""

    volume_name: Always[str] = ""
    path: Always[str] = ""
    key: Always[str] = ""
    optional: bool | None = None


class EnvVarSource(ApiType, frozen=True):
    """core/v1 EnvVarSource."""

    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    config_map_key_ref: ConfigMapKeySelector | None = None
    secret_key_ref: SecretKeySelector | None = None
    file_key_ref: FileKeySelector | None = None


class EnvVar(ApiType, frozen=True):
    """core/v1 EnvVar."""

    name: Always[str] = ""
    value: str = ""
    value_from: EnvVarSource | None = None


class ContainerResourceClaim(ApiType, frozen=True):
    """core/v1 ContainerResourceClaim."""

    name: Always[str] = ""
    request: str = ""


class ResourceRequirements(ApiType, frozen=True):
    """core/v1 ResourceRequirements."""

    limits: Mapping[str, Quantity] = field(default_factory=dict)
    requests: Mapping[str, Quantity] = field(default_factory=dict)
    claims: tuple[ContainerResourceClaim, ...] = ()


class ContainerResizePolicy(ApiType, frozen=True):
    """core/v1 ContainerResizePolicy."""

    resource_name: Always[str] = ""
    restart_policy: Always[ResourceResizeRestartPolicy] = ""


class ContainerRestartRuleOnExitCodes(ApiType, frozen=True):
    """core/v1 ContainerRestartRuleOnExitCodes."""

    operator: ContainerRestartRuleOnExitCodesOperator = ""
    values: tuple[Int32, ...] = ()


class ContainerRestartRule(ApiType, frozen=True):
    """core/v1 ContainerRestartRule."""

    action: ContainerRestartRuleAction = ""
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class VolumeMount(ApiType, frozen=True):
    """core/v1 VolumeMount."""

    name: Always[str] = ""
    read_only: bool = False
    recursive_read_only: RecursiveReadOnlyMode | None = None
    mount_path: Always[str] = ""
    sub_path: str = ""
    mount_propagation: MountPropagationMode | None = None
    sub_path_expr: str = ""
    bind_mount_options: Annotated[tuple[str, ...], since("1.37")] = ()


class VolumeDevice(ApiType, frozen=True):
    """core/v1 VolumeDevice."""

    name: Always[str] = ""
    device_path: Always[str] = ""


class ExecAction(ApiType, frozen=True):
    """core/v1 ExecAction."""

    command: tuple[str, ...] = ()


class HTTPHeader(ApiType, frozen=True):
    """core/v1 HTTPHeader."""

    name: Always[str] = ""
    value: Always[str] = ""


class HTTPGetAction(ApiType, frozen=True):
    """core/v1 HTTPGetAction."""

    path: str = ""
    port: Always[IntOrString] = 0
    host: str = ""
    scheme: URIScheme = ""
    http_headers: tuple[HTTPHeader, ...] = ()
    protocol: HTTPProtocol | None = None


class TCPSocketAction(ApiType, frozen=True):
    """core/v1 TCPSocketAction."""

    port: Always[IntOrString] = 0
    host: str = ""


class GRPCAction(ApiType, frozen=True):
    """core/v1 GRPCAction."""

    port: Always[Int32] = 0
    service: Always[str | None] = None
    mode: GRPCProbeMode | None = None


class Probe(ApiType, frozen=True):
    """core/v1 Probe."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    grpc: GRPCAction | None = None
    initial_delay_seconds: Int32 = 0
    timeout_seconds: Int32 = 0
    period_seconds: Int32 = 0
    success_threshold: Int32 = 0
    failure_threshold: Int32 = 0
    termination_grace_period_seconds: Int64 | None = None


class SleepAction(ApiType, frozen=True):
    """core/v1 SleepAction."""

    seconds: Always[Int64] = 0


class LifecycleHandler(ApiType, frozen=True):
    """core/v1 LifecycleHandler."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    sleep: SleepAction | None = None


class Lifecycle(ApiType, frozen=True):
    """core/v1 Lifecycle."""

    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class Capabilities(ApiType, frozen=True):
    """core/v1 Capabilities."""

    add: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()


class SELinuxOptions(ApiType, frozen=True):
    """core/v1 SELinuxOptions."""

    user: str = ""
    role: str = ""
    type: str = ""
    level: str = ""


class WindowsSecurityContextOptions(ApiType, frozen=True):
    """core/v1 WindowsSecurityContextOptions."""

    gmsa_credential_spec_name: str | None = None
    gmsa_credential_spec: str | None = None
    run_as_user_name: str | None = None
    host_process: bool | None = None


class SeccompProfile(ApiType, frozen=True):
    """core/v1 SeccompProfile."""

    type: Always[SeccompProfileType] = ""
    localhost_profile: str | None = None


class AppArmorProfile(ApiType, frozen=True):
    """core/v1 AppArmorProfile."""

    type: Always[AppArmorProfileType] = ""
    localhost_profile: str | None = None


class SecurityContext(ApiType, frozen=True):
    """core/v1 SecurityContext."""

    capabilities: Capabilities | None = None
    privileged: bool | None = None
    se_linux_options: SELinuxOptions | None = None
    windows_options: WindowsSecurityContextOptions | None = None
    run_as_user: Int64 | None = None
    run_as_group: Int64 | None = None
    run_as_non_root: bool | None = None
    read_only_root_filesystem: bool | None = None
    allow_privilege_escalation: bool | None = None
    proc_mount: ProcMountType | None = None
    seccomp_profile: SeccompProfile | None = None
    app_armor_profile: AppArmorProfile | None = None


class Container(ApiType, frozen=True):
    """core/v1 Container."""

    name: Always[str] = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    ports: tuple[ContainerPort, ...] = ()
    env_from: tuple[EnvFromSource, ...] = ()
    env: tuple[EnvVar, ...] = ()
    resources: Always[ResourceRequirements] = ResourceRequirements()
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    restart_policy: ContainerRestartPolicy | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    volume_devices: tuple[VolumeDevice, ...] = ()
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    termination_message_path: str = ""
    termination_message_policy: TerminationMessagePolicy = ""
    image_pull_policy: PullPolicy = ""
    security_context: SecurityContext | None = None
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False


class EphemeralContainer(ApiType, frozen=True):
    """core/v1 EphemeralContainer."""

    name: Always[str] = ""
    image: str = ""
    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    working_dir: str = ""
    ports: tuple[ContainerPort, ...] = ()
    env_from: tuple[EnvFromSource, ...] = ()
    env: tuple[EnvVar, ...] = ()
    resources: Always[ResourceRequirements] = ResourceRequirements()
    resize_policy: tuple[ContainerResizePolicy, ...] = ()
    restart_policy: ContainerRestartPolicy | None = None
    restart_policy_rules: tuple[ContainerRestartRule, ...] = ()
    volume_mounts: tuple[VolumeMount, ...] = ()
    volume_devices: tuple[VolumeDevice, ...] = ()
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    termination_message_path: str = ""
    termination_message_policy: TerminationMessagePolicy = ""
    image_pull_policy: PullPolicy = ""
    security_context: SecurityContext | None = None
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False
    target_container_name: str = ""


class ContainerStateWaiting(ApiType, frozen=True):
    """core/v1 ContainerStateWaiting."""

    reason: str = ""
    message: str = ""


class ContainerStateRunning(ApiType, frozen=True):
    """core/v1 ContainerStateRunning."""

    started_at: Time | None = None


class ContainerStateTerminated(ApiType, frozen=True):
    """core/v1 ContainerStateTerminated."""

    exit_code: Always[Int32] = 0
    signal: Int32 = 0
    reason: str = ""
    message: str = ""
    started_at: Time | None = None
    finished_at: Time | None = None
    container_id: str = field(default="", name="containerID")


class ContainerState(ApiType, frozen=True):
    """core/v1 ContainerState."""

    waiting: ContainerStateWaiting | None = None
    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None


class ImageVolumeStatus(ApiType, frozen=True):
    """core/v1 ImageVolumeStatus."""

    image_ref: str = ""


class VolumeStatus(ApiType, frozen=True):
    """core/v1 VolumeStatus."""

    image: ImageVolumeStatus | None = None


class VolumeMountStatus(ApiType, frozen=True):
    """core/v1 VolumeMountStatus."""

    name: Always[str] = ""
    mount_path: Always[str] = ""
    read_only: bool = False
    recursive_read_only: RecursiveReadOnlyMode | None = None
    volume_status: VolumeStatus | None = None


class LinuxContainerUser(ApiType, frozen=True):
    """core/v1 LinuxContainerUser."""

    uid: Always[Int64] = 0
    gid: Always[Int64] = 0
    supplemental_groups: tuple[Int64, ...] = ()


class ContainerUser(ApiType, frozen=True):
    """core/v1 ContainerUser."""

    linux: LinuxContainerUser | None = None


class ResourceHealth(ApiType, frozen=True):
    """core/v1 ResourceHealth."""

    resource_id: Always[str] = field(default="", name="resourceID")
    health: ResourceHealthStatus = ""
    message: str | None = None


class ResourceStatus(ApiType, frozen=True):
    """core/v1 ResourceStatus."""

    name: Always[str] = ""
    resources: tuple[ResourceHealth, ...] = ()


class ContainerStatus(ApiType, frozen=True):
    """core/v1 ContainerStatus."""

    name: Always[str] = ""
    state: Always[ContainerState] = ContainerState()
    last_state: Always[ContainerState] = ContainerState()
    ready: Always[bool] = False
    restart_count: Always[Int32] = 0
    image: Always[str] = ""
    image_id: Always[str] = field(default="", name="imageID")
    container_id: str = field(default="", name="containerID")
    started: bool | None = None
    allocated_resources: Mapping[str, Quantity] = field(default_factory=dict)
    resources: ResourceRequirements | None = None
    volume_mounts: tuple[VolumeMountStatus, ...] = ()
    user: ContainerUser | None = None
    allocated_resources_status: tuple[ResourceStatus, ...] = ()
    stop_signal: str | None = None
