"""`dralang test`: what is chosen, what is printed, how it ends."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
from cli_project import Project
from cli_specs import BROKEN, CREATE, DECLARATIONS, FAILING, FAILS, MIXED, PASSES, PASSING, REFUSED, scenario, spec
from msgspec.structs import replace

from dralang.check.analysis import Analysis, Analyzer
from dralang.cli import playing
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.run.outcome import Played
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario

UNUSED = "template spare { request gpu: 1 of gpu.example.com }\n"
SECONDS = re.compile(r"in \d+\.\d\ds")


@pytest.fixture(autouse=True)
def refusing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuses scenarios of one title: what the run really lacks gets less with every version."""

    def refuses(item: Scenario, workshop: Workshop) -> Played:
        if item.title == REFUSED:
            item = replace(
                item, missing=(Diagnostic(code="DRA0690", message="this cannot be run yet", span=item.span),)
            )
        return play(item, workshop)

    monkeypatch.setattr(playing, "play", refuses)


def verdicts(text: str) -> dict[str, str]:
    """Node id to verdict of the JSON report."""
    return {each["id"]: each["verdict"] for file in json.loads(text)["files"] for each in file["scenarios"]}


def listed(project: Project, *argv: str) -> list[str]:
    ran = project.run("test", "--collect-only", "-q", *argv)
    return ran.out.splitlines()


# ---- how it ends ----------------------------------------------------------------------------------------------------

ENDS = {
    "all pass": ({"a.dra": PASSING}, [], 0, "1 passed"),
    "one fails": ({"a.dra": PASSING, "b.dra": FAILING}, [], 1, "1 failed, 1 passed"),
    "an expected failure is fine": ({"a.dra": MIXED}, ["-k", "known"], 0, "1 xfailed, 4 deselected"),
    "an unexpected pass is a failure": ({"a.dra": MIXED}, ["-k", "gone"], 1, "1 xpassed, 4 deselected"),
    "a refused scenario is not green": ({"a.dra": MIXED}, ["-k", "missing"], 4, "1 refused, 4 deselected"),
    "a failure outweighs a refusal": ({"a.dra": MIXED}, [], 1, "1 failed, 1 refused, 1 xpassed, 1 passed, 1 xfailed"),
    "a broken file does not stop the others": ({"a.dra": BROKEN, "b.dra": PASSING}, [], 4, "1 passed, 1 file not run"),
    "a failure outweighs a broken file": ({"a.dra": BROKEN, "b.dra": FAILING}, [], 1, "1 failed, 1 file not run"),
    "nothing there": ({}, [], 5, "no scenarios"),
    "declarations alone": ({"a.dra": DECLARATIONS}, [], 5, "no scenarios"),
    "nothing chosen": ({"a.dra": PASSING}, ["-k", "other"], 5, "1 deselected"),
    "a warning is fine": ({"a.dra": UNUSED + PASSING}, [], 0, "1 passed, 1 warning"),
    "a warning can be too much": (
        {"a.dra": UNUSED + PASSING},
        ["--fail-level", "warning"],
        6,
        "1 passed, 1 warning",
    ),
    "a failure outweighs a warning": (
        {"a.dra": UNUSED + FAILING},
        ["--fail-level", "warning"],
        1,
        "1 failed, 1 warning",
    ),
}


@pytest.mark.parametrize("case", ENDS)
def test_the_exit_code_and_the_last_line_say_how_it_went(project: Project, case: str):
    files, argv, want_code, want_summary = ENDS[case]
    for name, text in files.items():
        project.write(name, text)
    ran = project.run("test", *argv)
    assert (ran.code, ran.err) == (want_code, "")
    last = ran.out.splitlines()[-1].strip("= ")
    assert SECONDS.sub("", last).rstrip() == want_summary
    as_json = project.run("test", "--format", "json", *argv)
    assert as_json.code == want_code
    assert json.loads(as_json.out)["summary"]["exitCode"] == want_code


# ---- what is printed ------------------------------------------------------------------------------------------------


