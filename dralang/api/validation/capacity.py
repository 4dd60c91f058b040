"""Capacities of devices and the request policies of shareable ones.

Source: validateMultiAllocatableDeviceCapacity and below in pkg/apis/resource/validation (1.37).
"""

from dralang.api.resourceslice import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from dralang.api.validation import limits
from dralang.api.validation.context import ValidationContext
from dralang.api.validation.errors import Errors, duplicate, forbidden, invalid, required, too_many
from dralang.values.quantity import MAX_INT64, Quantity, milli_quantity, quantity_of

_MAX_VALUE = quantity_of(MAX_INT64)


def device_capacity(
    capacity: DeviceCapacity, path: str, context: ValidationContext, out: Errors, *, shareable: bool
) -> None:
    """A capacity; only a device that can be allocated several times may have a request policy."""
    policy = capacity.request_policy
    if policy is None:
        return
    here = f"{path}.requestPolicy"
    if not shareable:
        out.append(forbidden(here, "allowMultipleAllocations must be true"))
    elif policy.valid_values and policy.valid_range is not None:
        text = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'
        out.append(forbidden(here, text))
    elif policy.valid_values:
        _valid_values(policy, capacity.value, here, context, out)
    elif policy.valid_range is not None:
        if policy.default is None:
            out.append(required(f"{here}.default", "required when validRange is defined"))
        else:
            _Range(policy.default, capacity.value, policy.valid_range, f"{here}.validRange", context, out).check()


def _valid_values(
    policy: CapacityRequestPolicy, capacity: Quantity, path: str, context: ValidationContext, out: Errors
) -> None:
    if policy.default is None:
        out.append(required(f"{path}.default", "required when validValues is defined"))
        return
    values, here = policy.valid_values, f"{path}.validValues"
    for index in range(1, len(values)):
        if values[index - 1] > values[index]:
            text = "values must be sorted in ascending order"
            out.append(invalid(f"{here}[{index}]", values[index], text))
    found_default = False
    if len(values) > limits.REQUEST_POLICY_MAX_VALUES:
        out.append(too_many(here, len(values), limits.REQUEST_POLICY_MAX_VALUES))
    else:
        for index, value in enumerate(values):
            if value > capacity:
                out.append(invalid(f"{here}[{index}]", value, f"option is larger than capacity value: {capacity}"))
        found_default = policy.default in values
        _repeated_values(values, here, context, out)
    if not found_default:
        out.append(invalid(here, policy.default, "default value is not valid according to the requestPolicy"))


def _repeated_values(values: tuple[Quantity, ...], path: str, context: ValidationContext, out: Errors) -> None:
    fractional = context.gates.enabled("DRAFractionalCapacityRange")
    seen: set[str] = set()
    for index, value in enumerate(values):
        # `1` and `1000m` differ as decimal texts, `1e3` and `1000` do not.
        key = value.decimal_text() if fractional else str(value.value())
        if key in seen:
            out.append(duplicate(f"{path}[{index}]", key))
        seen.add(key)


class _Range:
    """The checks of one ``validRange``."""

    def __init__(
        self,
        default: Quantity,
        capacity: Quantity,
        bounds: CapacityRequestPolicyRange,
        path: str,
        context: ValidationContext,
        out: Errors,
    ) -> None:
        self.default = default
        self.capacity = capacity
        self.bounds = bounds
        self.path = path
        self.fractional = context.gates.enabled("DRAFractionalCapacityRange")
        self.out = out

    def check(self) -> None:
        low, high = self.bounds.min, self.bounds.max
        if low is None:
            self.out.append(required(f"{self.path}.min", "required when validRange is defined"))
            return
        self._bounds(low, high)
        given = {"default": self.default, "min": low, "max": high, "step": self.bounds.step}
        set_values = {name: value for name, value in given.items() if value is not None}
        in_milli = self.fractional and any(value.nano % 10**9 for value in set_values.values())
        if in_milli and not self._fits_milli(set_values):
            return
        step = self.bounds.step
        if step is None:
            return
        if step.sign <= 0:
            self._invalid("step", step, "must be greater than zero")
            return
        first = low + step
        if first > self.capacity:
            self._invalid("step", step, f"one step {first} is larger than capacity value: {self.capacity}")
        if in_milli or self._fits_int64(set_values):
            self._on_step(self.default, low, step, in_milli=in_milli)
            if high is not None:
                self._on_step(high, low, step, in_milli=in_milli)

    def _invalid(self, name: str, value: Quantity, text: str) -> None:
        self.out.append(invalid(f"{self.path}.{name}", value, text))

    def _bounds(self, low: Quantity, high: Quantity | None) -> None:
        if low > self.capacity:
            self._invalid("min", low, f"min is larger than capacity value: {self.capacity}")
        if self.default < low:
            self._invalid("default", self.default, f"default is less than min: {low}")
        if high is None:
            return
        if low > high:
            self._invalid("max", low, f"min is larger than max: {high}")
        if high > self.capacity:
            self._invalid("max", high, f"max is larger than capacity value: {self.capacity}")
        if self.default > high:
            self._invalid("default", self.default, f"default is more than max: {high}")

    def _fits_milli(self, values: dict[str, Quantity]) -> bool:
        fits = True
        for name, value in values.items():
            if value != milli_quantity(value.milli_value(), value.format):
                self._invalid(name, value, "value cannot be represented as a milli value")
                fits = False
        return fits

    def _fits_int64(self, values: dict[str, Quantity]) -> bool:
        fits = True
        for name, value in values.items():
            if value.sign < 0:
                self._invalid(name, value, "must be greater than or equal to 0")
                fits = False
            elif value > _MAX_VALUE:
                self._invalid(name, value, f"must not be larger than {MAX_INT64}")
                fits = False
        return fits

    def _on_step(self, value: Quantity, low: Quantity, step: Quantity, *, in_milli: bool) -> None:
        scale = -3 if in_milli else 0
        distance = value.scaled_value(scale) - low.scaled_value(scale)
        if distance % step.scaled_value(scale):
            self._invalid("step", value, f"value is not a multiple of a given step ({step}) from ({low})")
