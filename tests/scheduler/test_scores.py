"""Scores of the plugins that compare nodes, as kube-scheduler's own tests and formulas have them."""

import pytest
from builders import node, pod
from msgspec.structs import replace

from dralang.api.affinity import Taint, TopologySpreadConstraint
from dralang.api.containers import Container
from dralang.api.meta import LabelSelector, ObjectMeta
from dralang.api.nodes import ContainerImage
from dralang.api.volumes import ImageVolumeSource, Volume
from dralang.scenario.scheduler_config import FitScoring
from dralang.scheduler.framework import SKIP, CycleState
from dralang.scheduler.image_locality import ImageLocality
from dralang.scheduler.node_info import NodeCache, NodeInfo, PodInfo
from dralang.scheduler.resource_plugins import BalancedAllocation, NodeResourcesFit
from dralang.scheduler.resource_scoring import Usage, balance, strategy_of
from dralang.scheduler.topology_spread import PodTopologySpread

HOST = "kubernetes.io/hostname"


def scores(make, the_pod, nodes, pods=(), others=()):
    """The normalised scores of nodes, beside which there may be others that do not fit."""
    cache = NodeCache()
    for each in (*nodes, *others):
        cache.set_node(each)
    for number, (name, each) in enumerate(pods):
        named = replace(each, metadata=replace(each.metadata, uid=f"u{number}", namespace="default"))
        cache.add_pod(PodInfo(named), name)
    plugin, state = make(cache), CycleState()
    info = PodInfo(replace(the_pod, metadata=replace(the_pod.metadata, uid="p", namespace="default")))
    infos = [found for each in nodes if (found := cache.node(each.metadata.name)) is not None]
    if plugin.pre_score(state, info, infos) is SKIP:
        return None
    return plugin.normalize([plugin.score(state, info, each) for each in infos])


# ---- topology spread ------------------------------------------------------------------------------------------------


def labelled(*constraints, name="p"):
    made = pod(name, topology_spread_constraints=constraints)
    return replace(made, metadata=ObjectMeta(name=name, labels={"foo": ""}))


FOO = LabelSelector(match_labels={"foo": ""})


def wish(key=HOST, skew=1, selector=FOO, **more):
    return TopologySpreadConstraint(
        max_skew=skew, topology_key=key, when_unsatisfiable="ScheduleAnyway", label_selector=selector, **more
    )


def hosts(zones=None):
    return {
        name: node(name, labels={HOST: name, **({"zone": zones[name]} if zones else {})})
        for name in ("a", "b", "x", "y")
    }


def running(**counts):
    return [(name, labelled(name=f"{name}-{number}")) for name, count in counts.items() for number in range(count)]


ZONES = {"a": "zone1", "b": "zone1", "x": "zone2", "y": "zone2"}
SPREADS = {
    "nobody yet": ([wish()], "abxy", {}, [100, 100, 100, 100]),
    "a single candidate": ([wish()], "a", {"a": 2, "b": 1}, [100]),
    "as many everywhere": ([wish()], "ab", {"a": 1, "b": 1}, [100, 100]),
    "2/1/0/3": ([wish()], "abxy", {"a": 2, "b": 1, "y": 3}, [20, 60, 100, 0]),
    "without a selector nobody counts": ([wish(selector=None)], "abxy", {"a": 2, "b": 1, "y": 3}, [100] * 4),
    "a skew of 2 waters it down": ([wish(skew=2)], "abxy", {"a": 2, "b": 1, "y": 3}, [33, 66, 100, 16]),
    "a skew of 3": ([wish(skew=3)], "abxy", {"a": 4, "b": 3, "x": 2, "y": 1}, [44, 66, 77, 100]),
    "3 of 4 are candidates": ([wish()], "abx", {"a": 4, "b": 2, "x": 1, "y": 3}, [33, 83, 100]),
    "zones": ([wish("zone")], "abx", {"a": 4, "b": 2, "x": 1, "y": 3}, [75, 75, 100]),
}


@pytest.mark.parametrize(("constraints", "fitting", "counts", "want"), SPREADS.values(), ids=SPREADS.keys())
def test_spread(constraints, fitting, counts, want):
    nodes = hosts(ZONES)
    found = scores(
        PodTopologySpread,
        labelled(*constraints),
        [nodes[name] for name in fitting],
        running(**counts),
        [each for name, each in nodes.items() if name not in fitting],
    )
    assert found == want


