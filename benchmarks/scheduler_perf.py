"""The DRA workloads of kubernetes' scheduler_perf, by name, through the simulated cluster: pods per second.

Objects, counts and thresholds are those of v1.37.2 (test/integration/scheduler_perf/dra). The anchor of a workload is
its threshold there: the least that Kubernetes' own continuous integration accepts of the real scheduler. Each workload
runs in a process of its own, so that its memory is its own; seconds are those of the processor, so that others on the
machine do not count. "Burst": all pods at once; "steady": ten pods, each deleted and replaced once it has a node (a
millisecond of the cluster's time later), for some seconds. "Publish": slices, not pods, until everybody has heard of
them and the scheduler has prepared them. Workloads with 5,000 nodes are ours (but for PublishResourceSlices): the same
with ten times the nodes.

    python benchmarks/scheduler_perf.py                    # those with a threshold, and their siblings of 5,000 nodes
    python benchmarks/scheduler_perf.py --all --json
    python benchmarks/scheduler_perf.py Partitionable      # whose name contains this
"""

import argparse
import gc
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec.structs import replace
from rows import Row, as_json

from dralang.api.decode import from_json
from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimTemplate
from dralang.api.resourceslice import ResourceSlice
from dralang.api.workloads import PodGroup
from dralang.check.scheduler_plugins import MODELLED
from dralang.cli.main import GARBAGE_THRESHOLDS
from dralang.cluster.clock import Phase
from dralang.cluster.errors import ApiError
from dralang.cluster.store import WatchEvent
from dralang.run.simulation import Environment, Simulation
from dralang.run.workshop import Workshop
from dralang.scenario.model import Settings
from dralang.scenario.scheduler_config import FitScoring, PluginArguments, SchedulerConfig

DRIVER = "test-driver.cdi.k8s.io"
SELECTOR = (
    f'device.attributes["{DRIVER}"].driverVersion.major() >= 1 && '
    f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("1Mi"))'
)
ROOT = "resource.kubernetes.io/pciRoot"
_MEMORY = ("10Gi", "20Gi")
_SCORED = "example.com/gpu"
_SCORES_DEVICES = SchedulerConfig(
    name="default-scheduler",
    initial_backoff=1000,
    max_backoff=10_000,
    percentage_of_nodes_to_score=0,
    plugins=MODELLED,
    off_at=(),
    weights=(),
    arguments=PluginArguments(fit=FitScoring(resources=(("cpu", 1), ("memory", 1), (_SCORED, 1)))),
)
"""What `scheduler-config.yaml` of the test says: the extended resource is scored like cpu and memory."""


class Workload(NamedTuple):
    """A workload.

    Attributes:
        test: the test in which it stands.
        name: its name there.
        nodes: with devices.
        pods: to measure; of a steady workload how many are there at a time.
        threshold: pods per second; None if it has none.
        steady: whether pods are replaced for some seconds.
        other_nodes: without devices.
        init: claims or pods from before, by the test.
        shape: what the test's objects look like.
        params: what the shape needs.
    """

    test: str
    name: str
    nodes: int
    pods: int
    threshold: int | None = None
    steady: bool = False
    other_nodes: int = 0
    init: int = 0
    shape: str = "template"
    params: Mapping[str, Any] = MappingProxyType({})

    @property
    def full_name(self) -> str:
        """Test and name."""
        return f"{self.test}/{self.name}"


def _sizes(test: str, shape: str, nodes: tuple[int, ...], per_node: int, **params: Any) -> Iterator[Workload]:
    """One pod, and steady workloads on an empty, half full and full cluster."""
    yield Workload(test, "fast", 1, 1, other_nodes=1, shape=shape, params=params)
    for count in nodes:
        label = f"{count}nodes"
        yield Workload(test, f"empty_{label}", count, 10, steady=True, shape=shape, params=params)
        half = count // 2 * per_node
        yield Workload(test, f"half_{label}", count, 10, steady=True, init=half, shape=shape, params=params)
        if count >= 500:
            full = count * per_node - 10
            yield Workload(test, f"full_{label}", count, 10, steady=True, init=full, shape=shape, params=params)


