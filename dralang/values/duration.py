"""Durations as `.dra` files write them: a number and a unit, larger units first."""

import re
from functools import lru_cache

_UNITS = {"h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_FORM = re.compile(r"(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)(?:\.([0-9]{1,3}))?s)?(?:([0-9]+)ms)?", re.ASCII)
_MAX_DIGITS = 15


@lru_cache(4_000)
def parse_duration(text: str) -> int:
    """Read a duration such as ``10s``, ``1h30m``, ``1.5s`` or ``250ms``; the result is in milliseconds.

    Raises:
        ValueError: not a duration; the message says what is missing.
    """
    if text.isascii() and text.isdigit():
        raise ValueError(f"a duration needs a unit: `{text}s`, `{text}m` or `{text}ms`")
    match = _FORM.fullmatch(text)
    if match is None or not text:
        raise ValueError("a duration is written like `10s`, `1m`, `1h30m` or `250ms`")
    hours, minutes, seconds, fraction, millis = match.groups()
    if any(len(part or "") > _MAX_DIGITS for part in (hours, minutes, seconds, millis)):
        raise ValueError("the duration is longer than any clock runs")
    return (
        int(hours or 0) * _UNITS["h"]
        + int(minutes or 0) * _UNITS["m"]
        + int(seconds or 0) * _UNITS["s"]
        + int((fraction or "0").ljust(3, "0"))
        + int(millis or 0)
    )


def format_duration(milliseconds: int) -> str:
    """The shortest text that ``parse_duration`` reads as this many milliseconds; negative ones get a sign in front."""
    if milliseconds < 0:
        return "-" + format_duration(-milliseconds)
    parts = []
    rest = milliseconds
    for unit, size in _UNITS.items():
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
