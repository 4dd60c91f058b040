"""Every recorded answer of Kubernetes' CEL environment for devices, in every version that was asked."""

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
from dralang.cel.replay import cel_difference, device_of, environment_of, recorded_answer, replay_cel

FOLDER = Path(__file__).parent
FILES = {"cel-vectors": 528, "cel-random": 1000, "cel-manifests": 174}
VERSIONS = ("1.36", "1.37", "1.38")
LEAST_EQUAL_TEXTS = 0.95


@cache
def cases(name: str) -> tuple[dict, ...]:
    text = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode()
    return tuple(json.loads(line) for line in text.splitlines())


def all_cases() -> Iterator[dict]:
    for name in FILES:
        yield from cases(name)


def test_the_records_are_complete():
    assert {name: len(cases(name)) for name in FILES} == FILES


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", FILES)
def test_verdict_cost_and_result_are_as_recorded(name, version):
    differences = {case["id"]: cel_difference(case, version) for case in cases(name)}
    assert {key: found for key, found in differences.items() if found is not None and not found.is_text} == {}


@pytest.mark.parametrize(("version", "allowed"), [("1.36", 3), ("1.37", 0), ("1.38", 11)])
def test_messages_read_as_recorded_but_for_a_known_few(version, allowed):
    asked = [case for case in all_cases() if recorded_answer(case, version) is not None]
    answers = [recorded_answer(case, version) or {} for case in asked]
    messages = sum("compile" in want or "error" in want for want in answers)
    differing = [case["id"] for case in asked if cel_difference(case, version) is not None]
    assert len(differing) <= allowed
    assert len(differing) <= (1 - LEAST_EQUAL_TEXTS) * messages


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
