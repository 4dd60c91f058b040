"""Choosing scenarios: expressions over names and tags, places, node ids.

An expression joins words with ``and``, ``or``, ``not`` and parentheses. Words that follow each other are one phrase, so
that a part of a title needs no quotes; one that holds an operator or a parenthesis does.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from dralang.scenario.model import Scenario
from dralang.spelling import nearest

MAX_EXPRESSION: Final = 10_000
_WORDS: Final = re.compile(r"""\s*(?:([()])|"([^"]*)"|'([^']*)'|([^\s()"']+)|(["']))""")
_OPERATORS: Final = {"or": 1, "and": 2, "not": 3}


class Problem(Struct, frozen=True):
    """Something on the command line that names nothing; ``help`` may be empty."""

    message: str
    help: str = ""


class Expression(Struct, frozen=True):
    """A boolean expression in postfix order: phrases, and the operators as one-letter marks.

    Attributes:
        steps: phrase and None, or an empty text and the operator.
    """

    steps: tuple[tuple[str, str | None], ...]

    @property
    def phrases(self) -> tuple[str, ...]:
        """What it looks for."""
        return tuple(phrase for phrase, operator in self.steps if operator is None)

    def holds(self, has: Callable[[str], bool]) -> bool:
        """Its value where ``has`` says which phrases are there."""
        stack: list[bool] = []
        for phrase, operator in self.steps:
            if operator is None:
                stack.append(has(phrase))
            elif operator == "not":
                stack.append(not stack.pop())
            else:
                right, left = stack.pop(), stack.pop()
                stack.append((left and right) if operator == "and" else (left or right))
        return stack.pop()


def parse_expression(text: str, option: str) -> Expression | Problem:
    """Read an expression of the option ``-k`` or ``-m``. Without recursion: no depth is too deep."""
    if len(text) > MAX_EXPRESSION:
        return Problem(f"the expression of `{option}` is longer than {MAX_EXPRESSION:,} characters")
    words = _words(text)
    if isinstance(words, Problem):
        return Problem(f"`{option} {text}`: {words.message}", words.help)
    steps: list[tuple[str, str | None]] = []
    waiting: list[str] = []
    wants_operand = True
    for word, is_phrase in words:
        if is_phrase:
            if not wants_operand:
                return _wrong(option, text, f"an operator is missing before `{word}`")
            steps.append((word.lower(), None))
            wants_operand = False
        elif word in ("not", "("):
            if not wants_operand:
                return _wrong(option, text, f"`and` or `or` is missing before `{word}`")
            waiting.append(word)
        else:
            if wants_operand:
                return _wrong(option, text, f"something is missing before `{word}`")
            least = _OPERATORS.get(word, 0)
            while waiting and waiting[-1] != "(" and _OPERATORS[waiting[-1]] >= least:
                steps.append(("", waiting.pop()))
            if word == ")":
                if not waiting:
                    return _wrong(option, text, "a `(` is missing")
                waiting.pop()
            else:
                waiting.append(word)
                wants_operand = True
    if wants_operand:
        return _wrong(option, text, "something is missing at the end" if words else "it is empty")
    if "(" in waiting:
        return _wrong(option, text, "a `)` is missing")
    steps += [("", operator) for operator in reversed(waiting)]
    return Expression(tuple(steps))


def _wrong(option: str, text: str, message: str) -> Problem:
    return Problem(f"`{option} {text}`: {message}", f'write it like `{option} "gpu and not (slow or nic)"`')


def _words(text: str) -> list[tuple[str, bool]] | Problem:
    """Phrases (True) and operators (False)."""
    result: list[tuple[str, bool]] = []
    joins = False
    at = 0
    text = text.rstrip()
    while at < len(text):
        match = _WORDS.match(text, at)
        assert match is not None, "the pattern covers every character"
        at = match.end()
        parenthesis, double, single, bare, stray = match.groups()
        if stray:
            return Problem(f"the quote {stray} is not closed")
        if parenthesis or bare in _OPERATORS:
            result.append((parenthesis or bare, False))
            joins = False
        elif bare and joins:
            result[-1] = (f"{result[-1][0]} {bare}", True)
        else:
            result.append((next(part for part in (double, single, bare) if part is not None), True))
            joins = bool(bare)
    return result


# ---- places and node ids --------------------------------------------------------------------------------------------


class Selector(Struct, frozen=True):
    """A scenario by its title, or by a line in it."""

    title: str = ""
    line: int | None = None


def select(name: str, scenarios: Sequence[Scenario], selectors: Sequence[Selector]) -> list[Scenario] | Problem:
    """The scenarios of the file ``name`` that are meant, in the order of the file; all of them without selectors."""
    if not selectors:
        return list(scenarios)
    chosen: set[int] = set()
    for selector in selectors:
        if selector.line is not None:
            line = selector.line
            found = [each for each, item in enumerate(scenarios) if item.line <= line <= item.last_line]
            if not found:
                return _no_line(name, scenarios, line)
        else:
            found = _titled(scenarios, selector.title)
            if not found:
                near = nearest(selector.title, [item.title for item in scenarios])
                way_out = (
                    f"did you mean `{name}::{near}`?" if near else f"`dralang test --collect-only {name}` lists them"
                )
                return Problem(f"`{name}` has no scenario `{selector.title}`", way_out)
        chosen.update(found)
    return [item for each, item in enumerate(scenarios) if each in chosen]


def _titled(scenarios: Sequence[Scenario], title: str) -> list[int]:
    """By the whole title; else all rows of a table, by the title as it is written."""
    exact = [each for each, item in enumerate(scenarios) if item.title == title]
    return exact or [each for each, item in enumerate(scenarios) if item.span.text.endswith(f'"{title}"')]


def _no_line(name: str, scenarios: Sequence[Scenario], line: int) -> Problem:
    lines = sorted({item.line for item in scenarios})
    if not lines:
        return Problem(f"`{name}` has no scenarios")
    near = min(lines, key=lambda each: (abs(each - line), each))
    return Problem(f"line {line} of `{name}` is in no scenario", f"the nearest one starts at `{name}:{near}`")


# ---- what an expression sees ----------------------------------------------------------------------------------------


def matches_name(expression: Expression, scenario: Scenario) -> bool:
    """Whether ``-k`` takes a scenario: a phrase is a part of its file's name or its title, in any case."""
    text = f"{scenario.file.rpartition('/')[2]}::{scenario.title}".lower()
    return expression.holds(lambda phrase: phrase in text)


def matches_tags(expression: Expression, scenario: Scenario) -> bool:
    """Whether ``-m`` takes a scenario: a phrase is one of its tags, in any case."""
    tags = {tag.lower() for tag in scenario.tags}
    return expression.holds(lambda phrase: phrase in tags)
