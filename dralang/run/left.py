"""What is left of a counter set's counters and of a device's capacity."""

from dralang.api.resourceslice import ResourceSlice
from dralang.run.simulation import Simulation
from dralang.run.view import PublishedDevice, full_device_name, results_of
from dralang.values.quantity import ZERO, Quantity


def left_of_counter(simulation: Simulation, counter_set: str, counter: str, wanted: Quantity) -> tuple[bool, str]:
    """Whether that much is left of a counter, and what is."""
    found = [
        (each, shared)
        for each in simulation.store.objects(ResourceSlice)
        for shared in each.spec.shared_counters
        if shared.name == counter_set
    ]
    if not found:
        return False, f"no slice has a counter set {counter_set}"
    if len(found) > 1:
        pools = ", ".join(each.spec.pool.name for each, _ in found)
        return False, f"several pools have a counter set {counter_set}: {pools}"
    home, shared = found[0]
    if counter not in shared.counters:
        known = ", ".join(sorted(shared.counters))
        return False, f"counter set {counter_set} has no counter {counter} (it has {known})"
    left = shared.counters[counter].value - _drawn(simulation, home, counter_set, counter)
    return left == wanted, f"counters {counter_set} has {left} {counter} left"


def _drawn(simulation: Simulation, home: ResourceSlice, counter_set: str, counter: str) -> Quantity:
    """What the devices in use draw from a counter; a device counts once, however many shares it has."""
    in_use = _in_use(simulation)
    total = ZERO
    for each in simulation.store.objects(ResourceSlice):
        spec = each.spec
        if (spec.driver, spec.pool.name, spec.pool.generation) != (
            home.spec.driver,
            home.spec.pool.name,
            home.spec.pool.generation,
        ):
            continue
        for device in spec.devices:
            if f"{spec.driver}/{spec.pool.name}/{device.name}" not in in_use:
                continue
            for consumption in device.consumes_counters:
                if consumption.counter_set == counter_set and counter in consumption.counters:
                    total += consumption.counters[counter].value
    return total


def _in_use(simulation: Simulation) -> set[str]:
    return {
        full_device_name(result)
        for claim in simulation.claims()
        for result in results_of(claim)
        if not result.admin_access
    }


def left_of_capacity(
    simulation: Simulation, device: PublishedDevice, capacity: str, wanted: Quantity
) -> tuple[bool, str]:
    """Whether that much is left of a device's capacity, and what is."""
    if capacity not in device.device.capacity:
        known = ", ".join(sorted(device.device.capacity)) or "none"
        return False, f"{device.full_name} has no capacity {capacity} (it has {known})"
    left = device.device.capacity[capacity].value
    for claim in simulation.claims():
        for result in results_of(claim):
            if full_device_name(result) != device.full_name or result.admin_access:
                continue
            if result.consumed_capacity is None:
                # A device that is not shared is taken whole.
                left = left - left
            else:
                left -= result.consumed_capacity.get(capacity, ZERO)
    return left == wanted, f"device {device.full_name} has {left} {capacity} left"