def _template_workloads() -> Iterator[Workload]:
    for count in (500, 5000):
        yield Workload("PublishResourceSlices", f"{count}nodes", count, 0, shape="publish")
    test = "SchedulingWithResourceClaimTemplate"
    match = {"requests": 5, "constraints": [{"matchAttribute": ROOT}]}
    yield Workload(test, "fast", 1, 10, other_nodes=1)
    yield Workload(test, "2000pods_200nodes", 200, 1000, init=1000)
    yield Workload(test, "5000pods_500nodes", 500, 2500, 56, init=2500)
    for count in (100, 200):
        for label, init in (("empty", 0), ("half", count * 5), ("full", count * 10 - 10)):
            yield Workload(test, f"{label}_{count}nodes", count, 10, steady=True, init=init)
    for label, init, threshold in (("empty", 0, 64), ("half", 2500, 60), ("full", 4990, 60)):
        yield Workload(test, f"{label}_500nodes", 500, 10, threshold, steady=True, init=init)
    yield Workload(test, "selector_fast", 1, 10, other_nodes=1, params={"selector": SELECTOR})
    yield Workload(test, "selector_empty_500nodes", 500, 10, 64, steady=True, params={"selector": SELECTOR})
    yield Workload(test, "match_fast", 1, 2, other_nodes=1, params=match)
    yield Workload(test, "match_empty_500nodes", 500, 10, 64, steady=True, params=match)
    yield Workload(test, "5000pods_5000nodes", 5000, 2500, init=25_000)
    for label, init in (("empty", 0), ("half", 25_000), ("full", 49_990)):
        yield Workload(test, f"{label}_5000nodes", 5000, 10, steady=True, init=init)
    yield Workload(test, "selector_empty_5000nodes", 5000, 10, steady=True, params={"selector": SELECTOR})
    yield Workload(test, "match_empty_5000nodes", 5000, 10, steady=True, params=match)


def _other_workloads() -> Iterator[Workload]:
    test = "SchedulingWithResourceClaim"
    yield Workload(test, "fast", 1, 10, other_nodes=1, shape="shared")
    yield Workload(test, "2000pods_200nodes", 200, 1000, init=1000, shape="shared")
    yield Workload(test, "5000pods_500nodes", 500, 2500, init=2500, shape="shared")
    yield Workload(test, "5000pods_5000nodes", 5000, 2500, init=25_000, shape="shared")
    test = "ExtendedResource"
    yield Workload(test, "fast", 1, 10, other_nodes=1, shape="extended", params={"classes": 10})
    for word, classes, threshold in (("Explicit", 25, 120), ("Explicit", 50, 130), ("Implicit", 25, 130)):
        params = {"classes": classes, "implicit": word == "Implicit"}
        start = f"{word}_{classes}classes"
        yield Workload(test, f"{start}_2000pods_200nodes", 200, 1000, init=1000, shape="extended", params=params)
        yield Workload(
            test, f"{start}_5000pods_500nodes", 500, 2500, threshold, init=2500, shape="extended", params=params
        )
        yield Workload(test, f"{start}_5000pods_5000nodes", 5000, 2500, init=25_000, shape="extended", params=params)
    yield from _scoring_workloads()
    yield from _sizes("Partitionable", "partitionable", (100, 500, 1000), 1)
    yield from _sizes("PartitionableBacktracking", "backtracking", (100, 500, 1000), 1)
    yield from _sizes("CompatibilityGroups", "groups", (100, 500, 1000), 1)
    yield from _sizes("ConsumableCapacity", "capacity", (100, 500, 1000), 8)
    yield Workload("ConsumableCapacity", "fast_with_DRAPartitionableDevices", 1, 1, other_nodes=1, shape="capacity+")
    yield Workload("FirstAvailable", "fast", 1, 10, other_nodes=1, shape="first")
    yield Workload("DeviceTaintToleration", "fast", 1, 10, other_nodes=1, shape="taints")
    lists = {"requests": 32, "constraints": [{"matchAttribute": "dra.example.com/match"}]}
    test = "SchedulingWithResourceClaimTemplateListAttributes"
    yield Workload(test, "fast", 1, 1, shape="lists", params=lists)
    yield Workload(test, "empty_500nodes", 500, 500, steady=True, shape="lists", params=lists)
    group = "SharedPodGroupResourceClaim"
    for test, shape in ((group, "group"), (f"{group}Template", "group-template")):
        for name, nodes, groups, pods in (
            ("fast", 1, 10, 10), ("1podgroup_1000pods", 10, 1, 1000), ("100podgroups_5000pods", 50, 100, 5000),
        ):  # fmt: skip
            yield Workload(test, name, nodes, pods, shape=shape, params={"groups": groups})


