"""Pods that are scheduled together: which groups there are, who belongs to them, and who of them waits.

Source: kubernetes pkg/scheduler/backend/queue/scheduling_queue.go (pod group members),
pkg/scheduler/framework/plugins/gangscheduling.
"""

from dralang.api.pods import TERMINAL, Pod
from dralang.api.workloads import PodGroup
from dralang.cluster.clock import EventQueue
from dralang.scheduler.framework import SUCCESS, Code, Plugin, Status
from dralang.scheduler.node_info import PodInfo
from dralang.scheduler.queue import QueuedEntity, QueuedPod, SchedulingQueue

GroupKey = tuple[str, str]


def group_key(pod: Pod) -> GroupKey | None:
    """Namespace and name of the group of a pod, None if it has none."""
    group = pod.spec.scheduling_group
    if group is None or not group.pod_group_name:
        return None
    return pod.metadata.namespace, group.pod_group_name


def min_count(group: PodGroup) -> int:
    """How many members must run together."""
    gang = group.spec.scheduling_policy.gang
    return gang.min_count if gang is not None else 1


class QueuedGroup(QueuedEntity):
    """A group with the members that wait.

    Attributes:
        group: the group.
        members: by UID.
    """

    __slots__ = ("group", "members")

    def __init__(self, group: PodGroup, sequence: int, now: int) -> None:
        super().__init__(sequence, now)
        self.group = group
        self.members: dict[str, QueuedPod] = {}

    @property
    def uid(self) -> str:
        """The UID of the group."""
        return self.group.metadata.uid

    @property
    def priority(self) -> int:
        """The priority of the group, 0 if it has none."""
        return self.group.spec.priority or 0

    @property
    def size(self) -> int:
        """How many members wait."""
        return max(1, len(self.members))

    @property
    def key(self) -> GroupKey:
        """Namespace and name of the group."""
        return self.group.metadata.namespace, self.group.metadata.name

    def ordered(self) -> list[QueuedPod]:
        """The members in the order in which they are tried."""
        return sorted(self.members.values(), key=lambda each: each.order())


