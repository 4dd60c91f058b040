"""Scenarios played: what time means, what statements do, what each expectation answers."""

import gc
import weakref
from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.run.outcome import Played
from dralang.run.player import play
from dralang.run.simulation import Simulation
from dralang.run.workshop import Workshop

CLUSTER = """
node worker-1
slice gpus { driver: gpu.example.com; nodeName: worker-1; device gpu-[0..1] { attributes { model: "a100" } } }
class gpu { where `device.driver == "gpu.example.com"` }
template one { request gpu: 1 of gpu }
template two { request gpu: 2 of gpu }
claim shared { request gpu: 1 of gpu }
priority high: 1000
pod a { claim gpu from one }
pod b { claim gpu from one }
pod c { claim gpu from one }
pod big { claim gpu from two; terminationGracePeriodSeconds: 30 }
pod vip { priorityClassName: high; claim gpu from one }
pod user-[1..2] { claim gpu is shared }
pod plain
"""


def played(body: str, header: str = "") -> Played:
    text = f'kubernetes 1.37\n{header}{CLUSTER}\nscenario "s" {{\n{body}\n}}\n'
    analysis = Analyzer().text(Path("s.dra"), "s.dra", text.encode())
    errors = [f"{d.span}: {d.message}" for d in analysis.diagnostics if d.severity == "error"]
    assert not errors, errors
    return play(analysis.scenarios[0], Workshop())


