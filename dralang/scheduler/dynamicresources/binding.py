"""Writing the chosen devices to the API, before the pod gets its node.

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (PreBind, bindClaim),
extendeddynamicresources.go (createExtendedResourceClaimInAPI).
"""

from typing import NamedTuple

from msgspec.structs import replace

from dralang.api.pods import Pod, PodExtendedResourceClaimStatus
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.workloads import PodGroup
from dralang.cluster.errors import ApiError
from dralang.cluster.journal import JournalEntry
from dralang.cluster.podclaims import FINALIZER, consumer_of, is_reserved_for, pod_reference
from dralang.cluster.store import ObjectStore
from dralang.cluster.timestamps import format_time
from dralang.scheduler.dynamicresources.binding_conditions import has_binding_conditions
from dralang.scheduler.dynamicresources.claims import claim_entries
from dralang.scheduler.dynamicresources.cycle_data import StateData
from dralang.scheduler.dynamicresources.extended_resources import SPECIAL_NAME
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.node_info import PodInfo


class Conflict(NamedTuple):
    """Somebody else wrote a claim since the scheduling cycle: to be tried once more, on its newest version.

    The real scheduler waits 10 ms first, and its informers are faster than that. Here everything that is on its way at
    this instant arrives before the next try.

    Attributes:
        claim: the one that was written.
    """

    claim: str


