"""Pods that somebody holds back on purpose.

Source: kubernetes pkg/scheduler/framework/plugins/schedulinggates.
"""

from dralang.api.pods import Pod
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.framework import SUCCESS, Code, Plugin, Status
from dralang.scheduler.node_info import PodInfo


class SchedulingGates(Plugin):
    """A pod with scheduling gates is not tried."""

    name = "SchedulingGates"

    def pre_enqueue(self, pod: Pod) -> Status:
        """No gate is left."""
        if not pod.spec.scheduling_gates:
            return SUCCESS
        gates = " ".join(gate.name for gate in pod.spec.scheduling_gates)
        return Status(Code.UNRESOLVABLE, f"waiting for scheduling gates: [{gates}]")

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """The last gate is gone."""
        return event.kind is EventKind.TARGET_POD_UPDATED and not event.new.spec.scheduling_gates
