"""`dralang check`: static diagnostics."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import Project
from cli_specs import BROKEN, PASSING

from dralang.check.analysis import Analyzer

UNUSED = "template spare { request gpu: 1 of gpu.example.com }\n"
ENDS = {
    "nothing wrong": (PASSING, [], 0, "1 file checked: no errors"),
    "an error": (BROKEN, [], 4, "1 file checked: 1 error"),
    "a warning": (UNUSED + PASSING, [], 0, "1 file checked: 1 warning"),
    "a warning that counts": (UNUSED + PASSING, ["--fail-level=warning"], 6, "1 file checked: 1 warning"),
    "an error where warnings count": (BROKEN, ["--fail-level=warning"], 4, "1 file checked: 1 error"),
}


@pytest.mark.parametrize("case", ENDS)
def test_the_exit_code_and_the_last_line(project: Project, case: str):
    text, argv, want_code, want_line = ENDS[case]
    project.write("a.dra", text)
    ran = project.run("check", *argv)
    assert (ran.code, ran.err, ran.out.splitlines()[-1]) == (want_code, "", want_line)
    summary = json.loads(project.run("check", "--format=json", *argv).out)["summary"]
    assert summary["errors"] == ("error" in want_line and "no errors" not in want_line)
    assert summary["warnings"] == ("warning" in want_line)


def test_nothing_to_check_is_not_green(project: Project):
    assert project.run("check") == (5, "0 files checked: no errors\n", "")


def test_diagnostics_of_several_files_are_in_order_and_said_once(project: Project):
    project.write("common.dra", BROKEN)
    project.write("b.dra", 'use "common.dra"\n' + PASSING)
    project.write("a.dra", BROKEN)
    ran = project.run("check")
    assert [line for line in ran.out.splitlines() if line.startswith(" --> ")] == [
        " --> a.dra:2:1",
        " --> common.dra:2:1",
    ]
    found = json.loads(project.run("check", "--format=json").out)
    assert found["schema"] == "dralang/check/1"
    assert [(item["file"], item["start"]["line"]) for item in found["diagnostics"]] == [("a.dra", 2), ("common.dra", 2)]


def test_standard_input_is_a_file_of_the_working_directory(project: Project):
    project.write("common.dra", "node worker-2\n")
    assert project.run("check", "-", stdin='use "common.dra"\n' + PASSING).code == 0
    ran = project.run("check", "-", stdin=BROKEN)
    assert (ran.code, " --> <stdin>:2:1\n" in ran.out) == (4, True)
    assert project.run("check", "-", stdin=b"\xff\xfe").code == 4


def test_a_fault_in_one_file_does_not_take_the_others_along(project: Project, monkeypatch: pytest.MonkeyPatch):
    path = Analyzer.path

    def faulty(self, file):
        if file.name == "a.dra":
            raise KeyError("x")
        return path(self, file)

    monkeypatch.setattr(Analyzer, "path", faulty)
    project.write("a.dra", PASSING)
    project.write("b.dra", BROKEN)
    ran = project.run("check")
    assert ran.code == 3
    assert "b.dra:2:1" in ran.out
    assert ran.err == "error: dralang has a fault: a.dra: KeyError: 'x'; please report it with this file\n"


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a pipe, which would never end": (os.mkfifo, "`used.dra` is no regular file"),
    "a folder": (Path.mkdir, "cannot read `used.dra`: is a directory"),
    "a link that leads nowhere": (lambda path: path.symlink_to("gone.dra"), "no such file or directory"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_no_file_is_not_used(project: Project, name: str):
    make, said = ODD[name]
    project.write("a.dra", 'use "used.dra"\n')
    make(project.root / "used.dra")
    ran = project.run("check", "a.dra")
    assert ran.code == 4
    assert "DRA0210" in ran.out + ran.err
    assert said in ran.out + ran.err
    assert "did you mean `used.dra`" not in ran.out + ran.err


def test_a_link_that_leads_nowhere_is_not_looked_for_under_its_own_name(project: Project):
    (project.root / "a.dra").symlink_to("gone.dra")
    ran = project.run("check", "a.dra")
    assert (ran.code, ran.err) == (4, "error: `a.dra` is a link that leads nowhere\n")
