"""A binding fails after the devices of one claim were written, and the scheduler has not heard of that yet."""

import pytest
from builders import claim, gpu_cluster, pod
from msgspec.structs import replace

from dralang.api.pods import PodResourceClaim
from dralang.api.resourceclaim import ResourceClaim

QUIRK = "failed-binding-forgets-devices"


@pytest.mark.parametrize(
    ("version", "quirks", "twice"),
    [("1.35", None, False), ("1.37", None, True), ("1.38", None, True), ("1.37", {QUIRK: False}, False)],
)
def test_its_device_goes_to_somebody_else_as_well(version, quirks, twice):
    simulation = gpu_cluster(2, claim("c1"), claim("c2"), version=version, quirks=quirks)
    simulation.store.fail_next("update", ResourceClaim, "default", "c2")
    simulation.delay("scheduler", 10_000)
    entries = tuple(PodResourceClaim(name=name, resource_claim_name=name) for name in ("c1", "c2"))
    first = pod("a")
    simulation.create(replace(first, spec=replace(first.spec, resource_claims=entries)))
    simulation.advance_to(1_000)
    simulation.create(pod("b", from_template="one-gpu"))
    simulation.advance_to(60_000)
    held = [
        result.device
        for each in simulation.claims()
        if each.status.allocation is not None
        for result in each.status.allocation.devices.results
    ]
    assert (len(held) > len(set(held))) is twice, held
