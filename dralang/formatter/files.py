"""Whole files and what stands at their top level, as operations."""

import re
from collections.abc import Callable
from typing import Any, Final

from dralang.diagnostics.source import Span
from dralang.formatter.declarations import put_call, put_decl, put_header
from dralang.formatter.statements import put_body, put_property
from dralang.formatter.stream import Break, BreakStyle, Edge, Operation, Stream
from dralang.formatter.values import CONTINUATION_INDENT, put_braced, put_bracketed, put_name, put_names, put_value
from dralang.syntax import nodes as n

# Up to the next brace that is not in a comment.
_TO_BRACE = re.compile(r"(?:[^{#]++|#[^\n]*+)*\{")


def file_operations(file: n.File) -> list[Operation]:
    """The operations of a file, from its first break to its last."""
    stream = Stream(file.source)
    stream.line("", edge=Edge.OPENING, keeps_blank=True)
    before: n.Item | None = None
    for item in file.items:
        if before is not None:
            separator = stream.line("", BreakStyle.HARD, keeps_blank=True)
            _separate(stream, separator, before, item)
        _put_item(stream, item)
        before = item
    stream.line("", edge=Edge.CLOSING, keeps_blank=True)
    return stream.operations


def _separate(stream: Stream, separator: Break, before: n.Item, item: n.Item) -> None:
    """Set off items that no author has set off: those of another kind, and all scenarios."""
    if not stream.is_read(item.span):
        separator.blank = isinstance(item, n.Scenario) or _kind(before) != _kind(item)


def _kind(item: n.Item) -> str:
    return item.kind if isinstance(item, n.Decl) else type(item).__name__


def _put_item(stream: Stream, item: n.Item) -> None:
    _ITEMS[type(item)](stream, item)


def _put_use(stream: Stream, item: n.Use) -> None:
    stream.first("use", item)
    stream.word(item.target)
    if item.alias is not None:
        stream.text(" as ")
        stream.word(item.alias)


def _put_fixture(stream: Stream, item: n.Fixture) -> None:
    stream.first("fixture", item)
    stream.word(item.name)
    parameters, items = _fixture_spans(stream, item)
    put_bracketed(stream, "(", ")", parameters, item.params, _put_param)
    put_braced(
        stream,
        items,
        item.items,
        separator="; ",
        before=(" ", " "),
        put=lambda entry: _put_item(stream, entry),
        spread=None if stream.is_read(items) else True,
    )


def _fixture_spans(stream: Stream, item: n.Fixture) -> tuple[Span, Span]:
    """The spans of the parentheses and of the braces of a fixture."""
    span = item.span
    if not stream.is_read(span):
        return span, span
    text = span.source.text
    opening = text.index("(", item.name.span.end)
    head = _TO_BRACE.match(text, item.params[-1].span.end if item.params else opening)
    assert head is not None  # it was parsed: there is a brace
    brace = head.end() - 1
    return Span(span.source, opening, text.rindex(")", 0, brace) + 1), Span(span.source, brace, span.end)


def _put_param(stream: Stream, param: n.Param) -> None:
    stream.word(param.name)
    if param.default is not None:
        stream.text(" = ")
        put_value(stream, param.default)


def _put_scenario(stream: Stream, item: n.Scenario) -> None:
    stream.begin(CONTINUATION_INDENT)
    stream.first("fuzz" if item.fuzz else "scenario", item)
    stream.word(item.title)
    if item.source is not None:
        # Not a continuation word: stays on the line of the title.
        stream.text(" from ")
        put_call(stream, item.source)
    if item.tags:
        stream.line()
        stream.text("tagged ")
        put_names(stream, item.tags)
    if item.xfail is not None:
        stream.line()
        stream.text("xfail ")
        stream.word(item.xfail)
    if item.table is not None:
        stream.line()
        _put_table(stream, item.table)
    stream.end()
    put_body(stream, item.body)


def _put_table(stream: Stream, table: n.Table) -> None:
    stream.text("for ")
    if len(table.names) == 1:
        stream.word(table.names[0])
    else:
        put_bracketed(stream, "(", ")", _names_span(stream, table), table.names, put_name)
    stream.text(" in ")
    if table.rows is not None:
        put_value(stream, table.rows)
    elif table.low is not None and table.high is not None:
        stream.word(table.low)
        stream.text("..")
        stream.word(table.high)


def _names_span(stream: Stream, table: n.Table) -> Span:
    """The span of the parentheses around the names of a table."""
    span = table.span
    if not stream.is_read(span) or table.rows is None:
        return span
    text = span.source.text
    return Span(span.source, text.index("(", span.start), text.rindex(")", 0, table.rows.span.start) + 1)


_ITEMS: Final[dict[type, Callable[[Stream, Any], None]]] = {
    n.Header: put_header,
    n.Use: _put_use,
    n.Fixture: _put_fixture,
    n.Call: put_call,
    n.Decl: put_decl,
    n.Scenario: _put_scenario,
    n.Property: put_property,
}
