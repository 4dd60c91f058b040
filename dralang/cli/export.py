"""`dralang export`: declared objects, or those of a scenario at some time, as YAML."""

from pathlib import Path
from typing import Any, Final

from msgspec.structs import replace

from dralang.check.analysis import Analysis
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.config import Config, load
from dralang.cli.console import Console
from dralang.cli.output import write_result
from dralang.cli.playing import note_fuzzes
from dralang.cli.project import analyzer, one_spec, refuse
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.render import render_text
from dralang.interop.exporting import declared_objects, export, objects_at
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario
from dralang.testing.discovery import STDIN
from dralang.testing.selection import Problem, Selector, select
from dralang.values.duration import parse_duration

# A name that nothing declares: what has it can be written all the same.
_UNDEFINED: Final = "DRA0201"


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    if len(arguments.positionals) != 1:
        raise UsageError("`dralang export` takes one file", "write `dralang export FILE` or `FILE::SCENARIO`")
    config = load(arguments, console)
    at = arguments.text("--at")
    instant = None if at is None else _instant(at)
    analysis, selectors = _analysis(arguments.positionals[0], console, config)
    with_scenario = bool(selectors) or instant is not None
    if isinstance(analysis, Diagnostic):
        _show([analysis], console, config)
        return exits.UNUSABLE
    errors = [_weighed(item, with_scenario) for item in analysis.diagnostics if item.severity == "error"]
    _show(errors, console, config)
    if any(item.severity == "error" for item in errors):
        return exits.UNUSABLE
    if with_scenario:
        objects = _of_scenario(_one(analysis, selectors), instant, console, config)
        if objects is None:
            return exits.UNUSABLE
    else:
        objects = declared_objects(analysis.objects)
    if not objects:
        console.err("note: there are no objects\n")
        return exits.NOTHING
    versions = sum(bool(value.metadata.resource_version) for value in objects)
    if versions:
        console.err(
            f"note: {versions:,} of the objects have a `resourceVersion`: a server takes them as updates only\n"
        )
    text, lost = export(objects, arguments.text("--api") or "v1")
    for name, paths in lost:
        console.err(f"warning: {name}: this version cannot carry {', '.join(f'`{path}`' for path in paths)}\n")
    write_result(arguments, console, text)
    return exits.OK


def _weighed(item: Diagnostic, with_scenario: bool) -> Diagnostic:  # noqa: FBT001  # what is exported
    return item if with_scenario or item.code != _UNDEFINED else replace(item, severity="warning")


def _instant(text: str) -> int:
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"`--at {text}`: {error}") from None


def _analysis(named: str, console: Console, config: Config) -> tuple[Analysis | Diagnostic, tuple[Selector, ...]]:
    if named == STDIN:
        return analyzer(config).text(Path.cwd() / "<stdin>", "<stdin>", console.read_bytes()), ()
    spec = one_spec(named, config, "`dralang export` takes one file")
    return analyzer(config).path(spec.path), spec.selectors


def _show(found: list[Diagnostic], console: Console, config: Config) -> None:
    if found:
        console.err(render_text(found, color=console.has_color(config.color), width=console.width) + "\n")


def _one(analysis: Analysis, selectors: tuple[Selector, ...]) -> Scenario:
    """The scenario that is meant.

    Raises:
        UsageError: there is none, or more than one.
    """
    selected = select(analysis.source.name, analysis.scenarios, selectors)
    if isinstance(selected, Problem):
        refuse([selected])
        raise AssertionError("refuse raises")
    if len(selected) != 1:
        names = "; ".join([f"`{scenario.node_id}`" for scenario in selected[:3]])
        more = "; ..." if len(selected) > 3 else ""
        way_out = f"name one: {names}{more}" if selected else "leave `--at` out for the declared objects"
        raise UsageError(f"{len(selected) or 'no'} scenarios are meant; one can be exported", way_out)
    return selected[0]


def _of_scenario(scenario: Scenario, instant: int | None, console: Console, config: Config) -> list[Any] | None:
    if scenario.missing:
        _show(list(scenario.missing), console, config)
        return None
    note_fuzzes([scenario], console)
    objects, failure = objects_at(scenario, Workshop(), instant)
    if failure is not None:
        console.err(f"error: {failure.span}: {failure.actual}\nhelp: the run cannot go on after this statement\n")
        return None
    return objects
