"""`dralang conform`: what is printed, what is written, how it ends."""

import gzip
import json
from typing import Any

import case_data
import pytest
from case_data import VALIDATION
from cli_project import Project

from dralang.conform.replay import Replayer

CEL: dict[str, Any] = {**case_data.CEL, "versions": ["1.36", "1.37"]}
OTHER = {**CEL, "id": "other-result", "want": {"cost": 4, "result": False}}
BROKEN = {**CEL, "id": "syntax-error", "expression": "device.", "want": {"compile": "compilation failed: another text"}}
LOST = {**VALIDATION, "id": "lost-gate", "featureGates": {"NoSuchGate": True}}


def lines(*cases: dict[str, Any]) -> str:
    return "".join(json.dumps(case) + "\n" for case in cases)


ENDS = {
    "all as recorded": ([CEL, VALIDATION], [], 0, "2 passed, 0 failed"),
    "a difference": ([CEL, OTHER], [], 1, "1 passed, 1 failed"),
    "stopped at the first difference": ([OTHER, OTHER, CEL], ["-x"], 1, "0 passed, 1 failed"),
    "another version": ([CEL, VALIDATION], ["--k8s=1.36"], 0, "1 passed, 0 failed, 1 not recorded"),
    "nothing recorded": ([VALIDATION], ["--k8s", "1.34"], 0, "0 passed, 0 failed, 1 not recorded"),
    "chosen by id": ([CEL, OTHER, VALIDATION], ["-k", "driver"], 0, "1 passed, 0 failed"),
    "chosen by kind": ([CEL, OTHER, VALIDATION], ["-k", "validation"], 0, "1 passed, 0 failed"),
    "chosen by expression": ([CEL, OTHER, VALIDATION], ["-k", "not (other or class)"], 0, "1 passed, 0 failed"),
    "chosen twice": ([CEL, OTHER, VALIDATION], ["-k", "cel", "-k", "not other"], 0, "1 passed, 0 failed"),
    "nothing chosen": ([CEL], ["-k", "nothing"], 5, "0 passed, 0 failed"),
    "a text that reads differently": ([BROKEN], [], 0, "1 passed, 0 failed"),
    "a case that cannot be played": ([CEL, LOST], [], 4, "1 passed, 0 failed"),
    "a difference weighs more": ([OTHER, LOST], [], 1, "0 passed, 1 failed"),
}


@pytest.mark.parametrize("case", ENDS)
def test_the_exit_code_and_the_last_line(project: Project, case: str):
    cases, argv, code, last = ENDS[case]
    project.write("a.jsonl", lines(*cases))
    ran = project.run("conform", "a.jsonl", *argv)
    assert (ran.code, ran.out.splitlines()[-1]) == (code, last)


def test_a_difference_is_shown_with_its_place_and_both_values(project: Project):
    project.write("a.jsonl", lines(CEL, OTHER))
    ran = project.run("conform", "a.jsonl")
    assert ran.out == (
        "DIFFERS other-result (cel, Kubernetes 1.37)\n"
        "  in a.jsonl:2\n"
        "  at result\n"
        "    recorded  false\n"
        "    answered  true\n"
        "\n"
        "1 passed, 1 failed\n"
    )
    assert "\033[1;31mDIFFERS" in project.run("conform", "a.jsonl", "--color=always").out


def test_long_values_are_cut_and_nothing_reaches_the_terminal_raw(project: Project):
    odd = {**OTHER, "id": "evil\x1b[31m", "want": {"compile": "x" * 5_000}}
    project.write("a.jsonl", lines(odd))
    ran = project.run("conform", "a.jsonl")
    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert max(map(len, ran.out.splitlines())) < 700


def test_texts_are_reported_apart(project: Project):
    project.write("a.jsonl", lines(CEL, BROKEN))
    ran = project.run("conform", "a.jsonl")
    assert ran.code == 0
    assert ran.out.splitlines()[:4] == [
        "texts that read differently (they fail no case):",
        "  syntax-error, compile, in a.jsonl:2",
        "    recorded  compilation failed: another text",
        "    answered  compilation failed: ERROR: <input>:1:8: Syntax error: no viable alternative at input '.'",
    ]
    assert ran.out.splitlines()[4:] == ["first lines of compile errors: 0 of 1 equal", "2 passed, 0 failed"]


