"""Verdicts that are kept from one scheduling cycle to the next."""

from builders import node

from dralang.scheduler.framework import Code, CycleState, Status
from dralang.scheduler.node_info import NodeInfo
from dralang.scheduler.verdicts import VerdictCache, Verdicts

FULL = Status(Code.UNSCHEDULABLE, "Too many pods")
OF_ITS_CLAIM = Status(Code.UNRESOLVABLE, "claim default/a: no", personal=True)
BROKEN = Status(Code.ERROR, "broken")


def infos(count):
    return [NodeInfo(node(f"n{index}")) for index in range(count)]


class Judge:
    """Says what it was told to say, and remembers who was judged."""

    def __init__(self, **refusals):
        self.refusals = refusals
        self.asked = []

    def __call__(self, info):
        self.asked.append(info.name)
        return self.refusals.get(info.name)


def test_a_node_is_judged_once():
    verdicts, judge = Verdicts(infos(3), CycleState()), Judge(n1=FULL)
    assert verdicts.walk(0, 3, judge, ()) == ([0, 2], [1])
    assert verdicts.walk(2, 3, judge, ()) == ([2, 0], [1])
    assert judge.asked == ["n0", "n1", "n2"]


def test_a_walk_ends_when_enough_fit():
    verdicts, judge = Verdicts(infos(4), CycleState()), Judge()
    assert verdicts.walk(3, 2, judge, ()) == ([3, 0], [])
    assert judge.asked == ["n3", "n0"]


def test_a_node_that_changed_is_judged_again():
    verdicts, judge = Verdicts(infos(2), CycleState()), Judge()
    verdicts.walk(0, 2, judge, ())
    verdicts.forget("n1")
    verdicts.forget("unknown")
    assert verdicts.walk(0, 2, Judge(n1=FULL), ()) == ([0], [1])


def test_where_others_are_nominated_nothing_is_kept():
    verdicts = Verdicts(infos(2), CycleState())
    assert verdicts.walk(0, 2, Judge(n0=FULL), ["n0", "unknown"]) == ([1], [0])
    assert verdicts.walk(0, 2, Judge(), ()) == ([0, 1], [])


def test_a_refusal_that_names_the_pods_own_claim_is_not_kept():
    verdicts, judge = Verdicts(infos(1), CycleState()), Judge(n0=OF_ITS_CLAIM)
    assert verdicts.walk(0, 1, judge, ()) == ([], [0])
    assert verdicts.walk(0, 1, judge, ()) == ([], [0])
    assert judge.asked == ["n0", "n0"]


def test_an_error_ends_the_walk():
    verdicts = Verdicts(infos(2), CycleState())
    assert verdicts.walk(0, 2, Judge(n0=BROKEN), ()) is BROKEN


def test_the_cache_starts_anew_when_the_nodes_are_others():
    cache, nodes = VerdictCache(), infos(2)
    first = cache.of("x", nodes, CycleState())
    assert cache.of("x", nodes, CycleState()) is first
    assert cache.of("x", list(nodes), CycleState()) is not first
    cache.forget_all()
    assert cache.of("x", nodes, CycleState()) is not first


def test_the_cache_keeps_the_most_recent_signatures():
    cache, nodes = VerdictCache(), infos(1)
    kept = cache.of(0, nodes, CycleState())
    for signature in range(1, cache.MOST):
        cache.of(signature, nodes, CycleState())
    assert cache.of(0, nodes, CycleState()) is kept
    cache.of("new", nodes, CycleState())
    assert cache.of(0, nodes, CycleState()) is kept
