"""`dralang check`: report what is wrong with files without running them."""

from pathlib import Path

from dralang import __version__
from dralang.check.analysis import Analysis
from dralang.cli import exits
from dralang.cli.arguments import Arguments
from dralang.cli.config import load
from dralang.cli.console import Console
from dralang.cli.project import analyzer, fault_text, find_specs
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.render import render_text, summary_line
from dralang.testing.discovery import STDIN


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    config = load(arguments, console)
    named = list(dict.fromkeys(arguments.positionals))
    specs = [] if named == [STDIN] else find_specs([path for path in named if path != STDIN], config)
    analyze = analyzer(config)
    fault = fault_text(console)
    log = DiagnosticLog()
    faults: list[str] = []
    for path in [*([None] if STDIN in named else []), *[spec.path for spec in specs]]:
        found: Analysis | Diagnostic
        try:
            if path is None:
                found = analyze.text(Path.cwd() / "<stdin>", "<stdin>", console.read_bytes())
            else:
                found = analyze.path(path)
        except Exception as error:  # our own bug must not take the other files along
            faults.append(f"{path or '<stdin>'}: {fault(error)}")
        else:
            log.extend([found] if isinstance(found, Diagnostic) else found.diagnostics)
    count = len(specs) + (STDIN in named)
    _show(arguments, console, log.sorted(), count, config.color)
    for text in faults:
        console.err(f"error: dralang has a fault: {text}; please report it with this file\n")
    return _exit_code(log.sorted(), count, bool(faults), config.fail_level)


def _show(arguments: Arguments, console: Console, found: list[Diagnostic], count: int, color: str) -> None:
    if arguments.text("--format") == "json":
        from dralang.testing.jsonreport import diagnostics_json

        console.json(diagnostics_json(found, __version__, count))
        return
    if found:
        console.out(render_text(found, color=console.has_color(color), width=console.width) + "\n")
    console.out(f"{count} {'file' if count == 1 else 'files'} checked: {summary_line(found)}\n")


def _exit_code(found: list[Diagnostic], count: int, has_faults: bool, fail_level: str) -> int:  # noqa: FBT001 - private, called once
    severities = {item.severity for item in found}
    if has_faults:
        return exits.INTERNAL
    if "error" in severities:
        return exits.UNUSABLE
    if not count:
        return exits.NOTHING
    return exits.WARNINGS if fail_level == "warning" and "warning" in severities else exits.OK
