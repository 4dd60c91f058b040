"""One attempt to find a node for one pod: PreFilter, Filter, PostFilter, Score.

Source: kubernetes pkg/scheduler/schedule_one.go, pkg/scheduler/framework/runtime/framework.go,
pkg/scheduler/framework/sorted_nodes.go.
"""

from collections.abc import Hashable, Sequence
from operator import itemgetter
from typing import TypeAlias, cast

from msgspec import Struct

from dralang.scheduler.framework import (
    SUCCESS,
    Code,
    CycleState,
    Diagnosis,
    NominationEnd,
    Plugin,
    Status,
)
from dralang.scheduler.node_info import NodeCache, NodeInfo, PodInfo
from dralang.scheduler.nominator import PodNominator
from dralang.scheduler.verdicts import VerdictCache, Verdicts, Walk

NO_NODES = "no nodes available to schedule pods"
MIN_FEASIBLE_NODES = 100
MIN_PERCENTAGE = 5
MOST_KINDS = 1024
# Looked up once: before Python 3.12 a member of an enumeration costs as much as a call.
_SKIP, _ERROR, _UNSCHEDULABLE, _UNRESOLVABLE = Code.SKIP, Code.ERROR, Code.UNSCHEDULABLE, Code.UNRESOLVABLE
REMEMBERS_FROM = 24
"""With fewer nodes a walk over all of them costs less than remembering."""


class Found(Struct, frozen=True):
    """A node for the pod.

    Attributes:
        node: its name.
        scores: the total score of every node that fits, in the order of the search; empty if only one does.
    """

    node: str
    scores: tuple[tuple[str, int], ...] = ()


class NotFound(Struct, frozen=True):
    """No node for the pod.

    Attributes:
        diagnosis: why.
        nominated: the node to nominate; empty to end a nomination, None to leave it.
    """

    diagnosis: Diagnosis
    nominated: str | None


class Failed(Struct, frozen=True):
    """The attempt itself failed, or there are no nodes at all.

    Attributes:
        message: why.
        rejected: whether the pod counts as rejected (no nodes) rather than failed.
    """

    message: str
    rejected: bool = False


Answer: TypeAlias = Found | NotFound | Failed