def test_a_passing_run_is_short(project: Project):
    project.write("specs/a.dra", PASSING)
    project.write("specs/b.dra", spec(scenario("one"), scenario("two")))
    ran = project.run("test", "specs")
    first, *lines, last = ran.out.splitlines()
    assert lines == ["dralang 0.1.0, seed 0", "collected 3 scenarios in 2 files", "", "specs/a.dra .", "specs/b.dra .."]
    assert first.strip("=") == " dralang test "
    assert re.fullmatch(r"=+ 3 passed in \d\.\d\ds =+", last)
    assert len(first) == len(last) == 100


def test_a_failure_shows_place_expected_actual_why_and_what_led_there(project: Project):
    path = project.write("a.dra", FAILING)
    ran = project.run("test", "a.dra")
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if text.strip() == FAILS.strip())
    block = ran.out.partition("failures")[2]
    assert " a.dra::two fit " in block
    assert f"  --> a.dra:{line}:3\n" in block
    assert f"{line} |   expect serve runs on worker-1 with gpu-0\n" in block
    assert "|   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ at 0s\n" in block
    heads = next(row for row in block.splitlines() if row.startswith("  expected "))
    texts = block.splitlines()[block.splitlines().index(heads) + 1]
    bar = heads.index(" | actual")
    assert texts[:bar].strip() == "serve runs on worker-1 with gpu-0"
    assert texts[bar:].startswith(" | serve is pending")
    why = block.partition("  why:\n")[2].partition("\n\n")[0]
    assert "node worker-1" in why
    record = block.partition("  what led there:\n")[2].partition("\n\n")[0]
    assert record.splitlines()[0].split()[:4] == ["0s", "pod", "train", "Created"]
    assert "FailedScheduling" in record
    assert "again: dralang test 'a.dra::two fit'\n" in block
    assert f"FAILED a.dra::two fit - line {line}: serve is pending" in block


def test_what_is_said_to_run_again_runs_again(project: Project):
    project.write("a.dra", FAILING.replace("two fit", "two 'fit' $HOME"))
    ran = project.run("test")
    words = shlex.split(ran.out.partition("again: dralang ")[2].partition("\n")[0])
    assert verdicts(project.run(*words, "--format=json").out) == {"a.dra::two 'fit' $HOME": "failed"}


def test_a_refusal_shows_its_code(project: Project):
    project.write("a.dra", MIXED)
    project.write("b.dra", spec(scenario(REFUSED)))
    ran = project.run("test", "-k", "missing")
    assert ran.out.count("error[DRA0690]") == 1
    assert f"\n  refused: a.dra::{REFUSED}\n  refused: b.dra::{REFUSED}\n" in ran.out
    assert "\nerror[DRA0690]: this cannot be run yet\n  --> a.dra:" in ran.out
    assert "\nREFUSED a.dra::needs what is missing - DRA0690 this cannot be run yet\n" in ran.out


def test_a_broken_file_shows_its_errors_once_where_two_files_share_them(project: Project):
    project.write("common.dra", BROKEN)
    for name in ("a.dra", "b.dra"):
        project.write(name, 'use "common.dra"\n' + PASSING)
    ran = project.run("test", "a.dra", "b.dra")
    assert ran.out.count("podd train") == 1
    assert "1 error shown above" in ran.out


def test_verbose_shows_more_of_what_led_there(project: Project):
    body = CREATE + "  expect serve is pending\n" + "  delete serve\n  create serve\n" * 5 + FAILS
    project.write("a.dra", spec(scenario("two fit", body)))
    short, long = (project.run("test", *argv).out.partition("what led there:")[2] for argv in ([], ["-v"]))
    assert len(short.splitlines()) + 10 < len(long.splitlines())
    assert "pod train" in long
    assert "pod train" not in short.partition("again:")[0]


def test_letters_and_words_of_all_verdicts(project: Project):
    project.write("a.dra", MIXED)
    assert "\na.dra .FxXR\n" in project.run("test").out
    lines = project.run("test", "-v").out.splitlines()
    assert [line.split(" - ")[0] for line in lines if line.startswith("a.dra::")] == [
        "a.dra::one fits PASSED",
        "a.dra::two fit FAILED",
        "a.dra::known fault XFAILED",
        "a.dra::fault is gone XPASSED",
        "a.dra::needs what is missing REFUSED",
    ]
    assert "a.dra::known fault XFAILED - two do not fit" in lines


