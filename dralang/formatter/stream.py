"""What the printer says and the layout decides on: pieces of text, places where a line may end, and groups of them.

The printer writes a flat list of operations; ``layout.lay_out`` turns it into lines.
"""

import re
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax.nodes import Node, Word
from dralang.syntax.tokens import Comment

NOWHERE = -1
_NEWLINE_FOLLOWS = re.compile(r"[ \t\r\f]*(?:#[^\n]*)?\n")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


class Text(Struct, gc=False):
    """A piece of text that is never cut.

    Attributes:
        text: what to write.
        position: the offset in the source at which it stands there, or ``NOWHERE``.
        when_broken: what to write instead if the innermost group is spread over lines.
    """

    text: str
    position: int = NOWHERE
    when_broken: str | None = None


class BreakStyle(Enum):
    """When a break ends the line."""

    LINE = 0  # if its group is spread over lines
    FILL = 1  # if its group is, and what follows does not fit
    JOINT = 2  # if its group is, and what stands before it has several lines or what follows does not fit
    HARD = 3  # always


class Edge(Enum):
    """Where in its group a break stands."""

    INSIDE = 0
    OPENING = 1  # after the opening bracket, or at the start of the file
    CLOSING = 2  # before the closing bracket, or at the end of the file


class Break(Struct):
    """A place where the language lets a line end; comments stand at such places only.

    Attributes:
        flat: what to write if the line does not end here.
        keeps_blank: whether an empty line of the author stays.
        blank: whether an empty line is wanted even though no source has one.
        comments: those that stand here, filled in by the layout.
    """

    flat: str
    style: BreakStyle = BreakStyle.LINE
    edge: Edge = Edge.INSIDE
    keeps_blank: bool = False
    blank: bool = False
    comments: list[Comment] = []


class Begin(Struct, gc=False):
    """The start of a group: on one line as a whole, or spread over lines.

    Attributes:
        indent: by how many columns its lines are indented, compared with those around it.
        spread: whether it is spread over lines even if it would fit on one.
    """

    indent: int
    spread: bool


class End(Struct, gc=False):
    """The end of the innermost group."""


Operation: TypeAlias = Text | Break | Begin | End
_END = End()


class Stream:
    """Collects the operations of one file; the printer writes, nobody else."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.operations: list[Operation] = []

    def text(self, text: str, position: int = NOWHERE) -> None:
        """Write a piece of text, which stands at an offset of the source if one is given."""
        self.operations.append(Text(text, position))

    def either(self, flat: str, broken: str, position: int) -> None:
        """Write one of two texts, depending on whether the group stands on one line."""
        self.operations.append(Text(flat, position, broken))

    def first(self, text: str, node: Node) -> None:
        """Write the first word of a node, and a space."""
        self.operations.append(Text(text + " ", self.position_of(node)))

    def word(self, word: Word) -> None:
        """Write a word the way its author did: with its quotes and its escapes."""
        if not word.quoted:
            text = word.text
        else:
            text = word.span.text
            if not text.startswith('"'):
                text = quoted(word.text)
        self.operations.append(Text(text, self.position_of(word)))

    def begin(self, indent: int = 0, *, spread: bool = False) -> None:
        """Start a group."""
        self.operations.append(Begin(indent, spread))

    def end(self) -> None:
        """End the innermost group."""
        self.operations.append(_END)

    def line(
        self,
        flat: str = " ",
        style: BreakStyle = BreakStyle.LINE,
        edge: Edge = Edge.INSIDE,
        *,
        keeps_blank: bool = False,
    ) -> Break:
        """Allow the line to end here."""
        found = Break(flat, style, edge, keeps_blank)
        self.operations.append(found)
        return found

    def position_of(self, node: Node) -> int:
        """The offset of a node in the source; ``NOWHERE`` for a node that was not read from it."""
        return node.span.start if self.is_read(node.span) else NOWHERE

    def is_read(self, span: Span) -> bool:
        """Whether a span has text in this source. A tree that was made has empty spans, or those of other sources."""
        return span.start < span.end and span.source is self.source

    def between(self, first: Node, second: Node) -> str | None:
        """What stands between two nodes in the source; None unless both were read from it, in this order."""
        if not self.is_read(first.span) or not self.is_read(second.span) or first.span.end > second.span.start:
            return None
        return self.source.text[first.span.end : second.span.start]

    def is_joined(self, first: Node, second: Node) -> bool:
        """Whether the author wrote two statements on one line."""
        between = self.between(first, second)
        return between is not None and "\n" not in between

    def newline_follows(self, offset: int) -> bool:
        """Whether nothing but a comment follows on the line of an offset in the source."""
        return _NEWLINE_FOLLOWS.match(self.source.text, offset) is not None


def quoted(text: str) -> str:
    """A text as a string of the language: in double quotes, escaped where it must be, invisible characters too."""
    return '"' + "".join([_escaped(character) for character in text]) + '"'


def _escaped(character: str) -> str:
    escape = _ESCAPES.get(character)
    if escape is not None:
        return escape
    if character.isprintable() or ord(character) > 0xFFFF:
        return character
    return f"\\u{ord(character):04x}"
