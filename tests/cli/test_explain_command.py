"""`dralang explain`."""

import pytest
from cli_project import Project

from dralang.allocator.quirks import QUIRKS
from dralang.diagnostics.codes import CODES
from dralang.readings import READINGS


def test_all_codes_are_listed(project: Project):
    ran = project.run("explain")
    assert (ran.code, ran.err) == (0, "")
    assert [line.split()[0] for line in ran.out.splitlines()] == list(CODES)


@pytest.mark.parametrize("code", CODES)
def test_every_code_has_its_story(project: Project, code: str):
    ran = project.run("explain", code)
    entry = CODES[code]
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{code}: {entry.title}\n\n")
    assert all(word in ran.out for word in entry.explanation.split())
    assert all(line.strip() in ran.out for line in entry.example.splitlines())


@pytest.mark.parametrize("word", ["dra0101", "101", "0101", "DRA101"])
def test_a_code_may_be_written_shorter(project: Project, word: str):
    assert project.run("explain", word) == project.run("explain", "DRA0101")


def test_several_codes(project: Project):
    out = project.run("explain", "DRA0101", "DRA0102").out
    assert out == project.run("explain", "DRA0101").out + "\n" + project.run("explain", "DRA0102").out


@pytest.mark.parametrize("word", ["DRA0l01", "DRA9999", "", "99999999999", "nothing at all", "１０１"])
def test_an_unknown_code_is_an_error_with_a_way_out(project: Project, word: str):
    ran = project.run("explain", word)
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith(f"error: there is no code or quirk `{word}`\nhelp: ")
    assert ("did you mean `DRA" in ran.err) == (word == "DRA0l01")


def test_all_quirks_are_listed(project: Project):
    listed = [line.split("  ")[0] for line in project.run("explain", "quirks").out.splitlines()]
    assert listed == [*QUIRKS, *READINGS]


@pytest.mark.parametrize("name", [*QUIRKS, *READINGS])
def test_a_quirk_is_told(project: Project, name: str):
    known = QUIRKS.get(name) or READINGS[name]
    ran = project.run("explain", name)
    assert (ran.code, ran.err) == (0, "")
    assert known.effect in ran.out
    assert known.off in ran.out
    assert ("off by default, for Kubernetes 1.38" in ran.out) == (name in READINGS)


def test_a_misspelt_quirk(project: Project):
    assert "did you mean `unusable-node-defers`?" in project.run("explain", "unusable-node-defer").err
