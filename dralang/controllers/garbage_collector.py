"""The garbage collector: what is owned only by objects that are gone, goes too.

Source: kubernetes pkg/controller/garbagecollector (background deletion).
"""

from typing import Any

from dralang.cluster.store import ObjectStore, WatchEvent
from dralang.controllers.controller import RETRY, Controller


class GarbageCollector(Controller[str]):
    """Deletes the dependents of deleted objects; an item is the UID of a deleted owner."""

    name = "garbage-collector"

    def __init__(self, store: ObjectStore, kinds: tuple[type[Any], ...]) -> None:
        super().__init__(store)
        self._uids: dict[str, None] = {}
        store.subscribe(self.name, self.phase, kinds, self._on_change, _is_deletion)

    def start(self) -> None:
        """Check the owners of everything."""
        alive = {each.metadata.uid for kind in self.store.kinds() for each in self.store.objects(kind)}
        for kind in self.store.kinds():
            for each in self.store.objects(kind):
                for owner in each.metadata.owner_references:
                    if owner.uid not in alive:
                        self.enqueue(owner.uid)

    def _on_change(self, event: WatchEvent) -> None:
        if event.new is None and self.store.dependents(event.old.metadata.uid):
            self.enqueue(event.old.metadata.uid)

    def sync(self, item: str) -> None:
        """Delete what only the object with this UID owned."""
        for kind, namespace, name in self.store.dependents(item):
            dependent: Any = self.store.get(kind, namespace, name)
            if dependent is None or dependent.metadata.deletion_timestamp is not None:
                continue
            if len(dependent.metadata.owner_references) == 1:
                refused = self.store.delete(kind, namespace, name, uid=dependent.metadata.uid)
                if refused is not None and refused.reason != "NotFound":
                    self.enqueue(item, RETRY)


def _is_deletion(event: WatchEvent) -> bool:
    return event.new is None
