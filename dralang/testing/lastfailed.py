"""What failed last time, kept in ``.dralang_cache/lastfailed`` of the project's folder.

A JSON object: ``{"version": 1, "failed": [...]}``; an entry is the node id of a scenario, or the name of a file that
could not be run, both relative to the project's folder. A damaged file is as good as none.
"""

import os
import tempfile
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from dralang.testing.report import UNEXPECTED, Report

FOLDER: Final = ".dralang_cache"
MAX_BYTES: Final = 8 * 1024 * 1024


class _Stored(Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    failed: list[str]


class LastFailed:
    """The memory of one project.

    Args:
        root: the project's folder.
        here: the working directory, which names are relative to on the screen.

    Attributes:
        ids: what failed last time, as on the screen.
        note: what is wrong with the stored file; empty if nothing is.
    """

    def __init__(self, root: Path, here: Path) -> None:
        self.root = root
        self.here = here
        self.path = root / FOLDER / "lastfailed"
        self.note = ""
        self.ids: frozenset[str] = frozenset(self._shown(each) for each in self._load())

    def _load(self) -> list[str]:
        try:
            with self.path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return []
        except OSError as error:
            self.note = f"cannot read `{self.path}`: {(error.strerror or '').lower()}"
            return []
        try:
            return msgspec.json.decode(data, type=_Stored).failed
        except (msgspec.MsgspecError, ValueError, RecursionError):
            self.note = f"`{self.path}` is damaged and counts as empty"
            return []

    def update(self, report: Report) -> str:
        """Remember what failed now, and what failed before and did not run. Returns what went wrong, or nothing."""
        ran = {result.scenario.node_id: result.verdict in UNEXPECTED for result in report.results()}
        reached = {file.file.name for file in report.files if file.results or file.file.is_broken}
        kept = {each for each in self.ids if each not in ran and each not in reached and self._exists(each)}
        whole = {
            file.file.name
            for file in report.files
            if not file.file.is_broken and len(file.results) == file.file.total and report.stopped == ""
        }
        # A file that ran as a whole has no other scenarios; an entry of it that is left was renamed or deleted.
        kept = {each for each in kept if each.partition("::")[0] not in whole}
        failed = kept | {node for node, has_failed in ran.items() if has_failed}
        failed |= {file.name for file in report.broken()}
        if failed == self.ids and not self.note:
            return ""
        return self._save(sorted(self._stored(each) for each in failed))

    def _exists(self, node: str) -> bool:
        return os.path.isfile(self.here / node.partition("::")[0])

    def _save(self, failed: list[str]) -> str:
        data = msgspec.json.format(msgspec.json.encode(_Stored(1, [_clean(each) for each in failed])))
        try:
            self.path.parent.mkdir(exist_ok=True)
            ignore = self.path.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("# made by dralang\n*\n", encoding="utf-8")
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix="lastfailed-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data + b"\n")
                os.replace(temporary, self.path)
            except BaseException:
                os.unlink(temporary)
                raise
        except OSError as error:
            return f"cannot write `{self.path}`: {(error.strerror or '').lower()}"
        return ""

    def _stored(self, shown: str) -> str:
        name, colons, title = shown.partition("::")
        return Path(os.path.relpath(self.here / name, self.root)).as_posix() + colons + title

    def _shown(self, stored: str) -> str:
        name, colons, title = stored.partition("::")
        path = os.path.normpath(self.root / name)
        inside = os.path.relpath(path, self.here)
        return (path if inside.startswith("..") else inside) + colons + title


def _clean(text: str) -> str:
    """What JSON can hold: a file name that is not UTF-8 is remembered under a name that will not be found."""
    return text.encode("utf-8", "replace").decode("utf-8")
