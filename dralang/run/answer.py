"""What is the case with one object, and why: for people who ask about a cluster."""

from typing import Any

from msgspec import Struct

from dralang.api.nodes import Node
from dralang.api.pods import TERMINAL, Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.run.outcome import Why
from dralang.run.simulation import Simulation
from dralang.run.states import describe_claim, describe_pod
from dralang.run.view import PublishedDevice, effective_taints, holders, published, stored_type
from dralang.run.waiting import waiting
from dralang.run.why import why_claim, why_pod
from dralang.scenario.keys import ObjectKey
from dralang.scheduler.cycle import Found
from dralang.scheduler.dynamicresources.cycle_data import STATE
from dralang.scheduler.framework import CycleState
from dralang.scheduler.node_info import PodInfo


class Answer(Struct, frozen=True):
    """The state of an object, and the reasons for it."""

    state: str
    why: tuple[Why, ...]


def answer(simulation: Simulation, key: ObjectKey) -> Answer | None:
    """What is the case with a pod, a claim or a node; None if there is no such object."""
    found = simulation.store.get(stored_type(key.kind), key.namespace, key.name)
    name = f"{key.kind.lower().removeprefix('resource')} {key.spoken}"
    if isinstance(found, Pod):
        reasons = _free_to_go(simulation, found) + why_pod(simulation, key)
        return Answer(describe_pod(simulation, name, found), reasons)
    if isinstance(found, ResourceClaim):
        return Answer(describe_claim(name, found), why_claim(simulation, key))
    if isinstance(found, Node):
        return _node(simulation, found)
    return None


def known_names(simulation: Simulation, kind: str) -> list[str]:
    """The names of all objects of a kind, with their namespaces."""
    objects: list[Any] = simulation.store.objects(stored_type(kind))
    return [ObjectKey(kind, each.metadata.namespace, each.metadata.name).spoken for each in objects]


def _free_to_go(simulation: Simulation, pod: Pod) -> tuple[Why, ...]:
    """A waiting pod that some node takes: where the scheduler would put it. Asking reserves nothing."""
    scheduler = simulation.scheduler
    held_back = waiting(simulation, pod.metadata.namespace, pod.metadata.name)
    if held_back is None or pod.status.phase in TERMINAL or held_back.gate[0]:
        return ()
    if pod.spec.scheduler_name != scheduler.settings.name:
        return (Why(f"it waits for scheduler {pod.spec.scheduler_name}; this one is {scheduler.settings.name}"),)
    state = CycleState()
    found = scheduler.algorithm.schedule(state, PodInfo(pod), post_filter=False)
    if not isinstance(found, Found):
        return ()
    data = state.read(STATE)
    allocation = None if data is None else data.nodes.get(found.node)
    devices = [
        f"{each.driver}/{each.pool}/{each.device} for {each.request}"
        for result in (() if allocation is None else allocation.results)
        for each in result.devices.results
    ]
    because = (Why(f"with {', '.join(devices)}"),) if devices else ()
    return (Why(f"the scheduler would put it on node {found.node} now", because),)


def _node(simulation: Simulation, node: Node) -> Answer:
    name = node.metadata.name
    pods = [
        pod for pod in simulation.pods() if pod.spec.node_name == name and pod.status.phase in ("Pending", "Running")
    ]
    state = f"node {name}{' is cordoned,' if node.spec.unschedulable else ''} has {len(pods)} pods"
    reasons = [Why(f"taint {taint.key}={taint.value or ''}:{taint.effect}") for taint in node.spec.taints]
    reasons += [
        Why(describe_pod(simulation, f"pod {ObjectKey('Pod', pod.metadata.namespace, pod.metadata.name).spoken}", pod))
        for pod in pods
    ]
    for each in simulation.store.objects(ResourceSlice):
        if each.spec.node_name == name:
            devices = [Why(_device(simulation, PublishedDevice(each, device))) for device in each.spec.devices]
            reasons.append(Why(f"slice {each.metadata.name}: {len(devices)} devices", tuple(devices)))
    return Answer(state, tuple(reasons))


def _device(simulation: Simulation, device: PublishedDevice) -> str:
    current = any(found.slice is device.slice for found in published(simulation, device.full_name))
    if not current:
        return f"{device.device.name} is of an older generation of its pool"
    parts = []
    for holder in holders(simulation, device.full_name):
        meta = holder.claim.metadata
        users = ", ".join([consumer.name for consumer in holder.claim.status.reserved_for])
        claim = ObjectKey("ResourceClaim", meta.namespace, meta.name).spoken
        parts.append(f"held by claim {claim}{f' (pod {users})' if users else ''}")
    taints = effective_taints(simulation, device)
    parts += [f"tainted {taint.key}={taint.value or ''}:{taint.effect}" for taint in taints]
    return f"{device.device.name} is {', '.join(parts) or 'free'}"
