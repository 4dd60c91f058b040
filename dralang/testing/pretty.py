"""A test run as people read it, in the manner of pytest.

A line for each file while it runs; then what could not be run, what failed, warnings; then one line for everything that
is not as it should be, and the counts. Seconds stand in the last line only, so that two runs differ nowhere else.
"""

import shlex
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from dralang.diagnostics.render import clean, render_place, render_text, summary_line
from dralang.run.outcome import Failure, Verdict
from dralang.testing.looks import MAX_REASONS, Look, Style, side_by_side, timeline, why_tree
from dralang.testing.report import UNEXPECTED, CollectedFile, Counts, FileResult, Report, ScenarioResult
from dralang.testing.session import Collection
from dralang.values.duration import format_duration

LETTERS: Final[dict[Verdict, str]] = {
    "passed": ".", "failed": "F", "xfailed": "x", "xpassed": "X", "refused": "R", "error": "E",
}  # fmt: skip
STYLES: Final[dict[Verdict, Style]] = {
    "passed": "green", "failed": "red", "xfailed": "yellow", "xpassed": "red", "refused": "red", "error": "red",
}  # fmt: skip
_TRACE: Final = 8
_LONG_TRACE: Final = 60
_MANY_REASONS: Final = 2_000
_MAX_IN_A_ROW: Final = 72
_MAX_REASON: Final = 120


