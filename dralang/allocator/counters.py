"""What is left of a pool's counters, and which compatibility groups its counter sets are bound to.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental allocator_experimental.go
checkAvailableCounters, compatibility_groups.go.
"""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from dralang.allocator.pools import Pool
from dralang.allocator.prepared import PreparedSlice, SliceDevice
from dralang.allocator.state import PoolAllocations

CounterName: TypeAlias = tuple[str, str]
"""Counter set, counter."""


class Baseline:
    """A pool's counters before the attempt.

    Attributes:
        free: what is left, in billionths; may be negative.
        blocked: the over-committed counters.
        groups: the state of each counter set that is in use.
    """

    __slots__ = ("blocked", "free", "groups")

    def __init__(self, free: dict[CounterName, int], groups: dict[str, "Groups"]) -> None:
        self.free = free
        self.blocked = tuple(name for name, amount in free.items() if amount < 0)
        self.groups = groups


class Groups:
    """The compatibility groups of the devices on one counter set, at least one device."""

    __slots__ = ("common", "without")

    def __init__(self, common: frozenset[str], *, without: bool) -> None:
        self.common = common
        self.without = without

    def admits(self, groups: frozenset[str]) -> bool:
        """Whether a device with these groups may join."""
        if not groups:
            return self.without
        return not self.without and not self.common.isdisjoint(groups)

    def joined_by(self, groups: frozenset[str]) -> "Groups":
        """The state after it did."""
        if self.without or not groups:
            return self
        return Groups(self.common & groups, without=False)

    def key(self) -> object:
        """Equal for equal states."""
        return self.without, self.common


def first_groups(groups: frozenset[str]) -> Groups:
    """The state with one device."""
    return Groups(groups, without=not groups)


def charges(device: SliceDevice) -> tuple[tuple[CounterName, int], ...]:
    """What the device takes, counter by counter."""
    return tuple(
        ((consumption.counter_set, name), amount)
        for consumption in device.consumes
        for name, amount in consumption.counters.items()
    )


def baseline(
    pool: Pool,
    allocations: PoolAllocations,
    remembered: Mapping[str, SliceDevice] | None = None,
    *,
    forgets_shares: bool = False,
) -> Baseline:
    """The counters of a pool with these allocations; remembered with the allocations.

    Args:
        pool: a complete pool.
        allocations: what is in use in it.
        remembered: devices that left the slices but go on charging, by name.
        forgets_shares: devices in use by shares only do not count.
    """
    known = allocations.memo.get(pool)
    if known is None:
        used = set(allocations.dedicated) if forgets_shares else allocations.devices()
        # In the order of the slices, because the order in which groups join may matter.
        devices = [device for device in (*pool.devices, *pool.elsewhere) if device.id[2] in used]
        if remembered:
            missing = sorted(used - {device.id[2] for device in devices})
            devices += [remembered[name] for name in missing if name in remembered]
        known = _charged(pool.counter_sets, devices)
        if used:
            allocations.memo[pool] = known
    assert isinstance(known, Baseline)
    return known


def slice_baseline(home: PreparedSlice, allocations: PoolAllocations) -> Baseline:
    """The counters of a slice of its own, as they were before pools had counters."""
    devices = [device for device in home.devices if device.id[2] in allocations.dedicated]
    sets = {
        counter_set.name: {name: counter.value.nano for name, counter in counter_set.counters.items()}
        for counter_set in home.api.spec.shared_counters
    }
    return _charged(sets, devices)


def _charged(sets: Mapping[str, Mapping[str, int]], used: Iterable[SliceDevice]) -> Baseline:
    free = {(name, counter): value for name, counters in sets.items() for counter, value in counters.items()}
    groups: dict[str, Groups] = {}
    for device in used:
        for counter, amount in charges(device):
            if counter in free:
                free[counter] -= amount
        for consumption in device.consumes:
            state = groups.get(consumption.counter_set)
            joined = first_groups(consumption.groups) if state is None else state.joined_by(consumption.groups)
            groups[consumption.counter_set] = joined
    return Baseline(free, groups)