def _scoring_workloads() -> Iterator[Workload]:
    test = "ExtendedResourceScoring"
    for name, nodes, other, classes, pods, threshold in (
        ("fast", 3, 1, 2, 10, None),
        ("2000pods_200nodes", 200, 0, 10, 2000, None),
        ("5000pods_500nodes", 500, 0, 20, 5000, 70),
    ):
        params = {"classes": classes}
        yield Workload(test, name, nodes, pods, threshold, other_nodes=other, shape="scoring", params=params)


WORKLOADS = (*_template_workloads(), *_other_workloads())
GATES = {
    "extended": {"DRAExtendedResource": True},
    "scoring": {"DRAExtendedResource": True},
    "partitionable": {"DRAPartitionableDevices": True},
    "backtracking": {"DRAPartitionableDevices": True},
    "groups": {"DRAPartitionableDevices": True, "DRADeviceCompatibilityGroups": True},
    "capacity": {"DRAConsumableCapacity": True},
    "capacity+": {
        "DRAConsumableCapacity": True,
        "DRAPartitionableDevices": True,
        "DRAResourceClaimDeviceStatus": True,
    },
    "taints": {"DRADeviceTaints": True, "DRADeviceTaintRules": True},
    "lists": {"DRAListTypeAttributes": True},
    "group": {"DRAWorkloadResourceClaims": True, "GenericWorkload": True},
    "group-template": {"DRAWorkloadResourceClaims": True, "GenericWorkload": True},
}


# ---- objects --------------------------------------------------------------------------------------------------------


def node(name: str, *, devices: bool) -> Node:
    """A node of four cores."""
    labels = {"node-with-dra": "true"} if devices else {}
    sizes = {"pods": "110", "cpu": "4", "memory": "32Gi"}
    return from_json(Node, {"metadata": {"name": name, "labels": labels}, "status": {"capacity": sizes}})


def basic_device(number: int) -> dict[str, Any]:
    """A GPU with a dozen attributes."""
    root = number % 2
    texts = {
        "driver": "xe", "family": "Arc Pro B-Series", "health": "Healthy", "model": "B60", "type": "gpu",
        "pciAddress": f"0000:0{number}:00.0", "pciId": "0xe211", "pciRoot": f"0{root}",
        "resource.k8s.io/pciRoot": str(root), "resource.kubernetes.io/pciBusID": f"0000:0{number}:00.0",
        ROOT: f"pci0000:0{root}",
    }  # fmt: skip
    attributes: dict[str, Any] = {name: {"string": text} for name, text in texts.items()}
    attributes |= {"driverVersion": {"version": "1.2.3"}, "sriov": {"bool": True}}
    capacity = {"memory": {"value": "24480Mi"}, "millicores": {"value": "1k"}}
    return {"name": f"basic-device-{number}", "attributes": attributes, "capacity": capacity}


def slices(workload: Workload, number: int) -> list[ResourceSlice]:
    """What the driver publishes for one node."""
    place: dict[str, Any] = {"nodeName": f"scheduler-perf-dra-{number}"}
    bodies: list[dict[str, Any]]
    match workload.shape:
        case "partitionable" | "groups" | "backtracking":
            bodies = _counted(workload.shape)
        case "capacity" | "capacity+":
            policy = {"default": "1M", "validRange": {"min": "1M", "step": "8"}}
            bodies = [{"devices": [
                {
                    "name": f"shareable-device-{index}", "allowMultipleAllocations": True,
                    "attributes": {"dra.example.com/index": {"int": index}},
                    "capacity": {"bandwidth": {"value": "10Gi" if index == 2 else "10G", "requestPolicy": policy}},
                }
                for index in range(4)
            ]}]  # fmt: skip
        case "lists":
            bodies = [{"devices": [_list_device(index) for index in range(64)]}]
        case "group" | "group-template":
            return []
        case _:
            count = 2 if workload.shape == "shared" else 10
            bodies = [{"devices": [basic_device(index) for index in range(count)]}]
    pool = {"name": f"resourceslice-{number}", "generation": 1, "resourceSliceCount": len(bodies)}
    return [
        from_json(
            ResourceSlice,
            {"metadata": {"name": f"slice-{part}-{number}"}, "spec": {"driver": DRIVER, "pool": pool, **place, **body}},
        )
        for part, body in enumerate(bodies)
    ]


