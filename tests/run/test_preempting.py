"""What preemption would do for a pod now, and what it has promised, in words."""

import pytest
from builders import claim, cluster, create, gpu_class, gpu_slice, node, pod, priority

from dralang.run.preempting import chance_of
from dralang.run.why import why_pod
from dralang.scenario.keys import ObjectKey
from dralang.scheduler.dynamicresources.holding import STILL_RECLAIMED


def story(gate=True):
    return cluster(
        node("n1", cpu="4"),
        gpu_slice("n1", 2),
        gpu_class(),
        *(claim(name, 1) for name in ("a", "b", "c", "d")),
        priority("low", 10),
        priority("middle", 100),
        priority("high", 1000),
        version="1.38",
        gates={"DRAPreemption": gate},
    )


def user(name, claim_name, importance, **options):
    return pod(name, uses=[claim_name], priority_class_name=importance, **options)


def lines(reasons, depth=0):
    return [line for each in reasons for line in ("  " * depth + each.text, *lines(each.because, depth + 1))]


def why(simulation, name):
    return lines(why_pod(simulation, ObjectKey("Pod", "default", name)))


def settling():
    """`vip` waits for the claim of `victim`, whose controller is away."""
    simulation = story()
    create(simulation, user("keeper", "a", "high"), user("victim", "b", "low"))
    simulation.pause("resourceclaim-controller")
    simulation.create(user("vip", "c", "high"))
    simulation.advance_to(5_000)
    return simulation


def test_what_is_held_and_what_is_waited_for():
    assert why(settling(), "vip")[-4:] == [
        "nominated on n1",
        "  gpu-1 held for claim c",
        "  no further preemption before these claims are deallocated: b",
        f"preemption: {STILL_RECLAIMED}",
    ]


def test_what_is_held_for_others():
    simulation = settling()
    simulation.create(user("late", "d", "low"))
    simulation.advance_to(6_000)
    assert "gpu-1 on n1 held for pod vip (priority 1000)" in why(simulation, "late")


def test_the_candidates_are_in_the_record():
    simulation = settling()
    texts = [entry.message for entry in simulation.trace if entry.reason in ("Candidate", "Nominated")]
    assert texts == [
        "node n1 is chosen: victims victim (priority 10, since 0s)",
        "nominated on n1, where it is to have gpu-1; waits for 1 claim to be deallocated",
    ]


CHANCES = {
    "victims are there": ("victim", "low", "high", True, "vip can preempt victim on n1"),
    "nobody is less important": ("victim", "high", "high", False, "vip finds no victims"),
}


@pytest.mark.parametrize(("name", "theirs", "mine", "holds", "text"), CHANCES.values(), ids=CHANCES)
def test_whether_a_pod_can_preempt(name, theirs, mine, holds, text):
    simulation = story()
    create(simulation, user("keeper", "a", "high"), user(name, "b", theirs))
    simulation.pause("scheduler")
    simulation.create(user("vip", "c", mine))
    simulation.advance_to(1_000)
    chance = chance_of(simulation, simulation.pod("default", "vip"))
    assert (chance.holds, chance.text) == (holds, text)


def test_a_pod_that_fits_has_no_need_to():
    simulation = story()
    simulation.pause("scheduler")
    simulation.create(user("vip", "c", "high"))
    simulation.advance_to(1_000)
    chance = chance_of(simulation, simulation.pod("default", "vip"))
    assert (chance.holds, chance.text) == (False, "vip fits on n1 without preemption")


def test_asking_changes_nothing():
    simulation = settling()
    before = len(simulation.trace), simulation.events.executed, simulation.scheduler.manager.state
    for each in simulation.pods():
        chance_of(simulation, each)
    why(simulation, "vip")
    assert (len(simulation.trace), simulation.events.executed, simulation.scheduler.manager.state) == before


def test_without_the_gate_nothing_is_said_of_it():
    simulation = story(gate=False)
    create(simulation, user("keeper", "a", "high"), user("victim", "b", "low"), user("vip", "c", "high"))
    assert not [line for line in why(simulation, "vip") if "preemption" in line or "held" in line]
