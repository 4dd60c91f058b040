"""Quantities: read, written and calculated as apimachinery does."""

import gzip
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dralang.values.quantity import (
    FORMAT_ERROR,
    MAX_INT64,
    NUMERIC_ERROR,
    SUFFIX_ERROR,
    ZERO,
    Quantity,
    milli_quantity,
    parse_quantity,
    quantity_of,
)

RECORDED = Path(__file__).parent / "quantities.jsonl.gz"
"""What apimachinery 0.37 says about texts: error, text, text after a sum, format, Value, MilliValue, AsInt64; then the
sum and the difference of the quantity before and this one, this one times three, and the comparison of the two."""


def answer(text: str, before: Quantity) -> dict[str, object]:
    try:
        quantity = parse_quantity(text)
    except ValueError as error:
        return {"e": str(error)}
    return {
        "s": str(quantity),
        "c": str(quantity + ZERO),
        "f": quantity.format,
        "v": quantity.value(),
        "m": quantity.milli_value(),
        "i": quantity.as_int64(),
        "Sum": str(before + quantity),
        "Diff": str(before - quantity),
        "Mul": str(quantity * 3),
        "Cmp": (before > quantity) - (before < quantity),
    }


def test_recorded_texts_are_read_written_and_calculated_as_recorded():
    before = parse_quantity("1500m")
    wrong = []
    count = 0
    for line in gzip.decompress(RECORDED.read_bytes()).decode().splitlines():
        recorded = json.loads(line)
        count += 1
        found = answer(recorded["t"], before)
        if any(recorded.get(name) != value for name, value in found.items()):
            wrong.append((recorded, found))
        if "e" not in recorded:
            before = parse_quantity(recorded["t"])
    assert count > 2900
    assert wrong == []


TEXTS = {
    "canonical text is kept": ("40Gi", "40Gi"),
    "a sign is kept": ("+5", "+5"),
    "a final point is kept": ("5.", "5."),
    "full units move up": ("1024Mi", "1Gi"),
    "thousandths of whole numbers vanish": ("1000m", "1"),
    "decimal fractions become smaller units": ("0.5", "500m"),
    "binary fractions become smaller units": ("1.5Gi", "1536Mi"),
    "below one, binary amounts are written in decimal": ("0.5Ki", "512"),
    "exponents stay exponents": ("12e6", "12e6"),
    "an exponent is kept as it was written": ("1E3", "1E3"),
    "a large E alone is a suffix": ("1E", "1E"),
    "below one billionth is rounded up": ("0.1n", "1n"),
    "negative amounts are rounded away from zero": ("-0.1n", "-1n"),
    "binary amounts are capped": ("100Ei", str(MAX_INT64)),
    "decimal amounts are not capped": ("12345678901234567890123", "12345678901234567890123"),
    "above E the suffix is lost, as in Go": ("1000E", "1"),
    "zeros in front are kept with the rest": ("007", "007"),
    "a small e is written where the text changes": ("1000E3", "1e6"),
    "a suffix alone is nothing of it": ("Gi", "0"),
}


@pytest.mark.parametrize(("text", "shown"), TEXTS.values(), ids=TEXTS)
def test_text_form(text, shown):
    assert str(parse_quantity(text)) == shown


