"""What may come to stand in a place of a fuzz: every choice of a hole is checked, not only the first."""

from collections.abc import Callable
from typing import TypeVar

from dralang.check import problems
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.syntax import nodes as n

_T = TypeVar("_T")


def choices(value: n.Value, log: DiagnosticLog, *, fuzz: bool) -> tuple[n.Value, ...]:
    """A value, or what a hole in its place may become: all of its list, the ends of its range; the first comes first.

    ``any KIND`` stays as it is: which one is known when the fuzz is drawn.
    Nothing after a diagnostic (DRA0212, DRA0213).
    """
    if not isinstance(value, n.AnyRange | n.AnyOf | n.AnyKind):
        return (value,)
    if not fuzz:
        log.add(problems.only_in_fuzz("`any`", value.span))
        return ()
    if isinstance(value, n.AnyKind):
        return (value,)
    if isinstance(value, n.AnyRange):
        return (value.low, value.high)
    if not value.items.items:
        log.add(problems.nothing_to_choose(value.span))
        return ()
    if value.subset:
        return (value.items,)
    return tuple([choice for item in value.items.items for choice in choices(item, log, fuzz=fuzz)])


def first_choice(value: n.Value, read: Callable[[n.Value], _T | None], log: DiagnosticLog, *, fuzz: bool) -> _T | None:
    """What a value is read as; of a hole the first choice, and the others are read for their diagnostics."""
    found: list[_T | None] = []
    for choice in choices(value, log, fuzz=fuzz):
        found.append(read(choice))
        if found[-1] is None and isinstance(value, n.AnyRange):
            break  # what is wrong with one end of a range is mostly wrong with the other
    return found[0] if found else None
