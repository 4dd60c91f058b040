"""A search for devices that takes longer than filterTimeout: the exact outcome, and who else has to wait."""

from pathlib import Path

from builders import claim, create, gpu_cluster, message, pod, where

from dralang.api.meta import ObjectMeta
from dralang.api.pods import Pod, PodSchedulingGroup
from dralang.api.workloads import BasicSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy, PodGroupSpec
from dralang.check.analysis import Analyzer
from dralang.scheduler.dynamicresources.search import SEARCH

TIMED_OUT = 'running "DynamicResources" filter plugin: node worker-1: timed out trying to allocate devices'


def test_the_condition_is_that_of_the_scheduler():
    simulation = gpu_cluster(1, claim("c"))
    simulation.delay(SEARCH, 10_001)
    create(simulation, pod("p", uses=["c"]))
    assert message(simulation, "p") == TIMED_OUT
    (condition,) = simulation.pod("default", "p").status.conditions
    assert (condition.reason, condition.status) == ("SchedulerError", "False")


def test_a_search_that_just_ends_in_time_is_no_error():
    simulation = gpu_cluster(1, claim("c"))
    simulation.delay(SEARCH, 10_000)
    create(simulation, pod("p", uses=["c"]))
    assert where(simulation, "p") == {"p": "worker-1"}
    assert simulation.now == 10_000


def test_each_retry_searches_again_after_its_backoff():
    simulation = gpu_cluster(1, claim("c"))
    simulation.delay(SEARCH, 15_000)
    simulation.create(pod("p", uses=["c"]))
    assert simulation.advance_to(60_000)
    failures = [each.time for each in simulation.trace if each.reason == "FailedScheduling"]
    # The search takes 10 s; backoff 1 s, 2 s, 4 s, 8 s, until the next whole second.
    assert failures == [10_000, 22_000, 35_000, 50_000]


def test_a_pod_of_higher_priority_waits_for_the_search_of_another():
    simulation = gpu_cluster(2, claim("c"), claim("d"))
    simulation.delay(SEARCH, 4_000)
    simulation.create(pod("low", uses=["c"], priority=0))
    assert simulation.advance_to(1_000)
    simulation.create(pod("high", uses=["d"], priority=10))
    assert simulation.advance_to(4_000)
    assert where(simulation, "low", "high") == {"low": "worker-1", "high": None}
    assert simulation.advance_to(8_000)
    assert where(simulation, "high") == {"high": "worker-1"}


def test_a_pod_that_is_recreated_during_its_search_is_another_pod():
    simulation = gpu_cluster(1, claim("c"))
    simulation.delay(SEARCH, 4_000)
    simulation.create(pod("p", uses=["c"]))
    assert simulation.advance_to(1_000)
    assert simulation.delete(Pod, "default", "p") is None
    simulation.create(pod("p", uses=["c"]))
    assert simulation.advance_to(7_999)
    assert where(simulation, "p") == {"p": None}
    assert simulation.advance_to(8_000)
    assert where(simulation, "p") == {"p": "worker-1"}


def test_a_paused_scheduler_ends_its_search_later():
    simulation = gpu_cluster(1, claim("c"))
    simulation.delay(SEARCH, 4_000)
    simulation.create(pod("p", uses=["c"]))
    assert simulation.advance_to(2_000)
    simulation.pause("scheduler")
    assert simulation.advance_to(9_000)
    assert where(simulation, "p") == {"p": None}
    simulation.resume("scheduler")
    assert simulation.settle()
    assert where(simulation, "p") == {"p": "worker-1"}


def test_a_group_searches_once():
    gates = {"GenericWorkload": True}
    policy = PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
    group = PodGroup(metadata=ObjectMeta(name="g"), spec=PodGroupSpec(scheduling_policy=policy))
    simulation = gpu_cluster(2, claim("c"), claim("d"), group, gates=gates)
    simulation.delay(SEARCH, 4_000)
    member = PodSchedulingGroup(pod_group_name="g")
    for name, used in (("p", "c"), ("q", "d")):
        simulation.create(pod(name, uses=[used], scheduling_group=member))
    assert simulation.advance_to(3_999)
    assert where(simulation, "p", "q") == {"p": None, "q": None}
    assert simulation.advance_to(4_000)
    assert where(simulation, "p", "q") == {"p": "worker-1", "q": "worker-1"}


def test_the_search_can_only_be_delayed(tmp_path: Path):
    for statement in ("pause allocation", "resume allocation", "restart allocation"):
        text = f'pod p\nscenario "s" {{\n  create p\n  {statement}\n  expect p is pending\n}}\n'
        found = Analyzer().text(tmp_path / "a.dra", "a.dra", text.encode()).diagnostics
        assert [(item.message, item.help) for item in found if item.severity == "error"] == [
            ("the search for devices can only be delayed", "write `delay allocation by 15s`")
        ]
