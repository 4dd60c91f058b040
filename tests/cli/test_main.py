"""Finding the command, reading its arguments, ending with the right code."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli_project import Project
from cli_specs import BROKEN, MIXED, PASSING

from dralang import __version__
from dralang.cli import explain
from dralang.cli.commands import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def test_version(project: Project):
    assert project.run("--version") == (0, f"dralang {__version__}\n", "")


@pytest.mark.parametrize("word", ["-h", "--help", "help"])
def test_help_lists_every_command(project: Project, word: str):
    ran = project.run(word)
    assert ran.code == 0
    assert [command.name for command in COMMANDS if f"  {command.name} " not in ran.out] == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_of_a_command_shows_its_options(project: Project, command):
    ran = project.run(command.name, "--help")
    assert ran == project.run("help", command.name)
    assert ran.code == 0
    assert ran.out.startswith(f"usage: dralang {command.name} ")
    assert [name for option in command.options for name in option.names if name not in ran.out] == []


def test_without_a_command_help_is_an_error(project: Project):
    ran = project.run()
    assert (ran.code, ran.out) == (4, "")
    assert "usage: dralang COMMAND" in ran.err


USAGE = {
    "a misspelt command": (["tset"], "there is no command `tset`", "did you mean `test`?"),
    "an unknown command": (["frobnicate"], "there is no command `frobnicate`", "`dralang --help` lists the commands"),
    "a path instead of a command": (["a.dra"], "there is no command `a.dra`", "did you mean `dralang test a.dra`?"),
    "a misspelt global option": (["--versoin"], "`dralang` has no option `--versoin`", "did you mean `--version`?"),
    "an option before the command": (["-k", "x"], "`dralang` has no option `-k`", "options stand after the command"),
    "a misspelt option": (["test", "--maxfial=1"], "`dralang test` has no option `--maxfial`", "`--maxfail`?"),
    "a long option with one dash": (["test", "-durations=1"], "no option `-durations`", "did you mean `--durations`?"),
    "an unknown letter after a known one": (["test", "-xj"], "no option `-j`", "lists the options"),
    "a missing value at the end": (["test", "-k"], "option `-k` needs a value: EXPR", ""),
    "a missing value before an option": (["test", "-k", "--lf"], "option `-k` needs a value: EXPR", ""),
    "a value for a switch": (["test", "--lf=yes"], "option `--lf` takes no value", ""),
    "a value that is no choice": (["test", "--color=allways"], "`--color` cannot be `allways`", "`always`?"),
    "no number": (["test", "--maxfail=many"], "`--maxfail` takes a whole number from 0 on, not `many`", ""),
    "a negative number": (["test", "--maxfail=-1"], "`--maxfail` takes a whole number from 0 on, not `-1`", ""),
    "a huge number": (
        ["test", "--seed", "9" * 5000],
        "`--seed` takes a whole number from 0 on with at most 18 digits, not one with 5000",
        "",
    ),
    "a number with a digit too many": (
        ["fuzz", "--seed", "1" + "0" * 18],
        "with at most 18 digits, not one with 19",
        "",
    ),
    "an unmodelled version": (["test", "--k8s", "1.12"], "`--k8s` cannot be `1.12`", "it can be `1.34`"),
    "a version with a v": (["test", "--k8s", "v1.37.2"], "`--k8s` cannot be `v1.37.2`", "did you mean `1.37`?"),
    "an unknown gate": (
        ["test", "--feature-gates", "DRADeviceTaint=true"],
        "there is no feature gate `DRADeviceTaint`",
        "did you mean `DRADeviceTaints`?",
    ),
    "a gate without value": (["test", "--feature-gates", "DRADeviceTaints"], "is no gate with a value", "NAME=true"),
    "a missing file": (["test", "b.dra"], "there is no file or folder `b.dra`", "did you mean `a.dra`?"),
    "two missing files": (["test", "x", "y"], "no file or folder `x`; 1 more: there is no file or folder `y`", ""),
    "a file that is no spec": (["check", "a.yaml"], "`a.yaml` is no spec", 'use "a.yaml"'),
    "an empty path": (["check", ""], "`` is no path", ""),
    "a path with NUL": (["check", "a\0b"], "`a\\x00b` is no path", ""),
    "escape codes in an argument": (["check", "\x1b[31m"], "`\\x1b[31m`", ""),
    "an empty -k": (["test", "-k", " "], "`-k  `: it is empty", "write it like"),
    "standard input for test": (["test", "-"], "does not read standard input", "`dralang run -` does"),
    "no file for run": (["run"], "`dralang run` takes one file", "`dralang test` takes several"),
    "a folder for run": (["run", "."], "`.` is a folder", "`dralang test` takes folders"),
    "no shell": (["completion"], "takes the name of a shell", "`bash`, `zsh`, `fish`"),
    "an unknown shell": (["completion", "fihs"], "the shell cannot be `fihs`", "did you mean `fish`?"),
    "a missing configuration": (["test", "-c", "no.toml"], "cannot read `no.toml`: no such file or directory", ""),
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_ends_with_4_and_says_what_to_do(project: Project, case: str):
    argv, want_message, want_help = USAGE[case]
    project.write("a.dra", PASSING)
    project.write("a.yaml", "a: 1")
    ran = project.run(*argv)
    assert (ran.code, ran.out) == (4, "")
    message, _, way_out = ran.err.partition("\nhelp: ")
    assert message.startswith("error: ")
    assert want_message in message
    assert want_help in way_out
    assert len(ran.err) < 3_000


def test_switches_may_be_joined_and_a_value_may_follow_its_letter(project: Project):
    project.write("a.dra", PASSING)
    assert project.run("test", "-xvkone").code == 0
    assert project.run("test", "-xk=nothing").code == 5


def test_two_dashes_end_the_options(project: Project):
    project.write("-v.dra", PASSING)
    assert project.run("test", "--", "-v.dra").code == 0


def test_a_fault_of_dralang_is_told_without_a_traceback(project: Project, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: object) -> int:
        raise ZeroDivisionError("division by \x1b zero")

    monkeypatch.setattr(explain, "run", broken)
    ran = project.run("explain")
    assert ran.code == 3
    assert ran.err.startswith(
        "error: dralang has a fault: ZeroDivisionError: division by \\x1b zero\nhelp: please report"
    )
    assert "Traceback" not in ran.err
    assert "Traceback" in project.run("explain", env={"DRALANG_DEBUG": "1"}).err


def test_an_interruption_ends_with_2(project: Project, monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(explain, "run", interrupted)
    assert project.run("explain") == (2, "", "interrupted\n")


# ---- as a process ---------------------------------------------------------------------------------------------------


def process(*argv: str, cwd: Path, **options) -> "subprocess.CompletedProcess[bytes]":
    command = [sys.executable, "-m", "dralang", *argv]
    return subprocess.run(command, cwd=cwd, capture_output=True, timeout=60, **{"env": ENVIRONMENT, **options})


def test_the_process_ends_with_the_code_of_the_command(tmp_path: Path):
    assert process("--version", cwd=tmp_path).stdout == f"dralang {__version__}\n".encode()
    assert process("nothing", cwd=tmp_path).returncode == 4


def test_a_reader_that_goes_away_is_no_fault(tmp_path: Path):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "dralang", "explain"]
    ran = subprocess.run(command, cwd=tmp_path, stdout=write, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60)
    os.close(write)
    assert (ran.returncode, ran.stderr) == (2, b"")


def test_a_full_disk_is_told(tmp_path: Path):
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "dralang", "--help"]
        ran = subprocess.run(command, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, env=ENVIRONMENT, timeout=60)
    assert (ran.returncode, ran.stderr) == (3, b"error: cannot write the output: no space left on device\n")


def test_a_terminal_that_is_not_utf8_gets_escapes(tmp_path: Path):
    text = PASSING.replace("one fits", "größer → 漢字")
    (tmp_path / "a.dra").write_text(text, encoding="utf-8")
    ran = process("test", "-v", cwd=tmp_path, env={**ENVIRONMENT, "PYTHONIOENCODING": "ascii"})
    assert ran.returncode == 0, ran.stderr
    assert b"a.dra::gr\\xf6\\xdfer \\u2192 \\u6f22\\u5b57 PASSED" in ran.stdout


def test_a_file_name_that_is_not_utf8_is_shown_and_run(tmp_path: Path):
    (tmp_path / os.fsdecode(b"a\xff.dra")).write_text(PASSING, encoding="utf-8")
    for argv, code in ((["test"], 0), (["test", "--format=json"], 0), (["check"], 0), (["fmt", "--check"], 0)):
        ran = process(*argv, cwd=tmp_path)
        assert ran.returncode == code, ran.stderr
        assert b"Traceback" not in ran.stderr


def test_closed_streams_are_no_fault(tmp_path: Path):
    shell = f"exec {sys.executable} -m dralang --help <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", shell], cwd=tmp_path, env=ENVIRONMENT, timeout=60).returncode == 0


def test_ctrl_c_while_waiting_ends_with_2(tmp_path: Path):
    command = [sys.executable, "-m", "dralang", "check", "--format=json", "-"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    wait_until_it_reads_standard_input(running.pid)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (2, b"", b"interrupted\n")


def wait_until_it_reads_standard_input(pid: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        waits_in = Path(f"/proc/{pid}/wchan").read_text(encoding="ascii")
        if "pipe" in waits_in:
            return
        time.sleep(0.02)
    raise AssertionError("it never reads")


def test_the_same_bytes_whatever_order_python_gives_its_sets(tmp_path: Path):
    (tmp_path / "a.dra").write_text(MIXED, encoding="utf-8")
    (tmp_path / "b.dra").write_text(BROKEN, encoding="utf-8")
    for argv in (["run", "a.dra"], ["check"], ["run", "--format=json", "a.dra"], ["test", "--collect-only"]):
        first, second = (
            process(*argv, cwd=tmp_path, env={**ENVIRONMENT, "PYTHONHASHSEED": seed}) for seed in ("1", "2")
        )
        assert (first.returncode, first.stdout, first.stderr) == (second.returncode, second.stdout, second.stderr)
