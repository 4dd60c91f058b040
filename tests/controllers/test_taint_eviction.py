import pytest
from builders import cluster, create, node, pod, where
from msgspec.structs import replace

from dralang.api.affinity import Taint, Toleration
from dralang.api.nodes import Node
from dralang.api.pods import Pod

BROKEN = Taint(key="broken", value="yes", effect="NoExecute")
HOT = Taint(key="hot", effect="NoExecute")
READY = Taint(key="node.kubernetes.io/not-ready", effect="NoExecute")


def tolerate(key="broken", seconds=None, **more):
    return Toleration(**{"key": key, "operator": "Exists", "toleration_seconds": seconds, **more})


def taint(simulation, *taints, name="w"):
    found = simulation.store.get(Node, "", name)
    simulation.update(replace(found, spec=replace(found.spec, taints=taints)))


def running(*tolerations, **more):
    simulation = cluster(node("w"))
    create(simulation, pod("a", tolerations=tolerations, **more))
    assert where(simulation, "a") == {"a": "w"}
    return simulation


def reasons(simulation):
    return [each.reason for each in simulation.trace if each.component == "taint-eviction-controller"]


EVICTIONS = {
    "no toleration": ((), (BROKEN,), 0),
    "a toleration of another taint": ((tolerate("other"),), (BROKEN,), 0),
    "a toleration of another value": ((tolerate(operator="Equal", value="no"),), (BROKEN,), 0),
    "a toleration of another effect": ((tolerate(effect="NoSchedule"),), (BROKEN,), 0),
    "tolerated for ever": ((tolerate(),), (BROKEN,), None),
    "everything is tolerated for ever": ((tolerate(""),), (BROKEN, HOT, READY), None),
    "tolerated with its effect": ((tolerate(effect="NoExecute"),), (BROKEN,), None),
    "tolerated for three seconds": ((tolerate(seconds=3),), (BROKEN,), 3_000),
    "no time is at once": ((tolerate(seconds=0),), (BROKEN,), 0),
    "a negative time is none": ((tolerate(seconds=-1),), (BROKEN,), 0),
    "the first toleration of a taint counts": ((tolerate(), tolerate(seconds=2)), (BROKEN,), None),
    "the first one, though it is longer": ((tolerate(seconds=5), tolerate(seconds=2)), (BROKEN,), 5_000),
    "of two taints the shorter time counts": ((tolerate(seconds=5), tolerate("hot", 2)), (BROKEN, HOT), 2_000),
    "one taint for ever, one for a time": ((tolerate(), tolerate("hot", 2)), (BROKEN, HOT), 2_000),
    "one taint that is not tolerated wins": ((tolerate(),), (BROKEN, HOT), 0),
    "a node that is not ready has five minutes": ((), (READY,), 300_000),
    "unless the pod says something else": ((tolerate(READY.key, 7),), (READY,), 7_000),
    "or says something of the other effect": ((tolerate(READY.key, effect="NoSchedule"),), (READY,), 300_000),
    "a taint without this effect": ((), (replace(BROKEN, effect="NoSchedule"),), None),
}


@pytest.mark.parametrize(("tolerations", "taints", "when"), EVICTIONS.values(), ids=EVICTIONS)
@pytest.mark.parametrize("restarts", [False, True])
def test_a_pod_leaves_a_tainted_node_when_its_toleration_ends(tolerations, taints, when, restarts):
    simulation = running(*tolerations)
    start = simulation.now
    if restarts:
        simulation.pause("taint-eviction-controller")
    taint(simulation, *taints)
    if restarts:
        simulation.resume("taint-eviction-controller")
        simulation.restart("taint-eviction-controller")
    if when is None:
        simulation.advance_to(1_000_000)
        assert where(simulation, "a") == {"a": "w"}
        return
    if when:
        simulation.advance_before(start + when)
        assert where(simulation, "a") == {"a": "w"}
    simulation.advance_to(start + when)
    assert where(simulation, "a") == {"a": "gone"}


def test_who_comes_to_a_tainted_node_leaves_it_too():
    simulation = cluster(node("w", taints=(BROKEN,)))
    create(simulation, pod("placed", node_name="w"), pod("a", tolerations=(tolerate(seconds=3),)))
    assert where(simulation, "placed", "a") == {"placed": "gone", "a": "w"}
    simulation.advance_to(simulation.now + 3_000)
    assert where(simulation, "a") == {"a": "gone"}


def test_pods_that_have_ended_go_too():
    simulation = running()
    simulation.finish("default", "a")
    taint(simulation, BROKEN)
    simulation.settle()
    assert where(simulation, "a") == {"a": "gone"}


