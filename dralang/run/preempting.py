"""What preemption would do for a pod now, and what it has done: devices held, claims waited for, victims considered.

Computed when somebody asks, from the cluster as it is; asking changes nothing.
"""

from typing import NamedTuple

from dralang.api.pods import TERMINAL, Pod
from dralang.run.outcome import Why
from dralang.run.simulation import Simulation
from dralang.scheduler.framework import CycleState, NodeStatuses
from dralang.scheduler.node_info import PodInfo
from dralang.scheduler.preemption import Considered, describe


class Chance(NamedTuple):
    """Whether a pod could preempt now.

    Attributes:
        holds: whether an attempt would nominate it.
        text: whom it would evict and where, or why it would not.
        considered: the candidates, None if no attempt would get that far.
    """

    holds: bool
    text: str
    considered: Considered | None = None


def chance_of(simulation: Simulation, pod: Pod) -> Chance:
    """Whether a preemption attempt of the pod would nominate a node now."""
    name = pod.metadata.name
    scheduler = simulation.scheduler
    if pod.spec.node_name or pod.status.phase in TERMINAL:
        return Chance(holds=False, text=f"{name} has no need to preempt")
    if pod.metadata.deletion_timestamp is not None or pod.metadata.uid in scheduler.binder.waiting:
        return Chance(holds=False, text=f"{name} is not tried any more")
    group = pod.spec.scheduling_group
    if scheduler.groups.enabled and group is not None and group.pod_group_name is not None:
        return Chance(holds=False, text=f"{name} belongs to a pod group, which does not preempt")
    gate = scheduler.gate_of(pod)
    if not gate.is_success:
        return Chance(holds=False, text=f"{name} is not tried: {gate.message}")
    queued = scheduler.queue.get(pod.metadata.uid)
    info = queued.info if queued is not None and queued.pod is pod else PodInfo(pod)
    state = CycleState()
    nodes = scheduler.cache.nodes()
    statuses = NodeStatuses()
    status, names, _ = scheduler.algorithm.pre_filter(state, info, nodes)
    if status.is_success:
        for node in nodes:
            if names is None or node.name in names:
                verdict = scheduler.algorithm.filter(state, info, node)
                if verdict.is_success:
                    return Chance(holds=False, text=f"{name} fits on {node.name} without preemption")
                statuses.own[node.name] = verdict
    else:
        statuses.absent = status
    found = scheduler.preemption.consider(state, info, statuses)
    if found.obstacle:
        return Chance(holds=False, text=f"{name} is {found.obstacle.rstrip('.')}", considered=found)
    if not found.candidates:
        return Chance(holds=False, text=f"{name} finds no victims", considered=found)
    best = scheduler.preemption.choose(found.candidates)
    victims = ", ".join(victim.pod.metadata.name for victim in best.victims)
    return Chance(holds=True, text=f"{name} can preempt {victims} on {best.node}", considered=found)


def why_preemption(simulation: Simulation, pod: Pod) -> tuple[Why, ...]:
    """What is held for a waiting pod, what it waits for, and whom it could preempt."""
    if not simulation.scheduler.algorithm.knows_nominations:
        return ()
    reasons = [*_nomination(simulation, pod), *_held_for_others(simulation, pod)]
    chance = chance_of(simulation, pod)
    found = chance.considered
    if found is None:
        return tuple(reasons)
    if found.obstacle:
        reasons.append(Why(f"preemption: {found.obstacle}"))
        return tuple(reasons)
    best = simulation.scheduler.preemption.choose(found.candidates) if found.candidates else None
    table = [Why(describe(candidate, chosen=candidate is best)) for candidate in found.candidates]
    table += [Why(f"node {node}: {status.message}") for node, status in found.tried.own.items()]
    if table:
        reasons.append(Why("preemption, tried again now", tuple(table)))
    return tuple(reasons)


def _nomination(simulation: Simulation, pod: Pod) -> list[Why]:
    nominations = simulation.scheduler.manager.nominations
    node = simulation.scheduler.nominator.node_of(pod.metadata.uid)
    if not node:
        return []
    held = nominations.on(pod.metadata.uid, node)
    because: list[Why] = []
    if held is not None:
        for claim, result in held.results:
            devices = ", ".join(each.device for each in result.devices.results)
            because.append(Why(f"{devices} held for claim {claim.metadata.name}"))
    names = {claim.metadata.uid: claim.metadata.name for claim in simulation.claims()}
    waited = [names.get(uid, uid) for uid in nominations.victims_on(node)]
    if waited:
        because.append(Why(f"no further preemption before these claims are deallocated: {', '.join(waited)}"))
    return [Why(f"nominated on {node}", tuple(because))]


def _held_for_others(simulation: Simulation, pod: Pod) -> list[Why]:
    nominations = simulation.scheduler.manager.nominations
    names = {each.metadata.uid: each.metadata.name for each in simulation.pods()}
    reasons = []
    for uid, held in nominations.all().items():
        if uid == pod.metadata.uid or held.priority < (pod.spec.priority or 0):
            continue
        devices = ", ".join(each.device for _, result in held.results for each in result.devices.results)
        reasons.append(Why(f"{devices} on {held.node} held for pod {names.get(uid, uid)} (priority {held.priority})"))
    return reasons
