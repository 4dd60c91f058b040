"""Holes filled, statements put in the order of time."""

import random
import re
from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.check.faults import COMPONENTS
from dralang.fuzz.example import play_example
from dralang.fuzz.tested import story_of
from dralang.run.workshop import Workshop
from dralang.scenario.holes import RecordedChooser

CLUSTER = """
kubernetes 1.37
node w-1
node w-2
slice s { driver: d.example.com; nodeName: w-1; device x; device y }
class d { where `device.driver == "d.example.com"` }
template one { request r: 1 of d }
claim shared { request r: 1 of d }
pod a { claim r from one }
pod b { claim r is shared }
"""

QUIRK = "claim-named-twice-counts-twice"
# The body of a fuzz, the choices, and the story.
STORIES = {
    "the first choices are the simplest": (
        "at any 5s..9s create pod p like any of [a, b] { priority: any 3..7 }",
        [],
        ["at 5s create pod p like a { priority: 3 }"],
    ),
    "a number, a time and a name": (
        "at any 5s..9s create pod p like any of [a, b] { priority: any 3..7 }",
        [4, 1, 6],
        ["at 9s create pod p like b { priority: 6 }"],
    ),
    "times have the finest unit that is written": ("at any 0s..100ms create a", [41], ["at 41ms create a"]),
    "minutes are minutes": ("at any 0s..1h create a", [61], ["at 1m1s create a"]),
    "quantities of one unit": (
        "create pod p like a { requests { memory: any 1Gi..8Gi } }",
        [3],
        ["create pod p like a { requests { memory: 3Gi } }"],
    ),
    "the order is that of time, then that of the text": (
        "at any 0s..9s create a; at any 0s..9s create b; at any 0s..9s cordon w-1",
        [7, 2, 7],
        ["at 2s create b", "at 7s create a", "at 7s cordon w-1"],
    ),
    "what is scheduled does not move the clock": (
        "at any 0s..9s create a\ncreate b",
        [4],
        ["create b", "at 4s create a"],
    ),
    "what is due runs before what follows": ("at any 0s..9s create a\ncreate b", [0], ["create a", "create b"]),
    "a bare expect waits for everything scheduled": (
        "at any 0s..9s create a\nexpect all pods are settled\nat any 0s..9s create b",
        [9, 3],
        ["at 9s create a", "expect all pods are settled", "at 9s create b"],
    ),
    "a fixed time lets what is scheduled before it happen": (
        "at any 0s..9s create a; at any 0s..9s create b\nat 5s cordon w-1",
        [7, 5],
        ["at 5s create b", "at 5s cordon w-1", "at 7s create a"],
    ),
    "after a fixed time nothing is earlier": (
        "at 5s create a\nat any 0s..9s create b",
        [2],
        ["at 5s create a", "at 5s create b"],
    ),
    "after counts from the clock": (
        "at 5s create a\nafter any 1s..3s create b\nafter 1s cordon w-1",
        [2],
        ["at 5s create a", "at 6s cordon w-1", "at 8s create b"],
    ),
    "repeat puts its number in": (
        'repeat any 1..3 as i { create pod p-${i}-${i * 2} like a { labels { n: "${i + 1}" } } }',
        [2],
        ['create pod p-1-2 like a { labels { n: "2" } }', 'create pod p-2-4 like a { labels { n: "3" } }'],
    ),
    "a range has an index of its own": (
        "repeat 1 as i { create pod p-${i}-[1..2 as j] like a { priority: ${i * 10 + j} } }",
        [],
        ["create pod p-1-[1..2 as j] like a { priority: ${1 * 10 + j} }"],
    ),
    "maybe is nothing first": ("maybe create a\ncreate b", [0], ["create b"]),
    "maybe something": ("maybe at any 0s..9s create a\ncreate b", [1, 3], ["create b", "at 3s create a"]),
    "any order": ("any order of { create a; create b; cordon w-1 }", [2, 1], ["cordon w-1", "create b", "create a"]),
    "a subset": (
        "create pod p like a { tolerations: any subset of [{ key: k }, { key: l }] }",
        [0, 1],
        ["create pod p like a { tolerations: [{ key: l }] }"],
    ),
    "any pod is one that was created": (
        "create a\ncreate b\ndelete any pod\ndelete any pod\ndelete any pod",
        [1],
        ["create a", "create b", "delete pod b", "delete pod a"],
    ),
    "any pod that can be created": ("create any pod\ncreate any pod", [1], ["create pod b", "create pod a"]),
    "any pod in the order of time": (
        "at any 0s..9s create a; at any 0s..9s create b; at any 0s..9s delete any pod",
        [5, 8, 6],
        ["at 5s create a", "at 6s delete pod a", "at 8s create b"],
    ),
    "the time of within": ("create a\nwithin any 5s..30s expect a runs", [4], ["create a", "within 9s expect a runs"]),
    "within any of several times": (
        "create a\nwithin any of [5s, any 7s..9s] expect a runs",
        [1, 0],
        ["create a", "within 7s expect a runs"],
    ),
    "within waits for what is scheduled": (
        "at any 0s..9s create a\nwithin any 5s..30s expect a runs",
        [3, 1],
        ["at 3s create a", "within 6s expect a runs"],
    ),
    "a component": (
        "pause any of [scheduler, kubelet]\nresume any of [scheduler, kubelet]\nrestart any of [scheduler, kubelet]",
        [1, 1],
        ["pause kubelet", "resume kubelet", "restart scheduler"],
    ),
    "a component and how slow it is": (
        "delay any of [scheduler, allocation] by any 1s..5s",
        [1, 2],
        ["delay allocation by 3s"],
    ),
    "a component at any time": (
        "create a; at any 1s..9s restart any of [scheduler, kubelet]",
        [3, 1],
        ["create a", "at 4s restart kubelet"],
    ),
    "a number of failures": (
        "create a\nfail next any 1..3 bind of a\nfail next any of [4, 6] update of any pod",
        [2, 1],
        ["create a", "fail next 2 bind of a", "fail next 6 update of pod a"],
    ),
    "a number of failures that is computed": (
        "repeat 2 as i { fail next any ${i}..${i + 2} bind of a }\ncreate a",
        [2, 4],
        ["fail next 2 bind of a", "fail next 4 bind of a", "create a"],
    ),
    "what is going on already goes on, what stands still stands still": (
        "resume any of [scheduler, kubelet]; pause any of [kubelet]; pause any of [kubelet]; resume kubelet; create a",
        [],
        ["resume scheduler", "pause kubelet", "pause kubelet", "resume kubelet", "create a"],
    ),
    "the first of everything is the simplest": (
        "delay any of [scheduler, kubelet] by any 0s..9s; create a; fail next any 1..3 bind of a",
        [],
        ["delay scheduler by 0s", "create a", "fail next 1 bind of a"],
    ),
    "any node": ("cordon any node", [1], ["cordon node w-2"]),
    "any device": (
        "taint any device with k=v:NoSchedule",
        [1],
        ["taint device y with k=v:NoSchedule"],
    ),
    "devices and nodes of a list": (
        "taint device any of [x, y] with k=v:any of [NoSchedule, NoExecute]; taint node any of [w-1] with k:NoSchedule",
        [1, 1],
        ["taint device y with k=v:NoExecute", "taint node w-1 with k:NoSchedule"],
    ),
    "a taint that goes": (
        "untaint device any of [x, y] any of [k, l]:any of [NoSchedule]",
        [1, 1],
        ["untaint device y l:NoSchedule"],
    ),
    "a label": ("label any of [w-1, w-2] k=any of [v, w]", [1, 1], ["label w-2 k=w"]),
    "a condition of a device": (
        "set condition any of [r, s] of any claim device any device: any of [true, false]",
        [1, 1, 0, 1],
        ["set condition s of claim shared device x: false"],
    ),
    "what a pod uses": (
        "create pod p { claim r from any of [one, one]; claim s is any claim; on node any node }",
        [0, 1],
        ["create pod p { claim r from one; claim s is shared; on node w-2 }"],
    ),
    "what a claim asks for": (
        "claim c { request r: any 1..2 of any of [d, d] { tolerate k:any of [NoExecute] for any 1s..5s } }",
        [2, 0, 3],
        ["claim c { request r: 2 of d { tolerate k:NoExecute for 4s } }"],
    ),
    "a kind before a list": ("create a, b\ndelete pod any of [a, b]", [1], ["create a, b", "delete pod b"]),
    "a field that is called like a kind": ("set any of [a, b] priority: 3", [1], ["set b priority: 3"]),
    "a pod that the story declares is one to create": (
        "pod q { claim r from one }\ncreate any pod",
        [2],
        ["pod q { claim r from one }", "create pod q"],
    ),
    "like a pod that the story declares": (
        "pod q { claim r from one }\ncreate pod p like any pod\nexpect p runs",
        [2],
        ["pod q { claim r from one }", "create pod p like pod q", "expect p runs"],
    ),
    "a property is about whatever comes to exist": (
        "never any pod is succeeded\nwitness any pod is pending\ncreate a\ncreate b\ndelete a",
        [1, 0],
        ["never pod b is succeeded", "witness pod a is pending", "create a", "create b", "delete a"],
    ),
    "a gate": (
        "gates { DRADeviceTaintRules: any of [true, false] }\ncreate a",
        [1],
        ["gates { DRADeviceTaintRules: false }", "create a"],
    ),
    "a quirk and a field of the scheduler": (
        f"quirks {{ {QUIRK}: any of [false, true] }}\nscheduler {{ parallelism: any 1..9 }}\ncreate a",
        [1, 4],
        [
            f"quirks {{ {QUIRK}: true }}",
            "scheduler { parallelism: 4 }",
            "create a",
        ],
    ),
    "like any pod": ("create pod p like any pod", [1], ["create pod p like pod b"]),
}


