"""Why a pod waits, as a tree: node, what refused it there, request and device. Computed only when asked for."""

from typing import Final

from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.run.outcome import Why
from dralang.run.preempting import why_preemption
from dralang.run.refusals import explain_question
from dralang.run.simulation import Simulation
from dralang.run.view import pod_claims
from dralang.run.waiting import Refusal, waiting
from dralang.scenario.keys import ObjectKey
from dralang.values.duration import format_duration

MAX_NODES: Final = 8


def why_pod(simulation: Simulation, key: ObjectKey) -> tuple[Why, ...]:
    """Why a pod is in the state in which it is; empty where there is nothing to say."""
    pod = simulation.pod(key.namespace, key.name)
    if pod is None:
        return ()
    found = waiting(simulation, key.namespace, key.name)
    if found is None:
        return _of_claims(simulation, pod)
    if found.gate[0]:
        return (Why(f"{found.gate[1]} ({found.gate[0]}); the scheduler does not look at it before that"),)
    reasons: list[Why] = []
    if found.before_nodes[1]:
        plugin = f" ({found.before_nodes[0]})" if found.before_nodes[0] else ""
        reasons.append(Why(f"every node: {found.before_nodes[1]}{plugin}"))
    for refusal in found.refusals[:MAX_NODES]:
        reasons.append(_of_node(simulation, refusal))
    if len(found.refusals) > MAX_NODES:
        reasons.append(Why(f"and {len(found.refusals) - MAX_NODES} more nodes"))
    reasons += why_preemption(simulation, pod)
    if not reasons and found.next_try is not None:
        reasons.append(Why(f"nothing refuses it now; it is tried again at {format_duration(found.next_try)}"))
    return tuple(reasons)


def _of_node(simulation: Simulation, refusal: Refusal) -> Why:
    texts = ", ".join(refusal.reasons)
    because = () if refusal.question is None else explain_question(simulation, refusal.question)
    return Why(f"node {refusal.node}: {texts} ({refusal.plugin})", because)


def why_claim(simulation: Simulation, key: ObjectKey) -> tuple[Why, ...]:
    """Why a claim is in the state in which it is: who would have to allocate it."""
    claim = simulation.claim(key.namespace, key.name)
    if claim is None:
        return ()
    if claim.status.allocation is not None:
        return (Why(f"claim {key.spoken}: {_held(claim)}"),)
    users = [
        pod
        for pod in simulation.pods()
        if any(used is not None and used.metadata.uid == claim.metadata.uid for _, used in pod_claims(simulation, pod))
    ]
    if not users:
        return (Why(f"no pod uses claim {key.spoken}: a claim is allocated for the first pod that needs it"),)
    return tuple(
        Why(
            f"pod {pod.metadata.name} would have it allocated",
            why_pod(simulation, ObjectKey("Pod", pod.metadata.namespace, pod.metadata.name)),
        )
        for pod in users[:3]
    )


def _of_claims(simulation: Simulation, pod: Pod) -> tuple[Why, ...]:
    return tuple(
        Why(f"claim {entry} is {claim.metadata.name}: {_held(claim)}")
        for entry, claim in pod_claims(simulation, pod)
        if claim is not None
    )


def _held(claim: ResourceClaim) -> str:
    allocation = claim.status.allocation
    if allocation is None:
        return "not allocated"
    results = allocation.devices.results
    return ", ".join(f"{r.driver}/{r.pool}/{r.device} for {r.request}" for r in results) or "no device"
