"""Invariants of a cluster that has come to rest: nothing is held for nobody, and everybody knows what is written."""

from collections.abc import Iterator

from dralang.allocator.state import AllocatedState
from dralang.api.pods import TERMINAL, Pod
from dralang.api.workloads import PodGroup
from dralang.cluster.podclaims import used_claim_names
from dralang.run.invariants.world import World
from dralang.run.simulation import Simulation
from dralang.run.waiting import Waiting, waiting


def memory_is_what_is_written(simulation: Simulation, world: World) -> Iterator[str]:
    """A scheduler that starts again would count the same devices, shares and capacity as in use."""
    manager = simulation.scheduler.manager
    if manager.left_of_remade():
        return
    claims = [each for each in simulation.claims() if each.status.allocation is not None]
    written = [
        (f"{each.metadata.namespace}/{each.metadata.name}", each.status.allocation)
        for each in claims
        if each.status.allocation is not None
    ]
    fresh = AllocatedState.of(written, world.profile.features)
    pools = {(result.driver, result.pool) for _, allocation in written for result in allocation.devices.results} | {
        device[:2] for device in world.holders
    }
    for pool in sorted(pools):
        kept, wanted = manager.state.pool(pool), fresh.pool(pool)
        if kept.devices() != wanted.devices():
            differing = sorted(kept.devices() ^ wanted.devices())
            yield f"the scheduler and the claims differ on {', '.join(differing)} of pool {pool[1]}"
        for device in sorted(set(kept.shares) | set(wanted.shares)):
            ids = [sorted(share.id for share in each.shares.get(device, ())) for each in (kept, wanted)]
            if ids[0] != ids[1]:
                yield f"the scheduler knows other shares of {device} in pool {pool[1]} than the claims have"
            if dict(kept.consumed.get(device, {})) != dict(wanted.consumed.get(device, {})):
                yield f"the scheduler counts another use of {device} in pool {pool[1]} than the claims do"
    on_their_way = set(simulation.scheduler.binder.waiting)
    for each in claims:
        uid = each.metadata.uid
        if manager.pending(uid) is not None and not manager.sharers(uid) & on_their_way:
            yield f"the allocation of {each.metadata.name} is written and still counts as in flight"


def pods_where_the_scheduler_thinks(simulation: Simulation, world: World) -> Iterator[str]:
    """The scheduler places every pod where it runs, and a pod that has ended nowhere."""
    waiting = simulation.scheduler.binder.waiting
    for each in simulation.pods():
        placed = each.spec.node_name if each.status.phase not in TERMINAL else ""
        if not placed and each.metadata.uid in waiting:
            placed = waiting[each.metadata.uid].node  # its devices are being made ready
        known = simulation.scheduler.cache.node_of(each.metadata.uid)
        if known != placed:
            yield f"the scheduler counts {each.metadata.name} on {known or 'no node'}, it is on {placed or 'no node'}"


def reservations_of_the_living(simulation: Simulation, world: World) -> Iterator[str]:
    """A claim is reserved only for pods and pod groups that exist and have not ended."""
    alive = {each.metadata.uid for each in simulation.pods() if each.status.phase not in TERMINAL}
    alive |= {each.metadata.uid for each in simulation.store.objects(PodGroup)}
    for claim in simulation.claims():
        if claim.metadata.uid not in world.served:
            continue  # written by the author of the story
        for user in claim.status.reserved_for:
            if user.uid not in alive and user.resource in ("pods", "podgroups"):
                yield f"{claim.metadata.name} is reserved for {user.name}, which is gone or has ended"


