"""What is recorded for information of a real API server's answers to write requests."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dralang.api.replay import replay_validation
from dralang.cel.admission import admission_checker

FOLDER = Path(__file__).parent


def cases(name: str) -> Iterator[dict[str, Any]]:
    for line in gzip.decompress((FOLDER / name).read_bytes()).decode().splitlines():
        yield json.loads(line)


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
