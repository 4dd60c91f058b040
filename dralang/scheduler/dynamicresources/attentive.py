"""DynamicResources that hears of two more changes that may help the pods it refused.

Kubernetes does not listen for them: such pods wait for the flush of the queue, minutes later. With both quirks the
plugin is as upstream's.

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (EventsToRegister, v1.36.1 to
v1.38.0-beta.0).
"""

from dralang.allocator.profiles import AllocatorProfile
from dralang.features import FeatureGates
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.dynamicresources.plugin import DynamicResources
from dralang.scheduler.node_info import PodInfo

MAPPED = "mapped-resources-wake-nobody"
OPERATIONS = "node-operations-wake-nobody"


class HearsOfRoom(DynamicResources):
    """A pod that leaves its node makes room for what devices take of the node."""

    wakes_on = DynamicResources.wakes_on | {EventKind.ASSIGNED_POD_DELETED}

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """Also a pod that is gone."""
        return event.kind is EventKind.ASSIGNED_POD_DELETED or super().helps(event, info)


class HearsOfFeatures(DynamicResources):
    """A node that declares a feature can serve devices that need less of it."""

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """Also a node that declares something else."""
        return "declaredFeatures" in event.aspects or super().helps(event, info)


class HearsOfBoth(HearsOfRoom, HearsOfFeatures):
    """Listens for either."""


def kind_of(profile: AllocatorProfile, features: FeatureGates) -> type[DynamicResources]:
    """The plugin as the quirks of a profile have it."""
    room = features.enabled("DRANodeAllocatableResources") and not profile.has(MAPPED)
    declared = features.enabled("DRAOptionalNodeOperations") and not profile.has(OPERATIONS)
    if room:
        return HearsOfBoth if declared else HearsOfRoom
    return HearsOfFeatures if declared else DynamicResources
