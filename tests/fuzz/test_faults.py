"""The fuzzer finds faults that are put back on purpose, with no hint; a sample, the table is in docs/fuzzing.md."""

import re
from pathlib import Path

import pytest
from faults import FAULTS, Dice

from dralang.allocator.quirks import QUIRKS
from dralang.check.analysis import Analyzer
from dralang.fuzz.example import play_example
from dralang.run.workshop import Workshop

PAGE = Path(__file__).resolve().parents[2] / "docs" / "fuzzing.md"
SAMPLE = {
    "taints-ignored": "taints-respected",
    "selectors-ignored": "selectors-hold",
    "constraints-ignored": "constraints-hold",
    "nobody-is-woken": "who-waits-has-to",
    "devices-in-use-are-free": "no-device-over-allocated",
    "finished-pods-keep-devices": "reservations-of-the-living",
    "orphans-stay": "generated-claims-go-with-their-pod",
    "everybody-is-done": "running-pods-keep-their-claims",
    "counters-forget-shares": "no-counter-below-zero",
    "any-taint-blocks": "refusals-are-right",
}
"""Faults that are found soon, and the invariant that finds them."""


def first_failure(fault, limit):
    """The number of the first example that fails, and every way in which it does."""
    quirks = f"quirks {{ {fault.quirk}: true }}\n" if fault.quirk else ""
    text = f'kubernetes 1.37\n{quirks}fuzz "f" from std.random() {{ expect all pods are settled }}\n'
    analysis = Analyzer().text(Path("f.dra"), "f.dra", text.encode())
    scenario, workshop = analysis.scenarios[0], Workshop()
    with pytest.MonkeyPatch.context() as patch:
        fault.apply(patch)
        for number in range(limit):
            example = play_example(scenario, Dice(number), workshop)
            if example.failure is not None:
                failures = (example.failure, *example.played.failures)
                return number + 1, [each.expected.partition(" (")[0] for each in failures]
    return None, []


@pytest.mark.parametrize("name", SAMPLE)
def test_a_fault_is_found(name):
    number, broken = first_failure(FAULTS[name], 250)
    assert number is not None
    assert SAMPLE[name] in broken


def test_faults_are_of_many_areas_and_quirks_exist():
    assert len(FAULTS) == 25
    assert len({fault.area for fault in FAULTS.values()}) >= 8
    assert {fault.quirk for fault in FAULTS.values() if fault.quirk} <= set(QUIRKS)


def test_the_page_has_a_row_for_every_fault():
    rows = re.findall(r"^\| `([a-z-]+)` \| ([A-Z]\d+) \|", PAGE.read_text(), re.M)
    assert rows == [(name, fault.entry) for name, fault in FAULTS.items()]
