from builders import cluster, create, node, pod, where

from dralang.api.pods import Pod


def test_a_pod_that_is_deleted_ends_when_its_grace_period_is_over():
    simulation = cluster(node("n1"))
    create(simulation, pod("a", grace=30))
    simulation.advance_to(1_500)
    simulation.delete(Pod, "default", "a")
    simulation.advance_before(31_500)
    assert where(simulation, "a") == {"a": "n1"}
    simulation.advance_to(31_500)
    assert where(simulation, "a") == {"a": "gone"}


def test_a_shorter_grace_period_counts_from_when_it_is_asked_for():
    simulation = cluster(node("n1"))
    create(simulation, pod("a", grace=30))
    simulation.delete(Pod, "default", "a")
    simulation.advance_to(10_000)
    simulation.delete(Pod, "default", "a", grace_seconds=5)
    simulation.advance_to(15_000)
    assert where(simulation, "a") == {"a": "gone"}


def test_settling_waits_for_an_ordinary_grace_period():
    simulation = cluster(node("n1"))
    create(simulation, pod("a", grace=30))
    simulation.delete(Pod, "default", "a")
    assert simulation.settle()
    assert (simulation.now, where(simulation, "a")) == (30_000, {"a": "gone"})


def test_a_manual_kubelet_starts_and_ends_pods_only_when_told():
    simulation = cluster(node("n1"), manual_kubelet=True)
    create(simulation, pod("a", grace=5))
    assert simulation.pod("default", "a").status.phase == "Pending"
    simulation.start_pod("default", "a")
    assert simulation.pod("default", "a").status.phase == "Running"
    simulation.delete(Pod, "default", "a")
    simulation.advance_to(60_000)
    assert simulation.pod("default", "a").metadata.deletion_timestamp is not None
    simulation.delete(Pod, "default", "a", grace_seconds=0)
    assert where(simulation, "a") == {"a": "gone"}


def test_pods_end_well_or_badly():
    simulation = cluster(node("n1"))
    create(simulation, pod("a"), pod("b"))
    simulation.finish("default", "a")
    simulation.fail("default", "b")
    assert simulation.settle()
    assert [each.status.phase for each in simulation.pods()] == ["Succeeded", "Failed"]
    refused = simulation.finish("default", "missing")
    assert refused is not None
    assert refused.reason == "NotFound"


def test_a_start_that_was_not_written_is_written_later():
    simulation = cluster(node("n1"), pod("a"))
    simulation.store.fail_next("update", Pod, "default", "b")
    create(simulation, pod("b"))
    assert simulation.pod("default", "b").status.phase == "Running"
    assert [each.reason for each in simulation.trace if each.name == "b"].count("Running") == 1


def test_an_end_that_was_refused_comes_later():
    simulation = cluster(node("n1"))
    create(simulation, pod("a", grace=2))
    simulation.store.fail_next("delete", Pod, "default", "a", 2)
    assert simulation.delete(Pod, "default", "a") is not None
    simulation.delete(Pod, "default", "a")
    assert simulation.delete(Pod, "default", "a") is None
    assert simulation.settle()
    assert where(simulation, "a") == {"a": "gone"}


def test_a_pod_that_is_deleted_before_it_could_start_ends_too():
    simulation = cluster(node("n1"))
    simulation.pause("kubelet")
    create(simulation, pod("a", grace=2))
    simulation.resume("kubelet")
    simulation.step()
    simulation.delete(Pod, "default", "a")
    assert simulation.settle()
    assert where(simulation, "a") == {"a": "gone"}


def test_a_failed_write_of_an_end_is_told():
    simulation = cluster(node("n1"))
    create(simulation, pod("a"))
    simulation.store.fail_next("update", Pod, "default", "a")
    refused = simulation.finish("default", "a")
    assert refused is not None
    assert refused.reason == "InternalError"
    assert simulation.pod("default", "a").status.phase == "Running"
