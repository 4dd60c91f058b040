"""`dralang cel`: an expression explained, alone and on the devices of files."""

import json

import pytest
from cli_project import Project

CLUSTER = """\
kubernetes 1.37
node worker-1
slice gpus {
  driver: gpu.example.com
  nodeName: worker-1
  device gpu-0 { attributes { model: "a100", memory: 80 } }
  device gpu-1 { attributes { model: "h100" } }
}
"""
DUMP = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata:
  name: others
spec:
  driver: nic.example.com
  nodeName: worker-1
  pool: {name: worker-1, generation: 2, resourceSliceCount: 1}
  devices:
  - name: gpu-0
    attributes:
      speed: {int: 400}
"""
OLD = DUMP.replace("name: others", "name: old").replace("generation: 2", "generation: 1").replace("gpu-0", "gone")
MODEL = 'device.attributes["gpu.example.com"].model == "h100"'


def test_an_expression_alone_has_a_type_a_cost_and_what_it_reads(project: Project):
    ran = project.run("cel", MODEL)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == ('type: bool\ncost: 5 (limit 1000000)\nreads: device.attributes["gpu.example.com"].model\n')


def test_on_devices_it_has_a_result_and_what_decided(project: Project):
    project.write("a.dra", CLUSTER)
    ran = project.run("cel", MODEL, "-f", "a.dra")
    assert ran.code == 0
    assert ran.out.splitlines()[3:] == [
        "gpu.example.com/gpu-0: does not match",
        f"  `{MODEL}` is false",
        '    device.attributes["gpu.example.com"].model is "a100"',
        "gpu.example.com/gpu-1: matches",
    ]


def test_a_probable_mistake_is_a_warning(project: Project):
    project.write("a.dra", CLUSTER)
    ran = project.run("cel", 'device.attributes["gpu.example.com"].memory > 1', "-f", "a.dra")
    assert (ran.code, ran.err) == (0, "")
    memory = 'device.attributes["gpu.example.com"].memory'
    missing = f"{memory} is not there on every device, and the expression fails where it is missing"
    assert ran.out.splitlines()[-2:] == [
        f"warning: {missing} (as on gpu.example.com/gpu-1)",
        'help: ask first: `has(device.attributes["gpu.example.com"].memory) && ...`',
    ]


CHOSEN = {
    "a name alone means all of that name": (["gpu-0"], ["gpu.example.com/gpu-0", "nic.example.com/gpu-0"]),
    "with its driver": (["nic.example.com/worker-1/gpu-0"], ["nic.example.com/gpu-0"]),
    "several, in the order of the question": (["gpu-1", "gpu-0"], ["gpu.example.com/gpu-1", "gpu.example.com/gpu-0",
                                                                  "nic.example.com/gpu-0"]),
    "all": ([], ["gpu.example.com/gpu-0", "gpu.example.com/gpu-1", "nic.example.com/gpu-0"]),
}  # fmt: skip


@pytest.mark.parametrize("case", CHOSEN)
def test_devices_are_chosen_by_the_end_of_their_names_and_only_current_ones_count(project: Project, case: str):
    named, devices = CHOSEN[case]
    project.write("all/a.dra", CLUSTER)
    project.write("all/b.yaml", DUMP)
    project.write("all/c.yaml", OLD)
    options = [word for name in named for word in ("--device", name)]
    ran = project.run("cel", "true", "-f", "all", *options)
    assert [line.partition(": ")[0] for line in ran.out.splitlines() if line.endswith(": matches")] == devices


def test_what_the_api_refuses_ends_with_1(project: Project):
    ran = project.run("cel", "device.drivr")
    assert (ran.code, ran.out.splitlines()[0]) == (
        1,
        "compilation failed: ERROR: <input>:1:7: undefined field 'drivr'",
    )
    costly = "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, a + b != c)))"
    costly = costly.replace("a + b != c", "device.attributes.all(d, a + b != c + d)")
    ran = project.run("cel", costly)
    assert (ran.code, "more than the limit" in ran.out) == (1, True)


def test_the_version_and_its_gates_decide(project: Project):
    project.write("old.dra", "kubernetes 1.34\n")
    includes = 'device.attributes["a"].b.includes("x")'
    assert project.run("cel", includes).code == 1
    assert project.run("cel", includes, "--feature-gates=DRAListTypeAttributes=true").code == 0
    assert project.run("cel", includes, "--k8s=1.38").code == 0
    project.write("new.dra", "kubernetes 1.38\n")
    assert project.run("cel", includes, "-f", "new.dra").code == 0
    assert project.run("cel", includes, "-f", "old.dra").code == 1
    assert project.run("cel", includes, "-f", "old.dra", "--k8s=1.38").code == 0
    assert (
        project.run("cel", "device.allowMultipleAllocations", "--feature-gates=DRAConsumableCapacity=false").code == 1
    )


def test_derived_attributes_and_standard_input(project: Project):
    project.write("a.dra", CLUSTER)
    assert project.run("cel", "1 + 1").code == 1
    ran = project.run("cel", "--derived", "-", "-f", "a.dra", "--device", "gpu-1", stdin="device.driver + '/x'\n")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, 'gpu.example.com/gpu-1: "gpu.example.com/x"')


def test_json(project: Project):
    project.write("a.dra", CLUSTER)
    ran = project.run("cel", MODEL, "-f", "a.dra", "--device=gpu-0", "--format=json")
    found = json.loads(ran.out)
    assert {name: found[name] for name in ("schema", "purpose", "type", "cost", "tooCostly", "error", "issues")} == {
        "schema": "dralang/cel/1",
        "purpose": "selector",
        "type": "bool",
        "cost": 5,
        "tooCostly": False,
        "error": "",
        "issues": [],
    }
    assert found["reads"] == [{"text": 'device.attributes["gpu.example.com"].model', "guarded": False}]
    (device,) = found["devices"]
    assert (device["driver"], device["pool"], device["device"]) == ("gpu.example.com", "worker-1", "gpu-0")
    assert device["matches"] is False
    assert device["decisions"][0]["values"] == [
        {"text": 'device.attributes["gpu.example.com"].model', "value": '"a100"'}
    ]
    assert json.loads(project.run("cel", "device.x", "--format=json").out)["issues"][0]["offset"] == 6


REFUSED = {
    "no expression": ([], "`dralang cel` takes one expression"),
    "two expressions": (["true", "false"], "`dralang cel` takes one expression"),
    "a device without files": (["true", "--device", "gpu-0"], "`--device` needs files"),
    "a device that is not there": (["true", "-f", "a.dra", "--device", "gpu-7"], "there is no device `gpu-7`"),
    "a file that is not there": (["true", "-f", "b.dra"], "there is no file `b.dra`"),
    "a file of another kind": (["true", "-f", "c.txt"], "`c.txt` is neither `.dra` nor YAML nor JSON"),
    "a file with errors": (["true", "-f", "broken.dra"], "DRA0"),
    "standard input twice": (["-", "-f", "-"], "standard input cannot be both"),
    "gates that do not exist": (["true", "--feature-gates=Nope=true"], "there is no feature gate `Nope`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused(project: Project, case: str):
    argv, message = REFUSED[case]
    project.write("a.dra", CLUSTER)
    project.write("c.txt", "")
    project.write("broken.dra", "node a\npodd b\n")
    ran = project.run("cel", *argv)
    assert (ran.code, ran.out) == (4, "")
    assert message in ran.err


@pytest.mark.parametrize("expression", ["", "\x00", "(" * 5_000, "'" + "x" * 20_000 + "'", "\ud800", "a\nb\x1b[31m"])
def test_odd_expressions_are_refused_in_words(project: Project, expression: str):
    ran = project.run("cel", expression)
    assert ran.code == 1
    assert "\x1b" not in ran.out
    assert "fault" not in ran.err
