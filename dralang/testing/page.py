"""Scenarios as one page to look at: lanes for nodes and devices over time.

No network, no dates: the same bytes in every run.
"""

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from dralang.cluster.journal import JournalEntry
from dralang.diagnostics.render import clean
from dralang.run.lanes import DeviceLane, Lanes, PodLane, PodState, Span
from dralang.run.outcome import Failure, Played
from dralang.run.view import short_names
from dralang.testing.looks import Look, entry_object, why_tree
from dralang.testing.timescale import TimeScale
from dralang.values.duration import format_duration

_ROW: Final = 22
_LABEL: Final = 190
_STRIP: Final = 6
_PALE: Final = ("waiting", "finished", "failed")
_LETTER: Final = 6.2
_COLORS: Final = (
    "#3e63dd", "#12a594", "#ad57d6", "#e5484d", "#2b9a66", "#d6409f", "#0588f0", "#bd4b00", "#6e56cf", "#7a7d1a",
)  # fmt: skip
_SCRIPT: Final = (
    "document.querySelectorAll('svg').forEach(s=>{const mark=(e,on)=>{const p=e.target.dataset&&e.target.dataset.p;"
    "if(p)s.querySelectorAll('[data-p=\"'+CSS.escape(p)+'\"]').forEach(b=>b.classList.toggle('on',on))};"
    "s.addEventListener('mouseover',e=>mark(e,true));s.addEventListener('mouseout',e=>mark(e,false))})"
)
_LEGEND: Final = (
    '<p class="soft">A colour is a pod, on its node and on its devices; pale: it is ending or has not started; '
    "hatched yellow: it waits; a red strip: a device is tainted or not published, a node cordoned or gone. "
    "Point at a bar for what happened. Time is stretched where much happens.</p>"
)
_PATTERNS: Final = (
    '<defs><pattern id="waits" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<rect width="6" height="6" fill="#ffdf8f"/><rect width="3" height="6" fill="#f5c542"/></pattern>'
    '<pattern id="tainted" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)">'
    '<rect width="2" height="7" fill="#e5484d" opacity=".55"/></pattern></defs>'
)


class Shown(Struct, frozen=True):
    """A scenario that was played, and its lanes."""

    played: Played
    lanes: Lanes


def page(shown: Sequence[Shown], title: str) -> str:
    """The whole page."""
    css = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>\n{css}</style></head><body>",
        f"<h1>{_text(title)}</h1>",
        _LEGEND,
        f'<svg width="0" height="0" aria-hidden="true">{_PATTERNS}</svg>',
    ]
    for number, each in enumerate(shown):
        parts += _scenario(each, number)
    parts += [f"<script>{_SCRIPT}</script>", "</body></html>", ""]
    return "\n".join(parts)


def _text(text: str) -> str:
    return escape(clean(text), quote=True)


def _scenario(shown: Shown, number: int) -> list[str]:
    played = shown.played
    scenario = played.scenario
    model = [f"kubernetes {scenario.settings.version}"]
    model += [f"{gate}={str(on).lower()}" for gate, on in sorted(scenario.settings.gates.items())]
    model.append(f"ends at {format_duration(played.end)}")
    verdict = f'<span class="verdict {played.verdict}">{played.verdict}</span>'
    parts = [f'<h2 id="s{number}">{_text(scenario.title)}{verdict}</h2>']
    parts.append(f'<p class="model">{_text(", ".join(model))}</p>')
    if played.verdict == "refused":
        return [*parts, *[f'<p class="bad-text">{_text(each.message)}</p>' for each in played.diagnostics]]
    return [*parts, *_Chart(shown).html(), *_expectations(played), *_record(played.trace)]


# ---- expectations and the record ------------------------------------------------------------------------------------