class PodGroups:
    """All groups and their members. Only the scheduler changes it.

    Args:
        queue: where groups wait to be tried.
        events: the clock.
        enabled: whether pods belong to groups at all (GenericWorkload).
    """

    def __init__(self, queue: SchedulingQueue, events: EventQueue, *, enabled: bool) -> None:
        self._queue = queue
        self._events = events
        self.enabled = enabled
        self._groups: dict[GroupKey, PodGroup] = {}
        self._entries: dict[GroupKey, QueuedGroup] = {}
        self._waiting: dict[GroupKey, dict[str, QueuedPod]] = {}
        self._all: dict[GroupKey, dict[str, Pod]] = {}
        self._placed: dict[GroupKey, dict[str, None]] = {}

    def is_member(self, pod: Pod) -> bool:
        """Whether the pod is scheduled as a member of a group."""
        return self.enabled and group_key(pod) is not None

    def get(self, uid: str, pod: Pod) -> QueuedPod | None:
        """The entry of a member."""
        key = group_key(pod)
        if key is None:
            return None
        entry = self._entries.get(key)
        found = entry.members.get(uid) if entry is not None else None
        return found if found is not None else self._waiting.get(key, {}).get(uid)

    def group(self, key: GroupKey) -> PodGroup | None:
        """A group that exists."""
        return self._groups.get(key)

    def member_count(self, key: GroupKey) -> int:
        """How many members there are, whatever their state."""
        return len(self._all.get(key, ()))

    def placed_count(self, key: GroupKey) -> int:
        """How many members have a node, if only in the scheduler's mind."""
        return len(self._placed.get(key, ()))

    def placed_members(self, key: GroupKey) -> list[Pod]:
        """The members that have a node."""
        members = self._all.get(key, {})
        return [members[uid] for uid in self._placed.get(key, ()) if uid in members]

    # What the informers see.

    def observe(self, pod: Pod | None, uid: str, key: GroupKey) -> None:
        """Note that a member exists, or, without a pod, that it is gone."""
        if pod is None or pod.status.phase in TERMINAL:
            self._all.get(key, {}).pop(uid, None)
            self._placed.get(key, {}).pop(uid, None)
            return
        is_new = uid not in self._all.setdefault(key, {})
        self._all[key][uid] = pod
        if pod.spec.node_name:
            self._placed.setdefault(key, {})[uid] = None
        if is_new:
            self._reconsider(key)

    def assume(self, pod: Pod) -> None:
        """The scheduler chose a node for a member."""
        key = group_key(pod)
        if key is not None:
            self._placed.setdefault(key, {})[pod.metadata.uid] = None

    def forget(self, pod: Pod) -> None:
        """The scheduler gave the node of a member up again."""
        key = group_key(pod)
        if key is not None:
            self._placed.get(key, {}).pop(pod.metadata.uid, None)

    def set_group(self, old: PodGroup | None, new: PodGroup | None) -> None:
        """A group was added, changed or deleted."""
        if old is not None and (new is None or new.metadata.uid != old.metadata.uid):
            key = (old.metadata.namespace, old.metadata.name)
            self._groups.pop(key, None)
            entry = self._entries.pop(key, None)
            if entry is not None:
                self._queue.delete(entry.uid)
                self._waiting.setdefault(key, {}).update(entry.members)
        if new is not None:
            key = (new.metadata.namespace, new.metadata.name)
            self._groups[key] = new
            entry = self._entries.get(key)
            if entry is not None:
                entry.group = new
            for queued in self._waiting.pop(key, {}).values():
                self._join(key, queued)
            self._reconsider(key)

    def add(self, info: PodInfo, key: GroupKey) -> None:
        """A member came that wants a node."""
        queued = QueuedPod(info, self._queue.next_sequence(), self._events.now)
        self.put_back(queued, key)

    def put_back(self, queued: QueuedPod, key: GroupKey) -> None:
        """A member waits (again)."""
        queued.place = "unschedulable"
        if key not in self._groups:
            self._waiting.setdefault(key, {})[queued.uid] = queued
        else:
            self._join(key, queued)

    def _join(self, key: GroupKey, queued: QueuedPod) -> None:
        entry = self._entries.get(key)
        if entry is not None and entry.place == "in-flight":
            self._waiting.setdefault(key, {})[queued.uid] = queued
            return
        if entry is None:
            entry = QueuedGroup(self._groups[key], self._queue.next_sequence(), self._events.now)
            entry.members[queued.uid] = queued
            self._entries[key] = entry
            self._queue.add_entity(entry)
            return
        entry.members[queued.uid] = queued
        self._queue.grew(entry)

    def update(self, info: PodInfo, key: GroupKey) -> None:
        """A waiting member changed; that may be what held the group back."""
        queued = self.get(info.uid, info.pod)
        if queued is not None:
            queued.info = info
            self._reconsider(key)

    def delete(self, uid: str, key: GroupKey) -> None:
        """A member no longer waits."""
        waiting = self._waiting.get(key, {}).pop(uid, None)
        if waiting is not None:
            waiting.place = "gone"
        entry = self._entries.get(key)
        member = entry.members.pop(uid, None) if entry is not None else None
        if member is not None and entry is not None:
            member.place = "gone"
            if not entry.members and entry.place != "in-flight":
                self._queue.delete(entry.uid)
                del self._entries[key]
            else:
                self._queue.reconsider(entry)

    def _reconsider(self, key: GroupKey) -> None:
        entry = self._entries.get(key)
        if entry is not None:
            self._queue.reconsider(entry)

    # An attempt.

    def take_members(self, entry: QueuedGroup) -> list[QueuedPod]:
        """Begin an attempt: the members in order; whoever comes back waits for the next one."""
        members = entry.ordered()
        entry.members.clear()
        return members

    def finish_attempt(self, entry: QueuedGroup, tried: list[QueuedPod]) -> bool:
        """End an attempt; return whether some members still wait, so that the group must be put back.

        INVARIANT: called before the group is put back into the queue.
        """
        waiting = self._waiting.pop(entry.key, {})
        if not waiting:
            self._entries.pop(entry.key, None)
            self._queue.delete(entry.uid)
            return False
        entry.members.update(waiting)
        return True

    def still_waits(self, entry: QueuedGroup, tried: list[QueuedPod]) -> bool:
        """Whether a member that was tried is among those that wait."""
        return any(queued.uid in entry.members for queued in tried)


class GangScheduling(Plugin):
    """A gang is not tried before enough of its members exist."""

    name = "GangScheduling"

    def __init__(self, groups: PodGroups) -> None:
        self._groups = groups

    def pre_enqueue(self, pod: Pod) -> Status:
        """The group exists and has enough members."""
        key = group_key(pod)
        if key is None or not self._groups.enabled:
            return SUCCESS
        group = self._groups.group(key)
        if group is None:
            text = f'waiting for pods\'s pod group "{key[1]}" to appear in scheduling queue'
            return Status(Code.UNRESOLVABLE, text)
        if self._groups.member_count(key) < min_count(group):
            text = "waiting for minCount pods from a gang to appear in scheduling queue"
            return Status(Code.UNRESOLVABLE, text)
        return SUCCESS
