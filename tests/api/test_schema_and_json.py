"""The schema, and JSON to objects and back."""

import json
from collections.abc import Mapping

import pytest
from apiobjects import objects_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dralang.api.conversion import from_current, not_carried, to_current, versioned_json
from dralang.api.decode import DecodeError, decode, from_json
from dralang.api.encode import to_json
from dralang.api.kinds import KIND_OF_KEYWORD, KINDS, split_api_version, type_in_version
from dralang.api.located import Located
from dralang.api.resourceclaim import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
)
from dralang.api.resourceslice import Device, ResourceSlice
from dralang.api.schema import field_at, fields_of
from dralang.diagnostics.codes_api import API_CODES
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span

SOURCE = SourceFile("x.yaml", " " * 100_000)
QUICK = settings(derandomize=True, max_examples=60, suppress_health_check=list(HealthCheck), deadline=None)


def located(value, counter=None):
    """Any JSON value with a place of its own for every part."""
    counter = counter if counter is not None else iter(range(0, 90_000, 2))
    here = next(counter)
    span, key_span = Span(SOURCE, here, here + 1), Span(SOURCE, here + 1, here + 2)
    if isinstance(value, Mapping):
        return Located({name: located(entry, counter) for name, entry in value.items()}, span, key_span)
    if isinstance(value, list):
        return Located(tuple(located(entry, counter) for entry in value), span, key_span)
    return Located(value, span, key_span)


def test_fields_are_named_as_in_the_api():
    fields = fields_of(ResourceSlice)
    assert list(fields) == ["metadata", "spec"]
    device = field_at(ResourceSlice, ("spec", "devices", 0, "attributes", "model", "string"))
    assert device is not None
    assert (device.attribute, device.shape, device.format, device.nullable) == ("string", "scalar", "string", True)
    devices = field_at(ResourceSlice, ("spec", "devices"))
    assert devices is not None
    assert (devices.shape, devices.format, devices.struct) == ("list", "struct", Device)
    capacity = field_at(ResourceSlice, ("spec", "devices", 3, "capacity", "memory", "value"))
    assert capacity is not None
    assert (capacity.format, capacity.always) == ("quantity", True)
    effect = field_at(KINDS["DeviceTaintRule"].type, ("spec", "taint", "effect"))
    assert effect is not None
    assert effect.enum == ("None", "NoSchedule", "NoExecute")
    assert field_at(ResourceSlice, ("spec", "nope")) is None
    assert field_at(ResourceSlice, ("spec", "driver", "deeper")) is None


def test_every_kind_can_be_walked_and_has_no_field_without_format():
    seen = set()
    todo = [info.type for info in KINDS.values()]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            todo += [field.struct for field in fields_of(here).values() if field.struct is not None]
    assert len(seen) > 200


def test_kinds():
    assert KINDS["ResourceClaim"].api_version == "resource.k8s.io/v1"
    assert KIND_OF_KEYWORD["taintrule"].name == "DeviceTaintRule"
    assert split_api_version("v1") == ("", "v1")
    assert split_api_version("resource.k8s.io/v1beta2") == ("resource.k8s.io", "v1beta2")


