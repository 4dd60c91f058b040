"""Differential oracles: stories played another way come to the same, and a fault of either way is found."""

from pathlib import Path

import pytest
from faults import Blind

from dralang.check.analysis import Analyzer
from dralang.fuzz.against import Oracles
from dralang.fuzz.explore import Explorer, seed_of
from dralang.fuzz.how import How
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.holes import SmallestChooser

FOLDER = Path("against")


def explored(text, examples, *against):
    """What a number of examples of a text's fuzz come to."""
    analysis = Analyzer().text(FOLDER / "a.dra", "a.dra", text.encode())
    assert not analysis.has_errors, analysis.diagnostics
    scenario = analysis.scenarios[0]
    explorer = Explorer(Workshop(), how=How(against=against))
    chunk = explorer.chunk(scenario, seed_of(0, scenario, 0), examples)
    return chunk, explorer, scenario


def random_text(version="1.37", head="", sizes=""):
    return f'kubernetes {version}\n{head}\nfuzz "f" from std.random({sizes}) {{ expect all pods are settled }}\n'


# ---- from scratch ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "head"),
    [
        ("1.36", ""),
        ("1.37", "gates { DRADeviceTaintRules: true; DRAExtendedResource: true }"),
        ("1.38", "gates { DRAPreemption: true; GenericWorkload: true }"),
        ("1.38", "quirks { vanished-devices-free-counters: false }"),
    ],
)
def test_what_is_remembered_changes_nothing(version, head):
    chunk, _, _ = explored(random_text(version, head), 40, "from-scratch")
    assert (chunk.choices, chunk.signature) == (None, "")
    compared = {name: number for name, number in chunk.counts.items() if number}
    assert compared == {
        "from-scratch: stories compared from scratch": chunk.examples,
        "from-scratch: stories compared with every memory in use": chunk.examples,
    }


def stale(*_):
    """Whoever should forget does not."""


FORGOTTEN = {
    "verdicts outlive a change of the node": "dralang.scheduler.verdicts.VerdictCache.forget_node",
    "verdicts outlive a change of pools": "dralang.scheduler.dynamicresources.manager.DRAManager._touch_pools",
    "pods stay counted on their node": "dralang.scheduler.node_info.NodeInfo._count",
    "pools of a node outlive a change of slices": "dralang.allocator.inventory.Inventory._changed",
    "what a claim held stays in use": "dralang.allocator.state.AllocatedState.without_allocation",
}
CROWDED = """\
kubernetes 1.37
node w { allocatable { cpu: 2, memory: 4Gi, pods: 110 } }
pod p { requests { cpu: 1 } }
fuzz "f" {
  repeat any 1..5 as i { at any 0s..20s create pod p-${i} like p }
  repeat any 0..3 { at any 0s..40s delete any pod }
  expect all pods are settled
}
"""


SCARCE = """\
kubernetes 1.37
use std.example.gpu-node
gpu-node(w-[1..2], gpus: 1)
template one { request gpu: 1 of gpu.example.com }
pod p { claim gpu from one }
fuzz "f" {
  repeat any 1..5 as i { at any 0s..20s create pod p-${i} like p }
  repeat any 0..3 { at any 0s..40s delete any pod }
  maybe at any 0s..20s taint any device with broken:NoSchedule
  expect all pods are settled
}
"""


@pytest.mark.parametrize("name", FORGOTTEN)
def test_a_missed_invalidation_is_found(name, monkeypatch):
    target = FORGOTTEN[name]
    holder, _, method = target.rpartition(".")
    module, _, kind = holder.rpartition(".")
    real = getattr(__import__(module, fromlist=[kind]), kind)
    text = SCARCE
    match method:
        case "_count":
            count = real._count
            monkeypatch.setattr(real, method, lambda self, info, sign: count(self, info, abs(sign)))
            text = CROWDED
        case "_changed":
            changed = real._changed

            def keeping(self, *rest):
                after = changed(self, *rest)
                after._views = self._views
                return after

            monkeypatch.setattr(real, method, keeping)
        case "without_allocation":
            monkeypatch.setattr(real, method, lambda self, _: self)
        case _:
            monkeypatch.setattr(real, method, stale)
    # The invariants find some of these too: here only the comparison is asked.
    monkeypatch.setattr("dralang.run.player.Watch", Blind)
    chunk, explorer, scenario = explored(text, 250, "from-scratch")
    assert chunk.signature.startswith("against from-scratch: the same course"), (chunk.signature, chunk.examples)
    example = explorer.replay(scenario, chunk.choices)
    assert example.failure.kind == "against"
    monkeypatch.undo()
    assert explorer.replay(scenario, chunk.choices).failure is None


