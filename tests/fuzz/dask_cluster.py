"""A Dask cluster of real processes on this machine, in folders where there is no spec."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import distributed

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60


class Cluster:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        file = folder / "scheduler.json"
        self._start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", file)
        self.scheduler = self.processes[0]
        _until(lambda: _address(file))
        self.address = _address(file)

    def _start(self, module: str, *arguments: object, path: Path = ROOT) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", module, *map(str, arguments), "--no-dashboard"]
        log = (self.folder / f"{len(self.processes)}.log").open("wb")
        with log:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(path)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self.processes.append(process)
        return process

    @staticmethod
    def _asking(address: str) -> distributed.Client:
        return distributed.Client(address, set_as_default=False, timeout=SECONDS)

    def worker(self, name: str, path: Path = ROOT) -> subprocess.Popen[bytes]:
        """One more worker, which takes its dralang from a folder; returns when it is there."""
        process = self._start(
            "distributed.cli.dask_worker",
            self.address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--name",
            name,
            path=path,
        )
        with self._asking(self.address) as client:
            _until(lambda: name in {each["name"] for each in client.scheduler_info()["workers"].values()})
        return process

    def wait_for_work_of(self, name: str) -> None:
        """Wait until the scheduler has given something to a worker."""
        with self._asking(self.address) as client:
            [address] = [
                address for address, each in client.scheduler_info()["workers"].items() if each["name"] == name
            ]
            _until(lambda: client.processing([address])[address])

    def close(self) -> None:
        """End all of them."""
        for process in reversed(self.processes):
            process.send_signal(signal.SIGKILL)
            process.wait()


def _address(file: Path) -> str:
    """What a scheduler has written, empty while it has not, or not all of it."""
    try:
        return str(json.loads(file.read_bytes())["address"])
    except (OSError, ValueError):
        return ""


def _until(condition) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "the cluster does not do what it should"
        time.sleep(0.05)
