"""Beginnings that an environment knows: a cluster that is filled with one goes on like a cluster that was made."""

import random
from functools import partial
from pathlib import Path

import builders as b
import pytest
from msgspec.structs import replace

from dralang.api.kinds import KINDS
from dralang.api.meta import OwnerReference
from dralang.check.analysis import Analyzer
from dralang.fuzz.example import play_example
from dralang.run.player import play
from dralang.run.simulation import Environment, Simulation
from dralang.run.workshop import Workshop
from dralang.scenario.model import Settings

SPECS = sorted((Path(__file__).parents[2] / "specs").rglob("*.dra"))


def seen(simulation):
    """All that can be told of a cluster from outside."""
    store = simulation.store
    # A kind of which nothing was ever stored may be known in one of them.
    objects = [each for info in KINDS.values() for each in store.objects(info.type)]
    owners = sorted({owner.uid for each in objects for owner in each.metadata.owner_references})
    dependents = {uid: store.dependents(uid) for uid in owners}
    return objects, dependents, store.revision, simulation.now, tuple(simulation.trace)


def with_meta(each, **changes):
    return replace(each, metadata=replace(each.metadata, **changes))


def note(told, *written):
    """Keep what was written, and what it was before."""
    told.append(written)


OWNER = OwnerReference(api_version="v1", kind="Pod", name="waits", uid="own", controller=True)
BEGINNINGS = {
    "nothing": [],
    "a cluster": [b.node("n"), b.gpu_slice("n", 2), b.gpu_class(), b.template(), b.claim("c")],
    "identities of their own": [with_meta(b.node("n"), uid="one"), with_meta(b.claim("c"), uid="two"), b.claim("d")],
    "names that are made": [
        with_meta(b.claim(""), generate_name="c-"),
        with_meta(b.claim(""), generate_name="c-"),
        b.node("n"),
    ],
    "pods, and what they own": [
        b.node("n"),
        b.gpu_class(),
        b.template(),
        with_meta(b.pod("waits", from_template="one-gpu"), uid="own"),
        with_meta(b.claim("owned"), owner_references=(OWNER,)),
        b.pod("runs", node_name="n"),
    ],
    "other namespaces": [with_meta(b.claim("c"), namespace="x"), b.claim("c"), b.node("n")],
    "what is to be deleted": [
        with_meta(b.claim("c"), finalizers=("keep",), deletion_timestamp="2024-01-01T00:00:00Z"),
        b.node("n"),
    ],
}


@pytest.mark.parametrize("name", BEGINNINGS)
def test_a_known_beginning_is_like_a_new_one(name):
    objects = BEGINNINGS[name]
    known = Workshop().environment(Settings("1.37", {}, {}, None))
    assert isinstance(known, Environment)
    courses = []
    for _ in range(3):
        simulation = Simulation(known)
        told = []
        simulation.store.on_write = partial(note, told)
        assert simulation.load(objects) == []
        course = [seen(simulation)]
        simulation.settle()
        more = b.pod("more", from_template="one-gpu")
        b.create(simulation, more)
        # As a controller makes them.
        simulation.store.create(with_meta(b.claim(""), generate_name="c-"))
        simulation.delete(type(more), "default", "waits")
        simulation.settle()
        courses.append([*course, seen(simulation), told])
    assert known.loaded(objects) is not None
    assert courses[0] == courses[1] == courses[2]


def test_what_was_refused_is_refused_again():
    environment = Workshop().environment(Settings("1.37", {}, {}, None))
    objects = [b.node("n"), b.node("n")]
    answers = [[each.reason for each in Simulation(environment).load(objects)] for _ in range(3)]
    assert answers == [["AlreadyExists"]] * 3


def test_a_call_that_is_to_fail_fails_in_a_known_beginning():
    environment = Workshop().environment(Settings("1.37", {}, {}, None))
    objects = [b.node("n"), b.claim("c")]
    assert Simulation(environment).load(objects) == []
    other = Simulation(environment)
    other.store.fail_next("create", type(objects[1]), "default", "c")
    assert [each.reason for each in other.load(objects)] == ["InternalError"]


@pytest.mark.parametrize("path", SPECS[::7], ids=lambda path: path.stem)
def test_every_story_takes_the_same_course_from_a_known_beginning(path):
    shared = Workshop()
    for scenario in Analyzer().text(path, path.name, path.read_bytes()).scenarios:
        first, again = play(scenario, shared), play(scenario, shared)
        assert (first.trace, first.failures, first.end, first.final) == (
            again.trace,
            again.failures,
            again.end,
            again.final,
        )


class Dice:
    """Chooses at random, from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self, low, high):
        return self.random.randint(low, high)


def test_every_drawn_story_takes_the_same_course_from_a_known_beginning():
    shared = Workshop()
    path = next(path for path in SPECS if path.name == "faults.dra" and path.parent.name == "fuzz")
    for scenario in Analyzer().text(path, path.name, path.read_bytes()).scenarios:
        for seed in range(8):
            known, new = (play_example(scenario, Dice(seed), each).played for each in (shared, Workshop()))
            assert (known.trace, known.final, known.end) == (new.trace, new.final, new.end)
