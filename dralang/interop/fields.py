"""Fields of API types as entries of blocks, guided by the schema: what any field looks like without sugar."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, Final, TypeAlias

from dralang.api.base import ApiType
from dralang.api.resourceslice import Counter, DeviceAttribute, DeviceCapacity
from dralang.api.schema import FieldSchema, fields_of
from dralang.check.values import VERSION
from dralang.interop import words
from dralang.interop.words import NOWHERE, CannotWriteError
from dralang.syntax import nodes as n

Writer: TypeAlias = Callable[[Any, int], n.Value]
"""Writes a value that stands inside that many brackets."""

# json name, its word, attribute, writer, what is left out
_Plan: TypeAlias = tuple[str, n.Word, Callable[[Any], Any], Writer, Any]

_PERCENTAGE = re.compile(r"[0-9]+%\Z")
_NEVER: Final = object()


def field(name: str, value: n.Value) -> n.Field:
    """``name: value``."""
    return n.Field(NOWHERE, words.name(name), value)


def block(entries: list[n.Entry]) -> n.Block:
    """``{ ... }``."""
    return n.Block(NOWHERE, tuple(entries))


def entries_of(value: ApiType, depth: int, without: frozenset[str] = frozenset()) -> list[n.Entry]:
    """The fields of a struct that are given, in the order of the API.

    Args:
        value: the struct.
        depth: the brackets around its fields.
        without: JSON names of fields that are written elsewhere.

    Raises:
        CannotWriteError: a value that the language has no form for.
    """
    result: list[n.Entry] = []
    for json, word, get, write, empty in _plan(type(value)):
        content = get(value)
        if content is None or content == empty or json in without:
            continue
        try:
            result.append(n.Field(NOWHERE, word, write(content, depth)))
        except CannotWriteError as error:
            error.steps.append(json)
            raise
    return result


def write_field(value: ApiType, json: str, depth: int) -> n.Field:
    """One field of a struct, given or not."""
    _, word, get, write, _ = next(plan for plan in _plan(type(value)) if plan[0] == json)
    try:
        return n.Field(NOWHERE, word, write(get(value), depth))
    except CannotWriteError as error:
        error.steps.append(json)
        raise


def write_struct(value: ApiType, depth: int) -> n.Block:
    """A struct as a map."""
    words.check_depth(depth)
    return n.Block(NOWHERE, tuple(entries_of(value, depth + 1)))


@cache
def _plan(api_type: type[ApiType]) -> tuple[_Plan, ...]:
    return tuple(
        (
            schema.json,
            words.name(schema.json),
            attrgetter(schema.attribute),
            _field_writer(schema),
            # "Not given" of a nullable field is None; its empty values are values.
            _NEVER if schema.nullable else schema.default,
        )
        for schema in fields_of(api_type).values()
    )


def _field_writer(schema: FieldSchema) -> Writer:
    write = _element_writer(schema)
    if schema.shape == "list":
        return _list_writer(write)
    return _map_writer(write) if schema.shape == "map" else write


def _list_writer(write: Writer) -> Writer:
    def write_list(content: Any, depth: int) -> n.Value:
        words.check_depth(depth)
        items = []
        try:
            for item in content:
                items.append(words.NULL if item is None else write(item, depth + 1))
        except CannotWriteError as error:
            error.steps.append(len(items))
            raise
        return n.ListValue(NOWHERE, tuple(items))

    return write_list


def _map_writer(write: Writer) -> Writer:
    def write_map(content: Any, depth: int) -> n.Value:
        words.check_depth(depth)
        fields: list[n.Entry] = []
        key = ""
        try:
            for key, item in content.items():
                fields.append(field(key, words.NULL if item is None else write(item, depth + 1)))
        except CannotWriteError as error:
            error.steps.append(key)
            raise
        return n.Block(NOWHERE, tuple(fields))

    return write_map


def _element_writer(schema: FieldSchema) -> Writer:
    if schema.struct is not None:
        return _STRUCTS.get(schema.struct, write_struct)
    if schema.json == "expression":
        return lambda content, depth: words.expression(content)
    return _SCALARS[schema.format]


def _int_or_string(content: Any, depth: int) -> n.Value:
    if isinstance(content, int) or _PERCENTAGE.match(content):
        return words.number(content)
    return words.value(content)


def _attribute(content: DeviceAttribute, depth: int) -> n.Value:
    """An attribute without its wrapper, if the type of the value says which member it is."""
    given = [schema for schema in fields_of(DeviceAttribute).values() if getattr(content, schema.attribute) is not None]
    if len(given) == 1:
        kind = given[0].json
        held = getattr(content, given[0].attribute)
        if given[0].shape == "list":
            if held or kind == "strings":
                items = [_attribute_value(kind.removesuffix("s"), item) for item in held]
                if None not in items:
                    return n.ListValue(NOWHERE, tuple([item for item in items if item is not None]))
        else:
            word = _attribute_value(kind, held)
            if word is not None:
                return word
    return write_struct(content, depth)


def _attribute_value(kind: str, held: Any) -> n.Word | None:
    if kind == "string":
        return words.quoted(held)
    if kind == "version":
        text = f"v{held}"
        return n.Word(NOWHERE, text) if VERSION.match(text) and words.is_bare(text) else None
    return words.boolean(held) if kind == "bool" else words.number(held)


def _capacity(content: DeviceCapacity | Counter, depth: int) -> n.Value:
    if isinstance(content, DeviceCapacity) and content.request_policy is not None:
        return write_struct(content, depth)
    return words.number(content.value)


def _string(content: str, depth: int) -> n.Value:
    return words.value(content)


def _number(content: Any, depth: int) -> n.Value:
    return words.number(content)


_STRUCTS: Final[Mapping[type[ApiType], Writer]] = {
    DeviceAttribute: _attribute,
    DeviceCapacity: _capacity,
    Counter: _capacity,
}
_SCALARS: Final[Mapping[str, Writer]] = {
    "string": _string,
    "time": _string,
    "microtime": _string,
    "duration": _string,
    "byte": _string,
    "bool": lambda content, depth: words.boolean(content),
    "int32": _number,
    "int64": _number,
    "quantity": _number,
    "int-or-string": _int_or_string,
    "raw": words.raw,
}
