"""What devices behind an extended resource take of their node is noted under the name of a claim: of which, changed."""

import pytest
from builders import cluster, create, gpu_class, gpu_slice, node, pod, quantities
from msgspec.structs import replace

from dralang.api.resourceslice import NodeAllocatableOverhead, NodeAllocatableResource


@pytest.mark.parametrize(
    ("version", "name"), [("1.37", "<extended-resources>"), ("1.38", "p-extended-resources-00001")]
)
def test_the_claim_is_named_as_each_version_does(version, name):
    taken = NodeAllocatableResource(overhead=NodeAllocatableOverhead(per_pod=quantities(m="1Gi")["m"]))
    published = gpu_slice("worker-1")
    device = replace(published.spec.devices[0], node_allocatable_resources={"memory": taken})
    published = replace(published, spec=replace(published.spec, devices=(device,)))
    simulation = cluster(
        node("worker-1"),
        published,
        gpu_class(extended="example.com/gpu"),
        version=version,
        gates={"DRANodeAllocatableResources": True},
    )
    create(simulation, pod("p", requests={"example.com/gpu": "1"}))
    found = simulation.pod("default", "p")
    assert found.spec.node_name == "worker-1"
    assert [each.resource_claim_name for each in found.status.node_allocatable_resource_claim_statuses] == [name]
