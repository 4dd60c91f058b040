"""The editor reads every problem that dralang prints, once, at its place."""

import json
import re
from typing import Any

import pytest
from extension_folder import EXTENSION

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.render import render_place, render_text
from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax.reading import parse

_CONTRIBUTES = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))["contributes"]
PATTERNS: dict[str, list[dict[str, Any]]] = {each["name"]: each["patterns"] for each in _CONTRIBUTES["problemPatterns"]}


def problems(name: str, output: str) -> list[dict[str, str]]:
    """What the editor finds in some output with a pattern: its lines, one after the other."""
    lines = output.splitlines()
    found = []
    for start in range(len(lines)):
        problem: dict[str, str] = {}
        for pattern, line in zip(PATTERNS[name], lines[start:], strict=False):
            match = re.search(pattern["regexp"], line)
            if match is None:
                break
            problem |= {key: match[group] for key, group in pattern.items() if key != "regexp"}
        else:
            found.append(problem)
    return found


BROKEN = {
    "one error": "clas gpu { }\n",
    "several errors": "kubernetes v1.37\npod a { claim g frm x }\n\nscenario \"x\" {\n  expect a is\n}\n",
    "an error on line 12 with a related place": "\n" * 11 + "pod a {\n  claim g from one\n",
    "an odd character": "pod \u202ea\n",
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_diagnostics_are_read_once_each(name: str) -> None:
    log = DiagnosticLog()
    parse(SourceFile("specs/a file.dra", BROKEN[name]), log)
    diagnostics = [item for item in log.sorted() if item.span is not None]
    assert diagnostics
    output = render_text(diagnostics)
    found = problems("dralang", output)
    places = [item.span.position for item in diagnostics if item.span is not None]
    assert [(one["severity"], one["code"]) for one in found] == [(item.severity, item.code) for item in diagnostics]
    assert [(int(one["line"]), int(one["column"])) for one in found] == [(at.line, at.column) for at in places]
    assert {one["file"] for one in found} == {"specs/a file.dra"}
    assert all(one["message"] for one in found)
    assert problems("dralang-failure", output) == []


FAILURES = {
    "an expectation at a time": "at 10s",
    "an expectation at a time with parts": "at 1m0.25s",
    "an unexpected pass": "passes",
}


@pytest.mark.parametrize("name", FAILURES)
def test_failures_are_read_once_each(name: str) -> None:
    source = SourceFile("specs/gpu.dra", '\nscenario "x" {\n  expect train runs\n}\n')
    start = source.text.index("expect")
    output = render_place(Span(source, start, start + len("expect train runs")), FAILURES[name])
    expected = {"file": "specs/gpu.dra", "line": "3", "column": "3", "message": "expect train runs"}
    assert problems("dralang-failure", output) == [expected]
    assert problems("dralang", output) == []
