"""How much of a node a pod takes.

Amounts are integers: thousandths for cpu, units (bytes, pods, devices) for everything else, rounded up as the
scheduler does.

Source: k8s.io/component-helpers resource/helpers.go (PodRequests), kubernetes pkg/scheduler/util/pod_resources.go.
"""

from collections.abc import Mapping
from typing import TypeAlias

from dralang.api.containers import Container
from dralang.api.pods import Pod
from dralang.values.quantity import Quantity

Amounts: TypeAlias = dict[str, int]

CPU = "cpu"
MEMORY = "memory"
STORAGE = "ephemeral-storage"
PODS = "pods"
DEFAULT_CPU = 100
"""What scoring assumes of a container that requests no cpu, in thousandths."""
DEFAULT_MEMORY = 200 * 1024 * 1024
"""What scoring assumes of a container that requests no memory, in bytes."""


def amount(name: str, quantity: Quantity) -> int:
    """The amount of a resource as an integer."""
    return quantity.milli_value() if name == CPU else quantity.value()


def amounts(quantities: Mapping[str, Quantity]) -> Amounts:
    """All amounts of a resource list."""
    return {name: amount(name, quantity) for name, quantity in quantities.items()}


def _add(target: Amounts, more: Mapping[str, int]) -> None:
    for name, value in more.items():
        target[name] = target.get(name, 0) + value


def _raise_to(target: Amounts, floor: Mapping[str, int]) -> None:
    for name, value in floor.items():
        if value > target.get(name, 0):
            target[name] = value


def is_pod_level(name: str) -> bool:
    """Whether a pod can set the resource for all its containers together."""
    return name in (CPU, MEMORY) or name.startswith("hugepages-")


def is_sidecar(container: Container) -> bool:
    """Whether an init container goes on running beside the others."""
    return container.restart_policy == "Always"


class DeviceAmounts:
    """What the devices of a pod add to its requests (DRANodeAllocatableResources).

    Attributes:
        fixed: once for the pod.
        per_container: for each container that uses the claims, by container name.
    """

    __slots__ = ("fixed", "per_container")

    def __init__(self) -> None:
        self.fixed: Amounts = {}
        self.per_container: dict[str, Amounts] = {}


NO_DEVICE_AMOUNTS = DeviceAmounts()


def device_amounts(pod: Pod) -> DeviceAmounts:
    """What the status of the pod records of its devices."""
    statuses = pod.status.node_allocatable_resource_claim_statuses
    if not statuses:
        return NO_DEVICE_AMOUNTS
    result = DeviceAmounts()
    for status in statuses:
        for mapped in status.mapping:
            if mapped.quantity is not None:
                _add(result.fixed, {mapped.name: amount(mapped.name, mapped.quantity)})
        for overhead in status.overhead:
            if overhead.per_pod is not None:
                _add(result.fixed, {overhead.name: amount(overhead.name, overhead.per_pod)})
            if overhead.per_container is not None:
                more = {overhead.name: amount(overhead.name, overhead.per_container)}
                for container in status.containers:
                    _add(result.per_container.setdefault(container, {}), more)
    return result


def _own_requests(container: Container, devices: DeviceAmounts, *, assume_defaults: bool) -> Amounts:
    own = amounts(container.resources.requests) if container.resources.requests else {}
    if assume_defaults:
        own.setdefault(CPU, DEFAULT_CPU)
        own.setdefault(MEMORY, DEFAULT_MEMORY)
    if container.name in devices.per_container:
        _add(own, devices.per_container[container.name])
    return own


def container_requests(pod: Pod, devices: DeviceAmounts, *, assume_defaults: bool = False) -> Amounts:
    """What the containers need together: the sum of those that run side by side, or the largest start-up peak."""
    total: Amounts = {}
    for container in pod.spec.containers:
        _add(total, _own_requests(container, devices, assume_defaults=assume_defaults))
    if not pod.spec.init_containers:
        _add(total, devices.fixed)
        return total
    sidecars: Amounts = {}
    peak: Amounts = {}
    for container in pod.spec.init_containers:
        own = _own_requests(container, devices, assume_defaults=assume_defaults)
        if is_sidecar(container):
            _add(total, own)
            _add(sidecars, own)
            own = dict(sidecars)
        else:
            _add(own, sidecars)
        _raise_to(peak, own)
    _raise_to(total, peak)
    _add(total, devices.fixed)
    return total


def pod_requests(pod: Pod, devices: DeviceAmounts, *, assume_defaults: bool = False) -> Amounts:
    """What the pod takes of its node.

    Args:
        pod: the pod.
        devices: what its devices add.
        assume_defaults: count containers without requests for cpu and memory as small ones, as scoring does.
    """
    total = container_requests(pod, devices, assume_defaults=assume_defaults)
    if pod.spec.resources is not None:
        for name, quantity in pod.spec.resources.requests.items():
            if is_pod_level(name):
                total[name] = amount(name, quantity)
    if pod.spec.overhead:
        _add(total, amounts(pod.spec.overhead))
    return total
