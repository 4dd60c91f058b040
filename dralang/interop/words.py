"""Names, texts and numbers as words of the language: bare where that reads the same, else in quotes."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax import nodes as n
from dralang.syntax.tokens import CONTINUATIONS, MAX_NESTING, cel_runs_on

NOWHERE: Final = Span(SourceFile("", ""), 0, 0)
"""The place of what no author has written."""

MAX_DEPTH: Final = MAX_NESTING - 1
"""How many brackets may be open around a value."""

NULL: Final = n.Word(NOWHERE, "null")
TRUE: Final = n.Word(NOWHERE, "true")
FALSE: Final = n.Word(NOWHERE, "false")

# What the lexer reads as one word, with nothing in it that has a meaning of its own (ranges, globs, `${...}`).
_BARE = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_/]|\.(?=[A-Za-z0-9_-])|-(?=[A-Za-z0-9_/.-])|\+(?=[A-Za-z0-9]))*\Z")
# Bare, these are no texts.
_OTHER_VALUES: Final = frozenset({"true", "false", "null"})
# Bare, CEL cannot hold these; a line end of another kind would become LF.
_NOT_IN_CEL = re.compile(r"[`\r\0\ufeff]")


class CannotWriteError(ValueError):
    """Something that the language has no form for.

    Attributes:
        message: one line for people.
        steps: where in the object, innermost first.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.steps: list[str | int] = []

    @property
    def path(self) -> tuple[str | int, ...]:
        """Where in the object, outermost first."""
        return tuple(reversed(self.steps))


def quoted(text: str) -> n.Word:
    """A text in quotes; ``${`` is kept from being read as the start of something to compute."""
    return n.Word(NOWHERE, text.replace("${", "$${") if "${" in text else text, quoted=True)


def is_bare(text: str) -> bool:
    """Whether a text is one word, and nothing but the text that it stands for."""
    return _BARE.match(text) is not None


def name(text: str) -> n.Word:
    """A name, or the key of a map. Words that go on with the line before stand in quotes, to look like names."""
    return n.Word(NOWHERE, text) if _BARE.match(text) and text not in CONTINUATIONS else quoted(text)


def value(text: str) -> n.Word:
    """A text as a value. What starts like a number stands in quotes, so that nobody takes it for one."""
    if _BARE.match(text) and not text[0].isdigit() and text not in _OTHER_VALUES:
        return n.Word(NOWHERE, text)
    return quoted(text)


def number(amount: object) -> n.Word:
    """An integer, a quantity or anything else whose text is a bare word."""
    return n.Word(NOWHERE, str(amount))


def boolean(flag: bool) -> n.Word:  # noqa: FBT001  # a value, not a switch
    """A boolean."""
    return TRUE if flag else FALSE


def cel(text: str) -> n.CelText | None:
    """An expression between backticks, or None if it cannot stand there as it is."""
    if _NOT_IN_CEL.search(text) or cel_runs_on(text):
        return None
    return n.CelText(NOWHERE, text.replace("${", "$${") if "${" in text else text)


def expression(text: str) -> n.CelText | n.Word:
    """An expression as the value of a field."""
    return cel(text) or quoted(text)


def raw(json: Any, depth: int) -> n.Value:
    """Any JSON value.

    Raises:
        CannotWriteError: nested too deeply, or a number that JSON does not have.
    """
    if json is None:
        return NULL
    if isinstance(json, str):
        return value(json)
    if isinstance(json, bool):
        return boolean(json)
    if isinstance(json, int):
        return number(json)
    if isinstance(json, float):
        if not math.isfinite(json):
            raise CannotWriteError(f"`{json}` is no number of JSON")
        return number(repr(json))
    check_depth(depth)
    return _raw_map(json, depth) if isinstance(json, Mapping) else _raw_list(json, depth)


def _raw_map(json: Mapping[str, Any], depth: int) -> n.Block:
    fields = []
    for key, entry in json.items():
        try:
            fields.append(n.Field(NOWHERE, name(key), raw(entry, depth + 1)))
        except CannotWriteError as error:
            error.steps.append(key)
            raise
    return n.Block(NOWHERE, tuple(fields))


def _raw_list(json: Sequence[Any], depth: int) -> n.ListValue:
    items: list[n.Value] = []
    try:
        for entry in json:
            items.append(raw(entry, depth + 1))
    except CannotWriteError as error:
        error.steps.append(len(items))
        raise
    return n.ListValue(NOWHERE, tuple(items))


def check_depth(depth: int) -> None:
    """Whether one more bracket may be opened.

    Raises:
        CannotWriteError: it may not.
    """
    if depth >= MAX_DEPTH:
        raise CannotWriteError(f"this is nested more than {MAX_DEPTH} levels deep")
