"""`dralang why` and `dralang evict`: from a dump alone, or from a scenario."""

import json
from pathlib import Path

import pytest

DUMP = (Path(__file__).parent.parent / "data" / "dumps" / "two-nodes.yaml").read_text(encoding="utf-8")
RULE = """\
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: broken}
spec:
  deviceSelector: {driver: gpu.example.com, pool: worker-1}
  taint: {key: gpu.example.com/unhealthy, value: "yes", effect: EFFECT}
"""
SPEC = """\
kubernetes 1.37
node worker-1
slice gpus { driver: gpu.example.com; nodeName: worker-1; device gpu-0 }
class gpu { where `device.driver == "gpu.example.com"` }
template one { request gpu: 1 of gpu }
pod train { claim gpu from one }
pod serve { claim gpu from one }

scenario "first come" {
  create train, serve
  at 10s finish train
  expect serve runs
}
"""
TREE = """\
pod serve is pending because '0/2 nodes are available: 2 cannot allocate all claims.'

why:
  - node worker-1: cannot allocate all claims (DynamicResources)
    - request `default/serve-gpu-b2v9d: gpu` does not find enough usable devices
    - claim serve-gpu-b2v9d
      - request gpu wants 1 device, 0 of 3 can be used
        - gpu-0: is in use by `default/train-gpu-7xk2p` (pod train)
        - gpu-1: selector #0 of claim default/serve-gpu-b2v9d is false:
          `device.attributes["gpu.example.com"].model == "a100"`
          (`device.attributes["gpu.example.com"].model` is "t4")
        - gpu-2: has taint `broken:NoSchedule`, which the request does not tolerate
  - node worker-2: cannot allocate all claims (DynamicResources)
    - request `default/serve-gpu-b2v9d: gpu` does not find enough usable devices
    - claim serve-gpu-b2v9d
      - request gpu wants 1 device, 0 of 0 can be used
"""


def test_the_tree_from_a_dump_alone(project):
    project.write("dump.yaml", DUMP)
    ran = project.run("why", "pod/serve", "-f", "dump.yaml")
    assert (ran.code, ran.out, ran.err) == (0, TREE, "")
    assert project.run("why", "serve", "-f", "-", stdin=DUMP).out == TREE


def test_asking_from_json_and_parts_of_a_dump_gives_the_same(project):
    documents = DUMP.split("\n- apiVersion")
    for number, document in enumerate(documents[1:]):
        text = ("- apiVersion" + document).rstrip().replace("\n  ", "\n")
        project.write(f"parts/{number}.yaml", text.removeprefix("- "))
    assert project.run("why", "po/default/serve", "-f", "parts").out == TREE


OBJECTS = {
    "a pod that runs": ("pod/train", "pod train runs on worker-1 with gpu-0"),
    "a claim that nobody allocates": ("claim/serve-gpu-b2v9d", "- pod serve would have it allocated"),
    "a claim that is held": ("claim/train-gpu-7xk2p", "is allocated gpu-0 for gpu, reserved for train"),
    "a node with its pods": ("node/worker-1", "- pod train runs on worker-1 with gpu-0"),
    "a node with its devices": ("node/worker-1", "- gpu-0 is held by claim train-gpu-7xk2p (pod train)"),
    "a node with a broken device": ("node/worker-1", "- gpu-2 is tainted broken=:NoSchedule"),
}


@pytest.mark.parametrize("case", OBJECTS)
def test_what_is_told(case, project):
    wanted, text = OBJECTS[case]
    project.write("dump.yaml", DUMP)
    assert text in project.run("why", wanted, "-f", "dump.yaml").out


def test_a_pod_that_a_node_takes_is_told_where_it_would_go(project):
    project.write("dump.yaml", DUMP.replace("model: {string: t4}", "model: {string: a100}"))
    out = project.run("why", "pod/serve", "-f", "dump.yaml").out
    assert "- the scheduler would put it on node worker-1 now" in out
    assert "- with gpu.example.com/worker-1/gpu-1 for gpu" in out


def test_manifests_that_no_server_has_seen_are_applied_first(project):
    project.write("a.dra", SPEC)
    project.write("pods.yaml", project.run("export", "a.dra").out)
    out = project.run("why", "pod/serve", "-f", "pods.yaml").out
    assert "serve is pending because" in out
    assert "gpu-0: is in use by `default/train-gpu-00001` (pod train)" in out


def test_a_scenario_at_a_time_and_at_its_end(project):
    project.write("a.dra", SPEC)
    assert "gpu-0: is in use by" in project.run("why", "pod/serve", "-f", "a.dra::first come", "--at", "5s").out
    assert "pod serve runs on worker-1" in project.run("why", "pod/serve", "-f", "a.dra::first come").out


def test_a_dump_goes_on_living_until_a_time(project):
    project.write("dump.yaml", DUMP.replace("phase: Running", "phase: Succeeded"))
    assert "is in use by" not in project.run("why", "pod/serve", "-f", "dump.yaml", "--at", "1m").out


def test_json(project):
    project.write("dump.yaml", DUMP)
    found = json.loads(project.run("why", "pod/serve", "-f", "dump.yaml", "--format", "json").out)
    assert (found["schema"], found["kind"], found["namespace"], found["name"]) == (
        "dralang/why/1", "Pod", "default", "serve",
    )  # fmt: skip
    assert found["why"][0]["text"] == "node worker-1: cannot allocate all claims (DynamicResources)"
    assert found["why"][0]["because"][1]["because"][0]["text"] == "request gpu wants 1 device, 0 of 3 can be used"


