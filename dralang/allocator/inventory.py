"""All slices and device classes of a cluster, prepared once; each change makes a new inventory that shares the rest.

INVARIANT: an inventory never changes. What it remembers (pools of a node, candidates of a selector list) are pure
results, handed on to the next inventory where a change cannot have touched them.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental allocator_experimental.go, pools.
"""

from collections.abc import Iterable, Iterator, Mapping

from dralang.allocator.node_selection import NodeSelectorError, node_matches
from dralang.allocator.pools import GatherError, Placed, Pool, PoolGroup
from dralang.allocator.prepared import PoolId, PreparedSlice, SelectorFailure, SliceDevice
from dralang.allocator.profiles import AllocatorProfile, Rules
from dralang.allocator.signatures import Signatures
from dralang.api.deviceclass import DeviceClass
from dralang.api.expressions import DeviceExpressions
from dralang.api.nodes import Node
from dralang.api.resourceslice import ResourceSlice, ResourceSliceSpec


class PreparedClass:
    """A device class and the texts of its selectors."""

    __slots__ = ("api", "name", "selectors")

    def __init__(self, api: DeviceClass) -> None:
        self.api = api
        self.name = api.metadata.name
        self.selectors = tuple(selector.cel.expression if selector.cel else "" for selector in api.spec.selectors)


class Candidate:
    """A device that class and request admit on a node, or one on which that cannot be decided.

    Attributes:
        device: the device.
        pool: its pool as the node sees it.
        error: None, or the selector failure to raise if the search gets here.
        by_class: the failure is one of the class.
        stop: None, or the error to raise if the search gets here, whether or not the device is in use.
    """

    __slots__ = ("by_class", "device", "error", "pool", "stop")

    def __init__(
        self, device: SliceDevice, pool: Pool, error: SelectorFailure | NodeSelectorError | None, *, by_class: bool
    ) -> None:
        self.device = device
        self.pool = pool
        self.error = error
        self.by_class = by_class
        self.stop = f"pool {pool.id[1]} is invalid: {pool.reason}" if pool.invalid else None


class Candidates:
    """The candidates for one class and one selector list on one node, found as they are asked for.

    Looking at a device decides nothing about the outcome; a failure is kept as a candidate of its own.
    """

    __slots__ = ("_class", "_found", "_request", "_scan", "_view")

    def __init__(self, view: "NodeView", class_selectors: tuple[str, ...], request_selectors: tuple[str, ...]) -> None:
        self._view = view
        self._class = class_selectors
        self._request = request_selectors
        self._found: list[Candidate] = []
        self._scan: Iterator[tuple[SliceDevice, Pool]] | None = iter(view.devices)

    def at(self, index: int) -> Candidate | None:
        """The candidate with that number, None past the last."""
        found = self._found
        while index >= len(found):
            if self._scan is None:
                return None
            for device, pool in self._scan:
                candidate = self._judge(device, pool)
                if candidate is not None:
                    found.append(candidate)
                    break
            else:
                self._scan = None
        return found[index]

    def all(self) -> list[Candidate]:
        """All candidates."""
        while self.at(len(self._found)) is not None:
            pass
        return self._found

    def _judge(self, device: SliceDevice, pool: Pool) -> Candidate | None:
        if pool.invalid:
            return Candidate(device, pool, None, by_class=False)
        if device.excluded:
            return None
        for selectors, by_class in ((self._class, True), (self._request, False)):
            verdict = device.satisfies(selectors)
            if verdict is False:
                return None
            if verdict is not True:
                return Candidate(device, pool, verdict, by_class=by_class)
        if device.home.api.spec.per_device_node_selection:
            api = device.api
            try:
                if not node_matches(self._view.node, api.node_name, api.node_selector, all_nodes=api.all_nodes):
                    return None
            except NodeSelectorError as error:
                return Candidate(device, pool, error, by_class=False)
        return Candidate(device, pool, None, by_class=False)


