"""Invariants of what preemption has promised (KEP-5690)."""

from collections.abc import Iterator

from dralang.run.invariants.world import World
from dralang.run.simulation import Simulation


def nominations_have_their_node(simulation: Simulation, world: World) -> Iterator[str]:
    """Devices are held for a pod only while it is nominated to the very node where they are."""
    scheduler = simulation.scheduler
    for uid, held in scheduler.manager.nominations.all().items():
        node = scheduler.nominator.node_of(uid)
        if node != held.node:
            yield f"devices on {held.node} are held for pod {uid}, which is nominated to {node or 'no node'}"


def victims_claims_are_allocated(simulation: Simulation, world: World) -> Iterator[str]:
    """The deallocation of a victim's claim is waited for only while the claim is allocated."""
    manager = simulation.scheduler.manager
    for node in manager.nominations.nodes():
        for uid in manager.nominations.victims_on(node):
            if manager.allocation_of(uid) is None:
                yield f"the deallocation of claim {uid} on {node} is waited for, but nothing is allocated to it"


def simulations_leave_no_trace(simulation: Simulation, world: World) -> Iterator[str]:
    """What the scheduler counts as taken is the sum of its claims: dry runs of preemption change nothing of it."""
    preempts = simulation.scheduler.dynamic_resources.preempts
    if preempts and simulation.scheduler.manager.has_drifted():
        yield "the scheduler's devices in use are not those of the claims that it knows"
