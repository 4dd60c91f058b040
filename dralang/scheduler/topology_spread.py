"""Pod topology spread: how unevenly pods may lie over the domains of the nodes.

Constraints of the scheduler's own concern pods that a Service, ReplicaSet or StatefulSet selects; there are none here.

Source: kubernetes pkg/scheduler/framework/plugins/podtopologyspread (filtering.go, scoring.go, common.go, plugin.go).
"""

from collections.abc import Mapping, Sequence
from math import floor, log
from typing import NamedTuple

from dralang.api.affinity import TopologySpreadConstraint
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.selectors import is_empty, matches_labels
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.framework import MAX_NODE_SCORE, SKIP, SUCCESS, Code, CycleState, Plugin, StateKey, Status
from dralang.scheduler.node_info import NodeCache, NodeInfo, PodInfo
from dralang.scheduler.node_plugins import first_untolerated, node_fits_affinity

_TEXT = "node(s) didn't match pod topology spread constraints"
_UNEVEN = Status(Code.UNSCHEDULABLE, _TEXT)
_NO_DOMAIN = Status(Code.UNRESOLVABLE, f"{_TEXT} (missing required label)")


class Spread(NamedTuple):
    """One constraint of a pod with the number of matching pods in each domain."""

    constraint: TopologySpreadConstraint
    counts: dict[str, int]

    def lowest(self) -> int:
        """The number in the emptiest domain; 0 if there are fewer domains than asked for."""
        if len(self.counts) < (self.constraint.min_domains or 1):
            return 0
        return min(self.counts.values())


class Spreads:
    """All constraints of a pod in one cycle."""

    __slots__ = ("spreads",)

    def __init__(self, spreads: tuple[Spread, ...]) -> None:
        self.spreads = spreads

    def clone(self) -> "Spreads":
        """A copy on which the effect of other pods can be tried."""
        return Spreads(tuple(Spread(each.constraint, dict(each.counts)) for each in self.spreads))


class Wish(NamedTuple):
    """One constraint that should hold.

    Attributes:
        constraint: the constraint.
        counts: the number of matching pods in each domain of the nodes that fit; empty where each node is its own.
        weight: makes up for topologies with few domains.
    """

    constraint: TopologySpreadConstraint
    counts: dict[str, int]
    weight: float


class Wishes:
    """All constraints of a pod that should hold, while nodes are scored."""

    __slots__ = ("wishes",)

    def __init__(self, wishes: tuple[Wish, ...]) -> None:
        self.wishes = wishes

    def clone(self) -> "Wishes":
        """The same object: nobody changes it."""
        return self


SPREADS = StateKey[Spreads]("PodTopologySpread")
WISHES = StateKey[Wishes]("PodTopologySpread/score")
_HOSTNAME = "kubernetes.io/hostname"
_NOT_SCORED = -1
"""The score of a node that lacks a domain, before normalisation."""


def hard_constraints(pod: Pod) -> tuple[TopologySpreadConstraint, ...]:
    """The constraints that must hold."""
    constraints = pod.spec.topology_spread_constraints
    return constraints and tuple([each for each in constraints if each.when_unsatisfiable == "DoNotSchedule"])


def soft_constraints(pod: Pod) -> tuple[TopologySpreadConstraint, ...]:
    """The constraints that should hold."""
    return tuple(each for each in pod.spec.topology_spread_constraints if each.when_unsatisfiable == "ScheduleAnyway")


def _selects(constraint: TopologySpreadConstraint, owner: Pod, labels: Mapping[str, str]) -> bool:
    """Whether a constraint counts a pod with these labels; `matchLabelKeys` takes values from the owner."""
    own = owner.metadata.labels
    return matches_labels(constraint.label_selector, labels) and all(
        labels.get(key) == own[key] for key in constraint.match_label_keys if key in own
    )


