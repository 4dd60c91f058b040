"""Statuses without what belongs to features that are off.

Source: pkg/registry/resource/resourceclaim/strategy.go, pkg/registry/scheduling/podgroup (1.37).
"""

from msgspec import structs

from dralang.api.allocation import DeviceRequestAllocationResult
from dralang.api.gated import uses_admin_access, uses_capacity
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimStatus
from dralang.api.workloads import PodGroup
from dralang.features import FeatureGates


def gated_claim_status(new: ResourceClaim, old: ResourceClaim, gates: FeatureGates) -> ResourceClaimStatus:
    """The status of a claim without what its server does not offer, and without devices no longer allocated."""
    status = new.status
    keeps_devices = gates.enabled("DRAResourceClaimDeviceStatus") or bool(old.status.devices)
    if not keeps_devices:
        status = structs.replace(status, devices=())
    old_results = _results(old.status)
    if not gates.enabled("DRAAdminAccess") and not (
        uses_admin_access(old.spec) or any(result.admin_access is not None for result in old_results)
    ):
        status = _each_result(status, admin_access=None)
    if not gates.enabled("DRAConsumableCapacity") and not _status_uses_shares(old):
        status = _each_result(status, share_id=None, consumed_capacity=None)
        devices = tuple(structs.replace(device, share_id=None) for device in status.devices)
        status = structs.replace(status, devices=devices)
    if not gates.enabled("DRADeviceBindingConditions") and not any(
        result.binding_conditions or result.binding_failure_conditions for result in old_results
    ):
        status = _each_result(status, binding_conditions=(), binding_failure_conditions=())
    if not gates.enabled("DRAOptionalNodeOperations") and not any(
        result.skip_node_operations for result in old_results
    ):
        status = _each_result(status, skip_node_operations=())
    return _without_deallocated(status, old.status) if keeps_devices else status


def _results(status: ResourceClaimStatus) -> tuple[DeviceRequestAllocationResult, ...]:
    return () if status.allocation is None else status.allocation.devices.results


def _each_result(status: ResourceClaimStatus, **fields: object) -> ResourceClaimStatus:
    allocation = status.allocation
    if allocation is None or not any(
        getattr(result, name) != value for result in allocation.devices.results for name, value in fields.items()
    ):
        return status
    results = tuple(structs.replace(result, **fields) for result in allocation.devices.results)
    devices = structs.replace(allocation.devices, results=results)
    return structs.replace(status, allocation=structs.replace(allocation, devices=devices))


def _status_uses_shares(claim: ResourceClaim) -> bool:
    return (
        uses_capacity(claim.spec)
        or any(result.share_id is not None or result.consumed_capacity is not None for result in _results(claim.status))
        or any(device.share_id is not None for device in claim.status.devices)
    )


def _without_deallocated(status: ResourceClaimStatus, old: ResourceClaimStatus) -> ResourceClaimStatus:
    if not status.devices:
        return status

    def identify(device: object) -> tuple[object, ...]:
        return tuple(getattr(device, name) or "" for name in ("driver", "pool", "device", "share_id"))

    gone = set(map(identify, _results(old))) - set(map(identify, _results(status)))
    if not gone:
        return status
    return structs.replace(status, devices=tuple(device for device in status.devices if identify(device) not in gone))


def gated_pod_group_status(new: PodGroup, old: PodGroup, gates: FeatureGates) -> PodGroup:
    """The status of a group without what its server does not offer."""
    if gates.enabled("DRAWorkloadResourceClaims") or old.spec.resource_claims:
        return new
    return structs.replace(new, status=structs.replace(new.status, resource_claim_statuses=()))
