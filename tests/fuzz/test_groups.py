"""Drawn stories with a pod group: they have the gates that it needs, and a finding among them can be written down."""

from pathlib import Path

import pytest
from faults import FAULTS, Dice

from dralang.check.analysis import Analyzer
from dralang.fuzz.example import play_example
from dralang.fuzz.regression import is_formatted, write_down
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.holes import RecordedChooser

GATES = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}


def fuzz(head="kubernetes 1.37", body=""):
    text = f'{head}\nfuzz "f" from std.random() {{ {body} }}\n'
    analysis = Analyzer().text(Path("f.dra"), "f.dra", text.encode())
    assert not analysis.has_errors, analysis.diagnostics
    return analysis


def drawn_gates(scenario, count=40):
    stories = [scenario.template.draw(Dice(number)).scenario for number in range(count)]
    return [dict(story.settings.gates) for story in stories]


def test_some_stories_have_a_group_and_its_gates():
    found = drawn_gates(fuzz().scenarios[0])
    assert found.count(GATES) > 2
    assert found.count({}) > 20


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("kubernetes 1.37\ngates { GenericWorkload: false }", ""),
        ("kubernetes 1.37", "gates { DRAListTypeAttributes: true }"),
        ("kubernetes 1.36", ""),
    ],
)
def test_none_has_where_somebody_said_otherwise_or_the_version_has_no_groups(head, body):
    scenario = fuzz(head, body).scenarios[0]
    stories = [scenario.template.draw(Dice(number)).scenario for number in range(30)]
    assert not any(GATES.items() <= dict(story.settings.gates).items() for story in stories if story is not None)


def test_a_finding_in_a_group_is_written_with_its_gates(tmp_path, monkeypatch):
    analysis = fuzz()
    scenario, workshop = analysis.scenarios[0], Workshop()
    FAULTS["sharers-not-counted"].apply(monkeypatch)
    found = (play_example(scenario, Dice(number), workshop) for number in range(100))
    choices = next(each.choices for each in found if each.failure is not None)
    example = play_example(scenario, RecordedChooser(choices), workshop)
    written = write_down(
        scenario, analysis.tree, Path("f.dra"), tmp_path, example, remark="by hand", analyzer=Analyzer()
    )
    assert "gates { GenericWorkload: true, DRAWorkloadResourceClaims: true }" in written.text
    assert is_formatted(written.text)
    again = Analyzer().text(Path("g.dra"), "g.dra", written.text.encode()).scenarios[0]
    assert play(again, Workshop()).failures
