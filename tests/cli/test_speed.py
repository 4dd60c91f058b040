"""A suite of the size of a large project runs in the time between two thoughts."""

import os
import resource
import subprocess
import sys
from pathlib import Path

from cli_specs import DECLARATIONS

from dralang.cli.init import FIRST_SPEC

ROOT = Path(__file__).resolve().parents[2]
COUNTS = "x = 0\nfor i in range(10_000_000):\n    x += i"
LIMIT = 4.0
"""How many times as long as counting to ten million it may take: some two seconds where that takes half a second.

Processor time, and both in turn: machines are slower and faster, and others use them too.
"""


def seconds_of(command: list[str], cwd: Path) -> tuple[float, bytes]:
    """The processor time of a process, and what it wrote."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, cwd=cwd, capture_output=True, env=environment, timeout=120, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ran.stdout


def test_thirty_files_with_three_hundred_scenarios_take_as_long_as_counting_to_forty_million(tmp_path: Path):
    _, _, rest = FIRST_SPEC.partition("scenario ")
    for number in range(30):
        scenarios = [f"scenario {rest.replace('served', f'served {each}')}" for each in range(10)]
        (tmp_path / f"f{number}.dra").write_text(DECLARATIONS + "\n".join(scenarios), encoding="utf-8")
    taken = []
    for _ in range(5):
        anchor, _ = seconds_of([sys.executable, "-c", COUNTS], tmp_path)
        own, said = seconds_of([sys.executable, "-m", "dralang", "test", "-q"], tmp_path)
        assert b" 300 passed in " in said
        taken.append(own / anchor)
        if taken[-1] < LIMIT:
            return
    raise AssertionError(f"times the anchor: {taken}")
