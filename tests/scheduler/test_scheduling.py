import pytest
from builders import (
    claim,
    cluster,
    create,
    devices,
    gpu_class,
    gpu_cluster,
    gpu_slice,
    message,
    node,
    pod,
    priority,
    quantities,
    template,
    where,
)
from msgspec.structs import replace

from dralang.api.affinity import Taint, Toleration
from dralang.api.nodes import Node
from dralang.api.pods import Pod, PodSchedulingGate
from dralang.api.resourceclaim import ResourceClaim

NOT_HELPFUL = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."

NO_VICTIMS = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."


def test_first_come_first_served_and_the_device_is_passed_on():
    simulation = gpu_cluster()
    create(simulation, pod("train", from_template="one-gpu"), pod("serve", from_template="one-gpu"))
    assert where(simulation, "train", "serve") == {"train": "worker-1", "serve": None}
    assert devices(simulation, "train-gpu-00001") == ["gpu-0"]
    assert message(simulation, "serve") == f"0/1 nodes are available: 1 cannot allocate all claims. {NOT_HELPFUL}"
    simulation.finish("default", "train")
    assert simulation.settle()
    assert simulation.claim("default", "train-gpu-00001") is None
    assert where(simulation, "serve") == {"serve": "worker-1"}
    assert devices(simulation, "serve-gpu-00001") == ["gpu-0"]
    assert simulation.now == 0


def test_the_more_important_pod_goes_first_when_a_device_becomes_free():
    simulation = gpu_cluster(1, priority("high", 10))
    create(simulation, pod("holder", from_template="one-gpu"))
    create(simulation, pod("early", from_template="one-gpu"))
    simulation.advance_to(60_000)
    create(simulation, pod("important", from_template="one-gpu", priority_class_name="high"))
    simulation.advance_to(120_000)
    simulation.delete(Pod, "default", "holder")
    assert simulation.settle()
    assert where(simulation, "early", "important") == {"early": None, "important": "worker-1"}


CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")

REFUSALS = {
    "too little cpu on the whole node": (
        node("n1", cpu="1"),
        pod("a", requests={"cpu": "2"}),
        f"0/1 nodes are available: 1 Insufficient cpu. {NOT_HELPFUL}",
    ),
    "too little cpu left, and nobody to evict": (
        node("n1", cpu="1"),
        pod("a", requests={"cpu": "1"}),
        f"0/1 nodes are available: 1 Insufficient cpu. {NO_VICTIMS}",
    ),
    "labels": (
        node("n1"),
        pod("a", node_selector={"zone": "z"}),
        f"0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. {NOT_HELPFUL}",
    ),
    "taints": (
        node("n1", taints=(Taint(key="team", value="x", effect="NoSchedule"),)),
        pod("a"),
        f"0/1 nodes are available: 1 node(s) had untolerated taint(s). {NOT_HELPFUL}",
    ),
    "no room for one more pod": (
        node("n1", pods="1"),
        pod("a"),
        f"0/1 nodes are available: 1 Too many pods. {NO_VICTIMS}",
    ),
    "several resources at once": (
        node("n1", cpu="1", memory="1Gi"),
        pod("a", requests={"cpu": "2", "memory": "2Gi"}),
        f"0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory. {NOT_HELPFUL}",
    ),
}


@pytest.mark.parametrize(("where_to", "subject", "text"), REFUSALS.values(), ids=REFUSALS)
def test_a_node_that_does_not_fit_is_named_with_its_reason(where_to, subject, text):
    simulation = cluster(where_to)
    create(simulation, pod("first", requests={"cpu": "500m"}, tolerations=(Toleration(operator="Exists"),)))
    create(simulation, subject)
    assert message(simulation, "a") == text


