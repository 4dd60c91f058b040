"""One attempt to schedule a group: all members that must run together, or none.

DEVIATES: a group never preempts; upstream looks for victims in the whole cluster.

Source: kubernetes pkg/scheduler/schedule_one_podgroup.go.
"""

from typing import Literal, NamedTuple, Protocol

from msgspec.structs import replace

from dralang.api.meta import Condition
from dralang.api.workloads import PodGroup
from dralang.cluster.store import ObjectStore
from dralang.cluster.timestamps import format_time
from dralang.scheduler.cycle import Failed, Found, SchedulingAlgorithm
from dralang.scheduler.dynamicresources.group_claims import release_group_claims
from dralang.scheduler.dynamicresources.plugin import DynamicResources
from dralang.scheduler.framework import CycleState, GroupCycle, NodeStatuses
from dralang.scheduler.pod_groups import PodGroups, QueuedGroup, min_count
from dralang.scheduler.queue import QueuedPod, SchedulingQueue

PREFIX = "pod group is unschedulable"
NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"
INITIALLY_SCHEDULED = "PodGroupInitiallyScheduled"

Outcome = Literal["done", "rejected", "failed"]


class Tried(NamedTuple):
    """What came of one member.

    Attributes:
        queued: the member.
        state: of its cycle.
        node: the node that was found, empty if none.
        message: why there is none.
        rejectors: the plugins that refused it.
        failed: whether the attempt itself failed.
    """

    queued: QueuedPod
    state: CycleState
    node: str = ""
    message: str = ""
    rejectors: frozenset[str] = frozenset()
    failed: bool = False


class GroupHandle(Protocol):
    """What a group cycle uses of the scheduler."""

    store: ObjectStore
    algorithm: SchedulingAlgorithm
    queue: SchedulingQueue
    groups: PodGroups
    dynamic_resources: DynamicResources

    def is_out(self, queued: QueuedPod) -> bool:
        """Whether a pod is not to be tried: it is being deleted or bound."""

    def take(self, queued: QueuedPod, state: CycleState, node: str) -> str:
        """Assume and reserve; return what went wrong."""

    def give_up(self, queued: QueuedPod, state: CycleState, node: str) -> None:
        """Undo `take`."""

    def start_binding(self, queued: QueuedPod, state: CycleState, node: str) -> None:
        """Let a taken pod be bound."""

    def report_member(self, queued: QueuedPod, message: str, *, failed: bool) -> None:
        """Put a member back and say why."""