class NodeView:
    """What one node can use: its pools in the order of the search.

    Attributes:
        node: the node.
        pools: all pools of the node, incomplete and invalid ones included.
        pool_ids: their IDs.
        devices: the devices of the complete pools, in search order.
        error: a fatal error of the gathering, or None.
        bad_pools: the incomplete and invalid pools.
        memo: outcomes of attempts, remembered by whoever computes them.
    """

    __slots__ = ("_candidates", "bad_pools", "devices", "error", "memo", "node", "pool_ids", "pools")

    def __init__(self, node: Node, pools: Iterable[Pool], error: GatherError | None, profile: AllocatorProfile) -> None:
        self.node = node
        self.error = error
        self.pools = _search_order(pools, profile)
        self.pool_ids = tuple([pool.id for pool in self.pools])
        devices = [(device, pool) for pool in self.pools for device in pool.devices]
        if profile.features.binding_conditions and not profile.has("binding-conditions-delay-pool"):
            devices.sort(key=lambda entry: bool(entry[0].api.binding_conditions))
        self.devices = devices
        self.bad_pools = tuple(pool for pool in self.pools if pool.state != "complete")
        self._candidates: dict[tuple[tuple[str, ...], tuple[str, ...]], Candidates] = {}
        self.memo: dict[object, object] = {}

    def candidates(self, class_selectors: tuple[str, ...], request_selectors: tuple[str, ...]) -> Candidates:
        """The candidates for these selectors; the same object for the same selectors."""
        key = (class_selectors, request_selectors)
        known = self._candidates.get(key)
        if known is None:
            known = self._candidates[key] = Candidates(self, class_selectors, request_selectors)
        return known


def _search_order(pools: Iterable[Pool], profile: AllocatorProfile) -> tuple[Pool, ...]:
    if "sorted pools" in profile.lacks:
        ordered = sorted(pools, key=lambda pool: (pool.met, pool.id))
        turn = profile.rotation % len(ordered) if ordered else 0
        ordered = ordered[turn:] + ordered[:turn]
    else:
        ordered = sorted(pools, key=lambda pool: pool.id)
    if profile.has("binding-conditions-delay-pool") and "late pools" not in profile.lacks:
        ordered.sort(key=lambda pool: pool.conditional)
    return tuple(ordered)


