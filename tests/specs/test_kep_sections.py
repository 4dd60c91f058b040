"""Every section of the two KEPs has its specs, and every spec of theirs a section."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("kep", ["kep-5690", "kep-6406"])
def test_sections_and_specs_belong_together(kep):
    page = (ROOT / "docs" / f"{kep}.md").read_text(encoding="utf-8")
    table = page.split("| section | shown by |\n|---|---|\n")[1].split("\n\n")[0]
    named = set(re.findall(rf"specs/{kep}/([\w-]+\.dra)", table))
    assert named == {path.name for path in (ROOT / "specs" / kep).glob("*.dra")}
    assert [row for row in table.splitlines() if len(row.strip("|").split("|")) != 2] == []


@pytest.mark.parametrize("page", ["kep-5690.md", "kep-6406.md", "findings.md", "quirks.md", "decisions/readings.md"])
def test_what_a_page_points_to_exists(page):
    path = ROOT / "docs" / page
    links = re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if not (path.parent / link).exists()] == []
