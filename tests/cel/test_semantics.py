"""What expressions mean: the corners in which Kubernetes differs from what one expects."""

import time

import pytest

from dralang.api.expressions import ExpressionError
from dralang.api.resourceslice import Device, DeviceAttribute, DeviceCapacity
from dralang.cel.environment import Environment
from dralang.cel.evaluate import EvaluationError, interpret
from dralang.cel.expressions import CelExpressions
from dralang.cel.program import compile_expression
from dralang.values.quantity import parse_quantity

DEVICE = Device(
    name="d",
    attributes={
        "s": DeviceAttribute(string="numa0-pcie1"),
        "i": DeviceAttribute(int_=7),
        "one": DeviceAttribute(int_=1),
        "big": DeviceAttribute(int_=2**63 - 1),
        "b": DeviceAttribute(bool_=True),
        "v": DeviceAttribute(version="1.2.3-rc.1"),
        "ss": DeviceAttribute(strings=("a", "b", "c")),
        "is": DeviceAttribute(ints=(3, 1, 2)),
        "vs": DeviceAttribute(versions=("1.0.0", "2.0.0")),
        "bs": DeviceAttribute(bools=(True, False)),
    },
    capacity={"m": DeviceCapacity(value=parse_quantity("40Gi")), "h": DeviceCapacity(value=parse_quantity("500m"))},
)
A = 'device.attributes["d.com"]'
C = 'device.capacity["d.com"]'

