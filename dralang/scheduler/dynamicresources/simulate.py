"""What other pods would change: victims that leave a node, and nominated pods that are to come.

`RemovePod` and `AddPod` work on a clone of the cycle's state; nothing else changes.

Source: KEP-5690, Preemption simulation; Holding capacity for the preemptor.
"""

from collections.abc import Iterable

from dralang.allocator.inventory import Inventory
from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.podclaims import claim_name, ownership_problem
from dralang.cluster.store import ObjectStore
from dralang.readings import OTHER_CLAIMS_RELEASED, TERMINATING_USERS_RELEASE
from dralang.scheduler.dynamicresources.cycle_data import StateData
from dralang.scheduler.dynamicresources.extended_resources import special_uid
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.dynamicresources.nominations import ClaimNomination


def in_group(pod: Pod) -> bool:
    """Whether the pod belongs to a PodGroup, whose preemption is another one."""
    group = pod.spec.scheduling_group
    return group is not None and group.pod_group_name is not None


class Simulator:
    """Applies pods to the state of a cycle.

    Args:
        store: for pods that are going.
        manager: what is allocated.
        group_claims: whether claims of PodGroups exist.
        readings: of the KEP, where there are two.
    """

    def __init__(
        self, store: ObjectStore, manager: DRAManager, *, group_claims: bool, readings: frozenset[str] = frozenset()
    ) -> None:
        self._store = store
        self._manager = manager
        self._group_claims = group_claims
        self._ignores_terminating = TERMINATING_USERS_RELEASE in readings
        self._frees_named = OTHER_CLAIMS_RELEASED in readings

    # Victims.

    def remove(self, data: StateData, preemptor: Pod, victim: Pod) -> None:
        """A victim leaves: its claims that nobody else needs are free."""
        effects = data.effects
        if effects is None or not self.can_preempt(data, preemptor):
            return
        uid = victim.metadata.uid
        for claim in self.claims_of(victim):
            claim_uid = claim.metadata.uid
            removed = effects.removed.get(claim_uid, frozenset()) | {uid}
            effects.removed[claim_uid] = removed
            allocation = self._manager.allocation_of(claim_uid)
            if allocation is None or claim_uid in effects.released:
                continue
            if self.is_releasable(victim, claim, allocation, self._gone(claim, removed)):
                effects.released[claim_uid] = allocation
                data.change(self._manager, self._manager.without(data.allocated, allocation))

    def put_back(self, data: StateData, preemptor: Pod, victim: Pod) -> None:
        """A victim may stay after all: undo what its removal did."""
        effects = data.effects
        if effects is None or not self.can_preempt(data, preemptor):
            return
        uid = victim.metadata.uid
        for claim in self.claims_of(victim):
            claim_uid = claim.metadata.uid
            if uid not in effects.removed.get(claim_uid, frozenset()):
                continue
            removed = effects.removed[claim_uid] - {uid}
            effects.removed[claim_uid] = removed
            allocation = effects.released.get(claim_uid)
            if allocation is None or (self._ignores_terminating and self._stays_released(claim, removed)):
                continue
            del effects.released[claim_uid]
            data.change(self._manager, self._manager.plus(data.allocated, claim, allocation))

    def _gone(self, claim: ResourceClaim, removed: frozenset[str]) -> frozenset[str]:
        """Who does not count as a user of a claim in a dry run."""
        return removed | self.going(claim) if self._ignores_terminating else removed

    def _stays_released(self, claim: ResourceClaim, removed: frozenset[str]) -> bool:
        """Whether a claim is free also with this user, who is terminating."""
        users = {each.uid for each in claim.status.reserved_for}
        return bool(removed & users) and users <= self._gone(claim, removed)

    def going(self, claim: ResourceClaim) -> frozenset[str]:
        """The users of a claim that are gone or terminating, by UID."""
        return frozenset(
            user.uid
            for user in claim.status.reserved_for
            if self._is_going(claim.metadata.namespace, user.name, user.uid)
        )

    def _is_going(self, namespace: str, name: str, uid: str) -> bool:
        pod = self._store.get(Pod, namespace, name)
        return pod is None or pod.metadata.uid != uid or pod.metadata.deletion_timestamp is not None

    @staticmethod
    def can_preempt(data: StateData, preemptor: Pod) -> bool:
        """Whether devices are freed for this pod at all."""
        return not data.special and not in_group(preemptor)

    def claims_of(self, pod: Pod) -> list[ResourceClaim]:
        """The distinct claims that a pod names and that exist and are its own."""
        found: dict[str, ResourceClaim] = {}
        for entry in pod.spec.resource_claims:
            known = claim_name(pod, entry)
            if known.problem or known.name is None:
                continue
            claim = self._manager.claim(pod.metadata.namespace, known.name)
            if claim is None:
                continue
            if known.generated and ownership_problem(pod, claim, group_claims=self._group_claims):
                continue
            found[claim.metadata.uid] = claim
        return list(found.values())

    def is_releasable(
        self, victim: Pod, claim: ResourceClaim, allocation: AllocationResult, gone: Iterable[str]
    ) -> bool:
        """Whether the claim of a victim is free once these pods (by UID) are gone."""
        if in_group(victim) or (not self._frees_named and self._has_extended_resources(victim)):
            return False
        if any(each.api_group != "" or each.resource != "pods" for each in claim.status.reserved_for):
            return False
        # A claim that is in flight is reserved in memory only.
        users = {each.uid for each in claim.status.reserved_for} | self._manager.sharers(claim.metadata.uid)
        if not users <= set(gone):
            return False
        inventory = self._manager.inventory
        return all(is_local(inventory, each) for each in allocation.devices.results)

    def _has_extended_resources(self, pod: Pod) -> bool:
        return (
            pod.status.extended_resource_claim_status is not None or self._manager.pending(special_uid(pod)) is not None
        )

    # Nominated pods.

    def add_nominated(self, data: StateData, nomination: ClaimNomination) -> None:
        """A nominated pod comes: what its victims still hold is what it takes, and no more."""
        effects = data.effects
        if effects is None or not data.to_ask():
            return
        manager = self._manager
        for uid in manager.nominations.victims_on(nomination.node):
            if uid in effects.released or uid in effects.subtracted:
                continue
            allocation = manager.allocation_of(uid)
            if allocation is not None:
                effects.subtracted[uid] = allocation
                data.change(manager, manager.without(data.allocated, allocation))
        for claim, result in nomination.results:
            uid = claim.metadata.uid
            counted = manager.allocation_of(uid) is not None
            # A claim that is allocated already (it may be shared) counts with what it has.
            if not counted or uid in effects.released or uid in effects.subtracted:
                data.change(manager, manager.plus(data.allocated, claim, result))


def is_local(inventory: Inventory, result: DeviceRequestAllocationResult) -> bool:
    """Whether a device is published for one node by its name; one that is not published is not."""
    spec = inventory.slice_spec_of((result.driver, result.pool), result.device)
    if spec is None:
        return False
    if not spec.per_device_node_selection:
        return spec.node_name is not None
    return any(each.name == result.device and each.node_name is not None for each in spec.devices)
