"""`dralang init`: a project that works at once."""

import os
from pathlib import Path

import pytest
from cli_project import Project

from dralang.cli.init import FIRST_SPEC


def test_a_new_project_passes_and_is_formatted(project: Project):
    assert project.run("init") == (0, "wrote dralang.toml\nwrote specs/first.dra\nnext: dralang test\n", "")
    assert project.run("check", "--fail-level=warning").code == 0
    assert project.run("fmt", "--check").code == 0
    ran = project.run("test")
    assert ran.code == 0
    assert "specs/first.dra ." in ran.out


def test_the_first_spec_is_that_of_the_readme():
    shipped = Path(__file__).resolve().parents[2] / "specs" / "first.dra"
    assert shipped.read_text(encoding="utf-8") == FIRST_SPEC


def test_a_folder_is_made(project: Project):
    ran = project.run("init", "new project/deep")
    assert ran.code == 0
    assert ran.out.endswith("next: cd 'new project/deep' && dralang test\n")
    os.chdir(project.root / "new project" / "deep")
    assert project.run("test").code == 0


@pytest.mark.parametrize("name", ["dralang.toml", "specs/first.dra"])
def test_nothing_is_overwritten(project: Project, name: str):
    path = project.write(name, "mine")
    ran = project.run("init")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err.startswith(f"error: `{name}` is already there\nhelp: nothing was written")
    assert path.read_text() == "mine"
    assert [file.name for file in project.root.rglob("*.*") if file.is_file()] == [path.name]


def test_a_folder_that_cannot_be_made_is_said(project: Project):
    project.write("file", "")
    for name in ("file/sub", "file", "a\0b", ""):
        ran = project.run("init", name)
        assert (ran.code, ran.out) == (4, ""), name
    assert project.run("init", "a", "b").code == 4
