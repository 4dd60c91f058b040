"""The one diagnostic value, and the log that collects it."""

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from dralang.diagnostics.source import Span

Severity = Literal["error", "warning", "note"]
_SEVERITY_ORDER = {"error": 0, "warning": 1, "note": 2}


class Related(Struct, frozen=True):
    """A second place that helps to understand the first one."""

    message: str
    span: Span


class Diagnostic(Struct, frozen=True, kw_only=True):
    """Something that is wrong with an input.

    Attributes:
        code: ``DRAnnnn``, a key of ``codes.CODES``.
        message: one line, lower case, no final period, user text in backticks.
        span: where; None only where an input has no text (a missing file).
        label: what stands under the underlined text, if that says more than the message.
        expected: what could stand there instead, most likely first.
        help: the way out.
    """

    code: str
    message: str
    span: Span | None = None
    severity: Severity = "error"
    label: str = ""
    expected: tuple[str, ...] = ()
    related: tuple[Related, ...] = ()
    help: str = ""

    def sort_key(self) -> tuple[str, int, int, int, str, str]:
        """By file, place, severity, code and text: the order in which people read."""
        place = ("", 0, 0) if self.span is None else (self.span.source.name, self.span.start, self.span.end)
        return (*place, _SEVERITY_ORDER[self.severity], self.code, self.message)


class DiagnosticLog:
    """Collects diagnostics; a pass adds to the log it is given and goes on."""

    __slots__ = ("_items", "_seen")

    def __init__(self) -> None:
        self._items: list[Diagnostic] = []
        self._seen: set[tuple[str, str, int, int, str]] = set()

    def add(self, diagnostic: Diagnostic) -> None:
        """Add one; a repetition of the same code, place and text is dropped."""
        span = diagnostic.span
        key = (
            diagnostic.code,
            "" if span is None else span.source.name,
            -1 if span is None else span.start,
            -1 if span is None else span.end,
            diagnostic.message,
        )
        if key not in self._seen:
            self._seen.add(key)
            self._items.append(diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Add several."""
        for diagnostic in diagnostics:
            self.add(diagnostic)

    @property
    def has_errors(self) -> bool:
        """Whether anything in here forbids going on."""
        return any(item.severity == "error" for item in self._items)

    def sorted(self) -> list[Diagnostic]:
        """All of them in reading order."""
        return sorted(self._items, key=Diagnostic.sort_key)

    def __iter__(self) -> Iterator[Diagnostic]:
        """All of them in the order in which they were added."""
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return bool(self._items)
