"""Explanations and lint of expressions."""

import pytest

from dralang.api.resourceslice import Device, DeviceAttribute, DeviceCapacity
from dralang.cel.environment import Environment
from dralang.cel.explain import explain, render
from dralang.cel.lint import lint
from dralang.cel.program import compile_expression
from dralang.values.quantity import parse_quantity

GPU = Device(
    name="gpu-0",
    attributes={
        "model": DeviceAttribute(string="A100"),
        "driverVersion": DeviceAttribute(version="1.2.3"),
        "healthy": DeviceAttribute(bool_=True),
        "numa.example.com/node": DeviceAttribute(int_=1),
    },
    capacity={"memory": DeviceCapacity(value=parse_quantity("40Gi"))},
)
DEVICES = [("gpu.example.com", GPU)]
MODEL = 'device.attributes["gpu.example.com"].model'
MEMORY = 'device.capacity["gpu.example.com"].memory'


def decisions(expression):
    (result,) = explain(expression, DEVICES).devices
    return {decision.text: decision.error or decision.value for decision in result.decisions}


def test_type_cost_and_readings():
    explanation = explain(f'{MODEL} == "A100" && {MEMORY}.compareTo(quantity("80Gi")) >= 0')
    assert (explanation.type, explanation.cost, explanation.too_costly) == ("bool", 12, False)
    assert [reading.text for reading in explanation.readings] == [MODEL, MEMORY]


def test_of_a_conjunction_the_first_false_part_decides():
    found = decisions(f'{MODEL} == "A100" && ({MEMORY}.isLessThan(quantity("1Gi")) && {MODEL} == "x")')
    assert found == {f'{MEMORY}.isLessThan(quantity("1Gi"))': "false"}


def test_of_a_disjunction_every_part_decides():
    found = decisions(f'{MODEL} == "H100" || !({MODEL} == "A100")')
    assert found == {f'{MODEL} == "H100"': "false", f'{MODEL} == "A100"': "true"}


def test_of_a_conditional_the_chosen_branch_decides():
    assert decisions(f'{MODEL} == "A100" ? {MODEL} == "a" : {MODEL} == "b"') == {f'{MODEL} == "a"': "false"}


def test_the_failing_part_decides_a_failure():
    missing = 'device.attributes["gpu.example.com"].missing'
    assert decisions(f"{missing} == 1 && {MODEL} == 'A100'") == {f"{missing} == 1": "no such key: missing"}


def test_a_true_result_needs_no_reason():
    (result,) = explain(f'{MODEL} == "A100"', DEVICES).devices
    assert (result.matches, result.decisions) == (True, ())


@pytest.mark.parametrize(
    ("expression", "readings"),
    [
        ('has(device.attributes["a.b"].c)', [('device.attributes["a.b"].c', True)]),
        ('device.attributes["a.b"].?c.orValue(true)', [('device.attributes["a.b"].c', True)]),
        ('"c" in device.attributes["a.b"]', [('device.attributes["a.b"].c', True)]),
        ('cel.bind(x, device.attributes["a.b"], x.c && x.d)', None),
        ('["q"].all(x, device.capacity["a.b"][x].isInteger())', [('device.capacity["a.b"]', False)]),
        ("device.allowMultipleAllocations", [("device.allowMultipleAllocations", False)]),
        ('device.attributes["a.b"]["c-d"] == 1', [('device.attributes["a.b"]["c-d"]', False)]),
        ("true", []),
    ],
)
def test_readings(expression, readings):
    wanted = readings
    if wanted is None:
        wanted = [('device.attributes["a.b"].c', False), ('device.attributes["a.b"].d', False)]
    assert [(reading.text, reading.guarded) for reading in explain(expression).readings] == wanted


def test_rendered_for_people():
    lines = render(explain(f'device.driver == "gpu.example.com" && {MODEL} == "H100"', DEVICES))
    assert lines == [
        "type: bool",
        "cost: 9 (limit 1000000)",
        f"reads: {MODEL}",
        "       device.driver",
        "gpu.example.com/gpu-0: does not match",
        f'  `{MODEL} == "H100"` is false',
        f'    {MODEL} is "A100"',
    ]


def test_a_compile_error_is_rendered_as_kubernetes_words_it():
    explanation = explain("device.nope")
    assert [issue.offset for issue in explanation.issues] == [6]
    assert render(explanation) == [
        "compilation failed: ERROR: <input>:1:7: undefined field 'nope'",
        " | device.nope",
        " | ......^",
    ]


def test_a_derived_attribute_shows_its_value():
    (result,) = explain('device.attributes["gpu.example.com"].driverVersion', DEVICES, purpose="derived").devices
    assert (result.matches, result.attribute) == (None, "version 1.2.3")


@pytest.mark.parametrize(
    ("expression", "codes"),
    [
        ('device.driver == "x" || true', ["always-true"]),
        ("1 == 2", ["always-false"]),
        ('device.driver == "x" && !(1 < 2)', ["always-false"]),
        ('device.attributes["gpu.example.com"].driverVersion == "1.2.3"', ["compares-kinds"]),
        (f'device.driver == "gpu.example.com" && {MODEL} == quantity("1Gi")', ["compares-kinds"]),
        ('device.attributes["gpu.example.com"].missing == 1', ["unguarded"]),
        ('has(device.attributes["gpu.example.com"].missing) && device.attributes["gpu.example.com"].missing == 1', []),
        (f'{MODEL} == "A100"', []),
        ('device.attributes["numa.example.com"].node == 1', []),
    ],
)
def test_lint(expression, codes):
    assert [finding.code for finding in lint(compile_expression(expression, Environment()), DEVICES)] == codes


def test_lint_says_how_to_write_it():
    compiled = compile_expression('device.attributes["gpu.example.com"].driverVersion == "1.2.3"', Environment())
    (finding,) = lint(compiled, DEVICES)
    assert finding.help == "write the other side as `semver(...)`"
    assert finding.device == "gpu.example.com/gpu-0"
