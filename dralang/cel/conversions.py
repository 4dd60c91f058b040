"""Type conversions: ``int(x)``, ``string(x)`` and so on.

Source: cel-go common/stdlib/standard.go, common/types (ConvertToType).
"""

from collections.abc import Callable
from typing import Final

from dralang.cel.numbers import (
    checked_int,
    checked_uint,
    double_to_int,
    double_to_uint,
    format_double,
    parse_bool,
    parse_double,
    parse_int,
    parse_uint,
)
from dralang.cel.times import Duration, Timestamp, parse_duration, parse_timestamp, timestamp_of_seconds
from dralang.cel.values import CelError, Value


def _from_string(read: Callable[[str], Value], name: str) -> Callable[[str], Value]:
    def convert(text: str) -> Value:
        value = read(text)
        if value is None:
            raise CelError(f"type conversion error from 'string' to '{name}'")
        return value

    return convert


def _decode(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


def _same(value: Value) -> Value:
    return value


def _seconds(moment: Timestamp) -> int:
    return moment.nanos // 10**9


def _nanos(span: Duration) -> int:
    return span.nanos


CONVERSIONS: Final[dict[str, Callable[..., Value]]] = {
    "bool_to_bool": _same,
    "string_to_bool": _from_string(parse_bool, "bool"),
    "bytes_to_bytes": _same,
    "string_to_bytes": lambda text: text.encode("utf-8", "surrogatepass"),
    "double_to_double": _same,
    "int64_to_double": float,
    "string_to_double": _from_string(parse_double, "double"),
    "uint64_to_double": float,
    "duration_to_duration": _same,
    "string_to_duration": _from_string(parse_duration, "google.protobuf.Duration"),
    "int64_to_int64": _same,
    "double_to_int64": double_to_int,
    "duration_to_int64": _nanos,
    "string_to_int64": _from_string(parse_int, "int"),
    "timestamp_to_int64": _seconds,
    "uint64_to_int64": lambda value: checked_int(int(value)),
    "string_to_string": _same,
    "bool_to_string": lambda value: "true" if value else "false",
    "bytes_to_string": _decode,
    "double_to_string": format_double,
    "duration_to_string": str,
    "int64_to_string": str,
    "timestamp_to_string": str,
    "uint64_to_string": str,
    "timestamp_to_timestamp": _same,
    "int64_to_timestamp": timestamp_of_seconds,
    "string_to_timestamp": _from_string(parse_timestamp, "google.protobuf.Timestamp"),
    "uint64_to_uint64": _same,
    "double_to_uint64": double_to_uint,
    "int64_to_uint64": checked_uint,
    "string_to_uint64": _from_string(parse_uint, "uint"),
}
TYPE_CONVERSIONS: Final = frozenset(
    {"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"}
)
