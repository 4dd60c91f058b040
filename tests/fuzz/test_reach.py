"""What fuzzes reach and never reach: the lists are read from the code, and explain everything that stories say."""

import ast
import json
from pathlib import Path

import pytest

from dralang.check.analysis import Analysis, Analyzer
from dralang.cluster.journal import JournalEntry
from dralang.fuzz.catalogue import SOURCES, catalogue, event_sites, features, refusal_sites, said
from dralang.fuzz.reach import STATES, Lookout, Reached, States, coverage, features_of, states_of
from dralang.fuzz.sources import GAP, Scope, Sources
from dralang.run.player import play
from dralang.run.workshop import Workshop

ROOT = Path(__file__).resolve().parents[2]


# ---- reading the code -----------------------------------------------------------------------------------------------


def texts(code):
    """What the argument of `say(...)` in some code can be, with … for gaps."""
    sources = Sources(())
    tree = ast.parse(code)
    sources.trees = {"code.py": tree}
    [(call, scope)] = sources.calls["say"]
    assert isinstance(scope, Scope)
    return {text.replace(GAP, "…") for text in sources.texts(call.args[0], scope)}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("say('no')", {"no"}),
        ("def f(name):\n    say(f'no {name.x} in {len(name)}')", {"no … in …"}),
        ("NO = 'no'\ndef f(): say(f'{NO} way')", {"no way"}),
        ("def f(x):\n    text = 'a' if x else 'b'\n    say(text)", {"a", "b"}),
        ("def f(x):\n    why, other = 'a', x\n    say(why)", {"a"}),
        (("def f(names):\n    reasons = ['many'] if names else []\n    reasons += [f'no {n}' for n in names]\n"
         "    say(*reasons)"), {"many", "no …"}),
        ("def f(x): return 'a' if x else g(x)\ndef g(x): return f'b {x.y}'\ndef h(): say(f(1))", {"a", "b …"}),
        ("def _a(text): say(f'x: {text}')\ndef b(): return _a('1') or _a(text='2')", {"x: 1", "x: 2"}),
        (("class C:\n    def _r(self, kind, name, why, text): say(why)\n"
         "    def a(self, key): self._r(*key, 'Gone', 'is gone')"), {"Gone"}),
        (("class E:\n    code: int\n    message: str\ndef f(e):\n    match e:\n        case E(message=m): say(m)\n"
         "def g(): return E(1, 'bad') or E(2, message='worse')"), {"bad", "worse"}),
        ("class F:\n    problem: str\ndef g(): return F('lost')\ndef f(x): say(x.problem)", {"lost"}),
        ("def f(x): return f(x) or 'end'\ndef g(): say(f(1))", {"end", "…"}),
        ("def f(x): say(x[0])", {"…"}),
    ],
)  # fmt: skip
def test_expressions_are_followed_to_what_they_say(code, expected):
    assert texts(code) == expected


def test_every_refusal_in_the_code_is_understood():
    sites = list(refusal_sites(Sources(SOURCES)))
    assert len(sites) > 40
    for site in sites:
        # An error may come from anywhere; a refusal has words of its own.
        if site.codes != {"ERROR"}:
            assert any(text.strip(GAP) for text in site.texts), f"the refusal in line {site.line} cannot be read"


def test_every_event_in_the_code_is_understood():
    sites = list(event_sites(Sources(SOURCES)))
    assert len(sites) > 8
    for found in sites:
        assert any(GAP not in text for text in found), found
        assert all(text == GAP or text.isalnum() for text in found), found


def test_the_lists_have_what_everybody_knows():
    known = catalogue()
    assert {"Scheduled", "Preempted", "DeviceTaintManagerEviction", "EvictionCancelled"} <= set(known.events)
    assert {"Insufficient …", "Too many pods", "cannot allocate all claims"} <= set(known.refusals)
    assert 'waiting for pods\'s pod group "…" to appear in scheduling queue' in known.refusals
    assert {"kubelet", "resourceclaim-controller", "disruption-controller"} <= set(known.controllers)
    assert {"DRADeviceTaints", "DRAPartitionableDevices", "DRAAdminAccess"} <= set(known.features)


# ---- what stories say -----------------------------------------------------------------------------------------------


def test_everything_that_our_specs_reach_is_in_the_lists():
    """A new event, refusal or controller that the reader does not see shows here."""
    known, workshop, analyzer = catalogue(), Workshop(), Analyzer()
    reached = Reached()
    for path in sorted((ROOT / "specs").rglob("*.dra")):
        analysis = analyzer.path(path)
        assert isinstance(analysis, Analysis)
        for scenario in analysis.scenarios:
            lookout = Lookout(0)
            played = play(scenario, workshop, lookout.attach)
            reached |= lookout.result(played.trace)
    assert reached.events <= set(known.events)
    assert reached.components <= {*known.controllers, "scheduler", ""}
    assert reached.features <= set(features())
    # What goes wrong while a pod is bound is no refusal of a plugin.
    binding = ("running PreBind plugin", "running Bind plugin", "running Permit plugin")
    unexplained = [
        text for text in reached.messages if not text.startswith(binding) and not said([text], known.refusals)
    ]
    assert unexplained == []
    parts = {part.key: part for part in coverage(reached)}
    assert len(parts["events"].reached) >= 20
    assert len(parts["refusals"].reached) >= 15
    assert parts["refusals"].never
    assert set(parts["refusals"].reached).isdisjoint(parts["refusals"].never)
    assert len(parts["features"].reached) >= 10


