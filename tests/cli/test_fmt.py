"""`dralang fmt`: in place, to standard output, or only asking."""

import io
import os
import stat

import pytest
from cli_project import Project
from cli_specs import BROKEN

from dralang.cli.main import main

UGLY = "node   worker-1{ }\n\n\n\nnode worker-2\n"
PRETTY = "node worker-1 { }\n\nnode worker-2\n"


@pytest.fixture
def pretty(project: Project) -> str:
    """What the formatter makes of the ugly text; its own tests say that it is right."""
    ran = project.run("fmt", "-", stdin=UGLY)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out != UGLY
    return ran.out


def test_files_are_rewritten_once(project: Project, pretty: str):
    path = project.write("a.dra", UGLY)
    project.write("b.dra", pretty)
    ran = project.run("fmt")
    assert ran == (0, "formatted a.dra\n", "1 file formatted, 1 file unchanged\n")
    assert path.read_text() == pretty
    assert project.run("fmt") == (0, "", "2 files unchanged\n")


def test_check_and_diff_change_nothing_and_end_with_1(project: Project, pretty: str):
    path = project.write("a.dra", UGLY)
    assert project.run("fmt", "--check") == (1, "would format a.dra\n", "1 file would be formatted\n")
    ran = project.run("fmt", "--diff")
    assert ran.code == 1
    assert ran.out.startswith("--- a.dra (as it is)\n+++ a.dra (formatted)\n@@ ")
    assert "-node   worker-1{ }\n" in ran.out
    assert path.read_text() == UGLY
    project.write("a.dra", pretty)
    assert project.run("fmt", "--check").code == project.run("fmt", "--diff").code == 0


def test_standard_input(project: Project, pretty: str):
    assert project.run("fmt", "-", stdin=pretty) == (0, pretty, "")
    assert project.run("fmt", "--check", "-", stdin=UGLY) == (1, "", "")
    assert project.run("fmt", "--diff", "-", stdin=UGLY).out.startswith("--- <stdin> (as it is)\n")
    ran = project.run("fmt", "-", stdin=BROKEN)
    assert (ran.code, ran.out) == (4, "")
    assert "<stdin>:2:1" in ran.err
    assert project.run("fmt", "-", "a.dra").code == 4


def test_a_file_with_errors_is_reported_and_left_alone_and_the_others_are_formatted(project: Project, pretty: str):
    broken = project.write("a.dra", "node   worker-1\n" + BROKEN)
    other = project.write("b.dra", UGLY)
    ran = project.run("fmt")
    assert ran.code == 4
    assert " --> a.dra:3:1" in ran.err
    assert ran.err.endswith("1 file formatted, 1 file left alone\n")
    assert broken.read_text() == "node   worker-1\n" + BROKEN
    assert other.read_text() == pretty


def test_byte_order_mark_and_carriage_returns_go(project: Project, pretty: str):
    path = project.write("a.dra", b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode())
    assert project.run("fmt", "--check").code == 1
    assert project.run("fmt", "--diff").code == 1
    assert project.run("fmt").code == 0
    assert path.read_bytes() == pretty.encode()


def test_permissions_and_links_are_kept_and_nothing_is_left_behind(project: Project, pretty: str):
    path = project.write("real/a.dra", UGLY)
    path.chmod(0o640)
    link = project.root / "link.dra"
    link.symlink_to("real/a.dra")
    assert project.run("fmt", "link.dra").code == 0
    assert link.is_symlink()
    assert path.read_text() == pretty
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == ["a.dra"]


def test_a_write_that_fails_leaves_the_file_as_it_was(project: Project, monkeypatch: pytest.MonkeyPatch):
    path = project.write("a.dra", UGLY)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    ran = project.run("fmt")
    assert (ran.code, ran.out) == (4, "")
    assert ran.err == "error: cannot write `a.dra`: no space left on device\n1 file left alone\n"
    assert path.read_text() == UGLY
    assert os.listdir(project.root) == [".git", "a.dra"] or sorted(os.listdir(project.root)) == [".git", "a.dra"]


def test_nothing_to_format_is_said(project: Project):
    assert project.run("fmt") == (5, "", "note: there are no .dra files here\n")


ODD = "node   a\n# ff \f nel \x85 ls \u2028 esc \x1b[31m end\nnode b\n"


def test_a_diff_has_the_lines_of_the_file_and_no_others(project: Project):
    project.write("a.dra", ODD)
    comment = ODD.split("\n")[1]
    hunk = f"@@ -1,3 +1,3 @@\n-node   a\n+node a\n {comment}\n node b\n"
    assert project.run("fmt", "--diff").out == f"--- a.dra (as it is)\n+++ a.dra (formatted)\n{hunk}"


def test_a_diff_cannot_act_on_the_terminal(project: Project):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    project.write("a.dra", ODD)
    out = Terminal()
    assert main(["fmt", "--diff", "--color=never"], stdout=out, stderr=io.StringIO(), environ={}) == 1
    assert "\x1b" not in out.getvalue()
    assert " # ff <U+000C> nel <U+0085> ls <U+2028> esc <U+001B>[31m end\n" in out.getvalue()
