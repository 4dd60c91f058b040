"""What a real control plane did, step by step: recorded cases, played again."""

import gzip
import json
from copy import deepcopy
from pathlib import Path

import pytest

from dralang.run.replay import replay_scheduling

DATA = Path(__file__).resolve().parent.parent / "conformance"


def load(name):
    with gzip.open(DATA / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


CASES = {case["id"]: case for name in ("scheduling.jsonl.gz", "scheduling-random.jsonl.gz") for case in load(name)}


def comparable(state):
    """The state without the messages that need not be equal: all but those of PodScheduled."""
    state = deepcopy(state)
    for found in (entry for kind in state.values() for entry in kind.values() if entry):
        conditions = list(found.get("conditions", {}).values())
        for device in found.get("devices", ()):
            conditions += device["conditions"].values()
        for condition in conditions:
            del condition["message"]
    return state


def test_the_recordings_are_all_there():
    assert len(CASES) == 388


@pytest.mark.parametrize("id_", sorted(CASES))
def test_every_state_is_the_recorded_one(id_):
    case = CASES[id_]
    for number, (want, found) in enumerate(zip(case["want"], replay_scheduling(case), strict=True)):
        assert comparable(found) == comparable(want), f"after step {number}"
