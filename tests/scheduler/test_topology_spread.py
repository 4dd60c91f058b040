import pytest
from builders import cluster, create, message, node, pod, where
from msgspec.structs import replace

from dralang.api.affinity import Taint, TopologySpreadConstraint
from dralang.api.meta import LabelSelector, ObjectMeta
from dralang.api.nodes import Node
from dralang.api.pods import Pod

UNEVEN = "node(s) didn't match pod topology spread constraints"


def spread(**changes):
    fields = {
        "max_skew": 1,
        "topology_key": "zone",
        "when_unsatisfiable": "DoNotSchedule",
        "label_selector": LabelSelector(match_labels={"app": "x"}),
    }
    return TopologySpreadConstraint(**{**fields, **changes})


def labelled(name, *constraints, **spec):
    made = pod(name, topology_spread_constraints=constraints, **spec)
    return replace(made, metadata=ObjectMeta(name=name, labels={"app": "x"}))


def zones(**nodes):
    return [node(name, labels={"zone": zone}) for name, zone in nodes.items()]


def test_pods_are_spread_over_the_domains():
    simulation = cluster(*zones(n1="a", n2="a", n3="b"))
    create(simulation, *(labelled(f"p{index}", spread()) for index in range(4)))
    placed = where(simulation, "p0", "p1", "p2", "p3")
    assert sorted(node in ("n1", "n2") for node in placed.values()) == [False, False, True, True]


CASES = {
    "a node without the label is no domain": (
        [node("n1"), *zones(n2="b")],
        spread(min_domains=2),
        f"0/2 nodes are available: 1 {UNEVEN}, 1 {UNEVEN} (missing required label).",
    ),
    "too few domains count as an empty one": (
        zones(n1="a"),
        spread(min_domains=2),
        f"0/1 nodes are available: 1 {UNEVEN}.",
    ),
    "what is only a wish keeps nobody away": (zones(n1="a"), spread(when_unsatisfiable="ScheduleAnyway"), None),
    "a single domain is as even as can be": (zones(n1="a"), spread(), None),
    "pods that the selector does not name do not count": (
        zones(n1="a"),
        spread(min_domains=2, label_selector=LabelSelector(match_labels={"app": "y"})),
        None,
    ),
}


@pytest.mark.parametrize(("nodes", "constraint", "want"), CASES.values(), ids=CASES.keys())
def test_a_second_pod_with_a_constraint(nodes, constraint, want):
    simulation = cluster(*nodes)
    create(simulation, labelled("first", node_selector={"zone": nodes[-1].metadata.labels["zone"]}))
    create(simulation, labelled("second", constraint))
    found = message(simulation, "second")
    assert (found or None) == want if want is None else found.startswith(want)


def test_tainted_nodes_are_domains_unless_taints_are_honored():
    tainted = node("n2", labels={"zone": "b"}, taints=(Taint(key="k", effect="NoSchedule"),))
    simulation = cluster(*zones(n1="a"), tainted)
    create(simulation, labelled("first", spread()), labelled("ignores", spread()))
    create(simulation, labelled("honors", spread(node_taints_policy="Honor")))
    assert where(simulation, "first", "ignores", "honors") == {"first": "n1", "ignores": None, "honors": "n1"}


def test_a_pod_waits_for_a_pod_to_end_or_a_node_to_go():
    for end in (lambda s: s.delete(Pod, "default", "first"), lambda s: s.delete(Node, "", "n2")):
        simulation = cluster(*zones(n1="a", n2="b"))
        create(simulation, labelled("first", node_selector={"zone": "a"}))
        simulation.cordon("n2")
        create(simulation, labelled("second", spread()))
        assert where(simulation, "second") == {"second": None}
        end(simulation)
        assert simulation.settle()
        assert where(simulation, "second") == {"second": "n1"}


def test_keys_of_labels_narrow_what_counts():
    simulation = cluster(*zones(n1="a"))
    keyed = spread(min_domains=2, match_label_keys=("version",))
    create(simulation, labelled("first"))
    other = labelled("second", keyed)
    create(simulation, replace(other, metadata=ObjectMeta(name="second", labels={"app": "x", "version": "2"})))
    create(simulation, labelled("third", keyed))
    assert where(simulation, "second", "third") == {"second": "n1", "third": None}
