"""Every invariant, broken by hand: somebody writes what the scheduler and the controllers would not."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from dralang.api.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimConsumerReference,
)
from dralang.api.pods import Pod
from dralang.check.analysis import Analyzer
from dralang.cluster.journal import JournalEntry
from dralang.run.invariants.watch import Watch
from dralang.run.simulation import Simulation
from dralang.run.workshop import Workshop
from dralang.values.quantity import parse_quantity

CLUSTER = """
kubernetes 1.37
node w-1
node w-2
slice gpus {
  driver: gpu.example.com
  nodeName: w-1
  device gpu-[0..2] { attributes { numa: 0; index: 1 } }
  device bad { attributes { numa: 1 }; taint broken:NoSchedule }
}
slice cards {
  driver: card.example.com
  nodeName: w-1
  pool { name: cards, generation: 1, resourceSliceCount: 2 }
  counters card { memory: 30Gi }
}
slice parts {
  driver: card.example.com
  nodeName: w-1
  pool { name: cards, generation: 1, resourceSliceCount: 2 }
  device part-[0..1] { consumes card { memory: 20Gi } }
}
slice links {
  driver: net.example.com
  nodeName: w-1
  device eth { allowMultipleAllocations: true; capacity { bandwidth: 10Gi } }
}
class gpu { where `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].numa == 0` }
class card { where `device.driver == "card.example.com"` }
class net { where `device.driver == "net.example.com"` }
claim a { request r: 1 of gpu }
claim b { request r: 1 of gpu }
claim two { request r: 2 of gpu; match gpu.example.com/numa }
claim apart { request r: 2 of gpu; distinct gpu.example.com/index }
claim part-a { request r: 1 of card }
claim part-b { request r: 1 of card }
claim link-a { request r: 1 of net }
claim link-b { request r: 1 of net }
priority high: 10
pod p { claim r is a; priorityClassName: high }
pod q { claim r is b }
pod lonely
scenario "s" { create p, q; expect all pods are settled }
"""


def parsed():
    analysis = Analyzer().text(Path("s.dra"), "s.dra", CLUSTER.encode())
    assert not analysis.has_errors, analysis.diagnostics
    return analysis.scenarios[0]


class World:
    """A small cluster, watched, and somebody who writes to it."""

    def __init__(self, scenario=None, workshop=None):
        scenario = scenario or parsed()
        environment: Any = (workshop or Workshop()).environment(scenario.settings)
        self.simulation = Simulation(environment)
        self.watch = Watch(self.simulation, environment, thorough=True)
        self.pods: dict[str, Any] = {
            each.key.name: each.object for each in scenario.declared.values() if each.key.kind == "Pod"
        }
        initial: list[Any] = [each.object for each in scenario.initial]
        assert self.simulation.load(initial) == []
        self.simulation.advance_to(0)
        self.watch.begin()

    def create(self, *names):
        for name in names:
            self.simulation.create(self.pods[name])

    def result(self, device, request="r", **more):
        driver = {"g": "gpu.example.com", "b": "gpu.example.com", "p": "card.example.com", "e": "net.example.com"}
        pool = {"g": "w-1", "b": "w-1", "p": "cards", "e": "w-1"}
        return DeviceRequestAllocationResult(
            request=request, driver=driver[device[0]], pool=pool[device[0]], device=device, **more
        )

    def claim(self, name) -> Any:
        return self.simulation.claim("default", name)

    def allocate(self, claim, *results, reserved=()):
        found = self.claim(claim)
        devices = DeviceAllocationResult(results=tuple(results))
        users = tuple(
            ResourceClaimConsumerReference(resource="pods", name=name, uid=f"{name}-uid") for name in reserved
        )
        status = replace(found.status, allocation=AllocationResult(devices=devices), reserved_for=users)
        self.simulation.store.update_status(replace(found, status=status))

    def patch_claim(self, claim, **fields):
        found = self.claim(claim)
        # Past the API server, which would refuse most of this.
        self.simulation.store._put(type(found), found, replace(found, status=replace(found.status, **fields)))

    def put_silently(self, claim, **fields):
        """So that nobody hears of it, and nobody puts it right."""
        found = self.claim(claim)
        changed = replace(found, status=replace(found.status, **fields))
        self.simulation.store._objects[type(found)]["default", claim] = changed

    def bind(self, pod, node):
        found: Any = self.simulation.pod("default", pod)
        self.simulation.store._put(Pod, found, replace(found, spec=replace(found.spec, node_name=node)))

    def broken(self):
        self.watch.look_back()
        return {violation.invariant for violation in self.watch.violations}


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
