"""Import and export of a large cluster dump, against PyYAML's C loader alone on the same text in the same run.

The dump is what `kubectl get nodes,resourceslices,resourceclaims,pods -A -o yaml` prints: one List, with status and
managedFields. Each measurement runs in a process of its own, so that its memory is its own.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml

from dralang.cli.main import main as dralang

LINES = 100_000

# ---- the dump -------------------------------------------------------------------------------------------------------

METADATA = """  metadata:
    creationTimestamp: "2026-01-31T12:00:00Z"
    labels:
      kubernetes.io/hostname: worker-{n}
      topology.kubernetes.io/zone: zone-a
    managedFields:
    - apiVersion: v1
      fieldsType: FieldsV1
      fieldsV1:
        f:metadata:
          f:labels:
            .: {{}}
            f:app: {{}}
        f:spec:
          f:containers: {{}}
      manager: kubelet
      operation: Update
      time: "2026-01-31T12:00:00Z"
    resourceVersion: "1{n:05}"
    uid: 00000000-0000-4000-8000-{n:08}{i:04}
"""
NODE = """- apiVersion: v1
  kind: Node
{metadata}    name: worker-{n}
  spec:
    podCIDR: 10.0.{i}.0/24
  status:
    allocatable: {{cpu: "64", ephemeral-storage: 100Gi, memory: 256Gi, pods: "110"}}
    capacity: {{cpu: "64", ephemeral-storage: 100Gi, memory: 256Gi, pods: "110"}}
    conditions:
"""
CONDITION = """    - lastTransitionTime: "2026-01-31T12:00:00Z"
      message: kubelet is posting its status
      reason: KubeletReady
      status: "True"
      type: {kind}
"""
SLICE = """- apiVersion: resource.k8s.io/v1
  kind: ResourceSlice
{metadata}    name: worker-{n}-gpus
  spec:
    driver: gpu.example.com
    nodeName: worker-{n}
    pool:
      generation: 1
      name: worker-{n}
      resourceSliceCount: 1
    devices:
"""
DEVICE = """    - attributes:
        driverVersion:
          version: 1.2.3
        index:
          int: {i}
        model:
          string: a100
        resource.kubernetes.io/pcieRoot:
          string: pci0000:0{i}
        uuid:
          string: gpu-{n}-{i}
      capacity:
        cores:
          value: "108"
        memory:
          value: 80Gi
      name: gpu-{i}
"""
CLAIM = """- apiVersion: resource.k8s.io/v1
  kind: ResourceClaim
{metadata}    name: train-{n}-{i}-gpu
    namespace: team-a
  spec:
    devices:
      requests:
      - exactly:
          allocationMode: ExactCount
          count: 1
          deviceClassName: gpu.example.com
          selectors:
          - cel:
              expression: device.attributes["gpu.example.com"].model == "a100"
        name: gpu
  status:
    allocation:
      devices:
        results:
        - device: gpu-{i}
          driver: gpu.example.com
          pool: worker-{n}
          request: gpu
      nodeSelector:
        nodeSelectorTerms:
        - matchFields:
          - key: metadata.name
            operator: In
            values:
            - worker-{n}
    reservedFor:
    - name: train-{n}-{i}
      resource: pods
      uid: 00000000-0000-4000-8000-{n:08}{i:04}
"""
POD = """- apiVersion: v1
  kind: Pod
{metadata}    name: train-{n}-{i}
    namespace: team-a
  spec:
    containers:
    - command:
      - /bin/sh
      - -c
      - |
        set -e
        python3 train.py --rank "${{RANK}}"
      env:
      - name: RANK
        value: "{i}"
      image: registry.example.com/train:1.0
      imagePullPolicy: IfNotPresent
      name: train
      resources:
        claims:
        - name: gpu
        requests:
          cpu: "4"
          memory: 16Gi
      volumeMounts:
      - mountPath: /var/run/secrets/token
        name: token
        readOnly: true
    nodeName: worker-{n}
    resourceClaims:
    - name: gpu
      resourceClaimName: train-{n}-{i}-gpu
    restartPolicy: Never
    schedulerName: default-scheduler
    tolerations:
    - effect: NoExecute
      key: node.kubernetes.io/not-ready
      operator: Exists
      tolerationSeconds: 300
    volumes:
    - emptyDir: {{}}
      name: token
  status:
    hostIP: 10.0.0.1
    phase: Running
    qosClass: Burstable
    resourceClaimStatuses:
    - name: gpu
      resourceClaimName: train-{n}-{i}-gpu
    conditions:
"""
HEAD = """apiVersion: v1
kind: List
items:
- apiVersion: resource.k8s.io/v1
  kind: DeviceClass
  metadata:
    name: gpu.example.com
  spec:
    selectors:
    - cel:
        expression: device.driver == "gpu.example.com"
"""
GPUS = 8


def of_node(number: int) -> str:
    """A node, its slice, and a pod with a claim on each device."""

    def filled(template: str, index: int = 0, kind: str = "") -> str:
        metadata = METADATA.format(n=number, i=index)
        return template.format(metadata=metadata, n=number, i=index, kind=kind)

    def conditions(*kinds: str) -> str:
        return "".join([filled(CONDITION, kind=kind) for kind in kinds])

    parts = [filled(NODE), conditions("MemoryPressure", "DiskPressure", "PIDPressure", "Ready"), filled(SLICE)]
    parts += [filled(DEVICE, index) for index in range(GPUS)]
    for index in range(GPUS):
        parts += [filled(CLAIM, index), filled(POD, index), conditions("Initialized", "Ready", "PodScheduled")]
    return "".join(parts)


def dump(lines: int) -> str:
    """A dump of at least that many lines."""
    nodes = -(-lines // of_node(0).count("\n"))
    return HEAD + "".join([of_node(number) for number in range(nodes)])


# ---- what is measured -----------------------------------------------------------------------------------------------


def load_only(folder: Path) -> dict[str, Any]:
    """PyYAML's C loader."""
    text = (folder / "dump.yaml").read_text()
    start = time.perf_counter()
    yaml.load(text, Loader=yaml.CSafeLoader)
    return {"seconds": time.perf_counter() - start}


def import_dump(folder: Path) -> dict[str, Any]:
    """`dralang import dump.yaml -o dump.dra`."""
    return _command(["import", str(folder / "dump.yaml"), "-o", str(folder / "dump.dra")])


def check_dump(folder: Path) -> dict[str, Any]:
    """`dralang check dump.dra`: the imported text is read again."""
    return _command(["check", str(folder / "dump.dra")])


def export_dump(folder: Path) -> dict[str, Any]:
    """`dralang export dump.dra`."""
    return _command(["export", str(folder / "dump.dra"), "-o", str(folder / "again.yaml")])


def _command(words: list[str]) -> dict[str, Any]:
    start = time.perf_counter()
    code = dralang(words)
    if code != 0:
        sys.exit(f"dralang {' '.join(words)} ended with {code}")
    return {"seconds": time.perf_counter() - start}


MEASURED = {"PyYAML's C loader": load_only, "import": import_dump, "check": check_dump, "export": export_dump}


def _measure(name: str, folder: Path) -> dict[str, Any]:
    """One measurement in a process of its own."""
    command = [sys.executable, __file__, "--one", name, "--folder", str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise SystemExit(ran.stderr)
    result: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Measure and print a table, or JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=LINES)
    parser.add_argument("--runs", type=int, default=3, help="the fastest counts")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--one", choices=MEASURED, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        result = MEASURED[given.one](given.folder)
        result["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(json.dumps(result))
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        text = dump(given.lines)
        (folder / "dump.yaml").write_text(text)
        results = {}
        for what in MEASURED:
            runs = [_measure(what, folder) for _ in range(given.runs)]
            results[what] = min(runs, key=lambda run: run["seconds"])
        written = (folder / "dump.dra").stat().st_size
    _report(text, written, results, as_json=given.json)


def _report(text: str, written: int, results: dict[str, dict[str, Any]], *, as_json: bool) -> None:
    anchor = results["PyYAML's C loader"]
    rows = {
        f"{what} {text.count(chr(10)):,} lines": {
            "ours": round(result["seconds"], 2),
            "anchor": round(anchor["seconds"], 2),
            "ratio": round(result["seconds"] / anchor["seconds"], 2),
            "unit": "s",
            "peak_mib": round(result["peak"] / (1 << 20)),
        }
        for what, result in results.items()
        if result is not anchor
    }
    if as_json:
        print(json.dumps(rows, indent=2))
        return
    loader = f"PyYAML's C loader: {round(anchor['peak'] / (1 << 20))} MiB"
    print(f"{len(text):,} bytes of YAML, {written:,} bytes of .dra; {loader}\n")
    print(f"{'':28} {'ours':>9} {'anchor':>9} {'ratio':>7} {'peak':>9}")
    for label, row in rows.items():
        print(f"{label:28} {row['ours']:>7} s {row['anchor']:>7} s {row['ratio']:>6}x {row['peak_mib']:>5} MiB")


if __name__ == "__main__":
    main()
