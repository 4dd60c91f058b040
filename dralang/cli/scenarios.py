"""One scenario of one file, for the commands that look into a single run."""

from dralang.check.analysis import Analysis
from dralang.cli import exits
from dralang.cli.arguments import UsageError
from dralang.cli.config import Config
from dralang.cli.console import Console
from dralang.cli.project import analyzer, one_spec, refuse
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.render import render_text
from dralang.scenario.model import Scenario
from dralang.testing.selection import Problem, select
from dralang.values.duration import parse_duration


def instant_of(text: str) -> int:
    """The instant of `--at`.

    Raises:
        UsageError: it is none.
    """
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"`--at {text}`: {error}") from None


def one_scenario(named: str, config: Config, console: Console, *, needed: bool = True) -> Scenario | int | None:
    """The scenario that `FILE::SCENARIO` or `FILE:LINE` means, or the only one of a file.

    Returns:
        The scenario; None if the file has none or several and none is needed; an exit code after diagnostics.

    Raises:
        UsageError: there is no such file or scenario, or several are meant.
    """
    spec = one_spec(named, config, "name a file, and a scenario: `FILE::SCENARIO`")
    analysis = analyzer(config).path(spec.path)
    if isinstance(analysis, Diagnostic) or analysis.has_errors:
        shown = [analysis] if isinstance(analysis, Diagnostic) else [*_errors(analysis)]
        console.err(render_text(shown, color=console.has_color(config.color), width=console.width) + "\n")
        return exits.UNUSABLE
    selected = select(analysis.source.name, analysis.scenarios, spec.selectors)
    if isinstance(selected, Problem):
        refuse([selected])
        raise AssertionError("refuse raises")
    if len(selected) != 1:
        if not needed:
            return None
        names = "; ".join([f"`{scenario.node_id}`" for scenario in selected[:3]])
        more = "; ..." if len(selected) > 3 else ""
        raise UsageError(f"{len(selected) or 'no'} scenarios are meant; one is needed", f"name one: {names}{more}")
    if selected[0].missing:
        console.err(render_text(selected[0].missing, color=console.has_color(config.color), width=console.width) + "\n")
        return exits.UNUSABLE
    return selected[0]


def _errors(analysis: Analysis) -> list[Diagnostic]:
    return [item for item in analysis.diagnostics if item.severity == "error"]
