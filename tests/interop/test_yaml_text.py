"""YAML that Kubernetes reads as meant, whatever the texts."""

import json

import pytest
from counts import count
from generated import JSON, TEXTS
from hypothesis import given, settings
from hypothesis import strategies as st

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.interop.yaml_text import yaml_documents
from dralang.manifest.reader import read_documents

PIECES = [
    "a",
    " ",
    "\n",
    "  b",
    "- c",
    "#",
    "\t",
    "\r",
    "\u2028",
    "\x85",
    ": ",
    "'",
    '"',
    "|",
    ">",
    "\n\n",
    "é",
    "%",
    "\x00",
]
LINES = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
VALUES = st.dictionaries(TEXTS | LINES, TEXTS | LINES | JSON, max_size=3)


@settings(max_examples=count(250, 5000), derandomize=True, deadline=None, database=None)
@given(st.lists(VALUES, min_size=1, max_size=2))
def test_what_is_written_reads_as_the_same(values):
    written = [{"value": value} for value in values]
    log = DiagnosticLog()
    found = read_documents(SourceFile("x.yaml", yaml_documents(written)), log)
    assert not log
    assert [document.plain() for document in found] == written


LOOKS = {
    "words that would be booleans": ({"a": "yes", "b": "y", "c": "off"}, 'a: "yes"\nb: "y"\nc: "off"\n'),
    "texts that would be numbers": ({"a": "1e3", "b": "0o17", "c": "1_0"}, 'a: "1e3"\nb: "0o17"\nc: "1_0"\n'),
    "names": ({"a": "gpu.example.com/model", "b": "v1.2.3"}, "a: gpu.example.com/model\nb: v1.2.3\n"),
    "several lines": ({"a": "set -e\n  run\n"}, "a: |\n  set -e\n    run\n"),
    "several lines that a block would change": ({"a": " x\ny "}, 'a: " x\\ny "\n'),
    "the same value twice": ({"a": [["x"]] * 2}, "a:\n- - x\n- - x\n"),
    "long texts": ({"a": "word " * 40}, f'a: "{"word " * 40}"\n'.replace('"', "'")),
    "numbers": ({"a": 1, "b": 1.5, "c": 1e100, "d": 1.0}, "a: 1\nb: 1.5\nc: 1.0e+100\nd: 1.0\n"),
}


@pytest.mark.parametrize(("value", "text"), LOOKS.values(), ids=LOOKS)
def test_it_looks_like(value, text):
    assert yaml_documents([value]) == text


KEYS = {
    "words that are booleans": ("y: 1\nOFF: 2\n", {"true": 1, "false": 2}),
    "the same words in quotes": ("'y': 1\n\"off\": 2\n", {"y": 1, "off": 2}),
    "numbers": ("0x10: 1\n017: 2\n1_0: 3\n-5: 4\n", {"16": 1, "15": 2, "10": 3, "-5": 4}),
    "numbers with decimals": ("1.50: 1\n1e3: 2\n1e6: 3\n.5: 4\n", {"1.5": 1, "1000": 2, "1e+06": 3, "0.5": 4}),
    "texts that look like something else": (
        "1.2.3: 1\n2020-01-01: 2\n1:30: 3\n",
        {"1.2.3": 1, "2020-01-01": 2, "1:30": 3},
    ),
    "an alias as a key": ("a: &k b\n*k : c\n", {"a": "b", "b": "c"}),
    "a key with an anchor": ("&k y: *k\n", {"true": True}),
    "a number too large for one": ("a: 1e400\n", {"a": "1e400"}),
    "a merge stands above what is before it": ("a: 1\n<<: {a: 2, b: 3}\nb: 4\n", {"a": 2, "b": 4}),
    "of several maps the first": ("<<: [{a: 1}, {a: 2, b: 3}]\n", {"a": 1, "b": 3}),
    "of several merges the last": ("<<: {a: 1}\n<<: {a: 2}\n", {"a": 2}),
    "a merge by its tag, and none in quotes": ("!!merge <<: {a: 1}\n'<<': 2\n", {"a": 1, "<<": 2}),
    "a text in base64": ("a: !!binary aMOp\n", {"a": "hé"}),
}


@pytest.mark.parametrize("case", KEYS)
def test_keys_are_what_the_tools_of_kubernetes_make_of_them(case):
    text, expected = KEYS[case]
    log = DiagnosticLog()
    [found] = read_documents(SourceFile("x.yaml", text), log)
    assert not log
    assert found.plain() == expected


def test_whole_numbers_are_sent_without_a_point():
    text = "a: 1.0\nb: 1e3\nc: -1.50\nd: 9007199254740992.0\ne: 1e21\nf: !!float 2\n"
    log = DiagnosticLog()
    [found] = read_documents(SourceFile("x.yaml", text), log)
    assert not log
    assert json.dumps(found.plain()) == ('{"a": 1, "b": 1000, "c": -1.5, "d": 9007199254740992, "e": 1e+21, "f": 2}')


NO_KEYS = {
    "nothing": ("{? : a}\n", "DRA0404", "not null"),
    "null": ("a: 1\n~: b\n", "DRA0404", "not null"),
    "two words of one meaning": ("yes: 1\non: 2\n", "DRA0402", "key `true` is given twice"),
    "an alias of a list as a key": ("a: &k [b]\n*k : c\n", "DRA0404", "not a map or a list"),
    "an alias of null as a key": ("a: &k ~\n*k : c\n", "DRA0404", "not null"),
    "a merge with a text": ("<<: a\n", "DRA0401", "`<<` takes a map"),
    "a merge with null": ("<<:\n", "DRA0401", "`<<` takes a map"),
    "a merge with a list of texts": ("<<: [{a: b}, c]\n", "DRA0401", "`<<` takes a map"),
    "a merge with an alias of a list": ("a: &l [{b: c}]\nd: {<<: *l}\n", "DRA0401", "`<<` takes a map"),
    "a key twice after a merge": ("<<: {a: 1}\na: 2\na: 3\n", "DRA0402", "key `a` is given twice"),
    "no base64": ("a: !!binary a\n", "DRA0401", "no text in base64"),
    "no text in base64": ("a: !!binary /w==\n", "DRA0401", "no text in base64"),
}


@pytest.mark.parametrize("case", NO_KEYS)
def test_keys_and_texts_that_the_tools_refuse(case):
    text, code, message = NO_KEYS[case]
    log = DiagnosticLog()
    read_documents(SourceFile("x.yaml", text), log)
    assert [item.code for item in log.sorted()] == [code]
    assert message in log.sorted()[0].message