def test_quiet_once_leaves_the_progress_out_and_twice_everything_but_the_end(project: Project):
    project.write("a.dra", FAILING)
    once = project.run("test", "-q").out
    assert "collected" not in once
    assert "what led there" in once
    assert len(project.run("test", "-qq").out.splitlines()) == 1


def test_long_rows_of_letters_are_wrapped(project: Project):
    project.write("a.dra", DECLARATIONS + scenario("row", head=" for x in 1..100"))
    rows = [
        line.strip() for line in project.run("test").out.splitlines() if line.strip("a.dr ") == "" and "..." in line
    ]
    assert "".join(rows).count(".") - 1 == 100
    assert max(map(len, rows)) <= 80


def test_two_runs_differ_in_the_seconds_only(project: Project):
    project.write("a.dra", MIXED)
    project.write("b.dra", BROKEN)
    for argv in (["test"], ["test", "-v", "--color=always"], ["test", "-x"]):
        first, second = (SECONDS.sub("", project.run(*argv).out) for _ in range(2))
        assert first == second
    first_json, second_json = (json.loads(project.run("test", "--format=json").out) for _ in range(2))
    for report in (first_json, second_json):
        assert report["summary"].pop("seconds") > 0
    assert first_json == second_json


def test_colour_is_used_when_asked_for_and_adds_nothing_else(project: Project):
    project.write("a.dra", MIXED)
    plain = project.run("test").out
    colored = project.run("test", "--color", "always").out
    assert "\033[" not in plain
    assert "\033[1;31mFAILED\033[0m a.dra::two fit" in colored
    assert SECONDS.sub("", re.sub(r"\033\[[0-9;]*m", "", colored)) == SECONDS.sub("", plain)


def test_titles_cannot_act_on_the_terminal(project: Project):
    project.write("a.dra", FAILING.replace("two fit", "two \u202e\u200b fit"))
    out = project.run("test").out
    assert "a.dra::two <U+202E><U+200B> fit" in out
    assert re.search(r"\nagain: dralang test a\.dra:\d+\n", out)
    assert out.isascii()


# ---- choosing -------------------------------------------------------------------------------------------------------

