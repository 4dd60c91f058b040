"""Compiling: types, costs and the texts of errors; depth and hostile input."""

import sys
import time

import pytest

from dralang.cel.environment import Environment, parse_minor
from dralang.cel.issues import CompileError
from dralang.cel.program import MAX_COST, compile_expression

A = 'device.attributes["d"]'
C = 'device.capacity["d"]'


def compiled(text, purpose="selector", **environment):
    return compile_expression(text, Environment(**environment), purpose)


def refused(text, purpose="selector", **environment):
    with pytest.raises(CompileError) as caught:
        compiled(text, purpose, **environment)
    return caught.value.message


COSTS = {
    'device.driver == ""': 2,
    'device.driver == "dra.example.com"': 4,
    '"no-such-domain" in device.attributes': 3,
    f"{A}.n": 4,
    f"{A}.n > 0": 5,
    f"{A}.n.size() == 2": 6,
    f'{A}.v.isGreaterThan(semver("0.0.1"))': 6,
    f'{C}.m.isGreaterThan(quantity("1Ki"))': 6,
    f'{C}.m.compareTo(quantity("40Gi")) >= 0': 7,
    f'"m" in {C} && {C}.m.isGreaterThan(quantity("1Ki"))': 10,
    f'has({A}.n) && {A}.n == "a"': 8,
    f'{A}.?n.orValue("") == "a"': 6,
    f"cel.bind(d, {A}, d.n)": 15,
    "device.allowMultipleAllocations == true": 3,
    f'{A}.n.includes("fish")': 68,
    f"1 in {A}.n": 68,
    f'{A}.n in ["a","b","c"]': 17,
    f'{A}.n.matches("[^a]?sym")': 18,
    f'{A}.n.split("example").size() >= 2': 19,
    f'{A}.n.split("-")[0] == "a"': 19,
    f'{A}.ss.exists(x, x == "b")': 389,
    f'{A}.ss.all(x, x != "")': 261,
    f'{A}.vs.all(x, x.isGreaterThan(semver("0.0.1")))': 389,
    'device.attributes.exists_one(x, x == "dra.example.com")': 164,
    f'{A}.exists_one(x, x == "services")': 133,
    f'{A}.exists(k, v, k == "a" && v == "b")': 260,
    f'{A}.all(k, {A}[k] == "x")': 292,
}


@pytest.mark.parametrize(("text", "cost"), COSTS.items(), ids=COSTS)
def test_costs_are_those_of_kubernetes(text, cost):
    assert compiled(text).cost == cost


def test_the_cost_of_nested_loops_multiplies():
    items = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"
    text = "true"
    for level in range(7):
        text = f"{items}.all(x{level}, {text})"
    found = compiled(text)
    assert found.cost > MAX_COST
    assert found.too_costly


@pytest.mark.parametrize("version", ["1.36", "1.37"])
def test_reading_the_type_of_a_value_is_too_costly_up_to_1_37(version):
    assert compiled(f"type({A}.n) == int", minor=parse_minor(version)).too_costly


def test_from_1_38_it_costs_next_to_nothing():
    assert compiled(f"type({A}.n) == int", minor=38).cost == 7


ERRORS = {
    "device.nope": "ERROR: <input>:1:7: undefined field 'nope'\n | device.nope\n | ......^",
    "nope": "ERROR: <input>:1:1: undeclared reference to 'nope' (in container '')\n | nope\n | ^",
    "type(dyn) == int": (
        "ERROR: <input>:1:6: undeclared reference to 'dyn' (in container '')\n | type(dyn) == int\n | .....^"
    ),
    "device.driver == 1": (
        "ERROR: <input>:1:15: found no matching overload for '_==_' applied to '(string, int)'\n"
        " | device.driver == 1\n | ..............^"
    ),
    "1 +": (
        "ERROR: <input>:1:4: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', "
        "'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}\n | 1 +\n | ...^"
    ),
    '"\\d" == "a"': "ERROR: <input>:1:1: Syntax error: token recognition error at: '\"\\d'",
    'device.driver.matches("(")': (
        'ERROR: <input>:1:23: invalid matches argument\n | device.driver.matches("(")\n | ......................^'
    ),
}


