"""Scenarios and fuzzes as test items of pytest, each time in a process of its own as users start it."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = """
node n
pod a
scenario "tagged one" tagged quick, gpu-like { create a; expect a runs }
scenario "row" for x in 1..2 { create a; expect exactly ${x / x} of a run }
scenario "wrong" { create a; expect a is pending; expect a is gone }
scenario "known" xfail "later" { create a; expect a is pending }
scenario "unknown" xfail "later" { create a; expect a runs }
fuzz "some" tagged slow { maybe create a; expect all pods are settled }
"""
RARE = """
node n
pod a
fuzz "rare" { create pod p like a { priority: any 0..9999 }; expect `pods["p"].spec.priority % 149 != 13` }
"""
PROFILES = """
from hypothesis import settings
settings.register_profile("many", max_examples=120)
settings.register_profile("few", max_examples=3)
settings.load_profile("few")
"""


@pytest.fixture
def run(project):
    def run(*options):
        command = [sys.executable, "-m", "pytest", "-p", "dralang.pytest_plugin", "-p", "no:cacheprovider", *options]
        # The plugin is loaded by its name alone: an installed dralang registers it too, and twice is once too often.
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return subprocess.run(command, capture_output=True, text=True, cwd=project.root, env=environment, check=False)

    return run


def last_line(ran):
    return ran.stdout.strip().splitlines()[-1].strip("=").partition(" in ")[0].strip()


def test_scenarios_and_fuzzes_are_items_and_stand_in_junit(project, run):
    project.write("a.dra", SPEC)
    ran = run("a.dra", "-rA", "--junitxml=junit.xml", "--strict-markers")
    assert ran.returncode == 1
    lines = {line.split(" - ")[0] for line in ran.stdout.splitlines()}
    assert {"PASSED a.dra::tagged one", "PASSED a.dra::row [1]", "PASSED a.dra::some", "XFAIL a.dra::known"} <= lines
    assert "FAILED a.dra::wrong - a is pending: a runs on n (and 1 more)" in ran.stdout
    assert "FAILED a.dra::unknown" in lines
    assert "a is pending | a runs on n" in ran.stdout, "the failure is told as `dralang test` tells it"
    cases = {case.get("name"): case for case in ET.parse(project.root / "junit.xml").iter("testcase")}
    assert list(cases) == ["tagged one", "row [1]", "row [2]", "wrong", "known", "unknown", "some"]
    assert {case.get("classname") for case in cases.values()} == {"a.dra"}
    ends = {name: [each.tag for each in case] for name, case in cases.items()}
    assert ends == {**{name: [] for name in cases}, "wrong": ["failure"], "unknown": ["failure"], "known": ["skipped"]}
    assert "a is pending | a runs on n" in "".join(cases["wrong"].itertext())


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-m", "quick or slow"], "2 passed, 5 deselected"),
        (["-m", "not slow", "-k", "tagged or row"], "3 passed, 4 deselected"),
        (["-k", "some"], "1 passed, 6 deselected"),
        (["-k", "gpu-like"], "1 passed, 6 deselected"),
        (["-x"], "1 failed, 3 passed"),
        (["a.dra::row [2]"], "1 passed"),
    ],
)
def test_items_are_chosen(project, run, options, expected):
    project.write("a.dra", SPEC)
    assert last_line(run(*options, "--strict-markers")) == expected


def test_in_processes_with_xdist(project, run):
    project.write("a.dra", SPEC)
    project.write("more/b.dra", RARE)
    ran = run("-p", "xdist.plugin", "-n", "2", "--junitxml=junit.xml", "--strict-markers")
    assert last_line(ran) == "2 failed, 5 passed, 1 xfailed"
    cases = [case.get("name") for case in ET.parse(project.root / "junit.xml").iter("testcase")]
    assert len(cases) == 8


def test_a_file_with_errors_is_an_error_of_collection(project, run):
    project.write("broken.dra", "pod {")
    ran = run("broken.dra")
    assert ran.returncode == 2
    assert "DRA0110" in ran.stdout


def test_profiles_and_seeds_of_hypothesis(project, run):
    """What is rare is found by the profile with many examples, and `dralang fuzz` finds the same."""
    project.write("b.dra", RARE)
    project.write("conftest.py", PROFILES)
    hypothesis = ("-p", "_hypothesis_pytestplugin", "--hypothesis-seed=3")
    assert last_line(run(*hypothesis)) == "1 passed"
    ran = run(*hypothesis, "--hypothesis-profile=many")
    assert last_line(ran) == "1 failed"
    assert "dralang fuzz b.dra::rare --seed 3 --max-examples 120" in " ".join(ran.stdout.split())
    [number] = re.findall(r"create pod p like a { priority: (\d+) }", ran.stdout)
    found = project.run("fuzz", "b.dra::rare", "--seed", "3", "--max-examples", "120")
    assert f"priority: {number}" in found.out, found.out


@pytest.mark.parametrize("ci", ["", "true"])
def test_the_summary_has_one_line_for_each_failure(project, run, monkeypatch, ci):
    """In continuous integration pytest cuts no message short, so ours must be one line."""
    monkeypatch.setenv("CI", ci)
    project.write("a.dra", SPEC)
    project.write("b.dra", RARE.replace("% 149 != 13", "> 9999"))
    for options in ((), ("-p", "xdist.plugin", "-n", "2")):
        ran = run(*options)
        summary = ran.stdout.partition("short test summary info")[2].splitlines()[1:-1]
        assert len(summary) == 3
        assert all(line.startswith("FAILED ") for line in summary)
        assert ran.stdout.count("what led there:") == 2  # the third passed where it should not


def test_the_configuration_holds_as_for_the_command(project, run):
    project.write("a.dra", 'gates { DRAPreemption: true }\nscenario "new" { expect all pods are settled }\n')
    assert last_line(run()) == "1 error"
    project.write("dralang.toml", '[dralang]\nk8s = "1.38"\n')
    assert last_line(run()) == "1 passed"
    project.write("dralang.toml", '[dralang]\nk8s = "1.99"\n')
    ran = run()
    assert ran.returncode == 2
    assert "`dralang.toml`: `k8s` cannot be `1.99`" in ran.stdout
    assert "Traceback" not in ran.stdout


def test_any_text_is_a_seed(project, run):
    project.write("b.dra", RARE)
    ran = run("-p", "_hypothesis_pytestplugin", "--hypothesis-seed=tuesday")
    assert last_line(ran) in ("1 passed", "1 failed")
    assert "INTERNALERROR" not in ran.stdout


@pytest.mark.parametrize("tag", ["xfail", "skip", "skipif", "parametrize", "usefixtures", "filterwarnings"])
def test_tags_named_like_marks_of_pytest_change_nothing(project, run, tag):
    tagged = f"tagged {tag}, own"
    fails = f'scenario "fails" {tagged} {{ create a; expect a is pending }}\n'
    project.write("a.dra", f'node n\npod a\n{fails}scenario "holds" {tagged} {{ create a; expect a runs }}\n')
    assert last_line(run("--strict-markers")) == "1 failed, 1 passed"
    assert last_line(run("-k", tag)) == "1 failed, 1 passed"
    assert last_line(run("-m", "own and not slow")) == "1 failed, 1 passed"


def test_tags_that_pytest_cannot_read_are_keywords(project, run):
    project.write("a.dra", 'node n\npod a\nscenario "s" tagged "_q r:(x", "q r" { create a; expect a runs }\n')
    assert last_line(run("--strict-markers", "-k", "r:")) == "1 passed"


WARNED = """
node n
pod a
pod b
scenario "says nothing" { create a }
scenario "of nobody" { create a; expect b does not run }
"""


def test_what_check_warns_of_is_a_warning_of_pytest(project, run):
    project.write("a.dra", WARNED)
    ran = run("-q", "a.dra")
    assert last_line(ran) == "2 passed, 2 warnings"
    assert (
        "a.dra:5: SpecWarning: DRA0217: scenario `says nothing` expects nothing; say what should happen" in ran.stdout
    )
    assert "a.dra:6: SpecWarning: DRA0219: pod `b` does not exist in this scenario" in ran.stdout
    ignoring = run("-q", "-W", "ignore::dralang.pytest_plugin.SpecWarning", "a.dra")
    assert ignoring.returncode == 0
    assert "DRA0217" not in ignoring.stdout
    strict = run("-q", "-W", "error", "a.dra")
    assert strict.returncode == 2
    assert "a.dra:5: DRA0217: scenario `says nothing` expects nothing" in strict.stdout
    assert "Traceback" not in strict.stdout


def test_a_title_cannot_act_on_the_terminal(project, run):
    project.write("a.dra", 'scenario "red \\u001b[31m, ${x}" for x in ["é", "a\\nb"] { expect all pods are gone }\n')
    ran = run("a.dra", "-v", "-rA")
    assert "\x1b" not in ran.stdout
    passed = [line for line in ran.stdout.splitlines() if line.startswith("PASSED")]
    assert passed == ["PASSED a.dra::red <U+001B>[31m, é", "PASSED a.dra::red <U+001B>[31m, a<U+000A>b"]
    assert last_line(run("a.dra::red <U+001B>[31m, a<U+000A>b")) == "1 passed"