def fuzz(body: str):
    analysis = Analyzer().text(Path("f.dra"), "f.dra", f'{CLUSTER}\nfuzz "f" {{\n{body}\n}}\n'.encode())
    errors = [item.message for item in analysis.diagnostics if item.severity == "error"]
    return errors or analysis.scenarios[0]


@pytest.mark.parametrize("name", STORIES)
def test_a_story_is_what_its_choices_say(name):
    body, choices, story = STORIES[name]
    example = play_example(fuzz(body), RecordedChooser(choices), Workshop())
    assert story_of(example) == story
    assert example.diagnostics == ()
    assert example.failure is None


# The statement with a hole, and every statement that it may become; `a` has been created.
ALL = {
    "within any 5s..8s expect a runs": [f"within {n}s expect a runs" for n in (5, 6, 7, 8)],
    "fail next any 1..4 bind of a": [f"fail next {n} bind of a" for n in (1, 2, 3, 4)],
    "fail next any of [2, 9] create of any claim": [f"fail next {n} create of claim shared" for n in (2, 9)],
    "delay allocation by any of [1s, 20s]": ["delay allocation by 1s", "delay allocation by 20s"],
    **{
        f"{action} any of [{', '.join(COMPONENTS)}]": [f"{action} {name}" for name in COMPONENTS]
        for action in ("pause", "resume", "restart")
    },
    f"delay any of [{', '.join(COMPONENTS)}, allocation] by 1s": [
        f"delay {n} by 1s" for n in (*COMPONENTS, "allocation")
    ],
}


