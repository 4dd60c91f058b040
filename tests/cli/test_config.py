"""Configuration: options over variables over the nearest file."""

import json

import pytest
from cli_project import Project
from cli_specs import DECLARATIONS, PASSING, scenario

from dralang.cli.console import Console

UNVERSIONED = PASSING.replace("kubernetes 1.37\n", "")


def model(project: Project, *argv: str, env: dict[str, str] | None = None) -> tuple[str, dict[str, bool]]:
    """Version and gates of the only scenario."""
    ran = project.run("test", "--collect-only", "--format=json", *argv, env=env)
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)["files"][0]["scenarios"][0]
    return found["kubernetes"], found["gates"]


def test_what_a_file_says_holds_for_specs_that_do_not_say_it(project: Project):
    project.write("dralang.toml", '[dralang]\nk8s = "1.36"\nfeature-gates = { DRADeviceTaints = false }\n')
    project.write("a.dra", UNVERSIONED)
    assert model(project) == ("1.36", {"DRADeviceTaints": False})
    project.write("a.dra", "gates { DRADeviceTaints: true }\n" + PASSING)
    assert model(project) == ("1.37", {"DRADeviceTaints": True})


def test_a_variable_is_over_specs_and_an_option_over_the_variable(project: Project):
    project.write("dralang.toml", '[dralang]\nk8s = "1.36"\nfeature-gates = "DRADeviceTaints=false"\n')
    project.write("a.dra", PASSING)
    env = {"DRALANG_K8S": "1.35", "DRALANG_FEATURE_GATES": "DRAAdminAccess=true"}
    assert model(project, env=env) == ("1.35", {"DRADeviceTaints": False, "DRAAdminAccess": True})
    argv = ["--k8s=1.34", "--feature-gates", "DRAAdminAccess=false", "--feature-gates", "DRADeviceTaints=true"]
    assert model(project, *argv, env=env) == ("1.34", {"DRADeviceTaints": True, "DRAAdminAccess": False})


def test_color_seed_and_fail_level_come_from_everywhere(project: Project):
    project.write("dralang.toml", '[dralang]\ncolor = "always"\nseed = 1\nfail-level = "warning"\n')
    project.write("a.dra", "template spare { request gpu: 1 of gpu.example.com }\n" + PASSING)
    ran = project.run("test")
    assert ran.code == 6
    assert "\033[" in ran.out
    assert "seed 1" in ran.out
    env = {"DRALANG_COLOR": "never", "DRALANG_SEED": "2", "DRALANG_FAIL_LEVEL": "error"}
    ran = project.run("test", env=env)
    assert ran.code == 0
    assert "\033[" not in ran.out
    assert "seed 2" in ran.out
    assert "seed 3" in project.run("test", "--seed=3", env=env).out


def test_paths_are_relative_to_the_file_that_says_them(project: Project, monkeypatch: pytest.MonkeyPatch):
    project.write("dralang.toml", '[dralang]\npaths = ["specs"]\n')
    project.write("specs/a.dra", PASSING)
    project.write("other/b.dra", PASSING)
    assert "specs/a.dra ." in project.run("test").out
    assert project.run("check").out.startswith("1 file checked")
    monkeypatch.chdir(project.root / "other")
    assert "specs/a.dra ." in project.run("test").out
    assert "\nb.dra ." in project.run("test", env={"DRALANG_PATHS": "b.dra"}).out
    assert "\nb.dra ." in project.run("test", "b.dra").out


def test_the_nearest_file_counts_and_pyproject_only_with_our_table(project: Project, monkeypatch: pytest.MonkeyPatch):
    project.write("dralang.toml", "[dralang]\nseed = 1\n")
    project.write("sub/pyproject.toml", "[project]\nname = 'x'\n")
    project.write("sub/a.dra", PASSING)
    monkeypatch.chdir(project.root / "sub")
    assert "seed 1" in project.run("test").out
    project.write("sub/pyproject.toml", "[tool.dralang]\nseed = 2\n")
    assert "seed 2" in project.run("test").out
    assert "seed 1" in project.run("test", "-c", "../dralang.toml").out


def test_the_search_ends_at_the_repository(project: Project, monkeypatch: pytest.MonkeyPatch):
    project.write("dralang.toml", "[dralang]\nseed = 1\n")
    project.write("inner/a.dra", PASSING)
    (project.root / "inner" / ".git").mkdir()
    monkeypatch.chdir(project.root / "inner")
    assert "seed 0" in project.run("test").out


