"""JSON values to API objects, exactly as strictly as an API server that validates fields strictly.

``from_json`` is the quick way for values known to be good; ``decode`` goes the same way and, where that fails, walks
the value again to report everything that is wrong with it, each at its place.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, TypeVar

from dralang.api.base import ApiType
from dralang.api.kinds import TOP_LEVEL
from dralang.api.located import Located
from dralang.api.schema import FieldSchema, fields_of
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.spelling import nearest
from dralang.values.quantity import ZERO, Quantity, parse_quantity, quantity_of
from dralang.values.times import normalize_micro_time, normalize_time

_T = TypeVar("_T", bound=ApiType)
_Step: TypeAlias = "str | int"
_Reader: TypeAlias = Callable[[Any], Any]

UNKNOWN_FIELD = "DRA0301"
WRONG_TYPE = "DRA0302"
BAD_QUANTITY = "DRA0303"
OUT_OF_RANGE = "DRA0304"
BAD_TIME = "DRA0305"

# What Go trims; Python would also trim the separators of ASCII.
_GO_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_MAX_SHOWN = 40
_MAX_FIELDS_SHOWN = 24
_TYPE_META = ("apiVersion", "kind")
_RANGES = {"int32": (-(1 << 31), (1 << 31) - 1), "int64": (-(1 << 63), (1 << 63) - 1)}


class DecodeError(ValueError):
    """A value that does not decode.

    Attributes:
        code: the diagnostic code.
        message: one line for people.
        help: the way out.
        expected: names that may be meant.
        steps: where in the value, innermost first.
    """

    def __init__(self, code: str, message: str, help: str = "", expected: tuple[str, ...] = ()) -> None:  # noqa: A002 - a diagnostic's own word
        super().__init__(message)
        self.code = code
        self.message = message
        self.help = help
        self.expected = expected
        self.steps: list[_Step] = []

    @property
    def path(self) -> tuple[_Step, ...]:
        """Where in the value, outermost first."""
        return tuple(reversed(self.steps))

    def __str__(self) -> str:
        return f"{path_text(self.path)}: {self.message}" if self.steps else self.message


def path_text(path: tuple[_Step, ...]) -> str:
    """A path as Kubernetes writes it: ``spec.devices[0].name``."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def _type_name(value: object) -> str:
    names = {bool: "a boolean", int: "an integer", float: "a number with decimals", str: "text", type(None): "null"}
    if isinstance(value, Mapping):
        return "a map"
    return "a list" if isinstance(value, list | tuple) else names.get(type(value), "something else")


def _shown(value: object) -> str:
    if isinstance(value, Mapping | list | tuple) or value is None:
        return _type_name(value)
    text = str(value).lower() if isinstance(value, bool) else str(value)
    text = text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."
    return f"{_type_name(value)} `{text}`"


def _wrong_type(value: object, wanted: str) -> DecodeError:
    return DecodeError(WRONG_TYPE, f"{wanted} is needed here, not {_shown(value)}")


def _read_string(value: Any) -> str:
    if type(value) is str:
        return value
    raise _wrong_type(value, "text")


def _read_bool(value: Any) -> bool:
    if value is True or value is False:
        return bool(value)
    raise _wrong_type(value, "`true` or `false`")


def _int_reader(name: str) -> _Reader:
    low, high = _RANGES[name]

    def read(value: Any) -> int:
        if type(value) is not int:
            raise _wrong_type(value, "an integer")
        if not low <= value <= high:
            raise DecodeError(OUT_OF_RANGE, f"`{_number_text(value)}` is out of range", f"from {low} to {high}")
        return value

    return read


def _number_text(value: int) -> str:
    return str(value) if abs(value) < 10**30 else "a number of more than 30 digits"


