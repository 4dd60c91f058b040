"""Times as the API reads and prints them: RFC 3339, printed in UTC.

Source: time.Parse of Go with the layouts of apimachinery's metav1.Time and metav1.MicroTime.
"""

import re
from datetime import UTC, datetime, timedelta

_FORM = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
_MICRO_FORM = re.compile(r".*[.,][0-9]{6}(?:Z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)
ZERO_TIME = "0001-01-01T00:00:00Z"


def parse_time(text: str) -> datetime:
    """Read a time.

    Raises:
        ValueError: not a time, or one outside the years 1 to 9999.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise ValueError("a time is written like `2026-01-31T12:00:00Z` (RFC 3339)")
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    micro = int((match[7] or "")[:6].ljust(6, "0"))
    try:
        local = datetime(year, month, day, hour, minute, second, micro, tzinfo=UTC)
        if match[8] is None:
            return local
        hours, minutes = int(match[9]), int(match[10])
        if hours > 24 or minutes >= 60:
            raise ValueError("time zone offset out of range")
        offset = timedelta(hours=hours, minutes=minutes)
        return local - offset if match[8] == "+" else local + offset
    except (ValueError, OverflowError) as error:
        raise ValueError(f"there is no such time: {error}") from None


def format_time(moment: datetime) -> str:
    """In whole seconds, as objects show times."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def normalize_time(text: str) -> str | None:
    """The text under which the API server shows a time; None for the zero time, which it does not show.

    Raises:
        ValueError: not a time.
    """
    shown = format_time(parse_time(text))
    return None if shown == ZERO_TIME else shown


def normalize_micro_time(text: str) -> str | None:
    """As ``normalize_time``, with the six decimal places that such a time must have.

    Raises:
        ValueError: not a time with microseconds.
    """
    if not _MICRO_FORM.fullmatch(text):
        raise ValueError("a time with microseconds is written like `2026-01-31T12:00:00.000000Z`")
    moment = parse_time(text)
    shown = f"{format_time(moment)[:-1]}.{moment.microsecond:06d}Z"
    return None if shown == "0001-01-01T00:00:00.000000Z" else shown
