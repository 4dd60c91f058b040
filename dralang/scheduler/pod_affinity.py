"""Pods that want to be near others, or far from them.

Source: kubernetes pkg/scheduler/framework/plugins/interpodaffinity (filtering.go, scoring.go, plugin.go).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from dralang.api.affinity import PodAffinityTerm, WeightedPodAffinityTerm
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.selectors import is_empty, matches_labels
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.framework import MAX_NODE_SCORE, SKIP, SUCCESS, Code, CycleState, Plugin, StateKey, Status
from dralang.scheduler.node_info import NodeCache, NodeInfo, PodInfo

Counts = dict[tuple[str, str], int]
NamespaceLabels = Callable[[str], Mapping[str, str]]

_NO_FRIENDS = Status(Code.UNRESOLVABLE, "node(s) didn't match pod affinity rules")
_FOES = Status(Code.UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules")
_UNWELCOME = Status(Code.UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules")


class AffinityCounts:
    """How many pods count for and against each topology domain, for one pod.

    Attributes:
        near: pods that match all required affinity terms, by domain.
        far: pods that match a required anti-affinity term, by domain.
        unwelcome: running pods that do not want the pod near them, by domain.
    """

    __slots__ = ("far", "near", "unwelcome")

    def __init__(self) -> None:
        self.near: Counts = {}
        self.far: Counts = {}
        self.unwelcome: Counts = {}

    def clone(self) -> "AffinityCounts":
        """A copy that can be changed without changing this one."""
        copy = AffinityCounts()
        copy.near, copy.far, copy.unwelcome = dict(self.near), dict(self.far), dict(self.unwelcome)
        return copy


class DomainScores:
    """What the running pods make of each domain, for one pod."""

    __slots__ = ("scores",)

    def __init__(self, scores: Counts) -> None:
        self.scores = scores

    def clone(self) -> "DomainScores":
        """The same object: nobody changes it."""
        return self


SCORES: StateKey[DomainScores] = StateKey("InterPodAffinity/score")
COUNTS: StateKey[AffinityCounts] = StateKey("InterPodAffinity")


def required_terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    """The pods that the pod must be near to."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_affinity is None:
        return ()
    return affinity.pod_affinity.required_during_scheduling_ignored_during_execution


def required_anti_terms(pod: Pod) -> tuple[PodAffinityTerm, ...]:
    """The pods that the pod must not be near to."""
    affinity = pod.spec.affinity
    if affinity is None or affinity.pod_anti_affinity is None:
        return ()
    return affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution


def _preferred(pod: Pod) -> tuple[tuple[int, WeightedPodAffinityTerm], ...]:
    affinity = pod.spec.affinity
    if affinity is None:
        return ()
    near = affinity.pod_affinity.preferred_during_scheduling_ignored_during_execution if affinity.pod_affinity else ()
    far = (
        affinity.pod_anti_affinity.preferred_during_scheduling_ignored_during_execution
        if affinity.pod_anti_affinity
        else ()
    )
    return (*((1, term) for term in near), *((-1, term) for term in far))


