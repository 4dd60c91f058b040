"""The claims of a pod: are they there, are they its own, and which change of a claim may help it?

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (foreachPodResourceClaim,
isSchedulableAfterClaimChange).
"""

from dralang.api.pods import Pod, PodResourceClaim
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.podclaims import claim_name, ownership_problem
from dralang.scheduler.cluster_event import ClusterEvent
from dralang.scheduler.dynamicresources.manager import DRAManager


def pod_claims(pod: Pod, manager: DRAManager, *, group_claims: bool) -> list[ResourceClaim] | str:
    """The claims of `spec.resourceClaims` in order, or why they cannot be used.

    A claim that is named twice is there twice: a fault that `claim-named-twice-counts-twice` stands for.
    """
    result: list[ResourceClaim] = []
    namespace = pod.metadata.namespace
    for entry in pod.spec.resource_claims:
        found = claim_name(pod, entry)
        if found.problem:
            return found.problem
        if found.name is None:
            continue
        claim = manager.claim(namespace, found.name)
        if claim is None:
            return f'could not find ResourceClaim "{namespace}/{found.name}"'
        if claim.metadata.deletion_timestamp is not None:
            return f'resourceclaim "{found.name}" is being deleted'
        if found.generated:
            problem = ownership_problem(pod, claim, group_claims=group_claims)
            if problem:
                return problem
        result.append(claim)
    return result if manager.counts_twice else list({claim.metadata.uid: claim for claim in result}.values())


def claim_entries(pod: Pod, manager: DRAManager) -> list[PodResourceClaim]:
    """The entries of `spec.resourceClaims` that the claims of `pod_claims` are for, in the same order."""
    entries = [entry for entry in pod.spec.resource_claims if claim_name(pod, entry).name]
    if manager.counts_twice:
        return entries
    first: dict[str | None, PodResourceClaim] = {}
    for entry in entries:
        first.setdefault(claim_name(pod, entry).name, entry)
    return list(first.values())


def _can_use(pod: Pod, claim: ResourceClaim) -> bool:
    """Whether the claim can be one of the pod's at all; quick, as a backlog of pods asks it for every claim made."""
    if pod.metadata.namespace != claim.metadata.namespace:
        return False
    name = claim.metadata.name
    for status in pod.status.resource_claim_statuses:
        if status.resource_claim_name == name:
            return True
    return any(entry.resource_claim_name == name for entry in pod.spec.resource_claims)


def claim_change_helps(event: ClusterEvent, pod: Pod, manager: DRAManager, *, group_claims: bool) -> bool:
    """Whether a change of any claim may make the pod schedulable."""
    old: ResourceClaim | None = event.old
    new: ResourceClaim | None = event.new
    if new is None:
        return old is not None and old.status.allocation is not None
    freed = old is not None and old.status.allocation is not None and new.status.allocation is None
    if not freed and not _can_use(pod, new):
        return False
    claims = pod_claims(pod, manager, group_claims=group_claims)
    if isinstance(claims, str):
        return False
    if freed:
        return True
    if all(claim.metadata.uid != new.metadata.uid for claim in claims):
        return False
    return old is None or old.status != new.status
