"""Default preemption: evict less important pods from one node so that a pod fits there.

Source: kubernetes pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go,
pkg/scheduler/framework/preemption (preemption.go, executor.go).
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from dralang.api.disruption import PodDisruptionBudget
from dralang.api.pods import Pod, PodCondition
from dralang.api.selectors import is_empty, matches_labels
from dralang.cluster.clock import Phase
from dralang.cluster.journal import JournalEntry
from dralang.cluster.store import ObjectStore, with_condition
from dralang.cluster.timestamps import parse_time
from dralang.readings import UNUSABLE_NODE_DEFERS
from dralang.scenario.keys import ObjectKey
from dralang.scheduler.binding import Binder
from dralang.scheduler.cycle import SchedulingAlgorithm
from dralang.scheduler.framework import SUCCESS, Code, CycleState, NodeStatuses, Plugin, Status
from dralang.scheduler.node_info import NodeCache, NodeInfo, PodInfo
from dralang.scheduler.nominator import PodNominator
from dralang.scheduler.queue import SchedulingQueue
from dralang.scheduler.settings import SchedulerSettings
from dralang.values.duration import format_duration

MIN_CANDIDATES = 100
CANDIDATES_PERCENTAGE = 10
_NO_VICTIMS = "No preemption victims found for incoming pod"
_NOT_HELPFUL = "Preemption is not helpful for scheduling"
_PRIORITY_OFFSET = 2**31
# Looked up once: before Python 3.12 a member of an enumeration costs as much as a call.
_ERROR, _UNSCHEDULABLE, _UNRESOLVABLE = Code.ERROR, Code.UNSCHEDULABLE, Code.UNRESOLVABLE
_NOBODY = Status(_UNRESOLVABLE, _NO_VICTIMS)
_HELPLESS = Status(_UNRESOLVABLE, _NOT_HELPFUL)

Preempted: TypeAlias = Literal["watched", "in memory", "refused"]
"""How a victim went: by its deletion, by giving up its binding, or not at all."""


class PreemptionHandle(Protocol):
    """What preemption uses of the scheduler."""

    name: str
    store: ObjectStore
    cache: NodeCache
    nominator: PodNominator
    algorithm: SchedulingAlgorithm
    queue: SchedulingQueue
    binder: Binder
    on_preempting: Callable[[Pod, str, tuple[Pod, ...]], None] | None
    readings: frozenset[str]
    settings: SchedulerSettings


class Candidate(NamedTuple):
    """A node on which the pod would fit without some of its pods.

    Attributes:
        node: its name.
        victims: who would have to go, the most important first.
        violations: how many of them a disruption budget protects.
        spared: who is less important too, but may stay.
    """

    node: str
    victims: tuple[PodInfo, ...]
    violations: int
    spared: tuple[PodInfo, ...] = ()


class Considered(NamedTuple):
    """What came of looking for victims.

    Attributes:
        obstacle: why nobody was looked for, empty otherwise.
        candidates: the nodes where victims would help, those that violate no budget first.
        tried: why others are no candidates.
        errors: what went wrong on some of them.
    """

    obstacle: str
    candidates: tuple[Candidate, ...]
    tried: NodeStatuses
    errors: tuple[str, ...]


class DefaultPreemption(Plugin):
    """Finds victims, nominates the node, and lets the victims go."""

    name = "DefaultPreemption"
    has_post_filter = True

    def __init__(self, scheduler: PreemptionHandle) -> None:
        self._scheduler = scheduler
        self._preempting: dict[str, None] = {}

    # Queueing.

    def pre_enqueue(self, pod: Pod) -> Status:
        """A pod whose victims are not told yet has to wait."""
        if pod.metadata.uid in self._preempting:
            return Status(Code.UNRESOLVABLE, "waiting for the preemption for this pod to be finished")
        return SUCCESS

    # PostFilter.

    def post_filter(self, state: CycleState, info: PodInfo, statuses: NodeStatuses) -> tuple[Status, str | None]:
        """Choose a node and its victims."""
        found = self.consider(state, info, statuses)
        if found.obstacle:
            return _answer(found.obstacle), None
        if not found.candidates:
            if found.errors:
                return Status(Code.ERROR, f"preemption: {', '.join(found.errors)}"), None
            count = len(self._scheduler.cache.nodes())
            return _answer(f"0/{count} nodes are available: {found.tried.summary(count)}."), ""
        best = self.choose(found.candidates)
        if self._scheduler.on_preempting is not None:
            self._scheduler.on_preempting(info.pod, best.node, tuple([victim.pod for victim in best.victims]))
        self._nominate(state, info, best, found.candidates)
        self._evict(info, best)
        text = f"found a potential placement for pod on node {best.node}, preempting {len(best.victims)} victims"
        return Status(Code.SUCCESS, f"preemption: {text}"), best.node

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """The candidate that an attempt takes."""
        return choose(candidates, self._scheduler.settings.ties)

    def consider(self, state: CycleState, info: PodInfo, statuses: NodeStatuses) -> Considered:
        """What an attempt would find now; changes nothing.

        Args:
            state: after PreFilter and Filter.
            info: the pod.
            statuses: why each node refused it.
        """
        tried = NodeStatuses()
        tried.absent = _HELPLESS
        obstacle = self._obstacle(info, statuses)
        if obstacle:
            return Considered(obstacle, (), tried, ())
        nodes = self._scheduler.cache.nodes()
        if not statuses.any_is(_UNSCHEDULABLE):
            return Considered("", (), tried, ())
        helpful = [node for node in nodes if statuses.of(node.name).code is _UNSCHEDULABLE]
        candidates, errors = self._candidates(state, info, helpful, tried)
        return Considered("", tuple(candidates), tried, tuple(errors))

    def _nominate(self, state: CycleState, info: PodInfo, best: Candidate, candidates: Sequence[Candidate]) -> None:
        """Tell the plugins, and note what there was to choose from."""
        algorithm = self._scheduler.algorithm
        if not algorithm.knows_nominations:
            return
        node = self._scheduler.cache.node(best.node)
        assert node is not None, "candidates are nodes of the cache"
        meta, now = info.pod.metadata, self._scheduler.store.events.now
        for candidate in candidates:
            text = describe(candidate, chosen=candidate is best)
            entry = JournalEntry(
                now, self._scheduler.name, "Pod", meta.namespace, meta.name, "Candidate", text, (candidate.node,)
            )
            self._scheduler.store.journal.record(entry)
        algorithm.add_nominated_pod(state, info, node, best.victims)

    def _obstacle(self, info: PodInfo, statuses: NodeStatuses) -> str:
        """Why the pod may not preempt anybody, empty if it may."""
        if info.pod.spec.preemption_policy == "Never":
            return "not eligible due to preemptionPolicy=Never."
        nominated = self._scheduler.algorithm.nominated_node(info)
        if not nominated:
            return ""
        if statuses.of(nominated).code is _UNRESOLVABLE:
            defers = UNUSABLE_NODE_DEFERS in self._scheduler.readings
            return self._scheduler.algorithm.obstacle_to_preemption(info, nominated) if defers else ""
        node = self._scheduler.cache.node(nominated)
        if node is not None:
            for other in node.pods.values():
                if other.priority < info.priority and _is_being_preempted(other.pod):
                    return "not eligible due to a terminating pod on the nominated node."
        return self._scheduler.algorithm.obstacle_to_preemption(info, nominated)

    def _candidates(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo], tried: NodeStatuses
    ) -> tuple[list[Candidate], list[str]]:
        limit = min(max(len(nodes) * CANDIDATES_PERCENTAGE // 100, MIN_CANDIDATES), len(nodes))
        budgets = self._scheduler.store.objects(PodDisruptionBudget)
        clean: list[Candidate] = []
        violating: list[Candidate] = []
        errors: list[str] = []
        for node in nodes:
            result = self._dry_run(state, info, node, budgets)
            if isinstance(result, Candidate):
                (violating if result.violations else clean).append(result)
                if clean and len(clean) + len(violating) >= limit:
                    break
                continue
            if result.code is _ERROR:
                errors.append(result.message)
            tried.own[node.name] = result
        return clean + violating, errors

    def _dry_run(
        self, state: CycleState, info: PodInfo, node: NodeInfo, budgets: Sequence[PodDisruptionBudget]
    ) -> Candidate | Status:
        """Who would have to leave this node? Works on copies."""
        algorithm = self._scheduler.algorithm
        possible = [other for other in node.pods.values() if other.priority < info.priority]
        if not possible:
            return _NOBODY
        state, node = state.clone(), node.clone()

        def take(other: PodInfo) -> Status:
            node.remove_pod(other.uid)
            return algorithm.remove_pod(state, info, other, node)

        def put_back(other: PodInfo) -> Status:
            node.add_pod(other)
            return algorithm.add_pod(state, info, other, node)

        for other in possible:
            status = take(other)
            if not status.is_success:
                return Status(Code.ERROR, status.message)
        status = algorithm.filter(state, info, node)
        if not status.is_success:
            return status
        possible.sort(key=self._importance)
        protected, others = split_by_budget(possible, budgets)
        victims: list[PodInfo] = []
        spared: list[PodInfo] = []
        violations = 0
        for group, violates in ((protected, True), (others, False)):
            for other in group:
                status = put_back(other)
                if status.is_success and algorithm.filter(state, info, node).is_success:
                    spared.append(other)
                    continue
                take(other)
                victims.append(other)
                violations += violates
        if not victims:
            return Status(Code.ERROR, f'expected at least one victim pod on node "{node.name}"')
        victims.sort(key=self._importance)
        return Candidate(node.name, tuple(victims), violations, tuple(spared))

    def _importance(self, info: PodInfo) -> tuple[int, int]:
        """More important pods first: higher priority, then running for longer."""
        started = info.pod.status.start_time
        return -info.priority, parse_time(started) if started else self._scheduler.store.events.now

    # Actuation.

    def _evict(self, info: PodInfo, candidate: Candidate) -> None:
        """Plan the deletion of the victims for this instant; those that leave anyway need none.

        It takes a call as long as those of the controllers, so a claim that is being freed already is free before.
        """
        leaving = [victim for victim in candidate.victims if victim.pod.metadata.deletion_timestamp is None]
        if not leaving:
            return
        self._preempting[info.uid] = None
        for victim in leaving:
            binding = self._scheduler.binder.waiting.get(victim.uid)
            if binding is not None:
                self._scheduler.binder.foretell(binding)
        events = self._scheduler.store.events
        events.schedule(Phase.CLEANUP, self._scheduler.name, self._execute, (info, candidate, leaving))

    def _execute(self, plan: tuple[PodInfo, Candidate, list[PodInfo]]) -> None:
        info, candidate, victims = plan
        scheduler = self._scheduler
        for other in scheduler.nominator.pods_for(candidate.node):
            if other.priority < info.priority:
                meta = other.pod.metadata
                scheduler.nominator.delete(other.uid)
                scheduler.store.patch_status(Pod, meta.namespace, meta.name, nominated_node_name="")
        outcomes = [self._preempt(info, victim, candidate.node) for victim in victims]
        watched = all(outcome == "watched" for outcome in outcomes)
        self._preempting.pop(info.uid, None)
        if "refused" in outcomes and scheduler.algorithm.knows_nominations:
            self._break_promise(info, candidate.node)
        if not watched:
            # A deletion that will not be heard of brings nobody back.
            scheduler.queue.activate(info.uid)
        else:
            # What happened while the pod was held back must not be lost.
            scheduler.queue.release(info.uid, self.name)

    def _break_promise(self, info: PodInfo, node: str) -> None:
        """What was promised on a node cannot be kept (KEP-5690): the pod is free to try anew."""
        scheduler, meta = self._scheduler, info.pod.metadata
        nominated = scheduler.nominator.node_of(info.uid)
        if nominated == node:
            scheduler.nominator.delete(info.uid, "failed")
        else:
            # Somebody has ended the nomination already; who was to go stays all the same.
            scheduler.algorithm.remove_nominated_pod(info, node, "failed")
        if nominated in ("", node):
            scheduler.store.patch_status(Pod, meta.namespace, meta.name, nominated_node_name="")

    def _preempt(self, info: PodInfo, victim: PodInfo, node: str) -> Preempted:
        """Let one victim go; say whether its end can be watched (also one that came before)."""
        scheduler = self._scheduler
        meta, mine = victim.pod.metadata, info.pod.metadata
        name = ObjectKey("Pod", mine.namespace, mine.name).spoken
        binding = scheduler.binder.waiting.get(victim.uid)
        if binding is not None and not binding.preempted:
            scheduler.binder.cancel(binding)
            self._record(meta.namespace, meta.name, f"preempted by pod `{name}` before it was bound to {node}", name)
            return "in memory"
        current = scheduler.store.get(Pod, meta.namespace, meta.name)
        if current is None or current.metadata.uid != victim.uid:
            return "watched"
        condition = PodCondition(
            type="DisruptionTarget",
            status="True",
            reason="PreemptionByScheduler",
            message=f"{current.spec.scheduler_name}: preempting to accommodate a higher priority pod",
        )
        conditions = with_condition(current.status.conditions, condition)
        scheduler.store.patch_status(Pod, meta.namespace, meta.name, conditions=conditions)
        self._record(meta.namespace, meta.name, f"preempted by pod `{name}` on {node}", name)
        refused = scheduler.store.delete(Pod, meta.namespace, meta.name, uid=victim.uid)
        return "watched" if refused is None or refused.reason == "NotFound" else "refused"

    def _record(self, namespace: str, name: str, message: str, preemptor: str) -> None:
        now = self._scheduler.store.events.now
        entry = JournalEntry(now, self._scheduler.name, "Pod", namespace, name, "Preempted", message, (preemptor,))
        self._scheduler.store.journal.record(entry)


def describe(candidate: Candidate, *, chosen: bool) -> str:
    """A node with its victims in words: who, how important, since when; who is spared; how many budgets object."""
    parts = [f"victims {', '.join(map(_rank, candidate.victims))}"]
    if candidate.spared:
        parts.append(f"spared {', '.join(map(_rank, candidate.spared))}")
    if candidate.violations:
        parts.append(f"{candidate.violations} protected by a disruption budget")
    return f"node {candidate.node}{' is chosen' if chosen else ''}: {'; '.join(parts)}"


def _rank(info: PodInfo) -> str:
    started = info.pod.status.start_time
    since = f", since {format_duration(parse_time(started))}" if started else ""
    going = ", terminating already" if info.pod.metadata.deletion_timestamp is not None else ""
    return f"{info.pod.metadata.name} (priority {info.priority}{since}{going})"


def _answer(message: str) -> Status:
    return Status(Code.UNSCHEDULABLE, f"preemption: {message}")


def _is_being_preempted(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None and any(
        each.type == "DisruptionTarget" and each.status == "True" and each.reason == "PreemptionByScheduler"
        for each in pod.status.conditions
    )


def split_by_budget(
    pods: Sequence[PodInfo], budgets: Sequence[PodDisruptionBudget]
) -> tuple[list[PodInfo], list[PodInfo]]:
    """The pods whose eviction would break a disruption budget, and the others; both keep their order."""
    left = {id(budget): budget.status.disruptions_allowed for budget in budgets}
    protected: list[PodInfo] = []
    others: list[PodInfo] = []
    for info in pods:
        pod = info.pod
        violates = False
        if pod.metadata.labels:
            for budget in budgets:
                selector = budget.spec.selector
                if budget.metadata.namespace != pod.metadata.namespace or is_empty(selector):
                    continue
                if not matches_labels(selector, pod.metadata.labels):
                    continue
                if pod.metadata.name in budget.status.disrupted_pods:
                    continue
                left[id(budget)] -= 1
                violates = violates or left[id(budget)] < 0
        (protected if violates else others).append(info)
    return protected, others


def choose(candidates: Sequence[Candidate], ties: int = 0) -> Candidate:
    """The node where preemption hurts least; among equals the one that comes `ties` places after the first.

    Source: kubernetes preemption.go pickOneNodeForPreemption.
    """

    def badness(candidate: Candidate) -> tuple[int, int, int, int, int]:
        highest = max(victim.priority for victim in candidate.victims)
        total = sum(victim.priority + _PRIORITY_OFFSET for victim in candidate.victims)
        starts = [
            parse_time(victim.pod.status.start_time)
            for victim in candidate.victims
            if victim.priority == highest and victim.pod.status.start_time
        ]
        earliest = min(starts, default=0)
        return candidate.violations, highest, total, len(candidate.victims), -earliest

    if not ties:
        return min(candidates, key=badness)
    least = min(map(badness, candidates))
    best = [candidate for candidate in candidates if badness(candidate) == least]
    return best[ties % len(best)]
