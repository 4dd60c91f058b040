"""Each invariant has a page of documentation that keeps step with the code."""

import re
from pathlib import Path
from typing import Any

import pytest

from dralang.allocator.quirks import QUIRKS
from dralang.features import FeatureGates
from dralang.fuzz.retold import ORACLES
from dralang.readings import READINGS
from dralang.run.invariants.excuses import EXCUSES
from dralang.run.invariants.watch import INVARIANTS

PAGES = Path(__file__).resolve().parents[2] / "docs" / "invariants"
ALL: list[Any] = [*INVARIANTS, *ORACLES]
HEADS = ["Why it matters.", "How it is judged.", "What is excused.", "Where it comes from.", "When it breaks."]
GATES = {*FeatureGates.resolve("1.38", {}).on, "DRAPreemption", "DRAFractionalCapacityRange"}


def text_of(name):
    return (PAGES / f"{name}.md").read_text()


def test_there_is_a_page_for_each_and_no_other():
    assert {path.stem for path in PAGES.iterdir()} == {each.name for each in ALL}


@pytest.mark.parametrize("invariant", ALL, ids=lambda each: each.name)
def test_a_page_says_what_holds_and_what_to_do(invariant):
    text = text_of(invariant.name)
    assert text.startswith(f"# {invariant.name}\n\n")
    assert " ".join(text.split("\n\n")[1].split()) == invariant.summary
    assert re.findall(r"^\*\*(.+?)\*\*", text, re.M) == HEADS
    assert f"specs/invariants/{invariant.name}.dra" in text


@pytest.mark.parametrize("invariant", ALL, ids=lambda each: each.name)
def test_a_page_names_what_is_excused(invariant):
    quirks = (*EXCUSES.get(invariant.name, ()), *getattr(invariant, "quirks", ()))
    text = text_of(invariant.name)
    excused = text.partition("**What is excused.**")[2].partition("**Where")[0]
    if len(quirks) > 4:
        assert "faults of the search in older versions" in " ".join(excused.split())
    else:
        assert [quirk for quirk in quirks if f"`{quirk}`" not in excused] == []
    assert excused.split()[0] != "Nothing." or not quirks


def test_pages_name_quirks_gates_and_invariants_that_exist():
    known = {*QUIRKS, *READINGS, *(each.name for each in ALL)}
    for each in ALL:
        named = re.findall(r"`([a-z]+(?:-[a-z]+){2,})`", text_of(each.name))
        assert [name for name in named if name not in known] == []
        assert set(re.findall(r"`(DRA[A-Za-z]+)`", text_of(each.name))) <= GATES


def test_excuses_are_for_invariants_and_quirks_that_exist():
    assert set(EXCUSES) <= {each.name for each in ALL}
    assert {quirk for quirks in EXCUSES.values() for quirk in quirks} <= {*QUIRKS, *READINGS}
    assert {quirk for oracle in ORACLES for quirk in oracle.quirks} <= set(QUIRKS)
