"""Pod topology spread: how unevenly pods may lie over the domains of the nodes.

Only what must hold (`DoNotSchedule`) is modelled; `ScheduleAnyway` and its scores are not.

Source: kubernetes pkg/scheduler/framework/plugins/podtopologyspread (filtering.go, common.go, plugin.go).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dralang.api.affinity import TopologySpreadConstraint
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.selectors import is_empty, matches_labels
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.framework import SKIP, SUCCESS, Code, CycleState, Plugin, StateKey, Status
from dralang.scheduler.node_info import NodeInfo, PodInfo
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


SPREADS = StateKey[Spreads]("PodTopologySpread")


def hard_constraints(pod: Pod) -> tuple[TopologySpreadConstraint, ...]:
    """The constraints that must hold."""
    constraints = pod.spec.topology_spread_constraints
    return constraints and tuple([each for each in constraints if each.when_unsatisfiable == "DoNotSchedule"])


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
    """No domain may have more than `maxSkew` matching pods above the emptiest one."""

    name = "PodTopologySpread"
    weight = 2
    has_pre_filter = True
    has_filter = True
    has_add_pod = True

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
