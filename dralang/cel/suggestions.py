"""What an unknown name may be meant to be: ``(did you mean 'x'?)``, as 1.38 adds it.

Source: cel-go common/env/catalog.go, checker/errors.go (0.33).
"""

from collections.abc import Iterable
from typing import Final

_FAR: Final = 1 << 31
_MAX_CELLS: Final = 64 * 64
_LONG: Final = 16


class Catalog:
    """The names that suggestions are taken from."""

    __slots__ = ("names",)

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(names)

    def suffix(self, name: str) -> str:
        """What to add to the message about an unknown name; empty if there is nothing to suggest."""
        found = self.find(name)
        if not found or found[0] == name:
            return ""
        return f" (did you mean {' or '.join(repr(other) for other in found)}?)"

    def find(self, name: str) -> list[str]:
        """The name itself if it is known; else at most two names that are near to it, or begin with it."""
        if name in self.names:
            return [name]
        most = 2 if len(name) > 3 else 1
        if len(name) > 8:
            most = len(name) // 3
        dotted = "." in name
        candidates = [other for other in self.names if ("." in other) == dotted]
        distances = {other: distance(name, other) for other in candidates}
        near = min(distances.values(), default=_FAR)
        if near <= most:
            found = [other for other, far in distances.items() if far == near]
        else:
            found = [other for other in candidates if len(name) >= 2 and other.startswith(name)]
        return sorted(found, key=lambda other: (len(other.encode()), other))[:2]


def distance(one: str, two: str) -> int:
    """How many insertions, deletions, replacements and swaps of neighbours lead from one to the other."""
    rows, columns = len(one), len(two)
    if not rows or not columns:
        return rows + columns
    if max(rows, columns) >= _LONG and max(rows, columns) * 2 >= min(rows, columns) * 3:
        return abs(rows - columns)
    if rows * columns > _MAX_CELLS:
        return _FAR
    limit = max(rows, columns) // 3
    before: list[int] = []
    last = list(range(columns + 1))
    for row in range(1, rows + 1):
        line = [row]
        for column in range(1, columns + 1):
            cost = one[row - 1] != two[column - 1]
            best = min(last[column] + 1, line[column - 1] + 1, last[column - 1] + cost)
            if row > 1 and column > 1 and one[row - 1] == two[column - 2] and one[row - 2] == two[column - 1]:
                best = min(best, before[column - 2] + 1)
            line.append(best)
        if min(line) > limit:
            return _FAR
        before, last = last, line
    return last[columns]
