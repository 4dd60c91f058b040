"""Could exactly these allocations be made now?

The search finds the first complete choice; here the choice is given, and only its rules are checked again: the devices
are there and selected, they are free or have enough left, counters, taints and constraints admit them.

Source: KEP-5690, Holding capacity for the preemptor ("verifies that the exact AllocationResult ... is also valid").
"""

from collections.abc import Sequence

from dralang.allocator.allocate import Attempt
from dralang.allocator.attempt_state import AttemptState, Placement
from dralang.allocator.inventory import Candidate
from dralang.allocator.requests import AttemptError, Slot, Step, bind
from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult
from dralang.api.nodes import Node


def is_feasible(attempt: Attempt, node: Node, results: Sequence[AllocationResult]) -> bool:
    """Whether the claims of an attempt could be given exactly these results on a node.

    Args:
        attempt: the claims, slices and classes, and what is in use.
        node: the node.
        results: one for each claim.
    """
    inventory, allocated = attempt.inventory, attempt.state
    view = inventory.view(node)
    if view.error is not None or len(attempt.claims) != len(results):
        return False
    try:
        steps = bind(attempt.plans, view, inventory.profile, allocated)
        state = AttemptState(inventory, allocated, node, attempt.plans)
        level = 0
        for step in steps:
            chosen = _chosen(step, results[step.claim])
            if chosen is None:
                return False
            slot, devices = chosen
            for index, result in enumerate(devices):
                candidate = _candidate(slot, result)
                if candidate is None or candidate.stop is not None:
                    return False
                placement = state.place(slot, step.claim, candidate, level, index)
                if placement is None or not _takes(placement, result):
                    return False
                level += 1
    except AttemptError:
        return False
    return True


def _chosen(step: Step, allocation: AllocationResult) -> tuple[Slot, list[DeviceRequestAllocationResult]] | None:
    """The alternative of a request that the allocation is for, with its devices."""
    for slot in step.slots:
        devices = [result for result in allocation.devices.results if result.request == slot.plan.full_name]
        if devices:
            return (slot, devices) if len(devices) == slot.number else None
    return None


def _candidate(slot: Slot, result: DeviceRequestAllocationResult) -> Candidate | None:
    wanted = (result.driver, result.pool, result.device)
    if slot.everything is not None:
        return next((each for each in slot.everything if each.device.id == wanted), None)
    index = 0
    while (candidate := slot.candidates.at(index)) is not None:
        if candidate.device.id == wanted:
            return candidate
        index += 1
    return None


def _takes(placement: Placement, result: DeviceRequestAllocationResult) -> bool:
    """Whether the device gives the request the very amounts of the result."""
    amounts = placement.amounts
    if amounts is None or result.share_id is None:
        return amounts is None and result.share_id is None
    recorded = {name: amount.nano for name, amount in (result.consumed_capacity or {}).items()}
    return recorded == {name: amount for name, amount, _ in amounts.taken}