def test_settling_does_not_wait_for_a_toleration_to_end():
    simulation = running(tolerate(seconds=60))
    taint(simulation, BROKEN)
    assert simulation.settle()
    assert simulation.now < 60_000
    assert where(simulation, "a") == {"a": "w"}


@pytest.mark.parametrize("more", [(), (HOT,)])
def test_an_eviction_is_called_off_when_the_taint_goes_or_is_tolerated_for_ever(more):
    simulation = running(tolerate(seconds=60), tolerate("hot"))
    taint(simulation, BROKEN, *more)
    simulation.advance_to(simulation.now + 10_000)
    taint(simulation, *more)
    simulation.advance_to(simulation.now + 100_000)
    assert where(simulation, "a") == {"a": "w"}
    assert reasons(simulation) == ["EvictionCancelled"]


def test_an_eviction_is_called_off_when_the_pod_tolerates_more():
    simulation = running(tolerate(seconds=60))
    taint(simulation, BROKEN)
    simulation.advance_to(simulation.now + 10_000)
    found = simulation.pod("default", "a")
    simulation.update(replace(found, spec=replace(found.spec, tolerations=(tolerate(),))))
    simulation.advance_to(simulation.now + 100_000)
    assert where(simulation, "a") == {"a": "w"}


def test_a_later_taint_with_a_time_changes_nothing_one_that_is_not_tolerated_hastens():
    simulation = running(tolerate(seconds=60), tolerate("hot", 5))
    start = simulation.now
    taint(simulation, BROKEN)
    simulation.advance_to(start + 10_000)
    taint(simulation, BROKEN, HOT)
    simulation.advance_before(start + 60_000)
    assert where(simulation, "a") == {"a": "w"}, "as in Kubernetes, the time that was planned first stands"
    simulation.advance_to(start + 60_000)
    assert where(simulation, "a") == {"a": "gone"}
    simulation = running(tolerate(seconds=60))
    taint(simulation, BROKEN)
    simulation.advance_to(simulation.now + 10_000)
    taint(simulation, BROKEN, HOT)
    simulation.settle()
    assert where(simulation, "a") == {"a": "gone"}


def test_another_pod_of_the_same_name_begins_anew():
    simulation = running(tolerate(seconds=60))
    taint(simulation, BROKEN)
    simulation.advance_to(simulation.now + 50_000)
    simulation.delete(Pod, "default", "a", grace_seconds=0)
    simulation.settle()
    create(simulation, pod("a", tolerations=(tolerate(seconds=60),)))
    simulation.advance_to(simulation.now + 59_000)
    assert where(simulation, "a") == {"a": "w"}
    simulation.advance_to(simulation.now + 1_000)
    assert where(simulation, "a") == {"a": "gone"}


def test_evicted_pods_say_why():
    simulation = cluster(node("w"))
    create(simulation, pod("a", grace=30))
    taint(simulation, BROKEN)
    simulation.advance_to(simulation.now + 1_000)
    found = simulation.pod("default", "a")
    assert found.metadata.deletion_timestamp is not None
    said = [(each.reason, each.message) for each in found.status.conditions if each.type == "DisruptionTarget"]
    assert said == [("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")]
    [entry] = [each for each in simulation.trace if each.component == "taint-eviction-controller"]
    assert (entry.reason, entry.message) == ("TaintManagerEviction", "evicted: node `w` has broken=yes:NoExecute")


@pytest.mark.parametrize(("refusals", "place"), [(1, "gone"), (4, "gone"), (5, "w")])
def test_what_the_server_refuses_is_tried_five_times(refusals, place):
    simulation = running()
    simulation.store.fail_next("delete", Pod, "default", "a", refusals)
    taint(simulation, BROKEN)
    simulation.settle()
    assert where(simulation, "a") == {"a": place}
    assert reasons(simulation) == ["TaintManagerEviction"]


def test_a_slow_controller_sees_all_writes_and_evicts_once():
    simulation = running()
    simulation.delay("taint-eviction-controller", 3_000)
    create(simulation, pod("short"), pod("b", tolerations=(tolerate(seconds=60),)))
    simulation.delete(Pod, "default", "short", grace_seconds=0)
    start = simulation.now
    taint(simulation, BROKEN)
    simulation.advance_before(start + 3_000)
    assert where(simulation, "a", "b") == {"a": "w", "b": "w"}
    simulation.advance_to(start + 30_000)
    assert where(simulation, "a", "b") == {"a": "gone", "b": "w"}
    assert reasons(simulation) == ["TaintManagerEviction"]