@pytest.mark.parametrize(("text", "message"), ERRORS.items(), ids=ERRORS)
def test_errors_have_line_column_and_caret(text, message):
    assert refused(text).startswith(f"compilation failed: {message}")


def test_later_lines_are_counted():
    assert "<input>:2:9: undefined field 'nope'" in refused("true &&\n  device.nope")


def test_issues_have_offsets():
    with pytest.raises(CompileError) as caught:
        compiled("true &&\n  device.nope")
    assert [issue.offset for issue in caught.value.issues] == [16]


@pytest.mark.parametrize(
    ("text", "purpose", "message"),
    [
        ("1", "selector", "must evaluate to bool or the unknown type, not int"),
        (
            "1.0",
            "derived",
            (
                "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these scalars,"
                " not double"
            ),
        ),
    ],
)
def test_the_result_type_is_checked(text, purpose, message):
    assert refused(text, purpose) == message


def test_new_expressions_lack_what_gates_turn_off():
    text = f"{A}.n.includes(1)"
    assert compiled(text, new=False, lists=False).cost
    assert "undeclared reference to 'includes'" in refused(text, minor=36, new=True, lists=False)
    flag = "device.allowMultipleAllocations"
    assert compiled(flag, new=False, multiple=False).cost
    assert "undefined field" in refused(flag, new=True, multiple=False)


def test_names_in_backticks_came_with_1_37():
    text = f"{A}.`n-x` == 1 && device.`driver` == 'd'"
    assert compiled(text, minor=37).cost == compiled(f"{A}['n-x'] == 1 && device.driver == 'd'").cost
    assert "<input>:1:24: unsupported syntax: '`'" in refused(text, minor=36)


def test_is_mask_came_with_1_38():
    text = 'cidr("10.0.0.0/8").isMask()'
    assert compiled(text, minor=38).cost == 2
    assert "undeclared reference to 'isMask'" in refused(text, minor=37)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("math.least(1, 2) == 1", "1:1: undeclared reference to 'math' (did you mean 'path'?)"),
        ("lists.rang(3) == []", "1:11: undeclared reference to 'lists.rang' (did you mean 'lists.range'?)"),
        ("devise.driver == 'x'", "1:1: undeclared reference to 'devise' (did you mean 'device'?)"),
        ("nothingLikeIt == 1", "1:1: undeclared reference to 'nothingLikeIt'\n"),
    ],
)
def test_from_1_38_unknown_names_come_with_suggestions(text, message):
    assert refused(text, minor=38).startswith(f"compilation failed: ERROR: <input>:{message}")


@pytest.mark.parametrize("version", ["1.33", "1.39", "2.37", "latest", ""])
def test_other_versions_have_no_environment(version):
    with pytest.raises(ValueError, match="no CEL environment"):
        parse_minor(version)


# Depth and hostile input


@pytest.mark.parametrize(
    "text",
    [
        "(" * 50 + "true" + ")" * 50,
        " && ".join(["device.driver == 'a'"] * 300),
        "!" * 200 + "true",
        "[" * 60 + "]" * 60 + " == []",
        "true ? true : " * 60 + "true",
    ],
    ids=["parentheses", "conjunction", "not", "lists", "conditionals"],
)
def test_deep_expressions_compile(text):
    limit = sys.getrecursionlimit()
    assert compiled(text).tree.type.name == "bool"
    assert sys.getrecursionlimit() == limit


HOSTILE = {
    "parentheses": "(" * 10_000 + "true" + ")" * 10_000,
    "open parentheses": "(" * 10_000,
    "open lists": "[" * 10_000,
    "quotes": '"' * 10_001,
    "negations": "!(" * 5_000 + "true" + ")" * 5_000,
    "calls": "size(" * 5_000,
    "selections": "device" + ".a" * 5_000,
    "conditionals": "true ? " * 3_000,
    "nothing": "",
    "garbage": "\x00\x01\uffff" * 1_000,
    "long": "a" * 1_000_000,
    "operators": "&& || == " * 1_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_texts_are_errors_and_soon(text, capfd):
    limit = sys.getrecursionlimit()
    start = time.process_time()
    with pytest.raises(CompileError):
        compiled(text)
    assert time.process_time() - start < 5
    assert sys.getrecursionlimit() == limit
    assert capfd.readouterr() == ("", "")
