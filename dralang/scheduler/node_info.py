"""Nodes with their pods as the scheduler counts them.

Source: kubernetes pkg/scheduler/framework/types.go (NodeInfo), pkg/scheduler/backend/cache (node order).
"""

from collections.abc import Callable

from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.scheduler.resources import CPU, MEMORY, PODS, Amounts, amounts, device_amounts, pod_requests

ZONE_LABELS = ("topology.kubernetes.io/region", "topology.kubernetes.io/zone")
PortKey = tuple[str, str, int]


class PodInfo:
    """A pod with what scheduling asks about it again and again, computed once.

    Attributes:
        pod: the pod; status updates replace it.
        requests: what it takes of its node.
        scored_requests: the same as scoring sees it: (cpu, memory) with assumed defaults.
        ports: host ports as (address, protocol, port).
        uid: its UID.
        priority: its priority, 0 if it has none.
        has_affinity: whether it has terms about other pods.
        claims: namespace and name of the claims that its entries stand for, as far as they are known.
        kind: a number that pods share in which the filters see no difference but for claims and requests; the cycle
            sets it.
    """

    __slots__ = ("claims", "has_affinity", "kind", "pod", "ports", "priority", "requests", "scored_requests", "uid")

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.uid = pod.metadata.uid
        self.read()

    def read(self) -> None:
        """Compute everything from the pod."""
        pod = self.pod
        self.priority = pod.spec.priority or 0
        self.kind: int | None = None
        self.claims = known_claims(pod)
        devices = device_amounts(pod)
        self.requests: Amounts = pod_requests(pod, devices)
        if CPU in self.requests and MEMORY in self.requests and len(pod.spec.containers) == 1:
            self.scored_requests = (self.requests[CPU], self.requests[MEMORY])
        else:
            scored = pod_requests(pod, devices, assume_defaults=True)
            self.scored_requests = (scored.get(CPU, 0), scored.get(MEMORY, 0))
        self.ports = host_ports(pod)
        affinity = pod.spec.affinity
        self.has_affinity = affinity is not None and (
            affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None
        )

    def updated(self, pod: Pod) -> "PodInfo":
        """The info for a newer version of the pod."""
        old = self.pod
        if (
            pod.spec is old.spec
            and pod.status.node_allocatable_resource_claim_statuses
            == old.status.node_allocatable_resource_claim_statuses
        ):
            if pod.status.resource_claim_statuses is not old.status.resource_claim_statuses:
                self.claims = known_claims(pod)
            self.pod = pod
            return self
        return self._placed(pod) if _differs_in_place(old, pod) else PodInfo(pod)

    def _placed(self, pod: Pod) -> "PodInfo":
        """The info for the pod with a node: all that was computed stays."""
        copy: PodInfo = object.__new__(PodInfo)
        copy.pod = pod
        copy.kind = None
        copy.uid = self.uid
        copy.priority = self.priority
        copy.claims = known_claims(pod)
        copy.requests = self.requests
        copy.scored_requests = self.scored_requests
        copy.ports = self.ports
        copy.has_affinity = self.has_affinity
        return copy


def _differs_in_place(old: Pod, new: Pod) -> bool:
    """Whether the spec of a pod differs in its node at most, as after a binding."""
    before, after = old.spec, new.spec
    return (
        before.containers is after.containers
        and before.init_containers is after.init_containers
        and before.resources is after.resources
        and before.overhead is after.overhead
        and before.affinity is after.affinity
        and before.priority == after.priority
        and not old.status.node_allocatable_resource_claim_statuses
        and not new.status.node_allocatable_resource_claim_statuses
    )


def known_claims(pod: Pod) -> frozenset[tuple[str, str]]:
    """Namespace and name of the claims that the pod names, or that were made for it."""
    if not pod.spec.resource_claims:
        return frozenset()
    namespace = pod.metadata.namespace
    named = [entry.resource_claim_name for entry in pod.spec.resource_claims]
    made = [status.resource_claim_name for status in pod.status.resource_claim_statuses]
    return frozenset([(namespace, name) for name in (*named, *made) if name])


