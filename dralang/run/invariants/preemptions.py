"""What preemption may do to others (KEP-5690): no victim too many, none too soon, and what is promised is kept."""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from dralang.api.allocation import AllocationResult
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.cluster.podclaims import used_claim_names
from dralang.run.invariants.amounts import UnclearError
from dralang.run.invariants.feasible import Taken, known_to_scheduler
from dralang.run.invariants.naive import first_solution
from dralang.run.invariants.world import Waited, World, device_name
from dralang.run.simulation import Simulation

_MOST_VICTIMS: Final = 6


class Chosen(Struct, frozen=True):
    """Preemption has chosen.

    Attributes:
        pod: the preemptor.
        node: where.
        victims: who has to go.
    """

    pod: Pod
    node: Node
    victims: tuple[Pod, ...]


def victims_are_needed(simulation: Simulation, world: World, chosen: Chosen) -> Iterator[str]:
    """Without its victims the preemptor has its devices, and with any one of them it had not."""
    manager = simulation.scheduler.manager
    if len(chosen.victims) > _MOST_VICTIMS or manager.nominations.all() or not _only_devices_matter(chosen):
        return
    if simulation.scheduler.nominator.nodes():
        return
    claims = [each for each in _claims(simulation, chosen.pod) if manager.allocation_of(each.metadata.uid) is None]
    freed = [(victim, _freed(simulation, chosen, victim)) for victim in chosen.victims]
    together = {uid for _, own in freed for uid in own}
    if not claims or any(claim for _, own in freed for claim in own if claim not in together):
        return
    name, node = chosen.pod.metadata.name, chosen.node.metadata.name
    possible = _is_possible(simulation, world, chosen.node, claims, together)
    if possible is False:
        yield f"{name} preempts on {node}, and does not get its devices there without its victims either"
    for victim, own in freed if possible else ():
        if _is_possible(simulation, world, chosen.node, claims, together - set(own)):
            yield f"{name} preempts {victim.metadata.name} on {node}, who could have stayed"


def _only_devices_matter(chosen: Chosen) -> bool:
    """Whether nobody takes anything of the node itself."""
    return not any(
        container.resources.requests or container.ports
        for pod in (chosen.pod, *chosen.victims)
        for container in (*pod.spec.containers, *pod.spec.init_containers)
    ) and all(
        pod.spec.affinity is None and not pod.spec.topology_spread_constraints for pod in (chosen.pod, *chosen.victims)
    )


def _claims(simulation: Simulation, pod: Pod) -> list[ResourceClaim]:
    found = [simulation.claim(pod.metadata.namespace, name) for name in used_claim_names(pod)]
    return [claim for claim in found if claim is not None]


def _freed(simulation: Simulation, chosen: Chosen, victim: Pod) -> list[str]:
    """The claims of a victim that nobody but victims uses."""
    leaving = {each.metadata.uid for each in chosen.victims}
    leaving |= {each.metadata.uid for each in simulation.pods() if each.metadata.deletion_timestamp is not None}
    manager = simulation.scheduler.manager
    return [
        claim.metadata.uid
        for claim in _claims(simulation, victim)
        if {user.uid for user in claim.status.reserved_for} | manager.sharers(claim.metadata.uid) <= leaving
    ]


def _is_single(simulation: Simulation, pod: Pod) -> bool:
    """Whether the KEP speaks of the pod: it is in no group, and uses no extended resources that devices serve."""
    names = simulation.scheduler.manager.names
    containers = (*pod.spec.containers, *pod.spec.init_containers)
    extended = any(names.class_for(name) is not None for each in containers for name in each.resources.requests)
    return pod.spec.scheduling_group is None and not extended and bool(pod.spec.resource_claims)


def _is_local(simulation: Simulation, allocation: AllocationResult) -> bool:
    """Whether all devices are published for one node by its name."""
    local = {
        (spec.driver, spec.pool.name, device.name)
        for spec in (each.spec for each in simulation.store.objects(ResourceSlice))
        for device in spec.devices
        if (device.node_name if spec.per_device_node_selection else spec.node_name) is not None
    }
    return all((each.driver, each.pool, each.device) in local for each in allocation.devices.results)


def _is_possible(
    simulation: Simulation, world: World, node: Node, claims: Sequence[ResourceClaim], without: set[str]
) -> bool | None:
    """Whether claims can be allocated on a node if others are free; None if that is not judged."""
    situation = known_to_scheduler(simulation, node, without)
    specs = tuple([claim.spec for claim in claims])
    known = None if world.right is None else world.right.is_possible(node, specs, situation.held)
    if known is not None:
        return known
    try:
        possible = first_solution(world, situation, claims) is not None
    except UnclearError:
        return None
    if world.right is not None:
        world.right.note_possible(node, specs, situation.held, possible=possible)
    return possible


def one_preemption_at_a_time(simulation: Simulation, world: World, chosen: Chosen) -> Iterator[str]:
    """A preemptor takes no further victims on its node before the claims of the first ones are deallocated."""
    uid, manager = chosen.pod.metadata.uid, simulation.scheduler.manager
    before = world.waited.get(uid)
    if (
        before is not None
        and before.memory is manager
        and before.node == chosen.node.metadata.name == simulation.scheduler.nominator.node_of(uid)
        # A nomination that has ended defers nothing, even if somebody sets the nominated node again.
        and manager.nominations.on(uid, before.node) is not None
    ):
        for claim, allocation in before.claims:
            if manager.allocation_of(claim) is allocation:
                yield f"{chosen.pod.metadata.name} preempts again on {before.node}, and claim {claim} is not free yet"
    asks = any(manager.allocation_of(each.metadata.uid) is None for each in _claims(simulation, chosen.pod))
    claims = [
        (claim, held)
        for victim in chosen.victims
        if asks and _is_single(simulation, chosen.pod) and _is_single(simulation, victim)
        for claim in _freed(simulation, chosen, victim)
        if (held := manager.allocation_of(claim)) is not None and _is_local(simulation, held)
    ]
    world.waited[uid] = Waited(manager, chosen.node.metadata.name, tuple(claims))


def promises_are_kept(simulation: Simulation, world: World, taken: Taken) -> Iterator[str]:
    """What is held for a preemptor goes to nobody of equal or lower priority."""
    node = taken.node.metadata.name
    manager = simulation.scheduler.manager
    for uid, held in manager.nominations.all().items():
        if uid == taken.pod.metadata.uid or held.node != node or held.priority < (taken.pod.spec.priority or 0):
            continue
        promised = {
            (each.driver, each.pool, each.device)
            for claim, result in held.results
            # A shared claim that another pod has allocated meanwhile is where it is: nothing else is held for it.
            if manager.allocation_of(claim.metadata.uid) is None
            for each in result.devices.results
            if each.share_id is None and not each.admin_access
        }
        for _, allocation in taken.claims:
            for result in allocation.devices.results:
                if (result.driver, result.pool, result.device) in promised and not result.admin_access:
                    name = taken.pod.metadata.name
                    yield f"{name} takes {device_name(result)} on {node}, which is held for pod {uid}"
