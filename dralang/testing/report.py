"""What a test run came to, as data; ``pretty`` and ``jsonreport`` show it."""

from pathlib import Path
from typing import Literal

from msgspec import Struct

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.run.outcome import Failure, Played, Verdict
from dralang.scenario.model import Scenario

UNEXPECTED: frozenset[Verdict] = frozenset({"failed", "xpassed", "refused", "error"})
"""Verdicts that end a run with ``--exitfirst`` and are remembered for ``--lf``."""


class ScenarioResult(Struct, frozen=True):
    """A scenario that was played.

    Attributes:
        played: how it went; the record of one that passed is not kept.
        seconds: of real time.
        fault: with the verdict ``error``: what broke in dralang.
    """

    played: Played
    seconds: float
    fault: str = ""

    @property
    def scenario(self) -> Scenario:
        """What was played."""
        return self.played.scenario

    @property
    def verdict(self) -> Verdict:
        """How it ended."""
        return self.played.verdict

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What did not hold."""
        return self.played.failures


class CollectedFile(Struct, frozen=True):
    """A file and what of it is to be run.

    Attributes:
        path: as it was found.
        name: as people call it.
        diagnostics: of its analysis.
        scenarios: the chosen ones.
        total: how many it has.
        fault: what broke in dralang while it was read.
    """

    path: Path
    name: str
    diagnostics: tuple[Diagnostic, ...]
    scenarios: tuple[Scenario, ...]
    total: int
    fault: str = ""

    @property
    def is_broken(self) -> bool:
        """Whether it cannot be run."""
        return bool(self.fault) or any(item.severity == "error" for item in self.diagnostics)


class FileResult(Struct, frozen=True):
    """A file after its run; files that were not reached have no results."""

    file: CollectedFile
    results: tuple[ScenarioResult, ...]


class Counts(Struct, frozen=True):
    """How many of each."""

    passed: int
    failed: int
    xfailed: int
    xpassed: int
    refused: int
    error: int
    broken: int
    deselected: int
    warnings: int
    notes: int

    @property
    def played(self) -> int:
        """How many scenarios have a verdict."""
        return self.passed + self.failed + self.xfailed + self.xpassed + self.refused + self.error


class Report(Struct, frozen=True):
    """A test run.

    Attributes:
        files: in the order in which they ran.
        seed: where random choices start.
        stopped: it ended early: because of ``--maxfail``, or the user's interruption; empty if it did not.
        seconds: of real time.
    """

    files: tuple[FileResult, ...]
    seed: int
    stopped: Literal["", "maxfail", "interrupted"]
    seconds: float

    def results(self) -> list[ScenarioResult]:
        """All results in order."""
        return [result for file in self.files for result in file.results]

    def broken(self) -> list[CollectedFile]:
        """The files that could not be run."""
        return [each.file for each in self.files if each.file.is_broken]

    def diagnostics(self, severity: str) -> list[Diagnostic]:
        """Those of one severity, of all files; what several files share counts once."""
        found = [item for each in self.files for item in each.file.diagnostics if item.severity == severity]
        unique = {(item.sort_key(), item.message): item for item in found}
        return list(unique.values())

    def counts(self) -> Counts:
        """How many of each."""
        verdicts = [result.verdict for result in self.results()]
        return Counts(
            passed=verdicts.count("passed"),
            failed=verdicts.count("failed"),
            xfailed=verdicts.count("xfailed"),
            xpassed=verdicts.count("xpassed"),
            refused=verdicts.count("refused"),
            error=verdicts.count("error"),
            broken=len(self.broken()),
            deselected=sum(each.file.total - len(each.file.scenarios) for each in self.files),
            warnings=len(self.diagnostics("warning")),
            notes=len(self.diagnostics("note")),
        )
