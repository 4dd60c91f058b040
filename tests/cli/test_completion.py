"""`dralang completion`: what the shells offer is what the commands take."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cli_project import Project

from dralang.cli.commands import COMMANDS
from dralang.cli.completion import SHELLS

ASK = """
source {script}
COMP_WORDS=({words})
COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_dralang
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


def offered(project: Project, *words: str) -> set[str]:
    script = project.root / "completion.sh"
    script.write_text(project.run("completion", "bash").out, encoding="utf-8")
    quoted = " ".join(f"'{word}'" for word in ("dralang", *words))
    command = ["bash", "--norc", "-c", ASK.format(script=script, words=quoted)]
    environment = {**os.environ, "PATH": f"{project.root / 'bin'}:{os.environ['PATH']}"}
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=60)
    assert ran.stderr == ""
    return set(ran.stdout.split("\n")) - {""}


def test_bash_offers_commands(project: Project):
    assert offered(project, "") == {*(command.name for command in COMMANDS), "--help", "--version"}
    assert offered(project, "compl") == {"completion"}


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_bash_offers_the_options_of_a_command(project: Project, command):
    assert offered(project, command.name, "-") == {name for option in command.options for name in option.names}


def test_bash_offers_values_files_and_codes(project: Project):
    project.write("a file.dra", "")
    project.write("a.yaml", "")
    project.write("folder/x.dra", "")
    fake = project.write("bin/dralang", "#!/bin/sh\nprintf 'DRA0101  x\\nDRA0202  y\\n'\n")
    fake.chmod(0o755)
    assert offered(project, "test", "--color", "") == {"auto", "always", "never"}
    assert offered(project, "test", "-k", "") == set()
    assert offered(project, "test", "a") == {"a file.dra"}
    assert offered(project, "check", "f") == {"folder"}
    assert offered(project, "init", "f") == {"folder"}
    assert offered(project, "explain", "DRA01") == {"DRA0101"}
    assert offered(project, "completion", "f") == {"fish"}
    assert offered(project, "help", "te") == {"test"}


@pytest.mark.parametrize("shell", SHELLS)
def test_every_option_is_in_every_script(project: Project, shell: str):
    out = project.run("completion", shell).out
    assert out.isascii()
    for command in COMMANDS:
        assert command.name in out
        for option in command.options:
            for name in option.names:
                shown = name
                if shell == "fish":
                    shown = f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                assert shown in out, (command.name, name)


@pytest.mark.parametrize("shell", [shell for shell in SHELLS if shutil.which(shell)])
def test_the_shells_that_are_here_read_their_script(project: Project, tmp_path: Path, shell: str):
    script = tmp_path / "script"
    script.write_text(project.run("completion", shell).out, encoding="utf-8")
    ran = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")