def _counted(shape: str) -> list[dict[str, Any]]:
    if shape == "backtracking":
        cpus = {f"cpu{index}": {"value": "1"} for index in range(1, 9)}
        sets = [{"name": "counter-set-for-cpu", "counters": cpus}]
        sets.append({"name": "counter-set-for-mem", "counters": {"mem": {"value": "70Gi"}}})
        devices = [
            {
                "name": f"device-{index}",
                "consumesCounters": [
                    {"counterSet": "counter-set-for-cpu", "counters": {f"cpu{index}": {"value": "1"}}},
                    {"counterSet": "counter-set-for-mem", "counters": {"mem": {"value": _MEMORY[index == 1]}}},
                ],
            }
            for index in range(1, 9)
        ]
        return [{"sharedCounters": sets}, {"devices": devices}]
    groups = {"compatibilityGroups": ["mig"]} if shape == "groups" else {}
    devices = [
        {
            "name": f"device-{index}",
            "consumesCounters": [
                {
                    "counterSet": "counter-set",
                    "counters": {f"counter{2 * index - 1}": {"value": "1"}, f"counter{2 * index}": {"value": "1"}},
                    **groups,
                }
            ],
        }
        for index in (1, 2)
    ]
    counters = {f"counter{index}": {"value": "1"} for index in range(1, 5)}
    return [{"sharedCounters": [{"name": "counter-set", "counters": counters}]}, {"devices": devices}]


def _list_device(index: int) -> dict[str, Any]:
    values = (["shared-value"] if index >= 32 else []) + [f"device-{index}-value-{value}" for value in range(47)]
    return {"name": f"device-{index}", "attributes": {"dra.example.com/match": {"strings": values}}}


def claim_spec(workload: Workload) -> dict[str, Any]:
    """What a pod of the workload asks for."""
    exactly: dict[str, Any] = {"deviceClassName": "test-class"}
    devices: dict[str, Any] = {"constraints": workload.params.get("constraints", [])}
    match workload.shape:
        case "partitionable" | "groups":
            exactly["count"] = 2
        case "backtracking":
            exactly["count"] = 7
        case "capacity" | "capacity+":
            exactly |= {"count": 2, "capacity": {"requests": {"bandwidth": "2500M"}}}
            devices["constraints"] = [{"requests": ["req-0"], "distinctAttribute": "dra.example.com/index"}]
        case "taints":
            exactly["tolerations"] = [{"key": "example.com/taint", "operator": "Exists"}]
        case "first":
            choices = [{"name": "sub-0", "deviceClassName": "no-devices-class"}, {"name": "sub-1", **exactly}]
            return {"devices": {"requests": [{"name": "req-0", "firstAvailable": choices}]}}
        case _:
            pass
    if "selector" in workload.params:
        exactly["selectors"] = [{"cel": {"expression": workload.params["selector"]}}]
    devices["requests"] = [
        {"name": f"req-{index}", "exactly": exactly} for index in range(workload.params.get("requests", 1))
    ]
    return {"devices": devices}


def pod(workload: Workload, namespace: str, number: int) -> Pod:
    """One pod of the workload."""
    claims: list[dict[str, str]] = []
    resources: dict[str, Any] = {}
    more: dict[str, Any] = {}
    match workload.shape:
        case "extended":
            implicit = workload.params.get("implicit")
            start = "deviceclass.resource.kubernetes.io/test-class" if implicit else "example.com/gpu"
            name = f"{start}-{number % workload.params['classes']}"
            resources = {"requests": {name: "1"}, "limits": {name: "1"}}
        case "scoring":
            resources = {"requests": {_SCORED: "1"}, "limits": {_SCORED: "1"}}
        case "shared":
            claims = [{"name": "resource", "resourceClaimName": f"test-claim-{number // 5}"}]
        case "group" | "group-template":
            group = number % workload.params["groups"]
            more = {"schedulingGroup": {"podGroupName": f"test-dra-{group}"}}
            claims = [{"name": "resource", "resourceClaimTemplateName": "test-claim-template"}]
            if workload.shape == "group":
                claims = [{"name": "resource", "resourceClaimName": f"test-claim-{group}"}]
        case _:
            claims = [{"name": "resource", "resourceClaimTemplateName": "test-claim-template"}]
    if claims:
        resources = {"claims": [{"name": "resource"}]}
    container = {"name": "pause", "image": "pause", "resources": resources}
    spec = {"containers": [container], "resourceClaims": claims, **more}
    return from_json(Pod, {"metadata": {"name": f"test-dra-{number}", "namespace": namespace}, "spec": spec})


