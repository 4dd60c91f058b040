"""Each invariant has a spec that shows its situation and passes; a fault put back breaks it by this very invariant."""

from pathlib import Path
from typing import Any

import pytest
from breakers import BREAKERS
from msgspec.structs import replace

from dralang.check.analysis import Analyzer
from dralang.fuzz import example, retold
from dralang.fuzz.explore import Explorer
from dralang.fuzz.found import play_finding
from dralang.fuzz.regression import is_formatted, write_down
from dralang.fuzz.retold import ORACLES
from dralang.run.invariants.watch import INVARIANTS
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.steps import Create

SPECS = Path(__file__).resolve().parents[2] / "specs" / "invariants"
ORACLE = {each.name: each for each in ORACLES}
SOUND = Workshop()
ALL = [*(each.name for each in INVARIANTS), *ORACLE]


def story(name, quirk=""):
    analysis = Analyzer().path(SPECS / f"{name}.dra")
    assert len(analysis.scenarios) == 1
    scenario = analysis.scenarios[0]
    quirks = {**scenario.settings.quirks, **({quirk: True} if quirk else {})}
    return replace(scenario, settings=replace(scenario.settings, quirks=quirks))


def broken_by(name, workshop, quirk=""):
    """The invariants that do not hold in the spec of one of them, and what else is not as it should be."""
    scenario = story(name, quirk)
    played = play(scenario, workshop)
    failures = [each for each in played.failures if each.kind == "invariant"]
    others = [each for each in played.failures if each.kind != "invariant"]
    if name == "same-input-same-output":
        failures += filter(None, [example._again(scenario, played, workshop)])
    if name in ORACLE:
        # A fault that stands for a quirk is excused by nothing here.
        failures += filter(None, [retold.ask(replace(ORACLE[name], quirks=()), scenario, workshop)])
    return {each.expected.partition(" (")[0] for each in failures}, others


@pytest.mark.parametrize("name", ALL)
def test_the_spec_of_an_invariant_passes_and_a_fault_breaks_it(name):
    assert broken_by(name, SOUND) == (set(), [])
    fault = BREAKERS[name]
    with pytest.MonkeyPatch.context() as patch:
        fault.apply(patch)
        # What a workshop remembers must not come from a world without the fault, nor go to one.
        broken, _ = broken_by(name, Workshop(), fault.quirk)
    assert name in broken


def test_every_invariant_has_a_fault_and_a_spec_and_no_more():
    assert set(BREAKERS) == set(ALL) == {path.stem for path in SPECS.glob("*.dra")}


def test_the_oracles_have_something_to_say_about_their_specs():
    """A story that an oracle passes over would prove nothing."""
    for oracle in ORACLES:
        scenario = story(oracle.name)
        environment: Any = SOUND.environment(scenario.settings)
        assert oracle.retell(retold._plain(scenario), environment.profile) is not None


def test_what_an_oracle_finds_is_shrunk_and_written_down(monkeypatch, tmp_path):
    text = 'kubernetes 1.37\nfuzz "f" from std.random(nodes: 1, devices: 2, pods: 2, events: 1) { }\n'
    analysis = Analyzer().text(tmp_path / "f.dra", "f.dra", text.encode())
    scenario = analysis.scenarios[0]
    BREAKERS["admin-access-holds-nothing"].apply(monkeypatch)
    explorer = Explorer(Workshop())
    chunks = (explorer.chunk(scenario, number, 100) for number in range(10))
    chunk: Any = next(each for each in chunks if each.choices is not None)
    assert "admin-access-holds-nothing" in chunk.signature
    again: Any = explorer.replay(scenario, chunk.choices)
    assert again.signature == chunk.signature
    assert sum(isinstance(step, Create) and step.key.kind == "Pod" for step in again.drawn.scenario.steps) == 1
    written = write_down(
        scenario, analysis.tree, tmp_path / "f.dra", tmp_path, again, remark="found", analyzer=Analyzer()
    )
    assert "tagged regression, admin-access-holds-nothing {" in written.text
    assert is_formatted(written.text)
    (tmp_path / "found.dra").write_text(written.text)
    [found] = Analyzer().path(tmp_path / "found.dra").scenarios
    assert [each.expected.partition(" (")[0] for each in play_finding(found, Workshop()).failures] == [
        "admin-access-holds-nothing"
    ]
    assert play(found, Workshop()).verdict == "passed", "only told both ways"
    assert play_finding(replace(found, xfail="later"), Workshop()).verdict == "xfailed"
    monkeypatch.undo()
    assert play_finding(found, Workshop()).verdict == "passed"
