"""JSON values that know where they were written.

Both front ends, `.dra` declarations and YAML documents, end in this form; ``decode`` turns it into API objects, so that
an error points into the source whatever the source was.
"""

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from dralang.diagnostics.source import Span

LocatedContent: TypeAlias = "bool | int | float | str | tuple[Located, ...] | Mapping[str, Located] | None"


class Located(Struct, frozen=True):
    """A JSON value with its place.

    Attributes:
        value: a scalar, a tuple of located elements, or a mapping from names to located values.
        span: the text of the value.
        key_span: the text of its key, if it is an entry of a mapping.
    """

    value: LocatedContent
    span: Span
    key_span: Span | None = None

    def at(self, path: tuple[str | int, ...]) -> "Located":
        """The value at a path, or the deepest value on the way there."""
        here = self
        for step in path:
            inside = here.value
            if isinstance(inside, Mapping):
                found = inside.get(step) if isinstance(step, str) else None
            elif isinstance(inside, tuple) and isinstance(step, int) and 0 <= step < len(inside):
                found = inside[step]
            else:
                found = None
            if found is None:
                break
            here = found
        return here

    def plain(self) -> object:
        """The same value as ordinary JSON: dicts, lists and scalars."""
        value = self.value
        if isinstance(value, Mapping):
            return {key: entry.plain() for key, entry in value.items()}
        if isinstance(value, tuple):
            return [entry.plain() for entry in value]
        return value
