"""Writes in the middle of a story are taken or refused by the API server, whoever makes them."""

from pathlib import Path
from typing import Any

import pytest
from counts import count
from msgspec.structs import replace
from stories.story import Story

from dralang.api.resourceslice import ResourceSlice
from dralang.cel.admission import admission_checker
from dralang.check.analysis import Analyzer
from dralang.run.admission import ServerAdmission
from dralang.run.player import play
from dralang.run.workshop import Workshop

CLUSTER = """
node worker-1
slice gpus { driver: gpu.example.com; nodeName: worker-1; device gpu-[0..1] }
class gpu { where `device.driver == "gpu.example.com"` }
claim c { request gpu: 1 of gpu }
priority high: 1000
priority patient: 10 { preemptionPolicy: Never }
pod a { claim gpu is c }
"""


def played(body, header="kubernetes 1.37\n", cluster=CLUSTER):
    text = f'{header}{cluster}\nscenario "s" {{\n{body}\nexpect a is pending\n}}\n'
    analysis = Analyzer().text(Path("s.dra"), "s.dra", text.encode())
    assert not analysis.has_errors, [item.message for item in analysis.diagnostics]
    return play(analysis.scenarios[0], Workshop())


REFUSED = {
    "a field of the wrong form": (
        'set slice gpus devices[gpu-0].name: "BAD"',
        'Invalid: ResourceSlice.resource.k8s.io "gpus" is invalid: spec.devices[0].name: Invalid value: "BAD"',
    ),
    "two of a name": (
        "set slice gpus devices[gpu-0].name: gpu-1",
        'spec.devices[1]: Duplicate value: "gpu-1"',
    ),
    "what never changes": (
        "set slice gpus nodeName: other",
        'spec.nodeName: Invalid value: "other": field is immutable',
    ),
    "the spec of a claim": (
        "set claim c devices.requests[gpu].exactly.count: 2",
        'ResourceClaim.resource.k8s.io "c" is invalid: spec: Invalid value',
    ),
    "an expression that does not compile": (
        "set class gpu { where `device.nonsense` }",
        'DeviceClass.resource.k8s.io "gpu" is invalid: spec.selectors[0].cel.expression',
    ),
    "the spec of a pod": ("create a\nset pod a nodeName: elsewhere", 'Pod "a" is invalid: spec: Forbidden'),
    "a label": ('create a\nlabel pod a x="-x-"', 'Pod "a" is invalid: [metadata.labels: Invalid value: "-x-"'),
    "a value of a priority": (
        "set priority high value: 5",
        'PriorityClass.scheduling.k8s.io "high" is invalid: value: Forbidden: may not be changed in an update.',
    ),
    "the taint of a device": (
        'taint device gpu-0 with "bad key"=x:NoSchedule',
        'taints[0].key: Invalid value: "bad key"',
    ),
    "the taint of a node": (
        "taint node worker-1 with example.com/x:Oops",
        'Node "worker-1" is invalid: metadata.taints[0].effect: Unsupported value: "Oops": supported',
    ),
    "features that a node declares": (
        "set node worker-1 status.declaredFeatures: [B, A]",
        'status.declaredFeatures[1]: Invalid value: "A": list must be sorted alphabetically',
    ),
    "a published slice": (
        "publish slice gpus { device gpu-[0..129] }",
        "spec.devices: Too many: 130: must have at most 128 items",
    ),
    "a status": (
        "set claim c status: { reservedFor: [{ resource: pods, name: a, uid: u }] }",
        "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
    ),
}