PASSING = {
    "admin access with the label on the namespace": (
        'namespace ops { labels { resource.kubernetes.io/admin-access: "true" } }\n'
        "claim ops/spy { request gpu: all of gpu { adminAccess: true } }\n"
        "pod ops/watcher { claim gpu is spy }\ncreate a, b\ncreate ops/watcher\n"
        "expect ops/watcher runs with gpu-0, gpu-1\nexpect a, b run"
    ),
    "publish begins a new generation": (
        "create a\nexpect a runs with gpu-0\npublish slice gpus { device gpu-[0..3] }\ncreate big, b\n"
        "expect big runs with gpu-1, gpu-2\nexpect b runs with gpu-3\n"
        'expect `slices["gpus"].spec.pool.generation == 2`'
    ),
    "before it is published again, a slice is as it was declared": (
        "create a, b, c\nexpect exactly 2 of a, b, c run\nat 1m publish slice gpus { device gpu-[0..2] }\n"
        "expect a, b, c run\nat 2m publish slice gpus { device gpu-0 }\nexpect a, b, c run\nfinish c\n"
        "create pod d like a\nexpect d is pending"
    ),
    "a published slice may lose the device that is in use": (
        "create a\nexpect a runs\npublish slice gpus { device gpu-[1..2] }\nexpect a runs"
    ),
    "binding conditions": (
        "publish slice gpus {\n device gpu-9 { bindingConditions: [ready]; bindingFailureConditions: [broken] }\n}\n"
        "create user-1\nexpect user-1 is pending\nexpect shared is allocated gpu-9\n"
        'set condition ready of shared device gpu-9: true because "attached"\nexpect user-1 runs with gpu-9'
    ),
    "the second pod takes the second device": "create a, b\nexpect a runs with gpu-0\nexpect b runs with gpu-1",
    "a third pod waits, with the scheduler's words": (
        "create a, b, c\n"
        'expect c is pending because "0/1 nodes are available: 1 cannot allocate all claims."\n'
        "expect exactly 2 of a, b, c run\n"
        "expect at least 2 of a, b, c run; expect at most 2 of a, b, c run\n"
        "expect fewer than 3 of a, b, c run; expect more than 1 of a, b, c run\n"
        "expect none of a, b, c is failed\n"
    ),
    "statements at one instant follow each other": "create big\ncreate a\nexpect big runs\nexpect a is pending",
    "names of one statement come together, the important one first": (
        "cordon worker-1\ncreate a, b, vip\nexpect a, b, vip are pending\nuncordon worker-1\n"
        "expect vip runs\nexpect exactly 1 of a, b run"
    ),
    "finish frees the device": (
        "create big\nexpect device gpu-0 is in-use\nfinish big\nexpect big is succeeded\n"
        "expect device gpu-0 is free; expect device gpu-1 is free\nexpect big is not running"
    ),
    "fail frees the device": "create a\nfail a\nexpect a is failed\nexpect device gpu-0 is free",
    "a deleted pod terminates for its grace period, then is gone": (
        "create big\nexpect big runs\nat 10s delete big\nat 10s expect big is terminating\n"
        "at 39s expect big is terminating\nat 40s expect big is gone\nexpect device gpu-0 is free"
    ),
    "settle waits for ordinary deletions": "create big\ndelete big\nexpect big is gone",
    "settle never passes the next at": (
        "create big\nat 5s delete big\nexpect big is terminating\nat 6s expect big is terminating\n"
        "at 1m expect big is gone"
    ),
    "after counts from the statement before": (
        "at 10s create big\nafter 5s delete big\nafter 29s expect big is terminating\nafter 1s expect big is gone"
    ),
    "within looks after every event": "create big\nexpect big runs\ndelete big\nwithin 30s expect big is gone",
    "a block of several statements at one time": "at 10s {\n create a\n create b\n expect a, b run\n}",
    "a shared claim has two consumers": (
        "create user-1, user-2\nexpect user-1, user-2 run with gpu-0\nexpect shared is reserved for user-1, user-2\n"
        "finish user-1\nexpect shared is reserved for user-2\nfinish user-2\nexpect shared is not allocated\n"
        "expect shared is not reserved"
    ),
    "results in order, with their requests": (
        "create big\nexpect big's claim gpu is allocated gpu-0 for gpu, gpu-1 for gpu\n"
        "expect big's claim gpu is allocated\nexpect big's claim gpu is reserved for big"
    ),
    "devices in any order, by any suffix": (
        "create big\nexpect big runs on worker-1 with worker-1/gpu-1, gpu.example.com/worker-1/gpu-0"
    ),
    "does not run": "expect a is gone\ncordon worker-1\ncreate a\nexpect a does not run\nexpect a is not running",
    "delete before binding": "cordon worker-1\ncreate a\nexpect a is pending\ndelete a\nexpect a is gone",
    "labels and node selectors": (
        "create pod picky { nodeSelector { zone: a } }\n"
        "expect picky is pending because \"didn't match Pod's node affinity/selector\"\n"
        "label node worker-1 zone=a\nexpect picky runs"
    ),
    "node taints": (
        "taint node worker-1 with dedicated=ml:NoSchedule\ncreate plain\n"
        'expect plain is pending because "untolerated taint"\n'
        "expect node worker-1 is tainted\nuntaint node worker-1 dedicated\nexpect plain runs"
    ),
    "device taints": (
        "taint device gpu-0 with broken=yes:NoSchedule\nexpect device gpu-0 is tainted\ncreate a\n"
        "expect a runs with gpu-1\nuntaint device gpu-0 broken\ncreate b\nexpect b runs with gpu-0"
    ),
    "a taint rule taints the devices that it selects": (
        "taintrule broken { deviceSelector { device: gpu-1 }; taint broken=yes:NoSchedule }\n"
        "expect device gpu-1 is tainted; expect device gpu-0 is not tainted\n"
        "delete broken\nexpect device gpu-1 is not tainted"
    ),
    "node fit": (
        "create pod fat { requests { cpu: 60 } }\nexpect fat runs\n"
        "create pod fat-2 { requests { cpu: 60 } }\n"
        'expect fat-2 is pending because "Insufficient cpu"\nfinish fat\nexpect fat-2 runs'
    ),
    "a change of a field of a live object": (
        "set node worker-1 unschedulable: true\ncreate plain\nexpect plain is pending\n"
        "set node worker-1 unschedulable: false\nexpect plain runs"
    ),
    "set before create changes the declaration": (
        'set pod a labels[app]: web\ncreate a\nexpect `pods["a"].metadata.labels["app"] == "web"`'
    ),
    "repeat with an index": (
        "repeat 3 as i {\n create pod p-${i} like plain\n}\nexpect p-1, p-2, p-3 run\nexpect all of p-* run"
    ),
    "like takes over what the body does not say": (
        "create pod d like a { labels { app: web } }\nexpect d runs with gpu-0\n"
        'expect `pods["d"].metadata.labels["app"] == "web"`'
    ),
    "CEL over objects": (
        'create a\nexpect `claims.size() == 2`\nexpect `pods["a"].status.phase == "Running"`\n'
        'expect `nodes["worker-1"].status.allocatable["cpu"] == "64"`'
    ),
    "always and never hold after every event": (
        "always device gpu-0 is not tainted\nnever more than 2 of a, b, c run\nnever a, b are failed\n"
        "create a, b, c\nexpect exactly 2 of a, b, c run"
    ),
    "a witness that came true in between": "witness big is terminating\ncreate big\ndelete big\nexpect big is gone",
    "all pods are settled": "create a, b, c\nexpect all pods are settled",
    "a paused controller makes no claims": (
        "pause resourceclaim-controller\ncreate a\nexpect a is pending\nat 10s resume resourceclaim-controller\n"
        "expect a runs"
    ),
    "a restarted scheduler forgets nothing that is stored": "create a\nrestart scheduler\ncreate b\nexpect a, b run",
    "a delayed controller": (
        "delay resourceclaim-controller by 5s\ncreate a\nat 4s expect a is pending\nat 6s expect a runs"
    ),
    "a created object other than a pod": (
        'delete class gpu\ncreate a\nexpect a is pending because "device class gpu does not exist"'
    ),
    "a declaration inside exists from its line on": (
        "node worker-2\nslice more { driver: gpu.example.com; nodeName: worker-2; device gpu-9 }\n"
        "create a, b, c\nexpect a, b, c run"
    ),
}