def _expectations(played: Played) -> list[str]:
    lines = ['<ul class="expected">']
    failures = list(played.failures)
    for judged in played.judged:
        failure = next((each for each in failures if each.span == judged.span and each.kind == judged.kind), None)
        if not judged.holds and failure is not None:
            failures.remove(failure)
        said = " ".join(judged.span.text.split())
        time = judged.time if judged.holds or failure is None else failure.time
        lines.append(_line(judged.holds, time, judged.span.position.line, said))
        if not judged.holds and failure is not None:
            lines.append(_detail(failure))
    for failure in failures:
        line = failure.span.position.line
        lines += [_line(False, failure.time, line, failure.span.source.line_text(line).strip()), _detail(failure)]  # noqa: FBT003  # it failed
    return [*lines, "</ul>"]


def _line(holds: bool, time: int, line: int, text: str) -> str:  # noqa: FBT001  # what is shown
    mark = '<span class="good-text">&#10003;</span>' if holds else '<span class="bad-text">&#10007;</span>'
    return f'<li>{mark} <span class="soft">{format_duration(time)}, line {line}</span> <code>{_text(text)}</code></li>'


def _detail(failure: Failure) -> str:
    lines = [f"expected  {clean(failure.expected)}", f"actual    {clean(failure.actual)}"]
    if failure.why:
        lines += ["why", *why_tree(Look(width=110), failure.why)]
    return f'<li><pre class="why">{escape(chr(10).join(lines))}</pre></li>'


def _record(trace: Sequence[JournalEntry]) -> list[str]:
    lines = [f"<details><summary>{len(trace)} events</summary><table><tr><th>time</th><th>object</th>"]
    lines.append("<th>what</th><th>why</th></tr>")
    for entry in trace:
        message = "" if entry.message == entry.reason.lower() else entry.message
        cells = (format_duration(entry.time), entry_object(entry), entry.reason, message)
        lines.append(f"<tr>{''.join([f'<td>{_text(cell)}</td>' for cell in cells])}</tr>")
    return [*lines, "</table></details>"]


# ---- the chart ------------------------------------------------------------------------------------------------------


