"""What the status of a pool says beyond plain counts: partitions and shareable capacity.

Source: kubernetes pkg/controller/resourcepoolstatusrequest/views.go.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dralang.api.resourcepoolstatusrequest import (
    PartitionTypeStatus,
    ShareableCapacityStatus,
    ShareableSummaryStatus,
)
from dralang.api.resourceslice import CounterSet, Device, DeviceCounterConsumption
from dralang.values.quantity import Quantity, quantity_of

MOST_ITEMS = 32

Counters = dict[str, dict[str, Quantity]]


class PoolInput(NamedTuple):
    """One complete pool.

    Attributes:
        driver: its driver.
        name: its name.
        devices: its devices, each with the partition attribute of its slice (empty if it has none).
        counters: its shared counters.
        in_use: names of allocated devices.
        consumed: consumed capacity by name.
    """

    driver: str
    name: str
    devices: Sequence[tuple[Device, str]]
    counters: Sequence[CounterSet]
    in_use: frozenset[str]
    consumed: Mapping[str, Quantity]


class PoolViews(NamedTuple):
    """The two views, and why one of them is missing."""

    partitions: tuple[PartitionTypeStatus, ...]
    shareable: ShareableSummaryStatus | None
    error: str


def pool_views(pool: PoolInput, default_attribute: str) -> PoolViews:
    """Compute both views; the first error drops the partitions.

    Args:
        pool: the pool.
        default_attribute: groups the devices of a pool none of whose slices names an attribute.
    """
    devices = list(pool.devices)
    if default_attribute and not any(attribute for _, attribute in devices):
        devices = [(device, default_attribute) for device, _ in devices]
    partitions: tuple[PartitionTypeStatus, ...] = ()
    error = ""
    if any(attribute for _, attribute in devices):
        if not pool.counters:
            error = (
                f"PartitionTypeMissing: pool {pool.driver}/{pool.name} declares partitionTypeAttribute but publishes "
                "no sharedCounters"
            )
        else:
            partitions, error = _partitions(pool, devices)
    shareable, problem = _shareable(pool, [device for device, _ in devices])
    error = error or problem
    return PoolViews(() if error else partitions, shareable, error)


def _partition_type(driver: str, device: Device, attribute: str) -> str | None:
    found = device.attributes.get(attribute)
    if found is None and attribute.startswith(f"{driver}/"):
        found = device.attributes.get(attribute.removeprefix(f"{driver}/"))
    return found.string if found is not None else None


class _Group:
    __slots__ = ("cost", "fresh", "total")

    def __init__(self, cost: str) -> None:
        self.cost = cost
        self.total = 0
        self.fresh: list[Device] = []


def _partitions(pool: PoolInput, devices: Sequence[tuple[Device, str]]) -> tuple[tuple[PartitionTypeStatus, ...], str]:
    where = f"pool {pool.driver}/{pool.name}"
    groups: dict[tuple[str, str], _Group] = {}
    for device, attribute in devices:
        if not device.consumes_counters or not attribute:
            continue
        kind = _partition_type(pool.driver, device, attribute)
        if kind is None:
            text = f'device "{device.name}" in {where} does not carry partition type attribute "{attribute}"'
            return (), f"PartitionTypeMissing: {text}"
        cost = _cost_key(device.consumes_counters)
        group = groups.setdefault((attribute, kind), _Group(cost))
        if group.cost != cost:
            text = f'devices of partition type "{kind}" in {where} consume different counters'
            return (), f"PartitionCostMismatch: {text}"
        group.total += 1
        if device.name not in pool.in_use:
            group.fresh.append(device)
    baseline: Counters = {
        each.name: {name: counter.value for name, counter in each.counters.items()} for each in pool.counters
    }
    for device, _ in devices:
        if device.name in pool.in_use:
            _deduct(device.consumes_counters, baseline)
    result = []
    for attribute, kind in sorted(groups):
        group = groups[attribute, kind]
        left = {name: dict(counters) for name, counters in baseline.items()}
        allocatable = 0
        for device in group.fresh:
            if _fits(device.consumes_counters, left):
                allocatable += 1
                _deduct(device.consumes_counters, left)
        result.append(PartitionTypeStatus(attribute=attribute, type=kind, total=group.total, allocatable=allocatable))
    if len(result) > MOST_ITEMS:
        text = f"{where} has {len(result)} partition types, exceeding the maximum of {MOST_ITEMS}"
        return (), f"PartitionSummaryOverCap: {text}"
    return tuple(result), ""


def _cost_key(cost: Sequence[DeviceCounterConsumption]) -> str:
    return ",".join(
        sorted(f"{each.counter_set}/{name}={each.counters[name].value}" for each in cost for name in each.counters)
    )


def _fits(cost: Sequence[DeviceCounterConsumption], left: Counters) -> bool:
    return all(
        name in left.get(each.counter_set, {}) and left[each.counter_set][name] >= counter.value
        for each in cost
        for name, counter in each.counters.items()
    )


def _deduct(cost: Sequence[DeviceCounterConsumption], left: Counters) -> None:
    for each in cost:
        counters = left.get(each.counter_set)
        for name, counter in each.counters.items():
            if counters is not None and name in counters:
                counters[name] = counters[name] - counter.value


def _shareable(pool: PoolInput, devices: Sequence[Device]) -> tuple[ShareableSummaryStatus | None, str]:
    shared = [device for device in devices if device.allow_multiple_allocations]
    if not shared:
        return None, ""
    totals: dict[str, Quantity] = {}
    for device in shared:
        for name, capacity in device.capacity.items():
            totals[name] = totals[name] + capacity.value if name in totals else capacity.value
    if len(totals) > MOST_ITEMS:
        text = f"pool {pool.driver}/{pool.name} has {len(totals)} shareable capacity keys"
        return None, f"ShareableSummaryOverCap: {text}, exceeding the maximum of {MOST_ITEMS}"
    capacities = []
    for name in sorted(totals):
        total = totals[name]
        consumed = pool.consumed.get(name, quantity_of(0))
        left = total - consumed
        available = left if left.sign >= 0 else quantity_of(0, total.format)
        capacities.append(ShareableCapacityStatus(name=name, total=total, consumed=consumed, available=available))
    used = sum(device.name in pool.in_use for device in shared)
    return (
        ShareableSummaryStatus(
            fully_available_devices=len(shared) - used,
            partially_available_devices=used,
            capacity=tuple(capacities),
        ),
        "",
    )
