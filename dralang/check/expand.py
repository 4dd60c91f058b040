"""Words opened up: ``${...}`` computed, ranges spelled out, scalars recognised.

Parameters are integers, strings or whole values of the tree; arithmetic is on integers. Everything is bounded: a name
stands for at most ``MAX_NAMES`` names.
"""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Final, TypeAlias

from msgspec import Struct

from dralang.check.problems import bad_range, bad_substitution
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.spelling import nearest
from dralang.syntax.nodes import Value, Word
from dralang.values.json_number import json_number

MAX_NAMES: Final = 10_000
MAX_INTEGER: Final = 2**63 - 1
MAX_TEXT: Final = 100_000
MAX_PARENTHESES: Final = 20

ParamValue: TypeAlias = int | str | Value
"""A parameter's value; a list or map stays the tree it is."""

Bindings: TypeAlias = Mapping[str, ParamValue]

_SUBSTITUTION = re.compile(r'\$\{((?:"(?:[^"\\\n]|\\.)*"|[^}"\n])*)\}')
_PIECE = re.compile(r"\$\$\{|" + _SUBSTITUTION.pattern)
_RANGE = re.compile(r"\[([^\[\]]*)\]")
_RANGE_BODY = re.compile(r"\s*(-?\d{1,18})\s*\.\.\s*(-?\d{1,18})\s*(?:as\s+([A-Za-z_][A-Za-z0-9_]*)\s*)?\Z")
_EXPRESSION_TOKEN = re.compile(
    r'\s*(?:(\d{1,18})(?![A-Za-z0-9_])|([A-Za-z_][A-Za-z0-9_]*)|("(?:[^"\\]|\\.)*")|([-+*/%()])|(.))'
)
_INTEGER = re.compile(r"[+-]?\d+\Z", re.ASCII)
_FLOAT = re.compile(r"[+-]?\d+(?:\.\d+(?:[eE][+-]?\d+)?|[eE][+-]?\d+)\Z", re.ASCII)


class Name(Struct, frozen=True):
    """One of the names a word stands for, with the range indices that belong to it."""

    text: str
    span: Span
    bindings: Bindings


