"""Diagnostics as people and programs read them.

The text form follows rustc and ruff: code and message, the place, the source line with the span underlined, what was
expected, the related places, the way out. Columns are those of a terminal: tabs, wide and invisible characters count
as what they take there. The JSON form counts columns in code points. Both depend on nothing but the diagnostics.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct

from dralang.diagnostics.diagnostic import Diagnostic, Severity
from dralang.diagnostics.source import Span

MOST_SHOWN: Final = 200
"""Diagnostics of one text; a broken dump has hundreds of thousands. As JSON there are all of them."""
_TAB: Final = 4
_MIN_WIDTH: Final = 40
_LONGEST_WORD: Final = 1_000
_ENDLESS: Final = re.compile(rf"\S{{{_LONGEST_WORD + 1},}}")
_MORE: Final = "..."
_RESET: Final = "\033[0m"
_BOLD: Final = "\033[1m"
_BLUE: Final = "\033[1;34m"
_CYAN: Final = "\033[1;36m"
_COLORS: Final[dict[Severity, str]] = {"error": "\033[1;31m", "warning": "\033[1;33m", "note": _CYAN}
_PLURALS: Final[tuple[tuple[Severity, str], ...]] = (("error", "errors"), ("warning", "warnings"), ("note", "notes"))
_GRAVITY: Final = tuple([severity for severity, _ in _PLURALS])


def render_text(diagnostics: Iterable[Diagnostic], *, color: bool = False, width: int = 120) -> str:
    """The diagnostics in their given order, a blank line between them; ``width`` in terminal columns.

    Of more than people read, the gravest are shown and the others counted.
    """
    renderer = _Renderer(color, max(width, _MIN_WIDTH))
    given = list(diagnostics)
    if len(given) <= MOST_SHOWN:
        return "\n".join([renderer.diagnostic(item) for item in given])
    gravest = sorted(range(len(given)), key=lambda index: _GRAVITY.index(given[index].severity))
    shown = sorted(gravest[:MOST_SHOWN])
    rest = summary_line([given[index] for index in gravest[MOST_SHOWN:]])
    return "\n".join([*[renderer.diagnostic(given[index]) for index in shown], f"and {rest} more\n"])


def render_json(diagnostics: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """The diagnostics as JSON values: lines and columns from 1, the end column is that after the last character."""
    return [
        {
            "code": item.code,
            "severity": item.severity,
            "message": item.message,
            **json_place(item.span),
            "label": item.label,
            "expected": list(item.expected),
            "related": [{"message": related.message, **json_place(related.span)} for related in item.related],
            "help": item.help,
        }
        for item in diagnostics
    ]


def render_place(span: Span, label: str = "", *, color: bool = False, width: int = 120) -> str:
    """A place alone: file and line, and the source line with the span underlined and the label after it."""
    renderer = _Renderer(color, max(width, _MIN_WIDTH))
    return "\n".join(renderer.snippet(span, label, len(str(span.position.line)), _COLORS["error"], "^")) + "\n"


def summary_line(diagnostics: Sequence[Diagnostic]) -> str:
    """`2 errors, 1 warning`; `no errors` if there is nothing."""
    parts = []
    for severity, plural in _PLURALS:
        count = sum(item.severity == severity for item in diagnostics)
        if count:
            parts.append(f"{count} {severity if count == 1 else plural}")
    return ", ".join(parts) or "no errors"


def json_place(span: Span | None) -> dict[str, Any]:
    """File, start and end of a place as JSON values; all None where there is none."""
    if span is None:
        return {"file": None, "start": None, "end": None}
    start, end = span.source.position(span.start), span.source.position(span.end)
    return {
        "file": span.source.name,
        "start": {"line": start.line, "column": start.column},
        "end": {"line": end.line, "column": end.column},
    }


class _Shown(Struct, frozen=True):
    """A source line on a terminal: its cells, and the column at which each of its characters begins."""

    cells: tuple[str, ...]
    columns: tuple[int, ...]  # one more than cells: the last is the width


def _shown(line: str) -> _Shown:
    cells: list[str] = []
    columns = [0]
    for character in line:
        column = columns[-1]
        if character == "\t":
            cell, taken = " " * (_TAB - column % _TAB), _TAB - column % _TAB
        elif character.isascii() and character.isprintable():
            cell, taken = character, 1
        else:
            cell, taken = _unusual(character)
        cells.append(cell)
        columns.append(column + taken)
    return _Shown(tuple(cells), tuple(columns))


def _unusual(character: str) -> tuple[str, int]:
    category = unicodedata.category(character)
    if category in ("Mn", "Me"):
        return character, 0
    if not character.isprintable():
        # Among them are characters that reorder or hide what follows.
        escaped = f"<U+{ord(character):04X}>"
        return escaped, len(escaped)
    return character, 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def clean(text: str) -> str:
    """A message on one line, with nothing in it that a terminal would act on; endless words lose their middle."""
    if len(text) > _LONGEST_WORD:
        text = _ENDLESS.sub(lambda word: f"{word[0][:200]}…{word[0][-100:]}", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(text).cells)


class _Renderer:
    """Text form; private to this module."""

    def __init__(self, color: bool, width: int) -> None:  # noqa: FBT001  # the public function takes it by keyword
        self.color = color
        self.width = width

    def _paint(self, style: str, text: str) -> str:
        return f"{style}{text}{_RESET}" if self.color and text else text

    def diagnostic(self, item: Diagnostic) -> str:
        style = _COLORS[item.severity]
        title = self._paint(style, f"{item.severity}[{item.code}]") + self._paint(_BOLD, f": {clean(item.message)}")
        lines = [title]
        spans = [span for span in (item.span, *[related.span for related in item.related]) if span is not None]
        gutter = max([len(str(span.position.line)) for span in spans], default=1)
        label = item.label
        expected = ", ".join(item.expected)
        if item.span is not None:
            lines += self.snippet(item.span, label, gutter, style, "^")
        elif label:
            lines.append(f"{' ' * gutter} {self._paint(_BLUE, '=')} {clean(label)}")
        if expected and not label.startswith("expected"):
            lines.append(self._remark(gutter, "expected", expected))
        for related in item.related:
            lines.append(self._paint(_COLORS["note"], "note") + f": {clean(related.message)}")
            lines += self.snippet(related.span, "", gutter, _BLUE, "-")
        if item.help:
            lines.append(self._paint(_CYAN, "help") + f": {clean(item.help)}")
        return "\n".join(lines) + "\n"

    def _remark(self, gutter: int, name: str, text: str) -> str:
        return f"{' ' * gutter} {self._paint(_BLUE, '=')} {self._paint(_BOLD, name)}: {clean(text)}"

    def snippet(self, span: Span, label: str, gutter: int, style: str, mark: str) -> list[str]:
        position = span.position
        margin = " " * gutter
        bar = self._paint(_BLUE, "|")
        name = clean(span.source.name)
        lines = [f"{margin}{self._paint(_BLUE, '-->')} {name}:{position.line}:{position.column}"]
        if not span.source.text:
            return lines
        text, column, length = self._window(span, gutter)
        underline = self._paint(style, mark * length + (f" {clean(label)}" if label else ""))
        number = self._paint(_BLUE, f"{position.line:>{gutter}}")
        lines.append(f"{margin} {bar}")
        lines.append(f"{number} {bar} {text}".rstrip())
        lines.append(f"{margin} {bar} {' ' * column}{underline}")
        return lines

    def _window(self, span: Span, gutter: int) -> tuple[str, int, int]:
        """The part of the source line that fits, the column of the span in it and the span's length."""
        position = span.position
        line = span.source.line_text(position.line)
        first = position.column - 1
        last = min(first + (span.end - span.start), len(line))
        room = self.width - gutter - 3
        line_from, line_to = _cut(line, first, last, room)
        shown = _shown(line[line_from:line_to])
        start = shown.columns[min(first - line_from, len(shown.cells))]
        end = shown.columns[min(last - line_from, len(shown.cells))]
        before = _MORE if line_from > 0 else ""
        after = _MORE if line_to < len(line) else ""
        return before + "".join(shown.cells) + after, len(before) + start, max(1, end - start)


def _cut(line: str, first: int, last: int, room: int) -> tuple[int, int]:
    """The range of characters to show of a line so that it fits: all of it, or a stretch around the span."""
    if len(line) <= room and _shown(line).columns[-1] <= room:
        return 0, len(line)
    room -= 2 * len(_MORE)
    low = high = min(first, len(line))
    taken = 0
    # The span first, then the text before it down to a third of the room, then what follows, then what is left before.
    for target in (last, max(0, first - room // 3), len(line), 0):
        while low > target or high < target:
            step = low - 1 if low > target else high
            cell = _shown(line[step]).columns[-1]
            if taken + cell > room:
                break
            taken += cell
            low, high = min(low, step), max(high, step + 1)
    return low, high
