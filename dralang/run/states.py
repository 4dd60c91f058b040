"""How things are, in words: the actual side of a failed expectation."""

from typing import Any

from dralang.api.pods import TERMINAL, Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.run.simulation import Simulation
from dralang.run.view import (
    full_device_name,
    holders,
    is_terminating,
    pod_condition,
    pod_devices,
    results_of,
    scheduling_message,
    short_names,
)


def describe_pod(simulation: Simulation, name: str, pod: Pod | None) -> str:
    """``train runs on worker-1 with gpu-0``."""
    if pod is None:
        return f"{name} does not exist"
    status = pod.status
    where = f" on {pod.spec.node_name}" if pod.spec.node_name else ""
    if is_terminating(pod):
        return f"{name} is terminating{where}"
    if status.phase == "Running":
        devices = short_names([full_device_name(result) for result in pod_devices(simulation, pod)])
        return f"{name} runs{where}{' with ' + ', '.join(devices) if devices else ''}"
    if status.phase in TERMINAL:
        return f"{name} has {status.phase.lower()}"
    nominated = f", nominated on {status.nominated_node_name}" if status.nominated_node_name else ""
    if where:
        return f"{name} is bound{where} and has not started"
    message = scheduling_message(pod)
    if message:
        return f"{name} is pending{nominated} because {message!r}"
    waiting = pod_condition(pod, "PodScheduled")
    reason = f" ({waiting.reason})" if waiting is not None and waiting.reason else ""
    return f"{name} is pending{nominated}{reason}, the scheduler has not said why"


def describe_claim(name: str, claim: ResourceClaim | None) -> str:
    """``share is allocated eth-0 for nic, reserved for user``."""
    if claim is None:
        return f"{name} does not exist"
    parts = []
    if claim.status.allocation is None:
        parts.append("is not allocated")
    else:
        results = results_of(claim)
        devices = short_names([full_device_name(result) for result in results])
        listed = ", ".join(
            f"{device} for {result.request}{_consumed(result)}" for device, result in zip(devices, results, strict=True)
        )
        parts.append(f"is allocated {listed}" if listed else "is allocated no device")
    consumers = ", ".join(consumer.name for consumer in claim.status.reserved_for)
    parts.append(f"reserved for {consumers}" if consumers else "reserved for nobody")
    if is_terminating(claim):
        parts.append("terminating")
    return f"{name} {', '.join(parts)}"


def _consumed(result: Any) -> str:
    if not result.consumed_capacity:
        return ""
    amounts = ", ".join(f"{name}: {amount}" for name, amount in sorted(result.consumed_capacity.items()))
    return f" consuming {{ {amounts} }}"


def describe_device(simulation: Simulation, full_name: str) -> str:
    """``gpu-0 is held by claim serve-gpu``."""
    found = holders(simulation, full_name)
    if not found:
        return f"{full_name} is free"
    claims = ", ".join(holder.claim.metadata.name for holder in found)
    return f"{full_name} is held by claim {claims}"


def describe_object(name: str, found: Any | None) -> str:
    """Any other object: whether it exists and is being deleted."""
    if found is None:
        return f"{name} does not exist"
    return f"{name} is terminating" if is_terminating(found) else f"{name} exists"