@pytest.mark.parametrize("name", PASSING)
def test_passes(name):
    result = played(PASSING[name])
    assert [(str(f.span), f.expected, f.actual) for f in result.failures] == []
    assert result.verdict == "passed"


FAILING = {
    "a status that no server would store": (
        (
            "set claim shared status: { allocation: { devices: { results: [{ request: gpu, driver: gpu.example.com, "
            "pool: worker-1, device: gpu-0 }] }, nodeSelector: { nodeSelectorTerms: [{ matchExpressions: "
            "[{ key: a, operator: Near, values: [b] }] }] } } }\ncreate user-1\nexpect user-1 is pending"
        ),
        1,
        'operator: Invalid value: "Near": not a valid selector operator',
    ),
    "wrong device": ("create a\nexpect a runs with gpu-1", 2, "a runs on worker-1 with gpu-0"),
    "one device too few": ("create big\nexpect big runs with gpu-0", 2, "big runs on worker-1 with gpu-0, gpu-1"),
    "not pending": ("create a\nexpect a is pending", 2, "a runs on worker-1 with gpu-0"),
    "an object of another namespace is named in full": (
        "pod team-a/elsewhere\ncreate team-a/elsewhere\nexpect team-a/elsewhere is pending",
        3,
        "team-a/elsewhere runs on worker-1",
    ),
    "never created": ("expect a runs", 1, "a does not exist"),
    "another reason": (
        'create big, c\nexpect c is pending because "Insufficient cpu"',
        2,
        "cannot allocate all claims",
    ),
    "too few": ("create a\nexpect exactly 2 of a, b, c run", 2, "1 of 3: a; b does not exist"),
    "not in time": (
        "create big\nexpect big runs\ndelete big\nwithin 10s expect big is gone",
        4,
        "big is terminating on worker-1",
    ),
    "always": ("always a is gone\ncreate a\nexpect a runs", 1, "a is pending"),
    "never": ("never a is failed\ncreate a\nfail a\nexpect a is failed", 1, "a has failed"),
    "witness": ("witness a is failed\ncreate a\nexpect a runs", 1, "a runs"),
    "finishing a pod that does not exist": ("finish a\nexpect a is gone", 1, "there is no pod a"),
    "finishing a pod that has no node": (
        "cordon worker-1\ncreate a\nfinish a\nexpect a is succeeded",
        3,
        "only a pod on a node can finish",
    ),
    "admin access without the label on the namespace": (
        "claim spy { request gpu: all of gpu { adminAccess: true } }\nexpect spy is gone",
        1,
        "admin access to devices requires",
    ),
    "creating twice": ("create a\ncreate a\nexpect a runs", 2, "AlreadyExists"),
    "time that has passed": (
        "create big\ndelete big\nwithin 1m expect big is gone\nat 5s expect big is gone",
        4,
        "it is 30s already",
    ),
    "CEL that is false": ("expect `claims.size() == 7`", 1, "it is false"),
    "CEL that fails": ('expect `pods["nobody"].status.phase == "Running"`', 1, "it cannot be evaluated"),
    "CEL that is no boolean": ('create a\nexpect `pods["a"].metadata.name`', 2, "not a boolean"),
    "CEL that says what decided": (
        'create a\nexpect `size(pods) == 1 && pods["a"].status.phase == "Pending"`',
        2,
        'it is false: "Running" == "Pending"',
    ),
    "free": ("create a\nexpect device gpu-0 is free", 2, "gpu.example.com/worker-1/gpu-0 is held by claim a-gpu-"),
    "reserved for somebody else": ("create user-1\nexpect shared is reserved for user-2", 2, "reserved for user-1"),
    "in another order": (
        "create big\nexpect big's claim gpu is allocated gpu-1, gpu-0",
        2,
        "is allocated gpu-0 for gpu, gpu-1 for gpu",
    ),
    "an entry that the pod does not have": ("create a\nexpect a's claim gpus is allocated", 2, "it has gpu"),
}


