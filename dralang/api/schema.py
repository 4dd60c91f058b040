"""What the declarations of the API types say about their fields.

Everything that must know the fields of a kind (decoding, encoding, the language's checks, completion, import, export)
asks here.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from dralang.api.base import ApiType
from dralang.values.quantity import Quantity

Shape = Literal["scalar", "list", "map", "struct"]
Format = Literal[
    "string",
    "bool",
    "int32",
    "int64",
    "quantity",
    "time",
    "microtime",
    "duration",
    "byte",
    "int-or-string",
    "raw",
    "struct",
]


class FieldSchema(Struct, frozen=True):
    """A field of an API type.

    Attributes:
        attribute: the Python attribute.
        json: the name in JSON, YAML and `.dra`.
        shape: what the field holds; ``list`` and ``map`` hold elements of ``format``, keys of maps are strings.
        format: the value, or the element of a list or map.
        struct: the type of the value or element if ``format`` is ``struct``.
        enum: the values that the API knows, if the set is closed; others decode, and validation refuses them.
        always: whether the JSON form has the field even when it is empty.
        nullable: whether "not given" differs from the zero value.
        default: the value when the field is not given.
        since: the first version of Kubernetes that knows the field; empty if all that are modelled do.
    """

    attribute: str
    json: str
    shape: Shape
    format: Format
    struct: type[ApiType] | None
    enum: tuple[str, ...]
    always: bool
    nullable: bool
    default: Any
    since: str = ""


class _Resolved(Struct, frozen=True):
    """A type annotation taken apart."""

    type: Any
    extra: Mapping[str, Any]
    nullable: bool


def _take_apart(annotation: Any) -> _Resolved:
    extra: dict[str, Any] = {}
    nullable = False
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *metadata = get_args(annotation)
            for meta in metadata:
                if isinstance(meta, Meta) and meta.extra:
                    extra.update(meta.extra)
        elif origin in (Union, UnionType) and NoneType in get_args(annotation):
            nullable = True
            rest = [arg for arg in get_args(annotation) if arg is not NoneType]
            annotation = Union[tuple(rest)]  # noqa: UP007 - built from parts
        else:
            return _Resolved(annotation, extra, nullable)


_FORMATS: Mapping[Any, Format] = MappingProxyType({str: "string", bool: "bool", int: "int64", Quantity: "quantity"})


def _element(annotation: Any) -> tuple[Format, type[ApiType] | None, tuple[str, ...]]:
    resolved = _take_apart(annotation)
    enum = tuple(resolved.extra.get("enum", ()))
    if "format" in resolved.extra:
        return resolved.extra["format"], None, enum
    if isinstance(resolved.type, type) and issubclass(resolved.type, ApiType):
        return "struct", resolved.type, enum
    return _FORMATS[resolved.type], None, enum


def _field_schema(info: msgspec.structs.FieldInfo) -> FieldSchema:
    resolved = _take_apart(info.type)
    origin = get_origin(resolved.type)
    shape: Shape
    if origin is tuple:
        shape, (inner, _) = "list", get_args(resolved.type)
    elif origin is not None and issubclass(origin, Mapping):
        shape, (_, inner) = "map", get_args(resolved.type)
    else:
        shape, inner = "scalar", info.type
    element, struct, enum = _element(inner)
    if shape == "scalar" and struct is not None:
        shape = "struct"
    return FieldSchema(
        attribute=info.name,
        json=info.encode_name,
        shape=shape,
        format=element,
        struct=struct,
        enum=enum,
        always=bool(resolved.extra.get("always")),
        nullable=resolved.nullable,
        default=info.default_factory() if info.default is msgspec.NODEFAULT else info.default,
        since=str(resolved.extra.get("since", "")),
    )


@cache
def fields_of(api_type: type[ApiType]) -> Mapping[str, FieldSchema]:
    """The fields of a type by JSON name, in the order of the API."""
    schemas = (_field_schema(info) for info in msgspec.structs.fields(api_type))
    return MappingProxyType({schema.json: schema for schema in schemas})


def field_at(api_type: type[ApiType], path: tuple[str | int, ...]) -> FieldSchema | None:
    """The field that a path of JSON names, list indices and map keys leads into, or None if there is none."""
    here: type[ApiType] | None = api_type
    found: FieldSchema | None = None
    inside = False
    for step in path:
        if inside:
            inside = False
            continue
        found = fields_of(here).get(step) if here is not None and isinstance(step, str) else None
        if found is None:
            return None
        here = found.struct
        inside = found.shape in {"list", "map"}
    return found
