"""Plugins that look at the node itself: its name, cordon, taints, labels and host ports.

Source: kubernetes pkg/scheduler/framework/plugins (nodename, nodeunschedulable, tainttoleration, nodeaffinity,
nodeports).
"""

from collections.abc import Hashable, Iterable, Sequence

from dralang.allocator.node_selection import NodeSelectorError, selector_matches
from dralang.api.affinity import NodeSelector, PreferredSchedulingTerm, Taint, Toleration
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.tolerations import covers
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.framework import MAX_NODE_SCORE, SKIP, SUCCESS, Code, CycleState, Plugin, Status
from dralang.scheduler.node_info import NodeCache, NodeInfo, PodInfo, PortKey

_WRONG_NAME = Status(Code.UNRESOLVABLE, "node(s) didn't match the requested node name")
_CORDONED = Status(Code.UNRESOLVABLE, "node(s) were unschedulable")
_TAINTED = Status(Code.UNRESOLVABLE, "node(s) had untolerated taint(s)")
_NO_MATCH = Status(Code.UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector")
_CONFLICT = Status(Code.UNRESOLVABLE, "pod affinity terms conflict")
_PORT_TAKEN = Status(Code.UNSCHEDULABLE, "node(s) didn't have free ports for the requested pod ports")
_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_ANY_ADDRESS = "0.0.0.0"


def tolerates(tolerations: Iterable[Toleration], taint: Taint) -> bool:
    """Whether any of the tolerations covers the taint."""
    return any(covers(each, taint) for each in tolerations)


class NodeName(Plugin):
    """A pod that names a node runs there only."""

    name = "NodeName"
    signs_pod_alone = True
    wakes_on = frozenset({EventKind.NODE_ADDED})
    has_filter = True
    has_pre_filter = True

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None]:
        """Nothing to say about a pod without a node name."""
        return (SUCCESS if info.pod.spec.node_name else SKIP), None

    def sign(self, state: CycleState, info: PodInfo) -> Hashable | None:
        """The node name."""
        return info.pod.spec.node_name

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """The name must be the node's."""
        wanted = info.pod.spec.node_name
        return SUCCESS if not wanted or wanted == node.name else _WRONG_NAME

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """A new node may have the name."""
        return event.kind is EventKind.NODE_ADDED


class NodeUnschedulable(Plugin):
    """A cordoned node takes only pods that tolerate it."""

    name = "NodeUnschedulable"
    signs_pod_alone = True
    wakes_on = frozenset({EventKind.NODE_ADDED, EventKind.NODE_UPDATED, EventKind.TARGET_POD_UPDATED})
    has_filter = True

    def sign(self, state: CycleState, info: PodInfo) -> Hashable | None:
        """The tolerations."""
        return info.pod.spec.tolerations

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """The node is not cordoned, or the pod tolerates that."""
        if not node.api.spec.unschedulable or tolerates(info.pod.spec.tolerations, _CORDON):
            return SUCCESS
        return _CORDONED

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """A new or uncordoned node; a toleration."""
        if event.kind is EventKind.NODE_ADDED:
            return not event.new.spec.unschedulable
        if event.kind is EventKind.NODE_UPDATED and "taints" in event.aspects:
            return event.old.spec.unschedulable and not event.new.spec.unschedulable
        return event.kind is EventKind.TARGET_POD_UPDATED and tolerates(event.new.spec.tolerations, _CORDON)


class TaintToleration(Plugin):
    """Taints keep pods away, or make a node less welcome."""

    name = "TaintToleration"
    signs_pod_alone = True
    wakes_on = frozenset({EventKind.NODE_ADDED, EventKind.NODE_UPDATED, EventKind.TARGET_POD_UPDATED})
    weight = 3
    has_filter = True
    has_score = True

    def __init__(self, cache: NodeCache) -> None:
        self._cache = cache

    def sign(self, state: CycleState, info: PodInfo) -> Hashable | None:
        """The tolerations."""
        return info.pod.spec.tolerations

    def pre_score(self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]) -> Status:
        """Only taints that ask to stay away make a difference."""
        return SUCCESS if self._cache.discouraging else SKIP

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """Every taint that forbids scheduling is tolerated."""
        taints = node.api.spec.taints
        if not taints or first_untolerated(taints, info.pod) is None:
            return SUCCESS
        return _TAINTED

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The number of untolerated taints that ask to stay away."""
        taints = node.api.spec.taints
        if not taints:
            return 0
        able = [each for each in info.pod.spec.tolerations if each.effect in ("", "PreferNoSchedule")]
        return sum(each.effect == "PreferNoSchedule" and not tolerates(able, each) for each in taints)

    def normalize(self, scores: list[int]) -> list[int]:
        """Fewer is better."""
        return normalize(scores, reverse=True)

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """A node without such a taint that is new or had one before; a toleration."""
        if event.kind is EventKind.TARGET_POD_UPDATED:
            return bool(event.old.spec.tolerations != event.new.spec.tolerations)
        if event.kind is EventKind.NODE_ADDED:
            return first_untolerated(event.new.spec.taints, info.pod) is None
        if event.kind is EventKind.NODE_UPDATED and "taints" in event.aspects:
            before = first_untolerated(event.old.spec.taints, info.pod)
            return before is not None and first_untolerated(event.new.spec.taints, info.pod) is None
        return False


def first_untolerated(taints: Sequence[Taint], pod: Pod) -> Taint | None:
    """The first taint that keeps the pod from being scheduled."""
    for taint in taints:
        if taint.effect in ("NoSchedule", "NoExecute") and not tolerates(pod.spec.tolerations, taint):
            return taint
    return None


def normalize(scores: list[int], *, reverse: bool = False) -> list[int]:
    """Scores scaled so that the highest becomes 100; `reverse` turns them round.

    Source: kubernetes pkg/scheduler/framework/plugins/helper/normalize_score.go.
    """
    highest = max(scores, default=0)
    if highest == 0:
        return [MAX_NODE_SCORE] * len(scores) if reverse else scores
    scaled = [score * MAX_NODE_SCORE // highest for score in scores]
    return [MAX_NODE_SCORE - score for score in scaled] if reverse else scaled


def required_selector(pod: Pod) -> NodeSelector | None:
    """The node affinity that a pod requires."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return None
    return affinity.node_affinity.required_during_scheduling_ignored_during_execution


