"""What the allocator chooses and refuses, against the plain search of ``naive``: order, completeness, preference.

Choices are looked at when the scheduler takes them, refusals when the cluster has come to rest.
"""

from collections.abc import Container, Iterator, Sequence
from typing import Final

from msgspec import Struct

from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult
from dralang.api.deviceclass import DeviceClass
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.cluster.taint_rules import with_rules
from dralang.run.invariants.amounts import UnclearError
from dralang.run.invariants.naive import Choice, Situation, first_solution
from dralang.run.invariants.rest import why_waiting
from dralang.run.invariants.world import DeviceId, World
from dralang.run.simulation import Simulation

_MOST_NODES: Final = 50
"""Of larger clusters the scheduler does not look at all nodes."""


class Taken(Struct, frozen=True):
    """What the scheduler has just taken for a pod.

    Attributes:
        pod: the pod.
        node: its node.
        claims: those that were allocated now, with what they were given, in the order of the search.
    """

    pod: Pod
    node: Node
    claims: tuple[tuple[ResourceClaim, AllocationResult], ...]


# ---- refusals -------------------------------------------------------------------------------------------------------


def refusals_are_right(simulation: Simulation, world: World) -> Iterator[str]:
    """A pod that waits for devices could not have them: no choice of devices satisfies its claims on any node."""
    if world.features.enabled("DRAPreemption"):
        return  # devices may be held for somebody
    for pod in simulation.pods():
        if pod.spec.node_name or pod.status.phase not in ("", "Pending") or pod.metadata.deletion_timestamp is not None:
            continue
        why = why_waiting(simulation, world, pod)
        if why is None or why.place != "unschedulable" or why.gate[0] or why.before_nodes[1]:
            continue
        for refusal in why.refusals:
            question = refusal.question
            if question is None or refusal.reasons != ("cannot allocate all claims",):
                continue
            found = _solution(world, _published(world, question.node), question.claims)
            if found:
                would = ", ".join(f"{'/'.join(each.id)} for {each.name}" for each in found)
                yield f"{pod.metadata.name} is refused on {refusal.node}, where {would} would do"
                break


def _published(world: World, node: Node) -> Situation:
    """A node at rest, by what is written."""
    rules = world.rules_since(world.events.now + 1)[-1]
    slices = [with_rules(each, rules) for each in world.store.objects(ResourceSlice)]
    classes = {each.metadata.name: each for each in world.store.objects(DeviceClass)}
    held = {device: [each for of in uses.values() for each in of] for device, uses in world.holders.items()}
    return Situation(node, slices, classes, held)


def _solution(world: World, situation: Situation, claims: Sequence[ResourceClaim]) -> list[Choice] | None:
    try:
        return first_solution(world, situation, claims)
    except UnclearError:
        return None


# ---- choices --------------------------------------------------------------------------------------------------------


def known_to_scheduler(simulation: Simulation, node: Node, without: Container[str]) -> Situation:
    """A node as the scheduler knows it, without what some claims (by UID) hold."""
    manager = simulation.scheduler.manager
    held: dict[DeviceId, list[DeviceRequestAllocationResult]] = {}
    for uid, allocation in manager.held().items():
        for result in allocation.devices.results if uid not in without else ():
            if not result.admin_access:
                held.setdefault((result.driver, result.pool, result.device), []).append(result)
    return Situation(node, manager.slices(), manager.classes(), held)


def _before(simulation: Simulation, taken: Taken, node: Node) -> Situation:
    """A node as the scheduler knew it before it took what it took."""
    return known_to_scheduler(simulation, node, {claim.metadata.uid for claim, _ in taken.claims})


