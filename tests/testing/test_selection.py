"""Expressions over names and tags."""

from random import Random

import pytest

from dralang.testing.selection import Expression, Problem, parse_expression

THERE = {"gpu", "slow", "first come", "rock and roll"}
VALUES = {
    "a word that is there": ("gpu", True),
    "a word that is not": ("nic", False),
    "case does not count": ("GPU", True),
    "not": ("not gpu", False),
    "not not": ("not not gpu", True),
    "and": ("gpu and nic", False),
    "or": ("gpu or nic", True),
    "and binds before or": ("gpu or nic and nic", True),
    "not binds before and": ("not nic and gpu", True),
    "not binds before or": ("not gpu or gpu", True),
    "left to right": ("nic and nic or gpu", True),
    "parentheses": ("nic and (nic or gpu)", False),
    "parentheses without spaces": ("not(nic)and(gpu)", True),
    "not before parentheses": ("not (gpu and slow)", False),
    "words in a row are a phrase": ("first come", True),
    "a phrase among operators": ("nic or first   come and gpu", True),
    "quotes": ("'rock and roll'", True),
    "double quotes": ('"rock and roll" and not nic', True),
    "an empty quote": ("''", False),
    "operators in capitals are words": ("gpu AND slow", False),
    "spaces around": ("  gpu  ", True),
}


@pytest.mark.parametrize("case", VALUES)
def test_the_value_of_an_expression(case: str):
    text, want = VALUES[case]
    expression = parse_expression(text, "-k")
    assert isinstance(expression, Expression)
    assert expression.holds(lambda phrase: phrase in THERE) is want


WRONG = {
    "nothing": ("", "it is empty"),
    "an operator alone": ("and", "something is missing before `and`"),
    "an operator at the end": ("gpu or", "something is missing at the end"),
    "not at the end": ("gpu and not", "something is missing at the end"),
    "two operators": ("gpu and or nic", "something is missing before `or`"),
    "not without and": ("gpu not nic", "`and` or `or` is missing before `not`"),
    "parenthesis without operator": ("gpu (nic)", "`and` or `or` is missing before `(`"),
    "a word after a parenthesis": ("(gpu) nic", "an operator is missing before `nic`"),
    "open": ("(gpu", "a `)` is missing"),
    "closed": ("gpu)", "a `(` is missing"),
    "empty parentheses": ("()", "something is missing before `)`"),
    "an open quote": ("'gpu", "the quote ' is not closed"),
    "a quote inside of a word": ("it's", "the quote ' is not closed"),
    "too long": ("x" * 10_001, "is longer than 10,000 characters"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_expression_says_what_is_missing(case: str):
    text, want = WRONG[case]
    problem = parse_expression(text, "-k")
    assert isinstance(problem, Problem)
    assert want in problem.message


def test_no_depth_is_too_deep():
    text = "(" * 4_000 + "gpu" + ")" * 4_000
    deep = parse_expression(text, "-m")
    negated = parse_expression("not " * 2_000 + "gpu", "-m")
    assert isinstance(deep, Expression)
    assert isinstance(negated, Expression)
    assert deep.holds(lambda phrase: phrase == "gpu")
    assert negated.holds(lambda phrase: phrase == "gpu")


def test_random_expressions_mean_what_python_says():
    random = Random(7)

    def build(depth: int) -> str:
        kind = random.randrange(5) if depth else 0
        if kind < 2:
            return random.choice(["aa", "bb", "cc"])
        if kind == 2:
            return f"not {build(depth - 1)}"
        if kind == 3:
            return f"({build(depth - 1)})"
        return f"{build(depth - 1)} {random.choice(['and', 'or'])} {build(depth - 1)}"

    for _ in range(500):
        text = build(6)
        values = {name: random.random() < 0.5 for name in ("aa", "bb", "cc")}
        expression = parse_expression(text, "-k")
        assert isinstance(expression, Expression), text
        assert expression.holds(values.__getitem__) == eval(text, values.copy()), text