WRONG = {
    "a field that does not exist": (
        {"spec": {"devices": {"request": []}}},
        [("DRA0301", "DeviceClaim has no field `request`", ("requests",))],
    ),
    "case counts": ({"spec": {"Devices": {}}}, [("DRA0301", "ResourceClaimSpec has no field `Devices`", ("devices",))]),
    "text for a list": (
        {"spec": {"devices": {"requests": "gpu"}}},
        [("DRA0302", "a list is needed here, not text `gpu`", ())],
    ),
    "text for a number": (
        {"spec": {"devices": {"requests": [{"exactly": {"count": "two"}}]}}},
        [("DRA0302", "an integer is needed here, not text `two`", ())],
    ),
    "a boolean is no number": (
        {"spec": {"devices": {"requests": [{"exactly": {"count": True}}]}}},
        [("DRA0302", "an integer is needed here, not a boolean `true`", ())],
    ),
    "a fraction is no integer": (
        {"spec": {"devices": {"requests": [{"exactly": {"count": 1.0}}]}}},
        [("DRA0302", "an integer is needed here, not a number with decimals `1.0`", ())],
    ),
    "a number for text": (
        {"metadata": {"name": 5}},
        [("DRA0302", "text is needed here, not an integer `5`", ())],
    ),
    "a quantity with an unknown suffix": (
        {"spec": {"devices": {"requests": [{"exactly": {"capacity": {"requests": {"memory": "80GB"}}}}]}}},
        [("DRA0303", "`80GB` is not a quantity", ())],
    ),
    "more than 64 bits": (
        {"spec": {"devices": {"requests": [{"exactly": {"count": 2**63}}]}}},
        [("DRA0304", "`9223372036854775808` is out of range", ())],
    ),
    "a time of day without date": (
        {"metadata": {"creationTimestamp": "12:00"}},
        [("DRA0305", "`12:00` is not a time", ())],
    ),
    "everything at once": (
        {"metadata": {"nam": "x", "labels": ["a"]}, "spec": {"devices": {"config": {}}}},
        [
            ("DRA0301", "ObjectMeta has no field `nam`", ("name",)),
            ("DRA0302", "a map is needed here, not a list", ()),
            ("DRA0302", "a list is needed here, not a map", ()),
        ],
    ),
}


@pytest.mark.parametrize(("value", "expected"), WRONG.values(), ids=WRONG)
def test_what_does_not_decode_is_reported_at_its_place(value, expected):
    log = DiagnosticLog()
    assert decode(ResourceClaim, located(value), log) is None
    found = [(item.code, item.message, item.expected) for item in log.sorted()]
    assert [(code, expected_names) for code, _, expected_names in found] == [
        (code, names) for code, _, names in expected
    ]
    assert all(want in message for (_, message, _), (_, want, _) in zip(found, expected, strict=True))
    assert all(item.span is not None and item.code in API_CODES for item in log.sorted())
    with pytest.raises(DecodeError):
        from_json(ResourceClaim, value)


def test_an_unknown_field_is_reported_at_its_key_and_lists_the_others():
    value = located({"spec": {"devices": {"request": []}}})
    log = DiagnosticLog()
    decode(ResourceClaim, value, log)
    (diagnostic,) = log.sorted()
    assert diagnostic.span == value.at(("spec", "devices", "request")).key_span
    assert diagnostic.help == "its fields: config, constraints, requests"


def test_a_decode_error_says_where():
    value = {"spec": {"devices": {"requests": [{}, {"exactly": {"capacity": {"requests": {"memory": "x"}}}}]}}}
    with pytest.raises(DecodeError) as caught:
        from_json(ResourceClaim, value)
    assert caught.value.path == ("spec", "devices", "requests", 1, "exactly", "capacity", "requests", "memory")
    assert str(caught.value).startswith(
        "spec.devices.requests[1].exactly.capacity.requests.memory: `x` is not a quantity"
    )


def test_null_is_not_given_and_in_a_list_the_empty_value():
    claim = from_json(ResourceClaim, {"spec": {"devices": {"requests": [None], "config": None}}, "status": None})
    assert claim == ResourceClaim(spec=ResourceClaimSpec(DeviceClaim(requests=(DeviceRequest(),))))


NUMBERS = {0.5: "500m", 2: "2", 1e21: "1e21", 1.5e-7: "150e-9", 2**63: "9223372036854775808", -1: "-1"}


@pytest.mark.parametrize(("number", "shown"), NUMBERS.items())
def test_quantities_may_be_numbers(number, shown):
    slice_ = from_json(ResourceSlice, {"spec": {"devices": [{"capacity": {"x": {"value": number}}}]}})
    assert str(slice_.spec.devices[0].capacity["x"].value) == shown


