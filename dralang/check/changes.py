"""Changes to declared objects: the path of ``set``, and its value in the type of the field it names."""

import re
from collections.abc import Mapping

from dralang.api.base import ApiType
from dralang.api.kinds import KINDS
from dralang.api.located import Located
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import NodeStatus
from dralang.api.schema import FieldSchema, fields_of
from dralang.check import problems
from dralang.check.expand import Bindings, substitute
from dralang.check.unknown import unknown_field
from dralang.check.values import Converter
from dralang.scenario.entries import entry_index
from dralang.syntax import nodes as n

Path = tuple[str | int, ...]

_INDEX = re.compile(r"[0-9]{1,9}\Z")
_SEGMENT = re.compile(r"\.?([^.\[\]]+)|\[([^\[\]]*)\]")


class Change:
    """Where a ``set`` points and what it puts there."""

    __slots__ = ("path", "value")

    def __init__(self, path: Path, value: Located) -> None:
        self.path = path
        self.value = value


def read_change(
    kind: str, path_word: n.Word, value: n.Value, bindings: Bindings, converter: Converter
) -> Change | None:
    """The change of ``set OBJECT PATH: VALUE``, or None after diagnostics."""
    text = substitute(path_word.text, path_word.span, bindings, converter.log)
    if text is None:
        return None
    segments = _segments(text)
    if segments is None:
        converter.log.add(
            problems.wrong_value(f"`{text}` is no field", path_word.span, "write `devices[gpu-0].allNodes`")
        )
        return None
    return _walk(kind, segments, path_word, value, bindings, converter)


def _segments(text: str) -> list[tuple[str, bool]] | None:
    """Names and bracketed parts of a path; the flag marks the bracketed ones."""
    result: list[tuple[str, bool]] = []
    position = 0
    while position < len(text):
        found = _SEGMENT.match(text, position)
        if found is None:
            return None
        result.append((found[1], False) if found[1] is not None else (found[2], True))
        position = found.end()
    return result or None


def _start(kind: str, first: str) -> tuple[Path, type[ApiType]]:
    """Where a field of a declaration lives in the object: the path before it, and the struct that has it."""
    info = KINDS[kind]
    fields = fields_of(info.type)
    if first in ("labels", "annotations"):
        return ("metadata",), ObjectMeta
    if kind == "Node" and first in ("capacity", "allocatable"):
        return ("status",), NodeStatus
    if first in ("metadata", "status") or "spec" not in fields:
        return (), info.type
    spec = fields["spec"].struct
    assert spec is not None
    if kind == "ResourceClaimTemplate":
        inner = fields_of(spec)["spec"].struct
        assert inner is not None
        return ("spec", "spec"), inner
    return ("spec",), spec


def _walk(
    kind: str,
    segments: list[tuple[str, bool]],
    path_word: n.Word,
    value: n.Value,
    bindings: Bindings,
    converter: Converter,
) -> Change | None:
    prefix, struct = _start(kind, segments[0][0])
    path: list[str | int] = list(prefix)
    here: type[ApiType] | None = struct
    schema: FieldSchema | None = None
    in_collection = False
    for text, bracketed in segments:
        if bracketed != in_collection:
            # After a list or map the path names an entry in brackets; elsewhere it names a field.
            if in_collection and schema is not None and schema.shape == "map":
                path.append(text)
                in_collection = False
                continue
            way_out = f"name an entry: `{text}[...]`" if in_collection else "brackets follow a list or map"
            converter.log.add(problems.wrong_value(f"`{path_word.text}` is no field", path_word.span, way_out))
            return None
        if bracketed:
            path.append(int(text) if _INDEX.match(text) and schema is not None and schema.shape == "list" else text)
            in_collection = False
            continue
        fields: Mapping[str, FieldSchema] = fields_of(here) if here is not None else {}
        schema = fields.get(text)
        if schema is None:
            where = f"a {KINDS[kind].keyword or kind}" if here is struct else f"`{path[-1] if path else kind}`"
            converter.log.add(unknown_field(text, path_word.span, where, fields))
            return None
        path.append(text)
        here = schema.struct
        in_collection = schema.shape in ("list", "map")
    assert schema is not None
    located = (
        converter.member(value, schema, bindings) if in_collection or schema.shape not in ("list", "map") else None
    )
    if located is None and schema.shape in ("list", "map") and not in_collection:
        located = converter.element(value, schema, bindings)
    return None if located is None else Change(tuple(path), located)


def apply_change(root: Located, change: Change) -> Located | None:
    """The object with the change made; None if the path leads nowhere."""
    return _put(root, change.path, change.value)


def _put(here: Located, path: Path, value: Located) -> Located | None:
    if not path:
        return Located(value.value, value.span, here.key_span)
    step, rest = path[0], path[1:]
    inside = here.value
    if isinstance(inside, tuple):
        index = entry_index([entry.plain() for entry in inside], step)
        if index is None:
            return None
        changed = _put(inside[index], rest, value)
        if changed is None:
            return None
        return Located((*inside[:index], changed, *inside[index + 1 :]), here.span, here.key_span)
    if isinstance(inside, Mapping) and isinstance(step, str):
        below = inside.get(step, Located({}, value.span, value.span))
        changed = _put(below, rest, value)
        if changed is None:
            return None
        return Located({**inside, step: changed}, here.span, here.key_span)
    return None
