"""Statements of scenarios, as operations."""

from collections.abc import Callable
from typing import Any, Final

from dralang.formatter.declarations import put_call, put_decl, put_header
from dralang.formatter.propositions import put_because, put_proposition, put_ref, put_refs
from dralang.formatter.stream import BreakStyle, Edge, Stream
from dralang.formatter.values import (
    CONTINUATION_INDENT,
    INDENT,
    put_body_block,
    put_choice,
    put_listed,
    put_taint_spec,
    put_value,
)
from dralang.syntax import nodes as n


def put_body(stream: Stream, body: n.Body) -> None:
    """Write ``{ statements }``: on one line, or spread; then statements that the author joined with `;` stay joined.

    A timed statement is always the last one of its line: `at 10s a; b` looks as if b happened at 10s too.
    """
    statements = body.statements
    is_read = stream.is_read(body.span)
    spread_by_author = bool(statements) and (not is_read or stream.newline_follows(body.span.start + 1))
    spread = spread_by_author or any(_is_timed(statement) for statement in statements[:-1])
    stream.begin(INDENT, spread=spread)
    if is_read:
        stream.text(" {", body.span.start)
    else:
        stream.text(" {")
    before: n.Statement | None = None
    for statement in statements:
        if before is None:
            stream.line(edge=Edge.OPENING, keeps_blank=True)
        else:
            joined = spread_by_author and not _is_timed(before) and stream.is_joined(before, statement)
            stream.line("; ", BreakStyle.JOINT if joined else BreakStyle.LINE, keeps_blank=True)
        stream.begin()
        put_statement(stream, statement)
        stream.end()
        before = statement
    stream.line(" " if statements else "", edge=Edge.CLOSING, keeps_blank=True)
    stream.end()
    stream.text("}", body.span.end - 1 if is_read else -1)


def put_statement(stream: Stream, statement: n.Statement) -> None:
    """Write a statement. One that contains another one and no braces may do so any number of times: no recursion."""
    inner: n.Statement | n.Body | None = statement
    while isinstance(inner, (n.Maybe, n.At, n.After)):
        if isinstance(inner, n.Maybe):
            stream.first("maybe", inner)
            inner = inner.statement
            continue
        if isinstance(inner, n.At):
            stream.first("at", inner)
            put_choice(stream, inner.time)
        else:
            stream.first("after", inner)
            put_choice(stream, inner.duration)
        inner = inner.body
        if inner is not None and not isinstance(inner, n.Body):
            stream.text(" ")
    if isinstance(inner, n.Body):
        put_body(stream, inner)
    elif inner is not None:
        _STATEMENTS[type(inner)](stream, inner)


def _is_timed(statement: n.Statement) -> bool:
    inner = statement
    while isinstance(inner, n.Maybe):
        inner = inner.statement
    return isinstance(inner, (n.At, n.After)) or (isinstance(inner, n.Expect) and inner.within is not None)


# ---- actions --------------------------------------------------------------------------------------------------------


def _put_create(stream: Stream, statement: n.Create) -> None:
    stream.first("create", statement)
    put_refs(stream, statement.objects)
    if statement.like is not None:
        stream.text(" like ")
        put_ref(stream, statement.like)
    put_body_block(stream, statement.body)


def _put_objects_action(stream: Stream, statement: n.ObjectsAction) -> None:
    stream.first(statement.keyword, statement)
    put_refs(stream, statement.objects)


def _put_set_field(stream: Stream, statement: n.SetField) -> None:
    stream.first("set", statement)
    put_ref(stream, statement.object)
    stream.text(" ")
    stream.word(statement.path)
    stream.text(": ")
    put_value(stream, statement.value)


def _put_set_block(stream: Stream, statement: n.SetBlock) -> None:
    stream.first("set", statement)
    put_ref(stream, statement.object)
    put_body_block(stream, statement.body)


def _put_set_condition(stream: Stream, statement: n.SetCondition) -> None:
    stream.begin(CONTINUATION_INDENT)
    stream.first("set condition", statement)
    put_choice(stream, statement.condition)
    stream.text(" of ")
    put_ref(stream, statement.claim)
    stream.text(" device ")
    put_choice(stream, statement.device)
    stream.text(": ")
    put_value(stream, statement.value)
    put_because(stream, statement.because)
    stream.end()


