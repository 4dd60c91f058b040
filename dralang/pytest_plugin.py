"""The pytest plugin: every scenario and every fuzz of a `.dra` file is a test item.

Tags are markers (`-m`), but for those that are marks of pytest itself; titles and tags are keywords (`-k`), `xfail` is
strict as everywhere in dralang. A fuzz plays
as many examples as the Hypothesis profile says, the same ones every time unless `--hypothesis-seed` is given. What
`dralang check` warns of is a warning of pytest, too (``SpecWarning``). What `dralang.toml` and the variables say of the
model and the seed holds here too.
"""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import pytest

from dralang.check.analysis import Analysis, Analyzer
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.config import Config, load
from dralang.cli.console import Console
from dralang.cli.playing import play_as_test
from dralang.cli.project import analyzer
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.render import clean, render_text
from dralang.run.outcome import Played
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario
from dralang.testing.looks import Look
from dralang.testing.pretty import explained
from dralang.testing.report import ScenarioResult

_WIDTH = 100
_OF_PYTEST = frozenset({"filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"})
"""Marks by which pytest itself judges or runs a test otherwise: a tag of this name is a word and changes nothing."""
_SHARED: pytest.StashKey["Shared"] = pytest.StashKey()


class Shared(NamedTuple):
    """What all files of a session share."""

    config: Config
    analyzer: Analyzer
    workshop: Workshop


def _shared(config: pytest.Config) -> Shared:
    """Made for the first spec: a session without any has nothing to do with our configuration.

    Raises:
        pytest.UsageError: the configuration is wrong.
    """
    shared = config.stash.get(_SHARED, None)
    if shared is None:
        try:
            read = load(Arguments(), Console.of_process(), config.rootpath)
        except UsageError as error:
            raise pytest.UsageError(f"{error.message}; {error.help}" if error.help else error.message) from None
        shared = config.stash[_SHARED] = Shared(read, analyzer(read), Workshop())
    return shared


class SpecWarning(pytest.PytestWarning):
    """What `dralang check` warns of in a spec; ``place`` is for where pytest shows none."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place


class UnusableSpecError(Exception):
    """A file that does not parse or resolve."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        super().__init__(f"{len(diagnostics)} errors")
        self.diagnostics = diagnostics


class ScenarioFailedError(Exception):
    """A scenario that is not as it should be."""

    def __init__(self, played: Played) -> None:
        super().__init__(clean(_headline(played)))
        self.played = played

    def __str__(self) -> str:
        """What failed and why, as `dralang test` shows it."""
        played = self.played
        if played.verdict == "refused":
            return render_text(played.diagnostics, color=False, width=_WIDTH)
        return "\n".join(explained(Look(color=False, width=_WIDTH), ScenarioResult(played, 0.0)))


def _can_be_marker(tag: str) -> bool:
    """Whether a tag can be a marker: it is none of pytest's own, and pytest can read its name."""
    return tag not in _OF_PYTEST and not tag.startswith("_") and tag == tag.strip() and not set(":(") & set(tag)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> "SpecFile | None":
    """A `.dra` file is a collector."""
    return SpecFile.from_parent(parent, path=file_path) if file_path.suffix == ".dra" else None


class SpecFile(pytest.File):
    """A spec file and its scenarios."""

    def collect(self) -> Iterator["ScenarioItem"]:
        """One item for each scenario, row of a table and fuzz."""
        analysis = _shared(self.config).analyzer.path(self.path)
        if not isinstance(analysis, Analysis):
            raise UnusableSpecError((analysis,))
        if analysis.has_errors:
            raise UnusableSpecError(tuple([item for item in analysis.diagnostics if item.severity == "error"]))
        for diagnostic in analysis.diagnostics:
            if diagnostic.severity == "warning":
                self._warn(diagnostic)
        for scenario in analysis.scenarios:
            # pytest prints names as they are: a line end in one would break its lines, an escape act on the terminal.
            item: ScenarioItem = ScenarioItem.from_parent(self, name=clean(scenario.title), scenario=scenario)
            item.extra_keyword_matches.update(scenario.tags)
            for tag in scenario.tags:
                if _can_be_marker(tag):
                    self.config.addinivalue_line("markers", f"{tag}: a tag of a `.dra` scenario")
                    item.add_marker(tag)
            if scenario.xfail is not None:
                item.add_marker(pytest.mark.xfail(reason=scenario.xfail, strict=True, raises=ScenarioFailedError))
            yield item

    def _warn(self, diagnostic: Diagnostic) -> None:
        """Warn as pytest does, at the line in question: filters of pytest hold."""
        span = diagnostic.span
        name, line = ("", 1) if span is None else (span.source.name, span.position.line)
        text = f"{diagnostic.code}: {diagnostic.message}"
        warning = SpecWarning(clean(f"{text}; {diagnostic.help}" if diagnostic.help else text), f"{clean(name)}:{line}")
        path = Path(name).absolute() if name else self.path
        warnings.warn_explicit(warning, None, filename=str(path), lineno=line)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Diagnostics as `dralang check` shows them."""
        if isinstance(excinfo.value, UnusableSpecError):
            return render_text(excinfo.value.diagnostics, color=False, width=_WIDTH)
        if isinstance(excinfo.value, pytest.UsageError):
            return f"error: {excinfo.value}"
        if isinstance(excinfo.value, SpecWarning):  # `-W error`
            return f"{excinfo.value.place}: {excinfo.value}"
        return super().repr_failure(excinfo)


class ScenarioItem(pytest.Item):
    """A scenario as a test."""

    def __init__(self, *, scenario: Scenario, **rest: Any) -> None:
        super().__init__(**rest)
        self.scenario = scenario

    def runtest(self) -> None:
        """Play it."""
        workshop = _shared(self.config).workshop
        examples = None
        if self.scenario.template is not None:
            # Hypothesis takes longer to import than most suites take to run.
            from hypothesis import settings  # noqa: PLC0415 - only fuzzes need it

            examples = settings().max_examples
        played = play_as_test(self.scenario, workshop, seed=self._seed(), examples=examples)
        # `xfail` is pytest's to judge: here it counts whether everything held.
        if played.verdict not in ("passed", "xpassed"):
            raise ScenarioFailedError(played)

    def _seed(self) -> int:
        given = self.config.getoption("--hypothesis-seed", default=None)
        if given is None:
            return _shared(self.config).config.seed
        # Hypothesis takes any text; `dralang fuzz`, which is to find the same, takes numbers.
        text = str(given)
        return int(text) if text.isdecimal() and text.isascii() else crc32(text.encode())

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What failed and why, as `dralang test` shows it."""
        if not isinstance(excinfo.value, ScenarioFailedError):
            return super().repr_failure(excinfo, style)
        shown = excinfo.getrepr(style="value")
        # pytest's summary shows the whole message where nobody looks on, as in continuous integration.
        if shown.reprcrash is not None:
            [shown.reprcrash.message] = excinfo.value.args
        return shown

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands."""
        return self.path, self.scenario.line - 1, self.name


def _headline(played: Played) -> str:
    """What is wrong, in one line."""
    if not played.failures:
        return f"{clean(played.scenario.title)}: {played.verdict}"
    first = played.failures[0]
    more = f" (and {len(played.failures) - 1} more)" if len(played.failures) > 1 else ""
    return f"{first.expected}: {first.actual}{more}"
