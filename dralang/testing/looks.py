"""The look of reports on a terminal: colour, rules, columns, wrapping. Plain ASCII but for the user's own text."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from dralang.check.scope import spoken_kind
from dralang.cluster.journal import JournalEntry
from dralang.diagnostics.render import clean
from dralang.run.outcome import Why
from dralang.values.duration import format_duration

Style = Literal["red", "green", "yellow", "cyan", "blue", "bold", "dim"]
_CODES: Final[dict[Style, str]] = {
    "red": "1;31", "green": "1;32", "yellow": "1;33", "cyan": "1;36", "blue": "1;34", "bold": "1", "dim": "2",
}  # fmt: skip
_MIN_COLUMN: Final = 30
MAX_REASONS: Final = 40


class Look(Struct, frozen=True):
    """How to write.

    Attributes:
        color: whether to use colour.
        width: columns to fill.
    """

    color: bool = False
    width: int = 100

    def paint(self, style: Style, text: str) -> str:
        """The text in a colour, if there is colour."""
        return f"\033[{_CODES[style]}m{text}\033[0m" if self.color and text else text

    def rule(self, title: str, mark: str = "=", style: Style = "bold") -> str:
        """A line across, with a title in the middle."""
        title = clean(title)
        room = max(self.width - len(title) - 2, 6)
        left = room // 2
        return self.paint(style, f"{mark * left} {title} {mark * (room - left)}")

    def wrapped(self, text: str, indent: str, following: str | None = None) -> list[str]:
        """Lines that fit, all indented; those after the first by ``following``."""
        later = indent + "  " if following is None else following
        return textwrap.wrap(
            clean(text),
            max(self.width, len(later) + _MIN_COLUMN),
            initial_indent=indent,
            subsequent_indent=later,
            break_long_words=False,
            break_on_hyphens=False,
        ) or [indent.rstrip()]


# ---- expected and actual --------------------------------------------------------------------------------------------


def side_by_side(look: Look, expected: str, actual: str) -> list[str]:
    """Two texts in two columns, what differs between them in colour; one above the other where both are long."""
    left, right = clean(expected).split(), clean(actual).split()
    same_before = _shared(left, right)
    same_after = _shared(left[same_before:][::-1], right[same_before:][::-1])
    half = max(_MIN_COLUMN, (look.width - 5) // 2)
    rows_left = _column(look, left, same_before, same_after, half, "green")
    width = max(8, max(length for _, length in rows_left))
    rest = max(_MIN_COLUMN, look.width - 5 - width)
    rows_right = _column(look, right, same_before, same_after, rest, "red")
    heads = f"  {look.paint('bold', 'expected')}{' ' * (width - 8)} | {look.paint('bold', 'actual')}"
    lines = [heads]
    for number in range(max(len(rows_left), len(rows_right))):
        text, length = rows_left[number] if number < len(rows_left) else ("", 0)
        other = rows_right[number][0] if number < len(rows_right) else ""
        lines.append(f"  {text}{' ' * (width - length)} | {other}".rstrip())
    return lines


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    """How many words two texts have in common at their start."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _column(
    look: Look, words: Sequence[str], before: int, after: int, width: int, style: Style
) -> list[tuple[str, int]]:
    """Words filled into lines no wider than ``width``: each with its length as it is seen."""
    rows: list[tuple[str, int]] = []
    text, length = "", 0
    for number, word in enumerate(words):
        shown = word if number < before or number >= len(words) - after else look.paint(style, word)
        if length and length + 1 + len(word) > width:
            rows.append((text, length))
            text, length = "", 0
        text, length = (f"{text} {shown}", length + 1 + len(word)) if length else (shown, len(word))
    return [*rows, (text, length)]


# ---- why ------------------------------------------------------------------------------------------------------------


def why_tree(look: Look, why: Iterable[Why], *, most: int = MAX_REASONS) -> list[str]:
    """Reasons and the reasons behind them, indented; what is left out is counted."""
    lines: list[str] = []
    left_out = 0
    for shown, (depth, text) in enumerate(_flat(why)):
        if shown >= most:
            left_out += 1
            continue
        lines += look.wrapped(text, "    " + "  " * min(depth, 10) + "- ", "    " + "  " * min(depth, 10) + "  ")
    if left_out:
        lines.append(f"    ... and {left_out} more reasons")
    return lines


def _flat(why: Iterable[Why]) -> Iterator[tuple[int, str]]:
    stack = [(0, each) for each in reversed(tuple(why))]
    while stack:
        depth, reason = stack.pop()
        yield depth, reason.text
        stack += [(depth + 1, each) for each in reversed(reason.because)]


# ---- the record -----------------------------------------------------------------------------------------------------


def entry_object(entry: JournalEntry) -> str:
    """The object of an entry, as a spec calls it."""
    name = entry.name if entry.namespace in ("", "default") else f"{entry.namespace}/{entry.name}"
    return clean(f"{spoken_kind(entry.kind)} {name}")


def _why(entry: JournalEntry) -> str:
    """The message of an entry, if it says more than the reason."""
    return "" if entry.message == entry.reason.lower() else entry.message


def timeline(look: Look, entries: Sequence[JournalEntry], indent: str = "  ", *, head: bool = False) -> list[str]:
    """Entries in columns: time, object, what happened, why. A time is written where it changes."""
    rows = [(format_duration(each.time), entry_object(each), clean(each.reason), _why(each)) for each in entries]
    heads = ("time", "object", "what", "why")
    widths = [max([len(row[column]) for row in rows] + [len(heads[column]) if head else 0]) for column in range(3)]
    lines = []
    if head:
        cells = [text.ljust(width) for text, width in zip(heads, [*widths, 0], strict=True)]
        lines.append(look.paint("dim", indent + "  ".join(cells).rstrip()))
    before = ""
    margin = indent + " " * (sum(widths) + 6)
    for time, name, what, why in rows:
        shown = time if time != before else ""
        before = time
        start = f"{indent}{shown:<{widths[0]}}  {name:<{widths[1]}}  {what:<{widths[2]}}  "
        if len(margin) > look.width - _MIN_COLUMN:
            lines += [start.rstrip(), *look.wrapped(why, f"{indent}{' ' * widths[0]}    ")]
        elif why:
            lines += look.wrapped(why, start, margin)
        else:
            lines.append(start.rstrip())
    return lines
