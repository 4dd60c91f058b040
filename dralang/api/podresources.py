"""Resources of pods: what containers add up to, and what an API server fills in.

Source: component-helpers/resource and pkg/api/pod (1.37).
"""

from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from msgspec import structs

from dralang.api.containers import Container, ResourceRequirements
from dralang.api.pods import PodSpec
from dralang.values.quantity import ZERO, Quantity

ResourceList: TypeAlias = Mapping[str, Quantity]
Side = Literal["requests", "limits"]

HUGE_PAGES_PREFIX = "hugepages-"
POD_LEVEL_RESOURCES = ("cpu", "memory", HUGE_PAGES_PREFIX)


def is_native(name: str) -> bool:
    """Whether a resource belongs to Kubernetes: `cpu`, `hugepages-2Mi`, `x.kubernetes.io/y`."""
    return "/" not in name or "kubernetes.io/" in name


def is_huge_page(name: str) -> bool:
    """Whether a resource is huge pages of some size."""
    return name.startswith(HUGE_PAGES_PREFIX)


def is_overcommit_allowed(name: str) -> bool:
    """Whether requests may be lower than limits."""
    return is_native(name) and not is_huge_page(name)


def is_pod_level(name: str) -> bool:
    """Whether a resource can be given for a pod as a whole."""
    return name in {"cpu", "memory"} or is_huge_page(name)


def is_sidecar(container: Container) -> bool:
    """Whether an init container goes on running beside the others."""
    return container.restart_policy == "Always"


def _add(total: dict[str, Quantity], amounts: ResourceList) -> None:
    for name, amount in amounts.items():
        total[name] = total[name] + amount if name in total else amount


def _raise_to(total: dict[str, Quantity], amounts: ResourceList) -> None:
    for name, amount in amounts.items():
        if name not in total or amount > total[name]:
            total[name] = amount


def aggregate(spec: PodSpec, side: Side) -> dict[str, Quantity]:
    """What the containers of a pod need together: the sum, or more while init containers run."""
    total: dict[str, Quantity] = {}
    for container in spec.containers:
        _add(total, _side(container.resources, side))
    sidecars: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in spec.init_containers:
        amounts = _side(container.resources, side)
        if is_sidecar(container):
            _add(total, amounts)
            _add(sidecars, amounts)
            _raise_to(peak, sidecars)
        else:
            together = dict(amounts)
            _add(together, sidecars)
            _raise_to(peak, together)
    _raise_to(total, peak)
    return total


def _side(resources: ResourceRequirements, side: Side) -> ResourceList:
    return resources.requests if side == "requests" else resources.limits


def requests_from_limits(containers: tuple[Container, ...]) -> tuple[Container, ...]:
    """Containers in which every resource with a limit has a request."""
    for container in containers:
        resources = container.resources
        if resources.limits and not resources.limits.keys() <= resources.requests.keys():
            return tuple(map(_with_requests, containers))
    return containers


def _with_requests(container: Container) -> Container:
    resources = container.resources
    requests = {**resources.limits, **resources.requests}
    return structs.replace(container, resources=structs.replace(resources, requests=requests))


def with_pod_level_defaults(spec: PodSpec) -> PodSpec:
    """A pod spec whose pod-level resources, if it has any, are filled in from those of the containers."""
    given = spec.resources
    if given is None or not (given.requests or given.limits):
        return spec
    limits, requests = dict(given.limits), dict(given.requests)
    container_limits = aggregate(spec, "limits")
    for name, amount in container_limits.items():
        if is_huge_page(name) and name not in given.requests:
            limits.setdefault(name, amount)
    for name, amount in aggregate(spec, "requests").items():
        if is_pod_level(name) and is_overcommit_allowed(name):
            requests.setdefault(name, amount)
    for name, amount in limits.items():
        if is_pod_level(name):
            requests.setdefault(name, amount)
    for name in _limited_everywhere(spec, [name for name in requests if is_pod_level(name) and name not in limits]):
        limits[name] = max(requests[name], container_limits.get(name, ZERO))
    return structs.replace(spec, resources=structs.replace(given, limits=limits, requests=requests))


def _limited_everywhere(spec: PodSpec, names: Iterable[str]) -> list[str]:
    """Those resources for which every container has a limit."""
    containers = (*spec.containers, *spec.init_containers)
    return [name for name in names if all(name in container.resources.limits for container in containers)]
