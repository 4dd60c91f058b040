"""What Filter sees of a claim, so that pods whose claims are alike can share its verdicts."""

from collections.abc import Hashable

from dralang.allocator.requests import signature_number
from dralang.api.resourceclaim import ResourceClaim
from dralang.scheduler.dynamicresources.binding_conditions import readiness
from dralang.scheduler.dynamicresources.cycle_data import StateData


def sign_open(data: StateData, claim: ResourceClaim) -> Hashable:
    """A claim that is to be allocated: what it asks for."""
    assert data.inventory is not None, "there are open claims"
    number = signature_number(data.inventory, claim)
    # Where an error would name the claim, claims of one template are still alike: they share their spec.
    return number if number is not None else ("spec", id(claim.spec))


def sign_allocated(data: StateData, index: int, claim: ResourceClaim, *, waits: bool) -> Hashable | None:
    """A claim that has its devices: where it can be used; None if that changes with time.

    Args:
        data: the cycle.
        index: of the claim in it.
        claim: allocated, or given devices for another member of the pod's group.
        waits: whether devices are waited for.
    """
    allocation = claim.status.allocation
    selector = data.selectors.get(index)
    if allocation is None:
        return "shared", selector
    state = readiness(claim).state if waits else ""
    if state == "waiting":
        return None
    operations = any(result.skip_node_operations for result in allocation.devices.results)
    return "allocated", selector, operations, state