def running_pods_keep_their_claims(simulation: Simulation, world: World) -> Iterator[str]:
    """Every claim of a pod that runs is allocated and reserved for it."""
    for pod in simulation.pods():
        if pod.status.phase != "Running" or pod.metadata.deletion_timestamp is not None:
            continue
        for name in used_claim_names(pod):
            claim = simulation.claim(pod.metadata.namespace, name)
            if claim is None or claim.status.allocation is None:
                yield f"{pod.metadata.name} runs and its claim {name} is not allocated"
            elif not any(
                user.uid == pod.metadata.uid or user.resource == "podgroups" for user in claim.status.reserved_for
            ):
                yield f"{pod.metadata.name} runs and its claim {name} is not reserved for it"


def unused_claims_are_free(simulation: Simulation, world: World) -> Iterator[str]:
    """A claim that has been used, is reserved for nobody and that no pod waits for holds no device."""
    # A binding that fails gives up the reservation and not the allocation, which the pod finds when it is tried again;
    # if it is deleted before that, the claim keeps its devices, as in Kubernetes.
    wanted = {
        (pod.metadata.namespace, name)
        for pod in simulation.pods()
        if not pod.spec.node_name and pod.metadata.deletion_timestamp is None
        for name in used_claim_names(pod)
    }
    for claim in simulation.claims():
        if (claim.metadata.namespace, claim.metadata.name) in wanted:
            continue
        used = claim.metadata.uid in world.served and claim.metadata.uid not in world.given_back
        if used and claim.status.allocation is not None and not claim.status.reserved_for:
            yield f"{claim.metadata.name} is allocated and reserved for nobody"


def generated_claims_go_with_their_pod(simulation: Simulation, world: World) -> Iterator[str]:
    """A claim that was made for a pod does not outlive it."""
    alive = {each.metadata.uid for each in simulation.pods()}
    alive |= {each.metadata.uid for each in simulation.store.objects(PodGroup)}
    for claim in simulation.claims():
        for owner in claim.metadata.owner_references:
            if owner.controller and owner.kind in ("Pod", "PodGroup") and owner.uid not in alive:
                yield f"{claim.metadata.name} was made for {owner.name}, which is gone"


def why_waiting(simulation: Simulation, world: World, pod: Pod) -> Waiting | None:
    """Why a pod waits; asked once for all who want to know it at one moment."""
    moment = (simulation.now, simulation.events.executed, simulation.store.revision, len(simulation.trace))
    if world.moment != moment:
        world.moment = moment
        world.waits.clear()
    uid = pod.metadata.uid
    if uid not in world.waits:
        world.waits[uid] = waiting(simulation, pod.metadata.namespace, pod.metadata.name)
    return world.waits[uid]


def who_waits_has_to(simulation: Simulation, world: World) -> Iterator[str]:
    """Of the pods that only a change can help, none would be scheduled by one more attempt."""
    for pod in simulation.pods():
        if pod.spec.node_name or pod.status.phase not in ("", "Pending") or pod.spec.scheduling_group is not None:
            continue
        if pod.metadata.deletion_timestamp is not None:
            continue
        why = why_waiting(simulation, world, pod)
        if why is None or why.place != "unschedulable" or why.gate[0] or why.before_nodes[1]:
            continue
        if world.may_be_overlooked() or _is_deferred(simulation, pod):
            continue
        refusing = {each.node for each in why.refusals}
        free = [each.metadata.name for each in simulation.nodes() if each.metadata.name not in refusing]
        if free:
            yield f"{pod.metadata.name} waits for a change, and would be scheduled on {', '.join(free[:3])} at once"


def _is_deferred(simulation: Simulation, pod: Pod) -> bool:
    """Whether a preemptor waits for claims of its node, whoever waits for them: nothing else wakes it (KEP-5690)."""
    nominations = simulation.scheduler.manager.nominations
    held = nominations.of(pod.metadata.uid)
    return held is not None and bool(nominations.victims_on(held.node))


def is_undisturbed(simulation: Simulation) -> bool:
    """Whether nobody is paused: only then everybody has heard of everything."""
    return simulation.events.near_count == 0 and not any(map(simulation.events.is_paused, simulation.components()))