class InterPodAffinity(Plugin):
    """Required terms filter, preferred terms score.

    Args:
        cache: the nodes and their pods.
        namespace_labels: the labels of a namespace.
        hard_weight: what a required term of a running pod adds to the score.
        ignores_others: whether the wishes of running pods do not count for a pod that has none itself.
    """

    name = "InterPodAffinity"
    weight = 2
    has_pre_filter = True
    has_filter = True
    has_add_pod = True
    has_score = True

    def __init__(
        self,
        cache: NodeCache,
        namespace_labels: NamespaceLabels,
        *,
        hard_weight: int = 1,
        ignores_others: bool = False,
    ) -> None:
        self._cache = cache
        self._namespace_labels = namespace_labels
        self._hard_weight = hard_weight
        self._ignores_others = ignores_others

    def _matches(self, term: PodAffinityTerm, owner: Pod, other: Pod) -> bool:
        """Whether a term of one pod is about another."""
        namespace = other.metadata.namespace
        named = term.namespaces
        if not named and term.namespace_selector is None:
            named = (owner.metadata.namespace,)
        if namespace not in named:
            selector = term.namespace_selector
            if selector is None:
                return False
            if not is_empty(selector) and not matches_labels(selector, self._namespace_labels(namespace)):
                return False
        return matches_labels(term.label_selector, other.metadata.labels)

    def _matches_all(self, terms: Sequence[PodAffinityTerm], owner: Pod, other: Pod) -> bool:
        return bool(terms) and all(self._matches(term, owner, other) for term in terms)

    def _count(self, counts: AffinityCounts, pod: Pod, other: Pod, node: Node, sign: int) -> None:
        terms = required_terms(pod)
        if self._matches_all(terms, pod, other):
            for term in terms:
                _add(counts.near, node, term.topology_key, sign)
        for term in required_anti_terms(pod):
            if self._matches(term, pod, other):
                _add(counts.far, node, term.topology_key, sign)
        for term in required_anti_terms(other):
            if self._matches(term, other, pod):
                _add(counts.unwelcome, node, term.topology_key, sign)

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None]:
        """Count friends and foes by domain; nothing to say if there are neither terms nor foes."""
        pod = info.pod
        own = bool(required_terms(pod) or required_anti_terms(pod))
        if not own and not self._cache.with_affinity:
            return SKIP, None
        counts = AffinityCounts()
        for node in nodes:
            for other in node.pods.values():
                if own or other.has_affinity:
                    self._count(counts, pod, other.pod, node.api, 1)
        if not own and not counts.unwelcome:
            return SKIP, None
        state.write(COUNTS, counts)
        return SUCCESS, None

    def add_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """Count one more pod."""
        counts = state.read(COUNTS)
        if counts is not None:
            self._count(counts, info.pod, other.pod, node.api, 1)
        return SUCCESS

    def remove_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """Count one pod less."""
        counts = state.read(COUNTS)
        if counts is not None:
            self._count(counts, info.pod, other.pod, node.api, -1)
        return SUCCESS

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """Friends in every domain, no foe in any."""
        counts = state.read(COUNTS)
        if counts is None:
            return SUCCESS
        labels = node.api.metadata.labels
        if not self._has_friends(counts, info.pod, labels):
            return _NO_FRIENDS
        for term in required_anti_terms(info.pod):
            if _of(counts.far, labels, term.topology_key) > 0:
                return _FOES
        if any(count > 0 and labels.get(key) == value for (key, value), count in counts.unwelcome.items()):
            return _UNWELCOME
        return SUCCESS

    def _has_friends(self, counts: AffinityCounts, pod: Pod, labels: Mapping[str, str]) -> bool:
        terms = required_terms(pod)
        if not terms:
            return True
        if any(term.topology_key not in labels for term in terms):
            return False
        if all(_of(counts.near, labels, term.topology_key) > 0 for term in terms):
            return True
        # The first pod of a group that wants to be near itself may go anywhere.
        return not any(counts.near.values()) and self._matches_all(terms, pod, pod)

    # Scoring.

    def pre_score(self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]) -> Status:
        """Add up what the running pods make of the domains."""
        own = _preferred(info.pod)
        if not own and (self._ignores_others or not self._cache.with_affinity):
            return SKIP
        scores: Counts = {}
        for node in self._cache.nodes():
            for other in node.pods.values():
                if own or other.has_affinity:
                    self._score_pod(scores, info.pod, other.pod, node.api, own)
        state.write(SCORES, DomainScores(scores))
        return SUCCESS if scores else SKIP

    def _score_pod(
        self, scores: Counts, pod: Pod, other: Pod, node: Node, own: Iterable[tuple[int, WeightedPodAffinityTerm]]
    ) -> None:
        for sign, weighted in own:
            if self._matches(weighted.pod_affinity_term, pod, other):
                _add(scores, node, weighted.pod_affinity_term.topology_key, sign * weighted.weight)
        for term in required_terms(other) if self._hard_weight else ():
            if self._matches(term, other, pod):
                _add(scores, node, term.topology_key, self._hard_weight)
        for sign, weighted in _preferred(other):
            if self._matches(weighted.pod_affinity_term, other, pod):
                _add(scores, node, weighted.pod_affinity_term.topology_key, sign * weighted.weight)

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """The sum over the domains of the node."""
        found = state.read(SCORES)
        labels = node.api.metadata.labels
        scores = found.scores if found is not None else {}
        return sum(score for (key, value), score in scores.items() if labels.get(key) == value)

    def normalize(self, scores: list[int]) -> list[int]:
        """Spread from 0 to 100."""
        lowest, highest = min(scores), max(scores)
        spread = highest - lowest
        return [int(MAX_NODE_SCORE * ((score - lowest) / spread)) if spread else 0 for score in scores]

    # Queueing.

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """Friends that come, foes that leave, nodes that change their domain."""
        pod = info.pod
        match event.kind:
            case EventKind.TARGET_POD_UPDATED:
                return bool(event.old.metadata.labels != event.new.metadata.labels)
            case EventKind.ASSIGNED_POD_ADDED:
                return self._matches_all(required_terms(pod), pod, event.new)
            case EventKind.ASSIGNED_POD_UPDATED:
                return self._became_friend(pod, event.old, event.new)
            case EventKind.ASSIGNED_POD_DELETED:
                return self._is_foe(pod, event.old) or any(
                    self._matches(term, event.old, pod) for term in required_anti_terms(event.old)
                )
            case EventKind.NODE_ADDED:
                labels = event.new.metadata.labels
                return bool(required_anti_terms(pod)) or any(
                    term.topology_key in labels for term in required_terms(pod)
                )
            case EventKind.NODE_UPDATED:
                return "labels" in event.aspects and _domain_changed(pod, event.old, event.new)
            case _:
                return False

    def _is_foe(self, pod: Pod, other: Pod) -> bool:
        return any(self._matches(term, pod, other) for term in required_anti_terms(pod))

    def _became_friend(self, pod: Pod, old: Pod, new: Pod) -> bool:
        terms = required_terms(pod)
        if self._matches_all(terms, pod, new) and not self._matches_all(terms, pod, old):
            return True
        return self._is_foe(pod, old) and not self._is_foe(pod, new)


def _domain_changed(pod: Pod, old: Node, new: Node) -> bool:
    before, after = old.metadata.labels, new.metadata.labels
    for term in required_terms(pod):
        if term.topology_key in after and before.get(term.topology_key) != after[term.topology_key]:
            return True
    return any(
        term.topology_key in before and before[term.topology_key] != after.get(term.topology_key)
        for term in required_anti_terms(pod)
    )


def _add(counts: Counts, node: Node, key: str, value: int) -> None:
    domain = node.metadata.labels.get(key)
    if domain is not None:
        counts[key, domain] = counts.get((key, domain), 0) + value


def _of(counts: Counts, labels: Mapping[str, str], key: str) -> int:
    value = labels.get(key)
    return counts.get((key, value), 0) if value is not None else 0
