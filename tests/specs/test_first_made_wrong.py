"""The first spec with one line made wrong: the tool says what is wrong, in which line, and what is the case instead."""

from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.run.player import play
from dralang.run.workshop import Workshop

FIRST = (Path(__file__).resolve().parents[2] / "specs" / "first.dra").read_text().splitlines()
NOT_ALLOCATED = "0/1 nodes are available: 1 cannot allocate all claims."
NO_KEY = "CEL runtime error: no such key: model"

# What is wrong: (the line, what stands there instead, code, where it is reported, a text of the report).
REFUSED = {
    "a version that no release has": (2, "kubernetes 1.73", "DRA0214", 2, "`1.73` is no Kubernetes version"),
    "a version with a v": (2, "kubernetes v1.37", "DRA0214", 2, "did you mean `1.37`?"),
    "the node has another name": (4, "node worker-2", "DRA0201", 8, "did you mean `worker-2`?"),
    "the keyword of the slice is misspelt": (6, "slise worker-1-gpus {", "DRA0113", 6, "did you mean `slice`?"),
    "the driver's field is misspelt": (7, "  drivr: gpu.example.com", "DRA0301", 7, "did you mean `driver`?"),
    "the slice is of a node that does not exist": (8, "  nodeName: worker-l", "DRA0201", 8, "did you mean `worker-1`?"),
    "the device has another name": (9, "  device gpu-1 {", "DRA0201", 29, "did you mean `gpu-1`?"),
    "the keyword of the device is misspelt": (9, "  devise gpu-0 {", "DRA0113", 9, "did you mean `device`?"),
    "a version attribute without its v": (
        10,
        '    attributes { model: "a100", driverVersion: 1.2.3 }',
        "DRA0302",
        10,
        "a version is written with `v` and three numbers",
    ),
    "the field of the capacity is misspelt": (
        11,
        "    capacty { memory: 80Gi }",
        "DRA0301",
        11,
        "did you mean `capacity`?",
    ),
    "the amount is no quantity": (11, "    capacity { memory: 80Gb }", "DRA0303", 11, "`80Gb` is not a quantity"),
    "CEL in quotes": (16, "  where \"device.driver == 'gpu.example.com'\"", "DRA0121", 16, "between backticks"),
    "the class does not exist": (
        20,
        "  request gpu: 1 of gpu.example.net",
        "DRA0201",
        20,
        "did you mean `gpu.example.com`?",
    ),
    "the request has no count": (20, "  request gpu: of gpu.example.com", "DRA0110", 20, "`of`"),
    "the template does not exist": (
        23,
        "pod train { claim gpu from one-gpus }",
        "DRA0201",
        23,
        "did you mean `one-gpu`?",
    ),
    "the pod has another name": (23, "pod trian { claim gpu from one-gpu }", "DRA0201", 27, "did you mean `trian`?"),
    "the action is misspelt": (27, "  creat train", "DRA0113", 27, "did you mean `create`?"),
    "the node that is expected does not exist": (
        29,
        "  expect train runs on worker-2 with gpu-0",
        "DRA0201",
        29,
        "did you mean `worker-1`?",
    ),
    "the device that is expected does not exist": (
        29,
        "  expect train runs on worker-1 with gpu-1",
        "DRA0201",
        29,
        "did you mean `gpu-0`?",
    ),
    "the reason stands without its word": (
        30,
        '  expect serve is pending "cannot allocate all claims"',
        "DRA0302",
        30,
        'a reason is written `because "cannot allocate all claims"`',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_is_refused_where_it_is_wrong(case: str):
    line, text, code, reported, said = REFUSED[case]
    found = analysed(line, text).diagnostics
    first = next(each for each in found if each.severity == "error")
    assert (first.code, first.span.position.line) == (code, reported)
    assert said in f"{first.message} {first.help}"


# What is wrong: (the line, what stands there instead, the statement that fails first, what is the case).
FAILS = {
    "the slice is another driver's": (7, "  driver: gpus.example.com", 29, NOT_ALLOCATED),
    "the GPU is another model": (10, '    attributes { model: "h100", driverVersion: v1.2.3 }', 29, NOT_ALLOCATED),
    "the attribute has another name": (10, '    attributes { modle: "a100", driverVersion: v1.2.3 }', 29, NO_KEY),
    "the class wants another driver": (16, '  where `device.driver == "gpu.example.org"`', 29, NOT_ALLOCATED),
    "the template wants two GPUs": (
        20,
        '  request gpu: 2 of gpu.example.com where `device.attributes["gpu.example.com"].model == "a100"`',
        29,
        NOT_ALLOCATED,
    ),
    "the attribute is looked for in another domain": (
        20,
        '  request gpu: 1 of gpu.example.com where `device.attributes["gpu.example.net"].model == "a100"`',
        29,
        NO_KEY,
    ),
    "the second pod has no claim": (24, "pod serve", 30, "serve runs on worker-1"),
    "the first pod is not created": (27, "", 29, "train does not exist"),
    "the first pod is created twice": (28, "  create train", 28, 'AlreadyExists: pods "train" already exists'),
    "the wrong pod is expected to run": (29, "  expect serve runs on worker-1 with gpu-0", 29, NOT_ALLOCATED),
    "another reason is expected": (30, '  expect serve is pending because "Insufficient cpu"', 30, NOT_ALLOCATED),
    "no reason to wait is expected": (30, "  expect serve runs", 30, NOT_ALLOCATED),
    "nobody finishes": (32, "", 33, NOT_ALLOCATED),
    "the wrong pod finishes": (32, "  finish serve", 32, "only a pod on a node can finish"),
    "the pod that finished is expected to run": (
        33,
        "  expect train runs on worker-1 with gpu-0",
        33,
        "train has succeeded",
    ),
}


@pytest.mark.parametrize("case", FAILS)
def test_fails_at_the_statement_that_does_not_hold(case: str):
    line, text, failing, actual = FAILS[case]
    analysis = analysed(line, text)
    assert [each for each in analysis.diagnostics if each.severity == "error"] == []
    result = play(analysis.scenarios[0], Workshop())
    assert result.verdict == "failed"
    assert result.failures[0].span.position.line == failing
    assert actual in result.failures[0].actual


def test_unchanged_it_passes():
    analysis = analysed(1, FIRST[0])
    assert list(analysis.diagnostics) == []
    assert play(analysis.scenarios[0], Workshop()).verdict == "passed"


def analysed(line: int, text: str):
    lines = [*FIRST[: line - 1], text, *FIRST[line:]]
    return Analyzer().text(Path("first.dra"), "first.dra", ("\n".join(lines) + "\n").encode())
