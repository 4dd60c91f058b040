"""Who is counted by `all of`, `none of`, `exactly 2 of` and the like, and what was done to pods, by whom and why.

A sentence that is false fails, whoever of those that it names does not exist, is gone, or was spared.
"""

from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.run.outcome import Played
from dralang.run.player import play
from dralang.run.workshop import Workshop

CLUSTER = """
node worker-1
slice gpus { driver: gpu.example.com; nodeName: worker-1; device gpu-[0..1] }
class gpu { where `device.driver == "gpu.example.com"` }
template one { request gpu: 1 of gpu }
priority high: 1000
pod a { claim gpu from one }
pod b { claim gpu from one }
pod absent
pod hog { requests { cpu: 60 } }
pod vip { priorityClassName: high; requests { cpu: 60 } }
namespace team
pod team/vip { priorityClassName: high; requests { cpu: 60 } }
taintrule other { deviceSelector { device: gpu-1 }; taint gpu.example.com/late=yes:None }
"""
BREAK = "settle\ntaintrule broken { deviceSelector { device: gpu-0 }; taint gpu.example.com/unhealthy:NoExecute }\n"
EVICTED = f"create a, b\n{BREAK}"
PREEMPTED = "create a, hog\nat 1s create vip\n"
PREEMPTED_BY_TEAM = "create vip\nfinish vip\ncreate hog\nat 1s create team/vip\n"


def played(body: str) -> Played:
    text = f'kubernetes 1.37\n{CLUSTER}\nscenario "s" {{\n{body}\n}}\n'
    analysis = Analyzer().text(Path("s.dra"), "s.dra", text.encode())
    errors = [f"{d.span}: {d.message}" for d in analysis.diagnostics if d.severity == "error"]
    assert not errors, errors
    return play(analysis.scenarios[0], Workshop())


TRUE = {
    "whoever is named and absent does not run": "create a\nexpect exactly 1 of a, absent do not run",
    "whoever is named and gone is gone": "create a, b\nsettle\ndelete a\nexpect exactly 1 of a, b are gone",
    "all who are named are gone": "create a, b\nsettle\ndelete a, b\nexpect all of a, b are gone",
    "all whom a pattern meant once are gone": (
        "create pod p-[1..2] like a\nsettle\ndelete p-1, p-2\nexpect all of p-* are gone\nexpect all pods are gone"
    ),
    "of those who ever were some are gone": "create a, b\nsettle\ndelete a\nexpect exactly 1 pod is gone",
    "all who are named were evicted": f"{EVICTED}expect all of a were evicted",
    "all who are named were spared": f"{EVICTED}expect all of b were not evicted",
    "one of two was spared": f"{EVICTED}expect exactly 1 of a, b were not evicted",
    "one of all was spared": f"{EVICTED}expect exactly 1 pod was not evicted",
    "no running pod was evicted": f"{EVICTED}expect no running pods were evicted",
    "evicted by this rule": f"{EVICTED}expect a was evicted by broken\nexpect exactly 1 pod was evicted by broken",
    "not evicted by another rule": f"{EVICTED}expect a was not evicted by other",
    "evicted for this reason": f'{EVICTED}expect a was evicted because "rule `broken`"',
    "preempted by this pod": f"{PREEMPTED}expect hog was preempted by vip\nexpect all of hog were preempted by vip",
    "preempted by a pod of another namespace": (
        f"{PREEMPTED_BY_TEAM}expect hog was preempted by team/vip\nexpect hog was not preempted by vip\n"
        "expect team/vip preempted hog\nexpect exactly 1 pod was preempted by team/vip\n"
        "expect none of hog were preempted by vip\nexpect hog was preempted because '`team/vip`'"
    ).replace("'", '"'),
    "preempted for this reason": f'{PREEMPTED}expect hog was preempted because "on worker-1"',
    "why a pod does not run": 'cordon worker-1\ncreate a\nexpect a does not run because "unschedulable"',
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_holds(name):
    assert [failure.actual for failure in played(TRUE[name]).failures] == []


FALSE = {
    "all who are named run, and one is absent": (
        "create a\nexpect all of a, absent run",
        "1 of 2: a; absent does not exist",
    ),
    "all are pending, and one is absent": ("cordon worker-1\ncreate a\nexpect all of a, absent are pending", "1 of 2"),
    "nobody is gone, and one is": ("create a\nsettle\ndelete a\nexpect none of a are gone", "1 of 1: a"),
    "nobody of a pattern is gone, and one is": (
        "create pod p-[1..2] like a\nsettle\ndelete p-1\nexpect none of p-* are gone",
        "1 of 2: p-1",
    ),
    "no pod is gone, and one is": ("create a\nsettle\ndelete a\nexpect no pods are gone", "1 of 1: a"),
    "all who are named were evicted, and none was": ("create a\nexpect all of a were evicted", "0 of 1 was evicted"),
    "all were evicted, and one was": (f"{EVICTED}expect all of a, b were evicted", "1 of 2 were evicted: a"),
    "all pods were evicted, and one was": (f"{EVICTED}expect all pods were evicted", "1 of 2 were evicted: a"),
    "all running pods were evicted": (f"{EVICTED}expect all running pods were evicted", "0 of 1 was evicted"),
    "all of a pattern were evicted, and one was": (
        f"create pod p-[1..2] like a\n{BREAK}expect all of p-* were evicted",
        "1 of 2 were evicted: p-1",
    ),
    "all were preempted, and one was": (
        f"{PREEMPTED}expect all of a, hog were preempted",
        "1 of 2 were preempted: hog",
    ),
    "nobody was spared, and one was": (f"{EVICTED}expect none of a, b were not evicted", "1 was not evicted: b"),
    "no pod was spared, and one was": (f"{EVICTED}expect no pods were not evicted", "1 was not evicted: b"),
    "evicted by another rule": (f"{EVICTED}expect a was evicted by other", "a was evicted: NoExecute by rule `broken`"),
    "counted by another rule": (f"{EVICTED}expect exactly 1 pod was evicted by other", "0 were evicted"),
    "evicted for another reason": (f'{EVICTED}expect a was evicted because "blue"', "a was evicted: NoExecute by"),
    "counted for another reason": (f'{EVICTED}expect exactly 1 pod was evicted because "blue"', "0 were evicted"),
    "being evicted for another reason": (
        f'create pod slow like a\npause kubelet\n{BREAK}expect slow is evicted because "blue"',
        "slow is terminating",
    ),
    "preempted by another pod": (f"{PREEMPTED}expect hog was preempted by a", "hog was preempted by vip"),
    "preempted by the pod of that name in another namespace": (
        f"{PREEMPTED_BY_TEAM}expect hog was preempted by vip",
        "hog was preempted by team/vip",
    ),
    "the pod of that name in another namespace preempted": (
        f"{PREEMPTED_BY_TEAM}expect vip preempted hog",
        "vip preempted nobody",
    ),
    "preempted for another reason": (f'{PREEMPTED}expect hog was preempted because "blue"', "hog was preempted by vip"),
    "not preempted": (f"{PREEMPTED}expect a was preempted", "a was not preempted"),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_fails(name):
    body, actual = FALSE[name]
    failures = played(body).failures
    assert len(failures) == 1
    assert actual in failures[0].actual
