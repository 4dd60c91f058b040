"""What every API type is made of.

An API type is an immutable ``msgspec.Struct``: attributes in snake_case, JSON names in camelCase (or given by
``name=``), lists as tuples, maps as read-only mappings. These declarations are the one place that says which fields a
kind has; decoding, encoding, the language's field checks and completion all read them (``schema``).
"""

from typing import Annotated, Any, TypeAlias, TypeVar

from msgspec import Meta, Struct

_T = TypeVar("_T")

Always = Annotated[_T, Meta(extra={"always": True})]
"""The JSON form has this field even when it is empty (Go: no ``omitempty``)."""

Int32: TypeAlias = Annotated[int, Meta(extra={"format": "int32"})]
Int64: TypeAlias = Annotated[int, Meta(extra={"format": "int64"})]
Time: TypeAlias = Annotated[str, Meta(extra={"format": "time"})]
"""RFC 3339, whole seconds, in the text form in which the API server stores it."""
MicroTime: TypeAlias = Annotated[str, Meta(extra={"format": "microtime"})]
DurationText: TypeAlias = Annotated[str, Meta(extra={"format": "duration"})]
Bytes: TypeAlias = Annotated[str, Meta(extra={"format": "byte"})]
IntOrString: TypeAlias = Annotated[int | str, Meta(extra={"format": "int-or-string"})]
Raw: TypeAlias = Annotated[Any, Meta(extra={"format": "raw"})]
"""Any JSON value, carried as it is."""


def since(version: str) -> Meta:
    """Marks a field that earlier versions of Kubernetes do not know."""
    return Meta(extra={"since": version})


class ApiType(Struct, frozen=True, rename="camel", gc=False):
    """Base of all API types.

    They are built from the leaves up and never change, so that there are no cycles among them for the garbage collector
    to look for (``gc=False``).
    """