@pytest.mark.parametrize(("body", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_a_statement_is_refused(body, message):
    (failure,) = played(body).failures[:1]
    assert failure.expected == "the API server takes it"
    assert message in failure.actual


TAINTS = {
    "a key": ('"a b":NoSchedule', "[0].key", 'Invalid value: "a b": name part must consist of'),
    "a value": ('k="a b":NoSchedule', "[0].value", 'Invalid value: "a b": a valid label must be'),
    "an effect": ("k:None", "[0].effect", 'Unsupported value: "None": supported values: "NoSchedule", "PreferNo'),
}


@pytest.mark.parametrize(("taint", "field", "why"), TAINTS.values(), ids=TAINTS.keys())
def test_the_taints_of_a_node_are_refused_in_its_metadata(taint, field, why):
    """The server says so wherever they stand; `check` points at where they were written."""
    (failure,) = played(f"taint node worker-1 with {taint}").failures[:1]
    assert f'Node "worker-1" is invalid: metadata.taints{field}: {why}' in failure.actual
    text = f"node w {{ taint {taint} }}\n"
    found = [each for each in Analyzer().text(Path("s.dra"), "s.dra", text.encode()).diagnostics if each.span]
    assert [each.message.partition("`: ")[0] for each in found] == [f"the API server refuses `metadata.taints{field}"]
    assert found[0].message.partition("`: ")[2].startswith(why)
    assert found[0].span.text in taint


POLICY = "the string value of PreemptionPolicy (%s) must not be provided in %s spec; priority admission controller "
POLICY += "computed %s from the given PriorityClass name"
GROUPS = "gates { GenericWorkload: true, PodGroupPreemptionPolicy: true }\n"
GANG = "schedulingPolicy { gang: { minCount: 1 } }"
DEFAULT = "priority usual: 5 { globalDefault: true; preemptionPolicy: Never }\n"
# What is created, and why it is refused.
POLICIES = {
    "another one than the class has": (
        "create pod p { priorityClassName: patient; preemptionPolicy: PreemptLowerPriority }",
        'pods "p" is forbidden: ' + POLICY % ("PreemptLowerPriority", "pod", "Never"),
    ),
    "another one than a class that says nothing has": (
        "create pod p { priorityClassName: high; preemptionPolicy: Never }",
        'pods "p" is forbidden: ' + POLICY % ("Never", "pod", "PreemptLowerPriority"),
    ),
    "another one than a class of the system has": (
        "create pod p { priorityClassName: system-node-critical; preemptionPolicy: Never }",
        'pods "p" is forbidden: ' + POLICY % ("Never", "pod", "PreemptLowerPriority"),
    ),
    "one of its own without a class": (
        "create pod p { preemptionPolicy: Never }",
        'pods "p" is forbidden: ' + POLICY % ("Never", "pod", "PreemptLowerPriority"),
    ),
    "another one than the default class has": (
        f"{DEFAULT}create pod p {{ preemptionPolicy: PreemptLowerPriority }}",
        'pods "p" is forbidden: ' + POLICY % ("PreemptLowerPriority", "pod", "Never"),
    ),
    "the same": ("create pod p { priorityClassName: patient; preemptionPolicy: Never }", ""),
    "the usual one without a class": ("create pod p { preemptionPolicy: PreemptLowerPriority }", ""),
    "none": ("create pod p { priorityClassName: patient }", ""),
    "any next to an integer, which nobody looks up": ("create pod p { priority: 7; preemptionPolicy: Never }", ""),
    # The group's own policy is filled in before the class is looked at.
    "none for a group of a class that has one": (
        f"{GROUPS}podgroup g {{ priorityClassName: patient; {GANG} }}",
        'podgroups.scheduling.k8s.io "g" is forbidden: ' + POLICY % ("PreemptLowerPriority", "pod group", "Never"),
    ),
    "the same for a group": (
        f"{GROUPS}podgroup g {{ priorityClassName: patient; preemptionPolicy: Never; {GANG} }}",
        "",
    ),
    "any for a group whose server knows none": (
        f"gates {{ GenericWorkload: true }}\npodgroup g {{ priorityClassName: patient; {GANG} }}",
        "",
    ),
}


@pytest.mark.parametrize(("body", "message"), POLICIES.values(), ids=POLICIES.keys())
def test_whom_a_pod_may_preempt_is_what_its_priority_class_says(body, message):
    failures = played(f"{body}\ncordon worker-1\ncreate a").failures
    assert [each.actual for each in failures] == ([f"Forbidden: {message}"] if message else [])


def test_the_class_of_a_pod_exists(tmp_path):
    spec = "{ priorityClassName: missing, containers: [{ name: c, image: i }] }"
    (tmp_path / "pods.yaml").write_text(f"apiVersion: v1\nkind: Pod\nmetadata: {{ name: b }}\nspec: {spec}\n")
    text = 'use "pods.yaml"\nnode w\nscenario "s" { create b; expect b is gone }\n'
    analysis = Analyzer().text(tmp_path / "s.dra", "s.dra", text.encode())
    assert not analysis.has_errors, [item.message for item in analysis.diagnostics]
    (failure,) = play(analysis.scenarios[0], Workshop()).failures
    assert failure.actual == 'Forbidden: pods "b" is forbidden: no PriorityClass with name missing was found'


NODE_RESOURCES = CLUSTER.replace(
    "device gpu-[0..1] }",
    "device gpu-0 { nodeAllocatableResources: { memory: { overhead: { perPod: 1Gi } } } } }",
)
GATES = "kubernetes 1.37\ngates { DRANodeAllocatableResources: true }\n"


def test_devices_that_take_of_their_node_need_a_node_that_declares_it():
    (failure,) = played("", GATES, NODE_RESOURCES).failures
    assert failure.actual == (
        'resourceslices.resource.k8s.io "gpus" is forbidden: node "worker-1" does not support '
        "DRANodeAllocatableResources feature"
    )
    declares = NODE_RESOURCES.replace(
        "node worker-1", "node worker-1 { status { declaredFeatures: [DRANodeAllocatableResources] } }"
    )
    assert played("cordon worker-1\ncreate a", GATES, declares).verdict == "passed"


def test_what_is_refused_in_a_drawn_story_does_not_happen():
    body = "set slice gpus devices[gpu-0].name: any of [gpu-1]\ncreate a\nexpect a runs with gpu-0"
    text = f'kubernetes 1.37\n{CLUSTER}\nfuzz "f" {{\n{body}\n}}\n'
    analysis = Analyzer().text(Path("s.dra"), "s.dra", text.encode())
    assert not analysis.has_errors, [item.message for item in analysis.diagnostics]
    assert play(analysis.scenarios[0], Workshop()).verdict == "passed"


# ---- components -----------------------------------------------------------------------------------------------------


UPSTREAM_FAULT = "no mapping found in pod reference"
"""The API server of 1.37 refuses what devices behind extended resources take of a node. The stories are told without
this fault, `special-claim-has-no-node-resources`."""


class _Server:
    """Judges everything that is stored in a story."""

    def __init__(self, story: Story) -> None:
        store = story.simulation.store
        self.admission = ServerAdmission(store, admission_checker(story.world.features))
        self.refused: list[str] = []
        self.seen: dict[str, int] = {}
        store.on_write = self.look

    def look(self, kind: type[Any], old: Any, new: Any) -> None:
        operation = "" if new is None else _operation(old, new)
        # Slices are written by the story, which leaves out what nodes declare.
        if not operation or kind is ResourceSlice:
            return
        if old is not None:
            new = replace(new, metadata=replace(new.metadata, resource_version=old.metadata.resource_version))
        answer = self.admission.refusal(operation, new, old)
        name = f"{operation} {kind.__name__}"
        self.seen[name] = self.seen.get(name, 0) + 1
        if answer is not None and UPSTREAM_FAULT not in answer.message:
            self.refused.append(f"{name} {new.metadata.name}: {answer.message}")


def _operation(old: Any, new: Any) -> Any:
    if old is None:
        return "create"
    status = getattr(old, "status", None) != getattr(new, "status", None)
    spec = getattr(old, "spec", None) != getattr(new, "spec", None)
    if status and spec:
        return ""  # the binding of a pod, which is a request of its own
    return "update-status" if status else "update"


def test_all_that_components_write_is_taken_by_the_server():
    seen: dict[str, int] = {}
    for seed in range(count(120, 2_000)):
        story = Story(seed)
        server = _Server(story)
        story.tell()
        assert server.refused == [], f"story {seed}"
        for name, number in server.seen.items():
            seen[name] = seen.get(name, 0) + number
    for name in ("create ResourceClaim", "update ResourceClaim", "update-status ResourceClaim", "update-status Pod"):
        assert seen[name] > 100, seen