class _ComputeError(Exception):
    """A ``${...}`` that cannot be computed; the message is for people."""

    def __init__(self, message: str, way_out: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.way_out = way_out


def scalar(word: Word) -> bool | int | str | None:
    """What a bare word is in JSON: true, false, null, an integer, or a string; quoted words are strings."""
    text = word.text
    if word.quoted:
        return text
    if text == "true":
        return True
    if text == "false":
        return False
    if text == "null":
        return None
    if _INTEGER.match(text) and len(text) <= 4000:
        return int(text)
    return text


def json_scalar(word: Word) -> bool | int | float | str | None:
    """What a bare word is where no schema says what is wanted: a number may have decimals there, as in YAML."""
    if not word.quoted and len(word.text) <= 400 and _FLOAT.match(word.text):
        found = float(word.text)
        return json_number(found) if isfinite(found) else word.text
    return scalar(word)


def has_substitution(word: Word) -> bool:
    """Whether anything is to be computed in a word."""
    return "${" in word.text


def substitute(text: str, span: Span, bindings: Bindings, log: DiagnosticLog) -> str | None:
    """A text with every ``${...}`` computed and ``$${`` as ``${``, or None after a diagnostic."""
    if "${" not in text:
        return text
    failed = False

    def replace(found: re.Match[str]) -> str:
        nonlocal failed
        if found[1] is None:
            return "${"
        try:
            value = _compute(found[1], bindings)
        except _ComputeError as error:
            log.add(bad_substitution(error.message, span, error.way_out))
            failed = True
            return ""
        if isinstance(value, Word):
            value = value.text
        if isinstance(value, int | str):
            return str(value)
        log.add(bad_substitution("a list or map can only be a whole value, not part of a word", span))
        failed = True
        return ""

    result = _PIECE.sub(replace, text)
    if not failed and "${" in _PIECE.sub("\0", text):
        log.add(bad_substitution("`${` is not closed", span, "write `${name}`, or `$${` for the text `${`"))
        return None
    if len(result) > max(MAX_TEXT, len(text)):
        log.add(bad_substitution(f"this becomes longer than {MAX_TEXT:,} characters", span))
        return None
    return None if failed else result


def whole_value(word: Word, bindings: Bindings, log: DiagnosticLog) -> Value | None:
    """A word as a value: ``${x}`` alone keeps the type of x, other words are substituted as text."""
    if not has_substitution(word):
        return word
    found = None if word.quoted else _SUBSTITUTION.fullmatch(word.text)
    if found is None:
        text = substitute(word.text, word.span, bindings, log)
        return None if text is None else Word(word.span, text, word.quoted)
    try:
        value = _compute(found[1], bindings)
    except _ComputeError as error:
        log.add(bad_substitution(error.message, word.span, error.way_out))
        return None
    if isinstance(value, int):
        return Word(word.span, str(value))
    return Word(word.span, value, quoted=True) if isinstance(value, str) else value


def one_name(word: Word, bindings: Bindings, log: DiagnosticLog) -> str | None:
    """The text of a word that must be a single name, or None after a diagnostic."""
    text = substitute(word.text, word.span, bindings, log)
    if text is None:
        return None
    if not word.quoted and "[" in text:
        log.add(bad_range(f"`{text}` stands for several names; one is needed here", word.span, "write them one by one"))
        return None
    return text


def names(word: Word, bindings: Bindings, log: DiagnosticLog) -> list[Name]:
    """The names a word stands for: ranges multiply, the last one runs fastest."""
    text = substitute(word.text, word.span, bindings, log)
    if text is None:
        return []
    if word.quoted or "[" not in text:
        return [Name(text, word.span, bindings)]
    parts: list[str] = []
    ranges: list[tuple[list[str], str | None]] = []
    position = 0
    total = 1
    for found in _RANGE.finditer(text):
        spelled = _spell_range(found[1], word.span, log)
        if spelled is None:
            return []
        parts.append(text[position : found.start()])
        ranges.append(spelled)
        total *= len(spelled[0])
        position = found.end()
        if total > MAX_NAMES:
            log.add(
                bad_range(f"`{text}` stands for more than {MAX_NAMES:,} names", word.span, "make the range smaller")
            )
            return []
    parts.append(text[position:])
    if any("[" in part or "]" in part for part in parts):
        log.add(bad_range(f"`{text}` has a bracket that is not closed", word.span))
        return []
    return _multiply(parts, ranges, word.span, bindings)


def _multiply(
    parts: list[str], ranges: list[tuple[list[str], str | None]], span: Span, bindings: Bindings
) -> list[Name]:
    result = [(parts[0], dict(bindings))]
    for (choices, index), part in zip(ranges, parts[1:], strict=True):
        result = [
            (text + choice + part, {**bound, index: int(choice)} if index else bound)
            for text, bound in result
            for choice in choices
        ]
    return [Name(text, span, bound) for text, bound in result]


def _spell_range(body: str, span: Span, log: DiagnosticLog) -> tuple[list[str], str | None] | None:
    found = _RANGE_BODY.match(body)
    if found is None:
        log.add(
            bad_range(f"`[{body}]` is no range", span, "write `[0..3]`, or `[0..3 as i]` to use the number in the body")
        )
        return None
    low_text, high_text, index = found[1], found[2], found[3]
    low, high = int(low_text), int(high_text)
    if high - low >= MAX_NAMES:
        log.add(bad_range(f"`[{body}]` stands for more than {MAX_NAMES:,} names", span, "make the range smaller"))
        return None
    width = len(low_text) if len(low_text) > 1 and low_text.startswith("0") else 0
    return [f"{number:0{width}d}" if width else str(number) for number in range(low, high + 1)], index


# ---- expressions in ${...} ------------------------------------------------------------------------------------------


def _compute(text: str, bindings: Bindings) -> ParamValue:
    tokens = _EXPRESSION_TOKEN.findall(text.strip())
    if not tokens:
        raise _ComputeError("`${}` is empty", "write a parameter's name")
    return _Expression(tokens, bindings, text.strip()).whole()


class _Expression:
    """Recursive descent over the tokens of one ``${...}``; its length is bounded by the lexer."""

    def __init__(self, tokens: list[tuple[str, str, str, str, str]], bindings: Bindings, text: str) -> None:
        self.tokens = tokens
        self.bindings = bindings
        self.text = text
        self.at = 0
        self.depth = 0

    def whole(self) -> ParamValue:
        value = self._sum()
        if self.at < len(self.tokens):
            raise _ComputeError(
                f"`{self.text}` is no expression", "use + - * / %, parentheses, integers, strings, parameters"
            )
        return value

    def _operator(self, allowed: str) -> str | None:
        if self.at < len(self.tokens) and self.tokens[self.at][3] and self.tokens[self.at][3] in allowed:
            self.at += 1
            return self.tokens[self.at - 1][3]
        return None

    def _sum(self) -> ParamValue:
        left = self._product()
        while operator := self._operator("+-"):
            left = self._apply(operator, left, self._product())
        return left

    def _product(self) -> ParamValue:
        left = self._unary()
        while operator := self._operator("*/%"):
            left = self._apply(operator, left, self._unary())
        return left

    def _unary(self) -> ParamValue:
        negative = False
        while self._operator("-"):
            negative = not negative
        value = self._primary()
        return -self._integer(value) if negative else value

    def _primary(self) -> ParamValue:
        if self._operator("("):
            self.depth += 1
            if self.depth > MAX_PARENTHESES:
                raise _ComputeError("too many parentheses")
            value = self._sum()
            self.depth -= 1
            if not self._operator(")"):
                raise _ComputeError(f"`)` is missing in `{self.text}`")
            return value
        if self.at >= len(self.tokens):
            raise _ComputeError(f"`{self.text}` ends too early")
        number, name, string, _, other = self.tokens[self.at]
        self.at += 1
        if number:
            return int(number)
        if string:
            return re.sub(r"\\(.)", r"\1", string[1:-1])
        if name:
            return self._parameter(name)
        raise _ComputeError(f"`{other or self.text}` has no meaning in `${{{self.text}}}`")

    def _parameter(self, name: str) -> ParamValue:
        if name not in self.bindings:
            near = nearest(name, self.bindings)
            known = ", ".join(f"`{known}`" for known in sorted(self.bindings))
            way_out = f"did you mean `{near}`?" if near else f"known here: {known}" if known else ""
            raise _ComputeError(
                f"there is no parameter `{name}`", way_out or "parameters come from fixtures, tables, `as i`"
            )
        return self.bindings[name]

    def _integer(self, value: ParamValue) -> int:
        if isinstance(value, Word):
            plain = scalar(value)
            if isinstance(plain, int) and not isinstance(plain, bool):
                value = plain
        if not isinstance(value, int) or isinstance(value, bool):
            shown = value.text if isinstance(value, Word) else value if isinstance(value, str) else "a list or map"
            raise _ComputeError(f"`{shown}` is no integer; only integers can be computed with")
        if abs(value) > MAX_INTEGER:
            raise _ComputeError("the number is too large")
        return value

    def _apply(self, operator: str, left: ParamValue, right: ParamValue) -> ParamValue:
        if operator == "+" and (_is_text(left) or _is_text(right)):
            return self._text(left) + self._text(right)
        a, b = self._integer(left), self._integer(right)
        if operator in "/%" and b == 0:
            raise _ComputeError("division by zero")
        if operator == "+":
            result = a + b
        elif operator == "-":
            result = a - b
        elif operator == "*":
            result = a * b
        else:
            result = a // b if operator == "/" else a % b
        if abs(result) > MAX_INTEGER:
            raise _ComputeError("the number is too large")
        return result

    def _text(self, value: ParamValue) -> str:
        if isinstance(value, Word):
            return value.text
        if isinstance(value, int | str):
            return str(value)
        raise _ComputeError("a list or map cannot be joined with a string")


def _is_text(value: ParamValue) -> bool:
    """Whether `+` joins rather than adds."""
    return isinstance(value, str) or (isinstance(value, Word) and not isinstance(scalar(value), int))
