"""The specs of KEP-5690 are complete: every row of the table in docs/kep-5690.md is shown by a scenario or always holds."""

import re
from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.run.invariants.watch import SUMMARIES

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted((ROOT / "specs" / "kep-5690").glob("*.dra"))
GUIDE = (ROOT / "docs" / "kep-5690.md").read_text(encoding="utf-8")
ROWS = [f"P{number}" for number in range(1, 48)]
ALWAYS = {
    "P13": "simulations-leave-no-trace",
    "P44": "nominations-have-their-node",
    "P46": "no-device-over-allocated",
}
"""Rows that are invariants, looked at in every scenario."""


def tagged() -> dict[str, set[str]]:
    """The specs by the rows that they show."""
    found: dict[str, set[str]] = {}
    for path in SPECS:
        analysis = Analyzer().path(path)
        for scenario in analysis.scenarios:
            for tag in scenario.tags:
                found.setdefault(tag, set()).add(path.name)
    return found


TAGGED = tagged()


@pytest.mark.parametrize("row", ROWS)
def test_every_row_is_shown(row):
    assert TAGGED.get(row) or ALWAYS[row] in SUMMARIES


def test_there_is_no_other_row():
    assert set(TAGGED) <= set(ROWS)


@pytest.mark.parametrize("row", ROWS)
def test_the_guide_says_where(row):
    line = next(line for line in GUIDE.splitlines() if line.startswith(f"| {row} |"))
    named = set(re.findall(r"specs/kep-5690/([\w-]+\.dra)", line))
    assert named == TAGGED.get(row, set())
    if row in ALWAYS:
        assert f"`{ALWAYS[row]}`" in line
