"""Refusals point at what was written."""

import pytest

from dralang.api.admission import Refused
from dralang.api.located import Located
from dralang.api.validation.errors import invalid, required
from dralang.api.verdicts import place_of, report_refusal
from dralang.diagnostics.codes_api import API_CODES
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span

SOURCE = SourceFile("x.yaml", "x" * 1000)
LONG = "a" * 60 + "b" * 60


def numbered(value, counter):
    here = next(counter)
    span = Span(SOURCE, here, here + 1)
    if isinstance(value, dict):
        return Located({name: numbered(entry, counter) for name, entry in value.items()}, span)
    if isinstance(value, list):
        return Located(tuple(numbered(entry, counter) for entry in value), span)
    return Located(value, span)


OBJECT = {
    "metadata": {"name": "x"},
    "spec": {
        "devices": [
            {"name": "a", "attributes": {"gpu.example.com/model": {"string": "m"}, "b]": {"int": 1}, LONG: {"int": 2}}}
        ],
        "requests": [{"count": 0}],
    },
}
LOCATED = numbered(OBJECT, iter(range(1000)))

PLACES = {
    "a field": ("metadata.name", ("metadata", "name")),
    "an element": ("spec.devices[0].name", ("spec", "devices", 0, "name")),
    "a key with dots": (
        "spec.devices[0].attributes[gpu.example.com/model].string",
        ("spec", "devices", 0, "attributes", "gpu.example.com/model", "string"),
    ),
    "a key with a bracket": ("spec.devices[0].attributes[b]].int", ("spec", "devices", 0, "attributes", "b]", "int")),
    "a shortened key": (
        f"spec.devices[0].attributes[{LONG[:47]}...{LONG[-46:]}]",
        ("spec", "devices", 0, "attributes", LONG),
    ),
    "a missing field": ("spec.devices[0].capacity[x]", ("spec", "devices", 0)),
    "an index beyond the end": ("spec.devices[7].name", ("spec", "devices")),
    "a field of v1 in an object of v1beta1": ("spec.requests[0].exactly.count", ("spec", "requests", 0, "count")),
    "nothing": ("", ()),
    "no path at all": ("]][[..", ()),
    "an absurd index": (f"spec.devices[{'9' * 5000}]", ("spec", "devices")),
}


@pytest.mark.parametrize(("field", "path"), PLACES.values(), ids=PLACES)
def test_the_place_of_an_error(field, path):
    assert place_of(LOCATED, field) is LOCATED.at(path)


def test_every_cause_is_reported_at_its_place():
    log = DiagnosticLog()
    causes = (required("spec.devices[0].name"), invalid("metadata.name", "x", "must be nicer"))
    report_refusal(Refused("Invalid", causes), LOCATED, log)
    first, second = log.sorted()
    assert first.message == 'the API server refuses `metadata.name`: Invalid value: "x": must be nicer'
    assert first.span == LOCATED.at(("metadata", "name")).span
    assert second.span == LOCATED.at(("spec", "devices", 0, "name")).span
    assert first.code in API_CODES


def test_a_refusal_without_causes_has_a_place_too():
    log = DiagnosticLog()
    report_refusal(Refused("BadRequest", message="unknown field", path=("spec", "devices", 0)), LOCATED, log)
    (diagnostic,) = log.sorted()
    assert diagnostic.message == "the API server refuses this (BadRequest): unknown field"
    assert diagnostic.span == LOCATED.at(("spec", "devices", 0)).span