def _preferred_terms(pod: Pod) -> tuple[PreferredSchedulingTerm, ...]:
    affinity = pod.spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return ()
    return affinity.node_affinity.preferred_during_scheduling_ignored_during_execution


def node_fits_affinity(pod: Pod, node: Node) -> bool:
    """Whether node selector and required node affinity admit the node; a selector that cannot be used admits none."""
    labels = node.metadata.labels
    for key, value in pod.spec.node_selector.items():
        if labels.get(key) != value:
            return False
    required = required_selector(pod)
    if required is None:
        return True
    try:
        return selector_matches(required, node)
    except NodeSelectorError:
        return False


class NodeAffinity(Plugin):
    """Node selector and node affinity."""

    name = "NodeAffinity"
    signs_pod_alone = True
    wakes_on = frozenset({EventKind.NODE_ADDED, EventKind.NODE_UPDATED})
    weight = 2
    has_pre_filter = True
    has_filter = True
    has_score = True

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None]:
        """Restrict the search to the nodes that the affinity names, if it names some."""
        pod = info.pod
        required = required_selector(pod)
        if required is None and not pod.spec.node_selector:
            return SKIP, None
        if required is None or not required.node_selector_terms:
            return SUCCESS, None
        names: set[str] = set()
        for term in required.node_selector_terms:
            own: set[str] | None = None
            for requirement in term.match_fields:
                if requirement.key == "metadata.name" and requirement.operator == "In":
                    own = set(requirement.values) if own is None else own & set(requirement.values)
            if own is None:
                return SUCCESS, None
            names |= own
        return (SUCCESS, frozenset(names)) if names else (_CONFLICT, None)

    def sign(self, state: CycleState, info: PodInfo) -> Hashable | None:
        """Node selector and required affinity."""
        return tuple(sorted(info.pod.spec.node_selector.items())), required_selector(info.pod)

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """The node has the labels."""
        return SUCCESS if node_fits_affinity(info.pod, node.api) else _NO_MATCH

    def pre_score(self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]) -> Status:
        """Only pods with preferences are scored."""
        return SUCCESS if _preferred_terms(info.pod) else SKIP

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The weights of the preferences that the node meets."""
        total = 0
        for term in _preferred_terms(info.pod):
            try:
                if term.weight and selector_matches(NodeSelector(node_selector_terms=(term.preference,)), node.api):
                    total += term.weight
            except NodeSelectorError:
                continue
        return total

    def normalize(self, scores: list[int]) -> list[int]:
        """More is better."""
        return normalize(scores)

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """A node that matches now and did not before."""
        if event.kind is EventKind.NODE_ADDED:
            return node_fits_affinity(info.pod, event.new)
        if event.kind is EventKind.NODE_UPDATED and "labels" in event.aspects:
            return node_fits_affinity(info.pod, event.new) and not node_fits_affinity(info.pod, event.old)
        return False


class NodePorts(Plugin):
    """A host port is given to one pod of a node."""

    name = "NodePorts"
    signs_pod_alone = True
    wakes_on = frozenset({EventKind.NODE_ADDED, EventKind.ASSIGNED_POD_DELETED})
    has_pre_filter = True
    has_filter = True

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None]:
        """Nothing to say about a pod without host ports."""
        return (SUCCESS if info.ports else SKIP), None

    def sign(self, state: CycleState, info: PodInfo) -> Hashable | None:
        """The ports."""
        return info.ports

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """No pod on the node has one of the ports."""
        for other in node.pods.values():
            if other.ports and _ports_clash(info.ports, other.ports):
                return _PORT_TAKEN
        return SUCCESS

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """A new node; the end of a pod that has one of the ports."""
        if event.kind is EventKind.ASSIGNED_POD_DELETED:
            return event.old is not None and _ports_clash(info.ports, PodInfo(event.old).ports)
        return event.kind is EventKind.NODE_ADDED


def _ports_clash(wanted: Sequence[PortKey], taken: Sequence[PortKey]) -> bool:
    return any(
        mine[1:] == theirs[1:] and (mine[0] == theirs[0] or _ANY_ADDRESS in (mine[0], theirs[0]))
        for mine in wanted
        for theirs in taken
    )