class _Chart:
    """The lanes of one run, drawn from top to bottom; private to this module."""

    def __init__(self, shown: Shown) -> None:
        self.played = shown.played
        self.lanes = shown.lanes
        self.scale = TimeScale(_instants(shown), 860.0)
        self.labels: list[str] = []
        self.ground: list[str] = []
        self.drawn: list[str] = []
        self.y = 26
        self.colors = {pod.name: _COLORS[number % len(_COLORS)] for number, pod in enumerate(shown.lanes.pods)}
        self.events = _events(shown.played.trace)

    def html(self) -> list[str]:
        self._story()
        waiting = [(pod, span) for pod in self.lanes.pods for span in pod.states if span.what.state == "waiting"]
        if waiting:
            self._band("no node yet")
            self._pods(waiting, "")
        for node in self.lanes.nodes:
            self._band(f"node {node.name}")
            for mark in node.marks:
                self._rect(mark, -_ROW, "taint", f"node {node.name} is {mark.what}")
            here = [(pod, span) for pod in self.lanes.pods for span in pod.states if span.what.node == node.name]
            self._pods(here, "pods")
            self._devices([device for device in self.lanes.devices if device.node == node.name])
        known = {node.name for node in self.lanes.nodes}
        elsewhere = [device for device in self.lanes.devices if device.node not in known]
        if elsewhere:
            self._band("devices of several nodes")
            self._devices(elsewhere)
        height = self.y + 4
        width = round(self.scale.width) + 12
        grid = [
            f'<line class="grid" x1="{x:.1f}" y1="18" x2="{x:.1f}" y2="{height}"/>'
            f'<text class="soft" x="{x + 3:.1f}" y="12">{format_duration(time)}</text>'
            for time, x in self.scale.ticks(58)
        ]
        return [
            '<div class="chart">',
            f'<svg width="{_LABEL}" height="{height}" role="presentation">{"".join(self.labels)}</svg>',
            f'<div class="scroll"><svg width="{width}" height="{height}" role="img">',
            *self.ground,
            *grid,
            *self.drawn,
            *self._failed_lines(height),
            "</svg></div></div>",
        ]

    def _story(self) -> None:
        """What the scenario does, and its expectations."""
        self._label("story", soft=True)
        done: dict[int, list[str]] = {}
        for entry in self.played.trace:
            if entry.component == "scenario":
                done.setdefault(entry.time, []).append(f"{entry_object(entry)}: {entry.message}")
        for time, texts in done.items():
            x = self.scale.x(time)
            title = "&#10;".join([_text(line) for line in [format_duration(time), *texts]])
            self.drawn.append(
                f'<circle class="act" cx="{x + 5:.1f}" cy="{self.y + 11}" r="4"><title>{title}</title></circle>'
            )
        self.y += _ROW
        self._label("expectations", soft=True)
        looked: dict[int, list[tuple[bool, str]]] = {}
        for judged in self.played.judged:
            looked.setdefault(judged.time, []).append((judged.holds, " ".join(judged.span.text.split())))
        for failure in self.played.failures:
            said = (False, " ".join(failure.span.text.split()))
            if said not in looked.get(failure.time, []):
                looked.setdefault(failure.time, []).append(said)
        for time, results in looked.items():
            good = all(holds for holds, _ in results)
            lines = [f"{'holds' if holds else 'FAILED'}: {text}" for holds, text in results]
            title = "&#10;".join([_text(line) for line in [format_duration(time), *lines]])
            x = self.scale.x(time)
            mark = "&#10003;" if good else "&#10007;"
            count = f" {len(results)}" if len(results) > 1 else ""
            self.drawn.append(
                f'<text class="{"good" if good else "bad"}" x="{x + 1:.1f}" y="{self.y + 15}">{mark}{count}'
                f"<title>{title}</title></text>"
            )
        self.y += _ROW

    def _failed_lines(self, height: int) -> Iterable[str]:
        for time in sorted({failure.time for failure in self.played.failures}):
            x = self.scale.x(time)
            yield f'<line class="bad" x1="{x:.1f}" y1="20" x2="{x:.1f}" y2="{height}"/>'

    def _band(self, text: str) -> None:
        self.labels.append(f'<rect class="band" x="0" y="{self.y}" width="{_LABEL}" height="{_ROW}"/>')
        self.ground.append(f'<rect class="band" x="0" y="{self.y}" width="100%" height="{_ROW}"/>')
        self._label(text)
        self.y += _ROW

    def _label(self, text: str, *, soft: bool = False, indent: int = 8) -> None:
        room = int((_LABEL - indent) / _LETTER)
        shown = text if len(text) <= room else f"{text[: room - 3]}..."
        look = ' class="soft"' if soft else ""
        self.labels.append(
            f'<text{look} x="{indent}" y="{self.y + 15}">{_text(shown)}<title>{_text(text)}</title></text>'
        )

    def _pods(self, bars: Sequence[tuple[PodLane, Span[PodState]]], label: str) -> None:
        """Bars in as few rows as they need; a pod keeps its row."""
        rows = _rows([(pod.name, span.start, span.end) for pod, span in bars])
        top = self.y
        for number in range(max(rows.values(), default=-1) + 1):
            if number == 0 and label:
                self._label(label, soft=True, indent=18)
            self.y += _ROW
        for pod, span in bars:
            self._pod_bar(pod.name, span, top + rows[pod.name] * _ROW - self.y)

    def _pod_bar(self, name: str, span: Span[PodState], offset: int) -> None:
        state = span.what
        until = "the end" if span.end is None else format_duration(span.end)
        title = [f"pod {name}: {state.state}, {format_duration(span.start)} to {until}"]
        title += [state.message] if state.message else []
        title += self.events.get(f"pod {name}", [])
        color = "" if state.state == "waiting" else self.colors[name]
        self._rect(span, offset, f"bar {state.state}", "\n".join(title), color=color, pod=name, text=name)

    def _devices(self, devices: Sequence[DeviceLane]) -> None:
        names = short_names([device.name for device in devices])
        for device, short in zip(devices, names, strict=True):
            rows = _rows([(span.what.claim, span.start, span.end) for span in device.holdings])
            height = max(rows.values(), default=0) + 1
            self._label(short, soft=True, indent=18)
            self.ground.append(f'<rect class="row" x="0" y="{self.y + 1}" width="100%" height="{height * _ROW - 2}"/>')
            top = self.y
            self.y += height * _ROW
            for hold in device.holdings:
                users = ", ".join(hold.what.users) or "nobody"
                title = f"{device.name}\nheld by claim {hold.what.claim} ({hold.what.request}), reserved for {users}"
                pod = hold.what.users[0] if hold.what.users else ""
                self._rect(
                    hold, top + rows[hold.what.claim] * _ROW - self.y, "bar", title,
                    color=self.colors.get(pod, "#8b8d98"), pod=pod, text=users if hold.what.users else hold.what.claim,
                )  # fmt: skip
            for taint in device.taints:
                self._rect(taint, top - self.y, "taint", f"{device.name}\ntainted {taint.what}", rows=height)

    def _rect(
        self, span: Span[Any], offset: int, look: str, title: str, *,
        color: str = "", pod: str = "", text: str = "", rows: int = 1,
    ) -> None:  # fmt: skip
        x, end = self.scale.x(span.start), self.scale.x(span.end)
        width = max(end - x - 1.5, 3)
        y, height = self.y + offset + 2, rows * _ROW - 4
        if look == "taint":  # a strip below, so that what it taints can be read and pointed at
            y, height = y + height - _STRIP + 1, _STRIP
        said = "&#10;".join([_text(line) for line in title.split("\n")])
        fill = f' fill="{color}"' if color else ""
        whose = f' data-p="{_text(pod)}"' if pod else ""
        self.drawn.append(
            f'<rect class="{look}"{fill}{whose} x="{x:.1f}" y="{y}" width="{width:.1f}" height="{height}">'
            f"<title>{said}</title></rect>"
        )
        room = int((width - 8) / _LETTER)
        if text and room >= 3:
            shown = text if len(text) <= room else f"{text[: room - 2]}.."
            ink = "on-pale" if look.endswith(_PALE) else "in"
            self.drawn.append(f'<text class="{ink}" x="{x + 5:.1f}" y="{y + 13}">{_text(shown)}</text>')