def _read_quantity(value: Any) -> Quantity:
    if type(value) is str:
        text = value.strip(_GO_SPACE)
    elif type(value) is int:
        if abs(value) >= 1 << 63:
            return quantity_of(value) if abs(value) < 10**4000 else quantity_of(10**4000)
        text = str(value)
    elif type(value) is float:
        text = _float_text(value)
    else:
        raise _wrong_type(value, "a quantity")
    try:
        return parse_quantity(text)
    except ValueError as error:
        shown = text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 3] + "..."
        raise DecodeError(
            BAD_QUANTITY, f"`{shown}` is not a quantity: {error}", "a quantity is written like `500m`, `2` or `40Gi`"
        ) from None


def _float_text(value: float) -> str:
    """A number as Go writes it into JSON."""
    text = repr(value)
    if text.endswith(".0"):
        return text[:-2]
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}" if e else text


def _time_reader(normalize: Callable[[str], str | None]) -> _Reader:
    def read(value: Any) -> str | None:
        if type(value) is not str:
            raise _wrong_type(value, "a time")
        try:
            return normalize(value)
        except ValueError as error:
            raise DecodeError(BAD_TIME, f"`{value[:_MAX_SHOWN]}` is not a time", str(error)) from None

    return read


def _read_bytes(value: Any) -> str:
    text = _read_string(value)
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise DecodeError(WRONG_TYPE, "base64 is needed here") from None
    return text


def _read_int_or_string(value: Any) -> int | str:
    if type(value) is str:
        return value
    if type(value) is int:
        return int(_READERS["int32"](value))
    raise _wrong_type(value, "an integer or text")


def _read_raw(value: Any) -> Any:
    return value


_READERS: Mapping[str, _Reader] = {
    "string": _read_string,
    "bool": _read_bool,
    "int32": _int_reader("int32"),
    "int64": _int_reader("int64"),
    "quantity": _read_quantity,
    "time": _time_reader(normalize_time),
    "microtime": _time_reader(normalize_micro_time),
    "duration": _read_string,
    "byte": _read_bytes,
    "int-or-string": _read_int_or_string,
    "raw": _read_raw,
}
# What null stands for in a list or map, where "not given" cannot be said.
_ZEROS: Mapping[str, Any] = {
    "string": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "quantity": ZERO,
    "time": None,
    "microtime": None,
    "duration": "",
    "byte": "",
    "int-or-string": 0,
    "raw": None,
}


def _element_reader(field: FieldSchema) -> tuple[_Reader, Callable[[], Any]]:
    """How to read an element, and what null stands for."""
    if field.struct is not None:
        struct = field.struct
        # Types contain themselves (CompositePodGroupTemplate), hence the late look-up.
        return lambda value: _struct_reader(struct)(value), struct
    zero = _ZEROS[field.format]
    return _READERS[field.format], lambda: zero


