"""How much of a node is used, and what that is worth: the strategies of NodeResourcesFit, and the balance of resources.

Source: kubernetes pkg/scheduler/framework/plugins/noderesources (resource_allocation.go, least_allocated.go,
most_allocated.go, requested_to_capacity_ratio.go, balanced_allocation.go), plugins/helper/shape_score.go.
"""

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from typing import NamedTuple, Protocol, TypeAlias

from dralang.api.deviceclass import DeviceClass
from dralang.api.nodes import Node
from dralang.scenario.scheduler_config import FitScoring
from dralang.scheduler.framework import MAX_NODE_SCORE
from dralang.scheduler.node_info import NodeInfo, PodInfo
from dralang.scheduler.resources import CPU, MEMORY, STORAGE

_OF_ANY_POD = (CPU, MEMORY, STORAGE)
"""Resources that count even if the pod does not request them."""


class Usage(NamedTuple):
    """One resource of a node, for one pod.

    Attributes:
        weight: of the resource.
        used: without the pod.
        wanted: with the pod.
        capacity: what the node has; not 0.
    """

    weight: int
    used: int
    wanted: int
    capacity: int


class DeviceCounts(Protocol):
    """Counts devices that stand for a resource."""

    def class_for(self, resource: str) -> DeviceClass | None:
        """The class that serves a resource name, or None."""

    def count(self, node: Node, device_class: DeviceClass) -> tuple[int, int]:
        """How many devices of the class the node can use, and how many of them are allocated."""


class ResourceUsage:
    """Looks at certain resources.

    Args:
        resources: their names and weights.
        devices: counts devices for extended resources that no node offers itself; None if they do not count.
        assumes_defaults: whether containers without requests count as small ones.
    """

    def __init__(
        self, resources: Iterable[tuple[str, int]], devices: DeviceCounts | None, *, assumes_defaults: bool
    ) -> None:
        self._resources = tuple(resources)
        self._devices = devices
        self._assumes_defaults = assumes_defaults

    def looks_at(self, info: PodInfo) -> bool:
        """Whether the pod requests any of the resources."""
        return any(self._requested(name, info) for name, _ in self._resources)

    def _requested(self, name: str, info: PodInfo) -> int:
        if self._assumes_defaults and name == CPU:
            return info.scored_requests[0]
        if self._assumes_defaults and name == MEMORY:
            return info.scored_requests[1]
        return info.requests.get(name, 0)

    def on(self, node: NodeInfo, info: PodInfo) -> list[Usage]:
        """The resources that the node has and that count for the pod."""
        result = []
        for name, weight in self._resources:
            wanted = self._requested(name, info)
            if not wanted and name not in _OF_ANY_POD:
                continue
            capacity = node.allocatable.get(name, 0)
            if capacity:
                used = self._used(name, node)
            elif self._devices is None or name in _OF_ANY_POD:
                continue
            else:
                class_ = self._devices.class_for(name)
                capacity, used = self._devices.count(node.api, class_) if class_ is not None else (0, 0)
                if not capacity:
                    continue
            result.append(Usage(weight, used, used + wanted, capacity))
        return result

    def _used(self, name: str, node: NodeInfo) -> int:
        if self._assumes_defaults and name == CPU:
            return node.scored_cpu
        if self._assumes_defaults and name == MEMORY:
            return node.scored_memory
        return node.requested.get(name, 0)


Strategy: TypeAlias = Callable[[Sequence[Usage]], int]


def strategy_of(scoring: FitScoring) -> Strategy:
    """The strategy that a configuration asks for."""
    match scoring.type:
        case "MostAllocated":
            return most_allocated
        case "RequestedToCapacityRatio":
            return _by_shape(scoring.shape)
        case _:
            return least_allocated


def least_allocated(usages: Sequence[Usage]) -> int:
    """The emptier the better."""
    total = weights = 0
    for weight, _, wanted, capacity in usages:
        weights += weight
        if wanted <= capacity:
            total += (capacity - wanted) * MAX_NODE_SCORE // capacity * weight
    return total // weights if weights else 0


def most_allocated(usages: Sequence[Usage]) -> int:
    """The fuller the better."""
    total = weights = 0
    for weight, _, wanted, capacity in usages:
        weights += weight
        # Pods without requests count as small ones, and may seem to overfill a node.
        total += min(wanted, capacity) * MAX_NODE_SCORE // capacity * weight
    return total // weights if weights else 0


def _by_shape(shape: Sequence[tuple[int, int]]) -> Strategy:
    points = tuple([(utilization, score * (MAX_NODE_SCORE // 10)) for utilization, score in shape])

    def worth(utilization: int) -> int:
        """The broken line through the points."""
        left: tuple[int, int] | None = None
        for at, score in points:
            if utilization <= at:
                if left is None:
                    return score
                # Division towards zero, also where the line falls.
                step = (score - left[1]) * (utilization - left[0])
                return left[1] + (1 if step >= 0 else -1) * (abs(step) // (at - left[0]))
            left = at, score
        return points[-1][1]

    def by_shape(usages: Sequence[Usage]) -> int:
        """As good as the shape says of each utilization; a resource worth nothing is left out."""
        total = weights = 0
        for weight, _, wanted, capacity in usages:
            score = worth(100 if wanted > capacity else wanted * 100 // capacity)
            if score > 0:
                total += score * weight
                weights += weight
        return (2 * total + weights) // (2 * weights) if weights else 0

    return by_shape


def balance(usages: Sequence[Usage]) -> int:
    """How the balance changes: 75 if not at all, towards 100 if it gets better."""
    half = MAX_NODE_SCORE // 2
    before = _evenness([min(each.used / each.capacity, 1.0) for each in usages])
    after = _evenness([min(each.wanted / each.capacity, 1.0) for each in usages])
    return half + (half + after - before) // 2


def _evenness(fractions: Sequence[float]) -> int:
    deviation = 0.0
    if len(fractions) == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif len(fractions) > 2:
        mean = sum(fractions) / len(fractions)
        deviation = sqrt(sum([(each - mean) * (each - mean) for each in fractions]) / len(fractions))
    return int((1 - deviation) * MAX_NODE_SCORE)
