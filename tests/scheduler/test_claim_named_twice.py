"""A pod that names one claim under two names."""

import pytest
from builders import claim, cluster, create, gpu_class, gpu_slice, node, pod
from msgspec.structs import replace

from dralang.api.pods import PodResourceClaim
from dralang.api.resourceclaim import ResourceClaim

QUIRK = "claim-named-twice-counts-twice"


def _forgetful(name="forgetful"):
    entries = (PodResourceClaim(name="a", resource_claim_name="c"), PodResourceClaim(name="b", resource_claim_name="c"))
    made = pod(name)
    return replace(made, spec=replace(made.spec, resource_claims=entries))


def _cluster(version, gpus=2, quirks=None):
    return cluster(
        node("n1"), gpu_slice("n1", gpus), gpu_class(), claim("c"), claim("d"), version=version, quirks=quirks
    )


def _devices(simulation, name):
    allocation = simulation.store.get(ResourceClaim, "default", name).status.allocation
    return [] if allocation is None else [each.device for each in allocation.devices.results]


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37", "1.38"])
def test_the_second_reservation_of_the_same_pod_is_refused(version):
    simulation = _cluster(version)
    simulation.create(_forgetful())
    assert simulation.advance_to(60_000)
    failures = [each.message for each in simulation.trace if each.reason == "FailedScheduling"]
    assert failures[0].endswith("claim default/c got allocated elsewhere in the meantime")
    assert len(failures) > 3
    for each in failures[1:]:
        assert 'status.reservedFor[1]: Duplicate value: {"resource":"pods","name":"forgetful","uid":' in each
    assert _devices(simulation, "c") == ["gpu-0"]
    assert simulation.claim("default", "c").status.reserved_for == ()


@pytest.mark.parametrize("version", ["1.34", "1.38"])
def test_it_is_one_claim_without_the_fault(version):
    simulation = _cluster(version, gpus=1, quirks={QUIRK: False})
    create(simulation, _forgetful())
    assert simulation.pod("default", "forgetful").spec.node_name == "n1"


@pytest.mark.parametrize(
    ("version", "quirks", "others"),
    [
        ("1.35", None, "gpu-0"),
        ("1.36", None, "gpu-1"),
        ("1.35", {"second-mention-replaces-first": False}, "gpu-1"),
    ],
)
def test_up_to_1_35_the_devices_of_the_first_mention_are_free_until_they_are_written(version, quirks, others):
    simulation = _cluster(version, quirks=quirks)
    simulation.create(_forgetful())
    simulation.create(pod("other", uses="d"))
    assert simulation.advance_to(0)
    assert _devices(simulation, "c") == ["gpu-0"]
    assert _devices(simulation, "d") == [others]


def test_a_cluster_that_never_comes_to_rest_is_given_up_soon():
    simulation = _cluster("1.37")
    events = []
    simulation.look_on(lambda _: events.append(1))
    simulation.create(_forgetful())
    assert not simulation.settle()
    assert 10_000 < len(events) < 20_000
