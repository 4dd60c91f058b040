"""Finding spec files: what the command line names, and every `*.dra` file in the folders it names.

Files are found in the order of their names. Hidden files and folders and `node_modules` are left out, links to folders
are not followed; a link that leads nowhere, and a pipe or a device, which would never end, are refused.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from dralang.spelling import nearest
from dralang.testing.selection import Problem, Selector

SUFFIX: Final = ".dra"
STDIN: Final = "-"
_SKIPPED: Final = frozenset({"node_modules", "__pycache__"})
_LINE: Final = re.compile(r"(.+?):([0-9]{1,9})(?::[0-9]*)?", re.DOTALL)
_OTHERS: Final = (".yaml", ".yml", ".json")


class SpecFile(Struct, frozen=True):
    """A file to analyse, and what of it is meant: everything without selectors."""

    path: Path
    selectors: tuple[Selector, ...] = ()


class Found(Struct, frozen=True):
    """Files in the order in which they were named, each once; and what could not be found."""

    files: tuple[SpecFile, ...]
    problems: tuple[Problem, ...]


def discover(arguments: Sequence[str]) -> Found:
    """The files that paths, ``file::scenario`` and ``file:line`` name."""
    search = _Search()
    for argument in arguments:
        search.argument(argument)
    files = [SpecFile(path, tuple(selectors)) for path, selectors in search.files.values()]
    return Found(tuple(files), tuple(search.problems))


class _Search:
    """One search; private to this module."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[Path, list[Selector]]] = {}
        self.problems: list[Problem] = []

    def argument(self, argument: str) -> None:
        if "\0" in argument or not argument:
            self.problems.append(Problem(f"`{argument}` is no path"))
            return
        path, selector = _split(argument)
        try:
            if os.path.isdir(path):
                if selector is not None:
                    self.problems.append(Problem(f"`{path}` is a folder; only a file has scenarios"))
                else:
                    self._folder(path)
            elif not os.path.exists(path):
                self.problems.append(_missing(path))
            elif path.endswith(_OTHERS):
                self.problems.append(Problem(f"`{path}` is no spec", f'load it from one: `use "{path}"`'))
            else:
                self._add(path, selector)
        except OSError as error:
            self.problems.append(_unreadable(path, error))

    def _add(self, path: str, selector: Selector | None) -> None:
        key = os.path.realpath(path)
        known = self.files.get(key)
        if known is None:
            self.files[key] = (Path(path), [] if selector is None else [selector])
        elif selector is None:
            known[1].clear()
        elif known[1]:
            known[1].append(selector)

    def _folder(self, folder: str) -> None:
        def note(error: OSError) -> None:
            self.problems.append(_unreadable(error.filename or folder, error))

        for here, folders, names in os.walk(folder, onerror=note):
            folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
            for name in sorted(names):
                path = os.path.join(here, name)
                if not name.endswith(SUFFIX) or name.startswith("."):
                    continue
                path = os.path.normpath(path)
                if os.path.isfile(path):
                    self._add(path, None)
                else:
                    what = "is no regular file" if os.path.exists(path) else "is a link that leads nowhere"
                    self.problems.append(Problem(f"`{path}` {what}"))


def _split(argument: str) -> tuple[str, Selector | None]:
    """A path and what of it is meant. A path that exists is never taken apart."""
    if os.path.lexists(argument):
        return argument, None
    at = argument.find("::")
    first = at
    while at >= 0:
        if os.path.isfile(argument[:at]):
            return argument[:at], Selector(title=argument[at + 2 :])
        at = argument.find("::", at + 1)
    match = _LINE.fullmatch(argument)
    if match is not None and first < 0:
        return match[1], Selector(line=int(match[2]))
    if first > 0:
        return argument[:first], Selector(title=argument[first + 2 :])
    return argument, None


def _missing(path: str) -> Problem:
    if os.path.islink(path):
        return Problem(f"`{path}` is a link that leads nowhere", "")
    folder, name = os.path.split(path)
    try:
        names = os.listdir(folder or ".")[:10_000]
    except OSError:
        names = []
    near = nearest(name, [each for each in names if each.endswith(SUFFIX) or "." not in each])
    way_out = f"did you mean `{os.path.join(folder, near)}`?" if near else ""
    return Problem(f"there is no file or folder `{path}`", way_out)


def _unreadable(path: str | bytes, error: OSError) -> Problem:
    name = os.fsdecode(path)
    return Problem(f"cannot read `{name}`: {(error.strerror or 'it is not readable').lower()}")
