"""Reading a `.dra` file: bytes to text, text to a tree, with every error that can be told apart.

A file without a fault is parsed in one go. Otherwise its brackets are mended (``brackets``), it is cut into its items,
and each is parsed alone; a statement that does not fit is reported, dropped, and its item parsed again (``recovery``).
So a fault never hides another one in another statement, and no item is lost to a fault in its neighbour.
"""

import codecs
import re
from typing import Final

from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax.nodes import File
from dralang.syntax.parser import SyntaxFaultError, parse_tokens
from dralang.syntax.states import check_states
from dralang.syntax.tokens import lex

MAX_SOURCE_BYTES: Final = 2 * 1024 * 1024
_OTHER_ENCODINGS: Final = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)

_UNMARKED_UTF_16 = re.compile(rb"(?:[\t-~]\0){2}|(?:\0[\t-~]){2}")


def parse(source: SourceFile, log: DiagnosticLog) -> File:
    """The tree of a text; of a faulty one the items (and within them the statements) that have no fault.

    Diagnostics: DRA01xx.
    """
    if len(source.text) > MAX_SOURCE_BYTES:
        log.add(_too_large(source.name, len(source.text), MAX_SOURCE_BYTES))
        return File(Span(source, 0, 0), source, (), ())
    lexed = lex(source, log)
    try:
        items = parse_tokens(lexed.tokens)
    except SyntaxFaultError:
        from dralang.syntax.recovery import recover  # noqa: PLC0415  # right files need none of its 13 ms

        items = recover(lexed, log)
    check_states(items, log)
    return File(Span(source, 0, len(source.text)), source, items, lexed.comments)


def decode_source(
    name: str, data: bytes, log: DiagnosticLog, *, max_bytes: int = MAX_SOURCE_BYTES
) -> SourceFile | None:
    """The text of a file, or None if it is none: too large, or not UTF-8 (a byte order mark is taken off).

    Diagnostics: DRA0105 too large, DRA0106 not UTF-8.
    """
    if len(data) > max_bytes:
        log.add(_too_large(name, len(data), max_bytes))
        return None
    encoding = next((known for mark, known in _OTHER_ENCODINGS if data.startswith(mark)), None)
    if encoding is None and _UNMARKED_UTF_16.match(data) is not None:
        encoding = "UTF-16"
    if encoding is not None:
        log.add(_not_text(name, data, 0, f"this is {encoding}, not UTF-8"))
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        offset = error.start + len(data) - len(error.object)  # the codec takes the mark off before it counts
        log.add(_not_text(name, data, offset, f"byte {offset} (0x{data[offset]:02X}) is not UTF-8"))
        return None
    nul = data.find(b"\0")
    if nul >= 0:
        log.add(_not_text(name, data, nul, f"byte {nul} is NUL, which no text has"))
        return None
    return SourceFile(name, text)


def _too_large(name: str, size: int, limit: int) -> Diagnostic:
    return Diagnostic(
        code="DRA0105",
        message=f"the file is too large: {size} bytes, the limit is {limit}",
        span=Span(SourceFile(name, ""), 0, 0),
        help="split it into several files and load them with `use`",
    )


def _not_text(name: str, data: bytes, offset: int, message: str) -> Diagnostic:
    line_end = data.find(b"\n", offset)
    # Everything before the place has been read as UTF-8; what follows is shown as well as it goes.
    before = data[:offset].decode("utf-8", "replace").removeprefix("\ufeff")
    after = data[offset : min(len(data) if line_end < 0 else line_end, offset + 80)].decode("utf-8", "replace")
    source = SourceFile(name, before + after)
    return Diagnostic(
        code="DRA0106",
        message=message,
        span=Span(source, len(before), min(len(before) + 1, len(source.text))),
        help="save the file as UTF-8",
    )