def host_ports(pod: Pod) -> tuple[PortKey, ...]:
    """The host ports that the pod wants as long as it runs: those of init containers that end count for nothing."""
    spec = pod.spec
    lasting = [each for each in spec.init_containers if each.restart_policy == "Always"]
    return tuple(
        (port.host_ip or "0.0.0.0", port.protocol or "TCP", port.host_port)
        for container in (*lasting, *spec.containers)
        for port in container.ports
        if port.host_port > 0
    )


class NodeInfo:
    """A node and what is taken of it. The scheduler's cache and, on clones, the dry runs of preemption change it.

    Attributes:
        node: the node, None while only its pods are known.
        name: its name.
        pods: by UID, in the order in which they came.
    """

    __slots__ = ("allocatable", "allowed_pods", "name", "node", "pods", "requested", "scored_cpu", "scored_memory")

    def __init__(self, node: Node | None = None) -> None:
        self.node = node
        self.name = ""
        self.pods: dict[str, PodInfo] = {}
        self.requested: Amounts = {}
        self.scored_cpu = 0
        self.scored_memory = 0
        self.allocatable: Amounts = {}
        self.allowed_pods = 0
        if node is not None:
            self.set_node(node)

    @property
    def api(self) -> Node:
        """The node, which is known to be there."""
        assert self.node is not None
        return self.node

    def set_node(self, node: Node) -> None:
        """Take over a new version of the node."""
        if self.node is None or node.status.allocatable is not self.node.status.allocatable or not self.allocatable:
            self.allocatable = amounts(node.status.allocatable)
            self.allowed_pods = self.allocatable.pop(PODS, 0)
        self.node = node
        self.name = node.metadata.name

    def add_pod(self, info: PodInfo) -> None:
        """Count a pod."""
        self.pods[info.pod.metadata.uid] = info
        self._count(info, 1)

    def remove_pod(self, uid: str) -> PodInfo | None:
        """Stop counting a pod."""
        info = self.pods.pop(uid, None)
        if info is not None:
            self._count(info, -1)
        return info

    def _count(self, info: PodInfo, sign: int) -> None:
        requested = self.requested
        for name, value in info.requests.items():
            requested[name] = requested.get(name, 0) + sign * value
        cpu, memory = info.scored_requests
        self.scored_cpu += sign * cpu
        self.scored_memory += sign * memory

    def recount(self) -> None:
        """Compute everything from node and pods."""
        self.requested = {}
        self.scored_cpu = self.scored_memory = 0
        if self.node is not None:
            self.allocatable = {}
            self.set_node(self.node)
        for info in self.pods.values():
            info.read()
            self._count(info, 1)

    def clone(self) -> "NodeInfo":
        """A copy that can be changed without changing this one."""
        copy = NodeInfo()
        copy.node = self.node
        copy.name = self.name
        copy.pods = dict(self.pods)
        copy.requested = dict(self.requested)
        copy.scored_cpu = self.scored_cpu
        copy.scored_memory = self.scored_memory
        copy.allocatable = self.allocatable
        copy.allowed_pods = self.allowed_pods
        return copy


