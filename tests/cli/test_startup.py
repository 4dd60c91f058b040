"""Short commands start at once: they import only what they use."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
LISTED = """
import sys
before = set(sys.modules)
from dralang.cli.main import main
main({argv!r}, environ={{}})
sys.stderr.write(" ".join(sorted(set(sys.modules) - before)))
"""

BASE = {
    "dralang",
    "dralang.cli",
    "dralang.cli.arguments",
    "dralang.cli.commands",
    "dralang.cli.console",
    "dralang.cli.exits",
    "dralang.cli.main",
}
DIAGNOSTIC_CODES = {
    "dralang.cli.explain",
    "dralang.diagnostics",
    "dralang.diagnostics.code",
    "dralang.diagnostics.codes",
}
OWN = {
    "the version": (["--version"], BASE),
    "help": (["--help"], BASE),
    "help of a command": (["test", "--help"], BASE),
    "completion": (["completion", "bash"], {*BASE, "dralang.cli.completion"}),
    "explain": (["explain", "DRA0101"], BASE | DIAGNOSTIC_CODES),
}
HEAVY = {"argparse", "asyncio", "celpy", "dataclasses", "difflib", "hypothesis", "json", "lark", "logging",
         "pathlib", "tomllib", "unittest", "yaml"}  # fmt: skip


def imported(argv: list[str]) -> set[str]:
    script = LISTED.format(argv=argv)
    ran = subprocess.run(
        [sys.executable, "-S", "-c", script], capture_output=True, env=ENVIRONMENT, timeout=60, check=False
    )
    if b"No module named" in ran.stderr:  # what the command uses lies in site-packages
        ran = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, env=ENVIRONMENT, timeout=60, check=False
        )
    assert ran.returncode == 0, ran.stderr
    return set(ran.stderr.decode().split())


@pytest.mark.parametrize("case", OWN)
def test_a_short_command_imports_only_what_it_uses(case: str):
    argv, want = OWN[case]
    found = imported(argv)
    own = {name for name in found if name.partition(".")[0] == "dralang"}
    assert {name for name in own if not name.startswith("dralang.diagnostics.codes_")} == want
    assert found & HEAVY == set()


def test_check_does_not_import_what_plays_scenarios(tmp_path: Path):
    (tmp_path / "a.dra").write_text("node worker-1\n", encoding="utf-8")
    found = imported(["check", str(tmp_path / "a.dra")])
    assert {
        name for name in found if name.startswith(("dralang.scheduler.", "dralang.run.player", "dralang.formatter."))
    } == set()
    assert "dralang.check.analysis" in found


def processor_seconds(*command: str) -> float:
    """The least of several runs; processor time, as others use the machine too."""
    best = 60.0
    for _ in range(8):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], capture_output=True, env=ENVIRONMENT, timeout=60, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best


def test_the_version_takes_less_than_80_milliseconds_more_than_python_itself():
    assert processor_seconds("-m", "dralang", "--version") - processor_seconds("-c", "pass") < 0.080
