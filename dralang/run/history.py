"""What has happened so far: read from the record."""

from dralang.cluster.journal import JournalEntry
from dralang.run.simulation import Simulation


def preemptions(simulation: Simulation) -> list[JournalEntry]:
    """The entries of pods that were preempted; ``related`` names the preemptor first."""
    return [entry for entry in simulation.trace if entry.reason == "Preempted" and entry.kind == "Pod"]


def was_evicted(simulation: Simulation) -> list[tuple[str, str]]:
    """Namespace and name of the pods that were evicted because of a taint, in order."""
    return [
        (entry.namespace, entry.name)
        for entry in simulation.trace
        if entry.reason in ("DeviceTaintManagerEviction", "TaintManagerEviction") and entry.kind == "Pod"
    ]
