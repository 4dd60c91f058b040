"""Files that a command line names."""

import os
from pathlib import Path

import pytest

from dralang.testing.discovery import discover
from dralang.testing.selection import Selector

FILES = ["a.dra", "b::c.dra", "sub/z.dra", "sub/deep/y.dra", "sub.dra/x.dra", "10:20.dra", "note.txt", ".hidden.dra",
         ".git/h.dra", "node_modules/n.dra", "sub/UPPER.DRA"]  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


FOUND = {
    "a folder, in order": (["."], ["10:20.dra", "a.dra", "b::c.dra", "sub/z.dra", "sub/deep/y.dra", "sub.dra/x.dra"]),
    "a folder named like a spec": (["sub.dra"], ["sub.dra/x.dra"]),
    "a folder with a slash": (["sub/"], ["sub/z.dra", "sub/deep/y.dra"]),
    "a file and its folder": (["sub/z.dra", "sub"], ["sub/z.dra", "sub/deep/y.dra"]),
    "a hidden file that is named": ([".hidden.dra"], [".hidden.dra"]),
    "a hidden folder that is named": ([".git"], [".git/h.dra"]),
    "any other name": (["note.txt"], ["note.txt"]),
    "nothing": ([], []),
}


@pytest.mark.parametrize("case", FOUND)
def test_files_are_found(case: str):
    arguments, want = FOUND[case]
    found = discover(arguments)
    assert (sorted(str(file.path) for file in found.files), found.problems) == (sorted(want), ())
    assert [str(file.path) for file in found.files] == [str(file.path) for file in discover(arguments).files]
    assert all(file.selectors == () for file in found.files)


SELECTED = {
    "a title": ("a.dra::one", "a.dra", Selector(title="one")),
    "a title with colons": ("a.dra::one::two: 3", "a.dra", Selector(title="one::two: 3")),
    "a title that ends like a line": ("a.dra::at 10:20", "a.dra", Selector(title="at 10:20")),
    "a file with colons": ("b::c.dra", "b::c.dra", None),
    "a title in a file with colons": ("b::c.dra::one", "b::c.dra", Selector(title="one")),
    "a line": ("a.dra:12", "a.dra", Selector(line=12)),
    "a line and a column": ("a.dra:12:5", "a.dra", Selector(line=12)),
    "a file that looks like a line": ("10:20.dra", "10:20.dra", None),
    "a line of a file that looks like one": ("10:20.dra:7", "10:20.dra", Selector(line=7)),
    "an empty title": ("a.dra::", "a.dra", Selector()),
    "line 0": ("a.dra:0", "a.dra", Selector(line=0)),
}


@pytest.mark.parametrize("case", SELECTED)
def test_a_node_id_is_taken_apart(case: str):
    argument, want_path, want_selector = SELECTED[case]
    found = discover([argument])
    assert found.problems == ()
    assert [(str(file.path), file.selectors) for file in found.files] == [
        (want_path, () if want_selector is None else (want_selector,))
    ]


PROBLEMS = {
    "no such file": ("c.dra", "there is no file or folder `c.dra`"),
    "a slip of the pen": ("sub/zz.dra", "there is no file or folder `sub/zz.dra`"),
    "no such file with a title": ("c.dra::one", "there is no file or folder `c.dra`"),
    "no such file with a line": ("c.dra:1", "there is no file or folder `c.dra`"),
    "a folder with a title": ("sub::one", "`sub` is a folder; only a file has scenarios"),
    "a file as a folder": ("a.dra/b.dra", "there is no file or folder `a.dra/b.dra`"),
    "a name without end": ("x" * 100_000, "there is no file or folder `xxx"),
    "a surrogate": ("a\udcff.dra", "there is no file or folder `a\udcff.dra`"),
    "nothing": ("", "`` is no path"),
    "NUL": ("a\0", "`a\0` is no path"),
    "only colons": ("::", "there is no file or folder `::`"),
    "a colon and a number": (":5", "there is no file or folder `:5`"),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_what_is_not_there_is_a_problem(case: str):
    argument, want = PROBLEMS[case]
    found = discover([argument])
    assert found.files == ()
    assert [problem.message[: len(want)] for problem in found.problems] == [want]


def test_a_circle_of_links_ends(folder: Path):
    (folder / "sub" / "circle").symlink_to("..")
    assert [str(file.path) for file in discover(["sub"]).files] == ["sub/z.dra", "sub/deep/y.dra"]


def test_a_folder_that_cannot_be_read_is_a_problem(monkeypatch: pytest.MonkeyPatch):
    scandir = os.scandir

    def forbidden(path):
        if str(path).endswith("deep"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", forbidden)
    found = discover(["sub"])
    assert [str(file.path) for file in found.files] == ["sub/z.dra"]
    assert [problem.message for problem in found.problems] == ["cannot read `sub/deep`: permission denied"]