def test_a_node_without_the_domain_has_nothing():
    nodes = hosts()
    nodes["b"] = node("b", labels={"n": "b"})
    found = scores(
        PodTopologySpread, labelled(wish()), [nodes[name] for name in "abx"], running(a=4, b=2, x=1, y=3), [nodes["y"]]
    )
    assert found == [16, 0, 100]


def test_only_nodes_without_the_domain_have_nothing_at_all():
    assert scores(PodTopologySpread, labelled(wish("zone")), [hosts()["a"]]) == [0]


def test_what_must_hold_is_not_scored():
    hard = replace(wish(), when_unsatisfiable="DoNotSchedule")
    assert scores(PodTopologySpread, labelled(hard), list(hosts().values())) is None


def test_pods_on_nodes_that_the_pod_may_not_use_count_unless_policies_say_otherwise():
    nodes = hosts(ZONES)
    tainted = replace(nodes["y"], spec=replace(nodes["y"].spec, taints=(Taint(key="k", effect="NoSchedule"),)))
    for policy, want in ((None, [100, 33]), ("Honor", [0, 100])):
        found = scores(
            PodTopologySpread,
            labelled(wish("zone", node_taints_policy=policy)),
            [nodes["a"], nodes["x"]],
            running(a=1, y=2),
            [nodes["b"], tainted],
        )
        assert found == want


# ---- images ---------------------------------------------------------------------------------------------------------


def having(name, *sizes):
    made = node(name)
    images = tuple(ContainerImage(names=(f"gcr.io/{size}:latest",), size_bytes=size * 1024 * 1024) for size in sizes)
    return replace(made, status=replace(made.status, images=images))


def wants(*sizes, init=(), volumes=()):
    made = pod("p")
    spec = replace(
        made.spec,
        containers=tuple(Container(name=f"c{size}", image=f"gcr.io/{size}") for size in sizes),
        init_containers=tuple(Container(name=f"i{size}", image=f"gcr.io/{size}") for size in init),
        volumes=tuple(Volume(name=f"v{size}", image=ImageVolumeSource(reference=f"gcr.io/{size}")) for size in volumes),
    )
    return replace(made, spec=spec)


IMAGES = {
    "the larger image": (wants(40, 250), [(40, 300, 2000), (250, 10)], [0, 5]),
    "both images on one node": (wants(40, 300), [(40, 300, 2000), (250, 10)], [7, 0]),
    "no more than the limit": (wants(4000, 10), [(4000, 30), (250, 10)], [100, 0]),
    "a node without images": (wants(4000, 10), [(4000, 30), (250, 10), ()], [66, 0, 0]),
    "several large images": (wants(300, 600, 900), [(600, 40, 900), (300, 600, 900), ()], [32, 36, 0]),
    "small images": (wants(30, 40), [(20, 30, 40), (4000, 30)], [1, 0]),
    "an image volume": (wants(30, volumes=(300,)), [(300, 600, 900), (4000, 30)], [6, 0]),
    "an init container": (wants(30, init=(300,)), [(40, 300, 2000), (20, 30, 40)], [6, 0]),
    "nobody says what there is": (wants(30), [(), ()], None),
    "nothing that the pod wants": (wants(30), [(40,), ()], [0, 0]),
}


@pytest.mark.parametrize(("the_pod", "nodes", "want"), IMAGES.values(), ids=IMAGES.keys())
def test_images(the_pod, nodes, want):
    found = scores(ImageLocality, the_pod, [having(f"n{number}", *sizes) for number, sizes in enumerate(nodes)])
    assert found == want


def test_images_come_and_go_with_nodes():
    cache = NodeCache()
    cache.set_node(having("n1", 30))
    cache.set_node(having("n2", 30))
    assert cache.with_images == 2
    cache.set_node(having("n1"))
    cache.remove_node("n2")
    assert cache.with_images == 0


# ---- resources ------------------------------------------------------------------------------------------------------

FALLING = FitScoring(type="RequestedToCapacityRatio", shape=((0, 10), (100, 0)))


def fit(scoring):
    return lambda _: NodeResourcesFit(lambda _name, _node: False, lambda _name: False, scoring)


def test_requested_to_capacity_ratio():
    nodes = [node("n1", cpu="4000", memory="10000"), node("n2", cpu="6000", memory="10000")]
    asked = {"cpu": "3000", "memory": "5000"}
    assert scores(fit(FALLING), pod("p", requests=asked), nodes) == [38, 50]
    alone = replace(pod("p"), spec=replace(pod("p").spec, containers=()))
    busy = [(name, pod(f"on-{name}", requests=asked)) for name in ("n1", "n2")]
    assert scores(fit(FALLING), alone, nodes, busy) == [38, 50]
    assert scores(fit(FALLING), alone, nodes[:1]) == [100]


