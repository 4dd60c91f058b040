"""What all controllers share: a queue of objects to look at, worked off one at a time."""

from collections.abc import Hashable
from typing import Generic, TypeVar

from dralang.cluster.clock import Phase, Timer
from dralang.cluster.journal import JournalEntry
from dralang.cluster.store import ObjectStore

Item = TypeVar("Item", bound=Hashable)

RETRY = 1_000
"""When a controller tries again what the API server refused, in milliseconds."""


class Controller(Generic[Item]):
    """A control loop. Only its own entries of the event queue change its state."""

    name = ""
    phase = Phase.CONTROLLER

    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.events = store.events
        self._waiting: dict[Item, Timer] = {}

    def start(self) -> None:
        """Look at everything that exists, as after a start of the process; restarting is dropping and starting."""
        raise NotImplementedError

    def restart(self) -> None:
        """Lose everything that is only in memory and start again."""
        self.events.drop(self.name)
        self._waiting.clear()
        self.forget()
        self.start()

    def forget(self) -> None:
        """Empty the memory of the controller."""

    def sync(self, item: Item) -> None:
        """Compare one object with what it should be and do the next step."""
        raise NotImplementedError

    def phase_of(self, item: Item) -> Phase:
        """When inside an instant the item is worked on."""
        return self.phase

    def enqueue(self, item: Item, delay: int = 0, *, far: bool = False) -> None:
        """Look at the item `delay` milliseconds from now, or earlier if that is already planned."""
        planned = self._waiting.get(item)
        if planned is not None and planned.is_pending:
            if planned.time <= self.events.now + delay:
                if not far:
                    self.events.bring_near(planned)
                return
            planned.cancel()
        self._waiting[item] = self.events.schedule(
            self.phase_of(item), self.name, self._work, item, delay=delay, far=far
        )

    def _work(self, item: Item) -> None:
        self._waiting.pop(item, None)
        self.sync(item)

    def record(self, kind: str, namespace: str, name: str, reason: str, message: str, *related: str) -> None:
        """Write to the journal."""
        entry = JournalEntry(self.events.now, self.name, kind, namespace, name, reason, message, related)
        self.store.journal.record(entry)
