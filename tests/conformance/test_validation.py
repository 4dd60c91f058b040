"""Every recorded answer of a real API server to a write request."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dralang.api.replay import replay_validation, validation_difference
from dralang.cel.admission import admission_checker

FOLDER = Path(__file__).parent
FILES = {"validation.jsonl.gz": 2012, "validation-manifests.jsonl.gz": 240}


def cases(name: str) -> Iterator[dict[str, Any]]:
    for line in gzip.decompress((FOLDER / name).read_bytes()).decode().splitlines():
        yield json.loads(line)


@pytest.mark.parametrize(("name", "count"), FILES.items())
def test_every_case_is_answered_as_recorded(name, count):
    played = 0
    differences = []
    for case in cases(name):
        played += 1
        difference = validation_difference(case, replay_validation(case, admission_checker))
        if difference is not None:
            differences.append(f"{case['id']}: {difference}")
    assert played == count
    assert differences == []


def example(wanted):
    return next(case for case in cases("validation.jsonl.gz") if case["want"]["accepted"] == wanted)


def test_a_difference_is_found():
    taken, refused = example(True), example(False)
    answer = replay_validation(taken, admission_checker)
    assert validation_difference(taken, answer) is None
    assert "accepted" in str(validation_difference(taken, {"accepted": False, "reason": "Invalid", "causes": []}))
    assert "stored.metadata.name" in str(
        validation_difference(taken, {**answer, "stored": {**answer["stored"], "metadata": {"name": "other"}}})
    )
    assert "stored.spec: recorded" in str(
        validation_difference(taken, {**answer, "stored": {**answer["stored"], "spec": None}})
    )
    answer = replay_validation(refused, admission_checker)
    assert validation_difference(refused, answer) is None
    assert "reason" in str(validation_difference(refused, {**answer, "reason": "Conflict"}))
    assert "causes" in str(
        validation_difference(refused, {**answer, "causes": [{"field": "x", "type": "y", "message": "z"}]})
    )


def test_texts_of_causes_are_those_of_the_server():
    """For information in the conformance data; the share only ever goes up."""
    same = total = 0
    for case in cases("validation.jsonl.gz"):
        causes = case["want"].get("causes") or []
        answered = {
            (cause["field"], cause["type"], cause["message"][:300])
            for cause in replay_validation(case, admission_checker).get("causes", [])
        }
        total += len(causes)
        same += sum((cause["field"], cause["type"], cause["message"][:300]) in answered for cause in causes)
    assert same / total > 0.97