REFUSED = {
    "nothing": ("", FORMAT_ERROR),
    "words": ("lots", FORMAT_ERROR),
    "a space before the suffix": ("5 Gi", FORMAT_ERROR),
    "bytes": ("80GB", FORMAT_ERROR),
    "a capital K": ("1K", SUFFIX_ERROR),
    "an exponent without digits": ("1e", SUFFIX_ERROR),
    "a suffix too large for a number without digits": ("Ei", NUMERIC_ERROR),
    "digits after the suffix": ("1Mi5", SUFFIX_ERROR),
    "other digits": ("１Gi", FORMAT_ERROR),
    "a line end": ("1Gi\n", FORMAT_ERROR),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_refused_text(text, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        parse_quantity(text)


def test_equal_amounts_are_equal_however_they_are_written():
    assert parse_quantity("1Gi") == parse_quantity("1024Mi")
    assert not parse_quantity("1Gi") != parse_quantity("1024Mi")  # noqa: SIM202 - both operators are under test
    assert hash(parse_quantity("1")) == hash(parse_quantity("1000m"))
    assert parse_quantity("1G") < parse_quantity("1Gi")
    assert parse_quantity("1") != 1


def test_a_sum_takes_the_way_of_writing_of_its_first_amount():
    assert str(parse_quantity("1Gi") + parse_quantity("1G")) == "2073741824"
    assert str(ZERO + parse_quantity("1Gi")) == "1Gi"
    assert str(parse_quantity("2Gi") - parse_quantity("1Gi")) == "1Gi"


def test_made_amounts():
    assert str(quantity_of(1536 * 1024**2, "BinarySI")) == "1536Mi"
    assert str(milli_quantity(1500)) == "1500m"
    assert parse_quantity("1500m").round_up(0) == quantity_of(2)
    assert parse_quantity("2").approximate_float() == 2.0
    assert -parse_quantity("5Mi") == parse_quantity("-5Mi")
    assert not ZERO
    assert parse_quantity("-3").sign == -1


HOSTILE = ["1" * 100_000, "0." + "0" * 100_000 + "1", "1e2147483647", "1e-2147483648", "9" * 5000 + "Ei", "1e9999999"]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_absurd_amounts_are_read_in_no_time(text):
    quantity = parse_quantity(text)
    assert quantity > ZERO
    assert str(quantity + quantity)
    assert quantity.value() >= -(1 << 63)


amounts = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**24),
    st.one_of(st.just(""), st.integers(0, 10**12).map(".{}".format)),
    st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "e-4"]),
).map(parse_quantity)


@settings(derandomize=True, max_examples=300)
@given(amounts, amounts)
def test_the_order_is_that_of_the_exact_amounts(one, two):
    assert (one < two) == (one.nano < two.nano)
    assert (one == two) == (one.nano == two.nano)
    assert (one + two).nano == one.nano + two.nano
    assert (one - two).nano == one.nano - two.nano


@settings(derandomize=True, max_examples=300)
@given(amounts.filter(lambda quantity: abs(quantity.nano) < 10**30))
def test_what_is_written_reads_as_the_same_amount(quantity):
    assert parse_quantity(str(quantity)) == quantity
    assert str(parse_quantity(str(quantity.canonical()))) == str(quantity.canonical())


@settings(derandomize=True, max_examples=500)
@given(st.text(st.sampled_from("0123456789.+-eEinumkKMGTP x\n")))
def test_any_text_is_read_or_refused(text):
    try:
        outcome = str(parse_quantity(text))
    except ValueError as refused:
        outcome = str(refused)
    assert outcome


HUGE = {
    "nines with a binary suffix": ("9" * 9000 + "Gi", "9223372036854775807"),
    "negative nines with a binary suffix": ("-" + "9" * 9000 + "Ki", "-9223372036854775807"),
    "zeros with a binary suffix": ("0" * 9000 + "Gi", "0"),
    "a long fraction with a binary suffix": ("0." + "9" * 9000 + "Mi", "1048576"),
}


@pytest.mark.parametrize("name", HUGE)
def test_thousands_of_digits_meet_the_cap(name):
    text, want = HUGE[name]
    assert parse_quantity(text) == parse_quantity(want)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1), ("1000m", 1), ("3000m", 3), ("1.0", 1), ("0.001k", 1), ("1e0", 1), ("2k", 2000), ("1Ki", 1024),
        ("0", 0), ("-2000m", -2), ("1500m", None), ("1n", None), ("9223372036854775807", 2**63 - 1), ("10E", None),
    ],
)  # fmt: skip
def test_an_amount_is_stored_as_short_as_can_be(text, expected):
    assert parse_quantity(text).stored_int64() == expected
