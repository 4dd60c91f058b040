"""Every example of docs/time.md, below the cluster of the page."""

import re
from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario

PAGE = Path(__file__).resolve().parents[2] / "docs" / "time.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"<!-- (\w+) -->\n```dra\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)
CLUSTER = next(body for order, body in BLOCKS if order == "cluster")


def scenarios() -> dict[str, Scenario]:
    result = {}
    for order, body in BLOCKS:
        if order != "run":
            continue
        analysis = Analyzer().text(PAGE, "docs/time.md", (CLUSTER + body).encode())
        assert not analysis.has_errors, [item.message for item in analysis.diagnostics]
        result.update({scenario.title: scenario for scenario in analysis.scenarios})
    return result


SCENARIOS = scenarios()


def test_every_example_is_run():
    assert TEXT.count("```dra\n") == len(BLOCKS)
    assert len(SCENARIOS) == TEXT.count('scenario "')


@pytest.mark.parametrize("title", SCENARIOS)
def test_example(title):
    played = play(SCENARIOS[title], Workshop())
    assert played.verdict == ("passed" if SCENARIOS[title].xfail is None else "xfailed"), played.failures