def test_answers_have_the_shape_of_what_was_recorded(project: Project):
    unrecorded = {key: value for key, value in VALIDATION.items() if key != "want"}
    project.write("a.jsonl", lines(CEL, OTHER, unrecorded))
    ran = project.run("conform", "a.jsonl", "--answers", "out.jsonl")
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "1 passed, 1 failed, 1 not recorded")
    written = [json.loads(line) for line in (project.root / "out.jsonl").read_text().splitlines()]
    assert [entry["id"] for entry in written] == ["driver-name", "other-result", "class-without-name"]
    assert written[0]["answer"] == {"cost": 4, "result": True, "runtimeCost": 4}
    assert (written[2]["answer"]["accepted"], written[2]["answer"]["reason"]) == (False, "Invalid")
    assert project.run("conform", "a.jsonl", "--answers", "no/such/folder").code == 4


def test_files_compressed_folders_and_standard_input(project: Project):
    project.write("cases/b.jsonl.gz", gzip.compress(lines(VALIDATION).encode()))
    project.write("cases/a.jsonl", lines(CEL))
    project.write("cases/notes.txt", "nothing")
    assert project.run("conform", "cases").out == "2 passed, 0 failed\n"
    assert project.run("conform", "cases/b.jsonl.gz", "cases/b.jsonl.gz").out == "1 passed, 0 failed\n"
    assert project.run("conform", "-", "cases/a.jsonl", stdin=lines(CEL, CEL)).out == "3 passed, 0 failed\n"


def test_durations(project: Project):
    project.write("a.jsonl", lines(CEL, VALIDATION, {**CEL, "id": "third"}))
    ran = project.run("conform", "a.jsonl", "--durations=2")
    assert ran.out.splitlines()[0] == "slowest 2 cases:"
    assert [line.split("s ", 1)[1].split()[1] for line in ran.out.splitlines()[1:3]] == ["in", "in"]
    assert len(project.run("conform", "a.jsonl", "--durations=0").out.splitlines()) == 5


REFUSED = {
    "no file": ([], "`dralang conform` needs files"),
    "a file that is not there": (["b.jsonl"], "there is no file `b.jsonl`"),
    "a folder without cases": (["empty"], "there are no cases in `empty`"),
    "an unknown version": (["a.jsonl", "--k8s=1.20"], "`--k8s`"),
    "a wrong expression": (["a.jsonl", "-k", "(a"], "a `)` is missing"),
    "a number that is none": (["a.jsonl", "--durations=x"], "`--durations` takes a whole number"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused(project: Project, case: str):
    argv, message = REFUSED[case]
    project.write("a.jsonl", lines(CEL))
    (project.root / "empty").mkdir()
    ran = project.run("conform", *argv)
    assert (ran.code, ran.out) == (4, "")
    assert message in ran.err


def test_bad_lines_and_cases_are_diagnostics_with_their_place(project: Project):
    project.write("a.jsonl", lines(CEL) + "{\n" + lines(LOST))
    ran = project.run("conform", "a.jsonl")
    assert ran.code == 4
    assert "DRA0702" in ran.err
    assert " --> a.jsonl:2:2\n" in ran.err
    assert "DRA0703" in ran.err
    assert " --> a.jsonl:3:1\n" in ran.err
    assert "case `lost-gate` cannot be played" in ran.err


def test_our_own_fault_is_no_traceback_and_no_pass(project: Project, monkeypatch: pytest.MonkeyPatch):
    def fail(self: Replayer, case: object) -> object:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(Replayer, "replay", fail)
    project.write("a.jsonl", lines(CEL))
    ran = project.run("conform", "a.jsonl")
    assert ran.code == 3
    assert "dralang has a fault: a.jsonl:1: driver-name: ZeroDivisionError: oh" in ran.err
    assert "Traceback" not in ran.err


def test_the_configuration_does_not_change_what_is_asked(project: Project):
    project.write("dralang.toml", '[dralang]\nk8s = "1.34"\n')
    project.write("a.jsonl", lines(VALIDATION))
    assert project.run("conform", "a.jsonl", env={"DRALANG_K8S": "1.35"}).out == "1 passed, 0 failed\n"