USAGES = [Usage(1, 0, 3000, 4000), Usage(1, 0, 5000, 10000)]
STRATEGIES = {
    "least": (FitScoring(), USAGES, (25 + 50) // 2),
    "least, too much is worth nothing": (FitScoring(), [Usage(1, 0, 11, 10), USAGES[1]], 25),
    "least, weights": (FitScoring(), [Usage(3, 0, 3000, 4000), Usage(1, 0, 5000, 10000)], (75 + 50) // 4),
    "least of nothing": (FitScoring(), [], 0),
    "most": (FitScoring(type="MostAllocated"), USAGES, (75 + 50) // 2),
    "most, too much is full": (FitScoring(type="MostAllocated"), [Usage(1, 0, 11, 10)], 100),
    "most of nothing": (FitScoring(type="MostAllocated"), [], 0),
    "a falling line": (FALLING, USAGES, 38),
    "more than everything": (FALLING, [Usage(1, 0, 11, 10)], 0),
    "before the first point and after the last": (
        FitScoring(type="RequestedToCapacityRatio", shape=((20, 3), (30, 7))),
        [Usage(1, 0, 1, 10), Usage(1, 0, 9, 10)],
        50,
    ),
    "what is worth nothing is left out": (FALLING, [Usage(1, 0, 10, 10), Usage(1, 0, 5, 10)], 50),
    "half is rounded up": (
        FitScoring(type="RequestedToCapacityRatio", shape=((0, 10), (100, 10))),
        [Usage(1, 0, 1, 10)],
        100,
    ),
    "nothing": (FALLING, [], 0),
}


@pytest.mark.parametrize(("scoring", "usages", "want"), STRATEGIES.values(), ids=STRATEGIES.keys())
def test_strategies(scoring, usages, want):
    assert strategy_of(scoring)(usages) == want


def test_balance():
    even = Usage(1, 0, 5, 10)
    assert balance([even, even]) == 75
    assert balance([Usage(1, 0, 10, 10), Usage(1, 0, 0, 10)]) == 50
    assert balance([Usage(1, 10, 10, 10), Usage(1, 0, 10, 10)]) == 100
    assert balance([Usage(1, 0, 5, 10)]) == 75
    # Three resources: the standard deviation of 1, 0, 0 is 0.47.
    assert balance([Usage(1, 0, 10, 10), Usage(1, 0, 0, 10), Usage(1, 0, 0, 10)]) == 51


def test_extended_resources_count_only_for_pods_that_request_them():
    nodes = [node("n1", cpu="10", memory="10Gi", **{"example.com/x": "4"}), node("n2", cpu="10", memory="10Gi")]
    scoring = FitScoring(type="MostAllocated", resources=(("example.com/x", 1),))
    assert scores(fit(scoring), pod("p", requests={"example.com/x": "1"}), nodes) == [25, 0]
    assert scores(fit(scoring), pod("p"), nodes) == [0, 0]
    busy = [("n1", pod("b", requests={"example.com/x": "2"}))]
    assert scores(fit(scoring), pod("p", requests={"example.com/x": "1"}), nodes, busy) == [75, 0]


def test_balance_of_other_resources():
    nodes = [node("n1", cpu="10", memory="10", **{"example.com/x": "10"})]

    def make(_):
        return BalancedAllocation(("cpu", "example.com/x"))

    assert scores(make, pod("p", requests={"memory": "1"}), nodes) is None
    assert scores(make, pod("p", requests={"cpu": "10"}), nodes) == [75]
    assert scores(make, pod("p", requests={"cpu": "10", "example.com/x": "1"}), nodes) == [52]


def test_ignored_resources_are_not_counted():
    wanted = PodInfo(pod("p", requests={"example.com/x": "1", "other.com/y": "1"}))
    empty = NodeInfo(node("n1", pods="10"))
    plain = NodeResourcesFit(lambda _name, _node: False, lambda _name: False)
    assert plain.filter(CycleState(), wanted, empty).reasons == (
        "Insufficient example.com/x",
        "Insufficient other.com/y",
    )
    ignoring = NodeResourcesFit(
        lambda _name, _node: False, lambda _name: False, ignored=({"example.com/x"}, {"other.com"})
    )
    assert ignoring.filter(CycleState(), wanted, empty).is_success
