"""What a server has against an object, said where the object was written."""

import re
from collections.abc import Mapping

from dralang.api.admission import Refused
from dralang.api.located import Located
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog

REFUSED = "DRA0306"

_INDEX = re.compile(r"\[([0-9]+)\]", re.ASCII)
_NAME = re.compile(r"[^.\[]+")
_ELLIPSIS = "..."
# Errors name fields of v1 even for objects of v1beta1, which do not have these two.
_WRAPPERS = frozenset({"exactly", "basic"})


def place_of(located: Located, field: str) -> Located:
    """The value that a field error is about, or the deepest value on the way there.

    Args:
        located: the object as it was written.
        field: the path of the error: ``spec.devices[0].attributes[gpu.example.com/model].string``.
    """
    here, rest = located, field
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
    return (here, rest[match.end() :]) if match[0] in _WRAPPERS else None


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


def report_refusal(refused: Refused, located: Located, log: DiagnosticLog) -> None:
    """Say why an object is refused, every cause at its place."""
    for cause in refused.causes:
        log.add(
            Diagnostic(
                code=REFUSED,
                message=f"the API server refuses `{cause.field}`: {cause.message}",
                span=place_of(located, cause.field).span,
            )
        )
    if not refused.causes:
        place = located.at(refused.path)
        message = f"the API server refuses this ({refused.reason}): {refused.message}"
        log.add(Diagnostic(code=REFUSED, message=message, span=place.span))
