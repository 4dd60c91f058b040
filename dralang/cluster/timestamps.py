"""Simulated instants as the API writes them.

The simulation counts milliseconds from its start; API fields hold RFC 3339 texts in whole seconds. Both are tied
together by one fixed start date, so that the same scenario always writes the same bytes.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
"""The date of millisecond 0."""

_LAST_SECOND = int((datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) - EPOCH).total_seconds())


@lru_cache(maxsize=4096)
def _format_second(second: int) -> str:
    # A grace period of a million years is no reason to break: the calendar ends with the year 9999.
    return (EPOCH + timedelta(seconds=min(second, _LAST_SECOND))).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_time(instant: int) -> str:
    """The API text of an instant in milliseconds; fractions of a second are dropped, as the API does."""
    return _format_second(instant // 1000)


@lru_cache(maxsize=4096)
def parse_time(text: str) -> int:
    """The instant in milliseconds of an API time; negative for dates before the start of the simulation.

    Raises:
        ValueError: the text is no RFC 3339 time.
    """
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"`{text}` has no time zone")
    return (moment - EPOCH) // timedelta(milliseconds=1)
