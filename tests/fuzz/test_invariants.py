"""Every invariant, broken by hand: somebody writes what the scheduler and the controllers would not."""

from types import SimpleNamespace

import pytest
from by_hand import World
from msgspec.structs import replace

from dralang.api.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    ResourceClaimConsumerReference,
)
from dralang.cluster.journal import JournalEntry
from dralang.values.quantity import parse_quantity


def over_allocated(world):
    world.allocate("a", world.result("gpu-0"))
    world.allocate("b", world.result("gpu-0"))


def over_consumed(world):
    for name, share in (("link-a", "1"), ("link-b", "2")):
        world.allocate(
            name, world.result("eth", share_id=share, consumed_capacity={"bandwidth": parse_quantity("6Gi")})
        )


def consumed_less_than_nothing(world):
    world.allocate("link-a", world.result("eth", share_id="1", consumed_capacity={"bandwidth": parse_quantity("-1")}))


def overdrawn(world):
    world.allocate("part-a", world.result("part-0"))
    world.allocate("part-b", world.result("part-1"))


def too_few(world):
    world.allocate("two", world.result("gpu-0"))


def unasked(world):
    world.allocate("a", world.result("gpu-0"), world.result("gpu-1", request="other"))


def unpublished(world):
    world.allocate("a", world.result("gpu-9"))


def not_selected(world):
    world.allocate("part-a", world.result("gpu-0"))


def tainted(world):
    world.allocate("a", world.result("bad"))


def unlike(world):
    world.allocate("two", world.result("gpu-0"), world.result("bad"))


def alike(world):
    world.allocate("apart", world.result("gpu-0"), world.result("gpu-1"))


def reserved_for_nothing(world):
    world.patch_claim("a", reserved_for=(ResourceClaimConsumerReference(resource="pods", name="x", uid="x"),))


def moved(world):
    world.allocate("a", world.result("gpu-0"))
    devices = DeviceAllocationResult(results=(world.result("gpu-1"),))
    world.patch_claim("a", allocation=AllocationResult(devices=devices))


def other_node(world):
    world.create("lonely")
    world.bind("lonely", "w-1")
    world.bind("lonely", "w-2")


def bound_without_claim(world):
    world.create("p")
    world.bind("p", "w-1")


def important_victim(world):
    world.create("p", "q")
    entry = JournalEntry(0, "scheduler", "Pod", "default", "p", "Preempted", "", ("q",))
    world.simulation.journal.record(entry)


def settled(world, *pods):
    world.create(*pods)
    assert world.simulation.settle()
    world.watch.look_at_rest()
    assert world.broken() == set()


def forgotten_allocation(world):
    settled(world, "p")
    manager = world.simulation.scheduler.manager
    manager._state = type(manager.state).of((), world.simulation.environment.profile.features)
    world.watch.look_at_rest()


def forgotten_pod(world):
    settled(world, "lonely")
    world.simulation.scheduler.cache.remove_pod(world.simulation.pod("default", "lonely").metadata.uid)
    world.watch.look_at_rest()


def reserved_for_the_dead(world):
    settled(world, "p")
    world.put_silently("a", reserved_for=(ResourceClaimConsumerReference(resource="pods", name="x", uid="x"),))
    world.watch.look_at_rest()


def held_for_nobody(world):
    settled(world, "p")
    world.put_silently("a", reserved_for=())
    world.watch.look_at_rest()


def waits_for_nothing(world):
    settled(world)
    world.simulation.cordon("w-1")
    world.simulation.cordon("w-2")
    settled(world, "lonely")
    world.simulation.scheduler.queue.move = lambda *_: None
    world.simulation.uncordon("w-1")
    assert world.simulation.settle()
    world.watch.look_at_rest()


def runs_without_its_claim(world):
    settled(world, "p")
    world.put_silently("a", allocation=None)
    world.watch.look_at_rest()


BREAKS = {
    "running-pods-keep-their-claims": (runs_without_its_claim,),
    "no-device-over-allocated": (over_allocated,),
    "no-capacity-below-zero": (over_consumed, consumed_less_than_nothing),
    "no-counter-below-zero": (overdrawn,),
    "requests-answered": (too_few, unasked),
    "devices-published": (unpublished,),
    "selectors-hold": (not_selected,),
    "taints-respected": (tainted,),
    "constraints-hold": (unlike, alike),
    "reserved-means-allocated": (reserved_for_nothing,),
    "allocations-do-not-move": (moved,),
    "pods-stay-on-their-node": (other_node,),
    "pods-have-their-claims": (bound_without_claim,),
    "victims-are-less-important": (important_victim,),
    "memory-is-what-is-written": (forgotten_allocation,),
    "pods-where-the-scheduler-thinks": (forgotten_pod,),
    "reservations-of-the-living": (reserved_for_the_dead,),
    "unused-claims-are-free": (held_for_nobody,),
    "who-waits-has-to": (waits_for_nothing,),
}
CASES = [(name, story) for name, stories in BREAKS.items() for story in stories]


@pytest.mark.parametrize(("name", "story"), CASES, ids=[story.__name__ for _, story in CASES])
def test_an_invariant_that_is_broken_is_reported(name, story):
    world = World()
    story(world)
    assert name in world.broken()


def test_what_was_there_before_is_nobodys_doing():
    world = World()
    world.watch.judging = False
    over_allocated(world)
    assert world.broken() == set()


def test_a_generated_claim_that_outlives_its_pod_is_reported():
    world = World()
    settled(world, "lonely")
    owner = SimpleNamespace(controller=True, kind="Pod", name="gone", uid="gone-uid")
    claim = world.claim("b")
    meta = replace(claim.metadata, owner_references=(owner,))
    world.simulation.store._objects[type(claim)]["default", "b"] = replace(claim, metadata=meta)
    world.watch.look_at_rest()
    assert "generated-claims-go-with-their-pod" in world.broken()
