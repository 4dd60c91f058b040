"""What a node is worth for the claims of a pod: earlier alternatives of prioritized lists count more.

Source: kubernetes dynamicresources.go computeScore.
"""

from dralang.scheduler.dynamicresources.cycle_data import StateData

MAX_ALTERNATIVES = 8


def has_alternatives(data: StateData) -> bool:
    """Whether any request is a prioritized list."""
    return any(request.first_available for claim in data.claims for request in claim.spec.devices.requests)


def preference(data: StateData, node: str) -> int:
    """The score of a node that passed Filter, before normalisation."""
    chosen = {**dict(zip(data.to_ask(), data.nodes[node].results, strict=False)), **data.shared}
    total = 0
    for index, claim in enumerate(data.claims):
        allocation = chosen.get(index, claim.status.allocation)
        if allocation is None:
            continue
        used = {result.request for result in allocation.devices.results}
        for request in claim.spec.devices.requests:
            for place, alternative in enumerate(request.first_available):
                if f"{request.name}/{alternative.name}" in used:
                    total += MAX_ALTERNATIVES - place
                    break
    return total
