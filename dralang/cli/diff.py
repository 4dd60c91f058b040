"""`dralang diff`: the same scenarios under two versions, sets of gates or files: whose fate changes."""

from typing import Any, NamedTuple

from dralang import __version__
from dralang.check.analysis import Analysis
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.config import Config, load
from dralang.cli.console import Console
from dralang.cli.playing import judged_as_test, note_fuzzes
from dralang.cli.project import analyzer, one_spec, refuse
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.render import clean, render_text
from dralang.run.fates import Change, Fate, Run, changes, run_with_fates
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario
from dralang.testing.looks import Look
from dralang.testing.selection import Problem, select
from dralang.values.duration import format_duration


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    named = arguments.positionals
    if len(named) not in (1, 2):
        raise UsageError("`dralang diff` takes one file or two", "write `dralang diff A.dra B.dra`")
    left_config = load(arguments, console)
    right_config = load(_other(arguments), console)
    if len(named) == 1 and left_config.overrides == right_config.overrides:
        raise UsageError(
            "both sides are the same", "name a second file, or give `--with-k8s` or `--with-feature-gates`"
        )
    left = _scenarios(named[0], left_config, console)
    right = _scenarios(named[-1], right_config, console)
    if left is None or right is None:
        return exits.UNUSABLE
    shared = [title for title in left.scenarios if title in right.scenarios]
    if not shared:
        raise UsageError("the two have no scenario of the same title", "scenarios are compared by their titles")
    alone = (_alone(left, right), _alone(right, left))
    note_fuzzes([left.scenarios[title] for title in shared], console)
    workshop = Workshop()
    pairs = [(title, _run(left.scenarios[title], workshop), _run(right.scenarios[title], workshop)) for title in shared]
    found = [(title, one, other, changes(one, other)) for title, one, other in pairs]
    different = [each for each in found if each[3] or each[1].played.verdict != each[2].played.verdict]
    if arguments.text("--format") == "json":
        console.json(_json(found, alone))
    else:
        look = Look(console.has_color(left_config.color), console.width)
        for title, one, other, changed in different:
            console.out("\n".join([clean(line) for line in _lines(title, one, other, changed, look)]) + "\n\n")
        console.out(f"scenarios that differ: {len(different)} of {len(found)}\n")
        _note_alone(left, alone[0], console)
        _note_alone(right, alone[1], console)
    if any("refused" in (one.played.verdict, other.played.verdict) for _, one, other, _ in found):
        return exits.UNUSABLE
    return exits.FAILED if different else exits.OK


def _other(arguments: Arguments) -> Arguments:
    """The arguments as the right side has them."""
    result = Arguments()
    result.positionals = arguments.positionals
    result.values = dict(arguments.values)
    for name in ("--k8s", "--feature-gates"):
        given = arguments.values.get(f"--with-{name[2:]}")
        if given is not None:
            result.values[name] = given
    return result


class _Side(NamedTuple):
    """One of the two; private to this module.

    Attributes:
        name: of its file.
        scenarios: those that are meant, by title.
        is_chosen: whether the command line names some of the file's scenarios.
    """

    name: str
    scenarios: dict[str, Scenario]
    is_chosen: bool


def _alone(side: _Side, other: _Side) -> list[str]:
    """The titles that the other side lacks, although nobody has chosen among its scenarios."""
    return [] if other.is_chosen else [title for title in side.scenarios if title not in other.scenarios]


def _note_alone(side: _Side, titles: list[str], console: Console) -> None:
    if titles:
        listed = ", ".join([f"`{clean(title)}`" for title in titles])
        console.err(f"note: only `{clean(side.name)}` has {listed}: not compared\n")


def _run(scenario: Scenario, workshop: Workshop) -> Run:
    run = run_with_fates(scenario, workshop)
    return Run(judged_as_test(run.played, workshop), run.fates)


def _scenarios(named: str, config: Config, console: Console) -> _Side | None:
    spec = one_spec(named, config, "`dralang diff` compares the scenarios of files")
    analysis: Analysis | Diagnostic = analyzer(config).path(spec.path)
    if isinstance(analysis, Diagnostic) or analysis.has_errors:
        found = [analysis] if isinstance(analysis, Diagnostic) else analysis.diagnostics
        shown = [item for item in found if item.severity == "error"]
        console.err(render_text(shown, color=console.has_color(config.color), width=console.width) + "\n")
        return None
    selected = select(analysis.source.name, analysis.scenarios, spec.selectors)
    if isinstance(selected, Problem):
        refuse([selected])
        raise AssertionError("refuse raises")
    return _Side(analysis.source.name, {scenario.title: scenario for scenario in selected}, bool(spec.selectors))


def _model(run: Run) -> str:
    settings = run.played.scenario.settings
    gates = [f"{gate}={str(on).lower()}" for gate, on in sorted(settings.gates.items())]
    return ", ".join([f"kubernetes {settings.version}", *gates])


def _lines(title: str, left: Run, right: Run, changed: list[Change], look: Look) -> list[str]:
    lines = [
        title,
        f"--- {left.played.scenario.file}: {_model(left)}",
        f"+++ {right.played.scenario.file}: {_model(right)}",
    ]
    if left.played.verdict != right.played.verdict:
        lines += ["expectations", f"  - {left.played.verdict}", f"  + {right.played.verdict}"]
    for each in changed:
        lines.append(f"pod {each.pod}")
        lines += look.wrapped(_fate(each.left), "  - ", "    ")
        lines += look.wrapped(_fate(each.right), "  + ", "    ")
    return lines


def _fate(fate: Fate) -> str:
    return fate.end if fate.started is None else f"{fate.end} (first ran at {format_duration(fate.started)})"


def _json(found: list[tuple[str, Run, Run, list[Change]]], alone: tuple[list[str], list[str]]) -> dict[str, Any]:
    def side(fate: Fate) -> dict[str, Any]:
        return {"end": fate.end, "started": fate.started}

    return {
        "schema": "dralang/diff/1",
        "dralang": __version__,
        "scenarios": [
            {
                "title": title,
                "left": {"model": _model(left), "verdict": left.played.verdict},
                "right": {"model": _model(right), "verdict": right.played.verdict},
                "pods": [{"name": each.pod, "left": side(each.left), "right": side(each.right)} for each in changed],
            }
            for title, left, right, changed in found
        ],
        "unpaired": {"left": alone[0], "right": alone[1]},
    }