class ClaimBinder:
    """Writes allocations and reservations; whatever the API refuses ends the binding as an error.

    Args:
        store: the API server.
        manager: told of what is written.
        group_claims: whether claims can be reserved for a pod group.
        sets_timestamp: whether an allocation says when it was written.
        settles_each: whether an allocation is in flight only until it is written or refused (up to 1.35), not until
            the pod has everything.
        names_special: whether what devices take of a node is noted under the real name of the claim for extended
            resources; else under the name that the claim has in the scheduler's memory, which the API server refuses.
        dates_old: whether an allocation that does not say when it was written is told so by the next pod that is to use
            the claim, which the API server refuses.
    """

    def __init__(
        self,
        store: ObjectStore,
        manager: DRAManager,
        *,
        group_claims: bool,
        sets_timestamp: bool,
        settles_each: bool,
        names_special: bool,
        dates_old: bool,
    ) -> None:
        self._store = store
        self._manager = manager
        self._group_claims = group_claims
        self._sets_timestamp = sets_timestamp
        self._settles_each = settles_each
        self._names_special = names_special
        self._dates_old = dates_old

    def bind_claims(self, data: StateData, info: PodInfo, node: str) -> str | Conflict:
        """Write everything for the pod that is not written yet; return what went wrong, empty if nothing did."""
        for index, claim in enumerate(data.claims):
            if is_reserved_for(info.pod, claim, group_claims=self._group_claims):
                continue
            problem = self._bind_claim(data, index, info, node)
            if self._settles_each and index in data.reserved and not isinstance(problem, Conflict):
                self._manager.settle(data.claims[index].metadata.uid)
            if problem:
                return problem
        return self._write_footprint(data, info, node)

    def _write_footprint(self, data: StateData, info: PodInfo, node: str) -> str:
        """Note what the devices take of the node."""
        footprint = data.nodes[node].footprint if node in data.nodes else ()
        if not footprint:
            return ""
        meta = info.pod.metadata
        failed = f"updating pod {meta.namespace}/{meta.name} NodeAllocatableResourceClaimStatuses: "
        special = [index for index, each in enumerate(footprint) if each.resource_claim_name == SPECIAL_NAME]
        if special and not self._names_special:
            field = f"status.nodeAllocatableResourceClaimStatuses[{special[0]}].resourceClaimName"
            why = f'Invalid value: "{SPECIAL_NAME}": no mapping found in pod reference'
            return f'{failed}Pod "{meta.name}" is invalid: {field}: {why}'
        real = data.claims[-1].metadata.name
        named = tuple(
            [
                replace(each, resource_claim_name=real) if index in special else each
                for index, each in enumerate(footprint)
            ]
        )
        written = self._store.patch_status(
            Pod, meta.namespace, meta.name, node_allocatable_resource_claim_statuses=named
        )
        return f"{failed}{written.message}" if isinstance(written, ApiError) else ""

    def settle(self, data: StateData) -> None:
        """Everything is written and ready: nothing of the pod is in flight any more."""
        for uid in data.in_flight.values():
            self._manager.settle(uid)

    @staticmethod
    def must_wait(data: StateData) -> bool:
        """Whether some device has conditions to wait for."""
        return any(has_binding_conditions(claim) for claim in data.claims)

    def _bind_claim(self, data: StateData, index: int, info: PodInfo, node: str) -> str | Conflict:
        claim = data.claims[index]
        allocation = data.reserved.get(index)
        if claim is data.special_claim:
            if allocation is None and not claim.spec.devices.requests:
                return ""
            if claim.metadata.name == SPECIAL_NAME:
                created = self._create_special_claim(data, info, node)
                if isinstance(created, ApiError):
                    return f"create claim for extended resources {claim.metadata.name}: {created.message}"
                claim = created
                self._manager.settle(data.claims[index].metadata.uid)
                data.claims[index] = claim
                if allocation is not None:
                    data.in_flight[index] = claim.metadata.uid
                    self._manager.reserve(claim, allocation, info.uid)
        written = self._write(claim, data, index, info)
        if not isinstance(written, ResourceClaim):
            return written
        is_special = claim is data.special_claim
        data.claims[index] = written
        return self._note_special_claim(data, info, node) if is_special else ""

    def _note_special_claim(self, data: StateData, info: PodInfo, node: str) -> str:
        meta = info.pod.metadata
        mappings = data.nodes[node].mappings
        if not mappings:
            name = f"{meta.namespace}/{meta.name}"
            return f"nil or empty request mappings, no update of pod {name} ExtendedResourceClaimStatus"
        status = PodExtendedResourceClaimStatus(
            request_mappings=mappings, resource_claim_name=data.claims[-1].metadata.name
        )
        patched = self._store.patch_status(Pod, meta.namespace, meta.name, extended_resource_claim_status=status)
        return f"update pod {meta.namespace}/{meta.name}: {patched.message}" if isinstance(patched, ApiError) else ""

    def _write(
        self, claim: ResourceClaim, data: StateData, index: int, info: PodInfo
    ) -> ResourceClaim | str | Conflict:
        """Finalizer, then allocation and reservation, on the newest version of the claim."""
        meta = claim.metadata
        name = f"{meta.namespace}/{meta.name}"
        current = self._store.get(ResourceClaim, meta.namespace, meta.name)
        if current is None or current.metadata.uid != meta.uid:
            return f'could not find ResourceClaim "{name}"'
        if current.metadata.resource_version != meta.resource_version and index not in data.refreshed:
            data.refreshed.add(index)
            return Conflict(name)
        if current.metadata.deletion_timestamp is not None:
            return f"claim {name} got deleted in the meantime"
        allocation = data.reserved.get(index)
        if allocation is not None and current.status.allocation is not None:
            return f"claim {name} got allocated elsewhere in the meantime"
        if allocation is None and current.status.allocation is None:
            return f"claim {name} got deallocated elsewhere in the meantime"
        if allocation is not None and FINALIZER not in current.metadata.finalizers:
            finalizers = (*current.metadata.finalizers, FINALIZER)
            marked = self._store.update(replace(current, metadata=replace(current.metadata, finalizers=finalizers)))
            if isinstance(marked, ApiError):
                return f"add finalizer to claim {name}: {marked.message}"
            current = marked
        consumer = pod_reference(info.pod)
        if claim is not data.special_claim and self._group_claims:
            entry = claim_entries(info.pod, self._manager)[index]
            consumer = consumer_of(info.pod, self._group_of(info.pod), entry)
        status = current.status
        # Without a look at who is there: the API refuses whoever is there already.
        status = replace(status, reserved_for=(*status.reserved_for, consumer))
        wanted = allocation if allocation is not None else status.allocation
        undated = wanted is not None and wanted.allocation_timestamp is None
        if wanted is not None and undated and self._sets_timestamp and (allocation is not None or self._dates_old):
            wanted = replace(wanted, allocation_timestamp=format_time(self._store.events.now))
        written = self._store.update_status(replace(current, status=replace(status, allocation=wanted)))
        if isinstance(written, ApiError):
            what = "allocation and reservation" if allocation is not None else "reservation"
            return f"add {what} to claim {name}: {written.message}"
        self._manager.assume(written, is_new=claim is data.special_claim)
        self._record(written, info, allocated=allocation is not None)
        return written

    def _group_of(self, pod: Pod) -> PodGroup | None:
        group = pod.spec.scheduling_group
        if group is None or group.pod_group_name is None:
            return None
        return self._store.get(PodGroup, pod.metadata.namespace, group.pod_group_name)

    def _create_special_claim(self, data: StateData, info: PodInfo, node: str) -> ResourceClaim | ApiError:
        chosen = data.nodes[node]
        assert chosen.special is not None
        meta = replace(chosen.special.metadata, name="", uid="")
        return self._store.create(replace(chosen.special, metadata=meta))

    def _record(self, claim: ResourceClaim, info: PodInfo, *, allocated: bool) -> None:
        meta = claim.metadata
        pod = info.pod.metadata.name
        if allocated and claim.status.allocation is not None:
            devices = [each.device for each in claim.status.allocation.devices.results]
            reason, text = "Allocated", f"allocated {', '.join(devices) or 'nothing'} for pod `{pod}`"
        else:
            reason, text = "Reserved", f"reserved for pod `{pod}`"
        now = self._store.events.now
        entry = JournalEntry(now, "scheduler", "ResourceClaim", meta.namespace, meta.name, reason, text, (pod,))
        self._store.journal.record(entry)


def drop_reservation(
    store: ObjectStore, manager: DRAManager, claim: ResourceClaim, uid: str, *, deallocates: bool
) -> None:
    """Give back a reservation; after a preemption nobody else would free the claim."""
    meta = claim.metadata
    current = store.get(ResourceClaim, meta.namespace, meta.name)
    if current is None or current.metadata.uid != meta.uid:
        return
    remaining = tuple(each for each in current.status.reserved_for if each.uid != uid)
    changes: dict[str, object] = {"reserved_for": remaining}
    if deallocates and not remaining:
        changes |= {"allocation": None, "devices": ()}
    written = store.patch_status(ResourceClaim, meta.namespace, meta.name, **changes)
    if deallocates and not isinstance(written, ApiError):
        manager.assume(written)  # a late informer would say for a while that it is reserved