def declared(workload: Workload) -> Iterator[Any]:
    """Everything that is there before the pods."""
    for number in range(workload.other_nodes):
        yield node(f"node-{number}", devices=False)
    for number in range(workload.nodes):
        yield node(f"scheduler-perf-dra-{number}", devices=True)
    if workload.shape == "publish":
        return
    for number in range(workload.nodes):
        yield from slices(workload, number)
    yield from _classes(workload)
    spec = claim_spec(workload)
    for namespace in ("init", "test"):
        yield from_json(
            ResourceClaimTemplate,
            {"metadata": {"name": "test-claim-template", "namespace": namespace}, "spec": {"spec": spec}},
        )
    if workload.shape == "shared":
        for namespace, count in (("init", workload.init // 5), ("test", workload.pods // 5)):
            for number in range(count):
                meta = {"name": f"test-claim-{number}", "namespace": namespace}
                yield from_json(ResourceClaim, {"metadata": meta, "spec": spec})
    if workload.shape == "taints":
        taint = {"key": "example.com/taint", "value": "tainted", "effect": "NoSchedule"}
        yield from_json(DeviceTaintRule, {"metadata": {"name": "taint-all-devices"}, "spec": {"taint": taint}})
    if workload.shape.startswith("group") and "groups" in workload.params:
        yield from _groups(workload, spec)


def _classes(workload: Workload) -> Iterator[DeviceClass]:
    only = f'device.driver == "{DRIVER}"'
    if workload.shape.startswith("capacity"):
        only += " && device.allowMultipleAllocations == true"
    names = ["test-class"]
    if workload.shape in ("extended", "scoring"):
        names = [f"test-class-{number}" for number in range(workload.params["classes"])]
    for number, name in enumerate(names):
        spec: dict[str, Any] = {"selectors": [{"cel": {"expression": only}}]}
        if workload.shape == "extended" and not workload.params.get("implicit"):
            spec["extendedResourceName"] = f"example.com/gpu-{number}"
        if workload.shape == "scoring":
            spec["extendedResourceName"] = _SCORED
        yield from_json(DeviceClass, {"metadata": {"name": name}, "spec": spec})
    if workload.shape == "first":
        nothing = {"selectors": [{"cel": {"expression": 'device.driver == "no-such-driver.cdi.k8s.io"'}}]}
        yield from_json(DeviceClass, {"metadata": {"name": "no-devices-class"}, "spec": nothing})


def _groups(workload: Workload, spec: dict[str, Any]) -> Iterator[Any]:
    where = {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "node-with-dra", "operator": "In", "values": ["true"]}]}
    ]}  # fmt: skip
    for number in range(workload.params["groups"]):
        pool = {"name": f"resourceslice-{number}", "generation": 1, "resourceSliceCount": 1}
        body = {"driver": DRIVER, "pool": pool, "nodeSelector": where, "devices": [{"name": "device"}]}
        yield from_json(ResourceSlice, {"metadata": {"name": f"podgroup-{number}"}, "spec": body})
        claim = {"name": "resource", "resourceClaimTemplateName": "test-claim-template"}
        if workload.shape == "group":
            claim = {"name": "resource", "resourceClaimName": f"test-claim-{number}"}
            meta = {"name": f"test-claim-{number}", "namespace": "test"}
            yield from_json(ResourceClaim, {"metadata": meta, "spec": spec})
        group = {"resourceClaims": [claim], "schedulingPolicy": {"basic": {}}}
        yield from_json(PodGroup, {"metadata": {"name": f"test-dra-{number}", "namespace": "test"}, "spec": group})


