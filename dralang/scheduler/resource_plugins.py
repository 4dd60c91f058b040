"""Plugins that count: does the pod fit into what is left of the node, and where does it fit best?

Source: kubernetes pkg/scheduler/framework/plugins/noderesources (fit.go, least_allocated.go, balanced_allocation.go).
"""

from collections.abc import Callable, Collection, Hashable, Sequence

from dralang.api.deviceclass import DeviceClass
from dralang.scenario.scheduler_config import FitScoring
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.dynamicresources.class_names import IMPLICIT_PREFIX
from dralang.scheduler.framework import SKIP, SUCCESS, Code, CycleState, Plugin, Status
from dralang.scheduler.node_info import NodeInfo, PodInfo
from dralang.scheduler.resource_scoring import DeviceCounts, ResourceUsage, balance, strategy_of
from dralang.scheduler.resources import CPU, MEMORY, STORAGE, Amounts

Delegates = Callable[[str, NodeInfo | None], bool]
"""Whether devices serve a resource name on a node, so that counting it is not the node's business."""

_ORDER = (CPU, MEMORY, STORAGE)
_DEFAULT_SCORING = FitScoring()


def shortages(requests: Amounts, node: NodeInfo, delegates: Delegates) -> list[tuple[str, bool]]:
    """The resources of which the node has too little, each with whether even the empty node has."""
    if not any(requests.values()):
        return []
    short: list[tuple[str, bool]] = []
    allocatable, requested = node.allocatable, node.requested
    for name in _ORDER:
        wanted = requests.get(name, 0)
        if wanted and wanted > allocatable.get(name, 0) - requested.get(name, 0):
            short.append((name, wanted > allocatable.get(name, 0)))
    if len(requests) > len(_ORDER) or any(name not in _ORDER for name in requests):
        for name in sorted(requests):
            wanted = requests[name]
            if name in _ORDER or not wanted or delegates(name, node):
                continue
            if wanted > allocatable.get(name, 0) - requested.get(name, 0):
                short.append((name, wanted > allocatable.get(name, 0)))
    return short


class NodeResourcesFit(Plugin):
    """The pod fits into what the pods of the node leave.

    Args:
        delegates: whether devices serve a resource.
        scoring: what makes a node better than another.
        devices: counts devices for scoring; None if they do not count.
        ignored: extended resources that are not counted, and groups of them (what stands before the slash).
        scored: resources that any plugin scores.
    """

    name = "NodeResourcesFit"
    wakes_on = frozenset(
        {EventKind.NODE_ADDED, EventKind.NODE_UPDATED, EventKind.ASSIGNED_POD_DELETED, EventKind.CLASS_CHANGED}
    )
    has_pre_filter = True
    has_filter = True
    has_score = True
    node_local_score = True
    score_signed_by = "NodeResourcesFit"

    def __init__(
        self,
        delegates: Delegates,
        is_offered: Callable[[str], bool],
        scoring: FitScoring = _DEFAULT_SCORING,
        devices: DeviceCounts | None = None,
        ignored: tuple[Collection[str], Collection[str]] = ((), ()),
        scored: Collection[str] = (),
    ) -> None:
        self._delegates = delegates
        self._is_offered = is_offered
        self._usage = ResourceUsage(scoring.resources, devices, assumes_defaults=True)
        self._strategy = strategy_of(scoring)
        self._ignored, self._ignored_groups = ignored
        self._scored = scored

    def _uncounted(self, resource: str, node: NodeInfo | None) -> bool:
        """Whether Filter leaves a resource alone, besides what every pod takes."""
        return (
            resource in self._ignored
            or (bool(self._ignored_groups) and resource.partition("/")[0] in self._ignored_groups)
            or self._delegates(resource, node)
        )

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None]:
        """The requests are known already."""
        return SUCCESS, None

    def sign(self, state: CycleState, info: PodInfo) -> Hashable | None:
        """What the pod takes of its node; what devices serve on every node is only a concern of scores."""
        counted = [
            (name, wanted)
            for name, wanted in info.requests.items()
            if name in _ORDER or name in self._scored or self._is_offered(name) or not self._delegates(name, None)
        ]
        return tuple(sorted(counted)), info.scored_requests

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """One more pod, and every resource that it requests."""
        too_many = len(node.pods) + 1 > node.allowed_pods
        short = shortages(info.requests, node, self._uncounted) if info.requests else []
        if not too_many and not short:
            return SUCCESS
        reasons = ["Too many pods"] if too_many else []
        reasons += [f"Insufficient {name}" for name, _ in short]
        code = Code.UNRESOLVABLE if any(hopeless for _, hopeless in short) else Code.UNSCHEDULABLE
        return Status(code, *reasons)

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """What the strategy makes of the resources that would be used."""
        return self._strategy(self._usage.on(node, info))

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """Room on a node: a pod less, a node more or larger, a resource that devices serve now."""
        match event.kind:
            case EventKind.ASSIGNED_POD_DELETED:
                return bool(event.old.spec.node_name or event.old.status.nominated_node_name)
            case EventKind.NODE_ADDED:
                return self._fits_empty(info, NodeInfo(event.new))
            case EventKind.NODE_UPDATED:
                return "allocatable" in event.aspects and self._grew(info, event)
            case EventKind.CLASS_CHANGED:
                names = _names_anew(event.old, event.new)
                return any(name in names and self._delegates(name, None) for name in info.requests)
            case _:
                return False

    def _fits_empty(self, info: PodInfo, node: NodeInfo) -> bool:
        return node.allowed_pods >= 1 and not shortages(info.requests, node, self._delegates)

    def _grew(self, info: PodInfo, event: ClusterEvent) -> bool:
        old, new = NodeInfo(event.old), NodeInfo(event.new)
        if not self._fits_empty(info, new):
            return False
        return new.allowed_pods > old.allowed_pods or any(
            wanted and (new.allocatable.get(name, 0) > old.allocatable.get(name, 0) or self._delegates(name, new))
            for name, wanted in info.requests.items()
        )


def _names_anew(old: DeviceClass | None, new: DeviceClass) -> tuple[str | None, ...]:
    """The names of resources under which a class can be asked for now, and could not before."""
    name = new.spec.extended_resource_name
    if old is None:
        return f"{IMPLICIT_PREFIX}{new.metadata.name}", name
    return (name,) if old.spec.extended_resource_name != name else ()


class BalancedAllocation(Plugin):
    """Prefers nodes on which resources, cpu and memory by default, are used to the same degree."""

    name = "NodeResourcesBalancedAllocation"
    has_score = True
    node_local_score = True
    score_signed_by = "NodeResourcesFit"

    def __init__(self, resources: Sequence[str] = (CPU, MEMORY), devices: DeviceCounts | None = None) -> None:
        self._usage = ResourceUsage([(name, 1) for name in resources], devices, assumes_defaults=False)

    def pre_score(self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]) -> Status:
        """Pods that request none of the resources are left out."""
        return SUCCESS if self._usage.looks_at(info) else SKIP

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """How the balance changes."""
        return balance(self._usage.on(node, info))
