"""Examples that failed, kept in ``.dralang_cache/fuzz.json`` of the project's folder and played first the next time."""

import os
import tempfile
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

MAX_BYTES: Final = 8 * 1024 * 1024
MOST: Final = 20
FILE: Final = "fuzz.json"


class _Stored(Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    failing: dict[str, list[list[int]]]


class Memory:
    """The failing examples of one project, by the node id of their fuzz. A damaged file is as good as none.

    Attributes:
        note: what is wrong with the stored file; empty if nothing is.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.note = ""
        self._failing = self._load()
        self._changed = False

    def _load(self) -> dict[str, list[list[int]]]:
        try:
            with self.path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            return msgspec.json.decode(data, type=_Stored).failing
        except FileNotFoundError:
            return {}
        except OSError as error:
            self.note = f"cannot read `{self.path}`: {(error.strerror or '').lower()}"
        except (msgspec.MsgspecError, ValueError, RecursionError):
            self.note = f"`{self.path}` is damaged and counts as empty"
        return {}

    def failing(self, node_id: str) -> list[tuple[int, ...]]:
        """What failed before, the newest first."""
        return [tuple(each) for each in self._failing.get(node_id, [])]

    def keep(self, node_id: str, choices: tuple[int, ...]) -> None:
        """Remember an example that failed."""
        known = self._failing.setdefault(node_id, [])
        if list(choices) not in known:
            known.insert(0, list(choices))
            del known[MOST:]
            self._changed = True

    def forget(self, node_id: str, choices: tuple[int, ...]) -> None:
        """An example does not fail any more."""
        known = self._failing.get(node_id, [])
        if list(choices) in known:
            known.remove(list(choices))
            self._changed = True
            if not known:
                del self._failing[node_id]

    def save(self) -> str:
        """Write what has changed. Returns what went wrong, or nothing."""
        if not self._changed:
            return ""
        failing = dict(sorted((_clean(node_id), known) for node_id, known in self._failing.items()))
        data = msgspec.json.encode(_Stored(1, failing))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            ignore = self.path.parent / ".gitignore"
            if not ignore.exists():
                ignore.write_text("# made by dralang\n*\n", encoding="utf-8")
            handle, temporary = tempfile.mkstemp(dir=self.path.parent, prefix="fuzz-")
            with os.fdopen(handle, "wb") as file:
                file.write(data + b"\n")
            os.replace(temporary, self.path)
        except OSError as error:
            return f"cannot write `{self.path}`: {(error.strerror or '').lower()}"
        return ""


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
