"""The fuzzer finds faults that are put back on purpose, with no hint; a sample, the table is in docs/fuzzing.md."""

import re
from pathlib import Path

import pytest
from counts import LONG
from faults import FAULTS, first_failure

from dralang.allocator.quirks import QUIRKS

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
    "any-taint-blocks": "first-choice-in-order",
    "sharers-not-counted": "sharers-are-counted",
}
"""Faults that are found soon, and the invariant that finds them."""


@pytest.mark.parametrize("name", SAMPLE)
def test_a_fault_is_found(name):
    number, broken = first_failure(FAULTS[name], 250)
    assert number is not None
    assert SAMPLE[name] in broken


@pytest.mark.skipif(not LONG, reason="two minutes: .ci/long has it")
def test_nearly_all_faults_are_found_within_two_thousand_examples():
    missed = [name for name, fault in FAULTS.items() if first_failure(fault, 2_000)[0] is None]
    assert len(missed) <= 2, missed


def test_faults_are_of_many_areas_and_quirks_exist():
    assert len(FAULTS) == 25
    assert len({fault.area for fault in FAULTS.values()}) >= 8
    assert {fault.quirk for fault in FAULTS.values() if fault.quirk} <= set(QUIRKS)


def test_the_page_has_a_row_for_every_fault():
    rows = re.findall(r"^\| `([a-z-]+)` \| ([A-Z]\d+) \|", PAGE.read_text(), re.M)
    assert rows == [(name, fault.entry) for name, fault in FAULTS.items()]
