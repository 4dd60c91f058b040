"""Device expressions beside cel-python: ``python benchmarks/cel.py [--json]``.

Ours and cel-python's interpreter in one run, for the selectors of published manifests (those of the recorded cases):
evaluating them, compiling them (parse, check, cost and code, against cel-python's parse alone), and starting up.
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

import celpy
import rows
from rows import Row

from dralang.api.expressions import PreparedDevice
from dralang.api.resourceslice import Device, DeviceAttribute, DeviceCapacity
from dralang.cel.environment import Environment
from dralang.cel.expressions import CelExpressions
from dralang.cel.reference import ReferenceExpressions
from dralang.cel.replay import device_of
from dralang.values.quantity import parse_quantity

CASES = ROOT / "tests" / "conformance" / "cel-manifests.jsonl.gz"
ROUNDS = 7
DEVICES = 1000
DRIVER = "gpu.example.com"
TWO_ATTRIBUTES = f'device.attributes["{DRIVER}"].model == "a100" && device.attributes["{DRIVER}"].numa == 1'
OUR_START = "from dralang.cel.expressions import CelExpressions; CelExpressions().selector('device.driver == \"d\"')"
THEIR_START = "import celpy; celpy.Environment().compile('device.driver == \"d\"')"


def best(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The shortest time of some rounds, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def fleet() -> list[Device]:
    """Devices as drivers publish them."""
    return [
        Device(
            name=f"gpu-{number}",
            attributes={
                "model": DeviceAttribute(string="a100" if number % 2 else "h100"),
                "numa": DeviceAttribute(int_=number % 8),
                "uuid": DeviceAttribute(string=f"gpu-{number:08}"),
                "driverVersion": DeviceAttribute(version="1.2.3"),
                "healthy": DeviceAttribute(bool_=True),
            },
            capacity={"memory": DeviceCapacity(value=parse_quantity("80Gi"))},
        )
        for number in range(DEVICES)
    ]


def rate(selector: Callable[[PreparedDevice], bool], devices: list[PreparedDevice], rounds: int = ROUNDS) -> float:
    """Evaluations per second over some devices, one after the other."""

    def sweep() -> None:
        for device in devices:
            selector(device)

    return len(devices) / best(sweep, rounds)


def two_attributes() -> Row:
    """The selector that the bound of the project is about."""
    ours, theirs = CelExpressions(), ReferenceExpressions()
    devices = fleet()
    mine = rate(ours.selector(TWO_ATTRIBUTES), [ours.prepare(DRIVER, device) for device in devices], 20)
    few = [theirs.prepare(DRIVER, device) for device in devices[:100]]
    other = rate(theirs.selector(TWO_ATTRIBUTES), few, 3)
    return Row(f"two attributes, {DEVICES} devices", mine, other, "evaluations/s")


def manifest_cases() -> list[dict[str, Any]]:
    """One recorded case for each expression, on a device on which it does not fail."""
    cases: dict[str, dict[str, Any]] = {}
    for line in gzip.decompress(CASES.read_bytes()).decode().splitlines():
        case = json.loads(line)
        if "result" in case["want"]:
            cases.setdefault(case["expression"], case)
    return list(cases.values())


def evaluating(cases: list[dict[str, Any]]) -> Row:
    """All expressions, each on a device it was written for."""
    ours, theirs = CelExpressions(Environment()), ReferenceExpressions()
    mine, other = [], []
    for case in cases:
        device = device_of(case["device"])
        text = case["expression"]
        mine.append(rate(ours.selector(text), [ours.prepare(case["driver"], device)] * 500))
        other.append(rate(theirs.selector(text), [theirs.prepare(case["driver"], device)] * 5, 3))
    fast, slow = statistics.median(mine), statistics.median(other)
    return Row(f"{len(cases)} expressions of manifests, evaluate", fast, slow, "evaluations/s")


def compiling(cases: list[dict[str, Any]]) -> Row:
    """All expressions, new every time; the ratio is the median of those of the single expressions."""
    environment = celpy.Environment(runner_class=celpy.InterpretedRunner)
    mine, other = [], []
    for case in cases:
        text = case["expression"]
        mine.append(best(lambda text=text: CelExpressions().selector(text)) * 1e6)  # type: ignore[misc]
        other.append(best(lambda text=text: environment.compile(text)) * 1e6)  # type: ignore[misc]
    ratio = statistics.median(fast / slow for fast, slow in zip(mine, other, strict=True))
    name = f"{len(cases)} expressions of manifests, compile"
    return Row(name, statistics.median(mine), statistics.median(other), "µs", ratio)


def starting() -> Row:
    """A new process with its first expression, without what a bare interpreter takes: time of the processor.

    Byte code is compiled beforehand, as in an installed package.
    """
    folder = tempfile.mkdtemp()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = folder

    def start(code: str) -> float:
        times = []
        for _ in range(10):
            before = os.times()
            subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, env=environment)
            after = os.times()
            times.append(sum(after[2:4]) - sum(before[2:4]))
        return statistics.mean(sorted(times)[:5]) * 1000

    bare = start("pass")
    mine, other = start(OUR_START) - bare, start(THEIR_START) - bare
    shutil.rmtree(folder)
    return Row("start and first expression", mine, other, "ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    as_json = parser.parse_args().json
    cases = manifest_cases()
    measured = [two_attributes(), evaluating(cases), compiling(cases), starting()]
    print(rows.as_json(measured) if as_json else rows.table(measured, "cel-python"))


if __name__ == "__main__":
    main()