class PrettyReporter:
    """Writes a run while it goes on, and its end.

    Args:
        write: takes text.
        look: colour and width.
        verbosity: 0, more for `-v`, less for `-q`.
        flush: shows what was written at once; None where nobody watches.
    """

    def __init__(
        self, write: Callable[[str], None], look: Look, *, verbosity: int = 0, flush: Callable[[], None] | None = None
    ) -> None:
        self.write = write
        self.look = look
        self.verbosity = verbosity
        self.flush = flush
        self.in_row = 0

    # ---- while it runs ----------------------------------------------------------------------------------------------

    def begins(self, collection: Collection, head: str, notes: Sequence[str]) -> None:
        """What is going to run."""
        if self.verbosity < 0:
            return
        self.write(f"{self.look.rule('dralang test')}\n{clean(head)}\n")
        left_out = sum(file.total - len(file.scenarios) for file in collection.files)
        self.write(f"collected {how_many(collection)}{f', {left_out} not chosen' if left_out else ''}\n")
        for note in notes:
            self.write(f"{clean(note)}\n")
        self.write("\n")

    def file_begins(self, file: CollectedFile) -> None:
        """A file's line."""
        self.in_row = 0
        if self.verbosity == 0 and (file.scenarios or file.is_broken):
            self.write(f"{clean(file.name)} ")

    def scenario_ends(self, result: ScenarioResult) -> None:
        """A letter, or with `-v` a line."""
        style = STYLES[result.verdict]
        if self.verbosity > 0:
            name = clean(result.scenario.node_id)
            self.write(f"{name} {self.look.paint(style, result.verdict.upper())}{_reason(result)}\n")
        elif self.verbosity == 0:
            if self.in_row == _MAX_IN_A_ROW:
                self.write("\n    ")
                self.in_row = 0
            self.write(self.look.paint(style, LETTERS[result.verdict]))
            self.in_row += 1
        if self.flush is not None:
            self.flush()

    def file_ends(self, result: FileResult) -> None:
        """The end of a file's line."""
        file = result.file
        if file.is_broken:
            what = "FAULT" if file.fault else "BROKEN"
            if self.verbosity > 0:
                self.write(f"{clean(file.name)} {self.look.paint('red', what)}\n")
            elif self.verbosity == 0:
                self.write(f"{self.look.paint('red', what)}\n")
        elif self.verbosity == 0 and file.scenarios:
            self.write("\n")

    # ---- at the end -------------------------------------------------------------------------------------------------

    def ends(self, report: Report, durations: int | None) -> None:
        """Everything that is to be said after the run."""
        if self.verbosity >= -1:
            self._broken(report)
            self._results(report, "error", "faults of dralang")
            self._refused(report)
            self._results(report, "failed", "failures")
            self._results(report, "xpassed", "passed unexpectedly")
            self._warnings(report)
            if durations is not None:
                self._durations(report, durations)
            self._overview(report)
        counts = report.counts()
        style: Style = "green" if _is_green(counts) else "red"
        if report.stopped == "interrupted":
            self.write(f"\n{self.look.rule('interrupted: what follows did not run', '!', 'red')}\n")
        elif report.stopped == "maxfail":
            many = _many(_failures(counts), "failure")
            self.write(f"\n{self.look.rule(f'stopped after {many}', '!', 'red')}\n")
        self.write(f"{self.look.rule(f'{summary(counts)} in {report.seconds:.2f}s', '=', style)}\n")

    def _section(self, title: str) -> None:
        self.write(f"\n{self.look.rule(title)}\n")

    def _broken(self, report: Report) -> None:
        broken = report.broken()
        if not broken:
            return
        self._section("files that cannot be run")
        seen: set[tuple[object, ...]] = set()
        for number, file in enumerate(broken):
            self.write("\n" if number else "")
            self.write(f"{self.look.rule(file.name, '-', 'red')}\n")
            errors = [item for item in file.diagnostics if item.severity == "error"]
            new = [item for item in errors if item.sort_key() not in seen]
            seen.update(item.sort_key() for item in errors)
            if new:
                self.write(render_text(new, color=self.look.color, width=self.look.width))
            if len(new) < len(errors):
                self.write(f"{_many(len(errors) - len(new), 'error')} shown above\n")
            if file.fault:
                self.write(f"dralang has a fault: {file.fault}\n")

    def _results(self, report: Report, verdict: Verdict, title: str) -> None:
        results = [result for result in report.results() if result.verdict == verdict]
        if not results:
            return
        self._section(title)
        for number, result in enumerate(results):
            self.write("\n" if number else "")
            self.write(f"{self.look.rule(result.scenario.node_id, '-', 'red')}\n")
            self.write("\n".join(explained(self.look, result, self.verbosity)) + "\n")

    def _refused(self, report: Report) -> None:
        """Reasons, each once, with the scenarios that are refused for it."""
        reasons: dict[tuple[str, str], list[ScenarioResult]] = {}
        for result in report.results():
            for item in result.played.diagnostics:
                group = reasons.setdefault((item.code, item.message), [])
                if result not in group[-1:]:
                    group.append(result)
        if not reasons:
            return
        self._section("refused")
        for number, (reason, group) in enumerate(reasons.items()):
            self.write("\n" if number else "")
            first = next(item for item in group[0].played.diagnostics if (item.code, item.message) == reason)
            self.write(render_text([first], color=self.look.color, width=self.look.width))
            for result in group:
                self.write(f"  refused: {clean(result.scenario.node_id)}\n")

    def _warnings(self, report: Report) -> None:
        shown = report.diagnostics("warning")
        notes = report.diagnostics("note") if self.verbosity > 0 else []
        if not shown and not notes:
            return
        self._section("warnings and notes" if notes else "warnings")
        shown += notes
        self.write(render_text(shown, color=self.look.color, width=self.look.width))

    def _durations(self, report: Report, count: int) -> None:
        slowest = sorted(report.results(), key=lambda result: -result.seconds)
        if not slowest:
            return
        self._section(f"slowest {count} scenarios" if count else "durations")
        for result in slowest[: count or None]:
            self.write(f"{result.seconds:>8.3f}s {clean(result.scenario.node_id)}\n")

    def _overview(self, report: Report) -> None:
        lines = []
        for file in report.files:
            if file.file.is_broken:
                what = "dralang has a fault" if file.file.fault else summary_line(file.file.diagnostics)
                lines.append(f"{self.look.paint('red', 'BROKEN')} {clean(file.file.name)} - {what}")
            lines += [
                f"{self.look.paint('red', result.verdict.upper())} {clean(result.scenario.node_id)}{_reason(result)}"
                for result in file.results
                if result.verdict in UNEXPECTED
            ]
        if lines:
            self._section("summary")
            self.write("\n".join(lines) + "\n")


# ---- one scenario ---------------------------------------------------------------------------------------------------


