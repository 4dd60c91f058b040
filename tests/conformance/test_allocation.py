"""Every recorded answer of the real allocator, in every version that was asked."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dralang.allocator.replay import allocation_difference, recorded_answer, replay_allocation
from dralang.cel.environment import Environment, parse_minor
from dralang.cel.expressions import CelExpressions

FOLDER = Path(__file__).parent
FILES = {
    "allocation-corner.jsonl.gz": (181, ("1.37", "1.38")),
    "allocation-hard.jsonl.gz": (33, ("1.37",)),
    "allocation-random.jsonl.gz": (320, ("1.36", "1.37", "1.38")),
    "allocation-random-alpha.jsonl.gz": (319, ("1.37", "1.38")),
    "allocation-1.35.jsonl.gz": (129, ("1.35",)),
    "allocation-1.34.jsonl.gz": (116, ("1.34",)),
}
# Pools are visited in random order by these; the recorded answer is of an order that comes up less often than ours.
OTHER_ORDER = {"v1.34-r201-00003", "v1.35-r201-00002", "v1.35-r201-00065", "v1.35-r201-00119"}


def cases(name: str) -> Iterator[dict]:
    for line in gzip.decompress((FOLDER / name).read_bytes()).decode().splitlines():
        yield json.loads(line)


@cache
def environment_expressions(version: str, lists: bool) -> CelExpressions:
    return CelExpressions(Environment(minor=parse_minor(version), lists=lists))


def expressions(profile):
    return environment_expressions(profile.version, profile.features.list_type_attributes)


@pytest.mark.parametrize(
    ("name", "version"), [(name, version) for name, (_, versions) in FILES.items() for version in versions]
)
def test_every_case_is_answered_as_recorded(name, version):
    played = 0
    differences = []
    for case in cases(name):
        assert recorded_answer(case, version) is not None
        played += 1
        difference = allocation_difference(case, expressions, version)
        if difference is not None:
            differences.append(f"{case['id']}: {difference}")
    assert played == FILES[name][0]
    assert differences == []


@pytest.mark.parametrize("name", ["allocation-1.34.jsonl.gz", "allocation-1.35.jsonl.gz"])
def test_the_likeliest_order_of_pools_gives_nearly_every_recorded_answer(name):
    others = set()
    for case in cases(name):
        given = replay_allocation(case, expressions)
        wanted = case["want"]
        if [(step["status"], step.get("allocations")) for step in given] != [
            (step["status"], step.get("allocations")) for step in wanted
        ]:
            others.add(case["id"])
    assert others == {case["id"] for case in cases(name)} & OTHER_ORDER


def test_messages_are_those_of_the_real_allocator():
    differences = []
    for name in ("allocation-corner.jsonl.gz", "allocation-random.jsonl.gz", "allocation-random-alpha.jsonl.gz"):
        for case in cases(name):
            given = replay_allocation(case, expressions)
            for step, want in zip(given, case["want"], strict=True):
                # The recording program words a missing class in its own way.
                message = want.get("message", "").replace(
                    'deviceclass "nope" not found', 'deviceclass.resource.k8s.io "nope" not found'
                )
                if step.get("message", "") != message:
                    differences.append((case["id"], message, step.get("message")))
    assert differences == []


def test_a_difference_is_found():
    case = next(case for case in cases("allocation-corner.jsonl.gz") if case["want"][0]["status"] == "allocated")
    changed = json.loads(json.dumps(case))
    allocation = next(iter(changed["want"][0]["allocations"].values()))
    allocation["devices"]["results"][0]["device"] = "another"
    assert allocation_difference(changed, expressions) == "step 0: other devices or fields are recorded"
    changed["want"][0]["status"] = "unallocatable"
    assert "status" in (allocation_difference(changed, expressions) or "")


def test_a_version_that_was_not_asked_has_no_difference():
    case = next(cases("allocation-hard.jsonl.gz"))
    assert recorded_answer(case, "1.36") is None
    assert allocation_difference(case, expressions, "1.36") is None


def test_the_hard_searches_end_far_below_the_budget():
    for case in cases("allocation-hard.jsonl.gz"):
        statuses = [step["status"] for step in replay_allocation(case, expressions, budget=1_000)]
        assert "timeout" not in statuses, case["id"]
