"""KEP-5690 where a scenario cannot look: the simulation itself, and allocations that are only in memory."""

import pytest
from builders import (
    DriverExpressions,
    claim,
    cluster,
    create,
    features,
    gpu_class,
    gpu_slice,
    node,
    pod,
    priority,
    where,
)
from counts import count
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dralang.allocator.state import AllocatedState
from dralang.run.invariants.watch import Watch
from dralang.run.simulation import Environment, Simulation
from dralang.scheduler.dynamicresources.cycle_data import STATE
from dralang.scheduler.dynamicresources.nominations import ClaimNomination
from dralang.scheduler.dynamicresources.simulate import Simulator, is_local
from dralang.scheduler.framework import CycleState
from dralang.scheduler.node_info import PodInfo

GATES = {"DRAPreemption": True}
PRIORITIES = (priority("low", 10), priority("high", 1000))


def device_cluster(gpus, *more, gates=GATES):
    slice_ = gpu_slice("n1", gpus)
    return cluster(
        node("n1"), slice_, gpu_class(extended="example.com/gpu"), *PRIORITIES, *more, version="1.38", gates=gates
    )


def low(name, *claims, **options):
    return pod(name, uses=claims, priority_class_name="low", **options)


def high(name, *claims, **options):
    return pod(name, uses=claims, priority_class_name="high", **options)


def preempted(simulation):
    return [entry.name for entry in simulation.trace if entry.reason == "Preempted"]


def test_an_allocation_in_flight_is_released_and_waited_for():
    simulation = device_cluster(1, claim("a"), claim("b"))
    manager = simulation.scheduler.manager
    simulation.create(low("victim", "a"))
    uid = simulation.claim("default", "a").metadata.uid
    while manager.pending(uid) is None:
        simulation.step()
    assert simulation.claim("default", "a").status.allocation is None
    simulation.create(high("vip", "b"))
    vip = simulation.pod("default", "vip").metadata.uid
    while manager.nominations.of(vip) is None:
        simulation.step()
    assert manager.nominations.victims_on("n1") == [uid]
    assert simulation.settle()
    assert where(simulation, "victim", "vip") == {"victim": "gone", "vip": "n1"}


def test_a_victim_with_an_extended_resource_frees_its_claims_neither():
    simulation = device_cluster(2, claim("a"), claim("b"))
    create(simulation, low("victim", "a", requests={"example.com/gpu": "1"}))
    assert where(simulation, "victim") == {"victim": "n1"}
    create(simulation, high("vip", "b"))
    assert where(simulation, "victim", "vip") == {"victim": "n1", "vip": None}


def test_a_preemptor_with_an_extended_resource_frees_nobodys_claims():
    simulation = device_cluster(2, claim("a", 2), claim("b"))
    create(simulation, low("victim", "a"))
    create(simulation, high("vip", "b", requests={"example.com/gpu": "1"}))
    assert where(simulation, "victim", "vip") == {"victim": "n1", "vip": None}


def test_what_is_held_is_held_against_extended_resources_too():
    simulation = device_cluster(1, claim("a"), claim("b"))
    create(simulation, low("victim", "a", grace=30))
    simulation.create(high("vip", "b"))
    simulation.advance_to(10_000)
    simulation.pause("scheduler")
    simulation.advance_to(50_000)
    simulation.create(pod("rival", requests={"example.com/gpu": "1"}, priority_class_name="low"))
    simulation.advance_to(50_000)
    simulation.resume("scheduler")
    assert simulation.settle()
    assert where(simulation, "vip", "rival") == {"vip": "n1", "rival": None}


def test_a_device_that_is_not_published_is_not_released():
    simulation = device_cluster(1, claim("a"))
    create(simulation, low("victim", "a"))
    (result,) = simulation.claim("default", "a").status.allocation.devices.results
    inventory = simulation.scheduler.manager.inventory
    assert is_local(inventory, result)
    assert not is_local(inventory, replace(result, device="gpu-9"))
    assert not is_local(inventory, replace(result, pool="elsewhere"))