def explained(look: Look, result: ScenarioResult, verbosity: int = 0) -> list[str]:
    """Why a scenario is not as it should be."""
    scenario = result.scenario
    lines: list[str] = []
    if result.verdict == "error":
        lines.append(f"dralang has a fault: {result.fault}; please report it with this file")
    if result.verdict == "xpassed":
        lines += render_place(scenario.span, "passes", color=look.color, width=look.width).splitlines()
        lines += look.wrapped(f"it is marked `xfail`: {scenario.xfail}; take the mark away", "  ")
    before = 0
    for failure in result.failures:
        lines += failure_block(look, failure, reasons=_MANY_REASONS if verbosity > 0 else MAX_REASONS)
        lines += _leading_to(look, result, failure, before, verbosity)
        before = failure.after
        lines.append("")
    again = scenario.node_id
    if clean(again) != again:  # what cannot be shown cannot be pasted
        again = f"{scenario.file}:{scenario.line}"
    lines.append(f"again: dralang test {shlex.quote(clean(again))}")
    return lines


def failure_block(look: Look, failure: Failure, *, reasons: int = MAX_REASONS) -> list[str]:
    """A failure: its place, expected and actual, the why with so many reasons at most."""
    label = f"at {format_duration(failure.time)}"
    lines = render_place(failure.span, label, color=look.color, width=look.width).splitlines()
    lines += ["", *side_by_side(look, failure.expected, failure.actual)]
    if failure.why:
        lines += ["", f"  {look.paint('cyan', 'why')}:", *why_tree(look, failure.why, most=reasons)]
    return lines


def _leading_to(look: Look, result: ScenarioResult, failure: Failure, before: int, verbosity: int) -> list[str]:
    """The end of the record that leads to a failure, from the failure before it on."""
    most = _LONG_TRACE if verbosity > 0 else _TRACE
    entries = result.played.trace[max(before, failure.after - most) : failure.after]
    if not entries:
        return []
    return ["", f"  {look.paint('cyan', 'what led there')}:", *timeline(look, entries, "    ")]


def _reason(result: ScenarioResult) -> str:
    """What is to be said of a result on one line, with a dash before it."""
    text = ""
    if result.fault:
        text = result.fault
    elif result.played.diagnostics:
        first = result.played.diagnostics[0]
        text = f"{first.code} {first.message}"
    elif result.verdict in ("xfailed", "xpassed"):
        text = result.scenario.xfail or ""
    elif result.failures:
        first_failure = result.failures[0]
        text = f"line {first_failure.span.position.line}: {first_failure.actual}"
        if len(result.failures) > 1:
            text += f" (and {_many(len(result.failures) - 1, 'more failure')})"
    text = clean(" ".join(text.split()))
    return f" - {text if len(text) <= _MAX_REASON else text[:_MAX_REASON].rstrip() + '...'}" if text else ""


# ---- counts ---------------------------------------------------------------------------------------------------------


def summary(counts: Counts) -> str:
    """`1 failed, 11 passed, 1 refused`."""
    parts = [
        f"{count} {name}"
        for count, name in (
            (counts.failed, "failed"),
            (counts.error, "broken by a fault of dralang"),
            (counts.refused, "refused"),
            (counts.xpassed, "xpassed"),
            (counts.passed, "passed"),
            (counts.xfailed, "xfailed"),
            (counts.deselected, "deselected"),
        )
        if count
    ]
    if counts.broken:
        parts.append(f"{_many(counts.broken, 'file')} not run")
    for number, name in ((counts.warnings, "warning"), (counts.notes, "note")):
        if number:
            parts.append(_many(number, name))
    return ", ".join(parts) or "no scenarios"


def _failures(counts: Counts) -> int:
    return counts.failed + counts.error + counts.refused + counts.xpassed + counts.broken


def _is_green(counts: Counts) -> bool:
    return not _failures(counts) and counts.played > 0


def _many(count: int, name: str) -> str:
    return f"{count:,} {name}{'' if count == 1 else 's'}"


def how_many(collection: Collection) -> str:
    """How much was chosen."""
    return f"{_many(collection.scenarios, 'scenario')} in {_many(len(collection.files), 'file')}"


def collected_lines(collection: Collection) -> list[str]:
    """The node ids of what was chosen."""
    return [clean(scenario.node_id) for file in collection.files for scenario in file.scenarios]


class Silent(Struct, frozen=True):
    """Listens and says nothing, where only the end is printed."""

    def file_begins(self, file: CollectedFile) -> None:
        """Nothing."""

    def scenario_ends(self, result: ScenarioResult) -> None:
        """Nothing."""

    def file_ends(self, result: FileResult) -> None:
        """Nothing."""
