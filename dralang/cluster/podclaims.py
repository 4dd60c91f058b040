"""Which claims a pod uses, and whether a claim is its own.

Source: k8s.io/dynamic-resource-allocation resourceclaim (Name, IsForPod, IsReservedForPod, BindTo, PodClaims).
"""

from collections.abc import Iterator

from msgspec import Struct

from dralang.api.allocation import ResourceClaimConsumerReference
from dralang.api.meta import OwnerReference
from dralang.api.pods import Pod, PodResourceClaim
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.workloads import PodGroup

FINALIZER = "resource.kubernetes.io/delete-protection"
POD_CLAIM_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
EXTENDED_RESOURCE_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
SCHEDULING_GROUP = "scheduling.k8s.io"


class ClaimName(Struct, frozen=True, gc=False):
    """What is known of the claim of one entry of `spec.resourceClaims`.

    Attributes:
        name: the name of the claim; None if the entry needs no claim.
        generated: whether it comes from a template, so that its owner must be checked.
        problem: why there is no name yet, empty otherwise.
    """

    name: str | None
    generated: bool = False
    problem: str = ""


def claim_name(pod: Pod, entry: PodResourceClaim) -> ClaimName:
    """The name of the claim that an entry stands for."""
    if entry.resource_claim_name is not None:
        return ClaimName(entry.resource_claim_name)
    if entry.resource_claim_template_name is None:
        where = f'pod "{pod.metadata.namespace}/{pod.metadata.name}"'
        return ClaimName(
            None, problem=f'{where}, spec.resourceClaim "{entry.name}": none of the supported fields are set'
        )
    for status in pod.status.resource_claim_statuses:
        if status.name == entry.name:
            return ClaimName(status.resource_claim_name, generated=True)
    where = f'pod "{pod.metadata.namespace}/{pod.metadata.name}"'
    return ClaimName(None, generated=True, problem=f"{where}: ResourceClaim not created yet")


def used_claim_names(pod: Pod) -> Iterator[str]:
    """The names of all claims of a pod that are known so far, the one for extended resources last."""
    for entry in pod.spec.resource_claims:
        name = entry.resource_claim_name
        if name:
            yield name
        elif name is None and entry.resource_claim_template_name is not None:
            made = [each.resource_claim_name for each in pod.status.resource_claim_statuses if each.name == entry.name]
            if made and made[0]:
                yield made[0]
    extended = pod.status.extended_resource_claim_status
    if extended is not None and extended.resource_claim_name:
        yield extended.resource_claim_name


def controller_of(claim: ResourceClaim) -> OwnerReference | None:
    """The owner that controls the claim."""
    for owner in claim.metadata.owner_references:
        if owner.controller:
            return owner
    return None


def ownership_problem(pod: Pod, claim: ResourceClaim, *, group_claims: bool = False) -> str:
    """Why a generated claim is not for this pod; empty if it is.

    Args:
        pod: the pod.
        claim: the claim.
        group_claims: whether claims of the pod's PodGroup count too (DRAWorkloadResourceClaims).
    """
    owner = controller_of(claim)
    if owner is not None and owner.uid == pod.metadata.uid:
        return ""
    group = pod.spec.scheduling_group
    prefix = (
        f"ResourceClaim {claim.metadata.namespace}/{claim.metadata.name} was not created for Pod "
        f"{pod.metadata.namespace}/{pod.metadata.name}"
    )
    if not group_claims or group is None or group.pod_group_name is None:
        return f"{prefix} (Pod is not owner)"
    if (
        owner is not None
        and owner.kind == "PodGroup"
        and owner.api_version.partition("/")[0] == SCHEDULING_GROUP
        and owner.name == group.pod_group_name
    ):
        return ""
    return f"{prefix} (neither Pod nor PodGroup {group.pod_group_name} is the owner)"


def pod_reference(pod: Pod) -> ResourceClaimConsumerReference:
    """The pod as a consumer of claims."""
    return ResourceClaimConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)


def group_reference(group: PodGroup) -> ResourceClaimConsumerReference:
    """The pod group as a consumer of claims."""
    return ResourceClaimConsumerReference(
        api_group=SCHEDULING_GROUP, resource="podgroups", name=group.metadata.name, uid=group.metadata.uid
    )


def consumer_of(pod: Pod, group: PodGroup | None, entry: PodResourceClaim) -> ResourceClaimConsumerReference:
    """Who reserves the claim of an entry: the group if it has the very same entry, else the pod."""
    if group is not None:
        for other in group.spec.resource_claims:
            if (
                other.name == entry.name
                and other.resource_claim_name == entry.resource_claim_name
                and other.resource_claim_template_name == entry.resource_claim_template_name
            ):
                return group_reference(group)
    return pod_reference(pod)


def is_reserved_for(pod: Pod, claim: ResourceClaim, *, group_claims: bool = False) -> bool:
    """Whether the claim is reserved for the pod, by itself or (DRAWorkloadResourceClaims) through its group."""
    uid = pod.metadata.uid
    group = pod.spec.scheduling_group
    for consumer in claim.status.reserved_for:
        if consumer.uid == uid:
            return True
        if (
            group_claims
            and group is not None
            and consumer.api_group == SCHEDULING_GROUP
            and consumer.resource == "podgroups"
            and consumer.name == group.pod_group_name
        ):
            return True
    return False
