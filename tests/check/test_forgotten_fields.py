"""Fields that the API server of a spec forgets are warnings where they were written, with the gates that keep them."""

from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.diagnostics.codes_check import CHECK_CODES
from dralang.diagnostics.diagnostic import Diagnostic

NODE = "node worker-1\n"
SLICE = "slice gpus { driver: gpu.example.com; nodeName: worker-1; device gpu-[0..3] { taint a=b:NoSchedule } }\n"
ONE = "slice gpus { driver: gpu.example.com; nodeName: worker-1; device gpu-0 }\n"
POLICY = "PodGroupPreemptionPolicy"
GROUPS = "kubernetes 1.37\ngates { GenericWorkload: true }\n"
USE = 'scenario "s" { expect no pods run }\n'


def said(text: str, folder: Path) -> list[Diagnostic]:
    (folder / "dralang.toml").touch()
    found = Analyzer().text(folder / "a.dra", "a.dra", text.encode()).diagnostics
    return [item for item in found if item.code in ("DRA0314", "DRA0306")]


def test_the_example_of_the_code(tmp_path: Path):
    (found,) = said(CHECK_CODES["DRA0314"].example, tmp_path)
    assert (found.code, found.severity) == ("DRA0314", "warning")


CASES = {
    "one field": (
        "kubernetes 1.37\npod a { schedulingGroup: { podGroupName: g } }\n",
        "the API server forgets `spec.schedulingGroup`: feature gate `GenericWorkload` is off",
        "write `gates { GenericWorkload: true }`, or leave the field out",
        "schedulingGroup",
    ),
    "many at once": (
        f"kubernetes 1.35\n{NODE}{SLICE}",
        "the API server forgets `spec.devices[0].taints` and 3 more: feature gate `DRADeviceTaints` is off",
        "write `gates { DRADeviceTaints: true }`, or leave the field out",
        "a=b:NoSchedule",
    ),
    "a gate that needs others": (
        f"{GROUPS}podgroup g {{ resourceClaims: [{{ name: c; resourceClaimName: d }}] }}\n",
        "the API server forgets `spec.resourceClaims`: feature gate `DRAWorkloadResourceClaims` is off",
        "write `gates { DRAWorkloadResourceClaims: true }`, or leave the field out",
        "resourceClaims",
    ),
    "a gate whose needs are off as well": (
        f"{GROUPS}podgroup g {{ parentCompositePodGroupName: p }}\n",
        "the API server forgets `spec.parentCompositePodGroupName`: feature gate `CompositePodGroup` is off",
        "write `gates { CompositePodGroup: true, TopologyAwareWorkloadScheduling: true }`, or leave the field out",
        "parentCompositePodGroupName",
    ),
    "a gate of another version": (
        GROUPS.replace("1.37", "1.38") + "podgroup g { preemptionPolicy: Never }\n",
        f"the API server forgets `spec.preemptionPolicy`: Kubernetes 1.38 has no feature gate `{POLICY}`",
        "leave the field out, or write a version that has the gate",
        "preemptionPolicy",
    ),
}


@pytest.mark.parametrize(("text", "message", "way_out", "marked"), CASES.values(), ids=CASES.keys())
def test_a_declared_field(text: str, message: str, way_out: str, marked: str, tmp_path: Path):
    found = [item for item in said(text, tmp_path) if item.code == "DRA0314"]
    assert [(item.message, item.help) for item in found] == [(message, way_out)]
    assert found[0].span is not None
    assert found[0].span.text == marked


def test_with_the_gate_on_nothing_is_said(tmp_path: Path):
    assert said(f"kubernetes 1.35\ngates {{ DRADeviceTaints: true }}\n{NODE}{SLICE}{USE}", tmp_path) == []


def test_what_only_one_scenario_forgets_names_it(tmp_path: Path):
    off = 'scenario "off" { gates { DRADeviceTaints: false, DRADeviceTaintRules: false }; expect no pods run }\n'
    (found,) = said(f"kubernetes 1.37\n{NODE}{SLICE}{USE}{off}", tmp_path)
    assert [each.message for each in found.related] == ["with the settings of this scenario"]


STATEMENTS = {
    "a set": ("set slice gpus devices[gpu-0].taints: [{ key: a, effect: NoSchedule }]", "`spec.devices[0].taints`"),
    "a block": ("set class gpu { where `true`; extendedResourceName: example.com/x }", "`spec.extendedResourceName`"),
    "a taint": ("taint device gpu-0 with a=b:NoExecute", "the taint of this device"),
}


@pytest.mark.parametrize(("statement", "what"), STATEMENTS.values(), ids=STATEMENTS.keys())
def test_a_statement(statement: str, what: str, tmp_path: Path):
    objects = f"{NODE}{ONE}class gpu {{ where `true` }}\n"
    story = f'scenario "s" {{\n  {statement}\n  expect no pods run\n}}\n'
    (found,) = said(f"kubernetes 1.35\n{objects}{story}", tmp_path)
    assert found.message.startswith(f"the API server forgets {what}: feature gate")
    assert said(f"kubernetes 1.37\n{objects}{story}", tmp_path) == []


def test_a_statement_with_a_field_that_the_version_does_not_have(tmp_path: Path):
    objects = NODE + ONE
    story = 'scenario "s" {\n  set slice gpus skipNodeOperations: ["*"]\n  expect no pods run\n}\n'
    (found,) = said(f"kubernetes 1.35\n{objects}{story}", tmp_path)
    assert (found.code, found.message) == ("DRA0306", "Kubernetes 1.35 has no field `spec.skipNodeOperations`")


def test_a_change_of_something_else_is_not_blamed(tmp_path: Path):
    story = 'scenario "s" {\n  set slice gpus devices[gpu-0].name: other\n  expect no pods run\n}\n'
    found = said(f"kubernetes 1.35\n{NODE}{SLICE}{story}", tmp_path)
    assert [item.message.split(":")[0] for item in found] == [
        "the API server forgets `spec.devices[0].taints` and 3 more"
    ]
