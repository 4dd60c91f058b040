"""One scenario told: what happens when and why, then what became of each expectation."""

from collections.abc import Sequence

from dralang.diagnostics.render import clean, render_text
from dralang.run.outcome import Failure, Judged, Played
from dralang.scenario import steps as s
from dralang.testing.looks import Look, Style, side_by_side, timeline, why_tree
from dralang.testing.pretty import STYLES
from dralang.values.duration import format_duration

_NUMBER_WIDTH = 5


def story(look: Look, played: Played) -> list[str]:
    """The timeline of a scenario and the verdicts of its expectations."""
    scenario = played.scenario
    settings = [f"kubernetes {scenario.settings.version}"]
    settings += [f"{gate}={str(on).lower()}" for gate, on in sorted(scenario.settings.gates.items())]
    settings += [f"quirk {quirk}={str(on).lower()}" for quirk, on in sorted(scenario.settings.quirks.items())]
    lines = [look.rule(scenario.node_id), look.paint("dim", clean(", ".join(settings))), ""]
    if played.verdict == "refused":
        lines += render_text(played.diagnostics, color=look.color, width=look.width).splitlines()
    else:
        lines += timeline(look, played.trace, "", head=True) if played.trace else ["nothing happens"]
        lines += ["", "expectations:", *_expectations(look, played)]
    lines += ["", f"{look.paint(STYLES[played.verdict], played.verdict)} at {format_duration(played.end)}"]
    if scenario.xfail is not None and played.verdict in ("xfailed", "xpassed"):
        lines[-1] += clean(f" (marked xfail: {scenario.xfail})")
    return lines


def _expectations(look: Look, played: Played) -> list[str]:
    failures = list(played.failures)
    lines: list[str] = []
    for judged in played.judged:
        failure = None if judged.holds else _taken(failures, judged)
        lines += _judged(look, judged, failure)
    for failure in failures:  # statements that could not be carried out
        line = failure.span.position.line
        lines += _line(look, "red", "failed", failure.time, line, failure.span.source.line_text(line))
        lines += _detail(look, failure)
    for step in _not_reached(played):
        lines += _line(look, "yellow", "not reached", None, step.span.position.line, step.span.text)
    return lines or ["  none"]


def _taken(failures: list[Failure], judged: Judged) -> Failure | None:
    """The failure of what was looked at; taken from the list, as a repeated statement has several."""
    for number, failure in enumerate(failures):
        if failure.span == judged.span and failure.kind == judged.kind:
            return failures.pop(number)
    return None


def _judged(look: Look, judged: Judged, failure: Failure | None) -> list[str]:
    style: Style = "green" if judged.holds else "red"
    time = judged.time if failure is None else failure.time
    lines = _line(look, style, "holds" if judged.holds else "failed", time, judged.span.position.line, judged.span.text)
    return lines if failure is None else lines + _detail(look, failure)


def _line(look: Look, style: Style, verdict: str, time: int | None, number: int, text: str) -> list[str]:
    start = f"{verdict:<12} {'' if time is None else format_duration(time):<8} line {number:<{_NUMBER_WIDTH}} "
    lines = look.wrapped(" ".join(text.split()), "  " + start, "  " + " " * len(start))
    return [lines[0].replace(verdict, look.paint(style, verdict), 1), *lines[1:]]


def _detail(look: Look, failure: Failure) -> list[str]:
    lines = ["", *[f"    {line}" for line in side_by_side(look, failure.expected, failure.actual)]]
    if failure.why:
        lines += ["", f"      {look.paint('cyan', 'why')}:", *[f"    {line}" for line in why_tree(look, failure.why)]]
    return [*lines, ""]


def _not_reached(played: Played) -> Sequence[s.Expect]:
    expected = [step for step in played.scenario.steps if isinstance(step, s.Expect)]
    looked_at = sum(judged.kind in ("expect", "within") for judged in played.judged)
    return expected[looked_at:]
