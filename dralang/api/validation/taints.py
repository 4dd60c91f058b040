"""Device taints and DeviceTaintRule.

Source: validateDeviceTaint and ValidateDeviceTaintRule in pkg/apis/resource/validation (1.37).
"""

from dralang.api.device import DeviceTaint
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.validation import formats, limits
from dralang.api.validation.claims import TAINT_EFFECTS
from dralang.api.validation.errors import Errors, not_supported, required, too_many
from dralang.api.validation.metadata import conditions


def device_taint(taint: DeviceTaint, old: DeviceTaint | None, path: str, out: Errors) -> None:
    """A taint; an effect that was there before is not looked at."""
    formats.label_key(taint.key, f"{path}.key", out)
    if taint.value:
        formats.label_value(taint.value, f"{path}.value", out)
    if old is None or old.effect != taint.effect:
        if not taint.effect:
            out.append(required(f"{path}.effect", covered=True))
        elif taint.effect not in TAINT_EFFECTS:
            out.append(not_supported(f"{path}.effect", taint.effect, TAINT_EFFECTS, covered=True))


def taint_rule(rule: DeviceTaintRule, old: DeviceTaintRule | None, out: Errors) -> None:
    """The spec of a rule."""
    selector = rule.spec.device_selector
    if selector is not None:
        if selector.driver is not None:
            formats.driver_name(selector.driver, "spec.deviceSelector.driver", out)
        if selector.pool is not None:
            formats.pool_name(selector.pool, "spec.deviceSelector.pool", out)
        if selector.device is not None:
            formats.label(selector.device, "spec.deviceSelector.device", out)
    device_taint(rule.spec.taint, None if old is None else old.spec.taint, "spec.taint", out)


def taint_rule_status(rule: DeviceTaintRule, out: Errors) -> None:
    """The status of a rule."""
    items = rule.status.conditions
    conditions(items, "status.conditions", out)
    if len(items) > limits.TAINT_RULE_MAX_CONDITIONS:
        out.append(too_many("status.conditions", len(items), limits.TAINT_RULE_MAX_CONDITIONS))
