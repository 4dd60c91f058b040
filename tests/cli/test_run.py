"""`dralang run`: the timeline and the verdicts of a file."""

import json

import pytest
from cli_project import Project
from cli_specs import BROKEN, CREATE, FAILS, PASSES, PASSING, scenario, spec

from dralang.fuzz import found
from dralang.run.outcome import Failure

STORY = spec(
    scenario("one fits", CREATE + PASSES + FAILS + "  finish train\n  create train\n  expect serve runs\n", ""),
    scenario("another"),
)


def test_the_timeline_says_when_what_happened_to_whom_and_why(project: Project):
    project.write("a.dra", PASSING)
    ran = project.run("run", "a.dra")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0].strip("= ") == "a.dra::one fits"
    assert lines[1] == "kubernetes 1.37"
    assert lines[3].split() == ["time", "object", "what", "why"]
    assert lines[4].split() == ["0s", "pod", "train", "Created"]
    assert any(line.split()[:3] == ["pod", "train", "Scheduled"] and "worker-1" in line for line in lines)
    assert lines[-1] == "passed at 0s"


def test_every_expectation_has_its_verdict(project: Project):
    project.write("a.dra", STORY)
    ran = project.run("run", "a.dra::one fits")
    assert ran.code == 1
    verdicts = ran.out.partition("expectations:\n")[2].splitlines()
    assert verdicts[0].split(maxsplit=1)[0] == "holds"
    assert verdicts[1].split(maxsplit=1)[0] == "failed"
    assert verdicts[3].startswith("      expected ")
    assert "      why:" in verdicts
    assert [line.split()[0] for line in verdicts if "line " in line] == ["holds", "failed", "failed", "not"]
    assert "create train" in next(line for line in verdicts if line.count("failed") and "create" in line)
    assert verdicts[-1] == "failed at 0s"


def test_several_scenarios_are_told_under_their_headings(project: Project):
    project.write("a.dra", STORY)
    ran = project.run("run", "a.dra")
    assert [line.strip("= ") for line in ran.out.splitlines() if line.startswith("==")] == [
        "a.dra::one fits",
        "a.dra::another",
    ]


def test_json_has_timeline_expectations_and_failures(project: Project):
    project.write("a.dra", STORY)
    ran = project.run("run", "--format=json", "a.dra")
    found = json.loads(ran.out)
    assert (ran.code, found["schema"]) == (1, "dralang/run/1")
    first, second = found["scenarios"]
    assert [each["holds"] for each in first["expectations"]] == [True, False]
    assert [failure["kind"] for failure in first["failures"]] == ["expect", "create"]
    assert first["timeline"][0] == {
        "time": 0, "component": "scenario", "kind": "Pod", "namespace": "default", "name": "train",
        "reason": "Created", "message": "created", "related": [],
    }  # fmt: skip
    assert second["verdict"] == "passed"


def test_standard_input_and_broken_files(project: Project):
    assert project.run("run", "-", stdin=PASSING).out.splitlines()[0].strip("= ") == "<stdin>::one fits"
    project.write("a.dra", BROKEN)
    ran = project.run("run", "a.dra")
    assert (ran.code, ran.out) == (4, "")
    assert " --> a.dra:2:1" in ran.err
    assert json.loads(project.run("run", "a.dra", "--format=json").out)["diagnostics"][0]["file"] == "a.dra"
    assert project.run("run", "-", stdin="node worker-1\n").code == 5
    assert project.run("run", "a.dra::x", "b.dra").code == 4


def test_two_runs_give_the_same_bytes(project: Project):
    project.write("a.dra", STORY)
    assert project.run("run", "a.dra") == project.run("run", "a.dra")
    assert project.run("run", "a.dra", "--format=json") == project.run("run", "a.dra", "--format=json")


def test_a_page_to_look_at(project):
    project.write("a.dra", 'node n\npod p\nscenario "runs" {\n  create p\n  expect p runs on n\n}\n')
    ran = project.run("run", "a.dra", "--format", "html")
    assert ran.code == 0
    assert ran.out.startswith("<!DOCTYPE html>")
    assert "expect p runs on n" in ran.out
    assert project.run("run", "a.dra", "--format", "html").out == ran.out


FUZZ = """\
node worker-1
pod train
fuzz "any number" { repeat any 1..3 as i { create pod p-${i} like train }; expect no pod is pending }
"""
ONE_RUN = {
    "run": ["run", "a.dra"],
    "run as JSON": ["run", "a.dra", "--format=json"],
    "run as a page": ["run", "a.dra", "--format=html"],
    "why": ["why", "p-1", "-f", "a.dra::any number"],
    "export": ["export", "a.dra::any number"],
}


@pytest.mark.parametrize("case", ONE_RUN)
def test_the_simplest_story_of_a_fuzz_does_not_stand_for_the_fuzz(case, project: Project):
    project.write("a.dra", FUZZ)
    ran = project.run(*ONE_RUN[case])
    note = "`a.dra::any number` is a fuzz: this is its simplest story; `dralang test` and `dralang fuzz` play others"
    assert (ran.code, ran.err) == (0, f"note: {note}\n")


def test_a_finding_is_judged_as_the_fuzz_has_judged_it(project: Project, monkeypatch):
    monkeypatch.setattr(found, "ask", lambda oracle, scenario, _: Failure(scenario.span, "invariant", 0, "a", "b"))
    project.write(
        "a.dra", spec(scenario("plain"), scenario("a finding", head=" tagged regression, names-do-not-matter"))
    )
    for format_ in ("pretty", "json", "html"):
        assert project.run("run", "a.dra::plain", "--format", format_).code == 0
        assert project.run("run", "a.dra::a finding", "--format", format_).code == 1
    assert [each["verdict"] for each in json.loads(project.run("run", "a.dra", "--format=json").out)["scenarios"]] == [
        "passed",
        "failed",
    ]
    assert project.run("test", "a.dra::a finding").code == 1


WARNED = {
    "by an option": (["--fail-level=warning"], {}, 6),
    "by a variable": ([], {"DRALANG_FAIL_LEVEL": "warning"}, 6),
    "by nobody": ([], {}, 0),
}


@pytest.mark.parametrize("case", WARNED)
def test_warnings_alone_end_with_6_where_that_is_wanted(case, project: Project):
    words, env, code = WARNED[case]
    project.write("a.dra", spec(scenario("one fits")) + "template nobody { request gpu: 1 of gpu.example.com }\n")
    for command in ("run", "test", "check"):
        assert project.run(command, "a.dra", *words, env=env).code == code