LOST = """\
apiVersion: v1
kind: Pod
metadata: {name: lost, namespace: default UID}
spec: {nodeName: worker-9, containers: [{name: main, image: app}]}
"""


@pytest.mark.parametrize("at", [[], ["--at", "1h"]])
@pytest.mark.parametrize("uid", ["", ", uid: u-1"])
def test_a_pod_whose_node_is_in_no_file_stays(project, uid, at):
    project.write("lost.yaml", LOST.replace(" UID", uid))
    ran = project.run("why", "pod/lost", "-f", "lost.yaml", *at)
    assert ran.code == 0
    assert ran.out.startswith("pod lost ")
    assert "worker-9" in ran.out
    assert ran.err == "note: in no file: node worker-9; pods there are taken to stay\n"


def test_of_many_nodes_that_are_in_no_file_some_are_named(project):
    pods = [LOST.replace(" UID", "").replace("lost", f"p-{n}").replace("-9", f"-{n}") for n in range(8)]
    project.write("lost.yaml", "---\n".join(pods))
    named = ", ".join(f"worker-{n}" for n in range(5))
    assert project.run("why", "pod/p-1", "-f", "lost.yaml").err == (
        f"note: in no file: nodes {named} and 3 more; pods there are taken to stay\n"
    )


def test_items_that_are_no_list_are_an_error(project):
    project.write("list.yaml", "apiVersion: v1\nkind: List\nitems: 7\n")
    ran = project.run("why", "pod/a", "-f", "list.yaml")
    assert ran.code == 4
    assert "a list is needed here, not an integer `7`" in ran.err


REFUSED = {
    "no cluster": (["pod/serve"], "needs a cluster"),
    "no object": (["-f", "dump.yaml"], "takes one object"),
    "an unknown kind": (["job/serve", "-f", "dump.yaml"], "`job/serve` is no object"),
    "a name that is not there": (["pod/sirve", "-f", "dump.yaml"], "did you mean `serve`?"),
    "another namespace": (["pod/serve", "-n", "team-a", "-f", "dump.yaml"], "did you mean `pod/serve`?"),
    "a file that is not there": (["pod/serve", "-f", "dumb.yaml"], "there is no file `dumb.yaml`"),
    "a time that is none": (["pod/serve", "-f", "dump.yaml", "--at", "soon"], "`--at soon`"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case, project):
    words, text = REFUSED[case]
    project.write("dump.yaml", DUMP)
    ran = project.run("why", *words)
    assert ran.code == 4
    assert text in ran.err


def test_evict_tells_who_leaves_and_who_stays(project):
    tolerating = DUMP.replace(
        "deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}\n  status",
        "deviceClassName: gpu, allocationMode: ExactCount, count: 1, "
        "tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 300}]}}]}}\n  status",
    ).replace(
        "{results: [{request: gpu, driver: gpu.example.com, pool: worker-1, device: gpu-0}]}",
        "{results: [{request: gpu, driver: gpu.example.com, pool: worker-1, device: gpu-0, "
        "tolerations: [{operator: Exists, effect: NoExecute, tolerationSeconds: 300}]}]}",
    )
    staying = tolerating.replace(", tolerationSeconds: 300", "")
    assert DUMP != tolerating != staying
    project.write("rule.yaml", RULE.replace("EFFECT", "NoExecute"))
    outputs = {}
    for name, text in {"dump": DUMP, "tolerating": tolerating, "staying": staying}.items():
        project.write(f"{name}.yaml", text)
        ran = project.run(
            "evict", "rule.yaml", "-f", f"{name}.yaml", "--feature-gates", "DRADeviceTaintRules=true", "--k8s", "1.38"
        )
        assert ran.code == 0, ran.err
        outputs[name] = ran.out.splitlines()[1:]
    assert outputs["dump"] == ["evicts 1 pod:", "  at once  pod train on worker-1: gpu-0"]
    assert outputs["tolerating"] == ["evicts 1 pod:", "  after 5m  pod train on worker-1: gpu-0"]
    assert outputs["staying"] == ["evicts no pods", "1 pod with such devices stay:", "  pod train on worker-1: gpu-0"]


def test_evict_previews_a_rule_without_effect_as_if_it_had_one(project):
    project.write("rule.yaml", RULE.replace("EFFECT", "None"))
    project.write("dump.yaml", DUMP)
    ran = project.run("evict", "rule.yaml", "-f", "dump.yaml", "--feature-gates", "DRADeviceTaintRules=true")
    assert "its effect None evicts nobody; with NoExecute it would:\nevicts 1 pod:" in ran.out
    found = project.run(
        "evict", "rule.yaml", "-f", "dump.yaml", "--feature-gates", "DRADeviceTaintRules=true", "--format", "json"
    )
    assert json.loads(found.out)["pods"][0]["after"] == 0


def test_evict_says_that_rules_are_off(project):
    project.write("rule.yaml", RULE.replace("EFFECT", "NoExecute"))
    project.write("dump.yaml", DUMP)
    ran = project.run("evict", "rule.yaml", "-f", "dump.yaml", "--feature-gates", "DRADeviceTaintRules=false")
    assert ran.code == 4
    assert "gate `DRADeviceTaintRules` is off" in ran.err