def _instants(shown: Shown) -> set[int]:
    played, lanes = shown.played, shown.lanes
    found = {entry.time for entry in played.trace} | {each.time for each in played.judged} | {played.end}
    found |= {failure.time for failure in played.failures}
    spans: list[Span[Any]] = []
    for pod in lanes.pods:
        spans += pod.states
    for node in lanes.nodes:
        spans += node.marks
    for device in lanes.devices:
        spans += [*device.taints, *device.holdings]
    for span in spans:
        found |= {span.start, span.start if span.end is None else span.end}
    return found


def _events(trace: Sequence[JournalEntry]) -> dict[str, list[str]]:
    """What happened to each object, a line each."""
    result: dict[str, list[str]] = {}
    for entry in trace:
        message = "" if entry.message == entry.reason.lower() else f": {entry.message}"
        result.setdefault(entry_object(entry), []).append(f"{format_duration(entry.time)} {entry.reason}{message}")
    return result


def _rows(bars: Iterable[tuple[str, int, int | None]]) -> dict[str, int]:
    """A row for each name, so that bars of different names do not overlap."""
    extents: dict[str, tuple[int, int | None]] = {}
    for name, start, end in bars:
        first, last = extents.get(name, (start, end))
        extents[name] = (min(first, start), None if last is None or end is None else max(last, end))
    ends: list[int | None] = []
    result: dict[str, int] = {}
    for name, (start, end) in sorted(extents.items(), key=lambda item: item[1][0]):
        row = next((number for number, taken in enumerate(ends) if taken is not None and taken <= start), len(ends))
        if row == len(ends):
            ends.append(end)
        else:
            ends[row] = end
        result[name] = row
    return result
