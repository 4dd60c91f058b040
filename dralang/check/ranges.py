"""What a range reaches from and to: numbers, times, quantities of one unit."""

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from dralang.check import problems
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.syntax import nodes as n
from dralang.values.duration import parse_duration

NUMBER: Final = re.compile(r"([+-]?\d{1,18})([A-Za-z]*)\Z", re.ASCII)
_DURATION: Final = re.compile(r"(?:\d{1,12}(?:\.\d{1,3})?(?:ms|h|m|s)){1,4}\Z", re.ASCII)
_UNITS: Final = (("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000))


class UnfillableError(Exception):
    """A hole that nothing can fill."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Ends(Struct, frozen=True):
    """What a range reaches from: its first number, how many steps of which size may follow, the unit behind."""

    first: int
    steps: int
    step: int = 1
    unit: str = ""
    is_time: bool = False


def ends_of(low: str, high: str, node: n.AnyRange) -> Ends:
    """Read a range; a time is milliseconds, in steps of the finest unit that is written: `0s..60s` are whole seconds.

    Raises:
        UnfillableError: it is empty, or none.
    """
    try:
        found = _read(low, high)
    except ValueError:
        way_out = "write two whole numbers, durations or quantities of one unit: `any 1Gi..8Gi`"
        diagnostic = problems.bad_range(f"`any {low}..{high}` is no range", node.span, way_out)
        raise UnfillableError(diagnostic) from None
    if found.steps < 0:
        raise UnfillableError(
            problems.bad_range(f"`{node.span.text}` is empty", node.span, "write the smaller end first")
        )
    return found


@lru_cache(1_000)
def _read(low: str, high: str) -> Ends:
    """The ends, with fewer than no steps if the range is empty; ValueError (not remembered) if it is no range."""
    if _DURATION.match(low) and _DURATION.match(high):
        step = min(size for unit, size in _UNITS if any(_has_unit(text, unit) for text in (low, high)))
        first, last = parse_duration(low), parse_duration(high)
        return Ends(first, (last - first) // step, step, is_time=True)
    ends = [NUMBER.match(text) for text in (low, high)]
    if ends[0] is None or ends[1] is None or (ends[0][2] != ends[1][2] and int(ends[0][1]) != 0):
        raise ValueError
    first, last = int(ends[0][1]), int(ends[1][1])
    return Ends(first, last - first, unit=ends[1][2])


def _has_unit(text: str, unit: str) -> bool:
    return re.search(rf"[\d.]{unit}(?:\d|\Z)", text) is not None
