"""What one story has found right needs no look in the next, as long as nothing that it rests upon is different."""

import pytest
from by_hand import World, parsed
from msgspec.structs import replace

from dralang.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dralang.api.allocation import AllocationResult, DeviceAllocationResult
from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import Node
from dralang.api.resourceslice import ResourceSlice
from dralang.run.invariants import watch
from dralang.run.invariants.found_right import FoundRight
from dralang.run.workshop import Workshop

HERE = NodeSelector(
    node_selector_terms=(
        NodeSelectorTerm(match_fields=(NodeSelectorRequirement(key="metadata.name", operator="In", values=("w-1",)),)),
    )
)


@pytest.fixture
def looks(monkeypatch):
    """The claims whose allocation somebody looks at."""
    seen: list[str] = []

    def look(world, claim, allocation):
        seen.append(claim.metadata.name)
        return iter(())

    monkeypatch.setattr(watch, "OF_ALLOCATIONS", (*watch.OF_ALLOCATIONS, look))
    return seen


@pytest.fixture
def worlds():
    """Makes clusters of the same objects, whose stories know of each other."""
    scenario, workshop = parsed(), Workshop()
    return lambda: World(scenario, workshop)


def test_the_same_allocation_is_looked_at_once(worlds, looks):
    for _ in range(3):
        world = worlds()
        world.allocate("a", world.result("gpu-0"))
        assert world.broken() == set()
    assert looks == ["a"]


def test_the_time_of_an_allocation_does_not_matter(worlds, looks):
    for time in ("2026-01-01T00:00:00Z", "2026-01-01T00:00:09Z"):
        world = worlds()
        devices = DeviceAllocationResult(results=(world.result("gpu-0"),))
        world.patch_claim("a", allocation=AllocationResult(devices=devices, allocation_timestamp=time))
    assert looks == ["a"]


def other_devices(world):
    world.allocate("a", world.result("gpu-1"))


def another_claim(world):
    world.allocate("b", world.result("gpu-0"))


def another_place(world):
    devices = DeviceAllocationResult(results=(world.result("gpu-0"),))
    world.patch_claim("a", allocation=AllocationResult(devices=devices, node_selector=HERE))


def decided_by_the_scheduler(world):
    manager, found = world.simulation.scheduler.manager, world.claim("a")
    devices = DeviceAllocationResult(results=(world.result("gpu-0"),))
    manager.reserve(found, AllocationResult(devices=devices), "p-uid")
    world.allocate("a", world.result("gpu-0"))


@pytest.mark.parametrize(
    "write", [other_devices, another_claim, another_place, decided_by_the_scheduler], ids=lambda each: each.__name__
)
def test_what_is_not_the_same_is_looked_at(worlds, looks, write):
    first = worlds()
    first.allocate("a", first.result("gpu-0"))
    write(worlds())
    assert len(looks) == 2


def changed(world, kind, name, change):
    found = next(each for each in world.simulation.store.objects(kind) if each.metadata.name.startswith(name))
    world.simulation.store._put(kind, found, change(found))


def slice_changed(world):
    changed(world, ResourceSlice, "gpus", lambda found: replace(found, spec=replace(found.spec, devices=())))


def class_changed(world):
    changed(world, DeviceClass, "gpu", lambda found: replace(found, spec=replace(found.spec, selectors=())))


def node_changed(world):
    changed(world, Node, "w-1", lambda found: replace(found, metadata=replace(found.metadata, labels={"a": "b"})))


def rule_made(world):
    assert isinstance(world.simulation.store.create(DeviceTaintRule(metadata=ObjectMeta(name="r"))), DeviceTaintRule)


@pytest.mark.parametrize("change", [slice_changed, class_changed, node_changed, rule_made], ids=lambda c: c.__name__)
def test_after_a_change_of_the_world_everything_is_looked_at(worlds, looks, change):
    first = worlds()
    first.allocate("a", first.result("gpu-0"))
    second = worlds()
    change(second)
    second.allocate("a", second.result("gpu-0"))
    third = worlds()
    third.allocate("a", third.result("gpu-0"))
    assert looks == ["a", "a"], "the third world is as the first"


def test_what_is_wrong_is_wrong_every_time(worlds):
    for _ in range(3):
        world = worlds()
        world.allocate("a", world.result("bad"))
        assert {"taints-respected", "selectors-hold"} <= world.broken()


def test_the_claims_of_other_clusters_are_other_claims(worlds, looks):
    """A spec is known by its identity, and by that alone."""
    first, second = worlds(), World(parsed(), Workshop())
    for world in (first, second):
        world.allocate("a", world.result("gpu-0"))
    assert looks == ["a", "a"]


def test_a_question_is_known_by_its_node_its_claims_and_the_devices_in_use(worlds):
    world = worlds()
    node, right = world.simulation.store.objects(Node)[0], FoundRight(())
    spec, other = world.claim("a").spec, world.claim("two").spec
    held = {("gpu.example.com", "w-1", "gpu-0"): [world.result("gpu-0")]}
    right.note_possible(node, (spec,), held, possible=False)
    assert right.is_possible(node, (spec,), held) is False
    assert right.is_possible(node, (spec, spec), held) is None
    assert right.is_possible(node, (other,), held) is None
    assert right.is_possible(node, (spec,), {}) is None
    assert right.is_possible(world.simulation.store.objects(Node)[1], (spec,), held) is None


def test_nothing_is_known_where_devices_are_shared(worlds):
    world = worlds()
    node, right, spec = world.simulation.store.objects(Node)[0], FoundRight(()), world.claim("link-a").spec
    held = {("net.example.com", "w-1", "eth"): [world.result("eth", share_id="1")]}
    right.note_possible(node, (spec,), held, possible=True)
    assert right.is_possible(node, (spec,), held) is None
