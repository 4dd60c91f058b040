"""Formatting of files and texts, and the check that it has changed nothing but the looks."""

from collections import Counter
from typing import Final

from msgspec import Struct

from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.formatter.files import file_operations
from dralang.formatter.layout import lay_out
from dralang.syntax.dump import dump
from dralang.syntax.nodes import File
from dralang.syntax.parser import SyntaxFaultError, parse_tokens
from dralang.syntax.reading import parse
from dralang.syntax.tokens import Comment, Lexed, lex
from dralang.syntax.vocabulary import KEYWORDS

# The types of tokens with a text of the author: before the parser has classified them, and after.
_WORDS: Final = frozenset({"WORD", "NAME", "STRING", "CEL"})


def format_file(file: File) -> str:
    """The text of a file, the one way to write it; ends in one newline, unless it is empty.

    Nodes that were not read from ``file.source`` (their spans are empty, or of another source) are laid out by rule
    alone; of the others the layout keeps what is the author's to choose: empty lines, and which blocks, lists and
    statements stand on one line.
    """
    return lay_out(file_operations(file), file.source, file.comments)


def format_source(source: SourceFile, log: DiagnosticLog) -> str | None:
    """The text of a source, the one way to write it; None if the source has errors.

    The result is parsed and compared with the source, so that a fault of the formatter cannot change what a file says.

    Diagnostics: those of reading the source; DRA0190 the result would say something else.
    """
    if "\r" in source.text:
        # The line ends of multi-line expressions are part of the tree.
        source = SourceFile(source.name, source.text.replace("\r\n", "\n"))
    found = DiagnosticLog()
    file = parse(source, found)
    log.extend(found.sorted())
    if found.has_errors:
        return None
    text = format_file(file)
    if _read_again(text) == _Content(dump(file), _comments(file.comments), _words(lex(source, DiagnosticLog()))):
        return text
    log.add(
        Diagnostic(
            code="DRA0190",
            message="this file cannot be formatted without changing what it says",
            span=Span(source, 0, 0),
            help="the file stays as it is; please report this with the file: it is a fault of the formatter",
        )
    )
    return None


class _Content(Struct, frozen=True):
    """What formatting must not change.

    Attributes:
        tree: the dump of the tree.
        comments: the texts of the comments, in their order.
        words: how often each name, number, text and expression is written. The tree may know less than the text: of
            two reasons for an expected failure it has one.
    """

    tree: str
    comments: list[str]
    words: Counter[str]


def _read_again(text: str) -> _Content | None:
    """The content of a formatted text, or None if it cannot be read."""
    source = SourceFile("formatted", text)
    log = DiagnosticLog()
    lexed = lex(source, log)
    if log.has_errors:
        return None
    try:
        items = parse_tokens(lexed.tokens)
    except SyntaxFaultError:
        return None
    file = File(Span(source, 0, len(text)), source, items, lexed.comments)
    return _Content(dump(file), _comments(file.comments), _words(lexed))


def _comments(comments: tuple[Comment, ...]) -> list[str]:
    return [comment.text for comment in comments]


def _words(lexed: Lexed) -> Counter[str]:
    return Counter(
        [token.text for token in lexed.tokens if token.type in _WORDS and (token.quoted or token.text not in KEYWORDS)]
    )
