"""Where pods wait: the active queue, two kinds of backoff, and the pool of those that only a change can help.

Source: kubernetes pkg/scheduler/backend/queue (scheduling_queue.go, backoff_queue.go).
"""

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Literal, NamedTuple, TypeAlias

from dralang.api.pods import Pod
from dralang.cluster.clock import EventQueue, Phase, Timer
from dralang.scheduler.cluster_event import WILDCARD, ClusterEvent, EventKind
from dralang.scheduler.framework import Status
from dralang.scheduler.node_info import PodInfo
from dralang.scheduler.settings import SchedulerSettings

SECOND = 1000
UNSCHEDULABLE_TIMEOUT = 5 * 60 * SECOND
UNSCHEDULABLE_FLUSH = 30 * SECOND
# Looked up once: before Python 3.12 a member of an enumeration costs as much as a call.
_CLAIM_CHANGED = EventKind.CLAIM_CHANGED

Place: TypeAlias = Literal["active", "backoff", "error-backoff", "unschedulable", "in-flight", "gone"]


class QueueSettings(NamedTuple):
    """How the queue behaves.

    Attributes:
        initial_backoff: wait after the first failure, in milliseconds.
        max_backoff: longest wait; 0 turns backoff off.
        pop_from_backoff: an idle scheduler takes pods out of backoff early (SchedulerPopFromBackoffQ).
        passes_over: pods that a change cannot help are known beforehand from their claims.
    """

    initial_backoff: int = SECOND
    max_backoff: int = 10 * SECOND
    pop_from_backoff: bool = True
    passes_over: bool = True

    @staticmethod
    def of(settings: SchedulerSettings, *, pop_from_backoff: bool) -> "QueueSettings":
        """What the settings of the scheduler say of its queue."""
        passes_over = settings.memory != "none"
        return QueueSettings(settings.initial_backoff, settings.max_backoff, pop_from_backoff, passes_over)


class QueuedEntity:
    """A pod, or a group of pods, on its way to nodes. Only the scheduling queue changes it.

    Attributes:
        sequence: its place among all pods that ever came, which decides ties.
        timestamp: when it was queued last.
        attempts: how often it was tried.
        unschedulable_count: how often it was rejected.
        error_count: how many attempts in a row ended in an error.
        rejectors: the plugins that rejected it last, and the one that gates it.
        gated_by: the plugin that keeps it from being tried at all, empty if none.
        backoff_end: when its backoff is over, None while it is not known.
        place: where it is.
        changes: how much the cluster had changed when it was tried last.
        arrival: its place among those that came into the pool.
        listed: under which plugins and claims the pool knows it.
    """

    __slots__ = (
        "arrival",
        "attempts",
        "backoff_end",
        "changes",
        "error_count",
        "gated_by",
        "listed",
        "place",
        "rejectors",
        "sequence",
        "since",
        "timer",
        "timestamp",
        "unschedulable_count",
    )

    def __init__(self, sequence: int, now: int) -> None:
        self.sequence = sequence
        self.timestamp = now
        self.since = now
        self.attempts = 0
        self.unschedulable_count = 0
        self.error_count = 0
        self.rejectors: frozenset[str] = frozenset()
        self.gated_by = ""
        self.backoff_end: int | None = None
        self.place: Place = "gone"
        self.changes = 0
        self.timer: Timer | None = None
        self.arrival = 0
        self.listed: tuple[frozenset[str], frozenset[tuple[str, str]]] = (frozenset(), frozenset())

    @property
    def uid(self) -> str:
        """The UID of the pod or group."""
        raise NotImplementedError

    @property
    def priority(self) -> int:
        """Its priority."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many pods it stands for."""
        return 1

    def order(self) -> tuple[int, int, int]:
        """The order of the active queue: higher priority, then earlier, then first come."""
        return (-self.priority, self.timestamp, self.sequence)


class QueuedPod(QueuedEntity):
    """A pod on its way to a node.

    Attributes:
        info: the pod.
    """

    __slots__ = ("info",)

    def __init__(self, info: PodInfo, sequence: int, now: int) -> None:
        super().__init__(sequence, now)
        self.info = info

    @property
    def uid(self) -> str:
        """The UID of the pod."""
        return self.info.uid

    @property
    def priority(self) -> int:
        """The priority of the pod."""
        return self.info.priority

    @property
    def pod(self) -> Pod:
        """The pod."""
        return self.info.pod


def _claim_of_users(event: ClusterEvent) -> tuple[str, str] | None:
    """The claim of a change that can help nobody but the users of the claim; None for other changes."""
    if event.kind is not _CLAIM_CHANGED or event.new is None:
        return None
    if event.old is not None and event.old.status.allocation is not None and event.new.status.allocation is None:
        return None
    meta = event.new.metadata
    return meta.namespace, meta.name


