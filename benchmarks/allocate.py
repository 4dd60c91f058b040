"""Our allocator beside the real one: ``python benchmarks/allocate.py``.

What is timed is what the scheduler waits for: preparing and allocating, with expressions compiled. Lines: one case of
every kind from nothing (one-shot) and again (warm), 1,000 claims over 100 nodes, and the searches of the hard file.
The real allocator needs Go; without it only our times are shown.
"""

import argparse
import gzip
import json
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "oracle")]

from allocation_problems import random_problem
from real_allocator import Oracle, build, expressions, is_available
from rows import Row, as_json, table

from dralang.allocator.allocate import Attempt, allocate
from dralang.allocator.inventory import Inventory
from dralang.allocator.outcome import Allocated
from dralang.allocator.profiles import allocator_profile
from dralang.allocator.replay import CaseObjects
from dralang.allocator.state import AllocatedState

Json = dict[str, Any]
ROUNDS = 5
GATES = {
    "DRAAdminAccess": True,
    "DRAPrioritizedList": True,
    "DRAPartitionableDevices": True,
    "DRADeviceTaints": True,
    "DRADeviceBindingConditions": True,
    "DRAConsumableCapacity": True,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    oracle = Oracle(build(Path(tempfile.mkdtemp()))) if is_available() else None
    problems = [random_problem(seed) for seed in range(400)]
    rows = [
        measured("400 random problems, one-shot", lambda: play_all(problems), lambda: real_all(oracle, problems)),
        measured("the same, warm", warm_all(problems), lambda: real_all(oracle, problems)),
    ]
    for distinct, name in ((1, "alike"), (1000, "all different")):
        cluster = big_cluster(distinct)
        text = f"1,000 claims, {name}, over 100 nodes"
        rows.append(measured(text, big_run(cluster), partial(real_big, oracle, cluster)))
    rows += [measured(f"hard: {case['id']}", partial(play, case), partial(real, oracle, case)) for case in hard_cases()]
    print(as_json(rows) if arguments.json else table(rows, "the real allocator"))


def measured(name: str, ours: Callable[[], float], real_one: Callable[[], float | None]) -> Row:
    """The best of some rounds of both."""
    best = min(ours() for _ in range(ROUNDS))
    times = [seconds for seconds in (real_one() for _ in range(ROUNDS if "hard: r102" not in name else 1)) if seconds]
    return Row(name, best * 1000, min(times) * 1000 if times else None, "ms")


def play_all(problems: list[Json]) -> float:
    return sum(play(case) for case in problems)


def play(case: Json) -> float:
    """Play a case from nothing; the seconds of preparing and allocating."""
    objects = CaseObjects(case["objects"])
    profile = allocator_profile("1.37", case["featureGates"])
    allocations = dict(objects.allocations)
    seconds = 0.0
    for step in case["steps"]:
        for label in step.get("deallocate", ()):
            allocations.pop(label, None)
        state = AllocatedState.of(sorted(allocations.items()), profile.features)
        start = time.perf_counter()
        inventory = Inventory.of(objects.slices, objects.classes, profile, expressions(profile))
        claims = [objects.claims[label] for label in step["allocate"]]
        outcome = allocate(inventory, state, objects.nodes[step["node"]], claims)
        seconds += time.perf_counter() - start
        if isinstance(outcome, Allocated):
            allocations.update(zip(step["allocate"], outcome.results, strict=True))
    return seconds


def warm_all(problems: list[Json]) -> Callable[[], float]:
    """The first step of every case, on an inventory that has served it before."""
    prepared = []
    for case in problems:
        objects = CaseObjects(case["objects"])
        profile = allocator_profile("1.37", case["featureGates"])
        inventory = Inventory.of(objects.slices, objects.classes, profile, expressions(profile))
        step = case["steps"][0]
        claims = [objects.claims[label] for label in step["allocate"]]
        prepared.append((inventory, AllocatedState.of((), profile.features), objects.nodes[step["node"]], claims))

    def run() -> float:
        start = time.perf_counter()
        for inventory, state, node, claims in prepared:
            allocate(inventory, state, node, claims)
        return time.perf_counter() - start

    return run


def big_cluster(distinct: int) -> Json:
    """100 nodes with 16 devices each, and 1,000 claims of so many kinds."""
    objects: list[Json] = []
    for number in range(100):
        name = f"node-{number:03d}"
        devices = [
            {
                "name": f"gpu-{index}",
                "attributes": {"model": {"string": "ab"[index % 2]}, "numa": {"int": index // 8}},
                "capacity": {"memory": {"value": "40Gi"}},
            }
            for index in range(16)
        ]
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": "gpu.example.com", "nodeName": name, "pool": pool, "devices": devices}
        objects.append({"kind": "Node", "metadata": {"name": name}})
        objects.append({"kind": "ResourceSlice", "metadata": {"name": f"s-{name}"}, "spec": spec})
    selector = {"cel": {"expression": 'device.driver == "gpu.example.com"'}}
    objects.append({"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"selectors": [selector]}})
    for number in range(1000):
        text = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("10Gi")) >= 0'
        wish = {
            "deviceClassName": "gpu",
            "allocationMode": "ExactCount",
            "count": 1 + (number % 3 == 0),
            "selectors": [{"cel": {"expression": text}}],
        }
        request = {"name": f"r{number % distinct}", "exactly": wish}
        wanted = {"requests": [request], "constraints": [{"matchAttribute": "gpu.example.com/numa"}]}
        metadata = {"name": f"c{number}", "namespace": "default"}
        objects.append({"kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": wanted}})
    return {"id": "big", "kubernetes": "1.37", "featureGates": GATES, "objects": objects, "steps": []}


def big_run(case: Json) -> Callable[[], float]:
    """Every claim is tried on every node, and the first node that serves it keeps it."""
    objects = CaseObjects(case["objects"])
    profile = allocator_profile("1.37", case["featureGates"])
    nodes = list(objects.nodes.values())

    def run() -> float:
        start = time.perf_counter()
        inventory = Inventory.of(objects.slices, objects.classes, profile, expressions(profile))
        state = AllocatedState.of((), profile.features)
        for label, claim in objects.claims.items():
            attempt = Attempt(inventory, state, [claim])
            outcomes = [attempt.on(node) for node in nodes]
            first = next((outcome for outcome in outcomes if isinstance(outcome, Allocated)), None)
            if first is not None:
                state = state.with_allocation(label, first.results[0])
        return time.perf_counter() - start

    return run


def real(oracle: Oracle | None, case: Json) -> float | None:
    return oracle.answer(case)["ns"] / 1e9 if oracle else None


def real_all(oracle: Oracle | None, problems: list[Json]) -> float | None:
    return sum(oracle.answer(case)["ns"] for case in problems) / 1e9 if oracle else None


def real_big(oracle: Oracle | None, case: Json) -> float | None:
    return oracle.answer({**case, "rounds": 1})["ns"] / 1e9 if oracle else None


def hard_cases() -> list[Json]:
    lines = gzip.decompress((ROOT / "tests" / "conformance" / "allocation-hard.jsonl.gz").read_bytes())
    return [json.loads(line) for line in lines.decode().splitlines()]


if __name__ == "__main__":
    main()