VERDICTS = {
    # Equality and order of values of different types
    "A.i == 7.0": True,
    "A.i == 7u": True,
    "A.b == 1": False,
    'A.i == "7"': False,
    'A.i != "7"': True,
    "A.i < 7.5": True,
    'A.i < "a"': "no such overload",
    'A.v == "1.2.3-rc.1"': "no such overload",
    '"1.2.3-rc.1" == A.v': False,
    'A.v != "x"': True,
    "[1, 2.0, 3u] == [1u, 2, 3.0]": None,
    "A.is == [3, 1, 2]": True,
    "double(0)/0.0 != double(0)/0.0": True,
    # Integers
    "A.big + 1 > 0": "integer overflow",
    "-(-9223372036854775808) > 0": "integer overflow",
    "A.i / (A.one - 1) == 0": "division by zero",
    "A.i % -4 == 3": True,
    "-A.i / 2 == -3": True,
    "uint(A.i) - 8u == 0u": "unsigned integer overflow",
    # Logic absorbs errors and other types
    "A.nope || true": True,
    "true || A.nope": True,
    "A.nope && false": False,
    "A.i && false": False,
    "A.nope || false": "no such key: nope",
    "A.s ? true : false": "no such overload",
    # Presence
    "has(A.nope)": False,
    "has(device.attributes.zz)": True,
    '"zz" in device.attributes': False,
    'device.attributes["zz"].size() == 0': True,
    "A.?nope.orValue(true)": True,
    "A.?i.hasValue()": True,
    'A[?"nope"].optMap(x, x == 1).orValue(false)': False,
    # Lists and macros
    "A.ss[3] == 'a'": "index out of bounds: 3",
    "A.ss.exists(x, x == 'b')": True,
    "A.ss.all(x, x < 'd')": True,
    "A.is.exists_one(x, x > 2)": True,
    "A.is.map(x, x * 2).sum() == 12": True,
    "A.is.map(x, x > 1, x).size() == 2": True,
    "A.is.filter(x, x > 1) == [3, 2]": True,
    "A.is.sort() == [1, 2, 3]": True,
    "A.ss.sort()[0] == 'a'": True,
    "A.is.exists(i, v, i == 2 && v == 2)": True,
    "A.is.transformList(i, v, i + v) == [3, 2, 4]": True,
    "A.s.exists(x, x == 'n')": "got 'types.String', expected iterable type",
    "[1, 2, 3].includes(2.0)": True,
    "A.s.includes('numa0-pcie1')": True,
    "cel.bind(x, A.i, x * x == 49)": True,
    "cel.bind(x, A.nope, true)": True,
    # Strings
    "A.s.split('-')[1] == 'pcie1'": True,
    "A.s.substring(4, 5) == '0'": True,
    "A.s.replace('numa', 'n') == 'n0-pcie1'": True,
    "A.s.indexOf('-') == 5": True,
    "A.s.matches('^numa[0-9]-')": True,
    "A.s.find('[0-9]') == '0'": True,
    "A.s.upperAscii() == 'NUMA0-PCIE1'": True,
    "A.ss.join('+') == 'a+b+c'": True,
    "'%s is %d'.format([A.s, A.i]) == 'numa0-pcie1 is 7'": True,
    "'héllo'.size() == 5": True,
    "size(bytes('h\\u00e9')) == 3": True,
    # Conversions
    "int('0x12') == 18": None,
    "string(123456789.0) == '1.23456789e+08'": True,
    "string(A.b) == 'true'": True,
    "int(A.s) == 1": "type conversion error from 'string' to 'int'",
    "timestamp('2024-02-29T12:30:45Z').getMonth() == 1": True,
    "duration('90s') == duration('1m30s')": True,
    "timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')": True,
    # Quantities and versions
    "C.m.compareTo(quantity('40960Mi')) == 0": True,
    "C.m == quantity('40960Mi')": True,
    "C.h.isInteger()": False,
    "C.h.asInteger() == 1": "cannot convert value to integer",
    "C.h.asApproximateFloat() == 0.5": True,
    "C.m.add(1).isGreaterThan(C.m)": True,
    "quantity('1.5') < quantity('2')": None,
    "A.v.isLessThan(semver('1.2.3'))": True,
    "semver('v1.2', true).minor() == 2": True,
    "isSemver('1.2')": False,
    # Networks
    "cidr('10.0.0.0/8').containsIP('10.1.2.3')": True,
    "ip('::1').isLoopback()": True,
    "ip('10.0.0.1').family() == 4": True,
    "isIP('10.0.0.256')": False,
    "url('https://h:8080/p?q=1').getPort() == '8080'": True,
    "format.dns1123Label().validate('a-b').hasValue()": False,
    "sets.contains([1, 2, 3], [2])": True,
    # Panics of cel-go: nothing absorbs them
    "A.v in ['a'] || true": "internal error: runtime error: hash of unhashable type cel.Semver",
    "A.nope == (A.v in ['a'])": "internal error: runtime error: hash of unhashable type cel.Semver",
    "A.v in {'a': 1} || true": "internal error: runtime error: hash of unhashable type cel.Semver",
    "{b'a': 1}.size() == 1": None,
    "A.nope.distinct() == [] || true": (
        "internal error: interface conversion: *types.Err is not traits.Lister: missing method Add"
    ),
    "A.i.distinct() == [] || true": (
        "internal error: interface conversion: types.Int is not traits.Lister: missing method Contains"
    ),
    # The compiled form of a constant pattern
    "A.i.matches('a')": "no such overload",
    "A.i.find('a') == ''": "no such overload",
    # An optional without value takes no index
    "A.?nope[A.nope].hasValue()": False,
    "dyn(semver('1.2.3')) >= dyn(1)": "no such overload",
}


@pytest.fixture(scope="module")
def expressions():
    return CelExpressions()


def spelled(text):
    return text.replace("A.", f"{A}.").replace("A[", f"{A}[").replace("C.", f"{C}.")


