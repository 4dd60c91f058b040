"""Stand-in for the kubelets: starts the pods that have a node, and ends those that are being deleted.

A pod runs and is ready at once; a pod that is being deleted is gone when its grace period is over. Devices are not
prepared, and nothing that a real kubelet would refuse is refused, except that a pod waits for its claims where that
is asked for.
"""

from dralang.api.pods import Pod, PodCondition
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.errors import ApiError
from dralang.cluster.podclaims import claim_name, is_reserved_for
from dralang.cluster.store import ObjectStore, WatchEvent, with_condition
from dralang.cluster.timestamps import format_time
from dralang.controllers.controller import Controller

RETRY = 10_000
"""When the kubelet writes again what the API server did not take, in milliseconds.

Source: kubernetes pkg/kubelet/status/status_manager.go syncPeriod.
"""


class Kubelet(Controller[tuple[str, str]]):
    """Runs the pods of all nodes; an item is the namespace and name of a pod.

    Attributes:
        manual: do nothing by itself; pods start and end only when the scenario says so.
        waits_for_claims: a pod starts only when all its claims are allocated and reserved for it.
    """

    name = "kubelet"

    def __init__(self, store: ObjectStore, *, manual: bool = False, waits_for_claims: bool = True) -> None:
        super().__init__(store)
        self.manual = manual
        self.waits_for_claims = waits_for_claims
        if not manual:
            store.subscribe(self.name, self.phase, (Pod,), self._on_pod, _is_to_start_or_end)
            if waits_for_claims:
                store.subscribe(self.name, self.phase, (ResourceClaim,), self._on_claim, self._holds_back)
        self._held_back: dict[tuple[str, str], None] = {}
        self._ends: dict[str, int] = {}

    def start(self) -> None:
        """Take over the pods that already have a node."""
        if not self.manual:
            for pod in self.store.objects(Pod):
                self._consider(pod)

    def forget(self) -> None:
        """Forget the pods that were held back and the ends of grace periods."""
        self._held_back.clear()
        self._ends.clear()

    def _on_pod(self, event: WatchEvent) -> None:
        if event.new is not None:
            self._consider(event.new)

    def _holds_back(self, _event: WatchEvent) -> bool:
        """Whether pods wait for claims; one that is held back later has seen the claim as it is now."""
        return bool(self._held_back)

    def _on_claim(self, event: WatchEvent) -> None:
        for key in list(self._held_back):
            self.enqueue(key)

    def _consider(self, pod: Pod) -> None:
        meta = pod.metadata
        if not pod.spec.node_name:
            return
        if meta.deletion_timestamp is not None:
            # The grace period counts from when the kubelet hears of the deletion.
            end = self.events.now + (meta.deletion_grace_period_seconds or 0) * 1000
            self._ends[meta.uid] = end = min(end, self._ends.get(meta.uid, end))
            self.enqueue((meta.namespace, meta.name), end - self.events.now)
        elif pod.status.phase == "Pending":
            self.enqueue((meta.namespace, meta.name))

    def sync(self, item: tuple[str, str]) -> None:
        """Start the pod, or end it if its time is over."""
        self._held_back.pop(item, None)
        pod = self.store.get(Pod, *item)
        if pod is None or not pod.spec.node_name:
            return
        uid = pod.metadata.uid
        if pod.metadata.deletion_timestamp is not None:
            left = self._ends.get(uid, self.events.now) - self.events.now
            if left > 0:
                # The deletion came while the start was still planned.
                self.enqueue(item, left)
                return
            refused = self.store.delete(Pod, *item, uid=uid, grace_seconds=0)
            if refused is not None and refused.reason != "NotFound":
                self.enqueue(item, RETRY)
                return
            self._ends.pop(uid, None)
        elif pod.status.phase == "Pending":
            if self.waits_for_claims and not self._claims_are_ready(pod):
                self._held_back[item] = None
            elif not self.run(pod):
                self.enqueue(item, RETRY)

    def _claims_are_ready(self, pod: Pod) -> bool:
        for entry in pod.spec.resource_claims:
            found = claim_name(pod, entry)
            if found.name is None:
                if found.problem:
                    return False
                continue
            claim = self.store.get(ResourceClaim, pod.metadata.namespace, found.name)
            if claim is None or claim.status.allocation is None or not is_reserved_for(pod, claim, group_claims=True):
                return False
        return True

    def run(self, pod: Pod) -> bool:
        """Report the pod as running and ready; return whether the API server took that."""
        now = format_time(self.events.now)
        conditions = pod.status.conditions
        for kind in ("Initialized", "ContainersReady", "Ready"):
            conditions = with_condition(conditions, PodCondition(type=kind, status="True", last_transition_time=now))
        meta = pod.metadata
        status = {"phase": "Running", "conditions": conditions, "start_time": now}
        if isinstance(self.store.patch_status(Pod, meta.namespace, meta.name, **status), ApiError):
            return False
        self.record("Pod", meta.namespace, meta.name, "Running", f"runs on {pod.spec.node_name}", pod.spec.node_name)
        return True

    def finish(self, pod: Pod, phase: str) -> ApiError | None:
        """Report that all containers have ended: `Succeeded` or `Failed`; return why that was refused."""
        conditions = pod.status.conditions
        for kind in ("ContainersReady", "Ready"):
            if any(each.type == kind for each in conditions):
                off = PodCondition(type=kind, status="False", reason="PodCompleted")
                conditions = with_condition(conditions, off)
        meta = pod.metadata
        written = self.store.patch_status(Pod, meta.namespace, meta.name, phase=phase, conditions=conditions)
        if isinstance(written, ApiError):
            return written
        self.record("Pod", meta.namespace, meta.name, phase, "has finished" if phase == "Succeeded" else "has failed")
        return None


def _is_to_start_or_end(event: WatchEvent) -> bool:
    """Whether the kubelet of a pod's node has something to do for it."""
    pod: Pod | None = event.new
    return (
        pod is not None
        and bool(pod.spec.node_name)
        and (pod.metadata.deletion_timestamp is not None or pod.status.phase == "Pending")
    )
