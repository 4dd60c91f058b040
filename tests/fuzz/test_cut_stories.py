"""Every spec, cut off after each of its statements and judged as a fuzz: the invariants hold at any moment."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from dralang.check.analysis import Analysis, Analyzer
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.model import REGRESSION

SPECS = Path(__file__).resolve().parents[2] / "specs"
PATHS = sorted(path for path in SPECS.rglob("*.dra") if "regressions" not in path.parts)


@pytest.fixture(scope="module")
def workshop():
    return Workshop()


@pytest.mark.parametrize("path", PATHS, ids=[str(path.relative_to(SPECS)) for path in PATHS])
def test_the_invariants_hold_wherever_a_story_ends(path, workshop):
    analysis = Analyzer().path(path)
    assert isinstance(analysis, Analysis)
    broken = []
    for scenario in analysis.scenarios:
        if scenario.template is not None or scenario.missing:
            continue
        for end in range(len(scenario.steps) + 1):
            cut = replace(scenario, steps=scenario.steps[:end], properties=(), tags=(*scenario.tags, REGRESSION))
            failures = [each for each in play(cut, workshop).failures if each.kind == "invariant"]
            broken += [(scenario.title, end, each.expected.partition(" (")[0], each.actual) for each in failures]
    assert broken == []
