"""The pool of pods that only a change can help: its indices find whom a look at all of them would find."""

import pytest
from builders import pod
from counts import count
from msgspec.structs import replace
from stories.digest import course_of
from stories.story import Story

from dralang.scheduler.cluster_event import EventKind
from dralang.scheduler.framework import Plugin
from dralang.scheduler.node_info import PodInfo
from dralang.scheduler.queue import Pool, QueuedEntity, QueuedPod


def queued(name, *plugins, claims=()):
    plain = pod(name)
    found = QueuedPod(PodInfo(replace(plain, metadata=replace(plain.metadata, uid=name))), 0, 0)
    found.info.claims = frozenset(claims)
    found.rejectors = frozenset(plugins)
    return found


def names(found):
    return [each.pod.metadata.name for each in found]


def test_pods_are_found_by_who_rejected_them_in_the_order_in_which_they_came():
    pool = Pool()
    for each in (queued("c", "Fit"), queued("a", "Ports", "Fit"), queued("b", "Ports")):
        pool.add(each)
    assert names(pool.rejected_by(["Ports", "Fit"])) == ["c", "a", "b"]
    assert names(pool.rejected_by(["Ports"])) == ["a", "b"]
    assert pool.rejected_by(["Unknown"]) == []


def test_a_pod_that_leaves_is_found_no_more():
    pool, leaving = Pool(), queued("a", "Fit", claims=[("default", "x")])
    pool.add(leaving)
    pool.remove(leaving)
    assert pool.rejected_by(["Fit"]) == pool.users(("default", "x")) == []


def test_a_pod_is_found_by_the_claims_that_it_has_now():
    pool, changing = Pool(), queued("a", "Fit", claims=[("default", "x")])
    pool.add(changing)
    changing.info.claims = frozenset([("default", "y")])
    pool.changed(changing)
    assert pool.users(("default", "x")) == []
    assert names(pool.users(("default", "y"))) == ["a"]


class LookAtAll(Pool):
    """Looks at all pods for every change."""

    def __init__(self):
        super().__init__()
        self.entries: dict[str, QueuedEntity] = {}

    def add(self, queued):
        super().add(queued)
        self.entries[queued.uid] = queued

    def remove(self, queued):
        super().remove(queued)
        del self.entries[queued.uid]

    def changed(self, queued):
        """Nothing is kept that could be outdated."""

    def users(self, claim):
        return [each for each in self.entries.values() if type(each) is not QueuedPod or claim in each.info.claims]

    def rejected_by(self, plugins):
        return list(self.entries.values())


def all_plugins(base=Plugin):
    for each in base.__subclasses__():
        yield each
        yield from all_plugins(each)


@pytest.mark.parametrize("seed", range(31_000, 31_000 + count(40, 400)))
def test_the_indices_change_nothing(seed, monkeypatch):
    expected = course_of(Story(seed))
    # `helps` decides everything by itself if it is asked by everybody for everything.
    monkeypatch.setattr("dralang.scheduler.queue.Pool", LookAtAll)
    for plugin in all_plugins():
        monkeypatch.setattr(plugin, "wakes_on", frozenset(EventKind))
    assert course_of(Story(seed)) == expected