def allocated_claims(workload: Workload) -> Iterator[ResourceClaim]:
    """Claims of other pods, each on a random node that has devices left."""
    by_node = {
        "template": [[f"basic-device-{index}"] for index in range(10)],
        "partitionable": [["device-1", "device-2"]],
        "groups": [["device-1", "device-2"]],
        "backtracking": [[f"device-{index}" for index in range(2, 9)]],
    }[workload.shape]
    rest = {number: list(reversed(by_node)) for number in range(workload.nodes)}
    chance = random.Random(0)
    open_nodes = list(rest)
    spec = {"devices": {"requests": [
        {"name": "req-0", "exactly": {"deviceClassName": "test-class", "count": len(by_node[0])}}
    ]}}  # fmt: skip
    for number in range(workload.init):
        place = chance.randrange(len(open_nodes))
        home = open_nodes[place]
        devices = rest[home].pop()
        if not rest[home]:
            open_nodes[place] = open_nodes[-1]
            open_nodes.pop()
        results = [
            {"request": "req-0", "driver": DRIVER, "pool": f"resourceslice-{home}", "device": device}
            for device in devices
        ]
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [f"scheduler-perf-dra-{home}"]}]}
        allocation = {"devices": {"results": results}, "nodeSelector": {"nodeSelectorTerms": [term]}}
        meta = {"name": f"test-claim-{number}", "namespace": "init"}
        yield from_json(ResourceClaim, {"metadata": meta, "spec": spec, "status": {"allocation": allocation}})


# ---- running --------------------------------------------------------------------------------------------------------


def prepared(workload: Workload) -> Simulation:
    """The cluster, with everything from before in it."""
    scheduler = _SCORES_DEVICES if workload.shape == "scoring" else None
    environment = Workshop().environment(Settings("1.37", GATES.get(workload.shape, {}), {}, scheduler))
    if not isinstance(environment, Environment):
        raise SystemExit("; ".join(problem.message for problem in environment))
    simulation = Simulation(environment, manual_kubelet=True)
    load(simulation, declared(workload))
    simulation.settle()
    if workload.init and workload.shape in ("template", "partitionable", "groups", "backtracking"):
        load(simulation, allocated_claims(workload))
        simulation.settle()
    elif workload.init:
        load(simulation, (pod(workload, "init", number) for number in range(workload.init)))
        simulation.settle()
        bound = sum(bool(each.spec.node_name) for each in simulation.pods())
        if bound != workload.init:
            raise SystemExit(f"only {bound} of {workload.init} pods from before have a node")
    return simulation


def load(simulation: Simulation, objects: Iterator[Any]) -> None:
    """Create objects; none may be refused."""
    refused: list[ApiError] = simulation.load(objects)
    if refused:
        raise SystemExit(f"{len(refused)} objects are refused: {refused[0].message}")


class Speed(NamedTuple):
    """What was measured.

    Attributes:
        pods: how many got a node.
        seconds: in which time.
        first: of a steady workload the part of it until the first of them had one: slices are read and expressions
            compiled then. In a burst all pods are scheduled before the first is bound.
    """

    pods: int
    seconds: float
    first: float


def publish(workload: Workload, simulation: Simulation) -> Speed:
    """Slices instead of pods: until everybody has heard of them, and the scheduler has prepared them."""
    made = [each for number in range(workload.nodes) for each in slices(workload, number)]
    started = time.process_time()
    load(simulation, iter(made))
    simulation.settle()
    devices = sum(len(each.spec.devices) for each in simulation.scheduler.manager.inventory.slices())
    seconds = time.process_time() - started
    if devices != 10 * workload.nodes:
        raise SystemExit(f"the scheduler knows {devices} devices")
    return Speed(len(made), seconds, 0.0)


def burst(workload: Workload, simulation: Simulation) -> Speed:
    """All pods at once."""
    pods = [pod(workload, "test", number) for number in range(workload.pods)]
    started = time.process_time()
    load(simulation, iter(pods))
    simulation.settle()
    seconds = time.process_time() - started
    bound = sum(each.metadata.namespace == "test" and bool(each.spec.node_name) for each in simulation.pods())
    if bound != workload.pods:
        raise SystemExit(f"only {bound} of {workload.pods} pods have a node")
    return Speed(bound, seconds, 0.0)


