from builders import claim, cluster, create, gpu_class, gpu_cluster, gpu_slice, node, pod, template
from msgspec.structs import replace

from dralang.allocator.allocate import allocate
from dralang.allocator.outcome import Unallocatable
from dralang.api.pods import PodSchedulingGate
from dralang.run.waiting import waiting


def test_a_pod_with_a_node_does_not_wait():
    simulation = gpu_cluster()
    create(simulation, pod("a", from_template="one-gpu"))
    assert waiting(simulation, "default", "a") is None
    assert waiting(simulation, "default", "missing") is None


def test_each_node_says_why_and_the_allocator_can_be_asked_again():
    simulation = cluster(node("n1"), node("n2", cpu="1"), gpu_slice("n1"), gpu_class(), template())
    create(simulation, pod("holder", from_template="one-gpu"))
    create(simulation, pod("a", from_template="one-gpu", requests={"cpu": "2"}))
    found = waiting(simulation, "default", "a")
    assert (found.place, found.attempts, found.gate, found.before_nodes) == ("unschedulable", 1, ("", ""), ("", ""))
    assert [(each.node, each.plugin, each.reasons, each.preemption_may_help) for each in found.refusals] == [
        ("n1", "DynamicResources", ("cannot allocate all claims",), False),
        ("n2", "NodeResourcesFit", ("Insufficient cpu",), False),
    ]
    question = found.refusals[0].question
    assert [each.metadata.name for each in question.claims] == ["a-gpu-00001"]
    assert isinstance(allocate(question.inventory, question.state, question.node, question.claims), Unallocatable)


def test_asking_changes_nothing():
    simulation = gpu_cluster(0)
    create(simulation, pod("a", from_template="one-gpu"))
    before = (simulation.store.revision, len(simulation.trace), simulation.events.near_count)
    waiting(simulation, "default", "a")
    assert (simulation.store.revision, len(simulation.trace), simulation.events.near_count) == before


def test_a_pod_that_is_held_back_says_by_whom():
    simulation = gpu_cluster()
    create(simulation, pod("gated", scheduling_gates=(PodSchedulingGate(name="example.com/wait"),)))
    create(simulation, pod("early", uses=["mine"]))
    assert waiting(simulation, "default", "gated").gate == (
        "SchedulingGates",
        "waiting for scheduling gates: [example.com/wait]",
    )
    assert waiting(simulation, "default", "early").gate == (
        "DynamicResources",
        'could not find ResourceClaim "default/mine"',
    )


def test_what_keeps_all_nodes_from_being_looked_at_is_told_apart():
    simulation = cluster(node("n1"), claim("mine", class_name="missing"))
    create(simulation, pod("a", uses=["mine"]))
    found = waiting(simulation, "default", "a")
    assert found.before_nodes == ("DynamicResources", "request gpu: device class missing does not exist")
    assert found.refusals == ()


def test_an_error_is_retried_by_itself():
    simulation = cluster()
    create(simulation, pod("a"))
    found = waiting(simulation, "default", "a")
    assert (found.place, found.before_nodes[1]) == ("error-backoff", "no nodes available to schedule pods")
    assert found.next_try == 2_000


def test_old_news_of_a_pod_that_is_bound_does_not_bring_it_back():
    simulation = gpu_cluster()
    taken = []
    simulation.scheduler.on_taken = lambda pod, state, node: taken.append(pod.metadata.name)
    simulation.delay("scheduler", 2_000)
    simulation.create(pod("a", from_template="one-gpu"))
    simulation.advance_to(1_500)
    waiting_still = simulation.pod("default", "a")
    simulation.update(replace(waiting_still, metadata=replace(waiting_still.metadata, labels={"team": "x"})))
    simulation.advance_to(60_000)
    assert taken == ["a"]
