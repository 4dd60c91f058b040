"""YAML that Kubernetes reads as meant, whatever the texts."""

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
