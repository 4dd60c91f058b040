"""What devices behind an extended resource take of their node is noted under the name of a claim: of which, changed."""

import pytest
from builders import cluster, create, gpu_class, gpu_slice, message, node, pod, quantities
from msgspec.structs import replace

from dralang.api.resourceslice import NodeAllocatableOverhead, NodeAllocatableResource

QUIRK = "special-claim-has-no-node-resources"


def _cluster(version, **quirks):
    taken = NodeAllocatableResource(overhead=NodeAllocatableOverhead(per_pod=quantities(m="1Gi")["m"]))
    published = gpu_slice("worker-1")
    device = replace(published.spec.devices[0], node_allocatable_resources={"memory": taken})
    published = replace(published, spec=replace(published.spec, devices=(device,)))
    return cluster(
        node("worker-1"),
        published,
        gpu_class(extended="example.com/gpu"),
        version=version,
        gates={"DRANodeAllocatableResources": True},
        quirks=quirks,
    )


@pytest.mark.parametrize(("version", "quirks"), [("1.37", {QUIRK: False}), ("1.38", {})])
def test_it_is_noted_under_the_name_of_the_claim(version, quirks):
    simulation = _cluster(version, **quirks)
    create(simulation, pod("p", requests={"example.com/gpu": "1"}))
    found = simulation.pod("default", "p")
    assert found.spec.node_name == "worker-1"
    names = [each.resource_claim_name for each in found.status.node_allocatable_resource_claim_statuses]
    assert names == ["p-extended-resources-00001"]


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_before_1_38_the_api_server_refuses_the_name(version):
    simulation = _cluster(version)
    simulation.create(pod("p", requests={"example.com/gpu": "1"}))
    assert simulation.advance_to(30_000)
    assert message(simulation, "p") == (
        'running PreBind plugin "DynamicResources": updating pod default/p NodeAllocatableResourceClaimStatuses: '
        'Pod "p" is invalid: status.nodeAllocatableResourceClaimStatuses[0].resourceClaimName: Invalid value: '
        '"<extended-resources>": no mapping found in pod reference'
    )
    assert simulation.pod("default", "p").status.extended_resource_claim_status is not None
    assert not simulation.claims()
