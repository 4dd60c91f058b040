"""Runs over fuzzes: the same seed finds the same, findings are written so that anybody can replay them."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from dralang.check.analysis import Analysis, Analyzer
from dralang.fuzz import example, explore, processes
from dralang.fuzz.campaign import Campaign, Plan, Target
from dralang.fuzz.explore import Explorer, seed_of
from dralang.fuzz.memory import Memory
from dralang.fuzz.regression import is_formatted
from dralang.run.workshop import Workshop
from dralang.scheduler.queue import SchedulingQueue

ROOT = Path(__file__).resolve().parents[2]
SPEC = """\
kubernetes 1.37

use std.example.gpu-node

gpu-node(worker, gpus: 1)

template one { request gpu: 1 of gpu.example.com }

pod small { claim gpu from one }

fuzz "holds" {
  repeat any 1..2 as i {
    at any 0s..9s create pod h-${i} like small
  }
}

fuzz "two wait" tagged slow {
  repeat any 1..5 as i {
    at any 0s..60s create pod p-${i} like small { priority: any 0..9 }
  }
  repeat any 0..2 {
    at any 0s..60s delete any pod
  }
  expect all pods are settled
  never exactly 2 of p-* are pending
}
"""


RARE = """\
node n
pod a
fuzz "holds" { repeat any 1..3 as i { at any 0ms..90s create pod h-${i} like a { priority: any 0..100000 } } }
fuzz "rare" { create pod p like a { priority: any 0..9999 }; expect `pods["p"].spec.priority % 149 != 13` }
"""


class Ears:
    def progressed(self, outcomes, current):
        pass


def targets(path):
    analysis = Analyzer().path(path)
    assert isinstance(analysis, Analysis)
    assert not analysis.has_errors, analysis.diagnostics
    return [Target(path, scenario) for scenario in analysis.scenarios if scenario.template is not None]


def found(path, **plan):
    run = Campaign(targets(path), Plan(**plan), Ears(), None)
    run.run()
    return [
        (each.examples, each.last, each.choices, each.signature, each.states.count, each.reached)
        for each in run.outcomes
    ]


@pytest.fixture
def spec(project):
    return project.write("a.dra", SPEC)


def test_the_number_of_workers_changes_nothing(project):
    spec = project.write("a.dra", RARE)
    alone = found(spec, seed=3, max_examples=120)
    assert [choices is None for _, _, choices, *_ in alone] == [True, False]
    assert alone[1][1] > 0, "the finding is not in the first chunk"
    assert found(spec, seed=3, max_examples=120, workers=2) == alone
    assert found(spec, seed=4, max_examples=120) != alone


def test_a_lost_worker_loses_no_example(spec, monkeypatch):
    alone = found(spec, seed=5, max_examples=55)
    lost: list[int] = []
    result = processes.Processes.result

    def losing(engine, order, handle):
        if len(lost) < 2:
            lost.append(1)
            for child in processes.active_children():
                if child.pid not in engine.others:
                    child.kill()
                    child.join()
            while True:
                try:
                    handle.result()
                except processes.BrokenProcessPool:
                    break
                handle = engine.submit(order)
        return result(engine, order, handle)

    monkeypatch.setattr(processes.Processes, "result", losing)
    assert found(spec, seed=5, max_examples=55, workers=2) == alone
    assert len(lost) == 2


def test_a_finding_is_a_plain_scenario_that_fails_until_the_cause_is_gone(project, spec):
    ran = project.run("fuzz", "a.dra", "--max-examples", "100")
    assert ran.code == 1, ran.out + ran.err
    assert "ok a.dra::holds" in ran.out
    assert "FOUND a.dra::two wait" in ran.out
    [path] = (project.root / "specs" / "regressions").iterdir()
    text = path.read_text()
    assert "seed 0" in text
    assert is_formatted(text)
    assert "any " not in text
    assert 'scenario "two wait" tagged slow, regression {' in text
    assert "h-1" not in text
    assert project.run("fmt", "--check", "specs").code == 0
    replayed = project.run("test", "specs")
    assert replayed.code == 1
    assert "never exactly 2 of p-* are pending" in replayed.out
    again = project.run("fuzz", "a.dra", "--max-examples", "100")
    assert "fails as in an earlier run" in again.out
    project.write("a.dra", SPEC.replace("  never exactly 2 of p-* are pending\n", ""))
    healed = project.run("fuzz", "a.dra", "--max-examples", "50")
    assert healed.code == 0, healed.out


@pytest.mark.parametrize(
    ("expectation", "needed"),
    [
        ("expect big runs", "create big"),
        ("expect `pods['big'].spec.nodeName == 'worker'`", "create big"),
        ("expect no pod is pending", "create big"),
    ],
)
def test_a_finding_keeps_what_it_is_about(project, expectation, needed):
    spec = SPEC[: SPEC.index("pod small")].replace("request gpu: 1", "request gpu: 2")
    project.write("a.dra", f'{spec}pod big {{ claim gpu from one }}\nfuzz "f" {{ create big; {expectation} }}\n')
    assert project.run("fuzz", "a.dra", "--max-examples", "5").code == 1
    [path] = (project.root / "specs" / "regressions").iterdir()
    assert needed in path.read_text()


def test_what_finds_it_again_is_told_whatever_ended_the_run(project):
    project.write("a.dra", RARE)
    ran = project.run("fuzz", "a.dra::rare", "--seed", "3", "--max-examples", "120")
    assert "again: dralang fuzz a.dra::rare --seed 3\n" in ran.out
    [written] = (project.root / "specs" / "regressions").iterdir()
    text = written.read_text()
    written.unlink()
    (project.root / ".dralang_cache" / "fuzz.json").unlink()
    assert project.run("fuzz", "a.dra::rare", "--seed", "3").code == 1
    assert written.read_text() == text


def test_dralang_test_plays_a_few_examples_and_tells_the_story(project, spec):
    ran = project.run("test", "a.dra", "-k", "holds", "-v")
    assert (ran.code, "PASSED" in ran.out) == (0, True)
    failed = project.run("test", "a.dra", "-k", "wait")
    assert failed.code == 1
    again = "dralang fuzz 'a.dra::two wait' --seed 0 --max-examples 20"
    assert f"the shrunk story (`{again}` writes it" in " ".join(failed.out.split())
    assert project.run(*shlex.split(again)[1:]).code == 1
    assert failed.out.splitlines()[:-1] == project.run("test", "a.dra", "-k", "wait").out.splitlines()[:-1]


def test_gates_that_change_nothing_and_a_quirk_that_does(project):
    spec = (
        "kubernetes 1.37\nuse std.example.gpu-node\ngpu-node(w-[1..2], gpus: 1)\n"
        "template one { request gpu: 1 of gpu.example.com }\npod small { claim gpu from one }\n"
        'fuzz "same" {\n  repeat any 1..3 as i { at any 0s..9s create pod p-${i} like small }\n  %s\n}\n'
    )
    project.write("same.dra", spec % "compare with { gates { DRAConsumableCapacity: false } }")
    assert project.run("fuzz", "same.dra", "--max-examples", "50").code == 0
    project.write("other.dra", spec % "compare with { gates { DynamicResourceAllocation: false } }")
    ran = project.run("fuzz", "other.dra", "--max-examples", "50")
    assert ran.code in (1, 4), ran.out


def test_a_story_that_takes_another_course_the_second_time_is_found(spec, monkeypatch):
    scenario = targets(spec)[0].scenario
    calls: list[int] = []

    def moody(played_story, *rest):
        played = real(played_story, *rest)
        calls.append(1)
        return played if len(calls) % 2 else replace(played, trace=played.trace[:-1])

    real = example.play
    monkeypatch.setattr(example, "play", moody)
    monkeypatch.setattr(example, "REPEATED", 1)
    chunk = Explorer(Workshop()).chunk(scenario, seed_of(0, scenario, 0), 20)
    assert "same-input-same-output" in chunk.signature


def test_a_cluster_that_never_rests_is_found(spec, monkeypatch):
    scenario = targets(spec)[0].scenario
    monkeypatch.setattr("dralang.run.simulation.EVENT_LIMIT", 10)
    chunk = Explorer(Workshop()).chunk(scenario, seed_of(0, scenario, 0), 20)
    assert "every-story-ends" in chunk.signature


def test_a_fault_of_dralang_is_a_finding(project, spec, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("nobody thought of that")

    monkeypatch.setattr(SchedulingQueue, "move", broken)
    ran = project.run("fuzz", "a.dra", "-k", "holds", "--max-examples", "20")
    assert ran.code == 3
    assert "dralang has a fault: ZeroDivisionError" in ran.out


def test_memory_that_is_damaged_counts_as_empty(tmp_path):
    (tmp_path / "fuzz.json").write_text("{")
    memory = Memory(tmp_path)
    assert memory.failing("x") == []
    assert "damaged" in memory.note
    memory.keep("x", (1, 2))
    assert memory.save() == ""
    assert Memory(tmp_path).failing("x") == [(1, 2)]


def test_without_a_fuzz_there_is_nothing_to_do(project):
    project.write("a.dra", 'node n\npod a\nscenario "s" { create a; expect a runs }\n')
    ran = project.run("fuzz")
    assert ran.code == 5
    assert "there is no `fuzz`" in ran.err


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("scheduler { ties: any of [0, banana] }", "`ties` is a whole number from 0 to 1,000,000 (a.dra:4:32)"),
        (
            "create p like a { priority: any of [0, banana] }",
            "`priority` takes an integer (a.dra:4:42)",
        ),
    ],
)
def test_why_a_story_did_not_go_together_is_told_with_its_place(project, line, reason):
    project.write("a.dra", f'node n\npod a\nfuzz "x" {{\n  {line}\n  create a\n  expect a runs\n}}\n')
    ran = project.run("fuzz", "a.dra", "--max-examples", "40")
    assert ran.code == 0
    assert "did not go together\n" in ran.out
    assert f"   one that did not go together: {reason}\n" in ran.out


def test_a_file_with_an_error_is_not_said_to_have_no_fuzz(project):
    project.write("a.dra", 'node n\npod a\nfuzz "f" { create nobody }\n')
    ran = project.run("fuzz")
    assert ran.code == 4
    assert "DRA0" in ran.err
    assert "no `fuzz`" not in ran.err
    project.write("fine.dra", 'node n\npod a\nfuzz "f" { maybe create a }\n')
    ran = project.run("fuzz", "--max-examples", "5")
    assert ran.code == 4, "what can be run is run, and the error is not forgotten"
    assert "ok fine.dra::f: 2 examples" in ran.out


@pytest.mark.parametrize("options", [["-k", "other"], ["-m", "slow"]])
def test_fuzzes_that_are_not_chosen_are_there_all_the_same(project, options):
    project.write("a.dra", 'node n\npod a\nfuzz "f" { maybe create a }\n')
    ran = project.run("fuzz", *options)
    assert ran.code == 5
    assert ran.err == "note: no `fuzz` is chosen\n"


def test_chunks_have_seeds_of_their_own(spec):
    scenario = targets(spec)[0].scenario
    seeds = {seed_of(base, scenario, chunk) for base in range(3) for chunk in range(3)}
    assert len(seeds) == 9
    assert explore.seed_of(1, scenario, 2) == seed_of(1, scenario, 2)


# ---- the command line of somebody who means no good -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seed", "-1"], "`--seed` takes a whole number from 0 on"),
        (["--seed", "9" * 20], "`--seed` takes a whole number from 0 on"),
        (["--max-examples", "0"], "`--max-examples` takes a whole number from 1 on"),
        (["--time", "-5s"], "`--time`: a duration"),
        (["--time", "0s"], "`--time` leaves no time"),
        (["--time", "5"], "`--time`: a duration needs a unit"),
        (["-n", "0"], "`--workers` takes a whole number from 1 on"),
        (["-n", "999999"], "`-n` takes at most 256 processes"),
        (["-k", "("], "something is missing"),
    ],
)
def test_options_that_make_no_sense(project, options, message):
    project.write("a.dra", RARE)
    ran = project.run("fuzz", *options)
    assert ran.code == 4
    assert message in ran.err


def test_as_many_workers_as_processors(project):
    project.write("a.dra", RARE)
    ran = project.run("fuzz", "-n", "auto", "--max-examples", "5", "-k", "holds")
    assert ran.code == 0, ran.err
    assert "5 examples" in ran.out


def test_a_run_without_time_is_no_success(project):
    project.write("a.dra", RARE)
    ran = project.run("fuzz", "--time", "1ms")
    assert ran.code == 5
    assert "not played a.dra::holds: 0 examples" in ran.out


@pytest.mark.parametrize("stands_there", ["folder", "file"])
def test_places_that_cannot_be_written(project, stands_there):
    project.write("a.dra", RARE)
    if stands_there == "folder":
        (project.root / ".dralang_cache" / "fuzz.json").mkdir(parents=True)
        (project.root / "specs" / "regressions").mkdir(parents=True)
    else:
        project.write(".dralang_cache", "")
        project.write("specs", "")
    ran = project.run("fuzz", "a.dra::rare", "--seed", "3", "--max-examples", "120")
    assert ran.code == 1, "the finding is told all the same"
    assert "priority: 609" in ran.out
    assert "note: cannot write" in ran.err
    assert ("error: cannot write" in ran.err) == (stands_there == "file")


def test_what_somebody_has_made_of_a_finding_is_left_alone(project):
    project.write("a.dra", RARE)
    command = ("fuzz", "a.dra::rare", "--seed", "3", "--max-examples", "120")
    project.run(*command)
    folder = project.root / "specs" / "regressions"
    [path] = folder.iterdir()
    text = path.read_text()
    assert text.startswith("# Found by `dralang fuzz`, seed 3, in a.dra.\n")
    path.write_text(text.replace("seed 3", "long ago"))
    again = project.run("fuzz", "a.dra::rare", "--seed", "8")
    assert "fails as in an earlier run" in again.out
    assert "again: dralang fuzz a.dra::rare\n" in again.out, "seed 8 has nothing to do with it"
    assert "long ago" in path.read_text()
    path.write_text("# Ours now.\n" + text)
    (project.root / ".dralang_cache" / "fuzz.json").unlink()
    project.run(*command)
    assert path.read_text().startswith("# Ours now.")
    assert sorted(each.name for each in folder.iterdir()) == [f"{path.stem}-2.dra", path.name]
    assert (folder / f"{path.stem}-2.dra").read_text() == text


@pytest.mark.parametrize("examples", [10, 66])
def test_ctrl_c_tells_what_was_found_until_then(project, monkeypatch, examples):
    """The second time it comes while what was found is being shrunk."""
    project.write("a.dra", RARE)
    play, played = explore.play_example, []

    def interrupted(scenario, *rest, **how):
        played.append(1)
        if len(played) == examples:
            raise KeyboardInterrupt
        return play(scenario, *rest, **how)

    monkeypatch.setattr(explore, "play_example", interrupted)
    ran = project.run("fuzz", "a.dra::rare", "--seed", "3")
    assert ran.code == 2
    assert "interrupted" in ran.out
    if examples == 10:
        assert "ok a.dra::rare: 9 examples" in ran.out
    else:
        assert "FOUND a.dra::rare: 63 examples" in ran.out
        assert "written: specs/regressions/rare-" in ran.out
        monkeypatch.undo()
        monkeypatch.chdir(project.root)
        assert "fails as in an earlier run" in project.run("fuzz", "a.dra::rare").out


def test_what_is_never_done_is_told(project):
    project.write("a.dra", 'pod a\nfuzz "early" { expect any pod runs; create a }\nfuzz "late" { create a }\n')
    ran = project.run("fuzz", "a.dra", "--max-examples", "2")
    assert ran.code == 0
    assert "warning[DRA0218]: there is no pod here" in ran.err
    assert ran.err.count("warning") == 1
    assert project.run("fuzz", "a.dra", "--max-examples", "2", "-k", "late").err == ""


def test_ctrl_c_in_the_report_leaves_the_totals(project, monkeypatch):
    project.write("a.dra", RARE)

    def interrupted(reached):
        raise KeyboardInterrupt

    monkeypatch.setattr("dralang.cli.fuzz.coverage", interrupted)
    ran = project.run("fuzz", "a.dra::rare", "--seed", "3")
    assert ran.code == 2
    assert "FOUND a.dra::rare" in ran.out
    assert " interrupted " in ran.out.splitlines()[-2]
    assert ", 1 found " in ran.out.splitlines()[-1]


@pytest.mark.parametrize("sent", ["SIGINT", "SIGKILL"])
def test_workers_end_with_the_run(project, sent):
    project.write("a.dra", RARE)
    command = [sys.executable, "-m", "dralang", "fuzz", "a.dra", "-k", "holds", "--max-examples", "100000", "-n", "2"]
    process = subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    while process.stdout.readline() != "1 fuzz\n":
        assert process.poll() is None
    time.sleep(2)
    if sent == "SIGINT":
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.kill()
    # The workers hold the other ends of these pipes: they end only when all of them have ended.
    out, err = process.communicate(timeout=60)
    if sent == "SIGINT":
        assert process.returncode == 2
        assert "interrupted" in out
        assert err == "", "no worker says anything"
