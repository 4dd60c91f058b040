"""What a real API server took or refused, used as a manifest: `check` says the same, with an error at a place."""

import json
from pathlib import Path
from typing import Any

import pytest

from dralang.api.kinds import KINDS
from dralang.check.analysis import Analyzer
from dralang.check.loading import load
from dralang.conform.cases import read_cases
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.scenario.model import Settings

FOLDER = Path(__file__).parent.parent / "conformance"
LEFT_TO_THE_RUN = {
    "note-038-admin-access-in-plain-namespace",
    "note-038b-admin-access-label-false",
    "note-039-template-admin-access",
    "note-082k-node-does-not-declare-the-feature",
    "note-082l-node-does-not-exist",
}
"""What depends on other objects."""
LOST_OWNERS = {
    "metadata-claim-owner-without-uid",
    "manifest:dranet/examples/aws_eks_examples/gpu-efa/resource-claim.yaml#0",
    "manifest:dranet/examples/aws_eks_examples/gpu-efa/resourceslice-gpu.yaml#0-0",
}
"""What a captured object may lack, see docs/decisions/admission.md."""
FILES = {"validation.jsonl.gz": 1_425, "validation-manifests.jsonl.gz": 217}


@pytest.mark.parametrize("name", FILES)
def test_manifests_are_taken_or_refused_as_recorded(name: str):
    asked = 0
    otherwise: set[str] = set()
    for case in read_cases(FOLDER / name, name, DiagnosticLog()):
        sent: dict[str, Any] = case.data["object"]
        if case.data["operation"] != "create" or sent.get("kind") not in KINDS:
            continue
        asked += 1
        analyzer = Analyzer(Settings(case.kubernetes, case.data["featureGates"], {}))
        loaded = load([], analyzer, json.dumps(sent).encode())
        errors = [item for item in loaded.diagnostics if item.severity == "error"]
        assert all(item.span is not None for item in errors), case.id
        if loaded.has_errors == case.data["want"]["accepted"]:
            otherwise.add(case.id)
    assert asked == FILES[name]
    assert otherwise == {
        id_ for id_ in LEFT_TO_THE_RUN | LOST_OWNERS if id_.startswith("manifest:") == ("manifests" in name)
    }