WRONG = {
    "an unknown key": ("[dralang]\npath = []\n", "`dralang.toml`: unknown key `path`", "did you mean `paths`?"),
    "a key that is like nothing": ("[dralang]\nxyzzy = 1\n", "unknown key `xyzzy`", "it can be `color`"),
    "a key outside of the table": ('k8s = "1.37"\n', "unknown key `k8s`", "write it under `[dralang]`"),
    "another table": ("[dralnag]\n", "unknown key `dralnag`", "did you mean `dralang`?"),
    "no TOML": ("[dralang\n", "`dralang.toml` is no TOML: expected", ""),
    "a table that is none": ("dralang = 1\n", "`dralang` is no table", ""),
    "a version as a number": ("[dralang]\nk8s = 1.37\n", "`k8s` is a text, in quotes", ""),
    "an unmodelled version": ('[dralang]\nk8s = "1.12"\n', "`k8s` cannot be `1.12`", "it can be `1.34`"),
    "an unknown gate": ("[dralang]\nfeature-gates = { DRATaints = true }\n", "no feature gate `DRATaints`", ""),
    "a gate that is no switch": ("[dralang]\nfeature-gates = { DRADeviceTaints = 1 }\n", "a table of switches", ""),
    "a negative seed": ("[dralang]\nseed = -1\n", "`seed` is a whole number from 0 on", ""),
    "a huge seed": (
        f"[dralang]\nseed = 1{'0' * 18}\n",
        "`seed` is a whole number from 0 on with at most 18 digits",
        "",
    ),
    "a seed that is a truth": ("[dralang]\nseed = true\n", "`seed` is a whole number from 0 on", ""),
    "paths that are no list": ('[dralang]\npaths = "specs"\n', "`paths` is a list of texts", 'paths = ["specs"]'),
    "an unknown colour": ('[dralang]\ncolor = "alway"\n', "`color` cannot be `alway`", "did you mean `always`?"),
    "bytes": (b"\xff\xfe", "`dralang.toml` is not UTF-8", ""),
    "too large": (b"#" * (1024 * 1024 + 1), "`dralang.toml` is larger than", ""),
    "too deep": (b"a = " + b"[" * 100_000, "`dralang.toml` ", ""),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_file_ends_with_4_and_says_what_to_do(project: Project, case: str):
    text, want_message, want_help = WRONG[case]
    project.write("dralang.toml", text)
    project.write("a.dra", PASSING)
    ran = project.run("test")
    assert (ran.code, ran.out) == (4, "")
    message, _, way_out = ran.err.replace(str(project.root) + "/", "").partition("\nhelp: ")
    assert want_message in message
    assert want_help in way_out


VARIABLES = {
    "a wrong version": ({"DRALANG_K8S": "2"}, "the variable DRALANG_K8S cannot be `2`"),
    "a wrong seed": ({"DRALANG_SEED": "x"}, "the variable DRALANG_SEED takes a whole number from 0 on, not `x`"),
    "a wrong colour": ({"DRALANG_COLOR": "red"}, "the variable DRALANG_COLOR cannot be `red`"),
    "wrong options": ({"DRALANG_ADDOPTS": "--maxfial=1"}, "`dralang test` has no option `--maxfial`"),
    "options with an open quote": (
        {"DRALANG_ADDOPTS": "-k 'x"},
        "DRALANG_ADDOPTS cannot be read: no closing quotation",
    ),
}


@pytest.mark.parametrize("case", VARIABLES)
def test_a_wrong_variable_ends_with_4(project: Project, case: str):
    env, want = VARIABLES[case]
    ran = project.run("test", env=env)
    assert (ran.code, ran.out) == (4, "")
    assert want in ran.err


def test_options_from_the_environment_come_before_those_of_the_command_line(project: Project):
    project.write("a.dra", DECLARATIONS + scenario("one"))
    env = {"DRALANG_ADDOPTS": "-q --format 'json'"}
    assert project.run("test", env=env).out.startswith("{")
    assert project.run("test", "--format=pretty", env=env).out.startswith("=")
    assert project.run("check", env=env).out.startswith("1 file")


def test_a_misspelt_variable_is_said_and_somebody_elses_is_not(project: Project):
    project.write("a.dra", PASSING)
    ran = project.run("test", env={"DRALANG_COLOUR": "never", "DRALANG_OPERATOR_IMAGE": "x", "DRALANG_K8S": ""})
    assert ran.code == 0
    assert ran.err == "warning: the variable `DRALANG_COLOUR` means nothing to dralang; did you mean `DRALANG_COLOR`?\n"


def test_no_color_and_dumb_terminals(project: Project):
    class Terminal:
        def isatty(self) -> bool:
            return True

    def has_color(mode: str, **env: str) -> bool:
        return Console(None, Terminal(), None, env).has_color(mode)

    assert has_color("auto")
    assert not has_color("auto", NO_COLOR="1")
    assert not has_color("auto", TERM="dumb")
    assert has_color("auto", NO_COLOR="")
    assert has_color("always", NO_COLOR="1")
    assert not has_color("never")
