"""How a path's step finds an entry of a list."""

from collections.abc import Sequence


def entry_index(entries: Sequence[object], step: str | int) -> int | None:
    """The index of a list's entry: a number, or the `name` or `key` of the entry; None if there is none."""
    if isinstance(step, int):
        return step if 0 <= step < len(entries) else None
    for index, entry in enumerate(entries):
        if isinstance(entry, dict) and step in (entry.get("name"), entry.get("key")):
            return index
    return None
