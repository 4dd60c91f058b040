"""Problems on which we once differed from the real allocator, with its answers."""

import json
from pathlib import Path

import pytest
from real_allocator import expressions

from dralang.allocator.replay import replay_allocation

FOUND = sorted((Path(__file__).parent / "found").glob("*.json"))


def test_there_are_some():
    assert FOUND


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_the_answer_is_that_of_the_real_allocator(path):
    case = json.loads(path.read_text(encoding="utf-8"))
    given = replay_allocation(case, expressions)
    assert [(step["status"], step.get("allocations") or None) for step in given] == [
        (step["status"], step.get("allocations")) for step in case["want"]
    ]