def steady(workload: Workload, simulation: Simulation, seconds: float) -> Speed:
    """Some pods, each replaced a millisecond after it has a node: by then the claims of those before are free."""
    first = 0.0
    template = pod(workload, "test", 0)
    scheduled = 0
    made = 0

    def add() -> None:
        nonlocal made
        made += 1
        simulation.store.create(replace(template, metadata=replace(template.metadata, name=f"test-dra-{made}")))

    def substitute(name: str) -> None:
        simulation.store.delete(Pod, "test", name, grace_seconds=0)
        add()

    def on_pod(event: WatchEvent) -> None:
        nonlocal scheduled, first
        old, new = event.old, event.new
        if old is not None and new is not None and new.spec.node_name and not old.spec.node_name:
            scheduled += 1
            first = first or time.process_time()
            simulation.events.schedule(Phase.SCENARIO, "benchmark", substitute, new.metadata.name, delay=1)

    simulation.store.subscribe("benchmark", Phase.API_SERVER, (Pod,), on_pod)
    for _ in range(workload.pods):
        add()
    started = time.process_time()
    while time.process_time() - started < seconds:
        for _ in range(200):
            if simulation.events.next_time() is None:
                raise SystemExit(f"nothing happens any more after {scheduled} pods")
            simulation.step()
    return Speed(scheduled, time.process_time() - started, max(first - started, 0.0))


def measured(workload: Workload, seconds: float) -> dict[str, Any]:
    """Run one workload in this process, which looks for garbage as seldom as the command line does."""
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    started = time.process_time()
    simulation = prepared(workload)
    setup = time.process_time() - started
    if workload.shape == "publish":
        pods, taken, first = publish(workload, simulation)
    elif workload.steady:
        pods, taken, first = steady(workload, simulation, seconds)
    else:
        pods, taken, first = burst(workload, simulation)
    speed = pods / taken
    return {
        "workload": workload.full_name,
        "nodes": workload.nodes,
        "pods": pods,
        "podsPerSecond": round(speed, 1),
        "firstSeconds": round(first, 2),
        "millisecondsPerFurtherPod": round((taken - first) * 1000 / max(pods - workload.steady, 1), 3),
        "threshold": workload.threshold,
        "times": None if workload.threshold is None else round(speed / workload.threshold, 1),
        "setupSeconds": round(setup, 1),
        "megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def in_process(workload: Workload, seconds: float) -> dict[str, Any]:
    """Run one workload in a process of its own."""
    command = [sys.executable, __file__, "--one", workload.full_name, "--seconds", str(seconds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problem = done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"status {done.returncode}"
        return {"workload": workload.full_name, "nodes": workload.nodes, "problem": problem}
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def row(result: dict[str, Any]) -> str:
    """A row of the table."""
    if "problem" in result:
        return f"| {result['workload']} | {result['nodes']:,} | - | - | - | - | - | {result['problem']} |"
    threshold = result["threshold"]
    times = f"{result['times']:.1f} x" if threshold else ""
    first = f"{result['firstSeconds']:.2f} s" if result["firstSeconds"] else ""
    further = f"{result['millisecondsPerFurtherPod']:.2f} ms"
    return (
        f"| {result['workload']} | {result['nodes']:,} | {result['podsPerSecond']:,.0f} | {threshold or ''} | "
        f"{times} | {first} | {further} | {result['megabytes']:,} MB |"
    )


def figure(result: dict[str, Any]) -> Row:
    """A row of the JSON."""
    speed, threshold = result.get("podsPerSecond", 0.0), result.get("threshold")
    told = ("workload", "podsPerSecond", "threshold", "times")
    more = {name: value for name, value in result.items() if name not in told}
    return Row(result["workload"], speed, threshold, "pods/s", more=more)


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="only workloads whose test/name contains one of these")
    parser.add_argument("--all", action="store_true", help="also those without a threshold")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long steady workloads run")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    by_name = {workload.full_name: workload for workload in WORKLOADS}
    if options.one:
        print(json.dumps(measured(by_name[options.one], options.seconds)))
        return
    chosen = [each for each in WORKLOADS if any(name in each.full_name for name in options.names)]
    if not options.names:
        chosen = [each for each in WORKLOADS if options.all or each.threshold or each.nodes == 5000]
    chosen.sort(key=lambda each: each.nodes == 5000)
    results = []
    if not options.json:
        print("| workload | nodes | pods/s | threshold | | first pod | further pod | memory |")
        print("|---|---|---|---|---|---|---|---|")
    for workload in chosen:
        results.append(in_process(workload, options.seconds))
        if not options.json:
            print(row(results[-1]), flush=True)
    if options.json:
        print(as_json([figure(result) for result in results]))


if __name__ == "__main__":
    main()
