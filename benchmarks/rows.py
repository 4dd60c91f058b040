"""What a benchmark has measured, beside its anchor: a table, or one JSON object."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One figure.

    Attributes:
        name: what is measured.
        ours: our figure.
        anchor: what it is held against; None without one.
        unit: of both.
        ratio: ours to the anchor, where it is not their quotient.
        more: what else was seen, by name.
    """

    name: str
    ours: float
    anchor: float | None
    unit: str
    ratio: float | None = None
    more: Mapping[str, Any] = MappingProxyType({})

    def quotient(self) -> float | None:
        """How many times the anchor ours is."""
        if self.ratio is not None or self.anchor is None:
            return self.ratio
        return self.ours / self.anchor

    def values(self) -> dict[str, Any]:
        """All but the name."""
        return {
            "ours": _short(self.ours),
            "anchor": _short(self.anchor),
            "ratio": _short(self.quotient()),
            "unit": self.unit,
            **self.more,
        }


def as_json(rows: Sequence[Row]) -> str:
    """One object, by the names of the rows."""
    return json.dumps({row.name: row.values() for row in rows}, indent=2)


def table(rows: Sequence[Row], anchor: str) -> str:
    """A line for each row, the anchor's name above."""
    width = max(len(row.name) for row in rows)
    lines = [f"{'':{width}} {'ours':>12} {anchor:>18} {'ratio':>9}"]
    for row in rows:
        beside, ratio = (
            "" if number is None else f"{_short(number):,}{mark}"
            for number, mark in ((row.anchor, ""), (row.quotient(), "x"))
        )
        lines.append(f"{row.name:{width}} {_short(row.ours):>12,} {beside:>18} {ratio:>9}  {row.unit}")
    return "\n".join(lines)


def _short(number: float | None) -> Any:
    """Three digits, and all of those before the point."""
    if number is None:
        return None
    return round(number) if abs(number) >= 1_000 else float(f"{number:.3g}")
