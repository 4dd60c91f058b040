"""`dralang diff`: the same scenarios under other gates, versions or files."""

import json

import pytest

SPEC = """\
node worker-1
slice gpus { driver: gpu.example.com; nodeName: worker-1; device gpu-0 { taint example.com/broken=yes:NoSchedule } }
class gpu { where `device.driver == "gpu.example.com"` }
template one { request gpu: 1 of gpu }
pod train { claim gpu from one }
pod plain

scenario "tainted" {
  create train
  create plain
  expect train is pending
}

scenario "plain" {
  create plain
  expect plain runs
}
"""
OFF = ("--with-feature-gates", "DRADeviceTaints=false,DRADeviceTaintRules=false")


def test_whose_fate_changes_with_a_gate(project):
    project.write("a.dra", SPEC)
    ran = project.run("diff", "a.dra", "--k8s", "1.37", *OFF)
    assert ran.code == 1
    assert ran.out == (
        "tainted\n--- a.dra: kubernetes 1.37\n"
        "+++ a.dra: kubernetes 1.37, DRADeviceTaintRules=false, DRADeviceTaints=false\n"
        "expectations\n  - passed\n  + failed\npod train\n"
        "  - is pending because '0/1 nodes are available: 1 cannot allocate all claims. preemption: 0/1 nodes\n"
        "    are available: 1 Preemption is not helpful for scheduling.'\n"
        "  + runs on worker-1 with gpu-0 (first ran at 0s)\n\nscenarios that differ: 1 of 2\n"
    )


def test_two_files_whose_scenarios_have_the_same_titles(project):
    project.write("a.dra", SPEC)
    project.write("b.dra", SPEC.replace(" { taint example.com/broken=yes:NoSchedule }", ""))
    ran = project.run("diff", "a.dra", "b.dra::tainted", "--format", "json")
    found = json.loads(ran.out)
    assert ran.code == 1
    assert [each["title"] for each in found["scenarios"]] == ["tainted"]
    assert [pod["name"] for pod in found["scenarios"][0]["pods"]] == ["train"]
    assert found["scenarios"][0]["pods"][0]["right"] == {"end": "runs on worker-1 with gpu-0", "started": 0}


def test_nothing_differs(project):
    project.write("a.dra", SPEC)
    project.write("b.dra", SPEC)
    ran = project.run("diff", "a.dra", "b.dra")
    assert (ran.code, ran.out) == (0, "scenarios that differ: 0 of 2\n")


UNPAIRED = {
    "each side has one of its own": (["a.dra", "b.dra"], ["plain"], ["another"]),
    "one is chosen on the left": (["a.dra::tainted", "b.dra"], [], []),
    "one is chosen on the right": (["a.dra", "b.dra::tainted"], [], []),
    "one file": (["a.dra", *OFF], [], []),
}


@pytest.mark.parametrize("case", UNPAIRED)
def test_scenarios_without_a_counterpart_are_not_left_out_in_silence(case, project):
    words, left, right = UNPAIRED[case]
    project.write("a.dra", SPEC)
    project.write("b.dra", SPEC.replace('"plain" {', '"another" {'))
    ran = project.run("diff", *words)
    assert ran.err == "".join(
        f"note: only `{name}` has `{title}`: not compared\n"
        for name, titles in (("a.dra", left), ("b.dra", right))
        for title in titles
    )
    assert json.loads(project.run("diff", *words, "--format=json").out)["unpaired"] == {"left": left, "right": right}


def test_a_fuzz_is_said_to_be_one_of_many_stories(project):
    project.write("a.dra", SPEC.replace('scenario "plain" {', 'fuzz "plain" {\n  at any 0s..10s create train'))
    ran = project.run("diff", "a.dra::plain", "--with-k8s", "1.38")
    assert "note: `a.dra::plain` is a fuzz: this is its simplest story" in ran.err


REFUSED = {
    "one file on both sides": (["a.dra"], "both sides are the same"),
    "no file": ([], "takes one file or two"),
    "no title in common": (["a.dra::plain", "a.dra::tainted"], "no scenario of the same title"),
    "a folder": (["specs", "a.dra"], "`specs` is a folder"),
    "a folder with files": ([".", "--with-k8s", "1.38"], "`.` is a folder"),
    "a file that is not there": (["a.dra", "c.dra"], "c.dra"),
    "a gate that does not exist": (["a.dra", "--with-feature-gates", "DRAGizmo=true"], "DRAGizmo"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, project):
    words, text = REFUSED[case]
    (project.root / "specs").mkdir()
    project.write("a.dra", SPEC)
    ran = project.run("diff", *words)
    assert ran.code == 4
    assert text in ran.err
