"""Which taints of a device keep a request away.

Source: k8s.io/dynamic-resource-allocation resourceclaim/devicetoleration.go ToleratesTaint,
structured/internal/experimental allocator_experimental.go taintPreventsAllocation.
"""

from collections.abc import Iterable

from dralang.allocator.prepared import SliceDevice
from dralang.api.device import DeviceTaint, DeviceToleration


def untolerated(device: SliceDevice, tolerations: Iterable[DeviceToleration]) -> DeviceTaint | None:
    """The first taint that prevents allocation; None if all are tolerated."""
    for taint in device.taints:
        if not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """Whether one toleration covers one taint; times play no part."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case _:
            return False