def test_nothing_changes_without_the_gate():
    simulation = device_cluster(1, claim("a"), claim("b"), gates=None)
    create(simulation, low("victim", "a"))
    create(simulation, high("vip", "b"))
    assert preempted(simulation) == []
    manager = simulation.scheduler.manager
    assert manager.nominations.all() == {}
    assert not simulation.scheduler.algorithm.knows_nominations


def sharing_cluster():
    """Three pods on one node: two share a claim, two have claims of their own."""
    simulation = device_cluster(8, claim("own-a", 2), claim("own-b"), claim("shared", 2), claim("wanted", 3))
    create(simulation, low("a", "own-a", "shared"), low("b", "own-b", "shared"), low("c", "shared"))
    simulation.create(high("vip", "wanted"))
    return simulation


@settings(max_examples=count(50, 1000), deadline=None)
@given(order=st.permutations(["a", "b", "c"]), back=st.permutations(["a", "b", "c"]), first=st.integers(0, 3))
def test_remove_and_put_back_in_any_order_is_where_it_began(order, back, first):
    simulation = sharing_cluster()
    scheduler = simulation.scheduler
    info = PodInfo(simulation.pod("default", "vip"))
    state = CycleState()
    scheduler.algorithm.pre_filter(state, info, scheduler.cache.nodes())
    state = state.clone()
    data = state.read(STATE)
    assert data is not None
    assert data.effects is not None
    effects = data.effects
    simulator = Simulator(simulation.store, scheduler.manager, group_claims=False)
    before = scheduler.manager.state

    def at(name):
        return simulation.pod("default", name)

    for name in order[:first]:
        simulator.remove(data, info.pod, at(name))
        simulator.put_back(data, info.pod, at(name))
    for name in order:
        simulator.remove(data, info.pod, at(name))
    assert len(effects.released) == 3
    assert data.allocated is not None
    assert data.allocated.pool(("gpu.example.com", "n1")).devices() == set()
    for number, name in enumerate(back):
        simulator.put_back(data, info.pod, at(name))
        shared = simulation.claim("default", "shared").metadata.uid
        assert shared not in effects.released, "one user that stays is enough"
        assert len(effects.removed[shared]) == 2 - number
    assert effects.released == {}
    pool = ("gpu.example.com", "n1")
    assert data.allocated.pool(pool).dedicated == before.pool(pool).dedicated
    assert scheduler.manager.state is before
    assert not scheduler.manager.has_drifted()


def hold_for_nobody(manager):
    manager.nominations.nominate("pod-9", ClaimNomination("n1", 0, ()))


def wait_for_nothing(manager):
    manager.nominations.track("pod-9", "n1", ["resourceclaim-9"])


def lose_what_is_taken(manager):
    manager._state = AllocatedState.of((), manager.state.features)


@pytest.mark.parametrize(
    ("invariant", "fault"),
    [
        ("nominations-have-their-node", hold_for_nobody),
        ("victims-claims-are-allocated", wait_for_nothing),
        ("simulations-leave-no-trace", lose_what_is_taken),
    ],
)
def test_an_invariant_that_is_broken_is_reported(invariant, fault):
    environment = Environment(features("1.38", **GATES), DriverExpressions())
    simulation = Simulation(environment)
    watch = Watch(simulation, environment, thorough=False)
    assert simulation.load([node("n1"), gpu_slice("n1", 1), gpu_class(), *PRIORITIES, claim("a")]) == []
    assert simulation.settle()
    watch.begin()
    create(simulation, low("user", "a"))
    watch.look_at_rest()
    assert watch.violations == []
    fault(simulation.scheduler.manager)
    create(simulation, low("other"))
    watch.look_at_rest()
    assert invariant in {violation.invariant for violation in watch.violations}
