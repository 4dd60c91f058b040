"""Every code of this family is provoked by its own example."""

from pathlib import Path

import pytest

from dralang.check import support
from dralang.check.analysis import Analyzer
from dralang.diagnostics.codes_check import CHECK_CODES
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.manifest.objects import read_manifest
from dralang.run.player import play
from dralang.run.workshop import Workshop

SPEC_CODES = [
    code for code, entry in CHECK_CODES.items() if entry.example and not code.startswith("DRA04") and code != "DRA0690"
]
MANIFEST_CODES = [
    code for code in CHECK_CODES if code.startswith("DRA04") and code != "DRA0407" and CHECK_CODES[code].example
]


@pytest.mark.parametrize("code", SPEC_CODES)
def test_example_of_a_spec_provokes_its_code(code: str, tmp_path: Path) -> None:
    analysis = Analyzer().text(tmp_path / "example.dra", "example.dra", CHECK_CODES[code].example.encode())
    assert code in {diagnostic.code for diagnostic in analysis.diagnostics}


@pytest.mark.parametrize("code", MANIFEST_CODES)
def test_example_of_a_manifest_provokes_its_code(code: str) -> None:
    log = DiagnosticLog()
    read_manifest(SourceFile("example.yaml", CHECK_CODES[code].example), log)
    assert code in {diagnostic.code for diagnostic in log.sorted()}


def test_kinds_that_are_not_modelled_are_named(tmp_path: Path) -> None:
    (tmp_path / "dralang.toml").touch()
    (tmp_path / "x.yaml").write_text(
        CHECK_CODES["DRA0407"].example + "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: node-1\n"
    )
    analysis = Analyzer().text(tmp_path / "a.dra", "a.dra", b'use "x.yaml"\n')
    assert [(d.code, d.severity, d.message) for d in analysis.diagnostics] == [
        ("DRA0407", "note", "not modelled and left out: 1 ConfigMap")
    ]


def test_a_manifest_that_refers_to_something_unknown_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "dralang.toml").touch()
    (tmp_path / "x.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n"
        "spec:\n  priorityClassName: gone\n  containers:\n  - {name: main, image: pause}\n"
    )
    analysis = Analyzer().text(tmp_path / "a.dra", "a.dra", b'use "x.yaml"\n')
    assert [(d.code, d.severity) for d in analysis.diagnostics] == [("DRA0216", "warning")]


def test_a_scenario_that_cannot_run_yet_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(support.UNSUPPORTED_GATES, "DRAPreemption", "preemption of device users")
    spec = b'kubernetes 1.38\ngates { DRAPreemption: true }\nscenario "later" { expect all pods are settled }\n'
    analysis = Analyzer().text(tmp_path / "a.dra", "a.dra", spec)
    assert not analysis.has_errors
    played = play(analysis.scenarios[0], Workshop())
    assert played.verdict == "refused"
    assert [diagnostic.code for diagnostic in played.diagnostics] == ["DRA0690"]
