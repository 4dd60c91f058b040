"""Files of cases: what is read, what is refused and how it is said."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from case_data import ALLOCATION, CASES, CEL, SCHEDULING, VALIDATION

from dralang.conform import cases as conform_cases
from dralang.conform.cases import Case, find_case_files, read_bytes, read_cases
from dralang.diagnostics.diagnostic import DiagnosticLog


def read(data: bytes | str) -> tuple[list[Case], list[tuple[str, str, str]]]:
    log = DiagnosticLog()
    found = list(read_bytes(data.encode() if isinstance(data, str) else data, "a.jsonl", log))
    return found, [(item.code, item.message, str(item.span)) for item in log.sorted()]


def without(case: dict, name: str) -> dict:
    return {key: value for key, value in case.items() if key != name}


def test_every_kind_is_read_with_its_place():
    text = "\n\n".join(json.dumps(case) for case in CASES.values())
    found, problems = read(text)
    assert problems == []
    assert [(case.kind, case.line, case.place) for case in found] == [
        ("validation", 1, "a.jsonl:1"),
        ("cel", 3, "a.jsonl:3"),
        ("allocation", 5, "a.jsonl:5"),
        ("scheduling", 7, "a.jsonl:7"),
    ]


BAD_LINES = {
    "no JSON": (b'{"kind": }', "this line is no JSON: expecting value", 10),
    "not UTF-8": (b'{"kind": "\xff"}', "this line is not UTF-8", 11),
    "nested without end": (b"[" * 200_000, "this line is nested too deeply", 1),
    "no number": (b'{"kind": NaN}', "this line is no JSON: `NaN` is no number", 1),
    "half of a character": (b'{"kind": "\\ud800"}', "a text holds half of a surrogate pair", 1),
    "a list": (b"[]", "a case is a JSON object", 1),
    "no kind": (b"{}", "a case has a `kind`", 1),
    "a kind that is no text": (b'{"kind": ["cel"]}', "a case has a `kind`", 1),
    "an unknown kind": (b'{"kind": "cell"}', "there is no kind of case `cell`", 1),
    "a missing id": (without(CEL, "id"), "this is no cel case: object missing required field `id`", 1),
    "a missing device": (without(CEL, "device"), "this is no cel case: object missing required field `device`", 1),
    "a wrong purpose": (
        {**CEL, "purpose": "selekt"},
        "this is no cel case: invalid enum value 'selekt' - at `$.purpose`",
        1,
    ),
    "a gate that is no switch": (
        {**CEL, "featureGates": {"A": "on"}},
        "this is no cel case: expected `bool`, got `str` - at `$.featureGates[...]`",
        1,
    ),
    "an answer of another kind": (
        {**CEL, "want": []},
        "this is no cel case: expected `object | null`, got `array` - at `$.want`",
        1,
    ),
    "an object that is none": (
        {**VALIDATION, "object": 1},
        "this is no validation case: expected `object`, got `int` - at `$.object`",
        1,
    ),
    "an object without metadata": (
        {**ALLOCATION, "objects": [{"kind": "Node"}]},
        "this is no allocation case: object missing required field `metadata` - at `$.objects[0]`",
        1,
    ),
    "an unknown step": (
        {**SCHEDULING, "steps": [{"paint": []}]},
        "this is no scheduling case: object contains unknown field `paint` - at `$.steps[0]`",
        1,
    ),
    "a version that is not modelled": (
        {**CEL, "kubernetes": "1.20"},
        "`1.20` is no Kubernetes version that is modelled",
        1,
    ),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_a_line_that_is_no_case_is_named_and_the_others_are_read(case: str):
    line, message, column = BAD_LINES[case]
    data = line if isinstance(line, bytes) else json.dumps(line).encode()
    found, problems = read(json.dumps(CEL).encode() + b"\n" + data + b"\n" + json.dumps(VALIDATION).encode())
    assert [each.id for each in found] == ["driver-name", "class-without-name"]
    ((code, text, place),) = problems
    assert (code, place) == ("DRA0702", f"a.jsonl:2:{column}")
    assert text == message


def test_a_file_of_something_else_ends_soon():
    found, problems = read("word\n" * 10_000)
    assert found == []
    assert len(problems) == conform_cases.MAX_BAD_LINES + 1
    assert ("DRA0701", "20 lines of `a.jsonl` are no cases; the rest of the file is left alone", "None") in problems


BAD_FILES = {
    "not there": (None, "a.jsonl", "no such file or directory"),
    "not gzip": (b"{}", "a.jsonl.gz", "not a gzipped file"),
    "cut off": (gzip.compress(b"{}" * 1000)[:-10], "a.jsonl.gz", "compressed file ended before"),
    "broken inside": (
        (packed := gzip.compress(json.dumps(CEL).encode() * 20))[:40] + b"\0\0\0\0" + packed[44:],
        "a.jsonl.gz",
        "",
    ),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_cannot_be_read_is_a_diagnostic(case: str, tmp_path: Path):
    data, name, reason = BAD_FILES[case]
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    log = DiagnosticLog()
    list(read_cases(path, name, log))
    assert {item.code for item in log.sorted()} & {"DRA0701"}
    assert reason in log.sorted()[0].message.lower()


def test_bombs_are_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(conform_cases, "MAX_FILE_BYTES", 2_000_000)
    monkeypatch.setattr(conform_cases, "MAX_LINE_BYTES", 100_000)
    for text, message in {
        b"\n" * 4_000_000: "`bomb.jsonl.gz` is larger than 2,000,000 bytes",
        b" " * 4_000_000: "line 1 of `bomb.jsonl.gz` is longer than 100,000 bytes",
    }.items():
        path = tmp_path / "bomb.jsonl.gz"
        path.write_bytes(gzip.compress(text))
        log = DiagnosticLog()
        assert list(read_cases(path, path.name, log)) == []
        assert [item.message for item in log.sorted()] == [message]


def test_a_folder_stands_for_its_files_of_cases(tmp_path: Path):
    for name in ("b.jsonl", "a.jsonl.gz", "notes.txt", ".hidden.json"):
        (tmp_path / name).touch()
    (tmp_path / "folder.jsonl").mkdir()
    assert [path.name for path in find_case_files(tmp_path)] == ["a.jsonl.gz", "b.jsonl"]
    assert find_case_files(tmp_path / "b.jsonl") == (tmp_path / "b.jsonl",)


WANTED: dict[str, tuple[dict[str, Any], str, str | None]] = {
    "the version that answered": ({}, "1.37", "want"),
    "another version": ({}, "1.38", None),
    "a version with the same answer": ({"versions": ["1.37", "1.38"]}, "1.38", "want"),
    "a version with an answer of its own": (
        {"versions": ["1.37", "1.38"], "wantByVersion": {"1.38": "other"}},
        "1.38",
        "other",
    ),
    "a version that was not asked": ({"versions": ["1.37", "1.38"]}, "1.36", None),
}


@pytest.mark.parametrize("case", WANTED)
def test_what_was_recorded_for_a_version(case: str):
    more, version, wanted = WANTED[case]
    found = Case("cel", "a", {"kubernetes": "1.37", "want": "want", **more}, "a.jsonl", 1)
    assert found.wanted(version) == wanted
