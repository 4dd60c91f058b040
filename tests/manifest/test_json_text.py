"""JSON is read as JSON: what it has and YAML has not, the same places, the same bounds."""

import json

import pytest
from counts import count
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.manifest import reader
from dralang.manifest.reader import read_documents

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(TEXTS, VALUES, max_size=3), min_size=1, max_size=3)


def read(text):
    log = DiagnosticLog()
    found = read_documents(SourceFile("x.json", text), log)
    return [document.plain() for document in found], [item.code for item in log.sorted()]


@settings(max_examples=count(200, 4000), derandomize=True, deadline=None, database=None)
@given(OBJECTS, st.booleans(), st.sampled_from([None, 1, "\t"]), st.sampled_from(["\n", " ", "\r\n\n", ""]))
def test_what_python_writes_reads_as_the_same(values, is_ascii, indent, between):
    written = [json.dumps(value, ensure_ascii=is_ascii, indent=indent) for value in values]
    assert read(between.join(written)) == (values, [])


@settings(max_examples=count(100, 2000), derandomize=True, deadline=None, database=None)
@given(st.dictionaries(st.text('ab"\\', max_size=3), VALUES, max_size=3), st.sampled_from([None, 2]))
def test_values_stand_where_yaml_has_them(value, indent):
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    # Other letters are none of YAML's, or end a line there.
    assume(text.replace("\n", "").isprintable())

    def places(located):
        inside = located.value
        parts = list(inside.values()) if isinstance(inside, dict) else inside if isinstance(inside, tuple) else []
        return (located.span.start, located.span.end, located.key_span, [places(part) for part in parts])

    source = SourceFile("x.json", text)
    as_json = [places(each) for each in read_documents(source, DiagnosticLog())]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "json_events", lambda _: None)
        as_yaml = [places(each) for each in read_documents(source, DiagnosticLog())]
    assert as_json == as_yaml


ANSWERS = {
    "objects one after the other": ('{"a": 1}\n{"b": [2]}{"c": {}}', [{"a": 1}, {"b": [2]}, {"c": {}}], []),
    "two escapes for one character": (r'{"a": "\ud83d\ude00"}', [{"a": "😀"}], []),
    "half a character": (r'{"a": "\ud83d", "\ude00": "\u0041"}', [{"a": "\ufffd", "\ufffd": "A"}], []),
    "lines and tabs as escapes": (r'{"a": "\tb\r\n\/c"}', [{"a": "\tb\r\n/c"}], []),
    "what ends a line in YAML": ('{"a": "b\u2028 \x85 c\x7f"}', [{"a": "b\u2028 \x85 c\x7f"}], []),
    "a long key": (f'{{"{"k" * 2000}": 1}}', [{"k" * 2000: 1}], []),
    "words in quotes are texts": ('{"yes": "no", "1": "2", "<<": "~"}', [{"yes": "no", "1": "2", "<<": "~"}], []),
    "a key that is given twice": ('{"a": 1, "a": 2}', [{"a": 2}], ["DRA0402"]),
    "YAML that looks like it": ("{a: yes, 'b': [.inf], # c\n}", [{"a": True, "b": [float("inf")]}], []),
    "words that only Python knows": ('{"a": NaN}', [{"a": "NaN"}], []),
    "an object and then something else": ('{"a": 1}\n}', [], ["DRA0401"]),
    "an object that is cut off": ('{"a": [1, 2', [], ["DRA0401"]),
    "more levels than are read": ('{"a":' * 200 + "1" + "}" * 200, [], ["DRA0403"]),
    "more levels than Python reads": ('{"a":' * 100_000, [], ["DRA0403"]),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_text_of_json(case):
    text, values, codes = ANSWERS[case]
    assert read(text) == (values, codes)
