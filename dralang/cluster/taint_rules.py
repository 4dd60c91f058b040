"""Slices as the scheduler sees them: with the taints of DeviceTaintRules added to those of the driver.

Source: k8s.io/dynamic-resource-allocation resourceslice/tracker.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from dralang.api.devicetaintrule import DeviceTaintRule, DeviceTaintSelector
from dralang.api.resourceslice import Device, ResourceSlice


def selects(selector: DeviceTaintSelector | None, driver: str, pool: str, device: str) -> bool:
    """Whether a rule is about a device; a rule without a selector is about none."""
    return (
        selector is not None
        and selector.driver in (None, driver)
        and selector.pool in (None, pool)
        and selector.device in (None, device)
    )


def with_rules(slice_: ResourceSlice, rules: Iterable[DeviceTaintRule]) -> ResourceSlice:
    """The slice with the taints of the rules, in the order of the rules; the same object if none applies."""
    spec = slice_.spec
    concerned = [
        rule
        for rule in rules
        if rule.spec.device_selector is not None
        and rule.spec.device_selector.driver in (None, spec.driver)
        and rule.spec.device_selector.pool in (None, spec.pool.name)
    ]
    if not concerned:
        return slice_
    devices: list[Device] = []
    changed = False
    for device in spec.devices:
        extra = tuple(
            rule.spec.taint
            for rule in concerned
            if selects(rule.spec.device_selector, spec.driver, spec.pool.name, device.name)
        )
        changed = changed or bool(extra)
        devices.append(replace(device, taints=(*device.taints, *extra)) if extra else device)
    return replace(slice_, spec=replace(spec, devices=tuple(devices))) if changed else slice_
