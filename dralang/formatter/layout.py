"""Operations to lines: which groups stand on one line, where long lines end, where comments go.

One pass over the operations finds the break at which each comment stands, one measures, one writes; none recurses, and
each looks at an operation a bounded number of times.

A group stands on one line if it and what follows up to the next break fit into ``LINE_WIDTH`` columns, and if nothing
in it needs a line of its own: a comment, an expression of several lines, a block that its author spread.
"""

from typing import Final

from dralang.diagnostics.source import SourceFile
from dralang.formatter.stream import NOWHERE, Begin, Break, BreakStyle, Edge, End, Operation, Text
from dralang.syntax.tokens import Comment

LINE_WIDTH: Final = 120
COMMENT_GAP: Final = 2


def lay_out(operations: list[Operation], source: SourceFile, comments: tuple[Comment, ...]) -> str:
    """The text of a file.

    The first operation must be a break with ``Edge.OPENING`` and the last one with ``Edge.CLOSING``: the ends of the
    file. Text positions and comments are those of ``source``.
    """
    _place_comments(operations, comments)
    return _Writer(operations, source).run()


def _place_comments(operations: list[Operation], comments: tuple[Comment, ...]) -> None:
    """Give each comment to a break.

    A comment at the end of a line goes to the first break after the text before it, one with a line of its own to the
    last break before the text after it; and no comment goes before an earlier one. Words of which no place is known
    may stand between these texts; so there can be several such breaks, or none.
    """
    waiting = list(reversed(comments))
    placed: list[tuple[int, Comment]] = []
    late: list[Comment] = []
    first = last = NOWHERE
    for index, operation in enumerate(operations):
        if isinstance(operation, Break):
            placed.extend([(index, comment) for comment in late])
            late.clear()
            last = index
            first = index if first == NOWHERE else first
        elif isinstance(operation, Text) and operation.position != NOWHERE:
            while waiting and waiting[-1].span.start < operation.position:
                comment = waiting.pop()
                if late or (first == NOWHERE and not comment.own_line):
                    late.append(comment)
                else:
                    placed.append((last if comment.own_line else first, comment))
            first = NOWHERE
    placed.extend([(last if comment.own_line else first, comment) for comment in reversed(waiting)])
    at_least = 0
    for index, comment in placed:
        at_least = max(at_least, index)
        found = operations[at_least]
        assert isinstance(found, Break)
        found.comments.append(comment)


