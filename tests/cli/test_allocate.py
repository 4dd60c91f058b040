"""`dralang allocate`: the allocator asked once, from files."""

import json

import pytest
import yaml
from cli_project import Project

CLUSTER = """\
node worker-1
node worker-2
slice gpus {
  driver: gpu.example.com
  nodeName: worker-1
  device gpu-[0..1] { attributes { model: "a100" } }
}
class gpu { where `device.driver == "gpu.example.com"` }
claim one { request gpu: 1 of gpu }
claim two { request gpu: 2 of gpu }
claim big { request gpu: 1 of gpu where `device.attributes["gpu.example.com"].model == "h100"` }
claim team/one { request gpu: 1 of gpu }
claim far/only { request gpu: 1 of gpu }
template one { request gpu: 2 of gpu }
template made { request gpu: 1 of gpu }
"""
HELD = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: held, namespace: team}
spec:
  devices:
    requests:
    - {name: gpu, exactly: {deviceClassName: gpu}}
status:
  allocation:
    devices:
      results:
      - {request: gpu, driver: gpu.example.com, pool: worker-1, device: gpu-0}
"""

ANSWERS = {
    "one device": (["--claim=one"], 0, ["  claim `default/one`:", "    gpu = gpu.example.com/worker-1/gpu-0"]),
    "two claims together": (
        ["--claim=one", "--claim=team/one"],
        0,
        [
            "  claim `default/one`:",
            "    gpu = gpu.example.com/worker-1/gpu-0",
            "  claim `team/one`:",
            "    gpu = gpu.example.com/worker-1/gpu-1",
        ],
    ),
    "a claim that a template makes": (
        ["--claim=made"],
        0,
        ["  claim `default/made`:", "    gpu = gpu.example.com/worker-1/gpu-0"],
    ),
    "a claim of another namespace": (
        ["--claim=only"],
        0,
        ["  claim `far/only`:", "    gpu = gpu.example.com/worker-1/gpu-0"],
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_an_answer(project: Project, case: str):
    argv, code, lines = ANSWERS[case]
    project.write("a.dra", CLUSTER)
    ran = project.run("allocate", "a.dra", "--node=worker-1", *argv)
    assert (ran.code, ran.err) == (code, "")
    assert ran.out.splitlines() == ["node `worker-1`: allocated", *lines]


def test_a_dump_says_what_is_in_use(project: Project):
    project.write("a.dra", CLUSTER)
    project.write("held.yaml", HELD)
    ran = project.run("allocate", "a.dra", "held.yaml", "--node=worker-1", "--claim=two")
    assert (ran.code, ran.out) == (
        1,
        "node `worker-1`: cannot allocate all claims\n  `--why` tells what is in the way\n",
    )
    ran = project.run("allocate", "a.dra", "-", "--node=worker-1", "--claim=two", "--why", stdin=HELD)
    assert ran.code == 1
    assert "      `gpu.example.com/worker-1/gpu-0` is in use by `team/held`" in ran.out.splitlines()
    ran = project.run("allocate", "a.dra", "held.yaml", "--node=worker-1", "--claim=held")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == ("note: claim `team/held` is allocated already; this is what it would get now")


def test_why_names_the_rule_for_each_device(project: Project):
    project.write("a.dra", CLUSTER)
    ran = project.run("allocate", "a.dra", "--node=worker-1", "--claim=big", "--why")
    assert ran.code == 1
    assert "request `gpu` wants 1 device, 0 of 2 can be used" in ran.out
    assert "selector #0 of claim default/big is false" in ran.out
    ran = project.run("allocate", "a.dra", "--node=worker-2", "--claim=one", "--why")
    assert (ran.code, "request `gpu` wants 1 device, 0 of 0 can be used" in ran.out) == (1, True)


def test_json_and_yaml_say_the_same(project: Project):
    project.write("a.dra", CLUSTER)
    question = ["allocate", "a.dra", "--node=worker-1", "--claim=one", "--claim=team/one"]
    found = json.loads(project.run(*question, "--format=json").out)
    assert yaml.safe_load(project.run(*question, "--format=yaml").out) == found
    assert (found["schema"], found["kubernetes"], found["node"]) == ("dralang/allocate/1", "1.37", "worker-1")
    assert (found["status"], found["claims"]) == ("allocated", ["default/one", "team/one"])
    assert found["allocations"]["team/one"]["devices"]["results"] == [
        {"request": "gpu", "driver": "gpu.example.com", "pool": "worker-1", "device": "gpu-1"}
    ]
    assert "why" not in found


def test_the_explanation_is_data_too(project: Project):
    project.write("a.dra", CLUSTER)
    project.write("held.yaml", HELD)
    ran = project.run("allocate", "a.dra", "held.yaml", "--node=worker-1", "--claim=two", "--why", "--format=json")
    found = json.loads(ran.out)
    assert (found["status"], "allocations" in found) == ("unallocatable", False)
    assert found["why"]["conflicts"][0]["kind"] == "count"
    (request,) = found["why"]["claims"][0]["requests"]
    assert (request["name"], request["wants"], request["takesAll"]) == ("gpu", 2, False)
    first, second = request["devices"]
    assert (first["device"], first["obstacle"]["rule"]) == (["gpu.example.com", "worker-1", "gpu-0"], "in-use")
    assert (first["obstacle"]["holders"], second["obstacle"]) == (["team/held"], None)


def test_the_gates_of_the_file_and_the_command_line_count(project: Project):
    tainted = CLUSTER.replace('model: "a100" }', 'model: "a100" }; taint gpu.example.com/broken:NoSchedule')
    project.write("a.dra", tainted)
    question = ["allocate", "a.dra", "--node=worker-1", "--claim=one"]
    assert project.run(*question).code == 1
    assert project.run(*question, "--feature-gates=DRADeviceTaints=false,DRADeviceTaintRules=false").code == 0
    project.write("a.dra", "gates { DRADeviceTaints: false; DRADeviceTaintRules: false }\n" + tainted)
    assert project.run(*question).code == 0


RULE = (
    "taintrule broken { deviceSelector { driver: gpu.example.com; device: gpu-0 }; taint example.com/bad:NoSchedule }\n"
)


def test_taint_rules_count_as_they_do_for_the_scheduler(project: Project):
    project.write("a.dra", CLUSTER + RULE)
    one = project.run("allocate", "a.dra", "--node=worker-1", "--claim=one")
    assert (one.code, "gpu.example.com/worker-1/gpu-1" in one.out) == (0, True)
    two = project.run("allocate", "a.dra", "--node=worker-1", "--claim=two", "--why")
    assert (two.code, "`gpu.example.com/worker-1/gpu-0` has taint `example.com/bad:NoSchedule`" in two.out) == (1, True)
    off = "--feature-gates=DRADeviceTaintRules=false"
    project.write("b.dra", CLUSTER)
    project.write("rule.dra", RULE)
    project.run("export", "rule.dra", "-o", "rule.yaml")
    assert project.run("allocate", "b.dra", "rule.yaml", "--node=worker-1", "--claim=two").code == 1
    assert project.run("allocate", "b.dra", "--node=worker-1", "--claim=two", off).code == 0


REFUSED = {
    "no file": (["--node=worker-1", "--claim=one"], "`dralang allocate` needs files"),
    "no node": (["a.dra", "--claim=one"], "needs a node and a claim"),
    "no claim": (["a.dra", "--node=worker-1"], "needs a node and a claim"),
    "two nodes": (["a.dra", "--node=worker-1", "--node=worker-2", "--claim=one"], "takes one node"),
    "a node unlike any": (["a.dra", "--node=x", "--claim=one"], "help: there are `worker-1`, `worker-2`\n"),
    "a node where there is one": (["b.dra", "--node=xyz", "--claim=c"], "help: there is only `n`\n"),
    "a node that is not there": (["a.dra", "--node=worker-3", "--claim=one"], "there is no node `worker-3`"),
    "a claim that is not there": (["a.dra", "--node=worker-1", "--claim=on"], "there is no claim `on`"),
    "a claim of several namespaces": (
        ["b.dra", "--node=n", "--claim=c"],
        "`c` can mean `blue/c`, `green/c`",
    ),
    "the same object twice": (["a.dra", "copy.dra", "--node=worker-1", "--claim=one"], "DRA0202"),
    "an object that the API refuses": (["bad.yaml", "--node=n", "--claim=c"], "DRA0306"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused(project: Project, case: str):
    argv, message = REFUSED[case]
    project.write("a.dra", CLUSTER)
    project.write("copy.dra", CLUSTER)
    project.write(
        "b.dra",
        "node n\nclass gpu { where `true` }\nclaim [blue, green]/c { request gpu: 1 of gpu }\n".replace(
            "claim [blue, green]/c", "claim blue/c"
        )
        + "claim green/c { request gpu: 1 of gpu }\n",
    )
    project.write("bad.yaml", HELD.replace("deviceClassName: gpu", "deviceClassName: _"))
    ran = project.run("allocate", *argv)
    assert (ran.code, ran.out) == (4, "")
    assert message in ran.err