@pytest.mark.parametrize("statement", ALL)
def test_every_choice_is_drawn_and_goes_as_without_a_hole(statement):
    after = "resume scheduler\nresume kubelet"
    scenario = fuzz(f"create a\n{statement}\n{after}")
    # A number is drawn as it is; a time, or one of a list, by how far it is from the first.
    number = re.search(r"next any (\d+)", statement)
    low = 0 if number is None else int(number[1])
    told = []
    for choice in range(low, low + len(ALL[statement])):
        example = play_example(scenario, RecordedChooser([choice]), Workshop())
        [line] = story_of(example)[1:-2]
        told.append(line)
        plain = play_example(fuzz(f"create a\n{line}\n{after}"), RecordedChooser([]), Workshop())
        assert story_of(plain) == story_of(example)
        for each in (example, plain):
            assert each.diagnostics == ()
            assert each.failure is None
        assert (plain.played.final, plain.played.end) == (example.played.final, example.played.end)
    assert told == ALL[statement]


MISTAKES = {
    "an empty range in the middle of a list": (
        "create a\nwithin any of [1s, any 9s..7s, 3s] expect a runs",
        "`any 9s..7s` is empty",
    ),
    "an empty range in a field": ("create pod p like a { priority: any of [1, any 3..2, 5] }", "`any 3..2` is empty"),
    "a range of two units in the middle": ("repeat any of [1, any 2..3s, 4] { create a }", "is no number of times"),
    "nothing to choose in the middle": ("create pod p like a { priority: any of [1, any of [], 5] }", "leaves nothing"),
    "an empty range": ("at any 9s..0s create a", "is empty"),
    "units that differ": ("create pod p like a { requests { memory: any 1Gi..8Mi } }", "is no range"),
    "nothing to choose": ("create pod p like any of [] {}", "leaves nothing to choose"),
    "an empty range of failures": ("create a\nfail next any 3..1 bind of a", "is empty"),
    "an empty range of times to wait": ("create a\nwithin any 30s..5s expect a runs", "is empty"),
    "failures of two units": ("create a\nfail next any 1..3s bind of a", "no number of failures"),
    "a component that does not exist": ("pause any of [scheduler, nobody]", "there is no component `nobody`"),
    "a gate that is no switch": ("gates { DRAAdminAccess: any of [true, 3] }\ncreate a", "`true` or `false`"),
    "a gate that does not exist": ("gates { Nope: any of [true, false] }\ncreate a", "unknown feature gate `Nope`"),
    "no number of times": ("repeat any 1s..2s { create a }", "is no number of times"),
    "an unknown gate": ("create a\ncompare with { gates { Nope: true } }", "Nope"),
    "no settings": ("create a\ncompare with {}", "names no settings"),
    "a field that is no setting": ("create a\ncompare with { pods: 3 }", "has no place in `compare with`"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_hole_that_nothing_can_fill_is_a_mistake(name):
    body, message = MISTAKES[name]
    errors = fuzz(body)
    assert isinstance(errors, list)
    assert any(message in error for error in errors), errors


def warnings_of(body):
    analysis = Analyzer().text(Path("f.dra"), "f.dra", (CLUSTER + f'fuzz "f" {{\n{body}\n}}\n').encode())
    assert not [item for item in analysis.diagnostics if item.severity == "error"]
    return [(item.code, item.span.text) for item in analysis.diagnostics if item.code == "DRA0218"]


NOBODY = {
    "an expectation of nobody": "expect any pod runs",
    "a property of nobody": "always any pod is pending",
    "nobody to delete": "at any 1s..9s delete any pod\nat 20s create a",
    "nothing left": "delete node w-1\ndelete node w-2\ncordon any node",
    "nothing of the kind": "label any taintrule k=v",
}


@pytest.mark.parametrize("name", NOBODY)
def test_a_statement_that_is_always_left_out_is_told(name):
    found = warnings_of(NOBODY[name])
    assert [code for code, _ in found] == ["DRA0218"]
    assert " any " in found[0][1]


@pytest.mark.parametrize(
    "body",
    [
        "create a\nexpect any pod runs",
        "always any pod is pending\npause scheduler\ncreate a",
        "maybe create a\nexpect any pod runs",
        "any order of { expect any pod runs; create a }",
        "repeat any 0..2 as i { create pod p-${i} like a; delete any pod }",
    ],
)
def test_a_statement_that_is_left_out_now_and_then_is_in_order(body):
    assert warnings_of(body) == []


def test_what_does_not_go_together_is_discarded():
    scenario = fuzz(
        "create pod p like a { priority: any 0..2000000000 }\nset claim shared metadata.labels: any of [{}]"
    )
    kept = play_example(scenario, RecordedChooser([0]), Workshop())
    assert not kept.is_discarded
    twice = fuzz("maybe create pod p like a {}\nmaybe create pod p like a {}")
    assert isinstance(twice, list), "the same name twice is a mistake wherever it stands"


def test_a_drawn_gate_is_the_one_of_the_story():
    body = "gates { DRADeviceTaints: any of [true, false]; DRADeviceTaintRules: any of [true, false] }\n"
    scenario = fuzz(body + "taint device x with k:NoSchedule\ncreate a\nexpect a runs with y")
    on, mixed, off = (play_example(scenario, RecordedChooser(choices), Workshop()) for choices in ([], [1, 0], [1, 1]))
    assert [each.is_discarded for each in (on, mixed, off)] == [False, True, False]
    assert on.failure is None
    assert off.failure.expected == "a runs with y"


def test_choices_that_are_out_of_range_are_brought_into_it():
    example = play_example(fuzz("at any 5s..9s create a"), RecordedChooser([1000]), Workshop())
    assert story_of(example) == ["at 9s create a"]


MAYBE = "maybe create pod p-1 like a\nrepeat any 0..3 as i { create pod p-${i + 1} like a {}\nsettle }"
# What a fuzz says of pods that a story need not have: in the story without them, and in the one with all.
ABSENT = {
    "none of those that match": ("expect none of p-* is gone", None, None),
    "all of those that match": ("expect all of p-* are pending", "nothing matches", None),
    "a bare glob": ("expect p-* is pending", "p-* does not exist", None),
    "at most": ("expect at most 4 of p-* are pending", None, None),
    "by name": ("expect p-2 is pending", "p-2 does not exist", None),
    "by the largest number": ("expect p-4 is pending", "p-4 does not exist", None),
    "whoever is there": ("expect all pods are pending", None, None),
    "a property": ("never p-4 is running", None, None),
    "what cannot happen": (
        "delete p-*\nfinish p-2\nset pod p-4 priority: 7\nset pod p-4 { priority: 7 }\nlabel p-4 k=v",
        None,
        None,
    ),
}


@pytest.mark.parametrize("name", ABSENT)
def test_what_is_said_of_pods_that_a_story_need_not_have(name):
    said, without, with_all = ABSENT[name]
    scenario = fuzz(f"cordon w-1\ncordon w-2\n{MAYBE}\n{said}")
    for choices, wanted in (([], without), ([0, 3], with_all)):
        example = play_example(scenario, RecordedChooser(choices), Workshop())
        assert example.diagnostics == (), "no story is discarded"
        assert (None if example.failure is None else example.failure.actual) == wanted


def test_other_objects_that_a_story_need_not_have_are_known_too():
    made = "create claim c-${i} { request r: 1 of d }\nslice s-${i} { driver: d.example.com; nodeName: w-1; device z }"
    said = "create pod p { claim r is c-1 }\ntaint device z with k:NoSchedule\nexpect p is pending"
    scenario = fuzz(f"repeat any 0..1 as i {{ {made} }}\n{said}\nnever device z is in-use")
    example = play_example(scenario, RecordedChooser([0]), Workshop())
    assert example.diagnostics == ()
    assert example.failure is None, example.failure
    assert play_example(scenario, RecordedChooser([1]), Workshop()).failure is not None, "with it, the pod runs"


def test_only_what_is_declared_can_be_a_model():
    scenario = fuzz("maybe create pod m like a {}\nmaybe create pod p like m")
    [without, with_it] = [play_example(scenario, RecordedChooser(choices), Workshop()) for choices in ([0, 1], [1, 1])]
    assert [each.message for each in without.diagnostics] == ["`m` has no declaration to be like"]
    assert with_it.diagnostics == ()


SOURCES = {
    "an unknown source": ("std.other()", "std.other"),
    "a value without a name": ("std.random(1)", "takes no value without a name"),
    "an unknown parameter": ("std.random(gpus: 3)", "takes no `gpus`"),
    "a size that is none": ("std.random(pods: many)", "is a number from 1"),
    "a size that is given twice": ("std.random(pods: 3, nodes: 1, pods: 4)", "`pods` is given twice"),
    "a size out of bounds": ("std.random(pods: 5000)", "is a number from 1"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_of_stories_is_called_with_what_it_knows(name):
    call, message = SOURCES[name]
    analysis = Analyzer().text(Path("f.dra"), "f.dra", f'fuzz "f" from {call} {{ }}\n'.encode())
    errors = [item.message for item in analysis.diagnostics if item.severity == "error"]
    assert any(message in error for error in errors), errors


class Dice:
    """Chooses at random, from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self, low, high):
        return self.random.randint(low, high)


def test_whole_stories_are_drawn_go_together_and_hold():
    text = b'fuzz "f" from std.random(nodes: 3, pods: 5) { expect all pods are settled }\n'
    scenario = Analyzer().text(Path("f.dra"), "f.dra", text).scenarios[0]
    workshop = Workshop()
    reached: set[str] = set()
    for seed in range(40):
        example = play_example(scenario, Dice(seed), workshop)
        assert example.diagnostics == ()
        assert example.failure is None, example.failure
        again = play_example(scenario, RecordedChooser(example.choices), workshop)
        assert story_of(again) == story_of(example)
        reached |= example.reached.events
    assert {"Scheduled", "FailedScheduling", "Deleted"} <= reached
    simplest = story_of(play_example(scenario, RecordedChooser([]), workshop))
    assert "create pod p-1 { claim c from t-1 }" in simplest


def test_what_speaks_of_a_pod_may_come_before_it():
    example = play_example(
        fuzz("at any 0s..9s create pod p like a\nat any 0s..9s delete p"), RecordedChooser([5, 2]), Workshop()
    )
    assert story_of(example) == ["at 2s delete p", "at 5s create pod p like a"]
    assert example.failure is None
    assert "Running" in example.reached.events
