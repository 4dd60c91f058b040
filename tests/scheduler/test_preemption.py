import pytest
from builders import cluster, create, gpu_class, gpu_slice, message, node, pod, priority, template, where
from msgspec.structs import replace

from dralang.api.disruption import PodDisruptionBudget, PodDisruptionBudgetSpec
from dralang.api.meta import LabelSelector, ObjectMeta
from dralang.api.pods import Pod

PRIORITIES = (priority("low", 10), priority("mid", 500), priority("high", 1000))


def low(name, cpu="1", **options):
    return pod(name, requests={"cpu": cpu}, priority_class_name="low", **options)


def high(name, cpu="1", **options):
    return pod(name, requests={"cpu": cpu}, priority_class_name="high", **options)


def preempted(simulation):
    return [entry.name for entry in simulation.trace if entry.reason == "Preempted"]


def test_a_more_important_pod_takes_the_place_of_a_less_important_one():
    simulation = cluster(node("n1", cpu="1"), *PRIORITIES)
    create(simulation, low("victim"))
    create(simulation, high("vip"))
    assert where(simulation, "victim", "vip") == {"victim": "gone", "vip": "n1"}
    entry = next(entry for entry in simulation.trace if entry.reason == "Preempted")
    assert (entry.name, entry.related) == ("victim", ("vip",))


def test_the_preemptor_is_nominated_while_its_victim_ends():
    simulation = cluster(node("n1", cpu="1"), *PRIORITIES)
    create(simulation, low("victim", grace=30))
    simulation.create(high("vip"))
    simulation.advance_to(10_000)
    waiting = simulation.pod("default", "vip")
    assert waiting.status.nominated_node_name == "n1"
    assert message(simulation, "vip") == (
        "0/1 nodes are available: 1 Insufficient cpu. preemption: found a potential placement for pod on node n1, "
        "preempting 1 victims"
    )
    create(simulation, pod("latecomer", requests={"cpu": "1"}, priority_class_name="mid"))
    assert where(simulation, "vip", "latecomer") == {"vip": "n1", "latecomer": None}
    assert simulation.pod("default", "vip").status.nominated_node_name == ""


def test_only_as_many_victims_as_needed_and_the_least_important_first():
    simulation = cluster(node("n1", cpu="3"), *PRIORITIES)
    create(simulation, pod("middle", requests={"cpu": "1"}, priority_class_name="mid"))
    create(simulation, low("first"))
    simulation.advance_to(5_000)
    create(simulation, low("second"))
    create(simulation, high("vip"))
    assert preempted(simulation) == ["second"]


def test_the_node_whose_victims_matter_least_is_chosen():
    simulation = cluster(node("n1", cpu="1"), node("n2", cpu="1"), *PRIORITIES)
    create(simulation, pod("middle", requests={"cpu": "1"}, priority_class_name="mid"))
    create(simulation, low("little"))
    create(simulation, high("vip"))
    assert preempted(simulation) == ["little"]


def test_a_budget_is_respected_where_another_node_will_do():
    budget = PodDisruptionBudget(
        metadata=ObjectMeta(name="budget"),
        spec=PodDisruptionBudgetSpec(min_available=1, selector=LabelSelector(match_labels={"app": "x"})),
    )
    simulation = cluster(node("n1", cpu="1"), node("n2", cpu="1"), budget, *PRIORITIES)
    create(simulation, replace(low("protected"), metadata=ObjectMeta(name="protected", labels={"app": "x"})))
    create(simulation, pod("middle", requests={"cpu": "1"}, priority_class_name="mid"))
    create(simulation, high("vip"))
    assert preempted(simulation) == ["middle"]


REFUSALS = {
    "equal priority": (pod("late", requests={"cpu": "1"}, priority_class_name="low"), "No preemption victims found"),
    "a policy against it": (
        pod("late", requests={"cpu": "1"}, priority_class_name="high", preemption_policy="Never"),
        "preemption: not eligible due to preemptionPolicy=Never.",
    ),
    "a pod larger than the node": (high("late", cpu="2"), "Preemption is not helpful for scheduling"),
}


@pytest.mark.parametrize(("late", "text"), REFUSALS.values(), ids=REFUSALS)
def test_nobody_is_evicted_for_nothing(late, text):
    simulation = cluster(node("n1", cpu="1"), *PRIORITIES)
    create(simulation, low("first"))
    create(simulation, late)
    assert preempted(simulation) == []
    assert text in message(simulation, "late")


def test_devices_are_no_reason_to_evict_anybody():
    simulation = cluster(node("n1"), gpu_slice("n1"), gpu_class(), template(), *PRIORITIES)
    create(simulation, low("holder", from_template="one-gpu"))
    create(simulation, high("vip", from_template="one-gpu"))
    assert where(simulation, "holder", "vip") == {"holder": "n1", "vip": None}
    assert preempted(simulation) == []


def test_a_preemptor_that_is_deleted_leaves_the_room_to_others():
    simulation = cluster(node("n1", cpu="1"), *PRIORITIES)
    create(simulation, low("victim", grace=30))
    simulation.create(high("vip"))
    simulation.advance_to(1_000)
    simulation.create(low("other"))
    simulation.advance_to(2_000)
    simulation.delete(Pod, "default", "vip")
    assert simulation.settle()
    assert where(simulation, "victim", "other") == {"victim": "gone", "other": "n1"}