def first_choice_in_order(simulation: Simulation, world: World, taken: Taken) -> Iterator[str]:
    """A pod gets the first choice of devices that is possible, by the order of requests, alternatives and devices."""
    if world.features.enabled("DRAPreemption") or world.profile.lacks & {"sorted pools", "sorted slices"}:
        return  # what was promised before, or an order of its own
    chosen = _solution(world, _before(simulation, taken, taken.node), [claim for claim, _ in taken.claims])
    if chosen is None:
        return
    for number, (claim, allocation) in enumerate(taken.claims):
        wanted = [(each.name, *each.id) for each in chosen if each.claim == number]
        has = [(each.request, each.driver, each.pool, each.device) for each in allocation.devices.results]
        if has != wanted:
            said = [", ".join(f"{'/'.join(rest)} for {name}" for name, *rest in each) for each in (has, wanted)]
            yield f"{claim.metadata.name} gets {said[0] or 'nothing'} on {taken.node.metadata.name}, not {said[1]}"


def better_alternatives_win(simulation: Simulation, world: World, taken: Taken) -> Iterator[str]:
    """Of two nodes that are alike in all else, a pod goes to the one where it gets the earlier alternatives."""
    if world.features.enabled("DRAPreemption") or world.features.version == "1.34":
        return  # 1.34 does not score
    claims = [claim for claim, _ in taken.claims]
    if not any(request.first_available for claim in claims for request in claim.spec.devices.requests):
        return
    if not _only_devices_decide(simulation, world, taken):
        return
    given = [[each.request for each in made.devices.results] for _, made in taken.claims]
    mine = sum(_rank(claim, names) for claim, names in zip(claims, given, strict=True))
    for info in simulation.scheduler.cache.nodes():
        other = info.api
        if other.metadata.name == taken.node.metadata.name or not _are_alike(simulation, taken, other):
            continue
        chosen = _solution(world, _before(simulation, taken, other), claims)
        if chosen is None:
            continue
        theirs = sum(choice.rank for choice in _one_per_request(chosen))
        if theirs < mine:
            yield (
                f"{taken.pod.metadata.name} gets alternatives later by {mine - theirs} on "
                f"{taken.node.metadata.name} than on {other.metadata.name}, which is like it"
            )


def _only_devices_decide(simulation: Simulation, world: World, taken: Taken) -> bool:
    """Whether neither the pod nor the scheduler's configuration prefers a node for other reasons."""
    spec, settings = taken.pod.spec, simulation.scheduler.settings
    default = settings.plugins is None and not settings.weights and not settings.off_at
    plain = spec.affinity is None and not spec.node_selector and not spec.topology_spread_constraints
    return (
        default
        and plain
        and len(taken.claims) == len(spec.resource_claims)
        and len(simulation.scheduler.cache.nodes()) <= _MOST_NODES
        and not world.features.enabled("DRANodeAllocatableResources")
    )


def _rank(claim: ResourceClaim, names: Sequence[str]) -> int:
    """How far from the first alternatives an allocation is, all requests together."""
    total = 0
    for request in claim.spec.devices.requests:
        for rank, alternative in enumerate(request.first_available):
            total += rank if f"{request.name}/{alternative.name}" in names else 0
    return total


def _one_per_request(chosen: Sequence[Choice]) -> list[Choice]:
    return list({(each.claim, each.name): each for each in chosen}.values())


def _are_alike(simulation: Simulation, taken: Taken, other: Node) -> bool:
    """Whether nothing but devices tells two nodes apart: the same kind of node, and nobody else on either."""
    mine = taken.node
    cache = simulation.scheduler.cache
    infos = [cache.node(mine.metadata.name), cache.node(other.metadata.name)]
    others = [uid for info in infos if info is not None for uid in info.pods if uid != taken.pod.metadata.uid]
    nominated = simulation.scheduler.nominator.nodes()
    return (
        not others
        and not nominated
        and mine.spec == other.spec
        and not mine.spec.taints
        and mine.status.allocatable == other.status.allocatable
        and _plain_labels(mine) == _plain_labels(other)
    )


def _plain_labels(node: Node) -> dict[str, str]:
    return {key: value for key, value in node.metadata.labels.items() if key != "kubernetes.io/hostname"}
