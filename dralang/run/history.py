"""What has happened so far: read from the record."""

from typing import Final

from dralang.cluster.journal import JournalEntry
from dralang.run.simulation import Simulation
from dralang.scenario.keys import ObjectKey

_REASONS: Final = {
    "preempted": frozenset({"Preempted"}),
    "evicted": frozenset({"DeviceTaintManagerEviction", "TaintManagerEviction"}),
}


def preemptions(simulation: Simulation) -> list[JournalEntry]:
    """The entries of pods that were preempted; ``related`` names the preemptor first, as a spec would."""
    return _entries(simulation, "preempted")


def happened(
    simulation: Simulation, what: str, by: ObjectKey | None = None, because: str | None = None
) -> dict[tuple[str, str], None]:
    """Namespace and name of the pods that were preempted or evicted because of a taint, in order.

    Args:
        simulation: where.
        what: ``preempted`` or ``evicted``.
        by: only by this pod or taint rule.
        because: only where the record says this.
    """
    return {
        (entry.namespace, entry.name): None
        for entry in _entries(simulation, what)
        if (by is None or by.spoken in entry.related) and (because is None or because in entry.message)
    }


def pasts_of(simulation: Simulation, what: str, pod: tuple[str, str]) -> dict[str, str]:
    """Who preempted a pod, or why it was evicted, with the words of the record."""
    return {
        (entry.related[0] if entry.related else entry.message): entry.message
        for entry in _entries(simulation, what)
        if (entry.namespace, entry.name) == pod
    }


def ever_created(simulation: Simulation) -> dict[tuple[str, str], None]:
    """Namespace and name of all pods that the story created, whether they still exist or not, in order."""
    return {
        (entry.namespace, entry.name): None
        for entry in simulation.trace
        if entry.kind == "Pod" and entry.reason == "Created"
    }


def names_in_record(simulation: Simulation, kind: str) -> dict[tuple[str, str], None]:
    """Namespace and name of all objects of a kind that anything happened to, in order."""
    return {(entry.namespace, entry.name): None for entry in simulation.trace if entry.kind == kind}


def _entries(simulation: Simulation, what: str) -> list[JournalEntry]:
    reasons = _REASONS[what]
    return [entry for entry in simulation.trace if entry.reason in reasons and entry.kind == "Pod"]
