"""Features that a pod needs and that only some nodes declare.

What a pod needs follows from its spec alone. Devices have no part in it: which of them a pod gets is known only later,
so DynamicResources itself asks for `DRAOptionalNodeOperations`.

Source: kubernetes pkg/scheduler/framework/plugins/nodedeclaredfeatures, k8s.io/component-helpers nodedeclaredfeatures
(v0.35.0, v0.36.0, v0.37.2, v0.38.0-beta.0).
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from dralang.api.containers import Container, EphemeralContainer
from dralang.api.pods import Pod, PodSpec
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.framework import SKIP, SUCCESS, Code, CycleState, Plugin, Status
from dralang.scheduler.node_info import NodeInfo, PodInfo

_MOST_KNOWN: Final = 1_024
_MISSING: Final = Status(Code.UNRESOLVABLE, "node(s) didn't match Pod's required features")
_MLDSA_KEYS: Final = frozenset({"MLDSA44", "MLDSA65", "MLDSA87"})


def _restarts_all_containers(pod: Pod) -> bool:
    for each in (*pod.spec.containers, *pod.spec.init_containers):
        for rule in each.restart_policy_rules:
            if rule.action == "RestartAllContainers":
                return True
    return False


def _separates_users_on_the_host_network(pod: Pod) -> bool:
    return pod.spec.host_network and pod.spec.host_users is False


def _mounts_with_options(pod: Pod) -> bool:
    spec = pod.spec
    containers: tuple[Container | EphemeralContainer, ...] = (
        *spec.containers,
        *spec.init_containers,
        *spec.ephemeral_containers,
    )
    for each in containers:
        for mount in each.volume_mounts:
            if mount.bind_mount_options:
                return True
    return False


def _wants_mldsa_certificates(pod: Pod) -> bool:
    if not pod.spec.volumes:
        return False
    projected = [volume.projected for volume in pod.spec.volumes if volume.projected is not None]
    certificates = [source.pod_certificate for each in projected for source in each.sources]
    return any(each is not None and each.key_type in _MLDSA_KEYS for each in certificates)


_INFERRED: Final[tuple[tuple[str, str, Callable[[Pod], bool]], ...]] = (
    ("PodCertificateMLDSA", "1.38", _wants_mldsa_certificates),
    ("RestartAllContainersOnContainerExits", "1.35", _restarts_all_containers),
    ("UserNamespacesHostNetworkSupport", "1.36", _separates_users_on_the_host_network),
    ("VolumeBindMountOptions", "1.37", _mounts_with_options),
)
"""What schedulers look for, each with the first version that does, by name."""


def needed_features(pod: Pod, version: str) -> frozenset[str]:
    """The features that the scheduler of a version infers from the spec of a pod."""
    return frozenset([name for name, since, needs in _INFERRED if version >= since and needs(pod)])


class NodeDeclaredFeatures(Plugin):
    """A pod runs only on nodes that declare every feature that it needs."""

    name = "NodeDeclaredFeatures"
    has_pre_filter = True
    has_filter = True

    def __init__(self, version: str) -> None:
        self._version = version
        self._known: dict[int, tuple[PodSpec, frozenset[str]]] = {}
        """What a spec needs, by its identity; the spec is kept alive for that."""

    def _needed(self, pod: Pod) -> frozenset[str]:
        spec = pod.spec
        known = self._known.get(id(spec))
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[id(spec)] = (spec, needed_features(pod, self._version))
        return known[1]

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None]:
        """Nothing to say about a pod without such needs."""
        return (SUCCESS if self._needed(info.pod) else SKIP), None

    def sign(self, state: CycleState, info: PodInfo) -> Hashable | None:
        """What the pod needs."""
        return self._needed(info.pod)

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """The node declares all of it."""
        return SUCCESS if self._needed(info.pod).issubset(node.api.status.declared_features) else _MISSING

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """A new node, one that declares something else than before, a pod that needs something else."""
        match event.kind:
            case EventKind.NODE_ADDED:
                return True
            case EventKind.NODE_UPDATED:
                return "declaredFeatures" in event.aspects
            case EventKind.TARGET_POD_UPDATED:
                return self._needed(event.old) != self._needed(event.new)
            case _:
                return False
