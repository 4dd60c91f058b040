"""The resourceclaim controller: makes claims from templates, and frees what nobody uses any more.

Source: kubernetes pkg/controller/resourceclaim/controller.go.
"""

from typing import Literal, TypeAlias

from msgspec.structs import replace

from dralang.api.allocation import ResourceClaimConsumerReference
from dralang.api.meta import ObjectMeta
from dralang.api.pods import TERMINAL, Pod, PodResourceClaim, PodResourceClaimStatus
from dralang.api.resourceclaim import (
    ResourceClaim,
    ResourceClaimStatus,
    ResourceClaimTemplate,
)
from dralang.api.workloads import PodGroup, PodGroupResourceClaimStatus
from dralang.cluster.clock import Phase
from dralang.cluster.errors import ApiError
from dralang.cluster.podclaims import (
    FINALIZER,
    SCHEDULING_GROUP,
    claim_name,
    consumer_of,
    controller_of,
    is_reserved_for,
    ownership_problem,
    used_claim_names,
)
from dralang.cluster.store import ObjectStore, WatchEvent
from dralang.controllers.claim_templates import NO_TEMPLATE, ClaimMaker
from dralang.controllers.controller import Controller
from dralang.features import VERSIONS, FeatureGates

Item: TypeAlias = tuple[Literal["pod", "claim", "group"], str, str]

FIRST_RETRY = 5
LAST_RETRY = 1_000_000


def is_done(pod: Pod) -> bool:
    """Whether the pod will not run (any more): it ended, or is deleted and never got a node."""
    ended = pod.status.phase in TERMINAL
    return ended or (pod.metadata.deletion_timestamp is not None and not pod.spec.node_name)


