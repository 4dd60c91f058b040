import pytest
from builders import cluster, create, node, pod, where
from msgspec.structs import replace

from dralang.api.disruption import PodDisruptionBudget, PodDisruptionBudgetSpec
from dralang.api.meta import LabelSelector, ObjectMeta
from dralang.api.nodes import Node
from dralang.api.pods import Pod


def labelled(name):
    return replace(pod(name), metadata=ObjectMeta(name=name, labels={"app": "x"}))


def allowed(simulation):
    return simulation.store.get(PodDisruptionBudget, "default", "budget").status.disruptions_allowed


BUDGETS = {
    "a number of pods that stay": ({"min_available": 2}, 1),
    "more than there are": ({"min_available": 5}, 0),
    "a share of a number nobody knows": ({"min_available": "50%"}, 0),
    "pods without a controller that may be missing": ({"max_unavailable": 1}, 0),
}


@pytest.mark.parametrize(("fields", "want"), BUDGETS.values(), ids=BUDGETS)
def test_a_budget_allows_what_is_beyond_its_minimum(fields, want):
    spec = PodDisruptionBudgetSpec(selector=LabelSelector(match_labels={"app": "x"}), **fields)
    simulation = cluster(node("n1"), PodDisruptionBudget(metadata=ObjectMeta(name="budget"), spec=spec))
    create(simulation, labelled("a"), labelled("b"), labelled("c"), pod("other"))
    assert allowed(simulation) == want
    simulation.delete(Pod, "default", "a")
    assert simulation.settle()
    assert allowed(simulation) == max(0, want - 1)


def test_pods_of_a_node_that_is_gone_for_good_end_too():
    simulation = cluster(node("n1"))
    create(simulation, pod("a"))
    simulation.advance_to(5_000)
    simulation.delete(Node, "", "n1")
    simulation.advance_to(79_999)
    assert simulation.pod("default", "a") is not None
    simulation.advance_to(80_000)
    assert simulation.pod("default", "a") is None


def test_pods_of_a_node_that_comes_back_stay():
    simulation = cluster(node("n1"))
    create(simulation, pod("a"))
    simulation.delete(Node, "", "n1")
    simulation.advance_to(30_000)
    create(simulation, node("n1"))
    simulation.advance_to(200_000)
    assert simulation.pod("default", "a").status.phase == "Running"


def test_an_end_that_was_refused_is_tried_again_at_the_next_look():
    simulation = cluster(node("n1"))
    create(simulation, pod("a"))
    simulation.delete(Node, "", "n1")
    simulation.store.fail_next("delete", Pod, "default", "a")
    simulation.advance_to(80_000)
    assert where(simulation, "a") == {"a": "n1"}
    simulation.advance_to(100_000)
    assert where(simulation, "a") == {"a": "gone"}
