"""The expressions of the allocator: compiled once, evaluated on prepared devices, with Kubernetes' errors."""

import pytest

from dralang.api.expressions import ExpressionError
from dralang.api.resourceslice import Device, DeviceAttribute, DeviceCapacity
from dralang.cel.expressions import CelExpressions
from dralang.values.quantity import parse_quantity

GPU = Device(
    name="gpu-0",
    attributes={
        "model": DeviceAttribute(string="a100"),
        "index": DeviceAttribute(int_=0),
        "version": DeviceAttribute(version="1.2.3"),
        "nics": DeviceAttribute(strings=("a", "b")),
        "other.example.com/x": DeviceAttribute(bool_=True),
    },
    capacity={"memory": DeviceCapacity(value=parse_quantity("40Gi"))},
)

VERDICTS = {
    "the driver is the domain of names without one": ('device.attributes["gpu.example.com"].model == "a100"', True),
    "another domain": ('device.attributes["other.example.com"].x', True),
    "an unknown domain has no attributes": ('has(device.attributes["nope"].x)', False),
    "an int is never a bool": ('device.attributes["gpu.example.com"].index == false', False),
    "capacities compare by amount": (
        'device.capacity["gpu.example.com"].memory.compareTo(quantity("40960Mi")) == 0',
        True,
    ),
    "versions compare by precedence": (
        'device.attributes["gpu.example.com"].version.isGreaterThan(semver("1.2.3-rc.1"))',
        True,
    ),
    "lists have macros": ('device.attributes["gpu.example.com"].nics.exists(n, n == "b")', True),
    "an error on the left is absorbed": ('device.attributes["gpu.example.com"].nope == 1 || true', True),
}


@pytest.mark.parametrize(("expression", "verdict"), VERDICTS.values(), ids=VERDICTS.keys())
def test_selector_gives_the_verdict(expression, verdict):
    expressions = CelExpressions()
    assert expressions.selector(expression)(expressions.prepare("gpu.example.com", GPU)) is verdict


def test_the_same_text_is_compiled_once():
    expressions = CelExpressions()
    assert expressions.selector("true") is expressions.selector("true")
    assert expressions.derived("1") is expressions.derived("1")


def test_a_selector_that_does_not_compile_says_why_each_time():
    expressions = CelExpressions()
    for _ in range(2):
        with pytest.raises(ExpressionError) as caught:
            expressions.selector("device.name == 'x'")
        assert caught.value.phase == "compile"
        assert caught.value.message.startswith("compilation failed: ERROR: <input>:1:7: undefined field 'name'\n")


def test_a_missing_attribute_is_a_runtime_error():
    expressions = CelExpressions()
    with pytest.raises(ExpressionError) as caught:
        expressions.selector('device.attributes["d"].x == 1')(expressions.prepare("d", GPU))
    assert (caught.value.phase, caught.value.message) == ("runtime", "no such key: x")


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (DeviceAttribute(), "attribute bad: unsupported attribute value"),
        (
            DeviceAttribute(version="1"),
            "attribute bad: parse semantic version: No Major.Minor.Patch elements found",
        ),
    ],
)
def test_a_device_that_kubernetes_cannot_convert_fails_every_evaluation(attribute, message):
    expressions = CelExpressions()
    device = expressions.prepare("d", Device(name="d", attributes={"bad": attribute}))
    with pytest.raises(ExpressionError) as caught:
        expressions.selector("true")(device)
    assert caught.value.message == message


def test_a_derived_attribute_is_typed():
    expressions = CelExpressions()
    device = expressions.prepare("gpu.example.com", GPU)
    derive = expressions.derived('device.attributes["gpu.example.com"].version')
    assert derive(device) == DeviceAttribute(version="1.2.3")
    assert expressions.derived("[1, 2]")(device) == DeviceAttribute(ints=(1, 2))
    with pytest.raises(ExpressionError):
        expressions.derived("1.5")