# ---- cel-python -----------------------------------------------------------------------------------------------------

CHOOSY = """\
kubernetes 1.37
node w
slice s {
  driver: a.example.com
  nodeName: w
  device d-[0..1 as i] { attributes { index: ${i} } }
}
class small { where `device.attributes["a.example.com"].index == 0` }
class odd { where `device.attributes["a.example.com"].?colour.orValue("") == "red"` }
class broken { where `device.attributes["a.example.com"].colour == "red"` }
template t { request r: 1 of small }
template o { request r: 1 of odd }
template b { request r: 1 of broken }
pod small { claim c from t }
pod odd { claim c from o }
pod broken { claim c from b }
fuzz "f" {
  repeat any 1..4 as i { at any 0s..9s create pod p-${i} like any of [small, odd, broken] }
  expect all pods are settled
}
"""


def test_cel_python_tells_the_same_stories():
    chunk, _, _ = explored(CHOOSY, 30, "reference-cel")
    assert (chunk.choices, chunk.signature) == (None, "")
    assert chunk.counts == {
        "reference-cel: stories compared with cel-python": chunk.examples,
        "reference-cel: expressions that cel-python cannot judge, left to ours": 1,
    }


def test_wrong_code_for_an_expression_is_found(project, monkeypatch):
    monkeypatch.setattr("dralang.cel.expressions.generate", lambda *_: lambda _: False)
    # Whoever looks at the end uses the same code.
    monkeypatch.setattr("dralang.run.player.Watch", Blind)
    project.write("a.dra", CHOOSY)
    ran = project.run("fuzz", "a.dra", "--max-examples", "40", "--against", "reference-cel")
    assert ran.code == 1, ran.out + ran.err
    assert "reference-cel: the same course with cel-python" in ran.out
    assert "--seed 0 --against reference-cel" in ran.out
    # It ends otherwise, so it can be told as a plain scenario.
    [path] = (project.root / "specs" / "regressions").iterdir()
    assert "expect pod p-1 runs on w with d-0" in path.read_text()
    assert project.run("test", "specs").code == 1
    assert project.run("fmt", "--check", "specs").code == 0
    monkeypatch.undo()
    monkeypatch.chdir(project.root)
    assert project.run("test", "specs").code == 0
    healed = project.run("fuzz", "a.dra", "--max-examples", "40", "--against", "reference-cel")
    assert healed.code == 0, healed.out


def test_a_difference_in_the_course_alone_is_reported(project, monkeypatch):
    monkeypatch.setattr("dralang.scheduler.verdicts.VerdictCache.forget_node", stale)
    project.write("a.dra", CROWDED)
    ran = project.run("fuzz", "a.dra", "--max-examples", "100", "--against", "from-scratch")
    assert ran.code == 1, ran.out + ran.err
    assert "from-scratch: the same course" in ran.out
    assert not ran.err
    # A run without the oracle sees nothing wrong, and leaves it to the next one with it.
    assert project.run("fuzz", "a.dra", "--max-examples", "5").code == 0
    again = project.run("fuzz", "a.dra", "--max-examples", "5", "--against", "from-scratch")
    assert "fails as in an earlier run" in again.out


# ---- what is asked --------------------------------------------------------------------------------------------------


def test_an_unknown_oracle_is_refused(project):
    project.write("a.dra", CROWDED)
    ran = project.run("fuzz", "a.dra", "--against", "somebody")
    assert ran.code == 4
    assert "from-scratch" in ran.err


def test_failures_that_are_there_anyway_come_first():
    text = CROWDED.replace("expect all pods are settled", "create p; expect p is gone")
    chunk, _, _ = explored(text, 5, "from-scratch", "reference-cel")
    assert chunk.signature == "expect p is gone"


def test_both_ways_fail_alike():
    analysis = Analyzer().text(FOLDER / "a.dra", "a.dra", random_text().encode())
    story = analysis.scenarios[0].template.draw(SmallestChooser()).scenario
    oracles = Oracles(How(against=("from-scratch", "reference-cel")))
    assert oracles.difference(story, play(story, Workshop())) is None
    other = analysis.scenarios[0].template.draw(LastChooser()).scenario
    found = oracles.difference(story, play(other, Workshop()))
    assert found is not None
    assert found.other is not None


class LastChooser:
    def integer(self, low, high):
        return high
