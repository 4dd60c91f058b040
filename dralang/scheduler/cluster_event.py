"""What changed in the cluster, in the terms in which plugins say what may help a rejected pod.

Source: k8s.io/kube-scheduler framework (ClusterEvent), kubernetes pkg/scheduler/framework/events.go.
"""

from enum import Enum
from typing import Any

from msgspec import Struct

from dralang.api.nodes import Node


class EventKind(Enum):
    """The kinds of change that plugins can ask to be told about."""

    NODE_ADDED = "NodeAdd"
    NODE_DELETED = "NodeDelete"
    NODE_UPDATED = "NodeUpdate"
    ASSIGNED_POD_ADDED = "AssignedPodAdd"
    ASSIGNED_POD_UPDATED = "AssignedPodUpdate"
    ASSIGNED_POD_DELETED = "AssignedPodDelete"
    TARGET_POD_UPDATED = "TargetPodUpdate"
    CLAIM_CHANGED = "ResourceClaimChange"
    CLASS_CHANGED = "DeviceClassAddOrUpdate"
    SLICE_CHANGED = "ResourceSliceAddOrUpdate"
    WILDCARD = "ForceActivate"


class ClusterEvent(Struct, frozen=True, gc=False):
    """One change.

    Attributes:
        kind: what changed.
        old: the object before, None if it is new.
        new: the object after, None if it is gone.
        aspects: of a changed node: which parts changed (`labels`, `taints`, `allocatable`, `declaredFeatures`).
    """

    kind: EventKind
    old: Any = None
    new: Any = None
    aspects: frozenset[str] = frozenset()


WILDCARD = ClusterEvent(EventKind.WILDCARD)


def node_aspects(old: Node, new: Node) -> frozenset[str]:
    """Which parts of a node changed that a plugin can ask for; a cordon counts as a change of taints."""
    changed = set()
    if old.metadata.labels != new.metadata.labels:
        changed.add("labels")
    if old.spec.taints != new.spec.taints or old.spec.unschedulable != new.spec.unschedulable:
        changed.add("taints")
    if old.status.allocatable != new.status.allocatable:
        changed.add("allocatable")
    if old.status.declared_features != new.status.declared_features:
        changed.add("declaredFeatures")
    return frozenset(changed)
