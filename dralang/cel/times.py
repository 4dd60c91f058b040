"""Durations and timestamps with nanoseconds, as Go reads, computes and writes them.

Source: Go's time package; cel-go common/types/duration.go, timestamp.go, overflow.go.
"""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dralang.cel.numbers import format_double
from dralang.cel.values import MAX_INT, MIN_INT, CelError

_NANOS: Final = 10**9
_UNITS: Final = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _NANOS,
    "m": 60 * _NANOS,
    "h": 3600 * _NANOS,
}
_PART = re.compile(r"([0-9]*)(?:(\.)([0-9]*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_MIN_UNIX: Final = -62135596800
_MAX_UNIX: Final = 253402300799
_LONGEST_DIGITS: Final = 40


class Duration:
    """A span of time in nanoseconds."""

    __slots__ = ("nanos",)

    def __init__(self, nanos: int) -> None:
        self.nanos = nanos

    def __eq__(self, other: object) -> bool:
        return type(other) is Duration and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(("duration", self.nanos))

    def __str__(self) -> str:
        return format_double(self.nanos / _NANOS if self.nanos % _NANOS else float(self.nanos // _NANOS), "f") + "s"


class Timestamp:
    """A moment: nanoseconds since 1970, and the zone in which it was written (which counts for its text only)."""

    __slots__ = ("nanos", "zone")

    def __init__(self, nanos: int, zone: int = 0) -> None:
        self.nanos = nanos
        self.zone = zone

    def __eq__(self, other: object) -> bool:
        return type(other) is Timestamp and self.nanos == other.nanos

    def __hash__(self) -> int:
        return hash(("timestamp", self.nanos))

    def __str__(self) -> str:
        seconds, nanos = divmod(self.nanos, _NANOS)
        moment = _EPOCH + timedelta(seconds=seconds + self.zone)
        fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
        sign = "+" if self.zone >= 0 else "-"
        minutes = abs(self.zone) // 60
        zone = f"{sign}{minutes // 60:02d}:{minutes % 60:02d}" if self.zone else "Z"
        return f"{moment.year:04d}{moment:-%m-%dT%H:%M:%S}{fraction}{zone}"


_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - naive on purpose: offsets are added as seconds


def parse_duration(text: str) -> Duration | None:
    """A duration in Go's syntax (``1h30m``), or None."""
    negative = text[:1] == "-"
    rest = text[1:] if text[:1] in {"-", "+"} else text
    if rest == "0":
        return Duration(0)
    if not rest:
        return None
    total = 0
    at = 0
    while at < len(rest):
        match = _PART.match(rest, at)
        if match is None:
            return None
        whole, _, fraction, unit = match.groups()
        if not whole and not fraction:
            return None
        # Go refuses the part as soon as it does not fit 64 bits.
        if len(whole.lstrip("0")) > _LONGEST_DIGITS:
            return None
        scale = _UNITS[unit]
        amount = int(whole or "0") * scale
        if fraction:
            digits = fraction[:_LONGEST_DIGITS]
            amount += (
                int(int(digits) * scale / 10 ** len(digits))
                if len(digits) > 18
                else int(digits) * scale // 10 ** len(digits)
            )
        total += amount
        if total > 1 << 63:
            return None
        at = match.end()
    if negative:
        return Duration(-total)
    return None if total > MAX_INT else Duration(total)


_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})",
    re.ASCII,
)


def parse_timestamp(text: str) -> Timestamp | None:
    """A moment in RFC 3339, or None.

    Raises:
        CelError: outside the years 1 to 9999.
    """
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in match.groups()[:6])
    fraction, zone = match[7], match[8]
    offset = 0
    if zone != "Z":
        hours, minutes = int(zone[1:3]), int(zone[4:6])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 60 + minutes) * 60 * (-1 if zone[0] == "-" else 1)
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        moment = datetime(year or 1, month, day, hour, minute, second)  # noqa: DTZ001 - see _EPOCH
    except ValueError:
        return None
    seconds = (moment - _EPOCH) // timedelta(seconds=1) - offset
    if year == 0:
        seconds -= 366 * 86400
    if not _MIN_UNIX <= seconds <= _MAX_UNIX:
        raise CelError("timestamp overflow")
    nanos = int((fraction or "0")[:9].ljust(9, "0"))
    return Timestamp(seconds * _NANOS + nanos, offset)


