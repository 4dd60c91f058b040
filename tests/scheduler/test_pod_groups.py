from builders import cluster, create, node, pod, where
from msgspec.structs import replace

from dralang.api.meta import ObjectMeta
from dralang.api.pods import PodSchedulingGate, PodSchedulingGroup
from dralang.api.workloads import GangSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy, PodGroupSpec

GATE = (PodSchedulingGate(name="example.com/wait"),)


def gang(name, count):
    policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=count))
    return PodGroup(metadata=ObjectMeta(name=name), spec=PodGroupSpec(scheduling_policy=policy))


def member(name, group="g", **spec):
    return pod(name, scheduling_group=PodSchedulingGroup(pod_group_name=group), **spec)


def test_a_member_with_a_gate_holds_back_a_group_that_is_about_to_be_tried():
    simulation = cluster(node("n1"), gates={"GenericWorkload": True})
    for each in (gang("g", 1), member("a"), member("b", scheduling_gates=GATE)):
        simulation.create(each)
    assert simulation.settle()
    assert where(simulation, "a", "b") == {"a": None, "b": None}
    simulation.restart("scheduler")
    assert simulation.settle()
    assert where(simulation, "a", "b") == {"a": None, "b": None}
    gated = simulation.pod("default", "b")
    simulation.update(replace(gated, spec=replace(gated.spec, scheduling_gates=())))
    assert simulation.settle()
    assert where(simulation, "a", "b") == {"a": "n1", "b": "n1"}


def test_a_gang_waits_for_its_last_member():
    simulation = cluster(node("n1"), gates={"GenericWorkload": True})
    create(simulation, gang("g", 2), member("a"))
    assert where(simulation, "a") == {"a": None}
    create(simulation, member("b"))
    assert where(simulation, "a", "b") == {"a": "n1", "b": "n1"}
