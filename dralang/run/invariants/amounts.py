"""What a request consumes of a device's capacity, in exact numbers and straight from the text of the API.

Written from the rules and not from the allocator, for those who check it.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from dralang.api.allocation import AllocationResult
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import CapacityRequestPolicy, Device
from dralang.run.invariants.world import World, device_name, request_of
from dralang.values.quantity import Quantity

_UNIT: Final = 10**9
"""Amounts are counted in billionths, the finest that a quantity has."""
_MOST: Final = 2**63 - 1


class UnclearError(Exception):
    """Kubernetes computes this in a way of its own, or ends the attempt; nothing can be said."""


def amounts_of(world: World, driver: str, device: Device, requested: Mapping[str, Quantity]) -> dict[str, int] | None:
    """What a request takes of each capacity of an empty device; None if the device cannot serve it.

    Args:
        world: version, gates and quirks.
        driver: of the device.
        device: as it was published.
        requested: amounts by name of the capacity.

    Raises:
        UnclearError: the numbers are such that it cannot be told.
    """
    literal = world.profile.has("literal-capacity-names")
    wanted = {name if literal else _full(name, driver): amount for name, amount in requested.items()}
    if len(wanted) < len(requested):
        raise UnclearError
    taken: dict[str, int] = {}
    for name, capacity in device.capacity.items():
        asked = wanted.pop(name if literal else _full(name, driver), None)
        policy = capacity.request_policy
        if asked is None:
            default = None if policy is None else policy.default
            amount: int | None = (capacity.value if default is None else default).nano
        elif asked.nano < 0 or asked.nano > _MOST * _UNIT:
            raise UnclearError
        else:
            amount = _legal(world, asked.nano, policy)
        if amount is None or amount > capacity.value.nano:
            return None
        taken[name] = amount
    return None if wanted else taken


def _full(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _legal(world: World, asked: int, policy: CapacityRequestPolicy | None) -> int | None:
    """The smallest legal amount that is enough; None if there is none."""
    if policy is None:
        return asked
    if policy.default is not None and policy.default.nano == asked:
        return asked
    valid = policy.valid_range
    if valid is not None:
        if valid.min is None:
            raise UnclearError
        numbers = [asked, valid.min.nano, *(each.nano for each in (valid.max, valid.step) if each is not None)]
        # Without the gate Kubernetes counts steps in whole numbers, with it in thousandths.
        grain = _UNIT // 1000 if world.features.enabled("DRAFractionalCapacityRange") else _UNIT
        if valid.step is not None and (valid.step.nano <= 0 or any(number % grain for number in numbers)):
            raise UnclearError
        amount = max(asked, valid.min.nano)
        if valid.step is not None:
            steps = -((valid.min.nano - amount) // valid.step.nano)
            amount = valid.min.nano + steps * valid.step.nano
        return None if valid.max is not None and amount > valid.max.nano else amount
    if policy.valid_values:
        return min((each.nano for each in policy.valid_values if each.nano >= asked), default=None)
    return asked


def amounts_are_exact(world: World, claim: ResourceClaim, allocation: AllocationResult) -> Iterator[str]:
    """What is consumed of a shared device is the smallest amount that its policy allows and that is enough."""
    if not world.features.enabled("DRAConsumableCapacity"):
        return
    for result in allocation.devices.results:
        request = request_of(claim, result.request)
        found = world.published((result.driver, result.pool, result.device), world.since(claim))
        if request is None or not found:
            continue
        requested = {} if request.capacity is None else request.capacity.requests
        has = {name: amount.nano for name, amount in (result.consumed_capacity or {}).items()}
        wanted: list[dict[str, int] | None] = []
        try:
            for each in found:
                shared = each.device.allow_multiple_allocations
                wanted.append(amounts_of(world, result.driver, each.device, requested) if shared else {})
        except UnclearError:
            continue
        if has not in wanted:
            said = _said(has)
            expected = " or ".join(_said(each) for each in wanted if each is not None) or "a refusal"
            yield f"{claim.metadata.name} consumes {said} of {device_name(result)}, which should be {expected}"


def _said(amounts: Mapping[str, int]) -> str:
    parts = [f"{amount / _UNIT:g} {name}" for name, amount in sorted(amounts.items())]
    return ", ".join(parts) or "nothing"
