"""State-machine mode: steps are drawn from the cluster as it is, and what comes out is a story like every other."""

import random
from collections import Counter
from itertools import product
from pathlib import Path

import pytest
from faults import FAULTS
from msgspec.structs import replace

from dralang.check.analysis import Analyzer
from dralang.cluster.clock import EventQueue
from dralang.controllers import resourceclaim
from dralang.fuzz import stateful
from dralang.fuzz.campaign import Campaign, Plan, Target
from dralang.fuzz.example import play_example
from dralang.fuzz.how import How
from dralang.fuzz.stateful import draw_stateful
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario import steps as s
from dralang.scenario.holes import SmallestChooser
from dralang.scenario.keys import ObjectKey

ROOT = Path(__file__).resolve().parents[2]
RANDOM = 'kubernetes 1.37\nfuzz "f" from std.random() { expect all pods are settled }\n'
RICH = """\
kubernetes 1.38
gates { DRAPreemption: true; DRADeviceTaintRules: true }

use std.example.gpu-node

gpu-node(w-[1..2], gpus: 1)

template one { request gpu: 1 of gpu.example.com }
claim common { request gpu: 1 of gpu.example.com }

pod small { claim gpu from one }
pod sharer { claim gpu is common }

fuzz "f" {
  always no pending pod can preempt
  delay resourceclaim-controller by any 0s..3s
  create sharer
  repeat any 1..3 as i {
    at any 0s..9s create pod p-${i} like any of [small, sharer] { priority: any 0..2 }
  }
  at any 0s..9s delete any pod
  at any 0s..9s expect sharer runs
  expect all pods are settled
}
"""


class Dice:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self, low, high):
        return self.random.randint(low, high)


class Ears:
    def progressed(self, outcomes, current):
        pass


def scenarios_of(text):
    analysis = Analyzer().text(ROOT / "specs" / "fuzz" / "x.dra", "x.dra", text.encode())
    assert not analysis.has_errors, analysis.diagnostics
    return [scenario for scenario in analysis.scenarios if scenario.template is not None]


TEXTS = [RANDOM, RICH, *[path.read_text() for path in sorted((ROOT / "specs" / "fuzz").glob("*.dra"))]]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.splitlines()[0][:40])
def test_the_story_takes_the_course_in_which_it_was_drawn(text, monkeypatch):
    clusters = []
    unfold = stateful._unfold

    def watched(moves, chooser):
        clusters.append(moves.simulation)
        return unfold(moves, chooser)

    monkeypatch.setattr(stateful, "_unfold", watched)
    workshop = Workshop()
    for scenario, seed in product(scenarios_of(text), range(25)):
        drawn = draw_stateful(scenario.template, Dice(seed), workshop)
        assert drawn.scenario is not None, drawn.diagnostics
        played = play(drawn.scenario, workshop)
        assert played.failures == ()
        seen = clusters[-1].trace
        assert list(played.trace[: len(seen)]) == seen
        # Nothing was drawn that could not be done: a plain scenario would say so.
        plain = play(replace(drawn.scenario, fuzz=False), workshop)
        assert [each.actual for each in plain.failures if "as the scenario demands" not in each.actual] == [], seed


def test_moves_are_of_every_kind():
    kinds = Counter()
    [scenario], workshop = scenarios_of(RICH), Workshop()
    for seed in range(80):
        story = draw_stateful(scenario.template, Dice(seed), workshop).scenario
        for step in story.steps:
            if isinstance(step, s.Act | s.Component):
                kinds[step.action] += 1
            elif isinstance(step, s.FailNext):
                kinds[f"fail {step.operation}"] += 1
            else:
                kinds[type(step).__name__] += 1
        created = {step.key.name for step in story.steps if isinstance(step, s.Create)}
        kinds["further"] += any(name.startswith("further-") for name in created)
        kinds["claim"] += any(isinstance(step, s.Act) and step.key.kind == "ResourceClaim" for step in story.steps)
    assert kinds.keys() >= {
        "Create", "delete", "finish", "fail", "cordon", "uncordon", "TaintDevice", "UntaintDevice", "pause", "resume",
        "restart", "delay", "fail bind", "fail update", "further", "claim",
    }  # fmt: skip


def what_failed_keeps_devices(patch):
    patch.setattr(resourceclaim, "is_done", lambda pod: pod.status.phase == "Succeeded")


