"""What is recorded beside the verdicts of Kubernetes' CEL environment: texts and costs; and both evaluators on it."""

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dralang.api.expressions import ExpressionError
from dralang.cel.device import prepare_for
from dralang.cel.environment import Environment
from dralang.cel.evaluate import EvaluationError, as_attribute, as_bool, interpret
from dralang.cel.expressions import CelExpressions
from dralang.cel.issues import CompileError
from dralang.cel.program import compile_expression
from dralang.cel.replay import device_of, environment_of, replay_cel

FOLDER = Path(__file__).parent
FILES = ("cel-vectors", "cel-random", "cel-manifests")
VERSIONS = ("1.36", "1.37", "1.38")


@cache
def cases(name: str) -> tuple[dict, ...]:
    text = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode()
    return tuple(json.loads(line) for line in text.splitlines())


def all_cases() -> Iterator[dict]:
    for name in FILES:
        yield from cases(name)


def test_the_whole_text_of_every_compile_error_is_as_recorded():
    wanted = {case["id"]: case["want"]["compile"] for case in all_cases() if "compile" in case["want"]}
    assert {case["id"]: replay_cel(case)["compile"] for case in all_cases() if case["id"] in wanted} == wanted


def test_what_an_evaluation_costs_is_as_recorded_but_where_the_order_of_go_maps_counts():
    differing = [
        case["id"]
        for case in all_cases()
        if "runtimeCost" in case["want"] and replay_cel(case)["runtimeCost"] != case["want"]["runtimeCost"]
    ]
    assert len(differing) <= 2


@cache
def expressions(environment: Environment) -> CelExpressions:
    return CelExpressions(environment)


def by_generated_code(case, version):
    known = expressions(environment_of(case, version))
    device = known.prepare(case["driver"], device_of(case["device"]))
    try:
        if case["purpose"] == "selector":
            return known.selector(case["expression"])(device)
        return known.derived(case["expression"])(device)
    except ExpressionError as problem:
        return problem.message


def by_interpreter(case, version):
    environment = environment_of(case, version)
    convert = as_bool if case["purpose"] == "selector" else as_attribute
    try:
        compiled = compile_expression(case["expression"], environment, case["purpose"])
        return convert(interpret(compiled, prepare_for(environment, case["driver"], device_of(case["device"])))[0])
    except (CompileError, EvaluationError) as problem:
        return problem.message


@pytest.mark.parametrize("version", ["1.34", "1.35", *VERSIONS])
def test_generated_code_and_interpreter_say_the_same(version):
    differing = {
        case["id"]: (generated, interpreted)
        for case in all_cases()
        if (generated := by_generated_code(case, version)) != (interpreted := by_interpreter(case, version))
    }
    assert differing == {}


def test_nothing_is_printed(capfd):
    for case in cases("cel-vectors"):
        replay_cel(case)
    assert capfd.readouterr() == ("", "")
