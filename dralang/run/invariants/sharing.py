"""Invariants of what several pods use together: shares in flight, and what devices take of their node."""

from collections.abc import Iterator

from dralang.api.pods import TERMINAL
from dralang.api.resourceclaim import ResourceClaim
from dralang.run.invariants.world import World
from dralang.run.simulation import Simulation
from dralang.scheduler.resources import amount


def sharers_are_counted(simulation: Simulation, world: World) -> Iterator[str]:
    """An allocation in flight is kept for exactly the pods that have reserved it and are not bound yet."""
    manager, waiting = simulation.scheduler.manager, simulation.scheduler.binder.waiting
    for uid, binding in waiting.items():
        data = binding.data
        for index in [] if data is None else data.reserved:
            assert data is not None
            claim = data.claims[index]
            meta = claim.metadata
            if data.in_flight.get(index) != meta.uid:
                continue  # another claim has got its name
            stored = simulation.store.get(ResourceClaim, meta.namespace, meta.name)
            if stored is None or stored.metadata.uid != meta.uid or stored.status.allocation is not None:
                continue
            if uid not in manager.sharers(meta.uid):
                name = binding.queued.pod.metadata.name
                yield f"{name} is on its way to {binding.node}, and {meta.name} is no longer in flight for it"


def nothing_is_left_in_flight(simulation: Simulation, world: World) -> Iterator[str]:
    """At rest, only pods on their way to a node have anything in flight."""
    manager, waiting = simulation.scheduler.manager, simulation.scheduler.binder.waiting
    left_over = manager.left_of_remade() & world.born.keys()
    for uid in manager.held():
        if uid in left_over:
            continue
        left = manager.sharers(uid) - set(waiting)
        if left or (manager.pending(uid) is not None and not manager.sharers(uid)):
            yield f"claim {uid} is in flight for {', '.join(sorted(left)) or 'nobody'}, and nobody is on the way"


def nodes_count_devices_once(simulation: Simulation, world: World) -> Iterator[str]:
    """What is taken of a node is the sum of its pods and of their devices, each claim once, whoever shares it."""
    for info in simulation.scheduler.cache.nodes():
        expected: dict[str, int] = {}
        claims: set[tuple[str, str]] = set()
        plain = True
        for pod in simulation.pods():
            if pod.spec.node_name != info.name or pod.status.phase in TERMINAL:
                continue
            plain = plain and not (pod.spec.init_containers or pod.spec.overhead or pod.spec.resources)
            for container in pod.spec.containers:
                for name, quantity in container.resources.requests.items():
                    expected[name] = expected.get(name, 0) + amount(name, quantity)
            for status in pod.status.node_allocatable_resource_claim_statuses:
                claim = (pod.metadata.namespace, status.resource_claim_name)
                for mapped in status.mapping if claim not in claims else ():
                    if mapped.quantity is not None:
                        expected[mapped.name] = expected.get(mapped.name, 0) + amount(mapped.name, mapped.quantity)
                claims.add(claim)
                plain = plain and not status.overhead
        known = {name: value for name, value in info.requested.items() if value}
        expected = {name: value for name, value in expected.items() if value}
        differing = [name for name in sorted({*known, *expected}) if known.get(name) != expected.get(name)]
        if plain and differing and not simulation.scheduler.binder.waiting:
            counted, due = known.get(differing[0], 0), expected.get(differing[0], 0)
            yield f"{counted} {differing[0]} count as taken on {info.name}, it should be {due}"
