"""docs/quirks.md lists every switch of `quirks { ... }`; ``--update-golden`` writes it."""

import re
from pathlib import Path

import pytest

from dralang.allocator.quirks import QUIRKS
from dralang.readings import READ_IN, READINGS

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "quirks.md"
FINDINGS = (ROOT / "docs" / "findings.md").read_text(encoding="utf-8")
SPECS = {
    kep: (ROOT / "specs" / kep.lower() / "other-readings.dra").read_text(encoding="utf-8")
    for kep in ("KEP-5690", "KEP-6406")
}
HEAD = """# Quirks: what can be switched by name

`quirks { NAME: true }` or `quirks { NAME: false }`, at the head of a file or as the first statement of a scenario or
fuzz, switches one of these. An unknown name is an error with the nearest one that exists.

## Faults of the allocator

On by default in the versions that have them; switched off, the documented behaviour holds. A fault may be switched on
in another version too.

| quirk | versions | what it does | without it | source |
|---|---|---|---|---|
"""
READ = f"""
## Other readings of KEP-5690 and KEP-6406

Where the text of a KEP can be read in two ways ([findings.md](findings.md)), the other reading is a switch. They are
off by default, and exist with `kubernetes {READ_IN}` alone. Each is shown by a spec that fails without it.

| quirk | KEP, finding | with it | by default |
|---|---|---|---|
"""


def page() -> str:
    faults = [
        f"| `{name}` | {', '.join(sorted(quirk.versions))} | {quirk.effect} | {quirk.off} | {quirk.source} |"
        for name, quirk in QUIRKS.items()
    ]
    readings = [
        f"| `{name}` | {reading.kep}, {reading.finding} | {reading.effect} | {reading.off} |"
        for name, reading in READINGS.items()
    ]
    return HEAD + "\n".join(faults) + "\n" + READ + "\n".join(readings) + "\n"


def test_the_page_lists_every_switch(update_golden: bool):
    if update_golden:
        PAGE.write_text(page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page()


@pytest.mark.parametrize("name", READINGS)
def test_a_reading_stands_in_its_finding_and_has_a_spec(name):
    reading = READINGS[name]
    found = re.search(rf"^### {reading.finding}\. .*?(?=^##|\Z)", FINDINGS, re.M | re.S)
    assert found is not None
    assert f"Switch: `{name}`" in found[0]
    assert f"quirks {{ {name}: true }}" in SPECS[reading.kep]
    assert f'scenario "{name}: ' in SPECS[reading.kep]


def test_every_finding_has_a_switch_or_says_why_not():
    for number, text in re.findall(r"^### (\d+)\. (.*?)(?=^##|\Z)", FINDINGS, re.M | re.S):
        assert "Switch: `" in text or "No switch: " in text or "Nothing to choose" in text, number


def test_faults_and_readings_have_different_names():
    assert not QUIRKS.keys() & READINGS.keys()
