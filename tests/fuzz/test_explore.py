"""Drawing: the same seed draws the same stories, whatever else is loaded."""

import importlib.util
import sys
from pathlib import Path

from hypothesis.internal.constants_ast import constants_from_module

from dralang.check.analysis import Analyzer
from dralang.fuzz import explore
from dralang.fuzz.explore import Explorer, seed_of
from dralang.run.workshop import Workshop

SPEC = b"""
node n
pod small
fuzz "f" {
  repeat any 1..5 as i { at any 0ms..60s create pod h-${i} like small { priority: any 0..100000 } }
}
"""


def drawn(monkeypatch, chunks=4, examples=50):
    """The choices of every example."""
    [scenario] = Analyzer().text(Path("a.dra"), "a.dra", SPEC).scenarios
    kept: list[tuple[int, ...]] = []

    def keeping(*arguments, **how):
        example = play(*arguments, **how)
        kept.append(example.choices)
        return example

    with monkeypatch.context() as patch:
        play = explore.play_example
        patch.setattr(explore, "play_example", keeping)
        for number in range(chunks):
            Explorer(Workshop()).chunk(scenario, seed_of(0, scenario, number), examples)
    return kept


def test_numbers_in_the_source_of_other_modules_change_no_drawing(tmp_path, monkeypatch):
    """Hypothesis takes such numbers now and then; a worker, which has loaded other modules, would draw others."""
    before = drawn(monkeypatch)
    assert len(before) == 200
    source = tmp_path / "numbers_of_somebody.py"
    source.write_text(f"NUMBERS = {[*range(1_000, 60_000, 77)]}\n")
    spec = importlib.util.spec_from_file_location("numbers_of_somebody", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert len(constants_from_module(module)) > 500, "Hypothesis would take them"
    monkeypatch.setitem(sys.modules, "numbers_of_somebody", module)
    assert drawn(monkeypatch) == before


def test_numbers_are_drawn_over_the_whole_range(monkeypatch):
    numbers = {number for choices in drawn(monkeypatch) for number in choices}
    assert min(numbers) == 0
    assert 50_000 < max(numbers) <= 100_000


def test_fewer_examples_are_the_first_ones(monkeypatch):
    """So `--max-examples` does not decide what is drawn."""
    whole = drawn(monkeypatch, chunks=1)
    assert drawn(monkeypatch, chunks=1, examples=20) == whole[:20]
    assert drawn(monkeypatch, chunks=1, examples=1) == whole[:1]
