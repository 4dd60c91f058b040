"""`dralang run`: the timeline of a file's scenarios, and what became of their expectations."""

from pathlib import Path

from dralang import __version__
from dralang.check.analysis import Analysis
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.config import Config, load
from dralang.cli.console import Console
from dralang.cli.playing import judged_as_test, note_fuzzes, workshop_of
from dralang.cli.project import analyzer, one_spec, refuse
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.render import render_text
from dralang.run.outcome import Played
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario
from dralang.testing.discovery import STDIN
from dralang.testing.looks import Look
from dralang.testing.selection import Problem, Selector, select
from dralang.testing.story import story


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    config = load(arguments, console)
    scenarios, diagnostics = _scenarios(arguments, console, config)
    played: list[Played] = []
    is_json = arguments.text("--format") == "json"
    look = Look(console.has_color(config.color), console.width)
    shown = [item for item in diagnostics if item.severity != "note"]
    if shown and not is_json:
        console.err(render_text(shown, color=look.color, width=look.width) + "\n")
    note_fuzzes(scenarios, console)
    workshop = workshop_of(arguments)
    if arguments.text("--format") == "html":
        return _exit_code(_page(scenarios, workshop, console), diagnostics, config.fail_level)
    for number, scenario in enumerate(scenarios):
        played.append(judged_as_test(play(scenario, workshop), workshop))
        if not is_json:
            console.out(("\n" if number else "") + "\n".join(story(look, played[-1])) + "\n")
    if is_json:
        from dralang.testing.jsonreport import played_json

        console.json(played_json(played, diagnostics, __version__))
    return _exit_code(played, diagnostics, config.fail_level)


def _page(scenarios: tuple[Scenario, ...], workshop: Workshop, console: Console) -> list[Played]:
    from dralang.run.lanes import LaneRecorder
    from dralang.testing.page import Shown, page

    shown = []
    for scenario in scenarios:
        recorder = LaneRecorder()
        shown.append(Shown(judged_as_test(play(scenario, workshop, recorder.attach), workshop), recorder.lanes()))
    if shown:
        console.out_bytes(page(shown, scenarios[0].file).encode("utf-8"))
    return [each.played for each in shown]


def _scenarios(
    arguments: Arguments, console: Console, config: Config
) -> tuple[tuple[Scenario, ...], tuple[Diagnostic, ...]]:
    if len(arguments.positionals) != 1:
        raise UsageError("`dralang run` takes one file", "`dralang test` takes several, and folders")
    named = arguments.positionals[0]
    analysis: Analysis | Diagnostic
    selectors: tuple[Selector, ...]
    if named == STDIN:
        analysis = analyzer(config).text(Path.cwd() / "<stdin>", "<stdin>", console.read_bytes())
        selectors = ()
    else:
        spec = one_spec(named, config, "`dralang test` takes folders")
        analysis = analyzer(config).path(spec.path)
        selectors = spec.selectors
    if isinstance(analysis, Diagnostic):
        return (), (analysis,)
    if analysis.has_errors:
        return (), analysis.diagnostics
    selected = select(analysis.source.name, analysis.scenarios, selectors)
    if isinstance(selected, Problem):
        refuse([selected])
        raise AssertionError("refuse raises")
    return tuple(selected), analysis.diagnostics


def _exit_code(played: list[Played], diagnostics: tuple[Diagnostic, ...], fail_level: str) -> int:
    verdicts = {each.verdict for each in played}
    if "error" in verdicts:
        return exits.INTERNAL
    if verdicts & {"failed", "xpassed"}:
        return exits.FAILED
    if "refused" in verdicts or any(item.severity == "error" for item in diagnostics):
        return exits.UNUSABLE
    if not played:
        return exits.NOTHING
    is_warned = fail_level == "warning" and any(item.severity == "warning" for item in diagnostics)
    return exits.WARNINGS if is_warned else exits.OK