class _Writer:
    """One run over the operations of one file; private to this module."""

    def __init__(self, operations: list[Operation], source: SourceFile) -> None:
        self.operations = operations
        self.source = source
        self.out: list[str] = []
        self.line_start = 0  # index in `out` of the first piece of the current line
        self.column = 0
        self.line_number = 0
        self._measure()

    def _measure(self) -> None:
        """Fill in the widths, the ends of groups, which groups are spread, and the next break of every operation."""
        count = len(self.operations)
        self.width = [0] * (count + 1)  # of everything before an operation, on one line
        self.group_end = [0] * count
        self.spread = [False] * count
        self.next_break = [count] * (count + 1)
        open_groups: list[int] = []
        total = 0
        for index, operation in enumerate(self.operations):
            self.width[index] = total
            if isinstance(operation, Text):
                newline = operation.text.find("\n")
                total += len(operation.text) if newline < 0 else newline
                if newline >= 0 and open_groups:
                    self.spread[open_groups[-1]] = True
            elif isinstance(operation, Break):
                total += len(operation.flat)
                if open_groups and (operation.comments or operation.style is BreakStyle.HARD):
                    self.spread[open_groups[-1]] = True
            elif isinstance(operation, Begin):
                open_groups.append(index)
                self.spread[index] = operation.spread
            else:
                opened = open_groups.pop()
                self.group_end[opened] = index
                # What is spread spreads what is around it; so a text that is laid out again stays as it is.
                if open_groups and self.spread[opened]:
                    self.spread[open_groups[-1]] = True
        self.width[count] = total
        following = count
        for index in range(count - 1, -1, -1):
            if type(self.operations[index]) is Break:
                following = index
            self.next_break[index] = following

    def run(self) -> str:
        # For each open group, what held around it: whether all is on one line, the indentation of the lines and of the
        # closing bracket, and the line on which what follows the last break began.
        groups: list[tuple[bool, int, int, int]] = []
        flat, indent, outer, unit_line = False, 0, 0, 0
        for index, operation in enumerate(self.operations):
            if isinstance(operation, Text):
                self._text(operation.text if flat or operation.when_broken is None else operation.when_broken)
            elif isinstance(operation, Break):
                if flat or self._stays_on_line(index, operation, unit_line):
                    self._text(operation.flat)
                else:
                    self._break(index, operation, indent, outer)
                unit_line = self.line_number
            elif isinstance(operation, Begin):
                groups.append((flat, indent, outer, unit_line))
                flat = flat or (not self.spread[index] and self._fits(index, self.group_end[index]))
                outer, indent = indent, indent + operation.indent
            else:
                flat, indent, outer, unit_line = groups.pop()
        return "".join(self.out)

    def _fits(self, start: int, end: int) -> bool:
        """Whether everything from an operation to another one, and what is stuck to it, fits on the current line."""
        return self.column + self.width[self.next_break[end]] - self.width[start] <= LINE_WIDTH

    def _stays_on_line(self, index: int, operation: Break, unit_line: int) -> bool:
        """Whether a break in a group that is spread over lines does not end the line."""
        if operation.comments or operation.style is BreakStyle.LINE or operation.style is BreakStyle.HARD:
            return False
        end = following = index + 1
        if type(self.operations[following]) is Begin:
            if self.spread[following]:
                return False
            end = self.group_end[following]
        if operation.style is BreakStyle.JOINT and self.line_number != unit_line:
            return False
        return self._fits(index, end)

    def _text(self, text: str) -> None:
        self.out.append(text)
        newline = text.rfind("\n")
        if newline < 0:
            self.column += len(text)
        else:
            self.column = len(text) - newline - 1
            self.line_number += text.count("\n")

    def _newline(self, indent: int, *, blank: bool) -> None:
        self.out.append("\n\n" if blank else "\n")
        self.line_start = len(self.out)
        self.out.append(" " * indent)
        self.column = indent
        self.line_number += 1

    def _break(self, index: int, operation: Break, indent: int, outer: int) -> None:
        """End the line, after its comment and before those that have a line of their own."""
        may_be_blank = operation.keeps_blank and operation.edge is not Edge.OPENING
        for number, comment in enumerate(operation.comments):
            if number == 0 and not comment.own_line and self.out:
                self._text(" " * self._gap(comment) + comment.text)
                continue
            if self.out:
                self._newline(indent, blank=may_be_blank and self._is_blank_before(comment.span.start))
            self._text(comment.text)
            may_be_blank = operation.keeps_blank
        if operation.edge is Edge.CLOSING:
            self._close(index, outer)
        elif self.out:
            blank = operation.blank or (may_be_blank and self._is_blank_before(self._next_position(index)))
            self._newline(indent, blank=blank)

    def _close(self, index: int, outer: int) -> None:
        if index + 1 < len(self.operations):
            self._newline(outer, blank=False)
        elif self.out:
            self.out.append("\n")

    def _gap(self, comment: Comment) -> int:
        """The number of spaces before a comment at the end of a line.

        The author's column is kept, so that comments that were aligned stay so; unless the code before it is another
        one now, or the comment would leave the page.
        """
        text = self.source.text
        line_start = text.rfind("\n", 0, comment.span.start) + 1
        before = text[line_start : comment.span.start]
        wanted = len(before) - self.column
        if wanted <= COMMENT_GAP or len(before) + len(comment.text) > LINE_WIDTH:
            return COMMENT_GAP
        written = "".join(self.out[self.line_start :]).rpartition("\n")[2]
        return wanted if _code(before) == _code(written) else COMMENT_GAP

    def _next_position(self, index: int) -> int:
        """The place of the text that follows a break."""
        for operation in self.operations[index + 1 : index + 4]:
            if isinstance(operation, Text):
                return operation.position
            if not isinstance(operation, (Begin, End)):
                break
        return NOWHERE

    def _is_blank_before(self, position: int) -> bool:
        """Whether the line before a place in the source is empty, and nothing stands before the place on its line."""
        if position == NOWHERE:
            return False
        text = self.source.text
        line_start = text.rfind("\n", 0, position) + 1
        if line_start == 0 or text[line_start:position].strip():
            return False
        return not text[text.rfind("\n", 0, line_start - 1) + 1 : line_start - 1].strip()


def _code(line: str) -> str:
    """A line without its spaces and the separator at its end."""
    return "".join(line.split()).rstrip(";,")