def _put_publish(stream: Stream, statement: n.Publish) -> None:
    stream.first("publish", statement)
    put_decl(stream, statement.decl)


def _put_taint_object(stream: Stream, statement: n.TaintObject) -> None:
    stream.begin(CONTINUATION_INDENT)
    stream.first("taint", statement)
    put_ref(stream, statement.target)
    stream.line()
    stream.text("with ")
    put_taint_spec(stream, statement.taint)
    stream.end()


def _put_untaint_object(stream: Stream, statement: n.UntaintObject) -> None:
    stream.first("untaint", statement)
    put_ref(stream, statement.target)
    stream.text(" ")
    put_choice(stream, statement.key)
    if statement.effect is not None:
        stream.text(":")
        put_choice(stream, statement.effect)


def _put_label(stream: Stream, statement: n.Label) -> None:
    stream.first("label", statement)
    put_ref(stream, statement.object)
    stream.text(" ")
    put_listed(stream, statement.entries, _put_label_entry)


def _put_label_entry(stream: Stream, entry: n.LabelEntry) -> None:
    stream.word(entry.key)
    stream.text("=")
    if entry.value is not None:
        put_choice(stream, entry.value)


def _put_repeat(stream: Stream, statement: n.Repeat) -> None:
    stream.first("repeat", statement)
    put_choice(stream, statement.count)
    if statement.name is not None:
        stream.text(" as ")
        stream.word(statement.name)
    put_body(stream, statement.body)


def _put_component_action(stream: Stream, statement: n.ComponentAction) -> None:
    stream.first(statement.keyword, statement)
    put_choice(stream, statement.component)


def _put_fail_next(stream: Stream, statement: n.FailNext) -> None:
    stream.first("fail next", statement)
    if statement.count is not None:
        put_choice(stream, statement.count)
        stream.text(" ")
    stream.text(f"{statement.operation} of ")
    put_ref(stream, statement.object)


def _put_delay(stream: Stream, statement: n.Delay) -> None:
    stream.first("delay", statement)
    put_choice(stream, statement.component)
    stream.text(" by ")
    put_choice(stream, statement.duration)


def _put_any_order(stream: Stream, statement: n.AnyOrder) -> None:
    stream.text("any order of", stream.position_of(statement))
    put_body(stream, statement.body)


def _put_compare(stream: Stream, statement: n.Compare) -> None:
    stream.begin(CONTINUATION_INDENT)
    stream.text("compare", stream.position_of(statement))
    stream.line()
    stream.text("with")
    stream.end()
    put_body_block(stream, statement.settings)


# ---- time and expectations ------------------------------------------------------------------------------------------


def _put_settle(stream: Stream, statement: n.Settle) -> None:
    stream.text("settle", stream.position_of(statement))


def _put_expect(stream: Stream, statement: n.Expect) -> None:
    stream.begin(CONTINUATION_INDENT)
    if statement.within is None:
        stream.first("expect", statement)
    else:
        stream.first("within", statement)
        put_choice(stream, statement.within)
        stream.text(" expect ")
    put_proposition(stream, statement.proposition)
    stream.end()


def put_property(stream: Stream, statement: n.Property) -> None:
    """Write ``always P``, ``never P``, ``witness P``."""
    stream.begin(CONTINUATION_INDENT)
    stream.first(statement.keyword, statement)
    put_proposition(stream, statement.proposition)
    stream.end()


_STATEMENTS: Final[dict[type, Callable[[Stream, Any], None]]] = {
    n.Header: put_header,
    n.Decl: put_decl,
    n.Call: put_call,
    n.Property: put_property,
    n.Expect: _put_expect,
    n.Settle: _put_settle,
    n.ObjectsAction: _put_objects_action,
    n.Create: _put_create,
    n.SetField: _put_set_field,
    n.SetBlock: _put_set_block,
    n.SetCondition: _put_set_condition,
    n.Publish: _put_publish,
    n.TaintObject: _put_taint_object,
    n.UntaintObject: _put_untaint_object,
    n.Label: _put_label,
    n.Repeat: _put_repeat,
    n.ComponentAction: _put_component_action,
    n.FailNext: _put_fail_next,
    n.Delay: _put_delay,
    n.AnyOrder: _put_any_order,
    n.Compare: _put_compare,
}
