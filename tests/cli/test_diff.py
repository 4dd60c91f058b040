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


REFUSED = {
    "one file on both sides": (["a.dra"], "both sides are the same"),
    "no file": ([], "takes one file or two"),
    "no title in common": (["a.dra::plain", "a.dra::tainted"], "no scenario of the same title"),
    "a file that is not there": (["a.dra", "c.dra"], "c.dra"),
    "a gate that does not exist": (["a.dra", "--with-feature-gates", "DRAGizmo=true"], "DRAGizmo"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, project):
    words, text = REFUSED[case]
    project.write("a.dra", SPEC)
    ran = project.run("diff", *words)
    assert ran.code == 4
    assert text in ran.err
