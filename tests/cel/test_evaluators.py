"""Three evaluators, one answer: generated code, the interpreter and cel-python."""

import gzip
import json
from pathlib import Path

import pytest
from cel_strategies import devices, selectors
from counts import count
from hypothesis import HealthCheck, given, settings

from dralang.api.expressions import ExpressionError
from dralang.cel.environment import Environment
from dralang.cel.evaluate import EvaluationError, as_bool, interpret, measured_cost
from dralang.cel.expressions import CelExpressions
from dralang.cel.issues import CompileError
from dralang.cel.program import compile_expression
from dralang.cel.reference import ReferenceExpressions, unsound_for
from dralang.cel.replay import device_of, environment_of

VECTORS = Path(__file__).parent.parent / "conformance" / "cel-vectors.jsonl.gz"
DRIVER = "d.example.com"
PANIC = "internal error: runtime error: hash of unhashable type cel.Semver"
# What cel-python cannot judge: optionals, cel.bind, two-variable macros, functions with a namespace (sets.contains),
# odd literals, and conditions that are no bools. `unsound_for` has the whole list.
LEAST_ADMITTED = 0.85


@pytest.fixture(scope="module")
def ours():
    return CelExpressions()


@pytest.fixture(scope="module")
def reference():
    return ReferenceExpressions()


def answer(expressions, text, device):
    """Verdict or message; None if it does not compile."""
    try:
        selector = expressions.selector(text)
    except ExpressionError:
        return None
    try:
        return selector(expressions.prepare(DRIVER, device))
    except ExpressionError as problem:
        return problem.message


def interpreted(text, prepared):
    try:
        return as_bool(interpret(compile_expression(text, Environment()), prepared)[0])
    except CompileError:
        return None
    except EvaluationError as problem:
        return problem.message


@settings(
    max_examples=count(1_000, 20_000),
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(selectors(), devices())
def test_the_evaluators_agree_and_the_estimated_cost_is_an_upper_bound(ours, reference, text, device):
    mine = answer(ours, text, device)
    prepared = ours.prepare(DRIVER, device)
    assert mine == interpreted(text, prepared)
    if mine is None:
        return
    compiled = compile_expression(text, Environment())
    cost = measured_cost(compiled, prepared)
    # An evaluation that fails may cost more: an error has the size 1, where the estimate knows a size of 0.
    assert isinstance(mine, str) or (cost is not None and cost <= compiled.cost)
    # cel-go panics where a version is looked for in a list of constants; nothing absorbs that, and only we do the same.
    if not unsound_for(compiled) and mine != PANIC:
        other = answer(reference, text, device)
        assert other is not None
        assert mine == other or (isinstance(mine, str) and isinstance(other, str))


def vectors():
    return [json.loads(line) for line in gzip.decompress(VECTORS.read_bytes()).decode().splitlines()]


def test_cel_python_is_a_judge_of_most_recorded_expressions():
    admitted = 0
    cases = vectors()
    for case in cases:
        try:
            compiled = compile_expression(case["expression"], environment_of(case), case["purpose"])
        except CompileError:
            # Whether it compiles is decided by the same checker.
            admitted += 1
            continue
        admitted += not unsound_for(compiled)
    assert admitted >= LEAST_ADMITTED * len(cases)


def test_cel_python_answers_the_recorded_expressions_as_kubernetes_does():
    known: dict = {}
    wrong = {}
    for case in vectors():
        environment = environment_of(case)
        if case["purpose"] != "selector" or "compile" in case["want"]:
            continue
        if unsound_for(compile_expression(case["expression"], environment)):
            continue
        expressions = known.setdefault(environment, ReferenceExpressions(environment))
        try:
            given_answer = expressions.selector(case["expression"])(
                expressions.prepare(case["driver"], device_of(case["device"]))
            )
        except ExpressionError:
            given_answer = "error"
        if given_answer != ("error" if "error" in case["want"] else case["want"]["result"]):
            wrong[case["id"]] = given_answer
    assert wrong == {}
