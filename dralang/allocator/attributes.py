"""The attribute that a constraint compares: derived by the request, or published by the device.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental allocator_experimental.go lookupAttribute.
"""

from collections.abc import Mapping

from dralang.allocator.prepared import SliceDevice
from dralang.api.resourceslice import DeviceAttribute

_NOTHING = DeviceAttribute()
_EMPTY_LIST = DeviceAttribute(strings=())


class DerivedAttributeError(Exception):
    """A derived attribute that cannot be had; the attempt is aborted, with this message."""


def attribute_for(device: SliceDevice, derived: Mapping[str, str], name: str) -> DeviceAttribute | None:
    """The value of the attribute for one request; None if the device does not have it.

    A derived attribute hides the device's own one, even if its expression fails.

    Raises:
        DerivedAttributeError: the expression does not compile or fails on the device.
    """
    expression = derived.get(name)
    if expression is None:
        return device.attribute(name)
    value = device.derive(expression)
    if isinstance(value, DeviceAttribute):
        # Only an empty list has no value.
        return value if value != _NOTHING else _EMPTY_LIST
    if value.phase == "compile":
        raise DerivedAttributeError(f"compile derived attribute {name} failed: {value.message}")
    raise DerivedAttributeError(
        f"evaluate derived attribute {name} on device {'/'.join(device.id)} failed: {value.message}"
    )
