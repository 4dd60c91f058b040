"""Slices and devices in the form the search wants: read once per slice, shared by nodes, claims and pods.

What is stored here depends on the slice and the profile alone, never on a node, a claim or an allocation.
"""

from msgspec.structs import replace

from dralang.allocator.profiles import AllocatorProfile
from dralang.allocator.quirks import QUIRKS
from dralang.api.device import DeviceTaint
from dralang.api.expressions import DeviceExpressions, ExpressionError, ForgivingExpressions, PreparedDevice
from dralang.api.resourceslice import Device, DeviceAttribute, DeviceCounterConsumption, ResourceSlice

DeviceId = tuple[str, str, str]
"""Driver, pool, device name."""
PoolId = tuple[str, str]
"""Driver, pool name."""


class SelectorFailure:
    """A selector that cannot be decided on a device; raised only where the search gets there.

    Attributes:
        index: which selector of the list.
        phase: ``compile`` or ``runtime``.
        message: the text of the expression library.
    """

    __slots__ = ("index", "message", "phase")

    def __init__(self, index: int, phase: str, message: str) -> None:
        self.index = index
        self.phase = phase
        self.message = message


class Consumption:
    """What one device takes from one counter set.

    Attributes:
        counter_set: name of the set.
        counters: amounts in billionths, by counter.
        groups: compatibility groups; empty for none.
    """

    __slots__ = ("counter_set", "counters", "groups")

    def __init__(self, source: DeviceCounterConsumption) -> None:
        self.counter_set = source.counter_set
        self.counters = {name: counter.value.nano for name, counter in source.counters.items()}
        self.groups = frozenset(source.compatibility_groups)


class SliceDevice:
    """One device of a slice.

    INVARIANT: everything but the memo tables is fixed at construction; the tables only remember pure results.

    Attributes:
        api: as published.
        id: driver, pool and name.
        home: its slice.
        shareable: several allocations may use it (only with consumable capacity).
        excluded: never selectable, because it has binding conditions and their gate is off.
        taints: those that prevent allocation unless tolerated.
        consumes: what it takes from counter sets.
    """

    __slots__ = (
        "_expressions",
        "_prepared",
        "amounts",
        "api",
        "attributes",
        "consumes",
        "derived",
        "excluded",
        "home",
        "id",
        "selected",
        "shareable",
        "taints",
    )

    def __init__(
        self, api: Device, home: "PreparedSlice", profile: AllocatorProfile, expressions: DeviceExpressions
    ) -> None:
        spec = home.api.spec
        features = profile.features
        self.api = api
        self.id: DeviceId = (spec.driver, spec.pool.name, api.name)
        self.home = home
        self.shareable = features.consumable_capacity and api.allow_multiple_allocations is True
        self.excluded = bool(api.binding_conditions) and not features.binding_conditions
        any_effect = profile.has("any-taint-effect-blocks")
        self.taints: tuple[DeviceTaint, ...] = (
            tuple(taint for taint in api.taints if any_effect or taint.effect in {"NoSchedule", "NoExecute"})
            if features.device_taints and api.taints
            else ()
        )
        self.consumes = tuple(map(Consumption, api.consumes_counters)) if api.consumes_counters else ()
        self._expressions = expressions
        self._prepared: PreparedDevice | None = None
        self.selected: dict[tuple[str, ...], bool | SelectorFailure] = {}
        self.amounts: dict[object, object] = {}
        self.attributes: dict[str, DeviceAttribute | None] = {}
        self.derived: dict[str, DeviceAttribute | ExpressionError] = {}

    def __repr__(self) -> str:
        return f"SliceDevice({'/'.join(self.id)})"

    def satisfies(self, selectors: tuple[str, ...]) -> bool | SelectorFailure:
        """Whether all selectors are true, stopping at the first that is not."""
        if not selectors:
            return True
        known = self.selected.get(selectors)
        if known is None:
            known = self.selected[selectors] = self._evaluate(selectors)
        return known

    def _evaluate(self, selectors: tuple[str, ...]) -> bool | SelectorFailure:
        for index, text in enumerate(selectors):
            try:
                if not self._expressions.selector(text)(self.prepared()):
                    return False
            except ExpressionError as error:
                return SelectorFailure(index, error.phase, error.message)
        return True

    def prepared(self) -> PreparedDevice:
        """The device as expressions see it."""
        if self._prepared is None:
            self._prepared = self.home.prepare(self.api)
        return self._prepared

    def attribute(self, name: str) -> DeviceAttribute | None:
        """The attribute of that name for constraints: the exact key, else the bare one of the device's own driver.

        Source: structured/internal/experimental allocator_experimental.go lookupStaticAttribute.
        """
        try:
            return self.attributes[name]
        except KeyError:
            found = self.api.attributes.get(name)
            if found is None:
                domain, slash, bare = name.partition("/")
                if slash and domain == self.id[0]:
                    found = self.api.attributes.get(bare)
            self.attributes[name] = found
            return found

    def derive(self, expression: str) -> DeviceAttribute | ExpressionError:
        """The value of a derived attribute, or why there is none."""
        known = self.derived.get(expression)
        if known is None:
            try:
                known = self._expressions.derived(expression)(self.prepared())
            except ExpressionError as error:
                known = error
            self.derived[expression] = known
        return known


class PreparedSlice:
    """One ResourceSlice, read for a profile.

    Attributes:
        api: as published.
        name: object name.
        pool: driver and pool name.
        generation: of the pool.
        grouped: some device declares compatibility groups.
        conditional: some device has binding conditions.
    """

    __slots__ = ("_devices", "_expressions", "_profile", "api", "conditional", "generation", "grouped", "name", "pool")

    def __init__(self, api: ResourceSlice, profile: AllocatorProfile, expressions: DeviceExpressions) -> None:
        self.api = api
        self.name = api.metadata.name
        self.pool: PoolId = (api.spec.driver, api.spec.pool.name)
        self.generation = api.spec.pool.generation
        self._profile = profile
        self._expressions = expressions
        self._devices: tuple[SliceDevice, ...] | None = None
        self.grouped = any(
            consumption.compatibility_groups for device in api.spec.devices for consumption in device.consumes_counters
        )
        self.conditional = any(device.binding_conditions for device in api.spec.devices)

    def __repr__(self) -> str:
        return f"PreparedSlice({self.name})"

    @property
    def devices(self) -> tuple[SliceDevice, ...]:
        """The devices in the order of the slice; read when first asked for, since most nodes see few slices."""
        if self._devices is None:
            self._devices = tuple(
                SliceDevice(device, self, self._profile, self._expressions) for device in self.api.spec.devices
            )
        return self._devices

    def prepare(self, device: Device) -> PreparedDevice:
        """The device as expressions see it in this version, its faults included."""
        profile = self._profile
        if "sharing in expressions" in profile.lacks and device.allow_multiple_allocations is not None:
            device = replace(device, allow_multiple_allocations=None)
        expressions = self._expressions
        poisoned = profile.has("bad-attribute-poisons-device")
        # Only a switched quirk needs more than the version's own way.
        if poisoned != (profile.version in QUIRKS["bad-attribute-poisons-device"].versions) and isinstance(
            expressions, ForgivingExpressions
        ):
            return expressions.prepare_as(self.pool[0], device, forgiving=not poisoned)
        return expressions.prepare(self.pool[0], device)