def test_nesting_without_end_is_refused():
    value: object = "x"
    for _ in range(100_000):
        value = [value]
    with pytest.raises(DecodeError):
        from_json(ResourceClaim, value)
    nested: dict[str, object] = {"name": "t"}
    for _ in range(3000):
        nested = {"name": "t", "compositePodGroupTemplates": [nested]}
    with pytest.raises(DecodeError, match="nested too deeply"):
        from_json(KINDS["Workload"].type, {"spec": {"compositePodGroupTemplates": [nested]}})


def test_what_go_leaves_out_is_left_out():
    claim = ResourceClaim(spec=ResourceClaimSpec(DeviceClaim(requests=(DeviceRequest(exactly=ExactDeviceRequest()),))))
    assert to_json(claim) == {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {},
        "spec": {"devices": {"requests": [{"name": "", "exactly": {"deviceClassName": ""}}]}},
        "status": {},
    }
    assert to_json(ResourceClaim())["spec"] == {"devices": {"requests": None}}


def test_a_pointer_to_an_empty_value_is_written():
    sent = {"name": "x", "attributes": {"a": {"string": ""}, "b": {"bool": False}, "c": {"int": 0}}, "allNodes": False}
    value = from_json(ResourceSlice, {"spec": {"devices": [sent]}})
    assert to_json(value)["spec"]["devices"] == [sent]


@pytest.mark.parametrize("kind", KINDS)
@QUICK
@given(data=st.data())
def test_objects_survive_json(kind, data):
    value = data.draw(objects_of(KINDS[kind].type))
    written = json.loads(json.dumps(to_json(value)))
    assert from_json(KINDS[kind].type, written) == value
    assert to_json(from_json(KINDS[kind].type, written)) == written


@pytest.mark.parametrize("kind", ["ResourceSlice", "ResourceClaim", "ResourceClaimTemplate"])
@QUICK
@given(data=st.data())
def test_objects_survive_v1beta1_unless_it_is_said(kind, data):
    value = data.draw(objects_of(KINDS[kind].type))
    back = to_current(from_current(value, "v1beta1"))
    assert (back == value) == (not_carried(value, "v1beta1") == ())
    written = json.loads(json.dumps(versioned_json(value, "v1beta1")))
    assert written["apiVersion"] == "resource.k8s.io/v1beta1"
    assert to_current(from_json(type_in_version(KINDS[kind], "v1beta1"), written)) == back


def test_what_v1beta1_cannot_say():
    request = DeviceRequest(name="a", exactly=ExactDeviceRequest())
    claim = ResourceClaim(spec=ResourceClaimSpec(DeviceClaim(requests=(DeviceRequest(name="b"), request))))
    assert not_carried(claim, "v1beta1") == ("spec.devices.requests[1].exactly",)
    assert not_carried(claim, "v1beta2") == ()


def mutated(draw, value):
    """The value with one part replaced by something else."""
    if isinstance(value, dict) and value and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(value)))
        return {**value, name: mutated(draw, value[name])}
    if isinstance(value, list) and value and draw(st.booleans()):
        index = draw(st.integers(0, len(value) - 1))
        return [*value[:index], mutated(draw, value[index]), *value[index + 1 :]]
    if isinstance(value, dict) and draw(st.booleans()):
        return {**value, draw(st.sampled_from(["surprise", "", "kind"])): 1}
    return draw(st.sampled_from([None, True, 0, -1, 1.5, 2**64, "", "x", [], {}, [None], [[]], {"a": None}]))


@pytest.mark.parametrize("kind", ["ResourceSlice", "ResourceClaim", "DeviceClass", "Pod", "PodGroup"])
@QUICK
@given(data=st.data())
def test_both_ways_of_decoding_agree(kind, data):
    value = mutated(data.draw, to_json(data.draw(objects_of(KINDS[kind].type))))
    log = DiagnosticLog()
    decoded = decode(KINDS[kind].type, located(value), log)
    assert (decoded is None) == log.has_errors
    if decoded is None:
        with pytest.raises(DecodeError):
            from_json(KINDS[kind].type, value)
    else:
        assert from_json(KINDS[kind].type, value) == decoded
