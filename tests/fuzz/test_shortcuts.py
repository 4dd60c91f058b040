"""What a story saves changes nothing of it: news that is not told, and what stories share with those before them."""

import random
from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.cluster.store import ObjectStore
from dralang.run.player import play
from dralang.run.workshop import Workshop

RACES = Path(__file__).resolve().parents[2] / "specs" / "examples" / "races.dra"
TEXTS = (
    RACES.read_text(encoding="utf-8"),
    'kubernetes 1.37\nfuzz "f" from std.random(nodes: 3, devices: 4, pods: 8, events: 14) { }\n',
    'kubernetes 1.38\ngates { DRAPreemption: true }\nfuzz "f" from std.random(nodes: 2, devices: 3, pods: 8) { }\n',
)
STORIES = 25


class Dice:
    """Chooses at random, from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self, low, high):
        return self.random.randint(low, high)


def courses(text, workshop_for):
    """What became of some stories, each played with what `workshop_for` gives."""
    template = Analyzer().text(RACES, "f.dra", text.encode()).scenarios[0].template
    found = []
    for seed in range(STORIES):
        story = template.draw(Dice(seed)).scenario
        if story is not None:
            played = play(story, workshop_for(seed))
            found.append((played.verdict, played.trace, played.end, played.final))
    assert len(found) > STORIES // 2
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_news_that_nobody_wants_changes_nothing(text, monkeypatch):
    shared = Workshop()
    expected = courses(text, lambda _: shared)
    subscribe = ObjectStore.subscribe

    def tell_all(self, component, phase, kinds, handler, wants=None):
        subscribe(self, component, phase, kinds, handler)

    monkeypatch.setattr(ObjectStore, "subscribe", tell_all)
    assert courses(text, lambda _: shared) == expected


@pytest.mark.parametrize("text", TEXTS)
def test_stories_do_not_see_each_other(text):
    shared = Workshop()
    assert courses(text, lambda _: shared) == courses(text, lambda _: Workshop())