def what_was_stopped_is_forgotten(patch):
    patch.setattr(EventQueue, "resume", lambda self, component: self._parked.pop(component, None))


@pytest.mark.parametrize("fault", [what_failed_keeps_devices, what_was_stopped_is_forgotten])
def test_faults_that_only_a_step_meets(fault, monkeypatch):
    fault(monkeypatch)
    [scenario], workshop = scenarios_of(RANDOM), Workshop()

    def failing(*, stateful):
        for seed in range(60):
            example = play_example(scenario, Dice(seed), workshop, stateful=stateful)
            if example.failure is not None:
                return example.signature
        return ""

    assert failing(stateful=False) == "", "drawn stories meet neither a failing pod nor a stopped component"
    assert "reservations-of-the-living" in failing(stateful=True)


def test_what_is_paused_goes_on_in_the_end():
    [scenario], workshop = scenarios_of(RANDOM), Workshop()
    paused = 0
    for seed in range(60):
        story = draw_stateful(scenario.template, Dice(seed), workshop).scenario
        still = Counter()
        for step in story.steps:
            if isinstance(step, s.Component) and step.action in ("pause", "resume"):
                still[step.component] += 1 if step.action == "pause" else -1
                paused += step.action == "pause"
        assert not any(still.values())
    assert paused


def test_the_simplest_story_is_the_beginning_alone():
    [scenario] = scenarios_of(RICH)
    story = draw_stateful(scenario.template, SmallestChooser(), Workshop()).scenario
    assert [type(step) for step in story.steps if not isinstance(step, s.Consequences)] == [s.Component, s.Expect]
    assert ObjectKey("ResourceClaim", "default", "common") in {item.key for item in story.initial}


def test_what_does_not_go_together_is_discarded():
    text = RICH.replace("priority: any 0..2", "priority: any of [1, 4000000000]")
    [scenario] = scenarios_of(text)
    drawn = draw_stateful(scenario.template, Dice(0), Workshop())
    assert drawn.scenario is None
    assert "out of range" in drawn.diagnostics[0].message


def found(path, **plan):
    analysis = Analyzer().path(path)
    targets = [Target(path, scenario) for scenario in analysis.scenarios if scenario.template is not None]
    run = Campaign(targets, Plan(how=How(stateful=True), **plan), Ears(), None)
    run.run()
    return [(each.examples, each.last, each.choices, each.signature, each.reached) for each in run.outcomes]


NEVER = RICH.replace("always no pending pod can preempt", "never exactly 2 of p-* are pending").replace(
    "at any 0s..9s expect sharer runs\n", ""
)


def test_the_number_of_workers_changes_nothing(project):
    path = project.write("a.dra", NEVER)
    alone = found(path, seed=3, max_examples=110)
    assert alone[0][2] is not None
    assert found(path, seed=3, max_examples=110, workers=2) == alone


def test_a_finding_is_a_plain_scenario_that_fails_until_the_cause_is_gone(project, monkeypatch):
    FAULTS["orphans-stay"].apply(monkeypatch)
    project.write("a.dra", RANDOM)
    command = ("fuzz", "a.dra", "--max-examples", "100", "--stateful")
    ran = project.run(*command)
    assert ran.code == 1, ran.out + ran.err
    assert "generated-claims-go-with-their-pod" in ran.out
    assert "--seed 0 --stateful" in ran.out
    [path] = (project.root / "specs" / "regressions").iterdir()
    assert "any " not in path.read_text()
    assert project.run("fmt", "--check", "specs").code == 0
    assert project.run("test", "specs").code == 1
    assert "fails as in an earlier run" in project.run(*command).out
    # Choices of the other mode are others: they are not mixed up.
    assert "fails as in an earlier run" not in project.run("fuzz", "a.dra", "--max-examples", "1").out
    monkeypatch.undo()
    monkeypatch.chdir(project.root)
    assert project.run("test", "specs").code == 0
    assert project.run("fuzz", "a.dra", "--max-examples", "50", "--stateful").code == 0


def test_stateful_stories_are_compared_too(project):
    project.write("a.dra", RANDOM)
    oracles = ("--against", "from-scratch", "--against", "reference-cel")
    ran = project.run("fuzz", "a.dra", "--max-examples", "40", "--stateful", *oracles)
    assert ran.code == 0, ran.out
    assert "compared from-scratch: stories compared from scratch: 40" in ran.out
