"""`dralang test`: run scenarios, report what does not hold."""

from pathlib import Path
from time import perf_counter

from dralang import __version__
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError, did_you_mean
from dralang.cli.config import Config, load
from dralang.cli.console import Console
from dralang.cli.playing import play_as_test, workshop_of
from dralang.cli.project import analyzer, fault_text, find_specs, refuse, wanted_expression
from dralang.run.outcome import Played
from dralang.scenario.model import Scenario
from dralang.testing.discovery import STDIN, SpecFile
from dralang.testing.lastfailed import LastFailed
from dralang.testing.looks import Look
from dralang.testing.pretty import PrettyReporter, Silent, collected_lines, how_many
from dralang.testing.report import Report
from dralang.testing.selection import Expression
from dralang.testing.session import Choice, Collection, Collector, Session


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    started = perf_counter()
    config = load(arguments, console)
    if STDIN in arguments.positionals:
        raise UsageError("`dralang test` does not read standard input", "`dralang run -` does")
    call = _Call(arguments, console, config)
    collection = call.collect()
    if arguments.flag("--collect-only"):
        return call.list(collection)
    return call.play(collection, started)


def exit_code(report: Report, fail_level: str) -> int:
    """How a run ends; the order of precedence is that of ``exits``."""
    counts = report.counts()
    if report.stopped == "interrupted":
        return exits.INTERRUPTED
    if counts.error or any(file.fault for file in report.broken()):
        return exits.INTERNAL
    if counts.failed or counts.xpassed:
        return exits.FAILED
    if counts.broken or counts.refused:
        return exits.UNUSABLE
    if not counts.played:
        return exits.NOTHING
    return exits.WARNINGS if counts.warnings and fail_level == "warning" else exits.OK


class _Call:
    """One call of the command; private to this module."""

    def __init__(self, arguments: Arguments, console: Console, config: Config) -> None:
        self.arguments = arguments
        self.console = console
        self.config = config
        self.fault = fault_text(console)
        self.is_json = arguments.text("--format") == "json"
        self.verbosity = arguments.count("--verbose") - arguments.count("--quiet")
        self.max_failures = arguments.number("--maxfail") or (1 if arguments.flag("--exitfirst") else 0)
        self.durations = arguments.number("--durations")
        self.name = wanted_expression(arguments, "-k")
        self.tags = wanted_expression(arguments, "-m")
        self.last_failed = LastFailed(config.root.resolve(), Path.cwd().resolve())
        self.notes: list[str] = []
        if self.last_failed.note:
            self.notes.append(self.last_failed.note)

    # ---- choosing ---------------------------------------------------------------------------------------------------

    def collect(self) -> Collection:
        files = find_specs(self.arguments.positionals, self.config)
        only: frozenset[str] | None = None
        if self.arguments.flag("--last-failed"):
            files, only = self._only_failed(files)
        first = self.last_failed.ids if self.arguments.flag("--failed-first") else frozenset()
        collector = Collector(analyzer(self.config), Choice(self.name, self.tags, only, first), self.fault)
        collection = collector.collect(files)
        refuse(collection.problems)
        if self.tags is not None:
            self._unknown_tags(self.tags, collector.known_tags)
        return collection

    def _only_failed(self, files: tuple[SpecFile, ...]) -> tuple[tuple[SpecFile, ...], frozenset[str] | None]:
        """The files in which something failed; all of them, and no choice, where nothing did."""
        failed = self.last_failed.ids
        names = {node.partition("::")[0] for node in failed}
        chosen = tuple(file for file in files if _name(file.path) in names)
        if not chosen:
            self.notes.append("nothing of this failed last time: everything is run")
            return files, None
        self.notes.append(f"only what failed last time: {len(failed)} in {len(names)} files")
        return chosen, failed

    def _unknown_tags(self, tags: Expression, known: set[str]) -> None:
        lowered = {tag.lower() for tag in known}
        for phrase in tags.phrases:
            if phrase not in lowered:
                near = did_you_mean(phrase, known)
                self.console.err(f"warning: nothing is tagged `{phrase}`{f'; {near}' if near else ''}\n")

    # ---- listing ----------------------------------------------------------------------------------------------------

    def list(self, collection: Collection) -> int:
        broken = [file for file in collection.files if file.is_broken]
        if self.is_json:
            from dralang.testing.jsonreport import collection_json

            self.console.json(collection_json(collection, __version__))
        else:
            from dralang.diagnostics.render import clean, render_text

            self.console.out("".join(f"{line}\n" for line in collected_lines(collection)))
            if self.verbosity >= 0:
                self.console.out(f"\n{how_many(collection)}\n")
            look = self._look()
            for file in broken:
                errors = [item for item in file.diagnostics if item.severity == "error"]
                if errors:
                    self.console.err(render_text(errors, color=look.color, width=look.width) + "\n")
                if file.fault:
                    self.console.err(f"error: dralang has a fault: {clean(file.name)}: {clean(file.fault)}\n")
        if any(file.fault for file in broken):
            return exits.INTERNAL
        if broken:
            return exits.UNUSABLE
        return exits.OK if collection.scenarios else exits.NOTHING

    # ---- playing ----------------------------------------------------------------------------------------------------

    def play(self, collection: Collection, started: float) -> int:
        if self.is_json:
            from dralang.testing.jsonreport import report_json

            report = self._session(Silent()).run(collection.files, started=started)
            code = exit_code(report, self.config.fail_level)
            self._remember(report)
            self.console.json(report_json(report, __version__, code, self.durations))
            return code
        flush = self.console.flush if self.console.is_terminal else None
        reporter = PrettyReporter(self.console.out, self._look(), verbosity=self.verbosity, flush=flush)
        reporter.begins(collection, self._head(), self.notes)
        report = self._session(reporter).run(collection.files, started=started)
        reporter.ends(report, self.durations)
        self._remember(report)
        return exit_code(report, self.config.fail_level)

    def _session(self, listener: PrettyReporter | Silent) -> Session:
        workshop = workshop_of(self.arguments)

        def player(scenario: Scenario) -> Played:
            return play_as_test(scenario, workshop, seed=self.config.seed)

        return Session(player, listener, self.fault, max_failures=self.max_failures, seed=self.config.seed)

    def _head(self) -> str:
        over = self.config.overrides
        parts = [f"dralang {__version__}", f"seed {self.config.seed}"]
        if over.version:
            parts.append(f"kubernetes {over.version} whatever files say")
        parts += [f"{gate}={str(on).lower()}" for gate, on in sorted(over.gates.items())]
        return ", ".join(parts)

    def _remember(self, report: Report) -> None:
        wrong = self.last_failed.update(report)
        if wrong:
            self.console.err(f"note: {wrong}\n")

    def _look(self) -> Look:
        return Look(self.console.has_color(self.config.color), self.console.width)


def _name(path: Path) -> str:
    """How analysis calls a file: relative to the working directory where it lies below it."""
    resolved = path.resolve()
    here = Path.cwd().resolve()
    return str(resolved.relative_to(here)) if resolved.is_relative_to(here) else str(path)
