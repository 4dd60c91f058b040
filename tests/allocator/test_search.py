"""What the search skips changes nothing: compared with the same search that skips nothing."""

import pytest
from oracle.allocation_problems import random_problem, tight_problem
from problems_by_hand import expressions

from dralang.allocator import search
from dralang.allocator.hazards import Hazards
from dralang.allocator.replay import replay_allocation

NEWER = {
    "DRAFractionalCapacityRange",
    "DRAOptionalNodeOperations",
    "DRADerivedAttributes",
    "DRADeviceCompatibilityGroups",
    "DRAListTypeAttributes",
}
BUDGET = 20_000


def for_version(problem, version):
    known = {gate: on for gate, on in problem["featureGates"].items() if version >= "1.37" or gate not in NEWER}
    return {**problem, "kubernetes": version, "featureGates": known, "steps": problem["steps"][:1]}


def answer(problem):
    return replay_allocation(problem, expressions, budget=BUDGET)


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36", "1.37", "1.38"])
@pytest.mark.parametrize("draw", [random_problem, tight_problem], ids=["every feature", "long searches"])
def test_skipping_changes_no_answer(draw, version, monkeypatch):
    cases = [for_version(draw(seed), version) for seed in range(3000, 3080)]
    skipping = [answer(case) for case in cases]
    monkeypatch.setattr(search, "_EFFORT_BEFORE_SYMMETRY", 10**9)
    monkeypatch.setattr(search, "_EFFORT_BEFORE_PROBE", 10**9)
    monkeypatch.setattr(Hazards, "none", lambda self, first, last: False)
    compared = 0
    for case, given in zip(cases, skipping, strict=True):
        plain = answer(case)
        if plain[0]["status"] != "timeout":
            compared += 1
            assert given == plain, case["id"]
    assert compared > 40


def test_long_searches_stay_far_below_the_budget(monkeypatch):
    entries = []
    run = search.Search.run

    def counted(self):
        try:
            return run(self)
        finally:
            entries.append(self.entries)

    monkeypatch.setattr(search.Search, "run", counted)
    for seed in range(40):
        answer(for_version(tight_problem(seed), "1.37"))
    assert 100 < max(entries) < BUDGET
