"""The nearest known name, for "did you mean"."""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that ``name`` most likely stands for, or None.

    Case and the separators ``-``, ``_`` and ``.`` do not count; ties go to the first in sorted order, so that the
    answer does not depend on the order of ``known``.
    """
    candidates = sorted(set(known))
    folded: dict[str, str] = {}
    for candidate in candidates:
        folded.setdefault(_fold(candidate), candidate)
    wanted = _fold(name)
    if wanted in folded:
        return folded[wanted]
    # A very long word is never a slip of the pen, and comparing it would take quadratic time.
    if not wanted or len(wanted) > 80:
        return None
    matches = get_close_matches(wanted, [key for key in folded if len(key) <= 120], n=1, cutoff=0.7)
    return folded[matches[0]] if matches else None


def _fold(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(".", "")
