"""When an API server takes two values for equal.

Source: apimachinery's pkg/api/equality (1.37): amounts of quantities count, not their texts; empty and absent lists are
the same; raw JSON is compared as text, so the order of its keys counts.
"""

import json
from functools import cache
from typing import Any

from dralang.api.base import ApiType
from dralang.api.schema import FieldSchema, fields_of


def semantically_equal(left: Any, right: Any) -> bool:
    """Whether an update from one to the other is none."""
    if left != right:
        return False
    # What is equal has the same shape, so walking one side of it is enough to find raw JSON on both.
    return _raw_texts(left) == _raw_texts(right)


def _raw_texts(value: Any) -> list[str]:
    found: list[str] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[str]) -> None:
    if isinstance(value, ApiType):
        for field in _fields_with_raw(type(value)):
            content = getattr(value, field.attribute)
            if field.format == "raw":
                found.append(json.dumps(content))
            else:
                _collect(content, found)
    elif isinstance(value, tuple):
        for element in value:
            _collect(element, found)
    elif isinstance(value, dict):
        for key in sorted(value):
            _collect(value[key], found)


@cache
def _fields_with_raw(api_type: type[ApiType]) -> tuple[FieldSchema, ...]:
    return tuple(field for field in fields_of(api_type).values() if _leads_to_raw(field, frozenset({api_type})))


def _leads_to_raw(field: FieldSchema, above: frozenset[type[ApiType]]) -> bool:
    if field.struct is None or field.struct in above:
        return field.format == "raw"
    inside = above | {field.struct}
    return any(_leads_to_raw(inner, inside) for inner in fields_of(field.struct).values())
