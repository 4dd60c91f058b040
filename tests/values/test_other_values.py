"""Versions, durations, times and names."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dralang.values.duration import format_duration, parse_duration
from dralang.values.names import (
    c_identifier_errors,
    dns_label_errors,
    dns_subdomain_errors,
    is_uuid,
    label_key_errors,
    label_value_errors,
)
from dralang.values.semver import parse_semver, parse_semver_leniently
from dralang.values.times import normalize_micro_time, normalize_time

ASCENDING = [
    "0.0.1",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-10",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-beta",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "1.10.0",
    "2.0.0",
]


def test_versions_are_ordered_by_precedence():
    versions = [parse_semver(text) for text in ASCENDING]
    assert sorted(versions) == versions
    assert all(one < two and one != two and two >= one for one, two in itertools.pairwise(versions))


def test_build_metadata_does_not_count_but_is_kept():
    assert parse_semver("1.2.3+one") == parse_semver("1.2.3+two")
    assert str(parse_semver("1.2.3-rc.1+b.7")) == "1.2.3-rc.1+b.7"


NO_VERSIONS = [
    "",
    "1",
    "1.2",
    "v1.2.3",
    "1.2.3.4",
    "01.2.3",
    "1.2.3-",
    "1.2.3-01",
    "1.2.3+",
    "1.-1.3",
    "1.2.99999999999999999999",
    "١.2.3",
]


@pytest.mark.parametrize("text", NO_VERSIONS)
def test_no_version(text):
    with pytest.raises(ValueError, match=r"."):
        parse_semver(text)


LENIENT = {"v1": "1.0.0", "v01.002": "1.2.0", "1.2.3-rc.1": "1.2.3-rc.1", "v0": "0.0.0"}


@pytest.mark.parametrize(("text", "shown"), LENIENT.items())
def test_lenient_versions(text, shown):
    assert str(parse_semver_leniently(text)) == shown


DURATIONS = {"10s": 10_000, "1m": 60_000, "1h30m": 5_400_000, "250ms": 250, "1.5s": 1500, "0s": 0, "1h0m1s": 3_601_000}


@pytest.mark.parametrize(("text", "milliseconds"), DURATIONS.items())
def test_durations(text, milliseconds):
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize("text", ["", "10", "s", "1d", "1m1h", "-1s", "1 s", "1.5m", "9" * 40 + "s", "١s"])
def test_no_duration(text):
    with pytest.raises(ValueError, match=r"."):
        parse_duration(text)


def test_a_number_without_unit_is_told_the_units():
    with pytest.raises(ValueError, match="`10s`, `10m` or `10ms`"):
        parse_duration("10")


@settings(derandomize=True)
@given(st.integers(0, 10**14))
def test_durations_round_trip(milliseconds):
    assert parse_duration(format_duration(milliseconds)) == milliseconds


TIMES = {
    "UTC": ("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z"),
    "an offset": ("2026-01-01T01:30:00+02:00", "2025-12-31T23:30:00Z"),
    "a fraction is cut": ("2026-01-31T12:00:00.999Z", "2026-01-31T12:00:00Z"),
    "the zero time is not shown": ("0001-01-01T00:00:00Z", None),
    "early years keep their zeros": ("0100-01-01T00:00:00Z", "0100-01-01T00:00:00Z"),
}


@pytest.mark.parametrize(("text", "shown"), TIMES.values(), ids=TIMES)
def test_times(text, shown):
    assert normalize_time(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-31",
        "2026-01-31 12:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:00",
        "0001-01-01T00:00:00+10:00",
        "2026-01-01t00:00:00z",
    ],
)
def test_no_time(text):
    with pytest.raises(ValueError, match=r"."):
        normalize_time(text)


def test_micro_times_need_six_places():
    assert normalize_micro_time("2026-01-31T12:00:00.500000Z") == "2026-01-31T12:00:00.500000Z"
    assert normalize_micro_time("2026-01-31T14:00:00.000001+02:00") == "2026-01-31T12:00:00.000001Z"
    with pytest.raises(ValueError, match="microseconds"):
        normalize_micro_time("2026-01-31T12:00:00Z")


NAMES = {
    "label": (dns_label_errors, ["a", "a-b", "0", "x" * 63], ["", "A", "a.b", "-a", "a-", "x" * 64, "é", "a\n"]),
    "subdomain": (dns_subdomain_errors, ["a", "a.b-c", "x" * 253], ["", "A", ".a", "a..b", "a_b", "x" * 254]),
    "identifier": (c_identifier_errors, ["a", "_", "A1"], ["", "1a", "a-b", "a.b"]),
    "label key": (label_key_errors, ["a", "a.b_C", "x.io/y"], ["", "/a", "a/", "a/b/c", "a b", "X.io/y", "x" * 64]),
    "label value": (label_value_errors, ["", "a", "A.b_c-d"], ["-a", "a b", "x" * 64, "é"]),
}


@pytest.mark.parametrize(("check", "good", "bad"), NAMES.values(), ids=NAMES)
def test_names(check, good, bad):
    assert [name for name in good if check(name)] == []
    assert [name for name in bad if not check(name)] == []


def test_a_long_bad_label_breaks_two_rules():
    assert len(dns_label_errors("A" * 64)) == 2


def test_uuids_are_in_lower_case():
    assert is_uuid("4b3f5a52-2f3c-4d5e-8a61-7d2a9e0c1b2d")
    assert not is_uuid("4B3F5A52-2f3c-4d5e-8a61-7d2a9e0c1b2d")
    assert not is_uuid("{4b3f5a52-2f3c-4d5e-8a61-7d2a9e0c1b2d}")
