"""The pod garbage collector: pods of a node that no longer exists end too.

Source: kubernetes pkg/controller/podgc/gc_controller.go (gcOrphaned).
"""

from dralang.api.nodes import Node
from dralang.api.pods import TERMINAL, Pod, PodCondition
from dralang.cluster.errors import ApiError
from dralang.cluster.store import ObjectStore, WatchEvent, with_condition
from dralang.controllers.controller import Controller

PERIOD = 20_000
"""How often it looks, in milliseconds."""

QUARANTINE = 40_000
"""How long a node has to be missing, in milliseconds."""


class PodGarbageCollector(Controller[str]):
    """Force-deletes orphaned pods; an item is the name of a missing node."""

    name = "pod-garbage-collector"

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store)
        store.subscribe(self.name, self.phase, (Node, Pod), self._on_change, _is_about_a_node)

    def start(self) -> None:
        """Look at the nodes of all pods."""
        for pod in self.store.objects(Pod):
            self._consider(pod.spec.node_name)

    def _on_change(self, event: WatchEvent) -> None:
        if event.kind is Node:
            if event.new is None:
                self._consider(event.old.metadata.name)
        elif event.new is not None and (event.old is None or event.old.spec.node_name != event.new.spec.node_name):
            self._consider(event.new.spec.node_name)

    def _consider(self, node: str) -> None:
        if node and self.store.get(Node, "", node) is None:
            # Noticed at the next look, in quarantine until after the second one from there.
            noticed = (self.events.now // PERIOD + 1) * PERIOD
            self.enqueue(node, noticed + QUARANTINE + PERIOD - self.events.now)

    def sync(self, item: str) -> None:
        """End the pods of a node that is still missing."""
        if self.store.get(Node, "", item) is not None:
            return
        refused = False
        for pod in self.store.objects(Pod):
            if pod.spec.node_name != item:
                continue
            namespace, name = pod.metadata.namespace, pod.metadata.name
            if pod.status.phase not in TERMINAL:
                condition = PodCondition(
                    type="DisruptionTarget",
                    status="True",
                    reason="DeletionByPodGC",
                    message="PodGC: node no longer exists",
                )
                conditions = with_condition(pod.status.conditions, condition)
                if isinstance(
                    self.store.patch_status(Pod, namespace, name, phase="Failed", conditions=conditions), ApiError
                ):
                    refused = True
                    continue
            self.record("Pod", namespace, name, "DeletionByPodGC", f"deleted: node `{item}` no longer exists", item)
            problem = self.store.delete(Pod, namespace, name, uid=pod.metadata.uid, grace_seconds=0)
            refused = refused or problem is not None
        if refused:
            self.enqueue(item, PERIOD)


def _is_about_a_node(event: WatchEvent) -> bool:
    """Whether a node went, or a pod got one."""
    old, new = event.old, event.new
    if event.kind is Node:
        return new is None
    return new is not None and bool(new.spec.node_name) and (old is None or old.spec.node_name != new.spec.node_name)
