"""Values, blocks and their entries, as operations."""

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final

from dralang.diagnostics.source import Span
from dralang.formatter.stream import NOWHERE, BreakStyle, Edge, Stream
from dralang.syntax import nodes as n
from dralang.syntax.tokens import CONTINUATIONS

INDENT: Final = 2
CONTINUATION_INDENT: Final = 4


class BlockStyle(Enum):
    """What a block is to its reader."""

    BODY = 0  # of a declaration or of sugar: statements, `a; b` on one line
    MAP = 1  # a value: `key: value, key: value` on one line


# ---- values ---------------------------------------------------------------------------------------------------------


def put_value(stream: Stream, value: n.Value) -> None:
    """Write a value."""
    if isinstance(value, n.Word):
        stream.word(value)
    elif isinstance(value, n.CelText):
        put_cel(stream, value)
    elif isinstance(value, n.ListValue):
        put_bracketed(stream, "[", "]", value.span, value.items, put_value)
    elif isinstance(value, n.TupleValue):
        put_bracketed(stream, "(", ")", value.span, value.items, put_value)
    elif isinstance(value, n.Block):
        put_block(stream, value, BlockStyle.MAP)
    else:
        put_hole(stream, value)


def put_hole(stream: Stream, hole: n.Hole) -> None:
    """Write ``any ...``."""
    stream.first("any", hole)
    if isinstance(hole, n.AnyRange):
        stream.word(hole.low)
        stream.text("..")
        stream.word(hole.high)
    elif isinstance(hole, n.AnyOf):
        stream.text("subset of " if hole.subset else "of ")
        put_value(stream, hole.items)
    else:
        stream.text(hole.kind)


def put_choice(stream: Stream, choice: n.Word | n.Hole) -> None:
    """Write a time, a number or a name, or a hole in its place."""
    if isinstance(choice, n.Word):
        stream.word(choice)
    else:
        put_hole(stream, choice)


def put_cel(stream: Stream, cel: n.CelText) -> None:
    """Write an expression as it is; of its lines, too, only the ends are made uniform."""
    stream.text("`" + cel.text.replace("\r\n", "\n") + "`", stream.position_of(cel))


def put_bracketed(
    stream: Stream, opening: str, closing: str, span: Span, items: Sequence[Any], put: Callable[[Stream, Any], None]
) -> None:
    """Write ``[a, b]`` or ``(a, b)``: on one line, or each item on its own."""
    is_read = stream.is_read(span)
    put_opening = span.start if is_read else NOWHERE
    stream.text(opening, put_opening)
    stream.begin(INDENT, spread=bool(items) and is_read and stream.newline_follows(span.start + 1))
    for index, item in enumerate(items):
        if index == 0:
            stream.line("", edge=Edge.OPENING)
        else:
            stream.text(",")
            stream.line()
        put(stream, item)
    stream.line("", edge=Edge.CLOSING)
    stream.end()
    stream.text(closing, span.end - 1 if is_read else NOWHERE)


def put_listed(stream: Stream, items: Sequence[Any], put: Callable[[Stream, Any], None]) -> None:
    """Write ``a, b``: as many on a line as fit."""
    if len(items) == 1:
        put(stream, items[0])
        return
    stream.begin(CONTINUATION_INDENT)
    for index, item in enumerate(items):
        if index > 0:
            stream.text(",")
            stream.line(style=BreakStyle.FILL)
        put(stream, item)
    stream.end()


def put_names(stream: Stream, names: Sequence[n.Word]) -> None:
    """Write ``a, b``."""
    put_listed(stream, names, put_name)


def put_name(stream: Stream, name: n.Word) -> None:
    """Write a name."""
    stream.word(name)


# ---- blocks ---------------------------------------------------------------------------------------------------------


def put_block(stream: Stream, block: n.Block, style: BlockStyle, before: str = "", before_broken: str = "") -> None:
    """Write ``{ ... }`` and what stands before it; that may depend on whether the block stands on one line."""
    put_braced(
        stream,
        block.span,
        block.entries,
        separator=", " if style is BlockStyle.MAP and _is_map(block) else "; ",
        before=(before, before_broken),
        put=lambda entry: put_entry(stream, entry, style),
    )


def put_braced(
    stream: Stream,
    span: Span,
    entries: Sequence[n.Node],
    *,
    separator: str,
    before: tuple[str, str],
    put: Callable[[Any], None],
    spread: bool | None = None,
) -> None:
    """Write ``{ ... }``: on one line, or each entry on its own."""
    is_read = stream.is_read(span)
    if spread is None:
        spread = is_read and stream.newline_follows(span.start + 1)
    stream.begin(INDENT, spread=spread and bool(entries))
    stream.either(before[0] + "{", before[1] + "{", span.start if is_read else NOWHERE)
    for index, entry in enumerate(entries):
        if index == 0:
            stream.line(edge=Edge.OPENING, keeps_blank=True)
        else:
            stream.line(separator, keeps_blank=True)
        put(entry)
    stream.line(" " if entries else "", edge=Edge.CLOSING, keeps_blank=True)
    stream.end()
    stream.text("}", span.end - 1 if is_read else NOWHERE)


def put_body_block(stream: Stream, block: n.Block | None) -> None:
    """Write the body of a declaration or of sugar, if it has one."""
    if block is not None:
        put_block(stream, block, BlockStyle.BODY, " ", " ")


def put_map_block(stream: Stream, block: n.Block) -> None:
    """Write a map that stands after its head."""
    put_block(stream, block, BlockStyle.MAP, " ", " ")


