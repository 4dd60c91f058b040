"""How much of a device's capacity a request takes, and whether its policy allows that.

Amounts are billionths (``Quantity.nano``). What a request takes from a device is fixed by the two, so it is computed
once per device and request; only what is left changes during a search.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental/consumable_capacity.go.
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

from dralang.allocator.prepared import SliceDevice
from dralang.allocator.profiles import AllocatorProfile
from dralang.api.resourceslice import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from dralang.values.quantity import MAX_INT64, Quantity, milli_quantity, quantity_of

_NANO_PER_MILLI = 10**6
_NANO_PER_UNIT = 10**9

Requested: TypeAlias = Mapping[str, Quantity]


class CapacityError(Exception):
    """A request that aborts the attempt; the message is the cause, without claim and device."""


class Amounts:
    """What a request takes from a device.

    Attributes:
        taken: capacity, amount and its way of being written, for every capacity of the device.
        refusal: why the device cannot serve the request however empty it is; empty if it can.
        kind: what refuses: a capacity that the device lacks, its policy, or its size.
        capacity: the capacity that refuses.
        error: the cause of a fatal error, or empty.
    """

    __slots__ = ("capacity", "error", "kind", "refusal", "taken")

    def __init__(self, taken: tuple[tuple[str, int, Quantity], ...] = ()) -> None:
        self.taken = taken
        self.refusal = ""
        self.kind: Literal["", "missing", "policy", "size"] = ""
        self.capacity = ""
        self.error = ""


def amounts_for(device: SliceDevice, requested: Requested | None, profile: AllocatorProfile) -> Amounts:
    """What the request takes; remembered on the device."""
    key = None if not requested else tuple(sorted((name, str(q), q.nano) for name, q in requested.items()))
    known = device.amounts.get(key)
    if known is None:
        known = device.amounts[key] = _compute(device, requested or {}, profile)
    assert isinstance(known, Amounts)
    return known


def exhausted(
    device: SliceDevice, amounts: Amounts, persisted: Mapping[str, int], in_flight: Mapping[str, int]
) -> str | None:
    """The first capacity of which too little is left for these amounts; None if they fit."""
    capacities = device.api.capacity
    for name, amount, _ in amounts.taken:
        if amount + persisted.get(name, 0) + in_flight.get(name, 0) > capacities[name].value.nano:
            return name
    return None


def _compute(device: SliceDevice, requested: Requested, profile: AllocatorProfile) -> Amounts:
    capacities = device.api.capacity
    result = Amounts()
    try:
        asked = _assigned(device, requested, profile)
    except CapacityError as error:
        result.error = str(error)
        return result
    for name in sorted(requested):
        if name not in asked.values():
            result.kind, result.capacity = "missing", name
            result.refusal = f"has no capacity `{name}`"
            return result
    taken: list[tuple[str, int, Quantity]] = []
    for name, capacity in sorted(capacities.items()):
        try:
            amount = _consumed(requested.get(asked.get(name, "")) if name in asked else None, capacity, profile)
            if amount.nano < 0 and not profile.has("negative-capacity-accepted"):
                raise CapacityError("capacity value is negative")
        except CapacityError as error:
            result.error = f'capacity "{name}": {error}'
            return result
        taken.append((name, amount.nano, amount))
    result.taken = tuple(taken)
    for name, _, amount in taken:
        capacity = capacities[name]
        try:
            violation = _violation(amount, capacity.request_policy, profile)
        except CapacityError as error:
            result.error = f'capacity "{name}": {error}'
            return result
        if violation:
            result.kind, result.capacity, result.refusal = "policy", name, violation
            return result
        if amount > capacity.value:
            result.kind, result.capacity = "size", name
            result.refusal = f"needs {amount} of capacity `{name}`, has {capacity.value}"
            return result
    return result


def _assigned(device: SliceDevice, requested: Requested, profile: AllocatorProfile) -> dict[str, str]:
    """The request's name for each requested capacity of the device."""
    capacities = device.api.capacity
    if profile.has("literal-capacity-names"):
        return {name: name for name in requested if name in capacities}
    driver = device.id[0]
    by_full_name: dict[str, str] = {}
    for name in sorted(requested):
        full = _qualified(name, driver)
        if full in by_full_name:
            raise CapacityError(
                f'capacity "{full.partition("/")[2]}" requested both as "{by_full_name[full]}" and as "{name}"'
            )
        by_full_name[full] = name
    assigned = {}
    for name in capacities:
        asked = by_full_name.get(_qualified(name, driver))
        if asked is not None:
            assigned[name] = asked
    return assigned


def _qualified(name: str, driver: str) -> str:
    return name if "/" in name else f"{driver}/{name}"