TWO = spec(scenario("first, alone", head=" tagged gpu, slow"), scenario("second and last", head=" tagged gpu"))
A = ["a.dra::first, alone", "a.dra::second and last"]
CHOICES = {
    "everything": ([], [*A, "sub/b.dra::one fits"]),
    "a file": (["sub/b.dra"], ["sub/b.dra::one fits"]),
    "a folder": (["sub"], ["sub/b.dra::one fits"]),
    "files in their order": (["sub/b.dra", "a.dra"], ["sub/b.dra::one fits", *A]),
    "a node id": (["a.dra::second and last"], ["a.dra::second and last"]),
    "a node id twice": (["a.dra::second and last"] * 2, ["a.dra::second and last"]),
    "two node ids in the order of the file": (
        ["a.dra::second and last", "a.dra::first, alone"],
        ["a.dra::first, alone", "a.dra::second and last"],
    ),
    "a node id and its file": (["a.dra::second and last", "./a.dra"], A),
    "a node id along another way": (["sub/../a.dra::first, alone"], ["a.dra::first, alone"]),
    "a part of a title": (["-k", "SECOND"], ["a.dra::second and last"]),
    "a part of a file's name": (["-k", "b.dra"], ["sub/b.dra::one fits"]),
    "not a part": (["-k", "not first"], ["a.dra::second and last", "sub/b.dra::one fits"]),
    "one or another": (["-k", "first or fits"], ["a.dra::first, alone", "sub/b.dra::one fits"]),
    "words in a row": (["-k", "one fits"], ["sub/b.dra::one fits"]),
    "a quoted operator": (["-k", "'second and'"], ["a.dra::second and last"]),
    "a tag": (["-m", "gpu and not slow"], ["a.dra::second and last"]),
    "a tag is not a part of one": (["-m", "gp or slow"], ["a.dra::first, alone"]),
    "name and tag": (["-k", "first", "-m", "gpu"], ["a.dra::first, alone"]),
    "two names": (["-k", "s", "-k", "alone"], ["a.dra::first, alone"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CHOICES)
def test_choosing(project: Project, case: str):
    argv, want = CHOICES[case]
    project.write("a.dra", TWO)
    project.write("sub/b.dra", PASSING)
    assert listed(project, *argv) == want


def test_a_line_chooses_the_scenario_around_it(project: Project):
    lines = project.write("a.dra", TWO).read_text().splitlines()
    start = next(number for number, text in enumerate(lines, 1) if "second" in text)
    for line in range(start, start + 5):
        assert listed(project, f"a.dra:{line}") == ["a.dra::second and last"]
    assert listed(project, f"a.dra:{start}:7") == ["a.dra::second and last"]
    ran = project.run("test", "a.dra:3")
    assert ran.code == 4
    assert "line 3 of `a.dra` is in no scenario\nhelp: the nearest one starts at `a.dra:" in ran.err


def test_a_title_as_written_chooses_all_rows_of_a_table(project: Project):
    project.write("a.dra", spec(scenario("row", head=" for x in 1..2"), scenario("at ${x}", head=" for x in [3, 4]")))
    assert listed(project, "a.dra::row") == ["a.dra::row [1]", "a.dra::row [2]"]
    assert listed(project, "a.dra::at ${x}") == ["a.dra::at 3", "a.dra::at 4"]
    assert listed(project, "a.dra::at 4") == ["a.dra::at 4"]


def test_a_title_that_is_not_there_is_an_error_with_the_nearest_one(project: Project):
    project.write("a.dra", TWO)
    ran = project.run("test", "a.dra::secnd and last")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err == (
        "error: `a.dra` has no scenario `secnd and last`\nhelp: did you mean `a.dra::second and last`?\n"
    )


def test_a_tag_that_nothing_has_is_said(project: Project):
    project.write("a.dra", TWO)
    ran = project.run("test", "-m", "gpu or slwo")
    assert (ran.code, ran.err) == (0, "warning: nothing is tagged `slwo`; did you mean `slow`?\n")


def test_collect_only_as_json_and_with_a_broken_file(project: Project):
    project.write("a.dra", TWO)
    project.write("b.dra", BROKEN)
    ran = project.run("test", "--collect-only", "--format=json")
    found = json.loads(ran.out)
    assert ran.code == 4
    assert found["schema"] == "dralang/collect/1"
    assert [(file["name"], file["broken"], len(file["scenarios"])) for file in found["files"]] == [
        ("a.dra", False, 2),
        ("b.dra", True, 0),
    ]
    assert found["files"][0]["scenarios"][0]["tags"] == ["gpu", "slow"]


# ---- stopping early -------------------------------------------------------------------------------------------------


def test_exitfirst_and_maxfail_stop_after_failures(project: Project):
    project.write("a.dra", spec(*[scenario(f"s{number}", CREATE + FAILS) for number in range(4)]))
    project.write("b.dra", PASSING)
    for argv, want in ((["-x"], 1), (["--maxfail=3"], 3), (["--maxfail=0"], 4)):
        ran = project.run("test", "--format=json", *argv)
        summary = json.loads(ran.out)["summary"]
        assert (ran.code, summary["failed"]) == (1, want)
        assert summary["stopped"] == ("maxfail" if want < 4 else None)
        assert summary["passed"] == (want == 4)
    assert "stopped after 1 failure" in project.run("test", "-x").out


def test_a_broken_file_counts_as_a_failure_for_exitfirst(project: Project):
    project.write("a.dra", BROKEN)
    project.write("b.dra", PASSING)
    ran = project.run("test", "-x", "--format=json")
    assert (ran.code, json.loads(ran.out)["summary"]["passed"]) == (4, 0)


def test_an_interruption_reports_what_ran(project: Project, monkeypatch: pytest.MonkeyPatch):
    def interrupted(item, workshop) -> Played:
        if item.title == "second":
            raise KeyboardInterrupt
        return play(item, workshop)

    monkeypatch.setattr(playing, "play", interrupted)
    project.write("a.dra", spec(scenario("first", CREATE + FAILS), scenario("second")))
    project.write("b.dra", PASSING)
    ran = project.run("test")
    assert ran.code == 2
    assert "what led there" in ran.out
    assert "! interrupted: what follows did not run !" in ran.out
    assert ran.out.splitlines()[-1].strip("= ").startswith("1 failed in ")
    assert json.loads(project.run("test", "--format=json").out)["summary"]["stopped"] == "interrupted"


def test_a_fault_in_one_scenario_does_not_take_the_others_along(project: Project, monkeypatch: pytest.MonkeyPatch):
    def faulty(item, workshop) -> Played:
        if item.title == "first":
            raise RecursionError("too\ndeep")
        return play(item, workshop)

    monkeypatch.setattr(playing, "play", faulty)
    project.write("a.dra", spec(scenario("first"), scenario("second")))
    ran = project.run("test")
    assert (ran.code, ran.err) == (3, "")
    assert "\na.dra E.\n" in ran.out
    assert "dralang has a fault: RecursionError: too deep; please report it with this file" in ran.out
    assert "Traceback" in project.run("test", env={"DRALANG_DEBUG": "1"}).err


# ---- last failed ----------------------------------------------------------------------------------------------------


def test_last_failed_runs_what_failed_until_it_passes(project: Project):
    project.write("a.dra", spec(scenario("good"), scenario("bad", CREATE + FAILS)))
    project.write("b.dra", PASSING)
    assert "everything is run" in project.run("test", "--lf").out
    again = project.run("test", "--lf")
    assert "only what failed last time: 1 in 1 files" in again.out
    assert "collected 1 scenario in 1 file" in again.out
    project.write("a.dra", spec(scenario("good"), scenario("bad", CREATE + PASSES)))
    assert project.run("test", "--lf").code == 0
    assert "3 passed" in project.run("test", "--lf").out


def test_last_failed_remembers_broken_files_and_refused_scenarios(project: Project):
    project.write("a.dra", BROKEN)
    project.write("b.dra", spec(scenario("good"), scenario(REFUSED)))
    project.run("test")
    project.write("a.dra", PASSING)
    assert listed(project, "--lf") == ["a.dra::one fits", f"b.dra::{REFUSED}"]


def test_last_failed_keeps_what_did_not_run(project: Project):
    project.write("a.dra", FAILING)
    project.write("b.dra", FAILING)
    project.run("test")
    project.write("a.dra", FAILING.replace(FAILS, PASSES))
    project.run("test", "a.dra")
    assert listed(project, "--lf") == ["b.dra::two fit"]


def test_last_failed_forgets_what_is_gone(project: Project):
    project.write("a.dra", spec(scenario("old name", CREATE + FAILS), scenario("other")))
    project.write("b.dra", FAILING)
    project.run("test")
    (project.root / "b.dra").unlink()
    project.write("a.dra", spec(scenario("new name"), scenario("other")))
    project.run("test")
    stored = json.loads((project.root / ".dralang_cache/lastfailed").read_text())
    assert stored == {"version": 1, "failed": []}


def test_failed_first_changes_the_order(project: Project):
    project.write("a.dra", PASSING)
    project.write("b.dra", spec(scenario("good"), scenario("bad", CREATE + FAILS)))
    project.run("test")
    assert listed(project, "--ff") == ["b.dra::bad", "b.dra::good", "a.dra::one fits"]


def test_last_failed_works_from_another_folder_of_the_project(project: Project, monkeypatch: pytest.MonkeyPatch):
    project.write("specs/deep/a.dra", FAILING)
    project.run("test")
    monkeypatch.chdir(project.root / "specs" / "deep")
    assert listed(project, "--lf") == ["a.dra::two fit"]


DAMAGED = {
    "empty": b"",
    "no JSON": b"{failed",
    "another shape": b'{"version": 1, "failed": {"a": 1}}',
    "another version": b'{"version": 2, "failed": []}',
    "not UTF-8": b'{"version": 1, "failed": ["\xff"]}',
    "nested without end": b"[" * 200_000,
    "a surrogate": b'{"version": 1, "failed": ["\\ud800"]}',
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_memory_counts_as_empty_and_is_mended(project: Project, case: str):
    project.write(".dralang_cache/lastfailed", DAMAGED[case])
    project.write("a.dra", FAILING)
    ran = project.run("test", "--lf")
    assert (ran.code, ran.err) == (1, "")
    assert ".dralang_cache/lastfailed` is damaged and counts as empty\n" in ran.out
    assert "damaged" not in project.run("test", "--lf").out


def test_a_memory_with_strange_names_finds_nothing(project: Project):
    names = ["", "::", "a\0.dra::x", "/", "../../..::x", "x" * 100_000, "a.dra::", "a.dra"]
    project.write(".dralang_cache/lastfailed", json.dumps({"version": 1, "failed": names}))
    project.write("a.dra", FAILING)
    assert project.run("test", "--lf").code == 1
    assert json.loads((project.root / ".dralang_cache/lastfailed").read_text())["failed"] == ["a.dra::two fit"]


def test_a_memory_that_cannot_be_written_is_said(project: Project):
    project.write(".dralang_cache", "a file in the way")
    project.write("a.dra", FAILING)
    ran = project.run("test")
    assert ran.code == 1
    assert ran.err.startswith("note: cannot write `")


def test_a_green_run_leaves_no_folder(project: Project):
    project.write("a.dra", PASSING)
    project.run("test")
    assert not (project.root / ".dralang_cache").exists()


# ---- options that change the run ------------------------------------------------------------------------------------


def test_durations_and_seed_are_reported(project: Project):
    project.write("a.dra", TWO)
    ran = project.run("test", "--durations", "1", "--seed", "42")
    assert ", seed 42\n" in ran.out
    assert "slowest 1 scenarios" in ran.out
    assert len(re.findall(r"\n +\d+\.\d{3}s a.dra::", ran.out)) == 1
    report = json.loads(project.run("test", "--durations=0", "--seed=42", "--format=json").out)
    assert report["seed"] == 42
    assert len(report["summary"]["durations"]) == 2


def test_version_and_gates_of_the_command_line_are_over_those_of_the_file(project: Project):
    project.write("a.dra", PASSING)
    argv = ["test", "--format=json", "--k8s", "1.36", "--feature-gates", "DRADeviceTaints=false"]
    found = json.loads(project.run(*argv).out)["files"][0]["scenarios"][0]
    assert (found["kubernetes"], found["gates"]) == ("1.36", {"DRADeviceTaints": False})
    assert "kubernetes 1.36 whatever files say, DRADeviceTaints=false" in project.run(*argv[:1], *argv[2:]).out


def test_a_gate_that_the_version_lacks_breaks_the_file(project: Project):
    project.write("a.dra", PASSING)
    ran = project.run("test", "--k8s=1.34", "--feature-gates=CompositePodGroup=true")
    assert ran.code == 4
    assert "CompositePodGroup" in ran.out


def test_json_holds_what_a_failure_says(project: Project):
    path = project.write("a.dra", FAILING)
    report = json.loads(project.run("test", "--format=json").out)
    assert (report["schema"], report["dralang"]) == ("dralang/test/1", "0.1.0")
    found = report["files"][0]["scenarios"][0]
    failure = found["failures"][0]
    line = path.read_text().splitlines().index(FAILS.rstrip()) + 1
    assert failure["start"] == {"line": line, "column": 3}
    assert failure["text"] == FAILS.strip()
    assert failure["expected"] == "serve runs on worker-1 with gpu-0"
    assert failure["actual"].startswith("serve is pending")
    assert failure["why"][0]["text"].startswith("node worker-1")
    assert failure["after"] == len(found["trace"])
    assert found["trace"][0]["reason"] == "Created"


# ---- hostile input --------------------------------------------------------------------------------------------------

HOSTILE = {
    "nothing": b"",
    "bytes that are no text": bytes(range(256)) * 40,
    "UTF-16": PASSING.encode("utf-16"),
    "NUL": PASSING.encode().replace(b"train", b"tr\0in"),
    "carriage returns": PASSING.encode().replace(b"\n", b"\r"),
    "deep braces": b"node a " + b"{ x " * 10_000,
    "deep brackets": b"node a { x: " + b"[" * 10_000,
    "only quotes": b'"' * 10_001,
    "a huge number": b"node a { x: " + b"9" * 100_000 + b" }",
    "three megabytes": b"node a\n" * 450_000,
    "cut off": PASSING.encode()[:-40],
    "a table of billions": PASSING.replace('"one fits"', '"one fits" for x in 1..4000000000').encode(),
    "a range of billions": b"node n-[0..4000000000]\n",
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_give_diagnostics(project: Project, case: str):
    project.write("a.dra", HOSTILE[case])
    project.write("b.dra", PASSING)
    for argv in (["test"], ["check"], ["fmt", "--check"], ["test", "--format=json"], ["run", "a.dra"]):
        ran = project.run(*argv)
        assert ran.code in (0, 1, 4, 5), (argv, ran)
        assert "fault" not in ran.out.replace('"fault": null', ""), (argv, ran)
        assert "fault" not in ran.err, (argv, ran)


def test_a_folder_called_like_a_spec_is_a_folder(project: Project):
    project.write("x.dra/a.dra", PASSING)
    assert listed(project) == listed(project, "x.dra") == ["x.dra/a.dra::one fits"]


def test_a_link_that_leads_nowhere_is_an_error(project: Project):
    (project.root / "a.dra").symlink_to("nothing.dra")
    (project.root / "loop.dra").symlink_to("loop.dra")
    ran = project.run("test")
    assert ran.code == 4
    assert "`a.dra` is a link that leads nowhere" in ran.err
    assert "`loop.dra` is a link that leads nowhere" in ran.err
    assert project.run("test", "loop.dra").code == project.run("check", "a.dra").code == 4


def test_a_pipe_called_like_a_spec_is_refused(project: Project):
    os.mkfifo(project.root / "a.dra")
    ran = project.run("test")
    assert (ran.code, ran.err) == (4, "error: `a.dra` is no regular file\n")


def test_the_same_file_by_two_names_runs_once(project: Project):
    path = project.write("a.dra", PASSING)
    (project.root / "b.dra").symlink_to("a.dra")
    assert listed(project) == listed(project, "a.dra", str(path), "./a.dra") == ["a.dra::one fits"]


def test_a_file_outside_of_the_working_directory_has_its_whole_name(
    project: Project, tmp_path_factory: pytest.TempPathFactory
):
    folder: Path = tmp_path_factory.mktemp("other")
    (folder / "a.dra").write_text(FAILING, encoding="utf-8")
    node = f"{folder}/a.dra::two fit"
    assert listed(project, str(folder)) == listed(project, node) == [node]
    project.run("test", node)
    assert listed(project, "--lf", str(folder), ".") == [node]


def test_what_cannot_be_collected_is_told_file_by_file(project: Project, monkeypatch: pytest.MonkeyPatch):
    project.write("a.dra", TWO)
    project.write("b.dra", BROKEN)
    project.write("c.dra", BROKEN)
    path = Analyzer.path

    def faulty(analyzer: Analyzer, file: Path) -> Analysis | Diagnostic:
        if file.name == "a.dra":
            raise RecursionError("too deep")
        return path(analyzer, file)

    broken = project.run("test", "--collect-only", "b.dra", "c.dra")
    assert (broken.code, broken.out) == (4, "\n0 scenarios in 2 files\n")
    assert broken.err.count("\n\nerror[") == 1
    monkeypatch.setattr(Analyzer, "path", faulty)
    ran = project.run("test", "--collect-only", "a.dra")
    assert (ran.code, ran.out) == (3, "\n0 scenarios in 1 file\n")
    assert ran.err == "error: dralang has a fault: a.dra: RecursionError: too deep\n"