def test_reasons_of_several_nodes_are_counted_and_sorted():
    tainted = node("n2", taints=(Taint(key="team", effect="NoSchedule"),))
    simulation = cluster(node("n1", cpu="1"), tainted, node("n3"), gpu_class(), template())
    simulation.cordon("n3")
    create(simulation, pod("a", from_template="one-gpu", requests={"cpu": "2"}))
    assert message(simulation, "a") == (
        "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s), "
        "1 node(s) were unschedulable. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )


def larger(simulation):
    found = simulation.store.get(Node, "", "n1")
    sizes = {**found.status.allocatable, **quantities(cpu="8")}
    simulation.update_status(replace(found, status=replace(found.status, allocatable=sizes)))


def label(simulation):
    found = simulation.store.get(Node, "", "n1")
    simulation.update(replace(found, metadata=replace(found.metadata, labels={**found.metadata.labels, "zone": "z"})))


def untaint(simulation):
    found = simulation.store.get(Node, "", "n1")
    simulation.update(replace(found, spec=replace(found.spec, taints=())))


WAKERS = {
    "a larger node": (node("n1", cpu="1"), pod("a", requests={"cpu": "2"}), larger),
    "a second node": (node("n1", cpu="1"), pod("a", requests={"cpu": "2"}), lambda s: s.create(node("n2"))),
    "a label": (node("n1"), pod("a", node_selector={"zone": "z"}), label),
    "a taint that is removed": (node("n1", taints=(Taint(key="t", effect="NoSchedule"),)), pod("a"), untaint),
    "a pod that leaves": (node("n1", pods="1"), pod("a"), lambda s: s.delete(Pod, "default", "first")),
    "a pod that ends": (node("n1", cpu="1"), pod("a", requests={"cpu": "1"}), lambda s: s.finish("default", "first")),
}


@pytest.mark.parametrize(("where_to", "subject", "change"), WAKERS.values(), ids=WAKERS)
def test_a_waiting_pod_is_tried_again_when_the_change_can_help_it(where_to, subject, change):
    simulation = cluster(where_to)
    create(simulation, pod("first", requests={"cpu": "500m"}, tolerations=(Toleration(operator="Exists"),)))
    create(simulation, subject)
    assert where(simulation, "a") == {"a": None}
    change(simulation)
    assert simulation.settle()
    assert where(simulation, "a")["a"] is not None


def test_a_change_that_cannot_help_causes_no_attempt():
    simulation = gpu_cluster(1)
    create(simulation, pod("holder", from_template="one-gpu"), pod("waiter", from_template="one-gpu"))
    before = sum(entry.reason == "FailedScheduling" for entry in simulation.trace)
    simulation.cordon("worker-1")
    create(simulation, pod("other", grace=0))
    assert simulation.settle()
    attempts = [entry.name for entry in simulation.trace if entry.reason == "FailedScheduling"]
    assert attempts[before:] == ["other"]


def test_pods_are_spread_by_what_is_left_and_ties_go_to_the_first_node():
    simulation = cluster(node("n1", cpu="4"), node("n2", cpu="4"), node("n3", cpu="6"))
    create(simulation, pod("a", requests={"cpu": "1"}))
    create(simulation, pod("b", requests={"cpu": "1"}))
    assert where(simulation, "a", "b") == {"a": "n3", "b": "n1"}
    equal = cluster(node("n1"), node("n2"))
    create(equal, pod("a"))
    assert where(equal, "a") == {"a": "n1"}


def test_no_nodes_is_said_as_it_is_and_noticed_only_after_the_backoff():
    simulation = cluster()
    create(simulation, pod("a"))
    assert message(simulation, "a") == "no nodes available to schedule pods"
    assert simulation.now == 0
    create(simulation, node("n1"))
    assert where(simulation, "a") == {"a": "n1"}
    assert simulation.now == 2_000


def test_a_pod_with_gates_or_without_its_claim_is_not_tried_and_says_nothing():
    simulation = gpu_cluster()
    create(simulation, pod("gated", scheduling_gates=(PodSchedulingGate(name="example.com/wait"),)))
    create(simulation, pod("early", uses=["mine"]))
    assert message(simulation, "gated") == "Scheduling is blocked due to non-empty scheduling gates"
    assert message(simulation, "early") is None
    found = simulation.pod("default", "gated")
    simulation.update(replace(found, spec=replace(found.spec, scheduling_gates=())))
    assert simulation.settle()
    assert where(simulation, "gated", "early") == {"gated": "worker-1", "early": None}


def test_a_pod_that_nothing_helps_is_looked_at_again_after_five_minutes():
    simulation = gpu_cluster()
    create(simulation, pod("a", from_template="missing-template"), pod("b", node_selector={"x": "y"}))
    attempts = len([entry for entry in simulation.trace if entry.reason == "FailedScheduling"])
    simulation.advance_to(300_000)
    assert len([entry for entry in simulation.trace if entry.reason == "FailedScheduling"]) == attempts
    simulation.advance_to(330_000)
    assert len([entry for entry in simulation.trace if entry.reason == "FailedScheduling"]) == attempts + 1


def test_a_missing_class_is_named_and_its_creation_wakes_the_pod():
    simulation = cluster(node("n1"), gpu_slice("n1"), template())
    create(simulation, pod("a", from_template="one-gpu"))
    assert message(simulation, "a") == (
        f"0/1 nodes are available: request gpu: device class gpu does not exist. {NOT_HELPFUL}"
    )
    create(simulation, gpu_class())
    assert where(simulation, "a") == {"a": "n1"}


def test_an_extended_resource_is_served_by_devices_and_goes_with_its_pod():
    simulation = cluster(node("n1"), gpu_slice("n1", 2), gpu_class(extended="example.com/gpu"))
    create(simulation, pod("a", requests={"example.com/gpu": "2"}))
    found = simulation.pod("default", "a")
    claim_name = found.status.extended_resource_claim_status.resource_claim_name
    assert devices(simulation, claim_name) == ["gpu-0", "gpu-1"]
    create(simulation, pod("b", requests={"example.com/gpu": "1"}))
    assert where(simulation, "b") == {"b": None}
    simulation.delete(Pod, "default", "a")
    assert simulation.settle()
    assert where(simulation, "b") == {"b": "n1"}
    assert simulation.claim("default", claim_name) is None


def test_a_restarted_scheduler_goes_on_where_it_was():
    simulation = gpu_cluster(1)
    create(simulation, pod("train", from_template="one-gpu"), pod("serve", from_template="one-gpu"))
    simulation.restart("scheduler")
    assert simulation.settle()
    assert where(simulation, "train", "serve") == {"train": "worker-1", "serve": None}
    simulation.delete(Pod, "default", "train")
    assert simulation.settle()
    assert where(simulation, "serve") == {"serve": "worker-1"}


def test_with_a_paused_scheduler_nothing_is_scheduled_until_it_is_resumed():
    simulation = gpu_cluster(1)
    simulation.pause("scheduler")
    create(simulation, pod("a", from_template="one-gpu"))
    assert where(simulation, "a") == {"a": None}
    simulation.resume("scheduler")
    assert simulation.settle()
    assert where(simulation, "a") == {"a": "worker-1"}


def test_an_attempt_that_the_api_refuses_is_repeated_after_the_backoff():
    simulation = gpu_cluster(1)
    simulation.store.fail_next("bind", Pod, "default", "a")
    create(simulation, pod("a", from_template="one-gpu"))
    assert where(simulation, "a") == {"a": "worker-1"}
    assert simulation.now == 2_000
    assert devices(simulation, "a-gpu-00001") == ["gpu-0"]


def test_the_same_calls_give_the_same_trace():
    def play():
        simulation = gpu_cluster(2, priority("high", 10))
        for index in range(6):
            create(simulation, pod(f"p{index}", from_template="one-gpu", priority=index % 3))
        simulation.delete(Pod, "default", "p0")
        simulation.settle()
        return simulation.trace

    assert play() == play()


def test_a_claim_reserved_by_two_pods_is_freed_with_the_last_one():

    simulation = gpu_cluster(1, claim("shared"))
    create(simulation, pod("a", uses=["shared"]), pod("b", uses=["shared"]))
    assert where(simulation, "a", "b") == {"a": "worker-1", "b": "worker-1"}
    simulation.delete(Pod, "default", "a")
    assert simulation.settle()
    assert devices(simulation, "shared") == ["gpu-0"]
    simulation.delete(Pod, "default", "b")
    assert simulation.settle()
    assert simulation.store.get(ResourceClaim, "default", "shared").status.allocation is None
