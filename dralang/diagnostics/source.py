"""Texts and places in them.

Inside, a place is a pair of 0-based code point offsets; ``SourceFile.position`` is the one conversion to what people
read (1-based line and column).
"""

from bisect import bisect_right
from typing import NamedTuple

from msgspec import Struct


class Position(NamedTuple):
    """A place as people count: line and column from 1."""

    line: int
    column: int


class SourceFile:
    """A named text.

    Attributes:
        name: how people call it: the path relative to the project, or ``<stdin>``.
        text: the content, decoded.
    """

    __slots__ = ("_line_starts", "name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._line_starts: list[int] | None = None

    def __repr__(self) -> str:
        return f"SourceFile({self.name!r})"

    def _starts(self) -> list[int]:
        starts = self._line_starts
        if starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._line_starts = starts
        return starts

    def position(self, offset: int) -> Position:
        """Line and column, both from 1, of a 0-based offset."""
        starts = self._starts()
        line = bisect_right(starts, offset)
        return Position(line, offset - starts[line - 1] + 1)

    def line_text(self, line: int) -> str:
        """The text of a line (from 1), without its line end."""
        starts = self._starts()
        start = starts[line - 1]
        end = starts[line] - 1 if line < len(starts) else len(self.text)
        return self.text[start:end].rstrip("\r")


class Span(Struct, frozen=True, gc=False):
    """A stretch of a source: 0-based offsets, end excluded."""

    source: SourceFile
    start: int
    end: int

    @property
    def text(self) -> str:
        """The text that the span covers."""
        return self.source.text[self.start : self.end]

    @property
    def position(self) -> Position:
        """Where it starts, as people count."""
        return self.source.position(self.start)

    def to(self, other: "Span") -> "Span":
        """The span from this start to the end of another one of the same source."""
        return Span(self.source, self.start, max(self.end, other.end))

    def __str__(self) -> str:
        position = self.position
        return f"{self.source.name}:{position.line}:{position.column}"
