"""The README tells the truth: its commands, its spec, its table of what works."""

import re
import subprocess
from pathlib import Path

import pytest

from dralang.check import support
from dralang.check.analysis import Analysis, Analyzer
from dralang.run.player import play
from dralang.run.workshop import Workshop

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
WORKS = re.search(r"<!-- works -->\n(.*?)\n\n", README, re.S)
assert WORKS is not None
SPECS = sorted(set(re.findall(r"\]\((specs/[^)]+\.dra)\)", WORKS[1])))


@pytest.mark.parametrize("spec", SPECS)
def test_what_works_is_shown_by_a_spec_that_passes(spec):
    analysis = Analyzer().path(ROOT / spec)
    assert isinstance(analysis, Analysis)
    assert not analysis.has_errors
    assert analysis.scenarios
    workshop = Workshop()
    verdicts = {scenario.title: play(scenario, workshop).verdict for scenario in analysis.scenarios}
    assert set(verdicts.values()) <= {"passed", "xfailed"}, verdicts


def test_everything_that_the_language_knows_runs():
    assert "Everything that the language knows runs." in README
    assert [*support.UNSUPPORTED_GATES, *support.UNSUPPORTED_STATES] == []
    assert list(support.UNSUPPORTED_STATEMENTS) == []


@pytest.mark.parametrize("number", [1, 2])
def test_ci_runs_the_very_commands_of_the_readme(number):
    printed = subprocess.run(
        [ROOT / ".ci" / "readme-command", str(number)], capture_output=True, text=True, check=True
    ).stdout.strip()
    assert printed
    assert f"```sh\n{printed}\n```" in README
    assert f'eval "$(.ci/readme-command {number})"' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_spec_of_the_readme_is_the_first_spec():
    assert (ROOT / "specs" / "first.dra").read_text(encoding="utf-8") in README


def test_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