_ANY_CLAIM = frozenset([("", "")])
"""What a group is listed under, whose members may use any claim."""


class Pool:
    """The pods that only a change can help, found by what can help them.

    A backlog is thousands of pods, and most changes concern a few of them: so it is indexed by the plugins that
    rejected a pod and by the claims that it uses. What is found comes in the order in which the pods came.
    """

    def __init__(self) -> None:
        self._by_plugin: dict[str, dict[str, QueuedEntity]] = {}
        self._by_claim: dict[tuple[str, str], dict[str, QueuedEntity]] = {}
        self._came = 0
        self._count = 0

    @property
    def is_empty(self) -> bool:
        """Whether nobody waits for a change."""
        return not self._count

    def add(self, queued: QueuedEntity) -> None:
        """A pod came."""
        self._count += 1
        self._came += 1
        queued.arrival = self._came
        self._list(queued)

    def remove(self, queued: QueuedEntity) -> None:
        """A pod left."""
        self._count -= 1
        self._unlist(queued)

    def _unlist(self, queued: QueuedEntity) -> None:
        uid = queued.uid
        plugins, claims = queued.listed
        for plugin in plugins:
            del self._by_plugin[plugin][uid]
        for claim in claims:
            del self._by_claim[claim][uid]
            if not self._by_claim[claim]:
                del self._by_claim[claim]

    def changed(self, queued: QueuedEntity) -> None:
        """Something about a pod changed: its claims, or who rejected it."""
        if queued.listed != self._wanted(queued):
            self._unlist(queued)
            self._list(queued)

    @staticmethod
    def _wanted(queued: QueuedEntity) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
        return queued.rejectors, queued.info.claims if isinstance(queued, QueuedPod) else _ANY_CLAIM

    def _list(self, queued: QueuedEntity) -> None:
        queued.listed = self._wanted(queued)
        uid = queued.uid
        plugins, claims = queued.listed
        for plugin in plugins:
            self._by_plugin.setdefault(plugin, {})[uid] = queued
        for claim in claims:
            self._by_claim.setdefault(claim, {})[uid] = queued

    def users(self, claim: tuple[str, str]) -> list[QueuedEntity]:
        """The pods that use a claim, and all groups."""
        found: dict[str, QueuedEntity] = {}
        for each in (claim, *_ANY_CLAIM):
            found.update(self._by_claim.get(each, {}))
        return _in_order(found)

    def everybody(self) -> list[QueuedEntity]:
        """All pods that some plugin rejected."""
        return self.rejected_by(self._by_plugin)

    def rejected_by(self, plugins: Iterable[str]) -> list[QueuedEntity]:
        """The pods that one of these plugins rejected."""
        found: dict[str, QueuedEntity] = {}
        for plugin in plugins:
            found.update(self._by_plugin.get(plugin, {}))
        return _in_order(found)


def _in_order(found: dict[str, QueuedEntity]) -> list[QueuedEntity]:
    return sorted(found.values(), key=lambda queued: queued.arrival) if len(found) > 1 else list(found.values())


Gate: TypeAlias = Callable[[QueuedEntity], Status]
Helps: TypeAlias = Callable[[str, ClusterEvent, QueuedEntity], bool]


