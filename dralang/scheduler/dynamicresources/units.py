"""Several units of an extended resource as shares that may come from one device: the other reading of KEP-6406.

A request takes no device twice, not even one that can be shared. So the allocator is asked for each unit by itself, and
what it gives is written down as the result of the one request that the claim has.
"""

from dataclasses import dataclass

from msgspec.structs import replace

from dralang.api.allocation import AllocationResult, DeviceAllocationConfiguration
from dralang.api.resourceclaim import DeviceRequest, ResourceClaim


@dataclass(frozen=True)
class Units:
    """A claim as the allocator is asked for it.

    Attributes:
        claim: each unit of a request with capacity is a request.
        names: of these requests, with those of the claim that they stand for.
    """

    claim: ResourceClaim
    names: dict[str, str]

    def as_requested(self, result: AllocationResult) -> AllocationResult:
        """What was given, by the requests of the claim."""
        names = self.names
        results = tuple(replace(each, request=names.get(each.request, each.request)) for each in result.devices.results)
        config: list[DeviceAllocationConfiguration] = []
        for each in result.devices.config:
            requests = tuple(dict.fromkeys(names.get(name, name) for name in each.requests))
            merged = replace(each, requests=requests)
            if merged not in config:
                config.append(merged)
        return replace(result, devices=replace(result.devices, results=results, config=tuple(config)))

    def by_unit(self, result: AllocationResult) -> AllocationResult:
        """What was given, by units again."""
        left = {name: [unit for unit, of in self.names.items() if of == name] for name in self.names.values()}
        results = tuple(
            replace(each, request=left[each.request].pop(0)) if left.get(each.request) else each
            for each in result.devices.results
        )
        return replace(result, devices=replace(result.devices, results=results))


def in_units(claim: ResourceClaim) -> Units:
    """Ask for each unit by itself."""
    requests: list[DeviceRequest] = []
    names: dict[str, str] = {}
    for request in claim.spec.devices.requests:
        exactly = request.exactly
        if exactly is None or exactly.capacity is None or exactly.count < 2:
            requests.append(request)
            continue
        for index in range(exactly.count):
            unit = f"{request.name}.{index}"
            names[unit] = request.name
            requests.append(replace(request, name=unit, exactly=replace(exactly, count=1)))
    devices = replace(claim.spec.devices, requests=tuple(requests))
    return Units(replace(claim, spec=replace(claim.spec, devices=devices)), names)