class ResourceClaimController(Controller[Item]):
    """Claims from templates, reservations of pods that bypass the scheduler, and deallocation."""

    name = "resourceclaim-controller"

    def __init__(self, store: ObjectStore, features: FeatureGates) -> None:
        super().__init__(store)
        self._group_claims = features.enabled("DRAWorkloadResourceClaims")
        self._groups = features.enabled("GenericWorkload")
        self._pods_by_claim: dict[tuple[str, str], dict[str, None]] = {}
        self._pods_by_template: dict[tuple[str, str], dict[str, None]] = {}
        self._pods_by_group: dict[tuple[str, str], dict[str, None]] = {}
        asks_memory = VERSIONS.index(features.version) >= VERSIONS.index("1.37")
        self._maker = ClaimMaker(store, asks_memory=asks_memory)
        self._retries: dict[Item, int] = {}
        store.subscribe(self.name, self.phase, (Pod,), self._on_pod)
        store.subscribe(self.name, self.phase, (ResourceClaim,), self._on_claim)
        store.subscribe(self.name, self.phase, (ResourceClaimTemplate,), self._on_template)
        if self._groups:
            store.subscribe(self.name, self.phase, (PodGroup,), self._on_group)

    def start(self) -> None:
        """Look at all pods and claims."""
        for pod in self.store.objects(Pod):
            self._index(pod)
            self._consider(pod, deleted=False)
        for group in self.store.objects(PodGroup):
            self.enqueue(("group", group.metadata.namespace, group.metadata.name))
        for claim in self.store.objects(ResourceClaim):
            self.enqueue(("claim", claim.metadata.namespace, claim.metadata.name))

    def forget(self) -> None:
        """Forget indices, retries and the claims made so far."""
        self._pods_by_claim.clear()
        self._pods_by_template.clear()
        self._pods_by_group.clear()
        self._maker.forget()
        self._retries.clear()

    def phase_of(self, item: Item) -> Phase:
        """Claims for pods are made before anybody is scheduled, claims of pods that are gone are freed after that."""
        return Phase.CLEANUP if item[0] == "claim" else Phase.CONTROLLER

    # What changed.

    def _on_pod(self, event: WatchEvent) -> None:
        old, new = event.old, event.new
        pod: Pod = new if new is not None else old
        if not pod.spec.resource_claims and pod.status.extended_resource_claim_status is None:
            return
        if old is not None and (new is None or self._names_changed(old, new)):
            self._unindex(old)
        if new is not None and (old is None or self._names_changed(old, new)):
            self._index(new)
        self._consider(pod, deleted=new is None)

    @staticmethod
    def _names_changed(old: Pod, new: Pod) -> bool:
        return (
            old.status.resource_claim_statuses != new.status.resource_claim_statuses
            or old.status.extended_resource_claim_status != new.status.extended_resource_claim_status
            or old.metadata.uid != new.metadata.uid
        )

    def _index(self, pod: Pod) -> None:
        namespace = pod.metadata.namespace
        for name in used_claim_names(pod):
            self._pods_by_claim.setdefault((namespace, name), {})[pod.metadata.name] = None
        for entry in pod.spec.resource_claims:
            if entry.resource_claim_template_name is not None:
                key = (namespace, entry.resource_claim_template_name)
                self._pods_by_template.setdefault(key, {})[pod.metadata.name] = None
        group = pod.spec.scheduling_group
        if group is not None and group.pod_group_name:
            self._pods_by_group.setdefault((namespace, group.pod_group_name), {})[pod.metadata.name] = None

    def _unindex(self, pod: Pod) -> None:
        namespace = pod.metadata.namespace
        for name in used_claim_names(pod):
            self._pods_by_claim.get((namespace, name), {}).pop(pod.metadata.name, None)
        for entry in pod.spec.resource_claims:
            if entry.resource_claim_template_name is not None:
                self._pods_by_template.get((namespace, entry.resource_claim_template_name), {}).pop(
                    pod.metadata.name, None
                )

    def _consider(self, pod: Pod, *, deleted: bool) -> None:
        namespace = pod.metadata.namespace
        if deleted or is_done(pod):
            for name in used_claim_names(pod):
                self.enqueue(("claim", namespace, name))
        if not deleted and self._needs_work(pod):
            self.enqueue(("pod", namespace, pod.metadata.name))

    def _needs_work(self, pod: Pod) -> bool:
        """Whether something is to be done for the pod itself: a claim to make, or one to reserve.

        DEVIATES: a pod that has ended gets no reservation back (1.37 does that, and takes it away again, for ever).
        """
        if pod.metadata.deletion_timestamp is not None:
            return False
        for entry in pod.spec.resource_claims:
            found = claim_name(pod, entry)
            if found.problem:
                return True
            if found.name is None:
                continue
            claim = self.store.get(ResourceClaim, pod.metadata.namespace, found.name)
            if claim is None:
                if found.generated and not self._is_group_entry(pod, entry):
                    return True
                continue
            if found.generated and ownership_problem(pod, claim, group_claims=self._group_claims):
                continue
            if (
                pod.spec.node_name
                and pod.status.phase not in TERMINAL
                and claim.status.allocation is not None
                and not is_reserved_for(pod, claim, group_claims=self._group_claims)
            ):
                return True
        return False

    def _is_group_entry(self, pod: Pod, entry: PodResourceClaim) -> bool:
        group = self._group_of(pod)
        return group is not None and consumer_of(pod, group, entry).api_group == SCHEDULING_GROUP

    def _group_of(self, pod: Pod) -> PodGroup | None:
        group = pod.spec.scheduling_group
        if not self._groups or group is None or group.pod_group_name is None:
            return None
        return self.store.get(PodGroup, pod.metadata.namespace, group.pod_group_name)

    def _on_claim(self, event: WatchEvent) -> None:
        claim: ResourceClaim = event.new if event.new is not None else event.old
        namespace, name = claim.metadata.namespace, claim.metadata.name
        if event.new is not None:
            self.enqueue(("claim", namespace, name))
        for pod_name in list(self._pods_by_claim.get((namespace, name), ())):
            pod = self.store.get(Pod, namespace, pod_name)
            if pod is not None:
                self._consider(pod, deleted=False)

    def _on_template(self, event: WatchEvent) -> None:
        if event.new is None:
            return
        meta: ObjectMeta = event.new.metadata
        for pod_name in list(self._pods_by_template.get((meta.namespace, meta.name), ())):
            pod = self.store.get(Pod, meta.namespace, pod_name)
            if pod is not None:
                self._consider(pod, deleted=False)

        for group in self.store.objects(PodGroup) if self._groups else ():
            if group.metadata.namespace == meta.namespace and any(
                entry.resource_claim_template_name == meta.name for entry in group.spec.resource_claims
            ):
                self.enqueue(("group", meta.namespace, group.metadata.name))

    def _on_group(self, event: WatchEvent) -> None:
        group: PodGroup = event.new if event.new is not None else event.old
        namespace, name = group.metadata.namespace, group.metadata.name
        if event.new is None:
            for status in group.status.resource_claim_statuses:
                if status.resource_claim_name:
                    self.enqueue(("claim", namespace, status.resource_claim_name))
            for entry in group.spec.resource_claims:
                if entry.resource_claim_name:
                    self.enqueue(("claim", namespace, entry.resource_claim_name))
            return
        self.enqueue(("group", namespace, name))
        for pod_name in list(self._pods_by_group.get((namespace, name), ())):
            pod = self.store.get(Pod, namespace, pod_name)
            if pod is not None:
                self._consider(pod, deleted=False)

    # What is done.

    def sync(self, item: Item) -> None:
        """Work on one pod or claim; what the API server refuses is tried again later and later."""
        kind, namespace, name = item
        if kind == "pod":
            problem = self._sync_pod(namespace, name)
        elif kind == "claim":
            problem = self._sync_claim(namespace, name)
        else:
            problem = self._sync_group(namespace, name)
        if not problem:
            self._retries.pop(item, None)
            return
        wait = self._retries.get(item, FIRST_RETRY)
        self._retries[item] = min(wait * 2, LAST_RETRY)
        self.enqueue(item, wait, far=problem == "waiting")

    def _sync_pod(self, namespace: str, name: str) -> str:
        pod = self.store.get(Pod, namespace, name)
        if pod is None or pod.metadata.deletion_timestamp is not None:
            return ""
        if self._groups and pod.spec.scheduling_group is not None and self._group_of(pod) is None:
            return ""
        made: dict[str, str] = {}
        for entry in pod.spec.resource_claims:
            problem = self._make_claim(pod, entry, made)
            if problem:
                self.record(
                    "Pod",
                    namespace,
                    name,
                    "FailedResourceClaimCreation",
                    f"claim for `{entry.name}` cannot be made: {problem}",
                )
                # A missing template needs no retry: its creation is watched.
                return "" if problem.startswith(NO_TEMPLATE) else "waiting"
        if made:
            known = {each.name: each.resource_claim_name for each in pod.status.resource_claim_statuses}
            names = {entry: claim for entry, claim in known.items() if claim is not None} | made
            statuses = tuple(
                PodResourceClaimStatus(name=each, resource_claim_name=names[each]) for each in sorted(names)
            )
            if statuses != pod.status.resource_claim_statuses:
                patched = self.store.patch_status(Pod, namespace, name, resource_claim_statuses=statuses)
                if isinstance(patched, ApiError):
                    return patched.message
        if pod.spec.node_name and pod.status.phase not in TERMINAL:
            return self._reserve(pod)
        return ""

    def _make_claim(self, pod: Pod, entry: PodResourceClaim, made: dict[str, str]) -> str:
        """Make the claim of an entry unless it is there; return what stands in the way.

        DEVIATES: a pod that has ended gets no claim a second time (1.37 may make one, and delete it again, for ever).
        """
        found = claim_name(pod, entry)
        if entry.resource_claim_template_name is None or (found.name is None and not found.problem):
            return ""
        namespace = pod.metadata.namespace
        if found.name is not None:
            claim = self.store.get(ResourceClaim, namespace, found.name)
            strange = claim is not None and ownership_problem(pod, claim, group_claims=self._group_claims)
            ended = pod.status.phase in TERMINAL and claim is None
            if ended or (self._maker.exists(namespace, found.name) and not strange):
                return ""
        group = self._group_of(pod)
        if group is not None and self._is_group_entry(pod, entry):
            if not self._group_claims:
                return f"claim {entry.name} is a PodGroup claim but the DRAWorkloadResourceClaims feature is disabled"
            shared = self._maker.existing(group, entry.name)
            if shared:
                made[entry.name] = shared
            return ""
        orphan = self._maker.existing(pod, entry.name)
        if orphan:
            made[entry.name] = orphan
            return ""
        created = self._maker.make(pod, entry.name, entry.resource_claim_template_name)
        if isinstance(created, str):
            return created
        made[entry.name] = created.metadata.name
        self._record_made(created, entry.name, entry.resource_claim_template_name, f"pod `{pod.metadata.name}`")
        return ""

    def _record_made(self, claim: ResourceClaim, entry: str, template: str, owner: str) -> None:
        self._record_claim(claim, "Generated", f"made from template `{template}` for `{entry}` of {owner}")

    def _sync_group(self, namespace: str, name: str) -> str:
        """Make the claims of a group and note them in its status."""
        group = self.store.get(PodGroup, namespace, name)
        if group is None or group.metadata.deletion_timestamp is not None or not self._group_claims:
            return ""
        known = {each.name: each.resource_claim_name for each in group.status.resource_claim_statuses}
        made: dict[str, str] = {}
        for entry in group.spec.resource_claims:
            template = entry.resource_claim_template_name
            recorded = known.get(entry.name)
            if template is None or (entry.name in known and recorded is None):
                continue
            if recorded is not None and self._maker.exists(namespace, recorded):
                continue
            orphan = self._maker.existing(group, entry.name)
            if orphan:
                made[entry.name] = orphan
                continue
            claim = self._maker.make(group, entry.name, template)
            if isinstance(claim, str):
                text = f"claim for `{entry.name}` cannot be made: {claim}"
                self.record("PodGroup", namespace, name, "FailedResourceClaimCreation", text)
                return "" if claim.startswith(NO_TEMPLATE) else "waiting"
            made[entry.name] = claim.metadata.name
            self._record_made(claim, entry.name, template, f"pod group `{name}`")
        if made:
            names = {entry: claim for entry, claim in known.items() if claim is not None} | made
            statuses = tuple(
                PodGroupResourceClaimStatus(name=each, resource_claim_name=names[each]) for each in sorted(names)
            )
            if statuses != group.status.resource_claim_statuses:
                patched = self.store.patch_status(PodGroup, namespace, name, resource_claim_statuses=statuses)
                if isinstance(patched, ApiError):
                    return patched.message
        return ""

    def _reserve(self, pod: Pod) -> str:
        """Reserve the allocated claims of a pod that got its node without the scheduler."""
        namespace = pod.metadata.namespace
        for entry in pod.spec.resource_claims:
            found = claim_name(pod, entry)
            if found.name is None:
                continue
            claim = self.store.get(ResourceClaim, namespace, found.name)
            if claim is None:
                return ""
            if found.generated and ownership_problem(pod, claim, group_claims=self._group_claims):
                return "owner"
            if claim.status.allocation is None or is_reserved_for(pod, claim, group_claims=self._group_claims):
                continue
            consumer = consumer_of(pod, self._group_of(pod), entry)
            if consumer.api_group == SCHEDULING_GROUP and not self._group_claims:
                continue
            status = replace(claim.status, reserved_for=(*claim.status.reserved_for, consumer))
            written = self.store.update_status(replace(claim, status=status))
            if isinstance(written, ApiError):
                return written.message
            self._record_claim(claim, "Reserved", f"reserved for pod `{pod.metadata.name}`, which has a node already")
        return ""

    def _sync_claim(self, namespace: str, name: str) -> str:
        claim = self.store.get(ResourceClaim, namespace, name)
        if claim is None:
            return ""
        reserved = claim.status.reserved_for
        remaining = tuple(each for each in reserved if self._still_uses(namespace, each))
        if len(remaining) < len(reserved):
            released = self._release(claim, remaining)
            if isinstance(released, ApiError):
                return released.message
            claim = released
        elif not remaining and claim.metadata.deletion_timestamp is not None and FINALIZER in claim.metadata.finalizers:
            finished = self._finish_deletion(claim)
            if isinstance(finished, ApiError):
                return finished.message
            claim = finished
        if not remaining:
            return self._delete_unused(claim)
        return ""

    def _still_uses(self, namespace: str, consumer: ResourceClaimConsumerReference) -> bool:
        if consumer.api_group == "" and consumer.resource == "pods":
            pod = self.store.get(Pod, namespace, consumer.name)
            return pod is not None and pod.metadata.uid == consumer.uid and not is_done(pod)
        if self._group_claims and consumer.api_group == SCHEDULING_GROUP and consumer.resource == "podgroups":
            group = self.store.get(PodGroup, namespace, consumer.name)
            return group is not None and group.metadata.uid == consumer.uid
        return True

    def _release(
        self, claim: ResourceClaim, remaining: tuple[ResourceClaimConsumerReference, ...]
    ) -> ResourceClaim | ApiError:
        """Drop consumers that are gone; with the last one goes the allocation."""
        gone = [each.name for each in claim.status.reserved_for if each not in remaining]
        frees = not remaining and FINALIZER in claim.metadata.finalizers
        status: ResourceClaimStatus = replace(claim.status, reserved_for=remaining)
        if frees:
            status = replace(status, allocation=None, devices=())
        written = self.store.update_status(replace(claim, status=status))
        if isinstance(written, ApiError):
            return written
        users = ", ".join(f"`{each}`" for each in gone)
        if frees and claim.status.allocation is not None:
            self._record_claim(claim, "Deallocated", f"deallocated: no longer used by {users}", *gone)
        else:
            self._record_claim(claim, "Unreserved", f"no longer reserved for {users}", *gone)
        if FINALIZER in written.metadata.finalizers and written.status.allocation is None:
            return self.store.update(_without_finalizer(written))
        return written

    def _finish_deletion(self, claim: ResourceClaim) -> ResourceClaim | ApiError:
        if claim.status.allocation is not None:
            status = replace(claim.status, allocation=None, devices=())
            written = self.store.update_status(replace(claim, status=status))
            if isinstance(written, ApiError):
                return written
            self._record_claim(claim, "Deallocated", "deallocated: it is being deleted and nobody uses it")
            claim = written
        return self.store.update(_without_finalizer(claim))

    def _delete_unused(self, claim: ResourceClaim) -> str:
        """Delete a claim that was generated for a pod which will not run (any more)."""
        owner = controller_of(claim)
        if owner is None or owner.kind != "Pod":
            return ""
        namespace, name = claim.metadata.namespace, claim.metadata.name
        pod = self.store.get(Pod, namespace, owner.name)
        if pod is not None and (pod.metadata.uid != owner.uid or is_done(pod)):
            refused = self.store.delete(ResourceClaim, namespace, name)
            if refused is not None and refused.reason != "NotFound":
                return refused.message
        return ""

    def _record_claim(self, claim: ResourceClaim, reason: str, message: str, *related: str) -> None:
        self.record("ResourceClaim", claim.metadata.namespace, claim.metadata.name, reason, message, *related)


def _without_finalizer(claim: ResourceClaim) -> ResourceClaim:
    meta = claim.metadata
    finalizers = tuple(each for each in meta.finalizers if each != FINALIZER)
    return replace(claim, metadata=replace(meta, finalizers=finalizers))
