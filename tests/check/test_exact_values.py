"""What can be said exactly, so that imported objects come back: texts, numbers, and that something is absent."""

from pathlib import Path

import pytest

from dralang.api.encode import to_json
from dralang.check.environment import EnvironmentReader
from dralang.check.files import Files
from dralang.diagnostics.diagnostic import DiagnosticLog


def declared(text):
    """The only object of a spec, as JSON."""
    log = DiagnosticLog()
    files = Files()
    environment = EnvironmentReader(files).read(files.text(Path("spec.dra"), "spec.dra", text.encode()), log)
    assert not log, [item.message for item in log.sorted()]
    (found,) = environment.objects.values()
    return to_json(found.object)


RAW = {
    "an integer": ("1", 1),
    "a number with decimals": ("1.5", 1.5),
    "a number with decimals that are zero": ("1.0", 1),
    "a whole number with an exponent": ("-1.5e3", -1500),
    "an exponent": ("1e+100", 1e100),
    "a negative exponent": ("-2.5e-3", -0.0025),
    "minus zero": ("-0.0", -0.0),
    "a number that is too large stays text": ("1e999", "1e999"),
    "a number in quotes": ('"1.5"', "1.5"),
    "a version": ("1.2.3", "1.2.3"),
    "a quantity": ("1.5Gi", "1.5Gi"),
    "null": ("null", None),
    "an empty map": ("{}", {}),
    "an empty list": ("[]", []),
    "a list of all": ('[1, 1.5, null, {}, "${"]'.replace("${", "$${"), [1, 1.5, None, {}, "${"]),
}


@pytest.mark.parametrize(("written", "meant"), RAW.values(), ids=RAW)
def test_where_no_schema_says_what_is_wanted(written, meant):
    found = declared(f"class c {{ config: [{{ opaque: {{ driver: d, parameters: {{ a: {written} }} }} }}] }}\n")
    value = found["spec"]["config"][0]["opaque"]["parameters"]["a"]
    assert (value, type(value), str(value)) == (meant, type(meant), str(meant))


def test_decimals_are_numbers_only_there():
    assert declared("node n { labels { version: 1.5 } }\n")["metadata"]["labels"]["version"] == "1.5"


TEXTS = {
    "a variable of a shell": ('"$${HOME}"', "${HOME}"),
    "what is escaped already": ('"$$${x}"', "$${x}"),
    "an opening alone": ('"a$${"', "a${"),
    "dollars without a brace": ('"$$ $x"', "$$ $x"),
}


@pytest.mark.parametrize(("written", "meant"), TEXTS.values(), ids=TEXTS)
def test_a_text_may_hold_what_looks_like_something_to_compute(written, meant):
    assert declared(f"node n {{ annotations {{ a: {written} }} }}\n")["metadata"]["annotations"]["a"] == meant


def test_so_may_an_expression_and_a_name():
    found = declared('class "$${c}" { where `a == "$${b}"` }\n')
    assert found["metadata"]["name"] == "${c}"
    assert found["spec"]["selectors"][0]["cel"]["expression"] == 'a == "${b}"'


def test_text_that_was_put_in_is_not_computed_again():
    text = 'fixture f(x) { node n { annotations { a: ${x}, b: "<${x}>" } } }\nf("$${y}")\n'
    annotations = declared(text)["metadata"]["annotations"]
    assert annotations == {"a": "${y}", "b": "<${y}>"}


def test_null_takes_away_what_is_filled_in():
    found = declared(
        "node n { labels { kubernetes.io/hostname: null, a: b }; capacity { pods: null }; allocatable { cpu: null } }\n"
    )
    assert found["metadata"]["labels"] == {"a": "b"}
    assert found["status"]["capacity"] == {"cpu": "64", "memory": "256Gi"}
    assert found["status"]["allocatable"] == {"memory": "256Gi"}


def test_an_empty_status_is_a_status():
    assert "status" not in declared("poolrequest q { driver: d }\n")
    assert declared("poolrequest q { driver: d; status {} }\n")["status"] == {}


def test_a_template_says_what_its_claims_are_labelled():
    found = declared("template t { spec { metadata { labels { a: b } } } }\n")
    assert found["spec"]["metadata"] == {"labels": {"a": "b"}}


def test_every_kind_has_a_keyword():
    assert declared("workload w { podGroupTemplates: [{ name: a }] }\n")["kind"] == "Workload"
    assert declared("poolrequest q { driver: d }\n")["kind"] == "ResourcePoolStatusRequest"
