"""Random API objects, made from what the schema says about the fields of a type."""

from functools import cache
from typing import Any

from hypothesis import strategies as st

from dralang.api.base import ApiType
from dralang.api.schema import FieldSchema, fields_of
from dralang.values.quantity import parse_quantity

_NAMES = st.sampled_from(
    ["a", "gpu-0", "gpu.example.com", "gpu.example.com/model", "node-1", "numa", "x_1", "UPPER", "é", ""]
)
_QUANTITIES = st.sampled_from(["0", "1", "500m", "40Gi", "1.5Gi", "1e3", "-4", "1000", "0.1", "16Ei"]).map(
    parse_quantity
)
_TIMES = st.sampled_from(["2026-01-31T12:00:00Z", "1999-12-31T23:59:59Z"])
_RAW = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**53), 2**53), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=4,
)
_SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "string": st.one_of(_NAMES, st.text(max_size=8)),
    "bool": st.booleans(),
    "int32": st.integers(-(2**31), 2**31 - 1),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "quantity": _QUANTITIES,
    "time": _TIMES,
    "microtime": _TIMES.map(lambda text: text.replace("Z", ".000001Z")),
    "duration": st.just("10s"),
    "byte": st.just("aGVsbG8="),
    "int-or-string": st.one_of(st.integers(0, 100), st.just("50%")),
    "raw": _RAW,
}
_DEPTH = 9


def objects_of(api_type: type[ApiType], depth: int = _DEPTH) -> st.SearchStrategy[Any]:
    """Objects of a type in which every field may be given; ``depth`` bounds how far down structs go."""
    return _objects_of(api_type, depth)


@cache
def _objects_of(api_type: type[ApiType], depth: int) -> st.SearchStrategy[Any]:
    usable = {field.attribute: field for field in fields_of(api_type).values() if field.struct is None or depth > 0}

    @st.composite
    def build(draw: st.DrawFn) -> Any:
        # A few fields each time: an object in which everything is given is too large to be looked at.
        chosen = draw(st.lists(st.sampled_from(sorted(usable)), max_size=4, unique=True)) if usable else []
        return api_type(**{name: draw(_content(usable[name], depth)) for name in chosen})

    return build()


def _content(field: FieldSchema, depth: int) -> st.SearchStrategy[Any]:
    element = _objects_of(field.struct, depth - 1) if field.struct is not None else _SCALARS[field.format]
    if field.enum:
        element = st.one_of(st.sampled_from(field.enum), element)
    if field.shape == "list":
        return st.lists(element, min_size=1, max_size=2).map(tuple)
    if field.shape == "map":
        return st.dictionaries(_NAMES, element, min_size=1, max_size=2)
    return element