def story(body, head="node n\npod a\n"):
    analysis = Analyzer().text(Path("a.dra"), "a.dra", f'{head}scenario "s" {{ {body} }}'.encode())
    assert not analysis.has_errors, analysis.diagnostics
    lookout = Lookout(0)
    played = play(analysis.scenarios[0], Workshop(), lookout.attach)
    return lookout.result(played.trace)


def test_what_keeps_a_pod_from_being_tried_is_heard_of():
    head = "node n\npod a { schedulingGates: [{name: wait}] }\n"
    reached = story("create a; expect a is pending", head)
    assert "FailedScheduling" not in reached.events
    assert reached.messages == {"waiting for scheduling gates: [wait]"}
    restarted = story("restart scheduler; create a; expect a is pending", head)
    assert restarted.messages == reached.messages


def test_only_who_writes_is_at_work():
    assert story("create a; expect a runs").components == {"scheduler", "kubelet", ""}


def test_refusals_are_found_in_messages():
    refusals = (
        "node(s) were unschedulable",
        "Insufficient …",
        "preemption: 0/… nodes are available: ….",
        "unschedulable",
    )
    message = (
        "N/N nodes are available: N Insufficient cpu, N node(s) were unschedulable. "
        "preemption: N/N nodes are available: N Insufficient cpu."
    )
    assert said([message], refusals) == set(refusals[:3])
    assert said(["something else"], refusals) == frozenset()


def entry(time, name, reason, message=""):
    return JournalEntry(time, "c", "Pod", "default", name, reason, message)


def test_states_are_what_holds_at_the_end_of_each_instant():
    one = [entry(0, "a", "Created"), entry(0, "b", "Created"), entry(5, "a", "Scheduled", "assigned to n")]
    assert len(states_of(one)) == 2
    other_order = [entry(1, "b", "Created"), entry(1, "a", "Created")]
    assert states_of(other_order) < states_of(one)
    swapped = [*one[:2], entry(5, "b", "Scheduled", "assigned to n")]
    assert states_of(swapped) != states_of(one)
    gone = [*one, entry(7, "a", "Deleted")]
    assert states_of([entry(0, "b", "Created")]) < states_of(gone)
    assert states_of([]) == frozenset()
    assert all(0 <= number < STATES for number in states_of(gone))


def test_new_states_are_counted():
    states = States()
    states.add(frozenset({1, 2, STATES - 1}))
    assert (states.count, states.new) == (3, 3)
    states.add(frozenset({2, 3}))
    assert (states.count, states.new) == (4, 1)
    states.add(frozenset())
    assert (states.count, states.new) == (4, 0)


SLICES = """kubernetes 1.37
use std.example.gpu-node
gpu-node(w, gpus: 1)
template plain { request gpu: 1 of gpu.example.com }
template tolerant { request gpu: 1 of gpu.example.com { tolerate maintenance } }
template either { request gpu: first available { a: 1 of gpu.example.com; b: 1 of gpu.example.com } }
"""


def test_features_are_those_whose_fields_an_object_uses():
    analysis = Analyzer().text(
        Path("a.dra"), "a.dra", (SLICES + 'scenario "s" { settle; expect no pod is pending }').encode()
    )
    used = {each.key.name: features_of(each.object) for each in analysis.objects}
    assert used["plain"] == frozenset()
    assert used.get("tolerant") == {"DRADeviceTaints"}
    assert used.get("either") == {"DRAPrioritizedList"}


# ---- the command ----------------------------------------------------------------------------------------------------

FUZZ = 'node n\npod a\nfuzz "f" { maybe create a; expect all pods are settled }\n'


def test_the_report_names_what_was_never_reached(project):
    project.write("a.dra", FUZZ)
    ran = project.run("fuzz", "--max-examples", "20")
    assert ran.code == 0
    lines = ran.out.splitlines()
    [start] = [number for number, line in enumerate(lines) if line.startswith("reached 3 of ")]
    assert lines[start].endswith("events: Created; Running; Scheduled")
    assert lines[start + 1].startswith("  never: Allocated; ")
    assert any(line.startswith("reached 0 of ") and line.endswith(" reasons of refusals") for line in lines)
    assert any(line.startswith("reached 1 of ") and line.endswith("controllers: kubelet") for line in lines)
    text = " ".join(ran.out.split())
    assert "cannot allocate all claims;" in text
    assert "never: CompositePodGroup;" in text


def test_the_report_as_json(project):
    project.write("a.dra", FUZZ + 'fuzz "g" { create a; expect a is pending }\n')
    ran = project.run("fuzz", "--max-examples", "20", "--format", "json", "--seed", "7")
    document = json.loads(ran.out)
    assert ran.code == document["summary"]["exitCode"] == 1
    assert (document["schema"], document["seed"]) == ("dralang/fuzz/1", 7)
    fine, wrong = document["fuzzes"]
    assert (fine["id"], fine["examples"], fine["found"], fine["failure"]) == ("a.dra::f", 2, False, None)
    assert fine["states"] == document["summary"]["states"] - wrong["states"] > 0
    assert (wrong["found"], wrong["remembered"], wrong["fault"]) == (True, False, None)
    assert wrong["failure"]["expected"] == "a is pending"
    assert project.run("test", wrong["written"]).code == 1
    assert document["summary"]["found"] == 1
    for part in ("events", "refusals", "controllers", "features"):
        reached, never = document["coverage"][part]["reached"], document["coverage"][part]["never"]
        assert sorted([*reached, *never]) == sorted(getattr(catalogue(), part))
    assert document["coverage"]["events"]["reached"] == ["Created", "Running", "Scheduled"]