@pytest.mark.parametrize("name", FAILING)
def test_fails_in_the_right_place_with_what_is_the_case(name):
    body, line, actual = FAILING[name]
    result = played(body)
    assert result.verdict == "failed"
    first = result.failures[0]
    header = CLUSTER.count("\n") + 3
    assert first.span.position.line - header == line
    assert actual in first.actual


def test_a_pending_pod_is_explained_per_node_and_device():
    result = played("create big, c\nexpect c runs")
    texts = []

    def collect(reasons, depth=0):
        for why in reasons:
            texts.append("  " * depth + why.text)
            collect(why.because, depth + 1)

    collect(result.failures[0].why)
    joined = "\n".join(texts)
    assert "node worker-1: cannot allocate all claims (DynamicResources)" in joined
    assert "gpu-0" in joined
    assert "gpu-1" in joined
    assert "big" in joined


def test_the_same_scenario_gives_the_same_record():
    body = "create a, b, c, vip\nfinish a\ndelete b\nexpect c runs"
    first, second = played(body), played(body)
    assert first.trace == second.trace
    assert first.failures == second.failures


def test_an_expected_failure_is_no_failure_and_an_unexpected_pass_is_one():
    for title, verdict in (("expect a runs", "xfailed"), ("create a\nexpect a runs", "xpassed")):
        text = f'{CLUSTER}\nscenario "s" xfail "not yet" {{\n{title}\n}}\n'
        analysis = Analyzer().text(Path("s.dra"), "s.dra", text.encode())
        assert play(analysis.scenarios[0], Workshop()).verdict == verdict


def test_gates_of_a_scenario_win_over_those_of_the_file():
    text = (
        "kubernetes 1.37\ngates { DRADeviceTaints: true }\n"
        + CLUSTER.replace("device gpu-[0..1] {", "device gpu-[0..1] {\n taint k=v:NoSchedule\n")
        + '\nscenario "on" { create a; expect a is pending }\n'
        'scenario "off" { gates { DRADeviceTaints: false, DRADeviceTaintRules: false }; create a; expect a runs }\n'
    )
    analysis = Analyzer().text(Path("s.dra"), "s.dra", text.encode())
    workshop = Workshop()
    assert [play(scenario, workshop).verdict for scenario in analysis.scenarios] == ["passed", "passed"]


RESTLESS = "pod forgetful { claim a is shared; claim b is shared }\ncreate forgetful"


def test_a_cluster_that_never_comes_to_rest_fails_the_expectation_and_says_so():
    found = played(f"{RESTLESS}\nexpect forgetful runs")
    assert [each.actual.endswith("; the cluster never comes to rest") for each in found.failures] == [True]


def test_a_clock_that_does_not_get_there_ends_the_scenario(monkeypatch):
    monkeypatch.setattr("dralang.run.simulation.EVENT_LIMIT", 40)
    found = played(f"{RESTLESS}\nat 1h expect forgetful runs\nexpect forgetful is gone")
    assert [each.expected for each in found.failures] == ["the clock reaches 1h"]
    assert found.failures[0].actual.startswith("too much happens before: it is ")


@pytest.mark.parametrize("body", ["create vip, a, b", "create a\nrestart scheduler\ncreate big, vip, user-1"])
def test_a_cluster_that_is_over_is_gone_at_once(body):
    """Its parts refer to each other in circles; thousands of clusters do not wait for the collector of garbage."""
    analysis = Analyzer().text(Path("s.dra"), "s.dra", f'{CLUSTER}\nscenario "s" {{\n{body}\n}}\n'.encode())
    parts: list[weakref.ref[object]] = []

    def look(simulation: Simulation) -> None:
        parts.extend(map(weakref.ref, (simulation, simulation.store, simulation.scheduler, *simulation.controllers)))

    gc.disable()
    try:
        play(analysis.scenarios[0], Workshop(), look)
        assert [part() for part in parts if part() is not None] == []
    finally:
        gc.enable()
