"""A changed inventory or state answers like one made from scratch."""

import random

import pytest
from oracle.allocation_problems import random_problem
from problems_by_hand import case, claim, class_, counter_slice, device, expressions, held, node, request, slice_

from dralang.allocator.allocate import Attempt, allocate
from dralang.allocator.inventory import Inventory
from dralang.allocator.outcome import Allocated, FatalError, GaveUp, Unallocatable
from dralang.allocator.profiles import allocator_profile
from dralang.allocator.replay import CaseObjects
from dralang.allocator.state import AllocatedState
from dralang.api.decode import from_json
from dralang.api.nodes import Node


class World:
    """The objects of a case, ready to allocate."""

    def __init__(self, problem, **options):
        self.objects = CaseObjects(problem["objects"])
        self.profile = allocator_profile("1.37", problem["featureGates"], options.get("quirks"))
        self.expressions = expressions(self.profile)
        self.inventory = self.fresh(self.objects.slices)
        self.state = AllocatedState.of(sorted(self.objects.allocations.items()), self.profile.features)

    def fresh(self, slices):
        return Inventory.of(slices, self.objects.classes, self.profile, self.expressions)

    def ask(self, inventory=None, state=None, claims=None, node="n", **options):
        wanted = [self.objects.claims[name] for name in claims or self.objects.claims]
        return allocate(inventory or self.inventory, state or self.state, self.objects.nodes[node], wanted, **options)


@pytest.mark.parametrize("seed", range(60))
def test_a_changed_inventory_answers_like_a_fresh_one(seed):
    chance = random.Random(seed)
    world = World(random_problem(seed))
    inventory = world.fresh([])
    slices = list(world.objects.slices)
    for _ in range(3 * len(slices) + 3):
        if slices and chance.random() < 0.7:
            inventory = inventory.with_slice(chance.choice(slices))
        elif slices:
            inventory = inventory.without_slice(chance.choice(slices).metadata.name)
        for name in world.objects.nodes:
            assert world.ask(inventory, node=name) == world.ask(world.fresh(inventory.slices()), node=name)


@pytest.mark.parametrize("seed", range(60))
def test_a_changed_state_answers_like_a_fresh_one(seed):
    chance = random.Random(seed)
    world = World(random_problem(seed))
    state, held_by = world.state, {}
    share = 1
    for _ in range(12):
        name = chance.choice(list(world.objects.claims))
        if name in held_by:
            state = state.without_allocation(held_by.pop(name))
        else:
            where = chance.choice(list(world.objects.nodes))
            outcome = world.ask(state=state, claims=[name], node=where, first_share=share)
            fresh = AllocatedState.of(held_by.items(), world.profile.features)
            assert outcome == world.ask(world.fresh(world.objects.slices), fresh, [name], where, first_share=share)
            if isinstance(outcome, Allocated):
                share += outcome.shares
                held_by[name] = outcome.results[0]
                state = state.with_allocation(name, outcome.results[0])


def test_an_attempt_answers_for_every_node_alike_before_and_after():
    world = World(random_problem(7))
    attempt = Attempt(world.inventory, world.state, list(world.objects.claims.values()))
    first = [attempt.on(each) for each in world.objects.nodes.values()]
    assert [attempt.on(each) for each in reversed(world.objects.nodes.values())] == first[::-1]


def test_a_node_whose_labels_change_sees_other_slices():
    selector = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}]}
    problem = case(slice_("s", "d", node=None, nodeSelector=selector), claim("c", request()), steps=["c"])
    world = World(problem)
    assert isinstance(world.ask(), Unallocatable)
    labelled = from_json(Node, node(zone="z"))
    claims = list(world.objects.claims.values())
    assert isinstance(allocate(world.inventory, world.state, labelled, claims), Allocated)
    assert isinstance(world.ask(), Unallocatable)


def test_a_class_that_comes_and_goes():
    world = World(case(slice_("s", "d"), claim("c", request()), steps=["c"]))
    without = world.inventory.without_class("any")
    assert isinstance(world.ask(without), FatalError)
    back = without.with_class(world.inventory.classes["any"].api)
    assert isinstance(world.ask(back), Allocated)


def test_a_device_that_vanished_frees_its_counters_unless_the_quirk_is_off():
    problem = case(
        slice_("s", device("d", counters={"mem": "4"}), device("e", counters={"mem": "4"}), count=2),
        counter_slice("t", mem="4"),
        claim("a", request(), results=[held("d")]),
        claim("b", request()),
        steps=["b"],
    )
    smaller = CaseObjects([slice_("s", device("e", counters={"mem": "4"}), count=2)]).slices[0]
    for quirks, wanted in (({}, Allocated), ({"vanished-devices-free-counters": False}, Unallocatable)):
        world = World(problem, quirks=quirks)
        assert isinstance(world.ask(claims=["ns/b"]), Unallocatable)
        assert isinstance(world.ask(world.inventory.with_slice(smaller), claims=["ns/b"]), wanted)


def test_two_claims_that_name_one_device_free_it_when_the_first_goes():
    problem = case(
        slice_("s", "d"),
        claim("a", request(), results=[held("d")]),
        claim("b", request(), results=[held("d")]),
        claim("c", request()),
        steps=["c"],
    )
    world = World(problem)
    assert isinstance(world.ask(claims=["ns/c"]), Unallocatable)
    freed = world.state.without_allocation(world.objects.allocations["ns/a"])
    assert isinstance(world.ask(state=freed, claims=["ns/c"]), Allocated)


def test_a_budget_that_does_not_suffice_is_said_honestly():
    devices = [device(f"d{number}", attributes={"x": {"int": number % 3}}) for number in range(12)]
    wish = claim("c", request(count=4), constraints=[{"distinctAttribute": "drv.example.com/x"}])
    world = World(case(slice_("s", *devices), wish, steps=["c"]))
    assert world.ask(budget=3) == GaveUp(3)
    assert isinstance(world.ask(), Unallocatable)


def test_hundreds_of_claims_do_not_exhaust_the_stack():
    claims = [claim(f"c{number}", request(count=32)) for number in range(60)]
    slices = [slice_(f"s{number}", *(f"d{index}" for index in range(64)), pool=f"p{number}") for number in range(30)]
    world = World(case(*slices, *claims, class_(), steps=[]))
    outcome = world.ask()
    assert isinstance(outcome, Allocated)
    assert len(outcome.results) == 60
