"""A pod waits for its devices; its claims are looked at as they are now (isPodReadyForBinding)."""

import pytest
from builders import claim, cluster, create, devices, gpu_class, gpu_slice, message, node, pod, where
from msgspec.structs import replace

from dralang.api.resourceclaim import ResourceClaim
from dralang.scheduler.dynamicresources.binding_conditions import readiness


def waiting_for_two(version="1.37", quirks=None):
    """A pod whose first claim has a device without conditions, and whose second one has to wait."""
    ready, slow = gpu_slice("n1", 2).spec.devices
    slow = replace(slow, binding_conditions=("Attached",), binding_failure_conditions=("Broken",))
    published = gpu_slice("n1", 2)
    published = replace(published, spec=replace(published.spec, devices=(ready, slow)))
    objects = (node("n1"), published, gpu_class(), claim("first"), claim("second"))
    simulation = cluster(*objects, version=version, quirks=quirks)
    create(simulation, pod("a", uses=["first", "second"]))
    assert simulation.pod("default", "a").status.nominated_node_name == "n1"
    return simulation


def test_a_claim_without_devices_is_not_ready():
    assert readiness(claim("none")).state == "waiting"


def fail_while_waiting(version="1.37", quirks=None):
    """Such a pod, ended; its claims are free, its devices still in flight."""
    simulation = waiting_for_two(version, quirks)
    simulation.fail("default", "a")
    create(simulation, claim("third"), pod("b", uses=["third"]))
    assert [devices(simulation, each) for each in ("first", "second")] == [None, None]
    assert "cannot allocate all claims" in message(simulation, "b")
    return simulation


def test_a_pod_that_ends_while_it_waits_is_not_bound_and_holds_its_devices():
    simulation = fail_while_waiting()
    simulation.advance_to(599_000)
    create(simulation, claim("fourth"), pod("c", uses=["fourth"]))
    assert where(simulation, "a", "b", "c") == {"a": None, "b": None, "c": None}
    simulation.advance_to(605_000)
    create(simulation, claim("fifth"), pod("d", uses=["fifth"]))
    assert where(simulation, "a", "d") == {"a": None, "d": "n1"}


@pytest.mark.parametrize(("name", "found"), [("first", "n1"), ("second", None)])
def test_a_claim_that_is_gone_ends_the_wait(name, found):
    """The claims are looked at in order, and the first one has no devices any more."""
    simulation = fail_while_waiting()
    simulation.delete(ResourceClaim, "default", name)
    simulation.advance_to(11_000)
    create(simulation, claim("fourth"), pod("c", uses=["fourth"]))
    assert where(simulation, "a", "c") == {"a": None, "c": found}
    assert (message(simulation, "a") or "").endswith('could not find ResourceClaim "default/first"') == bool(found)
    assert simulation.pod("default", "a").status.nominated_node_name == "n1"  # nobody clears it of a pod that has ended


REMADE = "remade-claim-keeps-devices"


@pytest.mark.parametrize(
    ("version", "quirks", "found"),
    [("1.37", None, None), ("1.38", None, None), ("1.37", {REMADE: False}, "n1")],
    ids=["1.37", "1.38", "without the fault"],
)
def test_a_claim_that_is_made_again_while_its_pod_waits_leaves_its_devices_in_use(version, quirks, found):
    simulation = fail_while_waiting(version, quirks)
    for name in ("first", "second"):
        simulation.delete(ResourceClaim, "default", name)
        create(simulation, claim(name))
    simulation.advance_to(605_000)
    assert bool(simulation.scheduler.manager.left_of_remade()) is (found is None)
    create(simulation, claim("fourth"), pod("c", uses=["fourth"]))
    assert where(simulation, "a", "c") == {"a": None, "c": found}
    simulation.restart("scheduler")
    simulation.settle()
    assert "n1" in where(simulation, "b", "c").values(), "one of the two devices has no conditions"
