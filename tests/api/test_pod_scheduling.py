"""What the API server of 1.37.2 said of pods whose words about scheduling it does not know, as recorded."""

import json
from pathlib import Path

import pytest

from dralang.api.admission import Accepted, AdmissionContext, WriteRequest, admit
from dralang.cel.admission import admission_checker
from dralang.features import FeatureGates

RECORDED = Path(__file__).with_name("pod-scheduling.jsonl")
CASES = [json.loads(line) for line in RECORDED.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: json.dumps(case["spec"])[:60])
def test_the_answer_is_the_recorded_one(case):
    gates = FeatureGates.resolve("1.37", {})
    context = AdmissionContext(gates, admission_checker(gates), "2026-01-31T12:00:00Z")
    spec = {"containers": [{"name": "c", "image": "x"}], **case["spec"]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "default"}, "spec": spec}
    answer = admit(WriteRequest("create", pod), context)
    causes = [] if isinstance(answer, Accepted) else [f"{cause.field}: {cause.message}" for cause in answer.causes]
    assert (f"[{', '.join(causes)}]" if len(causes) > 1 else "".join(causes)) == case["answer"]
