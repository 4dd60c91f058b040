"""Which pools a node sees, and in what state.

A pool is gathered from the slices that are relevant for the node. Only if their number is not the announced one, the
other slices of the pool are looked at too. The result depends on the set of slices, so it is shared by all nodes that
see the same ones.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental/pools_experimental.go.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

from dralang.allocator.node_selection import NodeSelectorError, node_matches
from dralang.allocator.prepared import PoolId, PreparedSlice, SliceDevice
from dralang.allocator.profiles import AllocatorProfile
from dralang.api.nodes import Node

PoolState = Literal["complete", "incomplete", "invalid"]


class GatherError(Exception):
    """A fatal error while pools are gathered.

    Attributes:
        order: place of the slice among those of the node; the first error is the one reported.
    """

    def __init__(self, order: tuple[int, int], message: str) -> None:
        super().__init__(message)
        self.order = order
        self.message = message


class Pool:
    """One pool as a node sees it.

    Attributes:
        id: driver and pool name.
        state: only complete pools have devices.
        invalid: it is invalid, if perhaps incomplete too.
        reason: why it is incomplete or invalid.
        met: sorts the pools in the order in which the slices of a node lead to them.
        slices: device slices for the node, sorted by name.
        elsewhere: the other device slices of the pool, where they were looked at.
        counter_sets: amounts in billionths, by set and counter.
        conditional: some device for the node has binding conditions.
        hides_newer: a newer generation exists that was not noticed.
        counts_differ: the slices of the pool do not agree on their number.
    """

    __slots__ = (
        "_positions",
        "conditional",
        "counter_sets",
        "counts_differ",
        "devices",
        "elsewhere",
        "hides_newer",
        "id",
        "invalid",
        "met",
        "reason",
        "slices",
        "state",
    )

    def __init__(self, id_: PoolId, state: PoolState, reason: str = "") -> None:
        self.id = id_
        self.state: PoolState = state
        self.invalid = state == "invalid"
        self.reason = reason
        self.met = (False, 0)
        self.slices: tuple[PreparedSlice, ...] = ()
        self.devices: tuple[SliceDevice, ...] = ()
        self.elsewhere: tuple[SliceDevice, ...] = ()
        self.counter_sets: dict[str, dict[str, int]] = {}
        self.conditional = False
        self.hides_newer = False
        self.counts_differ = False
        self._positions: dict[str, tuple[SliceDevice, ...]] | None = None

    def __repr__(self) -> str:
        return f"Pool({'/'.join(self.id)}, {self.state})"

    def published(self, name: str) -> tuple[SliceDevice, ...]:
        """The devices of that name in all slices of the pool that were looked at."""
        if self._positions is None:
            positions: dict[str, tuple[SliceDevice, ...]] = {}
            for device in (*self.devices, *self.elsewhere):
                positions[device.id[2]] = (*positions.get(device.id[2], ()), device)
            self._positions = positions
        return self._positions.get(name, ())


Placed = tuple[int, PreparedSlice]
"""A slice and its place in the listing order of the cluster."""


class PoolGroup:
    """All slices of one driver and pool name, in listing order, whatever node and generation.

    INVARIANT: immutable but for what it remembers about nodes.
    """

    __slots__ = ("_by_node", "_by_slices", "id", "nodes", "placed", "profile")

    def __init__(self, id_: PoolId, placed: tuple[Placed, ...], profile: AllocatorProfile) -> None:
        self.id = id_
        self.placed = placed
        self.profile = profile
        anywhere = "relevance of counter slices" in profile.lacks
        self.nodes: frozenset[str] = frozenset(
            "" if anywhere and slice_.api.spec.shared_counters else slice_.api.spec.node_name or ""
            for _, slice_ in placed
        )
        self._by_node: dict[str, tuple[Node, Pool | None]] = {}
        self._by_slices: dict[tuple[int, ...], Pool | None] = {}

    def pool_for(self, node: Node) -> Pool | None:
        """The pool as the node sees it; None if nothing of it is relevant, or if it is obsolete.

        Raises:
            GatherError: a node selector cannot be used.
        """
        known = self._by_node.get(node.metadata.name)
        if known is not None and (known[0] is node or known[0].metadata.labels == node.metadata.labels):
            return known[1]
        relevant = self.relevant(node)
        pool: Pool | None = None
        if relevant:
            key = tuple(place for place, _ in relevant)
            if key in self._by_slices:
                pool = self._by_slices[key]
            else:
                pool = self._by_slices[key] = _gather(self, [slice_ for _, slice_ in relevant])
                if pool is not None:
                    pool.met = (relevant[0][1].conditional and self._late_slices, relevant[0][0])
        self._by_node[node.metadata.name] = (node, pool)
        return pool

    def relevant(self, node: Node) -> list[Placed]:
        """The node's relevant slices of the newest generation among them, in the order in which they are read.

        Raises:
            GatherError: a node selector cannot be used.
        """
        result: list[Placed] = []
        late: list[Placed] = []
        for rank, place, slice_ in self._for_node(node.metadata.name):
            try:
                relevant = self._is_relevant(slice_, node)
            except NodeSelectorError as error:
                raise GatherError((rank, place), str(error)) from None
            if relevant:
                (late if slice_.conditional and self._late_slices else result).append((place, slice_))
        result += late
        newest = max((slice_.generation for _, slice_ in result), default=0)
        return [entry for entry in result if entry[1].generation == newest]

    def _for_node(self, name: str) -> list[tuple[int, int, PreparedSlice]]:
        """The slices that may concern the node: rank and place in which they are read, and the slice."""
        lacks = self.profile.lacks
        ranked = "node slices first" not in lacks
        counters_anywhere = "relevance of counter slices" in lacks
        result = []
        for place, slice_ in self.placed:
            own = slice_.api.spec.node_name or ""
            general = not own or (counters_anywhere and bool(slice_.api.spec.shared_counters))
            if (general or own == name) and not self.ignores(slice_):
                result.append((int(general) if ranked else 0, place, slice_))
        result.sort(key=lambda entry: entry[:2])
        return result

    @property
    def _late_slices(self) -> bool:
        """Slices with binding conditions come last inside their pool."""
        return "sorted slices" in self.profile.lacks and "late pools" not in self.profile.lacks

    def ignores(self, slice_: PreparedSlice) -> bool:
        """Whether a slice is not looked at, because it needs a feature that is off."""
        features = self.profile.features
        spec = slice_.api.spec
        if not features.partitionable_devices:
            pool_counters = "pool counters" not in self.profile.lacks
            if spec.per_device_node_selection is not None or (spec.shared_counters and pool_counters):
                return True
        return slice_.grouped and self.ignores_groups

    @property
    def ignores_groups(self) -> bool:
        """Slices with compatibility groups are not looked at."""
        return not self.profile.features.compatibility_groups and "compatibility groups" not in self.profile.lacks

    def _is_relevant(self, slice_: PreparedSlice, node: Node) -> bool:
        spec = slice_.api.spec
        if spec.shared_counters and "relevance of counter slices" in self.profile.lacks:
            return True
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            try:
                return node_matches(node, spec.node_name, spec.node_selector, all_nodes=spec.all_nodes)
            except NodeSelectorError as error:
                raise NodeSelectorError(
                    f"failed to perform node selection for slice {slice_.name}: failed to parse node selector: {error}"
                ) from None
        if not spec.per_device_node_selection:
            return False
        for device in spec.devices:
            try:
                if node_matches(node, device.node_name, device.node_selector, all_nodes=device.all_nodes):
                    return True
            except NodeSelectorError as error:
                raise NodeSelectorError(
                    f"failed to perform node selection for device {device.name} in slice {slice_.name}: "
                    f"failed to parse node selector: {error}"
                ) from None
        return False


def _gather(group: PoolGroup, relevant: list[PreparedSlice]) -> Pool | None:
    """The pool built from the relevant slices, after a look at the others if need be."""
    profile = group.profile
    generation = relevant[0].generation
    expected = relevant[0].api.spec.pool.resource_slice_count
    visible = [
        slice_
        for _, slice_ in group.placed
        if not (group.ignores_groups and slice_.grouped and not profile.has("grouped-slices-obsolete-pool"))
    ]
    newer = any(slice_.generation > generation for slice_ in visible)
    if not profile.has("first-slice-count-wins") and any(
        slice_.generation == generation and slice_.api.spec.pool.resource_slice_count != expected
        for _, slice_ in group.placed
    ):
        return Pool(group.id, "invalid", "the slices do not agree on resourceSliceCount")
    if len(relevant) == expected or "second look" in profile.lacks:
        if newer and not profile.has("old-generation-hides-newer"):
            return None
        pool = _build(group, relevant, ())
        pool.hides_newer = newer
        if len(relevant) != expected:
            pool.state = "incomplete"
        return pool
    if newer:
        return None
    everything = [
        slice_
        for _, slice_ in group.placed
        if slice_.generation == generation and not (group.ignores_groups and slice_.grouped)
    ]
    if len(everything) != expected:
        reason = f"{len(everything)} of {expected} slices of generation {generation} are there"
        incomplete = Pool(group.id, "incomplete", reason)
        incomplete.invalid = "pool counters" in profile.lacks and _duplicate_device(relevant) is not None
        return incomplete
    return _build(group, relevant, everything)


def _build(group: PoolGroup, relevant: list[PreparedSlice], everything: Sequence[PreparedSlice]) -> Pool:
    lacks = group.profile.lacks
    partitions = group.profile.features.partitionable_devices and "pool counters" not in lacks
    # A slice of the pool that was taken already is known by its object name.
    taken = {slice_.name for slice_ in relevant}
    others = [slice_ for slice_ in everything if slice_.name not in taken] if len(relevant) < len(everything) else []
    sorted_slices = relevant if "sorted slices" in lacks else sorted(relevant, key=lambda slice_: slice_.name)
    here = [slice_ for slice_ in sorted_slices if not (partitions and slice_.api.spec.shared_counters)]
    counters = [slice_ for slice_ in (*sorted_slices, *others) if partitions and slice_.api.spec.shared_counters]
    elsewhere = [slice_ for slice_ in others if not (partitions and slice_.api.spec.shared_counters)]
    problem = _duplicate_device(here)
    sets: dict[str, dict[str, int]] = {}
    if problem is None and partitions:
        problem = _read_counter_sets(counters, sets) or _dangling_reference(sets, here)
        problem = problem or _dangling_reference(sets, elsewhere)
    if problem is not None:
        invalid = Pool(group.id, "invalid", problem)
        if "skipped bad pools" in lacks:
            # One device stands for the pool, so that the search meets it in its place.
            invalid.devices = next(slice_.devices[:1] for slice_ in here if slice_.devices)
        return invalid
    pool = Pool(group.id, "complete")
    pool.slices = tuple(here)
    pool.devices = tuple(device for slice_ in here for device in slice_.devices)
    if partitions:
        pool.elsewhere = tuple(device for slice_ in elsewhere for device in slice_.devices)
    pool.counter_sets = sets
    pool.conditional = any(slice_.conditional for slice_ in here)
    pool.counts_differ = len({slice_.api.spec.pool.resource_slice_count for slice_ in (*relevant, *others)}) > 1
    return pool


def _duplicate_device(slices: Iterable[PreparedSlice]) -> str | None:
    seen: set[str] = set()
    for slice_ in slices:
        for device in slice_.api.spec.devices:
            if device.name in seen:
                return f"duplicate device name {device.name}"
            seen.add(device.name)
    return None


def _read_counter_sets(slices: Iterable[PreparedSlice], into: dict[str, dict[str, int]]) -> str | None:
    for slice_ in slices:
        for counter_set in slice_.api.spec.shared_counters:
            if counter_set.name in into:
                return f"duplicate counter set name {counter_set.name}"
            into[counter_set.name] = {name: counter.value.nano for name, counter in counter_set.counters.items()}
    return None


def _dangling_reference(sets: dict[str, dict[str, int]], slices: Iterable[PreparedSlice]) -> str | None:
    for slice_ in slices:
        if not any(device.consumes_counters for device in slice_.api.spec.devices):
            continue
        for device in slice_.devices:
            for consumption in device.consumes:
                counters = sets.get(consumption.counter_set)
                if counters is None:
                    return f"counter set {consumption.counter_set} not found"
                for name in sorted(consumption.counters):
                    if name not in counters:
                        return f"counter {name} not found in counter set {consumption.counter_set}"
    return None
