"""API objects to JSON, with the fields that Go would write and no others."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, TypeAlias

from dralang.api.base import ApiType
from dralang.api.kinds import KIND_OF_TYPE
from dralang.api.schema import FieldSchema, fields_of

_Writer: TypeAlias = Callable[[Any], Any]
# json name, attribute, writer (None: as it is), whether empty is written, whether only None is empty
_Plan: TypeAlias = tuple[str, Callable[[Any], Any], "_Writer | None", bool, bool]


def to_json(value: ApiType) -> dict[str, Any]:
    """The JSON form; that of a kind begins with ``apiVersion`` and ``kind``."""
    info = KIND_OF_TYPE.get(type(value))
    if info is None:
        return _write_struct(value)
    return {"apiVersion": info.api_version, "kind": info.name, **_write_struct(value)}


def _write_struct(value: ApiType) -> dict[str, Any]:
    result = {}
    for name, get, write, always, only_none in _plan(type(value)):
        content = get(value)
        if content is None or (not content and not only_none):
            # A list or map that must be there is null when it is empty: that is what storing it makes of it.
            if always:
                result[name] = None if write is not None and not isinstance(content, ApiType) else content
            continue
        result[name] = content if write is None else write(content)
    return result


def _write_list(write: _Writer | None) -> _Writer:
    return list if write is None else lambda content: [write(element) for element in content]


def _write_map(write: _Writer | None) -> _Writer:
    return dict if write is None else lambda content: {key: write(element) for key, element in content.items()}


def _element_writer(field: FieldSchema) -> _Writer | None:
    if field.struct is not None:
        return _write_struct
    return str if field.format == "quantity" else None


def _field_plan(field: FieldSchema) -> _Plan:
    writer = _element_writer(field)
    only_none = field.nullable
    if field.shape == "list":
        writer, only_none = _write_list(writer), False
    elif field.shape == "map":
        writer, only_none = _write_map(writer), False
    elif field.format in {"struct", "quantity"}:
        # Go leaves out no structs, however empty; a quantity is one.
        only_none = True
    return field.json, attrgetter(field.attribute), writer, field.always, only_none


@cache
def _plan(api_type: type[ApiType]) -> tuple[_Plan, ...]:
    return tuple(_field_plan(field) for field in fields_of(api_type).values())