class Inventory:
    """Slices and classes of a cluster, prepared for allocation.

    Make one with ``Inventory.of`` and derive others with ``with_slice`` and its like.
    """

    __slots__ = (
        "_groups",
        "_next",
        "_pools_by_node",
        "_slices",
        "_vanished",
        "_views",
        "classes",
        "expressions",
        "profile",
        "rules",
        "signatures",
    )

    def __init__(
        self,
        profile: AllocatorProfile,
        expressions: DeviceExpressions,
        classes: Mapping[str, PreparedClass],
        groups: Mapping[PoolId, PoolGroup],
        slices: Mapping[str, PoolId],
        views: dict[str, NodeView],
        next_place: int,
        vanished: Mapping[PoolId, Mapping[str, SliceDevice]],
        rules: Rules | None = None,
        signatures: Signatures | None = None,
    ) -> None:
        self.profile = profile
        self.rules = Rules(profile) if rules is None else rules
        self.signatures = Signatures() if signatures is None else signatures
        self.expressions = expressions
        self.classes = classes
        self._groups = groups
        self._slices = slices
        self._views = views
        self._next = next_place
        self._vanished = vanished
        self._pools_by_node: dict[str, list[PoolGroup]] | None = None

    @staticmethod
    def of(
        slices: Iterable[ResourceSlice],
        classes: Iterable[DeviceClass],
        profile: AllocatorProfile,
        expressions: DeviceExpressions,
    ) -> "Inventory":
        """Prepare a whole cluster.

        Args:
            slices: in listing order, DeviceTaintRules already applied.
            classes: all device classes.
            profile: version, gates and quirks.
            expressions: compiles and evaluates selectors; it is asked only when a device is looked at.
        """
        placed: dict[PoolId, list[Placed]] = {}
        names: dict[str, PoolId] = {}
        place = 0
        for api in slices:
            prepared = PreparedSlice(api, profile, expressions)
            placed.setdefault(prepared.pool, []).append((place, prepared))
            names[prepared.name] = prepared.pool
            place += 1
        groups = {id_: PoolGroup(id_, tuple(entries), profile) for id_, entries in placed.items()}
        prepared_classes = {class_.metadata.name: PreparedClass(class_) for class_ in classes}
        return Inventory(profile, expressions, prepared_classes, groups, names, {}, place, {})

    def anew(self, slices: Iterable[ResourceSlice], classes: Iterable[DeviceClass]) -> "Inventory":
        """These slices and classes, prepared as if for the first time; the same devices have vanished."""
        fresh = Inventory.of(slices, classes, self.profile, self.expressions)
        fresh._vanished = self._vanished
        return fresh

    def with_slice(self, api: ResourceSlice) -> "Inventory":
        """The inventory with a slice added, or changed if one of that name exists."""
        prepared = PreparedSlice(api, self.profile, self.expressions)
        old = self._slices.get(prepared.name)
        groups = dict(self._groups)
        place = self._next
        touched: list[PoolGroup] = []
        vanished = self._vanished
        if old is not None:
            group = groups[old]
            touched.append(group)
            place, replaced = next(entry for entry in group.placed if entry[1].name == prepared.name)
            vanished = self._with_vanished(replaced)
            self._replace(groups, old, tuple(entry for entry in group.placed if entry[0] != place))
        existing = groups.get(prepared.pool)
        if existing is not None:
            touched.append(existing)
        entries = (*(existing.placed if existing else ()), (place, prepared))
        self._replace(groups, prepared.pool, tuple(sorted(entries, key=lambda entry: entry[0])))
        touched.append(groups[prepared.pool])
        slices = {**self._slices, prepared.name: prepared.pool}
        return self._changed(groups, slices, touched, max(self._next, place + 1), vanished)

    def without_slice(self, name: str) -> "Inventory":
        """The inventory without the slice of that name; the same one if there is none."""
        pool = self._slices.get(name)
        if pool is None:
            return self
        groups = dict(self._groups)
        touched = [groups[pool]]
        removed = next(slice_ for _, slice_ in groups[pool].placed if slice_.name == name)
        remaining = tuple(entry for entry in groups[pool].placed if entry[1].name != name)
        self._replace(groups, pool, remaining)
        slices = {key: value for key, value in self._slices.items() if key != name}
        return self._changed(groups, slices, touched, self._next, self._with_vanished(removed))

    def with_class(self, class_: DeviceClass) -> "Inventory":
        """The inventory with a class added or changed."""
        return self._with_classes({**self.classes, class_.metadata.name: PreparedClass(class_)})

    def without_class(self, name: str) -> "Inventory":
        """The inventory without the class of that name."""
        return self._with_classes({key: class_ for key, class_ in self.classes.items() if key != name})

    def view(self, node: Node) -> NodeView:
        """What the node can use."""
        name = node.metadata.name
        known = self._views.get(name)
        if known is not None and (known.node is node or known.node.metadata.labels == node.metadata.labels):
            return known
        view = self._views[name] = self._look(node)
        return view

    def groups_for(self, node: Node) -> list[PoolGroup]:
        """The pools with a slice for the node or for nodes in general, sorted by driver and name."""
        return sorted(self._groups_for(node.metadata.name), key=lambda group: group.id)

    def nodes_of(self, pool: PoolId) -> frozenset[str]:
        """The nodes for which that pool has slices; an empty name stands for nodes in general."""
        group = self._groups.get(pool)
        return frozenset() if group is None else group.nodes

    def slice_spec_of(self, pool: PoolId, device: str) -> ResourceSliceSpec | None:
        """The newest slice of a pool that publishes a device; None if none does."""
        group = self._groups.get(pool)
        found: ResourceSliceSpec | None = None
        for _, slice_ in group.placed if group is not None else ():
            spec = slice_.api.spec
            newer = found is None or spec.pool.generation > found.pool.generation
            if newer and any(each.id[2] == device for each in slice_.devices):
                found = spec
        return found

    def slices(self) -> list[ResourceSlice]:
        """All slices, in listing order."""
        placed = [entry for group in self._groups.values() for entry in group.placed]
        return [slice_.api for _, slice_ in sorted(placed, key=lambda entry: entry[0])]

    def vanished(self, id_: PoolId) -> Mapping[str, SliceDevice]:
        """Devices that went on charging the pool's counters when they left its slices, by name."""
        if self.profile.has("vanished-devices-free-counters"):
            return {}
        group = self._groups.get(id_)
        stale = (
            {} if group is None else {device.id[2]: device for _, slice_ in group.placed for device in slice_.devices}
        )
        return {**self._vanished.get(id_, {}), **stale}

    def with_profile(self, profile: AllocatorProfile, node: Node) -> "Inventory":
        """What matters for one node, prepared for another profile."""
        placed = sorted(
            (entry for group in self._groups_for(node.metadata.name) for entry in group.placed),
            key=lambda entry: entry[0],
        )
        classes = [class_.api for class_ in self.classes.values()]
        return Inventory.of([slice_.api for _, slice_ in placed], classes, profile, self.expressions)

    def _look(self, node: Node) -> NodeView:
        pools: list[Pool] = []
        first_error: GatherError | None = None
        for group in self._groups_for(node.metadata.name):
            try:
                pool = group.pool_for(node)
            except GatherError as error:
                if first_error is None or error.order < first_error.order:
                    first_error = error
                continue
            if pool is not None:
                pools.append(pool)
        return NodeView(node, pools, first_error, self.profile)

    def _groups_for(self, node_name: str) -> list[PoolGroup]:
        """The pools with a slice for that node or for nodes in general."""
        if self._pools_by_node is None:
            index: dict[str, list[PoolGroup]] = {}
            for group in self._groups.values():
                for name in group.nodes:
                    index.setdefault(name, []).append(group)
            self._pools_by_node = index
        general = self._pools_by_node.get("", [])
        own = self._pools_by_node.get(node_name, []) if node_name else []
        return own + [group for group in general if node_name not in group.nodes or not node_name]

    def _replace(self, groups: dict[PoolId, PoolGroup], id_: PoolId, placed: tuple[Placed, ...]) -> None:
        if placed:
            groups[id_] = PoolGroup(id_, placed, self.profile)
        else:
            groups.pop(id_, None)

    def _changed(
        self,
        groups: Mapping[PoolId, PoolGroup],
        slices: Mapping[str, PoolId],
        touched: Iterable[PoolGroup],
        next_place: int,
        vanished: Mapping[PoolId, Mapping[str, SliceDevice]],
    ) -> "Inventory":
        nodes = frozenset[str]().union(*(group.nodes for group in touched))
        views = {} if "" in nodes else {name: view for name, view in self._views.items() if name not in nodes}
        return Inventory(
            self.profile,
            self.expressions,
            self.classes,
            groups,
            slices,
            views,
            next_place,
            vanished,
            self.rules,
            self.signatures,
        )

    def _with_classes(self, classes: Mapping[str, PreparedClass]) -> "Inventory":
        views = dict(self._views)
        return Inventory(
            self.profile,
            self.expressions,
            classes,
            self._groups,
            self._slices,
            views,
            self._next,
            self._vanished,
            self.rules,
            Signatures(self.signatures),
        )

    def _with_vanished(self, slice_: PreparedSlice) -> Mapping[PoolId, Mapping[str, SliceDevice]]:
        """What is remembered after a slice went, where it matters."""
        if self.profile.has("vanished-devices-free-counters"):
            return self._vanished
        pool = {**self._vanished.get(slice_.pool, {}), **{device.id[2]: device for device in slice_.devices}}
        return {**self._vanished, slice_.pool: pool}
