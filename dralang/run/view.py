"""What expectations look at: the objects of a simulated cluster, by the words of the language."""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from dralang.api.allocation import DeviceRequestAllocationResult
from dralang.api.device import DeviceTaint
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.kinds import KINDS
from dralang.api.meta import Condition
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import Device, ResourceSlice
from dralang.cluster.taint_rules import selects
from dralang.run.simulation import Simulation
from dralang.scenario.keys import ObjectKey


class PublishedDevice(Struct, frozen=True):
    """A device of a slice that exists."""

    slice: ResourceSlice
    device: Device

    @property
    def full_name(self) -> str:
        """driver/pool/device."""
        spec = self.slice.spec
        return f"{spec.driver}/{spec.pool.name}/{self.device.name}"


class Holder(Struct, frozen=True):
    """A claim that holds a device, and the result that says so."""

    claim: ResourceClaim
    result: DeviceRequestAllocationResult


def find(simulation: Simulation, key: ObjectKey) -> Any | None:
    """The object of a key, or None."""
    return simulation.store.get(stored_type(key.kind), key.namespace, key.name)


def stored_type(kind: str) -> type[Any]:
    """The Python type of a kind."""
    return KINDS[kind].type


def matching(simulation: Simulation, kind: str, namespace: str, glob: str) -> list[Any]:
    """The existing objects of a kind whose names match, in the order of their creation."""
    return [
        found
        for found in simulation.store.objects(stored_type(kind))
        if fnmatchcase(found.metadata.name, glob) and (not namespace or found.metadata.namespace == namespace)
    ]


# ---- pods -----------------------------------------------------------------------------------------------------------


def is_terminating(found: Any) -> bool:
    """Whether an object is being deleted."""
    return found.metadata.deletion_timestamp is not None


def pod_condition(pod: Pod, condition: str) -> Any | None:
    """A condition of a pod's status."""
    return next((each for each in pod.status.conditions if each.type == condition), None)


def scheduling_message(pod: Pod) -> str:
    """Why a pod has no node, in the scheduler's words; empty if it has said nothing."""
    condition = pod_condition(pod, "PodScheduled")
    return condition.message if condition is not None and condition.status == "False" else ""


def pod_claims(simulation: Simulation, pod: Pod) -> Iterator[tuple[str, ResourceClaim | None]]:
    """The claims of a pod: the name of its entry, and the claim if it exists."""
    generated = {status.name: status.resource_claim_name for status in pod.status.resource_claim_statuses}
    namespace = pod.metadata.namespace
    for entry in pod.spec.resource_claims:
        name = entry.resource_claim_name or generated.get(entry.name)
        yield entry.name, simulation.claim(namespace, name) if name else None
    extended = pod.status.extended_resource_claim_status
    if extended is not None:
        yield "extended resources", simulation.claim(namespace, extended.resource_claim_name)


def results_of(claim: ResourceClaim) -> tuple[DeviceRequestAllocationResult, ...]:
    """What a claim's allocation holds, in order; empty without one."""
    allocation = claim.status.allocation
    return () if allocation is None else allocation.devices.results


def pod_devices(simulation: Simulation, pod: Pod) -> list[DeviceRequestAllocationResult]:
    """All devices of a pod's claims, in the order of the claims."""
    return [result for _, claim in pod_claims(simulation, pod) if claim is not None for result in results_of(claim)]


# ---- devices --------------------------------------------------------------------------------------------------------


def full_device_name(result: DeviceRequestAllocationResult) -> str:
    """driver/pool/device of a result."""
    return f"{result.driver}/{result.pool}/{result.device}"


def is_suffix(name: str, full: str) -> bool:
    """Whether a device is meant by a suffix, at a ``/``, of its full name."""
    return full == name or full.endswith("/" + name)


def short_names(full_names: list[str]) -> list[str]:
    """The names by which people would call these devices: as short as they stay different."""
    result = []
    for full in full_names:
        device = full.rpartition("/")[2]
        alike = {other for other in full_names if other.rpartition("/")[2] == device}
        result.append(device if len(alike) == 1 else full.partition("/")[2])
    return result


def published(simulation: Simulation, name: str) -> list[PublishedDevice]:
    """The devices that a name means, in the newest generation of their pools."""
    return [found for found in all_published(simulation) if is_suffix(name, found.full_name)]


def all_published(simulation: Simulation) -> list[PublishedDevice]:
    """All devices, in the newest generation of their pools."""
    newest: dict[tuple[str, str], int] = {}
    slices = simulation.store.objects(ResourceSlice)
    for each in slices:
        pool = (each.spec.driver, each.spec.pool.name)
        newest[pool] = max(newest.get(pool, 0), each.spec.pool.generation)
    return [
        PublishedDevice(each, device)
        for each in slices
        if each.spec.pool.generation == newest[each.spec.driver, each.spec.pool.name]
        for device in each.spec.devices
    ]


def effective_taints(simulation: Simulation, found: PublishedDevice) -> tuple[DeviceTaint, ...]:
    """The taints of a device: those that its slice says, then those of the taint rules that select it, by rule."""
    pool = found.slice.spec.pool.name
    rules = sorted(simulation.store.objects(DeviceTaintRule), key=lambda rule: rule.metadata.name)
    return found.device.taints + tuple(
        rule.spec.taint
        for rule in rules
        if selects(rule.spec.device_selector, found.slice.spec.driver, pool, found.device.name)
    )


def holders(simulation: Simulation, full_name: str) -> list[Holder]:
    """The claims that hold a device; administrative access does not count."""
    return [
        Holder(claim, result)
        for claim in simulation.claims()
        for result in results_of(claim)
        if not result.admin_access and full_device_name(result) == full_name
    ]


# ---- conditions -----------------------------------------------------------------------------------------------------


def conditions_of(found: Any) -> tuple[Condition, ...]:
    """The conditions of an object's status."""
    status = getattr(found, "status", None)
    conditions: tuple[Condition, ...] = getattr(status, "conditions", ())
    return conditions


def is_ready(found: Pod | Node) -> bool:
    """Whether the condition Ready is True."""
    return any(each.type == "Ready" and each.status == "True" for each in found.status.conditions)
