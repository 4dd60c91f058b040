"""Keeps a pod group that is being deleted until none of its pods runs any more.

Source: kubernetes pkg/controller/podgroupprotection.
"""

from msgspec.structs import replace

from dralang.api.pods import TERMINAL, Pod
from dralang.api.workloads import PodGroup
from dralang.cluster.errors import ApiError
from dralang.cluster.store import ObjectStore, WatchEvent
from dralang.controllers.controller import RETRY, Controller

FINALIZER = "scheduling.k8s.io/podgroup-protection"


class PodGroupProtectionController(Controller[tuple[str, str]]):
    """Adds and removes the finalizer; an item is the namespace and name of a group."""

    name = "podgroup-protection-controller"

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store)
        store.subscribe(self.name, self.phase, (PodGroup,), self._on_group)
        store.subscribe(self.name, self.phase, (Pod,), self._on_pod)

    def start(self) -> None:
        """Look at all groups."""
        for group in self.store.objects(PodGroup):
            self.enqueue((group.metadata.namespace, group.metadata.name))

    def _on_group(self, event: WatchEvent) -> None:
        if event.new is not None:
            self.enqueue((event.new.metadata.namespace, event.new.metadata.name))

    def _on_pod(self, event: WatchEvent) -> None:
        pod: Pod = event.new if event.new is not None else event.old
        group = pod.spec.scheduling_group
        ended = event.new is None or pod.status.phase in TERMINAL
        if ended and group is not None and group.pod_group_name:
            self.enqueue((pod.metadata.namespace, group.pod_group_name))

    def sync(self, item: tuple[str, str]) -> None:
        """Protect a group, or let it go."""
        group = self.store.get(PodGroup, *item)
        if group is None:
            return
        meta = group.metadata
        finalizers = meta.finalizers
        if meta.deletion_timestamp is None:
            if FINALIZER not in meta.finalizers:
                finalizers = (*finalizers, FINALIZER)
        elif FINALIZER in meta.finalizers and not self._has_members(*item):
            finalizers = tuple(each for each in finalizers if each != FINALIZER)
        if finalizers is not meta.finalizers:
            written = self.store.update(replace(group, metadata=replace(meta, finalizers=finalizers)))
            if isinstance(written, ApiError):
                self.enqueue(item, RETRY)

    def _has_members(self, namespace: str, name: str) -> bool:
        return any(
            pod.metadata.namespace == namespace
            and pod.spec.scheduling_group is not None
            and pod.spec.scheduling_group.pod_group_name == name
            and pod.status.phase not in TERMINAL
            for pod in self.store.objects(Pod)
        )