def _is_map(block: n.Block) -> bool:
    return all(isinstance(entry, n.Field) for entry in block.entries)


# ---- entries --------------------------------------------------------------------------------------------------------


def put_entry(stream: Stream, entry: n.Entry, style: BlockStyle) -> None:
    """Write an entry of a block of a style."""
    if isinstance(entry, n.Field):
        _put_field(stream, entry, style)
    else:
        _ENTRIES[type(entry)](stream, entry)


def _put_field(stream: Stream, entry: n.Field, style: BlockStyle) -> None:
    name, value = entry.name, entry.value
    stream.word(name)
    if not isinstance(value, n.Block):
        stream.text(": ")
        put_value(stream, value)
        return
    # A map is written `key: value` throughout. In a body, what is spread over lines looks like the bodies around it;
    # on one line both ways are good, and the author has chosen. A continuation word would go on with the line before.
    if style is BlockStyle.MAP or (name.text in CONTINUATIONS and not name.quoted):
        flat = broken = ": "
    else:
        broken = " "
        flat = ": " if ":" in (stream.between(name, value) or "") else " "
    put_block(stream, value, BlockStyle.MAP if _is_map(value) else BlockStyle.BODY, flat, broken)


def _put_device(stream: Stream, entry: n.Device) -> None:
    stream.first("device", entry)
    stream.word(entry.name)
    put_body_block(stream, entry.body)


def _put_counters(stream: Stream, entry: n.Counters) -> None:
    stream.first("counters", entry)
    stream.word(entry.name)
    put_map_block(stream, entry.body)


def _put_consumes(stream: Stream, entry: n.Consumes) -> None:
    stream.first("consumes", entry)
    stream.word(entry.name)
    put_map_block(stream, entry.body)


def put_taint_parts(stream: Stream, key: n.Choice, value: n.Choice | None, effect: n.Choice | None) -> None:
    """Write ``KEY[=VALUE][:EFFECT]``."""
    put_choice(stream, key)
    if value is not None:
        stream.text("=")
        put_choice(stream, value)
    if effect is not None:
        stream.text(":")
        put_choice(stream, effect)


def put_taint_spec(stream: Stream, taint: n.TaintSpec) -> None:
    """Write ``KEY[=VALUE]:EFFECT``."""
    put_taint_parts(stream, taint.key, taint.value, taint.effect)


def _put_taint(stream: Stream, entry: n.Taint) -> None:
    stream.first("taint", entry)
    put_taint_spec(stream, entry.taint)


def _put_where(stream: Stream, entry: n.Where) -> None:
    stream.first("where", entry)
    put_cel(stream, entry.expression)


def _put_request(stream: Stream, entry: n.Request) -> None:
    if not entry.is_alternative:
        stream.first("request", entry)
    stream.word(entry.name)
    stream.text(": ")
    spec = entry.spec
    if isinstance(spec, n.FirstAvailable):
        stream.first("first", spec)
        stream.text("available")
        put_body_block(stream, spec.body)
        return
    if spec.count is None:
        stream.text("all", stream.position_of(spec))
    else:
        put_choice(stream, spec.count)
    stream.text(" of ")
    put_choice(stream, spec.class_name)
    for where in spec.where:
        stream.text(" ")
        _put_where(stream, where)
    put_body_block(stream, spec.body)


def _put_constraint(stream: Stream, entry: n.Constraint) -> None:
    stream.begin(CONTINUATION_INDENT)
    stream.first(entry.kind, entry)
    stream.word(entry.attribute)
    if entry.across:
        stream.line()
        stream.text("across ")
        put_names(stream, entry.across)
    stream.end()


def _put_tolerate(stream: Stream, entry: n.Tolerate) -> None:
    stream.begin(CONTINUATION_INDENT)
    stream.first("tolerate", entry)
    put_taint_parts(stream, entry.key, entry.value, entry.effect)
    if entry.duration is not None:
        stream.line()
        stream.text("for ")
        put_choice(stream, entry.duration)
    stream.end()


def _put_derive(stream: Stream, entry: n.Derive) -> None:
    stream.first("derive", entry)
    stream.word(entry.name)
    stream.text(" = ")
    put_cel(stream, entry.expression)


def _put_claim_entry(stream: Stream, entry: n.ClaimEntry) -> None:
    stream.first("claim", entry)
    stream.word(entry.name)
    stream.text(f" {entry.relation} ")
    put_choice(stream, entry.target)


def _put_claim_use(stream: Stream, entry: n.ClaimUse) -> None:
    stream.first("claim", entry)
    stream.word(entry.name)
    if entry.request is not None:
        stream.text(" request ")
        stream.word(entry.request)


def _put_container(stream: Stream, entry: n.Container) -> None:
    stream.first("init container" if entry.init else "container", entry)
    stream.word(entry.name)
    put_body_block(stream, entry.body)


def _put_on_node(stream: Stream, entry: n.OnNode) -> None:
    stream.first("on node", entry)
    put_choice(stream, entry.node)


_ENTRIES: Final[dict[type, Callable[[Stream, Any], None]]] = {
    n.Device: _put_device,
    n.Counters: _put_counters,
    n.Consumes: _put_consumes,
    n.Taint: _put_taint,
    n.Where: _put_where,
    n.Request: _put_request,
    n.Constraint: _put_constraint,
    n.Tolerate: _put_tolerate,
    n.Derive: _put_derive,
    n.ClaimEntry: _put_claim_entry,
    n.ClaimUse: _put_claim_use,
    n.Container: _put_container,
    n.OnNode: _put_on_node,
}