def _selects_all(constraint: TopologySpreadConstraint, owner: Pod) -> bool:
    own = owner.metadata.labels
    return is_empty(constraint.label_selector) and not any(key in own for key in constraint.match_label_keys)


def _is_eligible(constraint: TopologySpreadConstraint, pod: Pod, node: Node) -> bool:
    """Whether the node counts: by default if the pod's affinity admits it, whatever its taints."""
    if constraint.node_affinity_policy != "Ignore" and not node_fits_affinity(pod, node):
        return False
    return constraint.node_taints_policy != "Honor" or first_untolerated(node.spec.taints, pod) is None


def _has_domains(constraints: Sequence[TopologySpreadConstraint], labels: Mapping[str, str]) -> bool:
    return all(each.topology_key in labels for each in constraints)


class PodTopologySpread(Plugin):
    """No domain may, or should, have more than `maxSkew` matching pods above the emptiest one."""

    name = "PodTopologySpread"
    weight = 2
    has_pre_filter = True
    has_filter = True
    has_add_pod = True
    has_score = True

    def __init__(self, cache: NodeCache) -> None:
        self._cache = cache

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None]:
        """Count the matching pods of every domain; nothing to say about a pod without constraints."""
        pod = info.pod
        constraints = hard_constraints(pod)
        if not constraints:
            return SKIP, None
        spreads = tuple(Spread(each, {}) for each in constraints)
        for node in nodes:
            if not _has_domains(constraints, node.api.metadata.labels):
                continue
            for constraint, counts in spreads:
                if _is_eligible(constraint, pod, node.api):
                    domain = node.api.metadata.labels[constraint.topology_key]
                    counts[domain] = counts.get(domain, 0) + _count(constraint, pod, node)
        state.write(SPREADS, Spreads(spreads))
        return SUCCESS, None

    def _change(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo, sign: int) -> Status:
        found = state.read(SPREADS)
        labels = node.api.metadata.labels
        if found is None or other.pod.metadata.namespace != info.pod.metadata.namespace:
            return SUCCESS
        if _has_domains([each.constraint for each in found.spreads], labels):
            for constraint, counts in found.spreads:
                if _selects(constraint, info.pod, other.pod.metadata.labels) and _is_eligible(
                    constraint, info.pod, node.api
                ):
                    domain = labels[constraint.topology_key]
                    counts[domain] = counts.get(domain, 0) + sign
        return SUCCESS

    def add_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """Count one more pod."""
        return self._change(state, info, other, node, 1)

    def remove_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """Count one pod less."""
        return self._change(state, info, other, node, -1)

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """The node has every domain, and one more pod there is not too many."""
        found = state.read(SPREADS)
        if found is None:
            return SUCCESS
        for spread in found.spreads:
            constraint = spread.constraint
            domain = node.api.metadata.labels.get(constraint.topology_key)
            if domain is None:
                return _NO_DOMAIN
            itself = _selects(constraint, info.pod, info.pod.metadata.labels)
            if spread.counts.get(domain, 0) + itself - spread.lowest() > constraint.max_skew:
                return _UNEVEN
        return SUCCESS

    # Scoring.

    def pre_score(self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]) -> Status:
        """Count the matching pods in the domains of the nodes that fit; only wishes make a difference."""
        constraints = soft_constraints(info.pod)
        if not constraints:
            return SKIP
        fitting = [node for node in nodes if _has_domains(constraints, node.api.metadata.labels)]
        counts: list[dict[str, int]] = []
        for constraint in constraints:
            key = constraint.topology_key
            counts.append({} if key == _HOSTNAME else {node.api.metadata.labels[key]: 0 for node in fitting})
        for node in self._cache.nodes():
            if _has_domains(constraints, node.api.metadata.labels):
                for constraint, of in zip(constraints, counts, strict=True):
                    domain = node.api.metadata.labels[constraint.topology_key]
                    if domain in of and _is_eligible(constraint, info.pod, node.api):
                        of[domain] += _count(constraint, info.pod, node)
        sizes = [len(of) if of else len(fitting) for of in counts]
        wishes = zip(constraints, counts, [log(size + 2) for size in sizes], strict=True)
        state.write(WISHES, Wishes(tuple([Wish(*each) for each in wishes])))
        return SUCCESS

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """How crowded the domains of the node are: less is better."""
        found = state.read(WISHES)
        labels = node.api.metadata.labels
        if found is None or not _has_domains([each.constraint for each in found.wishes], labels):
            return _NOT_SCORED
        total = 0.0
        for constraint, counts, weight in found.wishes:
            key = constraint.topology_key
            number = _count(constraint, info.pod, node) if key == _HOSTNAME else counts[labels[key]]
            total += number * weight + (constraint.max_skew - 1)
        return floor(total + 0.5)

    def normalize(self, scores: list[int]) -> list[int]:
        """The least crowded nodes have the most, nodes without the domains nothing."""
        known = [score for score in scores if score != _NOT_SCORED]
        lowest, highest = min(known, default=0), max(known, default=0)
        if not highest:
            return [0 if score == _NOT_SCORED else MAX_NODE_SCORE for score in scores]
        return [
            0 if score == _NOT_SCORED else MAX_NODE_SCORE * (highest + lowest - score) // highest for score in scores
        ]

    # Queueing.

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """Pods that count and come, go or change; nodes that have the domains."""
        pod = info.pod
        constraints = hard_constraints(pod)
        match event.kind:
            case EventKind.TARGET_POD_UPDATED:
                honors = any(each.node_taints_policy == "Honor" for each in constraints)
                if honors and event.old.spec.tolerations != event.new.spec.tolerations:
                    return True
                return _counts_change(constraints, pod, event.old, event.new)
            case EventKind.ASSIGNED_POD_UPDATED:
                same = event.new.metadata.namespace == pod.metadata.namespace
                return same and _counts_change(constraints, pod, event.old, event.new)
            case EventKind.ASSIGNED_POD_ADDED | EventKind.ASSIGNED_POD_DELETED:
                other: Pod = event.new if event.new is not None else event.old
                same = bool(other.spec.node_name) and other.metadata.namespace == pod.metadata.namespace
                return same and any(_selects(each, pod, other.metadata.labels) for each in constraints)
            case EventKind.NODE_ADDED | EventKind.NODE_DELETED:
                node: Node = event.new if event.new is not None else event.old
                return _has_domains(constraints, node.metadata.labels)
            case EventKind.NODE_UPDATED:
                return _domains_change(constraints, event)
            case _:
                return False


def _count(constraint: TopologySpreadConstraint, pod: Pod, node: NodeInfo) -> int:
    """The pods of the node that count; a selector that selects everything counts nobody."""
    if _selects_all(constraint, pod):
        return 0
    return sum(
        other.pod.metadata.deletion_timestamp is None
        and other.pod.metadata.namespace == pod.metadata.namespace
        and _selects(constraint, pod, other.pod.metadata.labels)
        for other in node.pods.values()
    )


def _counts_change(constraints: Sequence[TopologySpreadConstraint], owner: Pod, old: Pod, new: Pod) -> bool:
    before, after = old.metadata.labels, new.metadata.labels
    return any(_selects(each, owner, before) != _selects(each, owner, after) for each in constraints)


def _domains_change(constraints: Sequence[TopologySpreadConstraint], event: ClusterEvent) -> bool:
    if not event.aspects & {"labels", "taints"}:
        return False
    before, after = event.old.metadata.labels, event.new.metadata.labels
    if _has_domains(constraints, before) != _has_domains(constraints, after):
        return True
    moved = any(before.get(each.topology_key) != after.get(each.topology_key) for each in constraints)
    return _has_domains(constraints, after) and (moved or event.old.spec.taints != event.new.spec.taints)
