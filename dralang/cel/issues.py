"""Compile errors: collected, put in order, and written with line, column and caret as Kubernetes does.

Source: cel-go common/error.go, common/errors.go.
"""

from typing import Final

from msgspec import Struct

_MAX_ERRORS: Final = 100
_MAX_SNIPPET: Final = 16384
_WIDE_DOT: Final = "．"
_WIDE_CARET: Final = "＾"


class Issue(Struct, frozen=True):
    """One error of an expression.

    Attributes:
        offset: where, as a code point offset; -1: nowhere in the text.
        message: what, without place.
    """

    offset: int
    message: str


class CompileError(Exception):
    """An expression that does not compile.

    Attributes:
        message: the text that Kubernetes gives, with all errors, places and carets.
        issues: the errors in reading order; empty if the error has no place (a wrong result type).
    """

    def __init__(self, message: str, issues: tuple[Issue, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.issues = issues


class Issues:
    """Collects the errors of one expression."""

    __slots__ = ("count", "items", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.items: list[Issue] = []
        self.count = 0

    def add(self, offset: int, message: str) -> None:
        """Add one; only the first hundred are kept, as in Kubernetes."""
        self.count += 1
        if self.count <= _MAX_ERRORS:
            self.items.append(Issue(offset, message))

    def raise_if_any(self, prefix: str = "compilation failed: ") -> None:
        """Raise all of them as one error.

        Raises:
            CompileError: there are some.
        """
        if not self.items:
            return
        # Also the order in which Kubernetes lists them: by place, then in the order in which they were found.
        items = sorted(self.items, key=lambda issue: issue.offset)
        lines = [_display(self.text, issue) for issue in items]
        if self.count > _MAX_ERRORS:
            lines.append(f"{self.count - _MAX_ERRORS} more errors were truncated")
        raise CompileError(prefix + "\n".join(lines), tuple(items))


def position(text: str, offset: int) -> tuple[int, int]:
    """Line from 1 and column from 0 of an offset."""
    line = text.count("\n", 0, offset) + 1
    start = text.rfind("\n", 0, offset) + 1
    return line, offset - start


def _display(text: str, issue: Issue) -> str:
    if issue.offset < 0:
        return f"ERROR: <input>:-1:0: {issue.message}"
    line, column = position(text, issue.offset)
    # Where there is no text, there is no first column.
    shown = column + 1 if text else 0
    lines = text.split("\n")
    head = f"ERROR: <input>:{line}:{shown}: {issue.message}"
    if not text or line > len(lines) or len(snippet := lines[line - 1].replace("\t", " ")) > _MAX_SNIPPET:
        return head
    dots = "".join("." if ord(char) < 128 else _WIDE_DOT for char in snippet[:column])
    caret = "^" if column >= len(snippet) or ord(snippet[column]) < 128 else _WIDE_CARET
    return f"{head}\n | {snippet}\n | {dots}{caret}"