class SchedulingAlgorithm:
    """Finds nodes. The cursor of the search is its only state.

    Args:
        plugins: in the order of the profile.
        cache: the nodes.
        nominator: who is meant for which node.
        verdicts: what was found out before.
        percentage: share of the nodes that must be found to fit, 0 for what the size of the cluster suggests.
        ties: which one of several best nodes is taken, see ``SchedulerSettings``.
        nominates_by_status: a pod is nominated to the node that its status names.
        memory: see ``SchedulerSettings``.
    """

    def __init__(
        self,
        plugins: Sequence[Plugin],
        cache: NodeCache,
        nominator: PodNominator,
        verdicts: VerdictCache,
        *,
        percentage: int = 0,
        ties: int = 0,
        nominates_by_status: bool = False,
        memory: str = "usual",
    ) -> None:
        self._verdicts = verdicts
        self._forgets = memory == "none"
        self.remembers_from = 1 if memory == "eager" else REMEMBERS_FROM
        """From how many nodes on verdicts are remembered."""
        self._pre_filters = [plugin for plugin in plugins if plugin.has_pre_filter]
        self._filters = [plugin for plugin in plugins if plugin.has_filter]
        self._nominating = [plugin for plugin in plugins if plugin.has_nominations]
        self._adders = [plugin for plugin in plugins if plugin.has_add_pod]
        self._post_filters = [plugin for plugin in plugins if plugin.has_post_filter]
        self._scores = [plugin for plugin in plugins if plugin.has_score]
        asked = {plugin.name for plugin in self._filters}
        local = [plugin for plugin in self._scores if plugin.node_local_score]
        # What is scored per node and signed by nobody cannot be told apart.
        self._signs_scores = all(plugin.score_signed_by in asked for plugin in local)
        self._cache = cache
        self._nominator = nominator
        self._percentage = percentage
        self._ties = ties
        self._nominates_by_status = nominates_by_status
        self._next_start = 0
        self._insistent = [plugin for plugin in self._filters if type(plugin).only_node is not Plugin.only_node]
        self._kinds: dict[Hashable, int] = {}
        self._next_kind = 0

    def schedule(self, state: CycleState, info: PodInfo, *, post_filter: bool = True) -> Answer:
        """Find the best node for a pod; without one, let the plugins try to make room unless told otherwise."""
        if self._forgets:
            info.read()
            self._cache.recount()
        nodes = self._cache.nodes()
        if not nodes:
            return Failed(NO_NODES, rejected=True)
        diagnosis = Diagnosis(len(nodes))
        feasible = self.feasible_nodes(state, info, nodes, diagnosis)
        if isinstance(feasible, Found):
            return feasible
        if isinstance(feasible, Status):
            return Failed(feasible.message)
        if not feasible:
            nominated = self._post_filter(state, info, diagnosis) if post_filter else None
            return NotFound(diagnosis, nominated)
        if len(feasible) == 1:
            return Found(feasible[0].name)
        return self._best(state, info, feasible)

    # PreFilter and Filter.

    def feasible_nodes(
        self, state: CycleState, info: PodInfo, nodes: list[NodeInfo], diagnosis: Diagnosis
    ) -> list[NodeInfo] | Status | Found:
        """The nodes that pass all filters, or the error that ended the search; or at once the best of them."""
        status, names, restricting = self.pre_filter(state, info, nodes)
        diagnosis.rejectors = frozenset(restricting)
        if not status.is_success:
            if not status.is_rejected:
                return status
            diagnosis.statuses.absent = status
            diagnosis.pre_filter_message = status.message
            if status.plugin:
                diagnosis.rejectors = frozenset({status.plugin})
            return []
        nominated = self._cache.node(self.nominated_node(info))
        if nominated is not None:
            found = self._search(state, info, [nominated], diagnosis)
            if not isinstance(found, Status) and found:
                return found
        if names is None and len(nodes) >= self.remembers_from and self._signs_scores and not self._forgets:
            answer = self._look_at_only_node(state, info) or self._remember(state, info, nodes, diagnosis)
            if answer is not None:
                return answer
        candidates = nodes
        if names is not None:
            candidates = [node for node in nodes if node.name in names]
            text = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(restricting))}]"
            diagnosis.statuses.absent = Status(Code.UNRESOLVABLE, text)
        found = self._search(state, info, candidates, diagnosis)
        if isinstance(found, Status):
            return found
        processed = len(found) + len(diagnosis.statuses.own)
        self._next_start = (self._next_start + processed) % len(nodes)
        return found

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None, list[str]]:
        """Run all PreFilter plugins; the result may restrict the nodes, and says which plugins did."""
        skipped: set[str] = set()
        state.filters, state.adders = self._filters, self._adders
        names: frozenset[str] | None = None
        restricting: list[str] = []
        rejected: Status | None = None
        for plugin in self._pre_filters:
            status, own = plugin.pre_filter(state, info, nodes)
            code = status.code
            if code is _SKIP:
                skipped.add(plugin.name)
                continue
            if code is _UNRESOLVABLE:
                return status.by(plugin.name), None, []
            if code is _UNSCHEDULABLE:
                rejected = status.by(plugin.name)
                continue
            if code is _ERROR:
                text = f'running PreFilter plugin "{plugin.name}": {status.message}'
                return Status(Code.ERROR, text, plugin=plugin.name), None, []
            if own is not None:
                restricting.append(plugin.name)
                names = own if names is None else names & own
                if not names:
                    return _unsatisfied(restricting), None, restricting
        state.skipped = frozenset(skipped)
        state.filters = [plugin for plugin in self._filters if plugin.name not in skipped]
        state.adders = [plugin for plugin in self._adders if plugin.name not in skipped]
        return rejected if rejected is not None else SUCCESS, names, restricting

    def _search(
        self, state: CycleState, info: PodInfo, nodes: list[NodeInfo], diagnosis: Diagnosis
    ) -> list[NodeInfo] | Status:
        count = len(nodes)
        if not count:
            return []
        wanted = self._nodes_to_find(count)
        start = self._next_start % count
        feasible: list[NodeInfo] = []
        rejectors = set(diagnosis.rejectors)
        for index in range(count):
            node = nodes[(start + index) % count]
            status = self.filter(state, info, node)
            if status.is_success:
                feasible.append(node)
                if len(feasible) >= wanted:
                    break
            elif status.code is _ERROR:
                return status
            else:
                diagnosis.statuses.own[node.name] = status
                rejectors.add(status.plugin)
        diagnosis.rejectors = frozenset(rejectors)
        return feasible

    def _look_at_only_node(self, state: CycleState, info: PodInfo) -> Found | None:
        """The node that a plugin insists on, if it is the outcome of a search of all nodes.

        It is if it fits, nobody else's verdict could be an error, and the search is not over before all are passed:
        then it ends where it began.
        """
        names = {name for plugin in self._insistent if (name := plugin.only_node(state, info))}
        if len(names) != 1 or self._nominator.nodes():
            return None
        if any(plugin.sign(state, info) is None for plugin in state.filters if plugin not in self._insistent):
            return None
        node = self._cache.node(names.pop())
        if node is None or not self.filter(state, info, node).is_success:
            return None
        return Found(node.name)

    def _remember(
        self, state: CycleState, info: PodInfo, nodes: list[NodeInfo], diagnosis: Diagnosis
    ) -> list[NodeInfo] | Status | Found | None:
        """Search with what is known from pods that wanted the same; None if nothing can be known."""
        parts: list[Hashable] = [state.skipped, self._kind(state, info)]
        for plugin in state.filters:
            if plugin.signs_pod_alone:
                continue
            part = plugin.sign(state, info)
            if part is None:
                return None
            parts.append(part)
        verdicts = self._verdicts.of(tuple(parts), nodes, state)
        passing = self._nominator.nodes()

        def judge(node: NodeInfo) -> Status | None:
            status = self.filter(state, info, node)
            return None if status.is_success else status

        walked = verdicts.walk(self._next_start % len(nodes), self._nodes_to_find(len(nodes)), judge, passing)
        if isinstance(walked, Status):
            return walked
        self._next_start = (self._next_start + walked.visited) % len(nodes)
        if walked.failure is not None:
            if diagnosis.statuses.own:
                diagnosis.statuses.own.update(walked.failure.own)
            else:
                diagnosis.statuses = walked.failure
            diagnosis.rejectors |= walked.failure.plugins
            return []
        fitting = walked.fitting
        best = fitting[0] if len(fitting) == 1 else self._best_remembered(state, info, verdicts, walked)
        # The plugins note for the chosen node what they would do there.
        status = self.filter(state, info, nodes[best])
        return Found(nodes[best].name) if status.is_success else status

    def _kind(self, state: CycleState, info: PodInfo) -> int:
        """The number for what filters that look at the pod alone see of it."""
        if info.kind is None:
            sign = tuple([plugin.sign(state, info) for plugin in self._filters if plugin.signs_pod_alone])
            known = self._kinds.get(sign)
            if known is None:
                if len(self._kinds) >= MOST_KINDS:
                    self._kinds.clear()
                known = self._kinds[sign] = self._next_kind
                self._next_kind += 1
            info.kind = known
        return info.kind

    def _best_remembered(self, state: CycleState, info: PodInfo, verdicts: Verdicts, walked: Walk) -> int:
        chosen = itemgetter(*walked.fitting)(verdicts.nodes)
        local: list[Plugin] = []
        others: list[list[int]] = []
        for plugin in self._scores:
            if plugin.pre_score(state, info, chosen).code is _SKIP:
                continue
            if plugin.node_local_score:
                local.append(plugin)
                continue
            scores = plugin.normalize([plugin.score(state, info, node) for node in chosen])
            others.append([score * plugin.weight for score in scores])
        totals = walked.scores
        if None in totals:
            for index, known in enumerate(totals):
                if known is None:
                    score = sum([plugin.score(state, info, chosen[index]) * plugin.weight for plugin in local])
                    totals[index] = score
                    verdicts.set_score(walked.fitting[index], score)
        sums = cast("list[int]", totals)
        if others:
            sums = [sum(column) for column in zip(sums, *others, strict=True)]
        return walked.fitting[best_of(sums, self._ties)]

    def _nodes_to_find(self, count: int) -> int:
        if count < MIN_FEASIBLE_NODES:
            return count
        percentage = self._percentage or max(50 - count // 125, MIN_PERCENTAGE)
        if percentage >= 100:
            return count
        return max(count * percentage // 100, MIN_FEASIBLE_NODES)

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """Run the filters on a node, after PreFilter, first as if the pods nominated to it were there already."""
        nominated = self._nominator.pods_for(node.name)
        others = nominated and [
            other for other in nominated if other.priority >= info.priority and other.uid != info.uid
        ]
        if others:
            tried_node, tried_state = node.clone(), state.clone()
            for other in others:
                tried_node.add_pod(other)
                status = self.add_pod(tried_state, info, other, tried_node)
                if not status.is_success:
                    return Status(Code.ERROR, status.message, plugin=status.plugin)
            status = self._run_filters(tried_state, info, tried_node)
            if not status.is_success:
                return status
            state.first_pass = tried_state
            status = self._run_filters(state, info, node)
            state.first_pass = None
            return status
        return self._run_filters(state, info, node)

    @staticmethod
    def _run_filters(state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        for plugin in state.filters:
            status = plugin.filter(state, info, node)
            if status.is_success:
                continue
            if status.code is _ERROR:
                text = f'running "{plugin.name}" filter plugin: {status.message}'
                return Status(Code.ERROR, text, plugin=plugin.name)
            return status.by(plugin.name)
        return SUCCESS

    def add_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """Tell the plugins that another pod is assumed to run on the node."""
        for plugin in state.adders:
            status = plugin.add_pod(state, info, other, node)
            if not status.is_success:
                return status.by(plugin.name)
        return SUCCESS

    def remove_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """Tell the plugins that a pod is assumed to be gone from the node."""
        for plugin in state.adders:
            status = plugin.remove_pod(state, info, other, node)
            if not status.is_success:
                return status.by(plugin.name)
        return SUCCESS

    # Nominations.

    def add_nominated_pod(self, state: CycleState, info: PodInfo, node: NodeInfo, victims: Sequence[PodInfo]) -> None:
        """Tell the plugins that preemption has chosen a node."""
        for plugin in self._nominating:
            plugin.add_nominated_pod(state, info, node, victims)

    def remove_nominated_pod(self, info: PodInfo, node: str, cause: NominationEnd) -> None:
        """Tell the plugins that a nomination has come to its end."""
        for plugin in self._nominating:
            plugin.remove_nominated_pod(info, node, cause)

    def obstacle_to_preemption(self, info: PodInfo, node: str) -> str:
        """Why a nominated pod may not preempt again yet, as the first plugin that objects says."""
        for plugin in self._nominating:
            obstacle = plugin.obstacle_to_preemption(info, node)
            if obstacle:
                return obstacle
        return ""

    def nominated_node(self, info: PodInfo) -> str:
        """Where a pod is nominated to, empty if nowhere.

        What is held for it lives and dies with the nominator's entry, which is newer than the pod that was heard of.
        """
        if not self._nominating or self._nominates_by_status:
            return info.pod.status.nominated_node_name
        return self._nominator.node_of(info.uid)

    @property
    def knows_nominations(self) -> bool:
        """Whether any plugin keeps something for nominated pods."""
        return bool(self._nominating)

    # PostFilter and Score.

    def _post_filter(self, state: CycleState, info: PodInfo, diagnosis: Diagnosis) -> str | None:
        reasons: list[str] = []
        nominated: str | None = None
        for plugin in self._post_filters:
            status, node = plugin.post_filter(state, info, diagnosis.statuses)
            if status.is_success or status.code is _UNRESOLVABLE:
                diagnosis.post_filter_message = status.message
                return node
            if status.code is _ERROR:
                diagnosis.post_filter_message = status.message
                return None
            if node is not None:
                nominated = node
            reasons += status.reasons
        diagnosis.post_filter_message = ", ".join(reasons)
        return nominated

    def _best(self, state: CycleState, info: PodInfo, nodes: list[NodeInfo]) -> Found:
        totals = [0] * len(nodes)
        for plugin in self._scores:
            if plugin.pre_score(state, info, nodes).code is _SKIP:
                continue
            scores = plugin.normalize([plugin.score(state, info, node) for node in nodes])
            for index, score in enumerate(scores):
                totals[index] += score * plugin.weight
        best = best_of(totals, self._ties)
        return Found(nodes[best].name, tuple((node.name, total) for node, total in zip(nodes, totals, strict=True)))


def best_of(scores: Sequence[int], ties: int) -> int:
    """The index of the highest score; among equals the one that comes `ties` places after Go's choice."""
    usual = first_of_heap(scores)
    if not ties:
        return usual
    highest = scores[usual]
    best = [index for index, score in enumerate(scores) if score == highest]
    return best[(best.index(usual) + ties) % len(best)]


def first_of_heap(scores: Sequence[int]) -> int:
    """The index of the highest score; among equals the one that Go's heap puts at the root.

    Init lets the better child rise to every inner node from the last one on, the left of two equals, and only a child
    that is better than its parent. So the root is the first of the highest on the way down from the top that turns
    left wherever there is one of them below on the left.

    Source: Go container/heap Init and kubernetes pkg/scheduler/framework/sorted_nodes.go.
    """
    highest, count = max(scores), len(scores)
    index = 0
    while scores[index] != highest:
        left = 2 * index + 1
        index = left if _is_below(scores, highest, left, count) else left + 1
    return index


def _is_below(scores: Sequence[int], score: int, top: int, count: int) -> bool:
    """Whether a score occurs in the part of a heap below (and with) an entry."""
    first, width = top, 1
    while first < count:
        if score in scores[first : first + width]:
            return True
        first, width = 2 * first + 1, 2 * width
    return False


def _unsatisfied(plugins: list[str]) -> Status:
    if len(plugins) == 1:
        return Status(Code.UNRESOLVABLE, f"node(s) didn't satisfy plugin {plugins[0]}")
    listed = " ".join(sorted(plugins))
    return Status(Code.UNRESOLVABLE, f"node(s) didn't satisfy plugin(s) [{listed}] simultaneously")