@pytest.mark.parametrize(("text", "wanted"), VERDICTS.items(), ids=VERDICTS)
def test_verdicts(expressions, text, wanted):
    """``None``: does not compile; a text: the error at run time begins with it."""
    if wanted is None:
        with pytest.raises(ExpressionError) as caught:
            expressions.selector(spelled(text))
        assert caught.value.phase == "compile"
        return
    selector = expressions.selector(spelled(text))
    device = expressions.prepare("d.com", DEVICE)
    if isinstance(wanted, bool):
        assert selector(device) is wanted
        return
    with pytest.raises(ExpressionError) as caught:
        selector(device)
    assert caught.value.message.startswith(wanted)
    assert caught.value.phase == "runtime"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("A.s", DeviceAttribute(string="numa0-pcie1")),
        ("A.s.split('-')[0]", DeviceAttribute(string="numa0")),
        ("A.i + 1", DeviceAttribute(int_=8)),
        ("A.v", DeviceAttribute(version="1.2.3-rc.1")),
        ("A.ss", DeviceAttribute(strings=("a", "b", "c"))),
        ("A.vs", DeviceAttribute(versions=("1.0.0", "2.0.0"))),
        ("A.bs", DeviceAttribute(bools=(True, False))),
        ("A.is.filter(x, x > 9)", DeviceAttribute(strings=())),
        ("dyn(A.?nope)", "unsupported CEL return type: <nil>"),
        ("dyn(C.m)", "unsupported CEL return type: *resource.Quantity"),
        ("[A.i, A.s]", "expected list element at index 1 to be int, got string"),
    ],
)
def test_derived_attributes(expressions, text, wanted):
    derive = expressions.derived(spelled(text))
    device = expressions.prepare("d.com", DEVICE)
    if isinstance(wanted, DeviceAttribute):
        assert derive(device) == wanted
        return
    with pytest.raises(ExpressionError) as caught:
        derive(device)
    assert caught.value.message == wanted


def test_the_same_text_is_compiled_once(expressions):
    assert expressions.selector("device.driver == 'x'") is expressions.selector("device.driver == 'x'")


def test_a_bad_attribute_spoils_the_device_until_1_37():
    device = Device(name="d", attributes={"v": DeviceAttribute(version="bad"), "i": DeviceAttribute(int_=1)})
    found: dict[int, bool | str] = {}
    for minor in (37, 38):
        known = CelExpressions(Environment(minor=minor))
        try:
            found[minor] = known.selector(spelled("A.i == 1"))(known.prepare("d.com", device))
        except ExpressionError as problem:
            found[minor] = problem.message
    assert found == {37: "attribute v: parse semantic version: No Major.Minor.Patch elements found", 38: True}


def test_an_evaluation_stops_at_the_cost_limit(expressions):
    text = "true"
    for level in range(8):
        text = f"[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x{level}, {text})"
    compiled = compile_expression(text, Environment())
    assert compiled.too_costly
    start = time.process_time()
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        interpret(compiled, expressions.prepare("d.com", DEVICE))
    with pytest.raises(ExpressionError, match="actual cost limit exceeded"):
        expressions.selector(text)(expressions.prepare("d.com", DEVICE))
    assert time.process_time() - start < 20


def grown(step, size):
    """An expression that doubles a value many times, which only counting while evaluating can stop."""
    text = f"x{size}.size() > 0"
    for level in range(size, 0, -1):
        text = f"cel.bind(x{level}, {step.format(f'x{level - 1}')}, {text})"
    return text


@pytest.mark.parametrize(
    "text",
    [
        f"cel.bind(x0, [1, 2], {grown('{0} + {0}', 100)})",
        f"cel.bind(x0, A.s, {grown('{0} + {0}', 100)})",
        "cel.bind(x0, A.s, " + grown("{0}.replace('', {0})", 20) + ")",
        "cel.bind(x0, A.s, " + grown("{0}.split('').join({0})", 20) + ")",
        "lists.range(1000000000).size() > 0",
    ],
    ids=["lists", "texts", "replace", "join", "range"],
)
def test_values_do_not_grow_without_bound(expressions, text):
    start = time.process_time()
    with pytest.raises(ExpressionError):
        expressions.selector(spelled(text))(expressions.prepare("d.com", DEVICE))
    assert time.process_time() - start < 20


def test_a_pattern_that_backtracks_elsewhere_is_harmless(expressions):
    device = Device(name="d", attributes={"s": DeviceAttribute(string="a" * 60 + "!")})
    start = time.process_time()
    assert expressions.selector(spelled("A.s.matches('^(a+)+$')"))(expressions.prepare("d.com", device)) is False
    assert time.process_time() - start < 1