def _list_reader(field: FieldSchema) -> _Reader:
    read, zero = _element_reader(field)

    def read_list(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise _wrong_type(value, "a list")
        index = 0
        result = []
        try:
            for element in value:
                result.append(zero() if element is None else read(element))
                index += 1
        except DecodeError as error:
            error.steps.append(index)
            raise
        return tuple(result)

    return read_list


def _map_reader(field: FieldSchema) -> _Reader:
    read, zero = _element_reader(field)

    def read_map(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _wrong_type(value, "a map")
        key = ""
        result = {}
        try:
            for key, element in value.items():
                result[key] = zero() if element is None else read(element)
        except DecodeError as error:
            error.steps.append(key)
            raise
        return result

    return read_map


def _field_reader(field: FieldSchema) -> _Reader:
    if field.shape == "list":
        return _list_reader(field)
    return _map_reader(field) if field.shape == "map" else _element_reader(field)[0]


@cache
def _readers(api_type: type[ApiType]) -> Mapping[str, tuple[str, _Reader]]:
    return {name: (field.attribute, _field_reader(field)) for name, field in fields_of(api_type).items()}


@cache
def _struct_reader(api_type: type[ApiType]) -> _Reader:
    readers = _readers(api_type)
    is_kind = api_type in TOP_LEVEL

    def read_struct(value: Any) -> ApiType:
        if not isinstance(value, Mapping):
            raise _wrong_type(value, f"a map with the fields of {api_type.__name__}")
        arguments = {}
        name = ""
        try:
            for name, entry in value.items():
                known = readers.get(name)
                if known is None:
                    if is_kind and name in _TYPE_META:
                        continue
                    raise _unknown_field(api_type, name)
                if entry is not None:
                    arguments[known[0]] = known[1](entry)
        except DecodeError as error:
            error.steps.append(name)
            raise
        return api_type(**arguments)

    return read_struct


def _unknown_field(api_type: type[ApiType], name: str) -> DecodeError:
    known = list(fields_of(api_type))
    guess = nearest(str(name), known)
    listed = ", ".join(sorted(known)[:_MAX_FIELDS_SHOWN]) + (", ..." if len(known) > _MAX_FIELDS_SHOWN else "")
    return DecodeError(
        UNKNOWN_FIELD,
        f"{api_type.__name__} has no field `{str(name)[:_MAX_SHOWN]}`",
        f"its fields: {listed}" if known else "it has no fields",
        () if guess is None else (guess,),
    )


def from_json(api_type: type[_T], json: object) -> _T:
    """Read a JSON value; ``apiVersion`` and ``kind`` of a kind are not looked at.

    Raises:
        DecodeError: a ValueError that says what is wrong and where.
    """
    try:
        result = _struct_reader(api_type)(json)
    except RecursionError:
        raise DecodeError(WRONG_TYPE, "the value is nested too deeply") from None
    assert isinstance(result, api_type)
    return result


def decode(api_type: type[_T], located: Located, log: DiagnosticLog) -> _T | None:
    """Read a value with places; None after reporting what is wrong with it."""
    try:
        return from_json(api_type, located.plain())
    except (DecodeError, RecursionError):
        pass
    try:
        _report_struct(api_type, located, log)
    except RecursionError:
        log.add(Diagnostic(code=WRONG_TYPE, message="the value is nested too deeply", span=located.span))
    return None


def report_wrong_type(located: Located, wanted: str, log: DiagnosticLog) -> None:
    """Say that something else is needed in this place."""
    _report(_wrong_type(located.plain(), wanted), located, log)


def _report(error: DecodeError, located: Located, log: DiagnosticLog, *, at_key: bool = False) -> None:
    span = located.key_span if at_key and located.key_span is not None else located.span
    log.add(Diagnostic(code=error.code, message=error.message, span=span, help=error.help, expected=error.expected))


def _report_struct(api_type: type[ApiType], located: Located, log: DiagnosticLog) -> None:
    value = located.value
    if not isinstance(value, Mapping):
        _report(_wrong_type(value, f"a map with the fields of {api_type.__name__}"), located, log)
        return
    fields = fields_of(api_type)
    for name, entry in value.items():
        field = fields.get(name)
        if field is not None:
            if entry.value is not None:
                _report_field(field, entry, log)
        elif not (name in _TYPE_META and api_type in TOP_LEVEL):
            _report(_unknown_field(api_type, name), entry, log, at_key=True)


def _report_field(field: FieldSchema, located: Located, log: DiagnosticLog) -> None:
    value = located.value
    if field.shape == "list":
        if not isinstance(value, tuple):
            _report(_wrong_type(value, "a list"), located, log)
            return
        elements = value
    elif field.shape == "map":
        if not isinstance(value, Mapping):
            _report(_wrong_type(value, "a map"), located, log)
            return
        elements = tuple(value.values())
    else:
        elements = (located,)
    for element in elements:
        if element.value is None:
            continue
        if field.struct is not None:
            _report_struct(field.struct, element, log)
            continue
        try:
            _READERS[field.format](element.plain())
        except DecodeError as error:
            _report(error, element, log)