def timestamp_of_seconds(seconds: int) -> Timestamp:
    """The moment that many seconds after 1970.

    Raises:
        CelError: outside the years 1 to 9999.
    """
    if not _MIN_UNIX <= seconds <= _MAX_UNIX:
        raise CelError("timestamp overflow")
    return Timestamp(seconds * _NANOS)


def duration_sum(nanos: int) -> Duration:
    """A computed duration.

    Raises:
        CelError: it does not fit 64 bits.
    """
    if not MIN_INT <= nanos <= MAX_INT:
        raise CelError("duration overflow")
    return Duration(nanos)


def moved(moment: Timestamp, nanos: int) -> Timestamp:
    """A moment moved by a duration.

    Raises:
        CelError: outside the years 1 to 9999.
    """
    total = moment.nanos + nanos
    if not _MIN_UNIX <= total // _NANOS <= _MAX_UNIX:
        raise CelError("timestamp overflow")
    return Timestamp(total, moment.zone)


_OFFSET = re.compile(r"[+-]?[0-9]+", re.ASCII)


def _zone_of(name: str) -> tzinfo:
    """The zone that a name or an offset like ``+02:00`` means.

    Raises:
        CelError: there is no such zone.
    """
    left, colon, right = name.partition(":")
    if not colon:
        if name in {"", "UTC"}:
            return UTC
        try:
            return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            raise CelError(f"unknown time zone {name}") from None
    for part in (left, right):
        if not _OFFSET.fullmatch(part) or len(part) > _LONGEST_DIGITS:
            raise CelError(f'strconv.Atoi: parsing "{part}": invalid syntax')
    hours, minutes = int(left), int(right)
    offset = hours * 60 - minutes if name[0] == "-" else hours * 60 + minutes
    if abs(offset) >= 24 * 60:
        raise CelError(f"unknown time zone {name}")
    return timezone(timedelta(minutes=offset))


def _in_zone(moment: Timestamp, zone: str) -> datetime:
    seconds = moment.nanos // _NANOS
    try:
        return (_EPOCH.replace(tzinfo=UTC) + timedelta(seconds=seconds)).astimezone(_zone_of(zone))
    except OverflowError:
        raise CelError("timestamp overflow") from None


def timestamp_part(function: str, moment: Timestamp, zone: str) -> int:
    """The part that a getter names, in a zone.

    Raises:
        CelError: there is no such zone.
    """
    local = _in_zone(moment, zone)
    if function == "getFullYear":
        return local.year
    if function == "getMonth":
        return local.month - 1
    if function == "getDayOfYear":
        return local.timetuple().tm_yday - 1
    if function == "getDayOfMonth":
        return local.day - 1
    if function == "getDate":
        return local.day
    if function == "getDayOfWeek":
        return local.isoweekday() % 7
    if function == "getHours":
        return local.hour
    if function == "getMinutes":
        return local.minute
    if function == "getSeconds":
        return local.second
    return moment.nanos % _NANOS // 10**6


_PARTS: Final = {"getHours": 3600 * _NANOS, "getMinutes": 60 * _NANOS, "getSeconds": _NANOS, "getMilliseconds": 10**6}


def duration_part(function: str, span: Duration) -> int:
    """The whole duration in the unit that a getter names, towards zero."""
    unit = _PARTS[function]
    return span.nanos // unit if span.nanos >= 0 else -(-span.nanos // unit)
