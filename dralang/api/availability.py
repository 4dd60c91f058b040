"""Fields that a version of Kubernetes does not know yet."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from dralang.api.base import ApiType
from dralang.api.schema import FieldSchema, fields_of


def newer_fields(value: ApiType, version: str) -> tuple[tuple[str | int, ...], ...]:
    """The paths of what is given in an object although ``version`` of Kubernetes has no such field."""
    return tuple(_newer(value, version, ()))


def _newer(value: Any, version: str, path: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, ApiType):
        for field in _leading(type(value), version):
            content = getattr(value, field.attribute)
            here = (*path, field.json)
            # Versions are compared as text: all that are modelled have two digits.
            if field.since > version and content != field.default:
                yield here
            else:
                yield from _newer(content, version, here)
    elif isinstance(value, tuple):
        for index, element in enumerate(value):
            yield from _newer(element, version, (*path, index))
    elif isinstance(value, Mapping):
        for name, element in value.items():
            yield from _newer(element, version, (*path, name))


@cache
def _leading(api_type: type[ApiType], version: str) -> tuple[FieldSchema, ...]:
    """The fields that a version does not have, or that lead to such a field."""
    return tuple(field for field in fields_of(api_type).values() if _leads(field, version, frozenset({api_type})))


def _leads(field: FieldSchema, version: str, above: frozenset[type[ApiType]]) -> bool:
    if field.since > version:
        return True
    if field.struct is None or field.struct in above:
        return False
    inside = above | {field.struct}
    return any(_leads(inner, version, inside) for inner in fields_of(field.struct).values())
