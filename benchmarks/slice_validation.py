"""One ResourceSlice through the model of the API server: 128 plain devices, and 64 that use every feature.

The anchor is PyYAML's C loader reading the same slice in the same run: machines differ, and so does one machine from
minute to minute. The bound of the project is 20 ms for each on a machine with two cores.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from rows import Row, as_json, table

from dralang.api.admission import Accepted, AdmissionContext, WriteRequest, admit, admit_object
from dralang.api.decode import from_json
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import Node, NodeStatus
from dralang.api.resourceslice import ResourceSlice
from dralang.cel.admission import admission_checker
from dralang.features import FeatureGates

RUNS = 5


def plain_device(number: int) -> dict[str, Any]:
    """A device as most drivers publish it."""
    return {
        "name": f"gpu-{number}",
        "attributes": {
            "gpu.example.com/model": {"string": "a100"},
            "index": {"int": number},
            "uuid": {"string": f"gpu-{number:08}"},
            "driverVersion": {"version": "1.2.3"},
            "healthy": {"bool": True},
        },
        "capacity": {"memory": {"value": "80Gi"}},
    }


def full_device(number: int) -> dict[str, Any]:
    """A device that uses every feature a device can use."""
    steps = {"default": "1Gi", "validRange": {"min": "1Gi", "max": "40Gi", "step": "1Gi"}}
    counters = {f"counter-{index}": {"value": "1"} for index in range(8)}
    return {
        "name": f"part-{number}",
        "attributes": {
            **{f"text{index}": {"string": f"{number}-{index}"} for index in range(6)},
            **{f"number{index}": {"int": index} for index in range(4)},
            "version": {"version": "1.0.0-rc.1"},
            "list": {"strings": ["a", "b", "c"]},
            "gpu.example.com/profile": {"string": "1g"},
        },
        "capacity": {
            "memory": {"value": "40Gi", "requestPolicy": steps},
            "cores": {"value": "8"},
            "bandwidth": {"value": "10", "requestPolicy": {"default": "1", "validValues": ["1", "2", "4"]}},
        },
        "allowMultipleAllocations": True,
        "consumesCounters": [{"counterSet": "set-0", "counters": counters, "compatibilityGroups": ["mig"]}],
        "nodeName": "node-1",
        "taints": [{"key": "gpu.example.com/x", "value": "y", "effect": "NoSchedule"}],
        "bindsToNode": True,
        "bindingConditions": ["example.com/ready"],
        "bindingFailureConditions": ["example.com/failed"],
        "nodeAllocatableResources": {
            "cpu": {"mapping": {"capacityKey": "cores", "capacityMultiplier": "1"}},
            "memory": {"mapping": {"deviceMultiplier": "2Gi"}, "overhead": {"perPod": "64Mi"}},
        },
    }


def slice_of(**spec: Any) -> dict[str, Any]:
    """A slice with the rest of its spec."""
    pool = {"name": "pool", "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "x"},
        "spec": {"driver": "gpu.example.com", "pool": pool, **spec},
    }


def best(work: Callable[[], object]) -> float:
    """Milliseconds of the fastest of several runs."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times) * 1000


def server() -> AdmissionContext:
    """A server with everything on, and a node that knows everything."""
    gates = FeatureGates.resolve("1.37", {"AllAlpha": True, "AllBeta": True})
    assert isinstance(gates, FeatureGates)
    node = Node(ObjectMeta(name="node-1"), status=NodeStatus(declared_features=("DRANodeAllocatableResources",)))
    return AdmissionContext(gates, admission_checker(gates), "2026-01-31T12:00:00Z", nodes=(node,))


def measure(name: str, value: Mapping[str, Any], context: AdmissionContext) -> list[Row]:
    """Reading, judging, and both."""
    assert isinstance(admit(WriteRequest("create", value), context), Accepted)
    decoded = from_json(ResourceSlice, value)
    text = yaml.safe_dump(json.loads(json.dumps(value)))
    anchor = best(lambda: yaml.load(text, yaml.CSafeLoader))
    parts: dict[str, Callable[[], object]] = {
        "decode": lambda: from_json(ResourceSlice, value),
        "validate": lambda: admit_object("create", decoded, None, context),
        "both": lambda: admit(WriteRequest("create", value), context),
    }
    return [Row(f"{name}: {part}", best(work), anchor, "ms") for part, work in parts.items()]


def main() -> None:
    """Measure both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    context = server()
    plain = slice_of(nodeName="node-1", devices=list(map(plain_device, range(128))))
    full = slice_of(
        perDeviceNodeSelection=True,
        partitionTypeAttribute="gpu.example.com/profile",
        skipNodeOperations=["*"],
        devices=list(map(full_device, range(64))),
    )
    rows = measure("128 plain devices", plain, context) + measure("64 devices with all features", full, context)
    print(as_json(rows) if arguments.json else table(rows, "PyYAML's C loader"))


if __name__ == "__main__":
    main()