def _consumed(requested: Quantity | None, capacity: DeviceCapacity, profile: AllocatorProfile) -> Quantity:
    """The amount for one capacity: rounded up as its policy says, or the default, or everything."""
    policy = capacity.request_policy
    if requested is None:
        default = policy.default if policy is not None else None
        return (capacity.value if default is None else default).canonical()
    if requested.nano < 0 and not profile.has("negative-request-rounded-up"):
        raise CapacityError("capacity value is negative")
    if policy is not None:
        if policy.valid_range is not None and policy.valid_range.min is not None:
            return _rounded_to_range(requested, policy.valid_range, policy.valid_range.min, profile)
        for value in policy.valid_values:
            if requested <= value:
                return value.canonical()
    return requested.canonical()


def _rounded_to_range(
    requested: Quantity, valid: CapacityRequestPolicyRange, minimum: Quantity, profile: AllocatorProfile
) -> Quantity:
    if requested < minimum:
        return minimum.canonical()
    step = valid.step
    if step is None:
        return requested.canonical()
    form = "BinarySI" if "format of the step" in profile.lacks else step.format
    fault = "capacity request cannot be represented in the device's range arithmetic: "
    if _in_milli(valid, profile):
        wanted = _exact_milli(requested)
        if wanted is None:
            raise CapacityError(f"{fault}request {requested} is not a representable milli value")
        base, size = minimum.nano // _NANO_PER_MILLI, step.nano // _NANO_PER_MILLI
        steps = -((base - wanted) // size)
        if steps > (MAX_INT64 - base) // size:
            raise CapacityError(f"{fault}rounding request {requested} up to the next step passes the milli-value range")
        value = base + size * steps
        return milli_quantity(value, form) if value % 1000 else quantity_of(value // 1000, form)
    base, size = minimum.value(), step.value()
    if size <= 0:
        raise CapacityError("the step of the policy is not positive")
    if profile.has("capacity-arithmetic-wraps"):
        return quantity_of(_rounded_and_wrapped(requested.value(), base, size), form)
    if requested.nano > MAX_INT64 * _NANO_PER_UNIT:
        raise CapacityError(f"{fault}request {requested} exceeds MaxInt64")
    steps = -((base - requested.value()) // size)
    if base >= 0 and steps > (MAX_INT64 - base) // size:
        raise CapacityError(f"{fault}rounding request {requested} up to the next step passes MaxInt64")
    return quantity_of(base + size * steps, form)


def _rounded_and_wrapped(requested: int, base: int, size: int) -> int:
    """Rounding up in 64 bits without a look at overflows; division goes towards zero."""
    added = _wrap(requested - base)
    steps = abs(added) // size * (1 if added >= 0 else -1)
    if added != steps * size:
        steps += 1
    return _wrap(base + _wrap(size * steps))


def _wrap(value: int) -> int:
    return (value + MAX_INT64 + 1) % (1 << 64) - MAX_INT64 - 1


def _violation(amount: Quantity, policy: CapacityRequestPolicy | None, profile: AllocatorProfile) -> str:
    """Why the policy refuses the amount, or empty."""
    if policy is None or (policy.default is not None and _is_same(amount, policy.default)):
        return ""
    valid = policy.valid_range
    if valid is not None:
        if valid.max is not None and amount > valid.max:
            return f"{amount} is above the policy's maximum {valid.max}"
        if valid.step is not None and not _is_on_step(amount, valid, valid.step, profile):
            return f"{amount} is not a whole number of steps of {valid.step} above {valid.min}"
    elif policy.valid_values and amount not in policy.valid_values:
        return f"{amount} is above every value that the policy lists"
    return ""


def _is_same(amount: Quantity, default: Quantity) -> bool:
    """Equal as Go structs: the same number written the same way."""
    return (amount.mantissa, amount.scale, amount.format) == (default.mantissa, default.scale, default.format)


def _is_on_step(amount: Quantity, valid: CapacityRequestPolicyRange, step: Quantity, profile: AllocatorProfile) -> bool:
    if valid.min is None:
        raise CapacityError("the policy has a step but no minimum")
    if _in_milli(valid, profile):
        milli = _exact_milli(amount)
        return milli is not None and (milli - valid.min.nano // _NANO_PER_MILLI) % (step.nano // _NANO_PER_MILLI) == 0
    size = step.value()
    if size == 0:
        raise CapacityError("the step of the policy is zero")
    return _wrap(amount.value() - valid.min.value()) % size == 0


def _in_milli(valid: CapacityRequestPolicyRange, profile: AllocatorProfile) -> bool:
    """Whether the range is computed in thousandths instead of whole numbers."""
    if not profile.features.fractional_capacity_range:
        return False
    if any(q is not None and _exact_milli(q) is None for q in (valid.min, valid.max, valid.step)):
        return False
    return valid.step is None or valid.step.nano >= _NANO_PER_MILLI


def _exact_milli(quantity: Quantity) -> int | None:
    milli, rest = divmod(quantity.nano, _NANO_PER_MILLI)
    return milli if rest == 0 and -MAX_INT64 - 1 <= milli <= MAX_INT64 else None
