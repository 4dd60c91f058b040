"""What a server has against an object, said where the object was written."""

import re
from collections.abc import Mapping

from dralang.api.admission import Refused
from dralang.api.located import Located
from dralang.api.validation.errors import FieldError
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog, Related
from dralang.diagnostics.source import Span

REFUSED = "DRA0306"

_INDEX = re.compile(r"\[([0-9]+)\]", re.ASCII)
_NAME = re.compile(r"[^.\[]+")
_ELLIPSIS = "..."
# What the server calls by a path at which nothing stands: the taints of a node.
_ELSEWHERE = (("metadata.taints", "spec.taints"),)
# Errors name fields of v1 even for objects of v1beta1, which do not have these two.
_WRAPPERS = frozenset({"exactly", "basic"})


def place_of(located: Located, field: str) -> Located:
    """The value that a field error is about, or the deepest value on the way there.

    Args:
        located: the object as it was written.
        field: the path of the error: ``spec.devices[0].attributes[gpu.example.com/model].string``.
    """
    here, rest = located, field
    for named, written in _ELSEWHERE:
        if field.startswith(named):
            rest = written + field[len(named) :]
    while rest:
        found = _element(here, rest) if rest.startswith("[") else _entry(here, rest.removeprefix("."))
        if found is None:
            break
        here, rest = found
    return here


def _entry(here: Located, rest: str) -> tuple[Located, str] | None:
    match = _NAME.match(rest)
    if match is None or not isinstance(here.value, Mapping):
        return None
    inside = here.value.get(match[0])
    if inside is not None:
        return inside, rest[match.end() :]
    if match[0] in _WRAPPERS:
        return here, rest[match.end() :]
    # An object of v1beta1 may have been brought into the shape of v1 before; its errors still name its own fields.
    lifted = here.value.get("exactly")
    return None if lifted is None else _entry(lifted, rest)


def _element(here: Located, rest: str) -> tuple[Located, str] | None:
    value = here.value
    if isinstance(value, tuple):
        match = _INDEX.match(rest)
        if match is None or len(match[1]) > 9 or int(match[1]) >= len(value):
            return None
        return value[int(match[1])], rest[match.end() :]
    if not isinstance(value, Mapping):
        return None
    keys = [key for key in value if rest.startswith(f"[{key}]")]
    if keys:
        key = max(keys, key=len)
        return value[key], rest[len(key) + 2 :]
    # Long keys lose their middle.
    shown, closed, after = rest[1:].partition("]")
    head, cut, tail = shown.partition(_ELLIPSIS)
    fitting = [key for key in value if key.startswith(head) and key.endswith(tail)] if cut and closed else []
    return (value[fitting[0]], after) if fitting else None


def report_refusal(
    refused: Refused,
    located: Located,
    log: DiagnosticLog,
    *,
    name: Span | None = None,
    related: tuple[Related, ...] = (),
) -> None:
    """Say why an object is refused, every cause at its place.

    Args:
        refused: what the server said.
        located: the object as it was written.
        log: takes the diagnostics.
        name: the object's name, to point at what concerns the object as a whole.
        related: further places.
    """
    for cause in refused.causes:
        place = _entry_at_fault(place_of(located, cause.field), cause)
        for span, text in _expression_errors(cause, place) or [(_short(place, located, name), cause.message)]:
            message = f"the API server refuses `{cause.field}`: {text}"
            log.add(Diagnostic(code=REFUSED, message=message, span=span, related=related))
    if not refused.causes:
        message = f"the API server refuses this ({refused.reason}): {refused.message}"
        span = _short(located.at(refused.path), located, name)
        log.add(Diagnostic(code=REFUSED, message=message, span=span, related=related))


def _entry_at_fault(place: Located, cause: FieldError) -> Located:
    """Of a map whose error names no entry (labels), the one that has the wrong key or value."""
    if not isinstance(place.value, Mapping) or not isinstance(cause.value, str):
        return place
    for key, entry in place.value.items():
        if key == cause.value and entry.key_span is not None:
            return Located(entry.value, entry.key_span)
        if entry.value == cause.value:
            return entry
    return place


def _short(place: Located, whole: Located, name: Span | None) -> Span:
    """The place; the name where the place is all of the object."""
    span = place.key_span if place.span == whole.span and place.key_span is not None else place.span
    return name if name is not None and span == whole.span else span


# ---- inside expressions ---------------------------------------------------------------------------------------------

_ISSUE = re.compile(r"ERROR: <input>:([0-9]{1,9}):([0-9]{1,9}): ([^\n]*)", re.ASCII)
_WORD = re.compile(r"\.?\w+|.", re.DOTALL)


def _expression_errors(cause: FieldError, place: Located) -> list[tuple[Span, str]]:
    """The errors of an expression that does not compile, each inside of its text; empty for other causes."""
    if not isinstance(place.value, str) or place.value != cause.value:
        return []
    return [
        (_place_inside(place.value, place.span, int(line), int(column)), text)
        for line, column, text in _ISSUE.findall(cause.detail)
    ]


def _place_inside(text: str, span: Span, line: int, column: int) -> Span:
    """The word at a line and column (from 1) of a text."""
    lines = text.split("\n")
    if line > len(lines):
        return span
    offset = sum(len(before) + 1 for before in lines[: line - 1]) + min(column - 1, len(lines[line - 1]))
    written = span.text
    at = offset_in_source(text, written, offset)
    if at < 0:
        return span
    if at >= len(written):
        at = max(0, len(written.rstrip()) - 1)
    word = _WORD.match(written, at)
    return span if word is None else Span(span.source, span.start + at, span.start + word.end())


def offset_in_source(text: str, written: str, offset: int) -> int:
    """Where a character of a text stands in what was written, perhaps with quotes or indented; -1 if nobody knows."""
    at = written.find(text)
    if at >= 0:
        return at + offset
    line_start = text.rfind("\n", 0, offset) + 1
    line = text[line_start:].partition("\n")[0]
    start = _line_inside([*text[:line_start].split("\n")[:-1], line], written)
    return -1 if start < 0 else start + offset - line_start


def _line_inside(lines: list[str], written: str) -> int:
    """Where the last of some lines begins in a text that indents them; -1 if they are not there."""
    start, at = -1, 0
    for line in lines:
        start = written.find(line, at)
        if start < 0:
            return -1
        at = start + len(line)
    return start