class SchedulingQueue:
    """All pods without a node. Only the scheduler changes it.

    Args:
        events: the clock.
        component: whose entries the timers are.
        settings: backoff.
        gate: runs the PreEnqueue plugins.
        helps: whether an event may help a pod that the named plugin rejected.
        wake: told whenever there is a pod to try.
        listeners: the plugins that `helps` can say yes for on an event of a kind.
    """

    def __init__(
        self,
        events: EventQueue,
        component: str,
        settings: QueueSettings,
        gate: Gate,
        helps: Helps,
        wake: Callable[[], None],
        listeners: Callable[[EventKind], Sequence[str]],
    ) -> None:
        self._events = events
        self._component = component
        self._settings = settings
        self._gate = gate
        self._helps = helps
        self._wake = wake
        self._listeners = listeners
        self._pods: dict[str, QueuedEntity] = {}
        self._active: list[tuple[int, int, int, QueuedEntity]] = []
        self._backoff: list[tuple[int, tuple[int, int, int], QueuedEntity]] = []
        self._unschedulable = Pool()
        self._failed: dict[str, QueuedEntity] = {}
        self._came = 0
        self.changes = 0
        """How many changes the scheduler has heard of."""

    def get(self, uid: str) -> QueuedPod | None:
        """The entry of a pod, also while it is being tried or bound."""
        found = self._pods.get(uid)
        return found if isinstance(found, QueuedPod) else None

    def next_sequence(self) -> int:
        """A place behind all that came so far."""
        self._came += 1
        return self._came

    # In and out.

    def add(self, info: PodInfo) -> None:
        """A pod came."""
        self.add_entity(QueuedPod(info, self.next_sequence(), self._events.now))

    def add_entity(self, queued: QueuedEntity) -> None:
        """Something came that wants to be tried."""
        self._pods[queued.uid] = queued
        queued.changes = self.changes
        self._to_active(queued)

    def release(self, uid: str, plugin: str) -> None:
        """A plugin no longer holds a pod back: if that is what kept it, try it."""
        queued = self._pods.get(uid)
        if queued is not None and queued.gated_by == plugin:
            self.reconsider(queued)

    def reconsider(self, queued: QueuedEntity) -> None:
        """What held back a gated entry may be gone."""
        if queued.place == "unschedulable" and queued.gated_by:
            self._consider(queued, WILDCARD)

    def grew(self, queued: QueuedEntity) -> None:
        """An entry stands for one more pod, which may hold back all of them, or be what they have waited for."""
        if queued.place == "unschedulable":
            self.reconsider(queued)
        elif queued.place != "in-flight":
            self._passes_gate(queued)

    def update(self, info: PodInfo, event: ClusterEvent) -> None:
        """A waiting pod changed; that may be what helps it."""
        queued = self.get(info.uid)
        if queued is None:
            self.add(info)
            return
        queued.info = info
        if queued.place == "unschedulable":
            self._unschedulable.changed(queued)
            self._consider(queued, event)

    def delete(self, uid: str) -> QueuedEntity | None:
        """A pod is gone or has a node."""
        queued = self._pods.pop(uid, None)
        if queued is not None:
            self._leave(queued)
            queued.place = "gone"
        return queued

    def pop(self) -> QueuedEntity | None:
        """The next pod to try; one in backoff only if nothing else waits."""
        while self._active:
            queued = heappop(self._active)[3]
            if queued.place == "active":
                return self._start_attempt(queued)
        if self._settings.pop_from_backoff:
            while self._backoff:
                queued = heappop(self._backoff)[2]
                if queued.place == "backoff":
                    return self._start_attempt(queued)
        return None

    def _start_attempt(self, queued: QueuedEntity) -> QueuedEntity:
        self._leave(queued)
        queued.place = "in-flight"
        queued.attempts += 1
        queued.changes = self.changes
        return queued

    def has_work(self) -> bool:
        """Whether `pop` would give a pod."""
        while self._active and self._active[0][3].place != "active":
            heappop(self._active)
        if self._active:
            return True
        while self._backoff and self._backoff[0][2].place != "backoff":
            heappop(self._backoff)
        return bool(self._backoff) and self._settings.pop_from_backoff

    def put_back(self, queued: QueuedEntity, rejectors: frozenset[str]) -> None:
        """An attempt failed: rejected by plugins, or, without any, by an error."""
        if queued.place == "gone":
            return
        queued.rejectors = rejectors
        queued.timestamp = queued.since = self._events.now
        queued.backoff_end = None
        if rejectors:
            queued.unschedulable_count += 1
            queued.error_count = 0
            self._to_pool(queued)
        else:
            queued.error_count += 1
            self._to_backoff(queued)

    def put_back_group(
        self, queued: QueuedEntity, outcome: Literal["done", "rejected", "failed"], *, keeps: bool
    ) -> None:
        """A group was tried and some of its pods still wait: never for a change, only for its backoff.

        Args:
            queued: the group.
            outcome: whether the group as such was scheduled.
            keeps: whether it keeps its place in the order of time.
        """
        if queued.place == "gone":
            return
        queued.rejectors = frozenset()
        if not keeps:
            queued.timestamp = queued.since = self._events.now
        if outcome == "done":
            queued.error_count = queued.unschedulable_count = 0
            self._to_active(queued)
            return
        if outcome == "rejected":
            queued.unschedulable_count += 1
            queued.error_count = 0
        else:
            queued.error_count += 1
        queued.backoff_end = None
        self._to_backoff(queued)

    # What a change does.

    def move(self, event: ClusterEvent, admits: Callable[[QueuedEntity], bool] | None = None) -> None:
        """A change happened: try again the pods that it may help."""
        self.changes += 1
        if self._unschedulable.is_empty and not self._failed:
            return
        claim = _claim_of_users(event)
        if not self._settings.passes_over:
            pool = self._unschedulable.everybody()
        elif claim is not None:
            pool = self._unschedulable.users(claim)
        else:
            pool = self._unschedulable.rejected_by(self._listeners(event.kind))
        for queued in pool:
            if admits is None or admits(queued):
                self._consider(queued, event)
        for queued in self._failed.values():
            if queued.timer is not None:
                self._events.bring_near(queued.timer)

    def activate(self, uid: str) -> None:
        """Try a pod again whatever it waits for."""
        queued = self._pods.get(uid)
        if queued is not None and queued.place == "unschedulable":
            self._consider(queued, WILDCARD)

    def _consider(self, queued: QueuedEntity, event: ClusterEvent) -> None:
        if event is not WILDCARD:
            if queued.gated_by:
                if not self._helps(queued.gated_by, event, queued):
                    return
            elif not any(self._helps(plugin, event, queued) for plugin in sorted(queued.rejectors)):
                return
        if self._is_backing_off(queued):
            self._to_backoff(queued)
        else:
            self._to_active(queued)

    # The places.

    def _leave(self, queued: QueuedEntity) -> None:
        if queued.timer is not None:
            queued.timer.cancel()
            queued.timer = None
        if queued.place == "unschedulable":
            self._unschedulable.remove(queued)
        elif queued.place == "error-backoff":
            del self._failed[queued.uid]

    def _passes_gate(self, queued: QueuedEntity) -> bool:
        status = self._gate(queued)
        if status.is_success:
            queued.gated_by = ""
            return True
        queued.gated_by = status.plugin
        queued.rejectors |= {status.plugin}
        if queued.place == "unschedulable":
            self._unschedulable.changed(queued)
        else:
            self._to_pool(queued)
        return False

    def _to_active(self, queued: QueuedEntity) -> None:
        if queued.place not in ("backoff", "error-backoff") and not self._passes_gate(queued):
            return
        self._leave(queued)
        queued.place = "active"
        queued.backoff_end = None
        heappush(self._active, (*queued.order(), queued))
        self._wake()

    def _to_pool(self, queued: QueuedEntity) -> None:
        self._leave(queued)
        queued.place = "unschedulable"
        self._unschedulable.add(queued)
        due = queued.since + UNSCHEDULABLE_TIMEOUT
        tick = (due // UNSCHEDULABLE_FLUSH + 1) * UNSCHEDULABLE_FLUSH
        queued.timer = self._schedule(tick, self._flush, queued)

    def _flush(self, queued: QueuedEntity) -> None:
        if queued.place != "unschedulable":
            return
        queued.since = self._events.now
        self._consider(queued, WILDCARD)
        if queued.place == "unschedulable":
            self._to_pool(queued)

    def _to_backoff(self, queued: QueuedEntity) -> None:
        if self._settings.pop_from_backoff and not self._passes_gate(queued):
            return
        self._leave(queued)
        end = self._backoff_end(queued)
        if queued.rejectors:
            queued.place = "backoff"
            heappush(self._backoff, (end, queued.order(), queued))
            if self._settings.pop_from_backoff:
                self._wake()
                return
            queued.timer = self._schedule(self._release_time(end), self._release, queued, far=False)
        else:
            queued.place = "error-backoff"
            self._failed[queued.uid] = queued
            # Nobody waits for a retry that nothing can have made any better.
            far = queued.changes == self.changes
            queued.timer = self._schedule(self._release_time(end), self._release, queued, far=far)

    def _release(self, queued: QueuedEntity) -> None:
        self._to_active(queued)

    def _schedule(
        self, time: int, action: Callable[[QueuedEntity], None], queued: QueuedEntity, *, far: bool = True
    ) -> Timer:
        delay = max(0, time - self._events.now)
        return self._events.schedule(Phase.SCHEDULER_EVENT, self._component, action, queued, delay=delay, far=far)

    # Backoff.

    def _backoff_end(self, queued: QueuedEntity) -> int:
        """When the backoff is over; 0 if there is none."""
        count = queued.error_count or queued.unschedulable_count
        if count == 0 or self._settings.max_backoff == 0:
            return 0
        if queued.backoff_end is None:
            longest = int(self._settings.max_backoff * queued.size**0.5)
            duration = min(self._settings.initial_backoff << min(count - 1, 40), longest)
            end = queued.timestamp + duration
            queued.backoff_end = end // SECOND * SECOND if self._settings.pop_from_backoff else end
        return queued.backoff_end

    def _is_backing_off(self, queued: QueuedEntity) -> bool:
        now = self._events.now
        if self._settings.pop_from_backoff:
            now = now // SECOND * SECOND
        return self._backoff_end(queued) >= now and self._backoff_end(queued) > 0

    @staticmethod
    def _release_time(end: int) -> int:
        """The first whole second at which the backoff is over."""
        return (end // SECOND + 1) * SECOND
