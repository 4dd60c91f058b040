"""Why a pod waits: what holds it back, which node refused it and for which reason, and what the allocator was asked.

Computed when somebody asks, from the cluster as it is; asking changes nothing.
"""

from typing import NamedTuple

from dralang.allocator.inventory import Inventory
from dralang.allocator.state import AllocatedState
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.run.simulation import Simulation
from dralang.scheduler.dynamicresources.cycle_data import STATE
from dralang.scheduler.framework import Code, CycleState, Status
from dralang.scheduler.node_info import PodInfo
from dralang.scheduler.queue import Place


class AllocationQuestion(NamedTuple):
    """What the allocator was asked for one node; ask it again for the details.

    Attributes:
        inventory: slices and classes.
        state: what was taken.
        node: the node.
        claims: the claims to allocate together.
    """

    inventory: Inventory
    state: AllocatedState
    node: Node
    claims: tuple[ResourceClaim, ...]


class Refusal(NamedTuple):
    """Why one node does not take the pod.

    Attributes:
        node: its name.
        plugin: which plugin refused.
        reasons: the texts that go into the message.
        preemption_may_help: whether evicting pods could change that.
        question: what the allocator was asked, if it refused.
    """

    node: str
    plugin: str
    reasons: tuple[str, ...]
    preemption_may_help: bool
    question: AllocationQuestion | None


class Waiting(NamedTuple):
    """A pod that has no node.

    Attributes:
        place: the queue in which it waits, `gone` if it is not for this scheduler.
        attempts: how often it was tried.
        gate: why it is not tried at all: plugin and text, empty if nothing holds it back.
        before_nodes: why no node was looked at: plugin and text, empty if nodes were looked at.
        refusals: the nodes in the order of the search.
        next_try: when it is tried again by itself, in milliseconds; None if only a change can help.
    """

    place: Place
    attempts: int
    gate: tuple[str, str]
    before_nodes: tuple[str, str]
    refusals: tuple[Refusal, ...]
    next_try: int | None


def waiting(simulation: Simulation, namespace: str, name: str) -> Waiting | None:
    """Why a pod waits; None if there is no such pod or it has a node."""
    pod = simulation.pod(namespace, name)
    if pod is None or pod.spec.node_name:
        return None
    scheduler = simulation.scheduler
    queued = scheduler.queue.get(pod.metadata.uid)
    if queued is None:
        return Waiting("gone", 0, ("", ""), ("", ""), (), None)
    gate = scheduler.gate_of(pod)
    next_try = queued.timer.time if queued.timer is not None and queued.place != "unschedulable" else None
    if gate.plugin:
        return Waiting(queued.place, queued.attempts, (gate.plugin, gate.message), ("", ""), (), next_try)
    before, refusals = _refusals(simulation, pod)
    return Waiting(queued.place, queued.attempts, ("", ""), before, refusals, next_try)


def _refusals(simulation: Simulation, pod: Pod) -> tuple[tuple[str, str], tuple[Refusal, ...]]:
    """Go through the filters once more, on all nodes."""
    scheduler = simulation.scheduler
    info = PodInfo(pod)
    state = CycleState()
    nodes = scheduler.cache.nodes()
    if not nodes:
        return ("", "no nodes available to schedule pods"), ()
    status, names, restricting = scheduler.algorithm.pre_filter(state, info, nodes)
    if not status.is_success:
        return (status.plugin, status.message), ()
    verdicts: dict[str, Status] = {}
    for node in nodes:
        if names is None or node.name in names:
            verdict = scheduler.algorithm.filter(state, info, node)
            if not verdict.is_success:
                verdicts[node.name] = verdict
    data = state.read(STATE)
    refusals = []
    elsewhere = f"node(s) didn't satisfy plugin(s) [{' '.join(sorted(restricting))}]"
    for node in nodes:
        if node.name not in verdicts:
            if names is not None and node.name not in names:
                refusals.append(
                    Refusal(node.name, restricting[0], (elsewhere,), preemption_may_help=False, question=None)
                )
            continue
        verdict = verdicts[node.name]
        question = None
        if verdict.plugin == scheduler.dynamic_resources.name and data is not None and data.inventory is not None:
            claims = scheduler.dynamic_resources.claims_for(data, info, node)
            if claims and data.allocated is not None:
                question = AllocationQuestion(data.inventory, data.allocated, node.api, tuple(claims))
        refusals.append(
            Refusal(node.name, verdict.plugin, verdict.reasons, verdict.code is Code.UNSCHEDULABLE, question)
        )
    return ("", ""), tuple(refusals)
