"""`dralang fuzz`: look for stories in which something does not hold, and write them down."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Final

from msgspec import structs

from dralang import __version__
from dralang.check import problems
from dralang.check.analysis import Analysis, Analyzer
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.config import Config, load
from dralang.cli.console import Console
from dralang.cli.fuzz_json import fuzz_json, reached_by
from dralang.cli.fuzz_oracles import admitted, counted, how_of, store_case
from dralang.cli.project import analyzer, fault_text, find_specs, refuse, wanted_expression
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.render import clean, render_place, render_text
from dralang.fuzz.campaign import Campaign, Outcome, Plan, Target
from dralang.fuzz.engine import EngineError
from dralang.fuzz.example import Example
from dralang.fuzz.explore import CHUNK
from dralang.fuzz.memory import Memory
from dralang.fuzz.reach import coverage
from dralang.fuzz.real_allocator import UnavailableError
from dralang.fuzz.regression import FOUND_BY, Written, store, write_down
from dralang.testing.lastfailed import FOLDER
from dralang.testing.looks import Look
from dralang.testing.pretty import failure_block
from dralang.testing.session import Choice, Collection, Collector
from dralang.values.duration import parse_duration

REGRESSIONS: Final = ("specs", "regressions")
MOST_EXAMPLES: Final = 1_000
MOST_WORKERS: Final = 256
_EVERY: Final = 0.2


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    config = load(arguments, console)
    look = Look(console.has_color(config.color), console.width)
    try:
        plan = _plan(arguments, config, console)
    except UnavailableError as error:
        console.err(render_text([error.diagnostic], color=look.color, width=look.width))
        return exits.UNUSABLE
    collection = _collect(arguments, config, console)
    broken = [file for file in collection.files if file.is_broken]
    for file in broken:
        errors = [item for item in file.diagnostics if item.severity == "error"]
        console.err(render_text(errors, color=look.color, width=look.width) if errors else f"{file.fault}\n")
    targets = [
        Target(file.path, scenario)
        for file in collection.files
        for scenario in file.scenarios
        if scenario.template is not None
    ]
    left_out = _left_out(collection)
    if left_out:
        console.err(render_text(left_out, color=look.color, width=look.width))
    targets, refused = admitted(targets, plan.how)
    if refused:
        console.err(render_text(refused, color=look.color, width=look.width))
    if not targets and not broken and not refused:
        some = any(file.total > len(file.scenarios) for file in collection.files)
        console.err(f"note: {'no `fuzz` is chosen' if some else 'there is no `fuzz` in these files'}\n")
    if not targets and refused:
        return exits.UNUSABLE
    if not targets:
        return exits.UNUSABLE if broken else exits.NOTHING
    report = _Report(console, look, config, plan, as_json=arguments.text("--format") == "json")
    code = report.run(targets)
    if (broken or refused) and code == exits.OK:
        code = exits.UNUSABLE
    report.end(code)
    return code


def _plan(arguments: Arguments, config: Config, console: Console) -> Plan:
    seconds = _seconds(arguments)
    most = arguments.number("--max-examples", minimum=1)
    if most is None and seconds is None:
        most = MOST_EXAMPLES
    settings = analyzer(config)
    how = how_of(arguments, config.root.resolve() / FOLDER, console)
    return Plan(
        config.seed,
        most,
        seconds,
        _workers(arguments),
        _scheduler(arguments),
        settings.overrides,
        settings.defaults,
        how,
    )


def _seconds(arguments: Arguments) -> float | None:
    text = arguments.text("--time")
    if text is None:
        return None
    try:
        milliseconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"`--time`: {error}", "write it like `--time 10m`") from None
    if not milliseconds:
        raise UsageError("`--time` leaves no time", "write it like `--time 10m`")
    return milliseconds / 1_000


def _workers(arguments: Arguments) -> int:
    if arguments.text("--workers") == "auto":
        return min(os.cpu_count() or 1, MOST_WORKERS)
    workers = arguments.number("--workers", minimum=1) or 1
    if workers > MOST_WORKERS:
        way_out = "`-n auto` takes as many as there are processors; more machines: `--engine dask`"
        raise UsageError(f"`-n` takes at most {MOST_WORKERS} processes", way_out)
    return workers


def _scheduler(arguments: Arguments) -> str:
    """The address of a Dask scheduler, if its workers are to be used."""
    address = arguments.text("--scheduler") or ""
    if arguments.text("--engine") != "dask":
        if arguments.flag("--scheduler"):
            raise UsageError("`--scheduler` needs `--engine dask`", f"write `--engine dask --scheduler {address}`")
        return ""
    if not address:
        way_out = "start one with `dask scheduler` and write `--engine dask --scheduler tcp://HOST:8786`"
        raise UsageError("`--engine dask` needs the address of a scheduler", way_out)
    if arguments.flag("--workers"):
        raise UsageError("a Dask cluster has the workers that it has", "leave out `-n`, and start as many there")
    return address


def _collect(arguments: Arguments, config: Config, console: Console) -> Collection:
    choice = Choice(wanted_expression(arguments, "-k"), wanted_expression(arguments, "-m"))
    files = find_specs(arguments.positionals, config)
    collection = Collector(analyzer(config), choice, fault_text(console)).collect(files)
    refuse(collection.problems)
    return collection


def _left_out(collection: Collection) -> list[Diagnostic]:
    """What chosen fuzzes never do: their examples say nothing of it."""
    found = []
    for file in collection.files:
        lines = {line for each in file.scenarios for line in range(each.line, each.last_line + 1)}
        for item in file.diagnostics:
            span = item.span if item.code == problems.NOTHING_THERE else None
            if span is not None and span.source.position(span.start).line in lines:
                found.append(item)
    return found


class _Report:
    """One run as people read it; private to this module."""

    def __init__(self, console: Console, look: Look, config: Config, plan: Plan, *, as_json: bool) -> None:
        self.console = console
        self.as_json = as_json
        self.written: dict[str, str] = {}
        self.campaign: Campaign | None = None
        self.look = look
        self.config = config
        self.plan = plan
        self.started = perf_counter()
        self.shown = 0.0
        self.width = 0

    def run(self, targets: Sequence[Target]) -> int:
        memory = Memory(self.config.root.resolve() / FOLDER)
        plan = self.plan
        self._out(f"{self.look.rule('dralang fuzz')}\n")
        workers = f", {plan.workers} workers" if plan.workers > 1 else ""
        if plan.scheduler:
            workers = f", workers of {clean(plan.scheduler)}"
        self._out(f"dralang {__version__}, seed {plan.seed}{workers}\n")
        if memory.note:
            self._out(f"{clean(memory.note)}\n")
        self._out(f"{len(targets)} fuzz{'' if len(targets) == 1 else 'es'}\n\n")
        self.console.flush()
        campaign = self.campaign = Campaign(targets, plan, self, memory)
        try:
            campaign.run()
        except EngineError as error:
            raise UsageError(error.message, error.help) from None
        finally:
            # Before the report, which may take its time and be interrupted too.
            wrong = memory.save()
        self._clear()
        for outcome in campaign.outcomes:
            self._outcome(outcome, campaign)
        campaign.explorer.close()
        if wrong:
            self.console.err(f"note: {clean(wrong)}\n")
        self._end(campaign)
        if campaign.broken is not None:
            self.console.err(f"error: {clean(campaign.broken.message)}\nhelp: {clean(campaign.broken.help)}\n")
        if campaign.interrupted:
            return exits.INTERRUPTED
        if any(outcome.fault for outcome in campaign.outcomes):
            return exits.INTERNAL
        if any(outcome.found or campaign.xpassed(outcome) for outcome in campaign.outcomes):
            return exits.FAILED
        if campaign.broken is not None:
            return exits.UNUSABLE
        if any(outcome.discarded and not outcome.examples for outcome in campaign.outcomes):
            return exits.UNUSABLE
        return exits.OK if any(outcome.examples or outcome.xfailed for outcome in campaign.outcomes) else exits.NOTHING

    def end(self, code: int) -> None:
        """The document, where one is wanted."""
        if self.as_json and self.campaign is not None:
            seconds = perf_counter() - self.started
            self.console.json(fuzz_json(self.campaign, self.written, __version__, code, seconds))

    def _out(self, text: str) -> None:
        if not self.as_json:
            self.console.out(text)

    # ---- progress ---------------------------------------------------------------------------------------------------

    def progressed(self, outcomes: Sequence[Outcome], current: Outcome) -> None:
        """One line that is written over again, where somebody watches."""
        now = perf_counter()
        if self.as_json or not self.console.is_terminal or now - self.shown < _EVERY:
            return
        self.shown = now
        text = (
            f"{_totals(outcomes, now - self.started)}  +{current.states.new:,} {clean(current.target.scenario.title)}"
        )
        text = text[: self.look.width - 1]
        self._out(f"\r{text.ljust(self.width)}")
        self.width = len(text)
        self.console.flush()

    def _clear(self) -> None:
        if self.width:
            self._out(f"\r{' ' * self.width}\r")

    # ---- the end ----------------------------------------------------------------------------------------------------

    def _names(self, title: str, names: Sequence[str]) -> None:
        lines = self.look.wrapped("; ".join(names), f"{title}: ", "    ") if names else [title]
        self._out("\n".join(lines) + "\n")

    def _outcome(self, outcome: Outcome, campaign: Campaign) -> None:
        scenario = outcome.target.scenario
        word = self.look.paint("green", "ok") if outcome.examples else self.look.paint("yellow", "not played")
        xpassed = campaign.xpassed(outcome)
        if outcome.found:
            word = self.look.paint("red", "FOUND")
        elif xpassed:
            word = self.look.paint("red", "xpassed")
        elif outcome.xfailed:
            word = self.look.paint("yellow", "xfailed")
        counts = f"{outcome.examples:,} examples, {outcome.states.count:,} states"
        if outcome.discarded:
            counts += f", {outcome.discarded:,} did not go together"
        if outcome.remembered:
            counts = "fails as in an earlier run"
        if outcome.xfailed:
            counts += f" ({clean(scenario.xfail or '')})"
        self._out(f"{word} {clean(scenario.node_id)}: {counts}\n")
        if outcome.discarded and outcome.why_discarded:
            what = "one that did not go together" if outcome.examples else "nothing could be played"
            self._out(f"   {what}: {clean(outcome.why_discarded)}\n")
        if xpassed:
            place = render_place(scenario.span, "passes", color=self.look.color, width=self.look.width)
            lines = self.look.wrapped(f"it is marked `xfail`: {clean(scenario.xfail or '')}; take the mark away", "  ")
            self._out("\n".join(["", place.rstrip("\n"), *lines, f"again: {self._again(outcome)}", "\n"]))
        if outcome.found:
            self._finding(outcome, campaign)

    def _finding(self, outcome: Outcome, campaign: Campaign) -> None:
        scenario = outcome.target.scenario
        out = self._out
        example = outcome.example
        out("\n")
        if outcome.fault:
            out(f"dralang has a fault: {clean(outcome.fault)}\n")
        try:
            written = None if example is None or outcome.fault else self._write(outcome, campaign)
        except KeyboardInterrupt:
            if example is not None and example.failure is not None:
                out("\n".join(failure_block(self.look, example.failure)) + "\n")
            raise
        if example is not None and written is not None and written.failure is not None:
            # What is left of the story may fail with fewer words.
            example = outcome.example = structs.replace(example, failure=written.failure)
        if example is not None and example.failure is not None:
            out("\n".join(failure_block(self.look, example.failure)) + "\n")
        if example is None or written is None:
            out(f"again: {self._again(outcome)}\n\n")
            return
        out(f"\n  {self.look.paint('cyan', 'the story, as small as it still fails')}:\n")
        out("".join(f"    {clean(line)}\n" for line in written.lines))
        folder = self.config.root.joinpath(*REGRESSIONS)
        stored = None
        if written.text:
            stored = store(
                written, folder, lambda text: self.console.err(f"error: {clean(text)}\n"), keep=outcome.remembered
            )
        if stored is not None:
            self.written[scenario.node_id] = _shown(stored)
            out(f"\nwritten: {clean(_shown(stored))}; `dralang test {shlex.quote(clean(_shown(stored)))}` replays it\n")
        elif not written.text:  # else it could not be stored, and that has been said
            out("\na plain scenario cannot show this\n")
            self._store_case(example, written)
        out(f"again: {self._again(outcome)}\n\n")

    def _store_case(self, example: Example, written: Written) -> None:
        try:
            stored = store_case(example, self.config.root.joinpath(*REGRESSIONS), written.name)
        except OSError as error:
            self.console.err(f"error: cannot write the question: {(error.strerror or '').lower()}\n")
            return
        if stored is not None:
            shown = clean(_shown(stored))
            self._out(f"written: {shown}; `dralang conform {shlex.quote(shown)}` asks it again\n")

    def _again(self, outcome: Outcome) -> str:
        """The command that finds it again, whatever ended this run."""
        if outcome.remembered:  # by the example that is kept, whatever the seed is
            return f"dralang fuzz {shlex.quote(clean(outcome.target.scenario.node_id))}"
        command = f"dralang fuzz {shlex.quote(clean(outcome.target.scenario.node_id))} --seed {self.plan.seed}"
        needed = (outcome.last + 1) * CHUNK
        most = f" --max-examples {needed}" if needed > MOST_EXAMPLES else ""
        how = self.plan.how
        options = "".join([" --stateful" * how.stateful, *[f" --against {name}" for name in how.against]])
        return command + most + options

    def _write(self, outcome: Outcome, campaign: Campaign) -> Written:
        target, example = outcome.target, outcome.example
        assert example is not None
        own = Analyzer(self.plan.overrides, self.plan.defaults)
        analysis = own.path(target.path)
        assert isinstance(analysis, Analysis)
        failure = example.failure
        what = "" if failure is None else f"{failure.kind}: {failure.expected}"
        seed = "" if outcome.remembered else f", seed {self.plan.seed}"
        remark = f"{FOUND_BY}{seed}, in {clean(target.scenario.file)}.\n{clean(what)[:110]}"
        folder = self.config.root.joinpath(*REGRESSIONS)
        return write_down(
            target.scenario,
            analysis.tree,
            target.path,
            folder,
            example,
            remark=remark,
            analyzer=own,
            oracles=campaign.explorer.oracles,
        )

    def _end(self, campaign: Campaign) -> None:
        outcomes = campaign.outcomes
        try:
            parts = coverage(reached_by(outcomes))
        except KeyboardInterrupt:
            # What could be reached is looked up for a moment; the totals are there without it.
            campaign.interrupted, parts = True, ()
        for part in parts:
            total = len(part.reached) + len(part.never)
            self._names(f"reached {len(part.reached)} of {total} {part.what}", part.reached)
            if part.never:
                self._names("  never", part.never)
        for line in counted(outcomes):
            self._out(f"compared {line}\n")
        if campaign.interrupted:
            self._out(f"{self.look.rule('interrupted', '!', 'red')}\n")
        found = sum(outcome.found for outcome in outcomes)
        xfailed = sum(outcome.xfailed for outcome in outcomes)
        xpassed = sum(map(campaign.xpassed, outcomes))
        text = f"{_totals(outcomes, perf_counter() - self.started)}, {found} found"
        text += f", {xfailed} xfailed" * bool(xfailed) + f", {xpassed} xpassed" * bool(xpassed)
        self._out(f"{self.look.rule(text, '=', 'red' if found or xpassed else 'green')}\n")


def _totals(outcomes: Sequence[Outcome], seconds: float) -> str:
    examples = sum(outcome.examples for outcome in outcomes)
    states = sum(outcome.states.count for outcome in outcomes)
    return f"{examples:,} examples, {examples / max(seconds, 0.001):.0f}/s, {states:,} states, {seconds:.1f}s"


def _shown(path: Path) -> str:
    here = Path.cwd().resolve()
    resolved = path.resolve()
    return str(resolved.relative_to(here)) if resolved.is_relative_to(here) else str(path)
