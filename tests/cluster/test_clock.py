import pytest

from dralang.cluster.clock import EventQueue, Phase


def run_all(queue):
    while queue.next_time() is not None:
        queue.run_next()


def test_entries_run_by_time_then_phase_then_order_of_arrival():
    queue, log = EventQueue(), []
    for text, phase, delay in (
        ("binding", Phase.BINDING, 0),
        ("scenario", Phase.SCENARIO, 0),
        ("late", Phase.SCENARIO, 5),
        ("controller one", Phase.CONTROLLER, 0),
        ("controller two", Phase.CONTROLLER, 0),
    ):
        queue.schedule(phase, "test", log.append, text, delay=delay)
    run_all(queue)
    assert log == ["scenario", "controller one", "controller two", "binding", "late"]
    assert queue.now == 5


def test_what_an_entry_causes_in_an_earlier_phase_runs_before_the_rest_of_the_instant():
    queue, log = EventQueue(), []

    def cycle(name):
        log.append(name)
        queue.schedule(Phase.CONTROLLER, "controller", log.append, f"controller after {name}")

    queue.schedule(Phase.SCHEDULING, "scheduler", cycle, "one")
    queue.schedule(Phase.SCHEDULING, "scheduler", cycle, "two")
    run_all(queue)
    assert log == ["one", "controller after one", "two", "controller after two"]


def test_a_paused_component_works_off_everything_in_order_when_it_is_resumed():
    queue, log = EventQueue(), []
    queue.schedule(Phase.CONTROLLER, "slow", log.append, "before the pause")
    queue.pause("slow")
    queue.schedule(Phase.CONTROLLER, "slow", log.append, "during the pause", delay=1)
    queue.schedule(Phase.CONTROLLER, "other", log.append, "other", delay=7)
    run_all(queue)
    assert log == ["other"]
    assert queue.near_count == 0
    queue.resume("slow")
    run_all(queue)
    assert log == ["other", "before the pause", "during the pause"]
    assert queue.now == 7


def test_nobody_waits_for_what_a_paused_component_would_do_later():
    queue, log = EventQueue(), []
    queue.schedule(Phase.CONTROLLER, "slow", log.append, "in half a minute", delay=30_000)
    assert queue.near_count == 1
    queue.pause("slow")
    assert (queue.near_count, queue.next_time()) == (0, None)
    queue.resume("slow")
    assert (queue.near_count, queue.next_time()) == (1, 30_000)


def test_dropping_a_component_forgets_waiting_and_parked_entries():
    queue, log = EventQueue(), []
    queue.schedule(Phase.CONTROLLER, "gone", log.append, "parked")
    queue.pause("gone")
    queue.drop("gone")
    queue.resume("gone")
    queue.schedule(Phase.CONTROLLER, "gone", log.append, "waiting", delay=3)
    queue.drop("gone")
    run_all(queue)
    assert log == []
    assert queue.near_count == 0


@pytest.mark.parametrize("far", [True, False])
def test_only_near_entries_count_until_they_are_brought_near_run_or_cancelled(far):
    queue = EventQueue()
    timer = queue.schedule(Phase.CONTROLLER, "test", lambda _: None, far=far)
    assert queue.near_count == (0 if far else 1)
    queue.bring_near(timer)
    assert queue.near_count == 1
    timer.cancel()
    timer.cancel()
    assert queue.near_count == 0
    assert queue.next_time() is None
