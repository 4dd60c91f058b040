import pytest
from builders import DRIVER, create, gpu_cluster, gpu_slice, pod, template, tolerate_forever, where
from msgspec.structs import replace

from dralang.api.device import DeviceTaint, DeviceToleration
from dralang.api.devicetaintrule import DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector
from dralang.api.meta import ObjectMeta
from dralang.api.resourceslice import ResourceSlice

UNHEALTHY = DeviceTaint(key="gpu.example.com/unhealthy", effect="NoExecute")


def rule(effect="NoExecute", selector=DeviceTaintSelector(driver=DRIVER)):  # noqa: B008 - immutable
    spec = DeviceTaintRuleSpec(device_selector=selector, taint=replace(UNHEALTHY, effect=effect))
    return DeviceTaintRule(metadata=ObjectMeta(name="broken"), spec=spec)


def condition(simulation):
    found = simulation.store.get(DeviceTaintRule, "", "broken")
    return [(each.status, each.reason, each.message) for each in found.status.conditions]


def for_seconds(seconds, effect="NoExecute"):
    return DeviceToleration(operator="Exists", effect=effect, toleration_seconds=seconds)


EVICTIONS = {
    "no toleration": ((), 0),
    "tolerated for three seconds": ((for_seconds(3),), 3_000),
    "the shortest toleration counts": ((for_seconds(5), for_seconds(2)), 2_000),
    "a negative time is none": ((for_seconds(-1),), 0),
    "a toleration of another effect": ((tolerate_forever("NoSchedule"),), 0),
    "a toleration without effect allows but does not protect": ((tolerate_forever(""),), 0),
    "tolerated for ever": ((tolerate_forever(),), None),
}


@pytest.mark.parametrize(("tolerations", "when"), EVICTIONS.values(), ids=EVICTIONS)
def test_a_pod_leaves_a_tainted_device_when_its_toleration_ends(tolerations, when):
    simulation = gpu_cluster(1, template("brave", tolerations=tolerations))
    create(simulation, pod("a", from_template="brave"))
    simulation.create(rule())
    if when is None:
        simulation.advance_to(1_000_000)
        assert where(simulation, "a") == {"a": "worker-1"}
        return
    if when:
        simulation.advance_before(when)
        assert where(simulation, "a") == {"a": "worker-1"}
    simulation.advance_to(when)
    assert where(simulation, "a") == {"a": "gone"}


def test_a_toleration_without_effect_protects_since_1_38():
    simulation = gpu_cluster(1, template("brave", tolerations=(tolerate_forever(""),)), version="1.38")
    create(simulation, pod("a", from_template="brave"))
    create(simulation, rule())
    assert where(simulation, "a") == {"a": "worker-1"}


SELECTORS = {
    "the driver": (DeviceTaintSelector(driver=DRIVER), "gone"),
    "everything": (DeviceTaintSelector(), "gone"),
    "another pool": (DeviceTaintSelector(pool="worker-2"), "worker-1"),
    "another device": (DeviceTaintSelector(device="gpu-7"), "worker-1"),
    "nothing": (None, "worker-1"),
}


@pytest.mark.parametrize(("selector", "place"), SELECTORS.values(), ids=SELECTORS)
def test_a_rule_is_about_what_it_selects(selector, place):
    simulation = gpu_cluster(1)
    create(simulation, pod("a", from_template="one-gpu"))
    create(simulation, rule(selector=selector))
    assert where(simulation, "a") == {"a": place}


def test_the_status_of_a_rule_says_how_far_eviction_is():
    simulation = gpu_cluster(2)
    create(simulation, pod("a", from_template="one-gpu"), pod("b", from_template="one-gpu"))
    simulation.create(rule())
    simulation.advance_to(0)
    assert condition(simulation) == [("True", "PodsPendingEviction", "2 pods need to be evicted in 1 namespace.")]
    assert simulation.settle()
    assert simulation.now == 10_000
    assert condition(simulation) == [("False", "Completed", "2 pods evicted since starting the controller.")]


def test_a_rule_without_effect_only_says_what_it_would_do():
    simulation = gpu_cluster(3)
    create(simulation, pod("a", from_template="one-gpu"))
    create(simulation, rule("None"))
    text = (
        "3 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace if the "
        "effect was NoExecute. This information will not be updated again. Recreate the DeviceTaintRule to trigger "
        "an update."
    )
    assert condition(simulation) == [("False", "NoEffect", text)]
    assert where(simulation, "a") == {"a": "worker-1"}


def test_an_eviction_is_called_off_when_the_rule_goes():
    simulation = gpu_cluster(1, template("brave", tolerations=(for_seconds(60),)))
    create(simulation, pod("a", from_template="brave"))
    create(simulation, rule())
    simulation.delete(DeviceTaintRule, "", "broken")
    simulation.advance_to(120_000)
    assert where(simulation, "a") == {"a": "worker-1"}
    assert "EvictionCancelled" in [entry.reason for entry in simulation.trace]


def test_settling_does_not_wait_for_a_toleration_to_end():
    simulation = gpu_cluster(1, template("brave", tolerations=(for_seconds(300),)))
    create(simulation, pod("a", from_template="brave"))
    create(simulation, rule())
    assert simulation.now < 300_000
    assert where(simulation, "a") == {"a": "worker-1"}


def test_a_taint_that_the_driver_publishes_evicts_too():
    simulation = gpu_cluster(1)
    create(simulation, pod("a", from_template="one-gpu"))
    found = simulation.store.get(ResourceSlice, "", "worker-1-gpus")
    simulation.update(replace(gpu_slice("worker-1", taints=(UNHEALTHY,)), metadata=found.metadata))
    assert simulation.settle()
    assert where(simulation, "a") == {"a": "gone"}


def test_evicted_pods_say_why():
    simulation = gpu_cluster(1)
    create(simulation, pod("a", from_template="one-gpu", grace=30))
    simulation.create(rule())
    simulation.advance_to(1_000)
    found = simulation.pod("default", "a")
    reasons = [each.reason for each in found.status.conditions if each.type == "DisruptionTarget"]
    assert reasons == ["DeletionByDeviceTaintManager"]
    entry = next(each for each in simulation.trace if each.reason == "DeviceTaintManagerEviction")
    assert entry.message == "evicted: NoExecute by rule `broken`"
