"""A suite as users have it: 30 files with 300 scenarios, each the size of first.dra, through `dralang test`.

The anchor is the start of a bare interpreter in the same run: machines differ, and so does one machine from minute to
minute. Two forms of the suite: `shared` declares the cluster once a file, `own` once in every scenario.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rows import Row, as_json, table

CLUSTER = """node worker-{n}

slice worker-{n}-gpus {{
  driver: gpu.example.com
  nodeName: worker-{n}
  device gpu-0 {{
    attributes {{ model: "a100", driverVersion: v1.2.{n} }}
    capacity {{ memory: 80Gi }}
  }}
}}

class gpu-{n}.example.com {{
  where `device.driver == "gpu.example.com"`
}}

template one-gpu-{n} {{
  request gpu: 1 of gpu-{n}.example.com where `device.attributes["gpu.example.com"].model == "a100"`
}}
"""
STORY = """
pod train-{m} {{ claim gpu from one-gpu-{n} }}
pod serve-{m} {{ claim gpu from one-gpu-{n} }}
"""
EVENTS = """
create train-{m}
create serve-{m}
expect train-{m} runs on worker-{n} with gpu-0
expect serve-{m} is pending because "cannot allocate all claims"

finish train-{m}
expect serve-{m} runs on worker-{n} with gpu-0
"""


def indented(text: str) -> str:
    """A text as the body of a scenario."""
    return "".join(f"  {line}\n" if line else "\n" for line in text.splitlines())


def write_suite(folder: Path, *, own: bool) -> None:
    """Write 30 files of 10 scenarios."""
    for number in range(30):
        parts = ["kubernetes 1.37\n\n"]
        if not own:
            parts.append(CLUSTER.format(n=number))
        for row in range(10):
            name = f"{number}-{row}"
            cluster = CLUSTER.format(n=number) if own else ""
            body = cluster + STORY.format(n=number, m=name) + EVENTS.format(n=number, m=name)
            parts.append(f'\nscenario "first come, first served {name}" {{\n{indented(body.strip())}}}\n')
        (folder / f"spec_{number:02}.dra").write_text("".join(parts), encoding="utf-8")


def best(command: list[str], runs: int, folder: Path) -> float:
    """Seconds of the fastest of several runs of a whole process."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        times.append(time.perf_counter() - start)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return min(times)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    measured: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        for form in ("shared", "own"):
            folder = Path(name) / form
            folder.mkdir()
            (folder / "dralang.toml").touch()
            write_suite(folder, own=form == "own")
            anchor = best([sys.executable, "-c", "pass"], arguments.runs, folder)
            ours = best([sys.executable, "-m", "dralang", "test", "-q", "."], arguments.runs, folder)
            measured.append(Row(f"test 300 scenarios, cluster {form}", ours, anchor, "s"))
        anchor = best([sys.executable, "-c", "pass"], arguments.runs, Path(name))
        ours = best([sys.executable, "-m", "dralang", "--version"], arguments.runs, Path(name))
        measured.append(Row("dralang --version", ours * 1000, anchor * 1000, "ms"))
    print(as_json(measured) if arguments.json else table(measured, "bare interpreter"))


if __name__ == "__main__":
    main()
