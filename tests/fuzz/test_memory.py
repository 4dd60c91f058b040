"""What is remembered between the stories of a fuzz does not grow with their number."""

import gc
import random
import sys
from pathlib import Path

import pytest

from dralang.check import admission
from dralang.check.analysis import Analyzer

SPECS = Path(__file__).resolve().parents[2] / "specs"


class Chance:
    """Chooses at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self, low, high):
        return self.random.randint(low, high)


def template_of(name):
    return Analyzer().path(SPECS / name).scenarios[0].template


def blocks_in_use():
    gc.collect()
    return sys.getallocatedblocks()


@pytest.mark.parametrize("name", ["examples/races.dra", "fuzz/faults.dra", "fuzz/choices.dra", "fuzz/anything.dra"])
def test_no_part_of_a_story_outlives_it(name, monkeypatch):
    monkeypatch.setattr(admission, "MOST_VERDICTS", 1)
    template = template_of(name)
    for seed in range(10):
        template.draw(Chance(seed))
    before = blocks_in_use()
    for seed in range(10, 110):
        template.draw(Chance(seed))
    assert (blocks_in_use() - before) / 100 < 10  # per story


def test_verdicts_of_the_server_are_forgotten_once_there_are_many(monkeypatch):
    monkeypatch.setattr(admission, "MOST_VERDICTS", 10)
    template = template_of("examples/races.dra")
    drawn = [template.draw(Chance(seed)).scenario for seed in range(30)]
    assert all(drawn)
    servers = [each for each in gc.get_objects() if isinstance(each, admission.Server)]
    assert servers
    assert all(len(each._verdicts) <= 10 for each in servers)
