"""Every recorded answer of real Kubernetes, in every version that was asked, through what `dralang conform` uses."""

from pathlib import Path

import pytest

from dralang.conform.cases import find_case_files, read_cases
from dralang.conform.replay import Replayer
from dralang.diagnostics.diagnostic import DiagnosticLog

FOLDER = Path(__file__).parent
RECORDED = {
    "allocation-1.34.jsonl.gz": {"1.34": 116},
    "allocation-1.35.jsonl.gz": {"1.35": 129},
    "allocation-corner.jsonl.gz": {"1.37": 181, "1.38": 181},
    "allocation-hard.jsonl.gz": {"1.37": 33},
    "allocation-random-alpha.jsonl.gz": {"1.37": 319, "1.38": 319},
    "allocation-random.jsonl.gz": {"1.36": 320, "1.37": 320, "1.38": 320},
    "cel-manifests.jsonl.gz": {"1.37": 174, "1.38": 174},
    "cel-random.jsonl.gz": {"1.36": 799, "1.37": 1000, "1.38": 1000},
    "cel-vectors.jsonl.gz": {"1.36": 524, "1.37": 528, "1.38": 524},
    "scheduling-live.jsonl.gz": {"1.37": 13},
    "scheduling-random.jsonl.gz": {"1.37": 162},
    "scheduling.jsonl.gz": {"1.37": 226},
    "validation-live.jsonl.gz": {"1.37": 215},
    "validation-manifests.jsonl.gz": {"1.37": 240},
    "validation.jsonl.gz": {"1.37": 2012},
}
"""How many answers each file holds for each version."""
OTHER_TEXTS = {("cel-random.jsonl.gz", "1.36"): 3, ("cel-random.jsonl.gz", "1.38"): 11}
"""How many messages of expressions read differently; fewer than one in twenty, and it only ever gets less."""


def test_the_data_is_all_there():
    assert {path.name for path in find_case_files(FOLDER)} == set(RECORDED)


@pytest.mark.parametrize("name", RECORDED)
def test_every_answer_is_the_recorded_one(name):
    log = DiagnosticLog()
    cases = list(read_cases(FOLDER / name, name, log))
    assert log.sorted() == []
    for version, count in RECORDED[name].items():
        replayer = Replayer(version)
        answered = [replayer.replay(case) for case in cases]
        assert [f"{each.case.id}: {each.difference}" for each in answered if each.verdict == "failed"] == []
        assert sum(each.verdict == "passed" for each in answered) == count
        checks = [check for each in answered for check in each.texts]
        other = sum(not check.equal for check in checks)
        assert other <= OTHER_TEXTS.get((name, version), 0)
        assert other <= len(checks) / 20


@pytest.mark.parametrize("name", RECORDED)
def test_no_version_is_left_out(name):
    asked = {version for case in read_cases(FOLDER / name, name, DiagnosticLog()) for version in case.data["versions"]}
    assert asked == set(RECORDED[name])
