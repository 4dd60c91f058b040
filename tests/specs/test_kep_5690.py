"""The specs of KEP-5690 are complete: every row of docs/kep-5690.md is shown by a scenario or always holds."""

import re
from pathlib import Path

import pytest

from dralang.check.analysis import Analysis, Analyzer
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
        assert isinstance(analysis, Analysis)
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


FINDINGS = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
NUMBERED = re.findall(r"^### (\d+)\. (.*?)\n(.*?)(?=^##|\Z)", FINDINGS, re.M | re.S)


def test_findings_are_numbered():
    assert [number for number, _, _ in NUMBERED] == [str(number) for number in range(1, len(NUMBERED) + 1)]


@pytest.mark.parametrize(("number", "title", "text"), NUMBERED, ids=[title for _, title, _ in NUMBERED])
def test_what_shows_a_finding_exists(number, title, text):
    links = re.findall(r"\]\(\.\./([^)]+)\)", text)
    assert links or title.startswith("Older schedulers")
    sources = [(ROOT / link).read_text(encoding="utf-8") for link in links]
    shown = " ".join(text.split())
    for quoted in re.findall(r'(?:[Ss]hown by|, and) "([^"]+)"(?: \(P\d+\))? in \[', shown):
        assert any(f'scenario "{quoted}' in source or f": {quoted}" in source for source in sources), quoted
    for test in re.findall(r"`(test_\w+)`", shown):
        assert any(f"def {test}(" in source for source in sources), test
