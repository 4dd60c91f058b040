"""Why the devices of a node do not serve a pod: what the allocator says of each, in words."""

from dralang.run.outcome import Why
from dralang.run.simulation import Simulation
from dralang.run.waiting import AllocationQuestion


def explain_question(simulation: Simulation, question: AllocationQuestion) -> tuple[Why, ...]:
    """The reasons per request and device."""
    return ()
