"""The claim that the scheduler makes for extended resources: under which name, and what becomes of one that is left."""

import pytest
from builders import claim, cluster, create, gpu_class, gpu_slice, message, node, pod, quantities
from msgspec.structs import replace

from dralang.api.resourceclaim import ResourceClaim, ResourceClaimStatus
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


@pytest.mark.parametrize(("quirks", "node_name"), [({}, ""), ({"native-resource-blocks-claims": False}, "worker-1")])
def test_a_node_that_offers_the_resource_itself_needs_no_claim(quirks, node_name):
    """Kubernetes makes one without requests if the pod has claims of its own, and cannot say whose it is."""
    offering = node("worker-1", **{"example.com/gpu": "4"})
    simulation = cluster(
        offering, gpu_slice("worker-1"), gpu_class(extended="example.com/gpu"), claim("one"), quirks=quirks
    )
    simulation.create(pod("p", uses=["one"], requests={"example.com/gpu": "1"}))
    assert simulation.advance_to(30_000)
    assert simulation.pod("default", "p").spec.node_name == node_name
    if not node_name:
        assert message(simulation, "p") == (
            'running PreBind plugin "DynamicResources": nil or empty request mappings, no update of pod default/p '
            "ExtendedResourceClaimStatus"
        )
    assert [each.metadata.name for each in simulation.claims()] == ["one"]


def test_one_that_stands_for_nothing_and_is_left_over_is_in_nobodys_way():
    """The node offers the resource itself, so it asks for nothing; the binding fails, and so does its deletion."""
    offering = node("worker-1", **{"example.com/gpu": "4"})
    simulation = cluster(offering, gpu_slice("worker-1"), gpu_class(extended="example.com/gpu"), claim("one"))
    left = "p-extended-resources-00001"
    simulation.store.fail_next("delete", ResourceClaim, "default", left)
    simulation.create(pod("p", uses=["one"], requests={"example.com/gpu": "1"}))
    assert simulation.advance_to(0)
    assert simulation.claim("default", left).status.allocation is not None
    found = simulation.claim("default", "one")
    simulation.store.update_status(replace(found, status=ResourceClaimStatus()))
    assert simulation.advance_to(60_000)
    assert simulation.pod("default", "p").spec.node_name == "worker-1"
