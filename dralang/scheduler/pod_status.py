"""What the scheduler reads of pods to know whether they are its business, and what it writes down about them.

Source: kubernetes pkg/scheduler/eventhandlers.go (assignedPod, responsibleForPod), schedule_one.go (updatePod).
"""

from dralang.api.pods import TERMINAL, Pod, PodCondition
from dralang.cluster.journal import JournalEntry
from dralang.cluster.store import ObjectStore, with_condition


def is_assigned(pod: Pod | None) -> bool:
    """Whether the pod takes room on a node."""
    return pod is not None and bool(pod.spec.node_name) and pod.status.phase not in TERMINAL


def is_queued(pod: Pod | None, scheduler_name: str) -> bool:
    """Whether the pod is for this scheduler to place."""
    return (
        pod is not None
        and not pod.spec.node_name
        and pod.status.phase not in TERMINAL
        and pod.spec.scheduler_name == scheduler_name
    )


class PodReports:
    """Writes to the journal and to the status of pods.

    Args:
        store: the API server.
        component: whose entries they are.
    """

    def __init__(self, store: ObjectStore, component: str) -> None:
        self._store = store
        self._component = component

    def note_pod(self, pod: Pod, reason: str, message: str, *related: str) -> None:
        """Note in the journal what happened to a pod."""
        meta, now = pod.metadata, self._store.events.now
        entry = JournalEntry(now, self._component, "Pod", meta.namespace, meta.name, reason, message, related)
        self._store.journal.record(entry)

    def write_waiting(self, pod: Pod, reason: str, message: str, nominated: str | None) -> None:
        """Write why a pod waits.

        Args:
            pod: as the API server has it.
            reason: of the condition.
            message: why.
            nominated: the node to which it is nominated, empty for none; None if that stays as it is.
        """
        self.note_pod(pod, "FailedScheduling", message)
        condition = PodCondition(type="PodScheduled", status="False", reason=reason, message=message)
        changes: dict[str, object] = {}
        if condition not in pod.status.conditions:
            changes["conditions"] = with_condition(pod.status.conditions, condition)
        if nominated is not None and nominated != pod.status.nominated_node_name:
            changes["nominated_node_name"] = nominated
        if changes:
            self._store.patch_status(Pod, pod.metadata.namespace, pod.metadata.name, **changes)
