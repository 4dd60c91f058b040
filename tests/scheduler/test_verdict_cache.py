"""Verdicts that are kept from one scheduling cycle to the next."""

import random

import pytest
from builders import node
from counts import count

from dralang.scheduler.cycle import first_of_heap
from dralang.scheduler.framework import Code, CycleState, NodeStatuses, Status
from dralang.scheduler.node_info import NodeInfo
from dralang.scheduler.verdicts import VerdictCache, Verdicts

FULL = Status(Code.UNSCHEDULABLE, "Too many pods")
OTHER = Status(Code.UNRESOLVABLE, "node(s) were unschedulable", plugin="NodeUnschedulable")
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


def found(verdicts, start, wanted, judge, passing=()):
    walked = verdicts.walk(start, wanted, judge, passing)
    return walked.fitting, walked.visited


def reasons(walked):
    return walked.failure.summary(len(walked.failure.own)) if walked.failure is not None else None


def test_a_node_is_judged_once():
    verdicts, judge = Verdicts(infos(3), CycleState()), Judge(n1=FULL)
    assert found(verdicts, 0, 3, judge) == ([0, 2], 3)
    assert found(verdicts, 2, 3, judge) == ([2, 0], 3)
    assert judge.asked == ["n0", "n1", "n2"]


def test_a_walk_ends_when_enough_fit():
    verdicts, judge = Verdicts(infos(4), CycleState()), Judge()
    assert found(verdicts, 3, 2, judge) == ([3, 0], 2)
    assert judge.asked == ["n3", "n0"]


def test_a_node_that_changed_is_judged_again():
    verdicts, judge = Verdicts(infos(2), CycleState()), Judge()
    found(verdicts, 0, 2, judge)
    verdicts.forget("n1")
    verdicts.forget("unknown")
    assert found(verdicts, 0, 2, Judge(n1=FULL)) == ([0], 2)


def test_where_others_are_nominated_nothing_is_kept():
    verdicts = Verdicts(infos(2), CycleState())
    assert found(verdicts, 0, 2, Judge(n0=FULL), ["n0", "unknown"]) == ([1], 2)
    assert found(verdicts, 0, 2, Judge()) == ([0, 1], 2)


def test_a_refusal_that_names_the_pods_own_claim_is_not_kept():
    verdicts, judge = Verdicts(infos(1), CycleState()), Judge(n0=OF_ITS_CLAIM)
    assert reasons(verdicts.walk(0, 1, judge, ())) == "1 claim default/a: no"
    assert reasons(verdicts.walk(0, 1, judge, ())) == "1 claim default/a: no"
    assert judge.asked == ["n0", "n0"]


def test_an_error_ends_the_walk():
    verdicts = Verdicts(infos(2), CycleState())
    assert verdicts.walk(0, 2, Judge(n0=BROKEN), ()) is BROKEN


def test_what_was_found_stays_true_when_nodes_change():
    verdicts = Verdicts(infos(2), CycleState())
    before = verdicts.walk(0, 2, Judge(n0=FULL, n1=OTHER), ())
    verdicts.forget("n1")
    after = verdicts.walk(0, 2, Judge(n0=FULL, n1=FULL), ())
    assert reasons(before) == "1 Too many pods, 1 node(s) were unschedulable"
    assert reasons(after) == "2 Too many pods"
    assert before.failure.plugins == {"", "NodeUnschedulable"}
    assert before.failure.any_is(Code.UNRESOLVABLE)


def test_the_same_reasons_are_the_same_object():
    verdicts = Verdicts(infos(1), CycleState())
    first = verdicts.walk(0, 1, Judge(n0=FULL), ())
    assert verdicts.walk(0, 1, Judge(n0=FULL), ()).failure is first.failure


def test_a_score_is_kept_until_its_node_changes():
    verdicts = Verdicts(infos(2), CycleState())
    verdicts.walk(0, 2, Judge(), ())
    verdicts.set_score(0, 10)
    verdicts.set_score(1, 20)
    assert verdicts.walk(1, 2, Judge(), ()).scores == [20, 10]
    verdicts.forget("n0")
    verdicts.set_score(0, 30)
    assert verdicts.walk(1, 2, Judge(), ()).scores == [20, None]


@pytest.mark.parametrize("seed", range(count(100, 2_000)))
def test_walks_find_what_a_search_of_all_nodes_finds(seed):
    chance = random.Random(seed)
    number = chance.randint(2, 30)
    nodes = infos(number)
    verdicts, answers = Verdicts(nodes, CycleState()), {}
    choices = [None, FULL, OTHER, OF_ITS_CLAIM] if chance.random() < 0.5 else [None, FULL]
    for _ in range(60):
        for node_ in chance.sample(nodes, chance.randint(0, 2)):
            answers[node_.name] = chance.choice(choices)
            verdicts.forget(node_.name)
        start, wanted = chance.randrange(number), chance.randint(1, number)
        passing = [chance.choice(nodes).name] if chance.random() < 0.2 else []
        fitting, refused = [], {}
        for position in (*range(start, number), *range(start)):
            status = answers.get(nodes[position].name)
            if status is not None:
                refused[nodes[position].name] = status
                continue
            fitting.append(position)
            if len(fitting) == wanted:
                break
        walked = verdicts.walk(start, wanted, Judge(**answers), passing)
        assert (walked.fitting, walked.visited) == (fitting, len(fitting) + len(refused))
        if fitting:
            assert walked.failure is None
            # The score of a node is whatever was computed since it changed: here its position.
            assert all(score in (None, position) for score, position in zip(walked.scores, fitting, strict=True))
            for position in fitting:
                verdicts.set_score(position, position)
        else:
            assert walked.failure.own == refused
            plain = NodeStatuses()
            plain.own.update(refused)
            assert walked.failure.summary(number) == plain.summary(number)
            assert walked.failure.plugins == plain.plugins
            assert all(walked.failure.any_is(code) == plain.any_is(code) for code in Code)


@pytest.mark.parametrize("seed", range(count(50, 1_000)))
def test_the_best_is_the_root_of_a_heap(seed):
    chance = random.Random(seed)
    for _ in range(20):
        scores = [chance.randint(0, 4) for _ in range(chance.randint(1, 40))]
        assert first_of_heap(scores) == root_of_heap(scores)


def root_of_heap(scores):
    """Go's container/heap Init on indices, best score first."""
    order = list(range(len(scores)))
    for top in range(len(order) // 2 - 1, -1, -1):
        parent = top
        while (child := 2 * parent + 1) < len(order):
            if child + 1 < len(order) and scores[order[child + 1]] > scores[order[child]]:
                child += 1
            if scores[order[child]] <= scores[order[parent]]:
                break
            order[parent], order[child] = order[child], order[parent]
            parent = child
    return order[0]


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
