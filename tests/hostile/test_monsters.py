"""Inputs made to break a reader: each is answered with a code within 20 s and 1 GB, in a process of its own.

The longest takes 9 s, and half as long again on the same machine a minute later.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

MEMORY = 1 << 30
# The limit is on address space, which is more than what is used; so nothing slips through.
RUNNER = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); "
    # Seconds of the processor, so that it does not matter what else runs on the machine.
    "resource.setrlimit(resource.RLIMIT_CPU, (20, 20)); "
    "from dralang.cli.main import main; sys.exit(main(sys.argv[1:]))"
)
USE = 'use "x.yaml"\nscenario "s" { expect all pods are settled }\n'
MEGABYTE = 1 << 20
NODE = "apiVersion: v1\nkind: Node\nmetadata:\n  name: a\n"

DRA = {
    "ten megabytes of pods": "pod a\n" * (10 * MEGABYTE // 6),
    "ten megabytes on one line": "pod " + "a" * (10 * MEGABYTE),
    "ten thousand braces": "pod a " + "{ x " * 10_000 + "}" * 10_000,
    "ten thousand brackets": "pod a { x: " + "[" * 10_000,
    "ten thousand parentheses in CEL": "class a { where `" + "(" * 10_000 + "true" + ")" * 10_000 + "` }\n",
    "ten thousand parentheses in a substitution": "node a-${" + "(" * 10_000 + "1" + ")" * 10_000 + "}\n",
    "a megabyte of substitutions that are not closed": "node " + "${" * (MEGABYTE // 2),
    "a megabyte of brackets that touch": "node " + "a[" * (MEGABYTE // 2),
    "a megabyte of quotes": '"\\' * (MEGABYTE // 2),
    "a megabyte of backticks": "`" * (MEGABYTE - 1),
    "a huge range": "node a-[0..999999999999999999]\n",
    "ranges that multiply": "node " + "a[0..99]" * 20 + "\n",
    "a huge number": "priority a: " + "9" * 100_000 + "\n",
    "an amount of five thousand digits": "node w { capacity { cpu: "
    + "9" * 5_000
    + " } }\nslice s { driver: a.b; nodeName: w; device d { capacity { m: "
    + "9" * 5_000
    + " } } }\n",
    "a percentage of five thousand digits": "pdb b { maxUnavailable: '" + "9" * 5_000 + "%' }\n",
    "many objects": "node a-[0..9999]\nnode b-[0..9999]\nnode c-[0..9999]\n",
    "a fixture that calls itself twice": "fixture f(n) { f(${n}); f(${n}) }\nf(1)\n",
    "repeats in repeats": 'pod a\nscenario "s" {'
    + " repeat 1000 {" * 5
    + " settle "
    + "}" * 5
    + " expect a is gone }\n",
    "a huge table": 'scenario "s" for x in 1..999999999 { expect all pods are settled }\n',
    "time without end": 'pod a\nscenario "s" { at 9999999999h create a; expect a is pending }\n',
    "NUL": "node a\0b\n",
    "only a byte order mark": "\ufeff",
    "nothing": "",
    "carriage returns only": "node a\rnode b\r",
    "a million comments": "#\n" * 999_999,
    "nested at": 'pod a\nscenario "s" { ' + "at 1s { " * 60 + "create a" + " }" * 60 + " }\n",
    "maybe maybe maybe": 'pod a\nfuzz "s" { ' + "maybe " * 20_000 + "create a }\n",
}
YAML = {
    "aliases that multiply": "a: &a [x,x,x,x,x,x,x,x,x]\n"
    + "".join(f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(12)),
    "an alias inside its own anchor": "a: &a\n  b: *a\n",
    "ten thousand levels of flow": "[" * 10_000,
    "ten thousand levels of block": "".join("- " for _ in range(10_000)) + "x\n",
    "ten thousand levels of keys": "".join(" " * i + "a:\n" for i in range(3_000)),
    "seventeen megabytes": "# comment\n" * (17 * MEGABYTE // 10),
    "ten megabytes of documents": ("---\n" + NODE) * (10 * MEGABYTE // 55),
    "ten megabytes in one text": NODE + "  annotations: { a: '" + "x" * (10 * MEGABYTE) + "' }\n",
    "a huge number": NODE + "spec: { unschedulable: " + "9" * 100_000 + " }\n",
    "merge keys that multiply": "a: &a {x: 1}\n"
    + "".join(f"k{i}: &k{i} {{<<: [{','.join(['*a'] * 200)}]}}\n" for i in range(200)),
    "tags of Python": "!!python/object/apply:os.system ['true']\n",
    "a key that is a list": "? [a]\n: b\n",
    "NUL": "a: \0\n",
    "a template": "a: {{ .Values.x }}\n",
    "nothing": "",
    "a list that holds itself": "apiVersion: v1\nkind: List\nitems: &i\n- *i\n",
}


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUNNER, *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def assert_answered(done: subprocess.CompletedProcess[str]) -> None:
    assert "Traceback" not in done.stderr + done.stdout
    assert "MemoryError" not in done.stderr + done.stdout
    assert done.returncode in (0, 1, 4, 5), done.stdout[-500:] + done.stderr[-500:]
    if done.returncode == 4:
        assert "DRA0" in done.stdout + done.stderr


@pytest.mark.parametrize("name", DRA)
def test_monstrous_spec_is_answered(name, tmp_path):
    (tmp_path / "dralang.toml").touch()
    (tmp_path / "s.dra").write_text(DRA[name], encoding="utf-8", newline="")
    assert_answered(run(tmp_path, "test", "s.dra"))


@pytest.mark.parametrize("name", YAML)
def test_monstrous_manifest_is_answered(name, tmp_path):
    (tmp_path / "dralang.toml").touch()
    (tmp_path / "x.yaml").write_text(YAML[name], encoding="utf-8", newline="")
    (tmp_path / "s.dra").write_text(USE, encoding="utf-8")
    assert_answered(run(tmp_path, "test", "s.dra"))


def test_files_that_use_each_other_in_a_circle(tmp_path):
    (tmp_path / "dralang.toml").touch()
    (tmp_path / "a.dra").write_text('use "b.dra"\n')
    (tmp_path / "b.dra").write_text('use "a.dra"\n')
    done = run(tmp_path, "check", "a.dra", "--format", "json")
    assert done.returncode == 4
    assert "DRA0210" in json.dumps(json.loads(done.stdout))


def test_a_path_outside_of_the_project_is_refused(tmp_path):
    project = tmp_path / "project"
    project.mkdir()
    (project / "dralang.toml").touch()
    (tmp_path / "secret.yaml").write_text(NODE)
    (project / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (project / "s.dra").write_text('use "../secret.yaml"\nuse "link.yaml"\nuse "/etc/hostname.yaml"\n')
    done = run(project, "check", "s.dra")
    assert done.returncode == 4
    assert (done.stdout + done.stderr).count("lies outside of the project") == 3


def test_odd_things_in_place_of_files(tmp_path):
    (tmp_path / "dralang.toml").touch()
    (tmp_path / "folder.dra").mkdir()
    (tmp_path / "s.dra").write_text('use "folder.dra"\nuse "\\u0000.dra"\nuse ""\nuse "a/../../b.dra"\n')
    done = run(tmp_path, "check", "s.dra")
    assert done.returncode == 4
    assert "Traceback" not in done.stdout + done.stderr