class PodGroupCycle:
    """Runs group cycles."""

    def __init__(self, scheduler: GroupHandle) -> None:
        self._scheduler = scheduler

    def run(self, entry: QueuedGroup) -> None:
        """Try a group that was just taken from the queue."""
        scheduler = self._scheduler
        members = [each for each in scheduler.groups.take_members(entry) if not scheduler.is_out(each)]
        outcome: Outcome = "done"
        if members:
            problem = self._mismatch(entry, members)
            if problem:
                outcome = "failed"
                for queued in members:
                    scheduler.report_member(queued, problem, failed=True)
                self._set_condition(entry.group, "False", "SchedulerError", problem)
            else:
                outcome = self._attempt(entry, members)
        if scheduler.groups.finish_attempt(entry, members):
            keeps = outcome == "done" and scheduler.groups.still_waits(entry, members)
            scheduler.queue.put_back_group(entry, outcome, keeps=keeps)

    def _mismatch(self, entry: QueuedGroup, members: list[QueuedPod]) -> str:
        """In what the members differ that must be the same for all."""
        pods = [each.pod for each in members] + self._scheduler.groups.placed_members(entry.key)
        name, policy = pods[0].spec.scheduler_name, pods[0].spec.preemption_policy
        for pod in pods:
            if pod.spec.scheduler_name != name:
                return (
                    "all pods in a single pod group should have the same .spec.schedulerName set, "
                    f'got: "{pod.spec.scheduler_name}" and "{name}"'
                )
            if (pod.spec.priority or 0) != entry.priority:
                return (
                    "all pods in a single pod group should have the same priority as the pod group's priority, "
                    f"got {pod.spec.priority or 0} and {entry.priority}"
                )
            if (pod.spec.preemption_policy or "") != (policy or ""):
                return (
                    "all pods in a single pod group should have the same preemption policy, "
                    f"got {pod.spec.preemption_policy} and {policy}"
                )
        return ""

    def _attempt(self, entry: QueuedGroup, members: list[QueuedPod]) -> Outcome:
        scheduler = self._scheduler
        needed = min_count(entry.group)
        placed, remaining = scheduler.groups.placed_count(entry.key), len(members)
        tried: list[Tried] = []
        hopeless, text = progress(needed, placed, remaining)
        message = f"{PREFIX}, {text}" if hopeless else text
        failure = ""
        cycle = GroupCycle()
        if not hopeless:
            for queued in members:
                result = self._try_member(queued, cycle)
                tried.append(result)
                if result.failed:
                    failure = f"failed to schedule other pod from a pod group: {result.message}"
                    break
                remaining -= 1
                placed += bool(result.node)
                hopeless, message = progress(needed, placed, remaining)
                if hopeless:
                    break
        for result in reversed(tried):
            if result.node:
                scheduler.give_up(result.queued, result.state, result.node)
        if failure:
            return self._failed(entry, members, tried, failure)
        if not message and not any(result.node for result in tried):
            message = PREFIX
        elif message and not hopeless:
            message = f"{PREFIX}, {message}"
        if message:
            return self._rejected(entry, members, tried, message)
        self._succeeded(entry, tried)
        return "done"

    def _try_member(self, queued: QueuedPod, cycle: GroupCycle) -> Tried:
        """The cycle of one member; what it takes is undone at the end of the attempt."""
        scheduler = self._scheduler
        state = CycleState()
        state.group = cycle
        answer = scheduler.algorithm.schedule(state, queued.info, post_filter=False)
        if isinstance(answer, Found):
            problem = scheduler.take(queued, state, answer.node)
            if problem:
                return Tried(queued, state, message=problem, failed=True)
            return Tried(queued, state, node=answer.node)
        if isinstance(answer, Failed):
            return Tried(queued, state, message=answer.message, failed=not answer.rejected)
        return Tried(queued, state, message=answer.diagnosis.message(), rejectors=answer.diagnosis.rejectors)

    def _failed(self, entry: QueuedGroup, members: list[QueuedPod], tried: list[Tried], failure: str) -> Outcome:
        own = {result.queued.uid: result.message for result in tried if result.failed}
        for queued in members:
            self._scheduler.report_member(queued, own.get(queued.uid, failure), failed=True)
        self._set_condition(entry.group, "False", "SchedulerError", failure)
        return "failed"

    def _rejected(self, entry: QueuedGroup, members: list[QueuedPod], tried: list[Tried], message: str) -> Outcome:
        scheduler = self._scheduler
        self._release_claims(entry, tried)
        full = f"{message}, {NO_VICTIMS}"
        results = {result.queued.uid: result for result in tried}
        for queued in members:
            result = results.get(queued.uid)
            if result is None:
                text = message
            elif result.node:
                text = full if full.startswith(PREFIX) else f"{PREFIX}, {full}"
            else:
                text = result.message
            scheduler.report_member(queued, text, failed=False)
        self._set_condition(entry.group, "False", "Unschedulable", full)
        return "rejected"

    def _release_claims(self, entry: QueuedGroup, tried: list[Tried]) -> None:
        """Give up allocations that only these pods, or only their group, could use."""
        scheduler = self._scheduler
        plugin = scheduler.dynamic_resources
        stuck = False
        states = []
        for result in tried:
            data = plugin.data_of(result.state)
            if data is None or not data.claims:
                continue
            states.append(data)
            status, _ = plugin.post_filter(result.state, result.queued.info, NodeStatuses())
            stuck = stuck or not status.reasons
        if stuck and plugin.group_claims and not scheduler.groups.placed_count(entry.key):
            release_group_claims(scheduler.store, entry.group, states)

    def _succeeded(self, entry: QueuedGroup, tried: list[Tried]) -> None:
        scheduler = self._scheduler
        for result in tried:
            if not result.node:
                scheduler.report_member(result.queued, result.message, failed=False)
                continue
            result.state.group = None
            problem = scheduler.take(result.queued, result.state, result.node)
            if problem:
                scheduler.report_member(result.queued, problem, failed=True)
            else:
                scheduler.start_binding(result.queued, result.state, result.node)
        self._set_condition(entry.group, "True", "Scheduled", "")

    def _set_condition(self, group: PodGroup, status: Literal["True", "False"], reason: str, message: str) -> None:
        """Note in the status of the group how it went; what was once scheduled stays so."""
        store = self._scheduler.store
        current = store.get(PodGroup, group.metadata.namespace, group.metadata.name)
        if current is None or current.metadata.uid != group.metadata.uid:
            return
        known = next((each for each in current.status.conditions if each.type == INITIALLY_SCHEDULED), None)
        if known is not None and known.status == "True" and status != "True":
            return
        now = format_time(store.events.now)
        new = Condition(
            type=INITIALLY_SCHEDULED,
            status=status,
            reason=reason,
            message=message,
            observed_generation=current.metadata.generation,
            last_transition_time=known.last_transition_time if known is not None and known.status == status else now,
        )
        if new == known:
            return
        others = tuple(each for each in current.status.conditions if each.type != INITIALLY_SCHEDULED)
        store.update_status(replace(current, status=replace(current.status, conditions=(*others, new))))


def progress(needed: int, placed: int, remaining: int) -> tuple[bool, str]:
    """Whether the group cannot reach its count any more, and what is still missing (nothing: an empty text)."""
    numbers = f"{placed} scheduled, {remaining} remaining"
    if placed + remaining < needed:
        return True, f"minCount ({needed}) cannot be satisfied: {numbers}"
    if placed < needed:
        return False, f"minCount ({needed}) is not yet satisfied: {numbers}"
    return False, ""
