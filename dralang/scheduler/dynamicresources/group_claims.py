"""Claims of a pod group: given up when the group cannot be placed with them.

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (deallocatePodGroupClaims).
"""

from collections.abc import Iterable

from msgspec.structs import replace

from dralang.api.resourceclaim import ResourceClaim
from dralang.api.workloads import PodGroup
from dralang.cluster.podclaims import SCHEDULING_GROUP
from dralang.cluster.store import ObjectStore
from dralang.scheduler.dynamicresources.cycle_data import StateData


def release_group_claims(store: ObjectStore, group: PodGroup, states: Iterable[StateData]) -> str:
    """Deallocate one claim that no node accepts, or else take the group off one claim; return what was done."""
    seen = list(states)
    for data in seen:
        for index in sorted(data.unavailable):
            claim = data.claims[index]
            if all(user.uid == group.metadata.uid for user in claim.status.reserved_for):
                status = replace(claim.status, reserved_for=(), allocation=None, devices=())
                store.update_status(replace(claim, status=status))
                return "deallocation of PodGroup ResourceClaim completed"
    for data in seen:
        for claim in data.claims:
            if claim.status.allocation is not None and _is_reserved(claim, group):
                remaining = tuple(user for user in claim.status.reserved_for if user.uid != group.metadata.uid)
                store.update_status(replace(claim, status=replace(claim.status, reserved_for=remaining)))
                return "ResourceClaim unreserved for PodGroup"
    return ""


def _is_reserved(claim: ResourceClaim, group: PodGroup) -> bool:
    return any(
        user.api_group == SCHEDULING_GROUP and user.uid == group.metadata.uid for user in claim.status.reserved_for
    )