class NodeCache:
    """All nodes and the pods on them, assumed ones included. Only the scheduler changes it.

    A pod is counted on its node even before the node is known and after it is gone.

    Args:
        changed: told the name of every node that something happens to.
    """

    def __init__(self, changed: Callable[[str], None] = lambda _: None) -> None:
        self._changed = changed
        self._infos: dict[str, NodeInfo] = {}
        self._place: dict[str, str] = {}
        self._order: list[NodeInfo] | None = None
        self.with_affinity = 0
        """How many of the pods have terms about other pods."""
        self.discouraging = 0
        """How many of the nodes have taints that only ask to stay away."""
        self._offering: dict[str, int] = {}
        self.with_images = 0
        """How many of the nodes say which images they have."""

    def node(self, name: str) -> NodeInfo | None:
        """A node that exists."""
        info = self._infos.get(name)
        return info if info is not None and info.node is not None else None

    def node_of(self, uid: str) -> str:
        """The node on which a pod counts, empty if none."""
        return self._place.get(uid, "")

    def nodes(self) -> list[NodeInfo]:
        """The nodes in the order in which they are searched: zone by zone in turn, each in order of arrival."""
        if self._order is None:
            zones: dict[tuple[str, ...], list[NodeInfo]] = {}
            for info in self._infos.values():
                if info.node is not None:
                    zones.setdefault(_zone(info.node), []).append(info)
            self._order = list(_round_robin(list(zones.values())))
        return self._order

    def is_offered(self, resource: str) -> bool:
        """Whether some node lists a resource as its own."""
        return self._offering.get(resource, 0) > 0

    def _count_offers(self, node: Node | None, sign: int) -> None:
        for name in node.status.allocatable if node is not None else ():
            self._offering[name] = self._offering.get(name, 0) + sign

    def set_node(self, node: Node) -> None:
        """Add a node or take over its new version."""
        name = node.metadata.name
        self._changed(name)
        info = self._infos.get(name)
        before = info.node if info is not None else None
        self.discouraging += _discourages(node) - _discourages(before)
        self._count_offers(node, 1)
        self._count_offers(before, -1)
        self.with_images += _has_images(node) - _has_images(before)
        if info is None:
            self._infos[name] = NodeInfo(node)
            self._order = None
            return
        old = info.node
        if old is None:
            # A node that comes back stands at the end of its zone.
            self._infos[name] = self._infos.pop(name)
            self._order = None
        elif old.metadata.labels is not node.metadata.labels and _zone(old) != _zone(node):
            self._infos[name] = self._infos.pop(name)
            self._order = None
        info.set_node(node)

    def remove_node(self, name: str) -> None:
        """Forget a node; its pods stay counted until they are gone too."""
        info = self._infos.get(name)
        if info is None:
            return
        self.discouraging -= _discourages(info.node)
        self._count_offers(info.node, -1)
        self.with_images -= _has_images(info.node)
        info.node = None
        self._order = None
        if not info.pods:
            del self._infos[name]

    def add_pod(self, info: PodInfo, node: str) -> None:
        """Count a pod on a node, or take over its new version."""
        uid = info.uid
        self.remove_pod(uid)
        found = self._infos.get(node)
        if found is None:
            found = self._infos[node] = NodeInfo()
        self._changed(node)
        found.add_pod(info)
        self._place[uid] = node
        self.with_affinity += info.has_affinity

    def remove_pod(self, uid: str) -> None:
        """Stop counting a pod."""
        node = self._place.pop(uid, None)
        if node is None:
            return
        self._changed(node)
        info = self._infos[node]
        removed = info.remove_pod(uid)
        self.with_affinity -= removed is not None and removed.has_affinity
        if info.node is None and not info.pods:
            del self._infos[node]

    def recount(self) -> None:
        """Compute everything from the nodes and their pods."""
        self._order = None
        self._offering = {}
        self.with_affinity = self.discouraging = self.with_images = 0
        for info in self._infos.values():
            info.recount()
            self.discouraging += _discourages(info.node)
            self.with_images += _has_images(info.node)
            self._count_offers(info.node, 1)
            self.with_affinity += sum(pod.has_affinity for pod in info.pods.values())

    def pod(self, uid: str) -> PodInfo | None:
        """A pod that counts on some node."""
        node = self._place.get(uid)
        return self._infos[node].pods.get(uid) if node is not None else None


def _discourages(node: Node | None) -> bool:
    return node is not None and any(taint.effect == "PreferNoSchedule" for taint in node.spec.taints)


def _has_images(node: Node | None) -> bool:
    return node is not None and bool(node.status.images)


def _zone(node: Node) -> tuple[str, ...]:
    return tuple(node.metadata.labels.get(label, "") for label in ZONE_LABELS)


def _round_robin(zones: list[list[NodeInfo]]) -> list[NodeInfo]:
    if len(zones) == 1:
        return list(zones[0])
    longest = max(map(len, zones), default=0)
    return [zone[index] for index in range(longest) for zone in zones if index < len(zone)]
