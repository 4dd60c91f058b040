"""The ordered record of what happened, for people and for expectations."""

from msgspec import Struct


class JournalEntry(Struct, frozen=True, gc=False):
    """One thing that happened.

    Attributes:
        time: milliseconds since the start.
        component: who did it.
        kind: the kind of the object it happened to.
        namespace: its namespace, empty for a cluster-wide kind.
        name: its name.
        reason: what happened, in one word (`Scheduled`, `FailedScheduling`, `Preempted`, ...); events of Kubernetes
            keep their own reason.
        message: the same for people, with the why.
        related: names of further objects that took part: the node of a scheduled pod, the preemptor of a victim.
    """

    time: int
    component: str
    kind: str
    namespace: str
    name: str
    reason: str
    message: str
    related: tuple[str, ...] = ()


class Journal:
    """Collects the entries of one simulation; components only add."""

    def __init__(self) -> None:
        self.entries: list[JournalEntry] = []

    def __len__(self) -> int:
        return len(self.entries)

    def record(self, entry: JournalEntry) -> None:
        """Add an entry."""
        self.entries.append(entry)
