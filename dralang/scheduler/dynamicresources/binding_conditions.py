"""Devices that become ready only after they were chosen.

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go (isClaimReadyForBinding,
isClaimTimeout).
"""

from typing import Literal, NamedTuple

from dralang.api.allocation import AllocatedDeviceStatus, DeviceRequestAllocationResult
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.timestamps import parse_time


class Readiness(NamedTuple):
    """How far the devices of a claim are.

    Attributes:
        state: ready, still waiting, or failed.
        message: what failed.
    """

    state: Literal["ready", "waiting", "failed"]
    message: str = ""


def has_binding_conditions(claim: ResourceClaim) -> bool:
    """Whether any device of the claim has conditions to wait for."""
    allocation = claim.status.allocation
    return allocation is not None and any(result.binding_conditions for result in allocation.devices.results)


def readiness(claim: ResourceClaim) -> Readiness:
    """Look at the devices in order; the first one that is not ready decides. No devices are not ready either."""
    allocation = claim.status.allocation
    if allocation is None:
        return Readiness("waiting")
    for result in allocation.devices.results:
        if not result.binding_conditions:
            continue
        status = _status_of(claim, result)
        if status is None:
            return Readiness("waiting")
        conditions = {each.type: each for each in status.conditions}
        for name in result.binding_failure_conditions:
            failed = conditions.get(name)
            if failed is not None and failed.status == "True":
                text = (
                    f"device binding failed: claim={claim.metadata.name}, reason={failed.reason}, "
                    f'message="{failed.message}"'
                )
                return Readiness("failed", text)
        for name in result.binding_conditions:
            met = conditions.get(name)
            if met is None or met.status != "True":
                return Readiness("waiting")
    return Readiness("ready")


def _status_of(claim: ResourceClaim, result: DeviceRequestAllocationResult) -> AllocatedDeviceStatus | None:
    for status in claim.status.devices:
        if (status.driver, status.pool, status.device) == (result.driver, result.pool, result.device):
            return status
    return None


def is_timed_out(claim: ResourceClaim, now: int, timeout: int) -> bool:
    """Whether the claim has waited longer than `timeout` milliseconds for its devices."""
    allocation = claim.status.allocation
    if allocation is None or allocation.allocation_timestamp is None or not has_binding_conditions(claim):
        return False
    return parse_time(allocation.allocation_timestamp) + timeout < now
