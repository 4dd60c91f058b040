"""A test run: files are analysed, scenarios chosen and played, results collected.

``Collector`` reads, ``Session`` plays. Neither prints: a ``Listener`` hears of each step as it happens.
"""

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Literal, Protocol

import msgspec
from msgspec import Struct

from dralang.check.analysis import Analysis, Analyzer
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.run.outcome import Played
from dralang.scenario.model import Scenario
from dralang.testing.discovery import SpecFile
from dralang.testing.report import UNEXPECTED, CollectedFile, FileResult, Report, ScenarioResult
from dralang.testing.selection import Expression, Problem, matches_name, matches_tags, select

Player = Callable[[Scenario], Played]


class Choice(Struct, frozen=True):
    """Which scenarios are wanted; None leaves a criterion out.

    Attributes:
        name: ``-k``.
        tags: ``-m``.
        only: ``--lf``: node ids and names of files.
        first: ``--ff``: these go before the others.
    """

    name: Expression | None = None
    tags: Expression | None = None
    only: frozenset[str] | None = None
    first: frozenset[str] = frozenset()

    def takes(self, scenario: Scenario) -> bool:
        """Whether a scenario is wanted."""
        return (
            (self.name is None or matches_name(self.name, scenario))
            and (self.tags is None or matches_tags(self.tags, scenario))
            and (self.only is None or scenario.node_id in self.only or scenario.file in self.only)
        )


class Collection(Struct, frozen=True):
    """What is to be run, and what on the command line names nothing."""

    files: tuple[CollectedFile, ...]
    problems: tuple[Problem, ...]

    @property
    def scenarios(self) -> int:
        """How many are to be run."""
        return sum(len(file.scenarios) for file in self.files)

    def tags(self) -> set[str]:
        """All tags of the chosen files' scenarios that were chosen."""
        return {tag for file in self.files for scenario in file.scenarios for tag in scenario.tags}


class Listener(Protocol):
    """Hears what happens during a run."""

    def file_begins(self, file: CollectedFile) -> None:
        """A file's scenarios are next."""

    def scenario_ends(self, result: ScenarioResult) -> None:
        """A scenario has its verdict."""

    def file_ends(self, result: FileResult) -> None:
        """All of a file's scenarios have theirs, or could not be run."""


class Collector:
    """Analyses files and chooses among their scenarios.

    Args:
        analyzer: reads them.
        choice: which scenarios are wanted.
        fault: told of an exception that is our own fault; gives the text for the report.
    """

    def __init__(self, analyzer: Analyzer, choice: Choice, fault: Callable[[Exception], str]) -> None:
        self.analyzer = analyzer
        self.choice = choice
        self.fault = fault
        self.known_tags: set[str] = set()

    def collect(self, files: Sequence[SpecFile]) -> Collection:
        """Analyse files in their order."""
        collected: list[CollectedFile] = []
        problems: list[Problem] = []
        for file in files:
            found = self._file(file)
            if isinstance(found, Problem):
                problems.append(found)
            else:
                collected.append(found)
        return Collection(self._ordered(collected), tuple(problems))

    def _file(self, file: SpecFile) -> CollectedFile | Problem:
        try:
            analysis = self.analyzer.path(file.path)
        except Exception as error:  # our own bug must not take the other files along
            return CollectedFile(file.path, str(file.path), (), (), 0, self.fault(error))
        if isinstance(analysis, Diagnostic):
            return CollectedFile(file.path, str(file.path), (analysis,), (), 0)
        return self.chosen(file, analysis)

    def chosen(self, file: SpecFile, analysis: Analysis) -> CollectedFile | Problem:
        """What of an analysed file is to be run."""
        name = analysis.source.name
        if analysis.has_errors:
            return CollectedFile(file.path, name, analysis.diagnostics, (), 0)
        self.known_tags.update(tag for scenario in analysis.scenarios for tag in scenario.tags)
        selected = select(name, analysis.scenarios, file.selectors)
        if isinstance(selected, Problem):
            return selected
        wanted = [scenario for scenario in selected if self.choice.takes(scenario)]
        if self.choice.first:
            wanted.sort(key=lambda scenario: scenario.node_id not in self.choice.first)
        return CollectedFile(file.path, name, analysis.diagnostics, tuple(wanted), len(analysis.scenarios))

    def _ordered(self, files: list[CollectedFile]) -> tuple[CollectedFile, ...]:
        first = self.choice.first
        if first:
            files.sort(
                key=lambda file: (
                    file.name not in first and not any(scenario.node_id in first for scenario in file.scenarios)
                )
            )
        return tuple(files)


class Session:
    """Plays what was collected.

    Args:
        player: plays one scenario.
        listener: hears of each result.
        fault: told of an exception that is our own fault; gives the text for the report.
        max_failures: how many failures end the run; 0 for no limit.
        seed: where random choices start.
    """

    def __init__(
        self,
        player: Player,
        listener: Listener,
        fault: Callable[[Exception], str],
        *,
        max_failures: int = 0,
        seed: int = 0,
    ) -> None:
        self.player = player
        self.listener = listener
        self.fault = fault
        self.max_failures = max_failures
        self.seed = seed
        self.failures = 0

    def run(self, files: Sequence[CollectedFile], *, started: float) -> Report:
        """Play all scenarios of the files in order; an interruption ends the run and is part of the report.

        Args:
            files: what to run.
            started: of the run, by ``time.perf_counter``.
        """
        done: list[FileResult] = []
        results: list[ScenarioResult] = []
        stopped: Literal["", "maxfail", "interrupted"] = ""
        current: CollectedFile | None = None
        try:
            for file in files:
                current, results = file, []
                self.listener.file_begins(file)
                if file.is_broken:
                    self.failures += 1
                for scenario in file.scenarios:
                    if self._is_enough():
                        break
                    result = self._play(scenario)
                    results.append(result)
                    self.listener.scenario_ends(result)
                done.append(FileResult(file, tuple(results)))
                current = None
                self.listener.file_ends(done[-1])
                if self._is_enough():
                    stopped = "maxfail"
                    break
        except KeyboardInterrupt:
            stopped = "interrupted"
            if current is not None and len(done) == files.index(current):
                done.append(FileResult(current, tuple(results)))
        done += [FileResult(file, ()) for file in files[len(done) :]]
        return Report(tuple(done), self.seed, stopped, perf_counter() - started)

    def _is_enough(self) -> bool:
        return 0 < self.max_failures <= self.failures

    def _play(self, scenario: Scenario) -> ScenarioResult:
        begin = perf_counter()
        fault = ""
        try:
            played = self.player(scenario)
        except Exception as error:  # our own bug must not take the other scenarios along
            fault = self.fault(error)
            played = Played(scenario, "error", (), (), (), 0, 0)
        if played.verdict in UNEXPECTED:
            self.failures += 1
        elif played.trace:
            played = msgspec.structs.replace(played, trace=())
        return ScenarioResult(played, perf_counter() - begin, fault)
