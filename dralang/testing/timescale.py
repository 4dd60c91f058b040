"""Where instants stand on a time axis: seconds and hours of one story side by side.

What happens in a second and what happens in an hour both have to be seen, so that room grows with the logarithm of the
time between two instants at which something happens.
"""

from collections.abc import Iterable
from itertools import pairwise
from math import log2
from typing import Final

LEAST: Final = 64.0
PER_DOUBLING: Final = 16.0
MOST: Final = 12_000.0


class TimeScale:
    """Places instants.

    Args:
        instants: all at which something happens, in milliseconds.
        width: the room that is filled at least.
    """

    def __init__(self, instants: Iterable[int], width: float) -> None:
        self.instants = sorted({*instants, 0})
        gaps = [LEAST + PER_DOUBLING * log2(1 + (after - before) / 1000) for before, after in pairwise(self.instants)]
        # The last instant needs room behind it, for what is the case from then on.
        gaps.append(LEAST * 1.5)
        total = sum(gaps)
        factor = max(width, min(total, MOST)) / total
        self._places: dict[int, float] = {}
        place = 0.0
        for instant, gap in zip(self.instants, gaps, strict=True):
            self._places[instant] = place
            place += gap * factor
        self.width = place

    def x(self, instant: int | None) -> float:
        """The place of one of the instants; None is the end."""
        return self.width if instant is None else self._places[instant]

    def ticks(self, least: float) -> list[tuple[int, float]]:
        """Instants to name, with their places, at least so far apart."""
        result: list[tuple[int, float]] = []
        for instant in self.instants:
            place = self._places[instant]
            if not result or place - result[-1][1] >= least:
                result.append((instant, place))
        return result
