"""Headers, calls of fixtures and declarations, as operations."""

from typing import Final

from dralang.diagnostics.source import Span
from dralang.formatter.stream import Stream
from dralang.formatter.values import put_body_block, put_bracketed, put_map_block, put_value
from dralang.syntax import nodes as n

# Headers whose block says yes or no to names; the others have the fields of an API object.
_SWITCHES: Final = frozenset({"gates", "quirks"})


def put_header(stream: Stream, item: n.Header) -> None:
    """Write ``kubernetes 1.37``, ``gates { ... }`` and the like."""
    value = item.value
    if isinstance(value, n.Word):
        stream.first(item.keyword, item)
        stream.word(value)
        return
    stream.text(item.keyword, stream.position_of(item))
    if item.keyword in _SWITCHES:
        put_map_block(stream, value)
    else:
        put_body_block(stream, value)


def put_call(stream: Stream, call: n.Call) -> None:
    """Write ``gpu-node(worker-1, gpus: 2)``."""
    stream.word(call.name)
    span = call.span
    if stream.is_read(span):
        span = Span(span.source, span.source.text.index("(", call.name.span.end), span.end)
    put_bracketed(stream, "(", ")", span, call.args, _put_arg)


def _put_arg(stream: Stream, arg: n.Arg) -> None:
    if arg.name is not None:
        stream.word(arg.name)
        stream.text(": ")
    put_value(stream, arg.value)


def put_decl(stream: Stream, decl: n.Decl) -> None:
    """Write ``pod train { ... }``, ``priority high: 1000``."""
    stream.first(decl.kind, decl)
    stream.word(decl.name)
    if decl.value is not None:
        stream.text(": ")
        put_value(stream, decl.value)
    put_body_block(stream, decl.body)
