"""What the commands on specs share: which files are meant, how they are analysed, whose fault a crash is."""

from collections.abc import Callable, Sequence
from pathlib import Path

from dralang.check.analysis import Analyzer
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.config import Config, Model
from dralang.cli.console import Console
from dralang.scenario.model import Settings
from dralang.testing.discovery import SpecFile, discover
from dralang.testing.selection import Expression, Problem, parse_expression


def find_specs(arguments: Sequence[str], config: Config) -> tuple[SpecFile, ...]:
    """The files of a command line; without any those of the configuration, else of the working directory.

    Raises:
        UsageError: some of them do not exist; all of these are named.
    """
    found = discover(arguments or config.paths or (".",))
    refuse(found.problems)
    return found.files


def one_spec(named: str, config: Config, way_out: str) -> SpecFile:
    """The one file that a command takes, and what of it is meant.

    Args:
        named: a word of the command line.
        config: of this call.
        way_out: what to do instead of naming a folder.

    Raises:
        UsageError: it does not exist, or is a folder.
    """
    if Path(named).is_dir():
        raise UsageError(f"`{named}` is a folder", way_out)
    return find_specs([named], config)[0]


def refuse(problems: Sequence[Problem]) -> None:
    """Raise a ``UsageError`` for all problems together, if there are any."""
    if problems:
        messages = [problem.message for problem in problems]
        way_out = next((problem.help for problem in problems if problem.help), "")
        if len(messages) > 1:
            messages[1:] = [
                f"{len(messages) - 1} more: {'; '.join(messages[1:6])}{'; ...' if len(messages) > 6 else ''}"
            ]
        raise UsageError("; ".join(messages), way_out)


def analyzer(config: Config) -> Analyzer:
    """An analyzer with the model of the configuration."""
    return Analyzer(_settings(config.overrides), _settings(config.defaults))


def _settings(model: Model) -> Settings | None:
    if not model.version and not model.gates:
        return None
    return Settings(model.version, dict(model.gates), {})


def wanted_expression(arguments: Arguments, option: str) -> Expression | None:
    """The expression of an option; given several times, all must hold.

    Raises:
        UsageError: it cannot be read.
    """
    texts = arguments.all(option)
    if not texts:
        return None
    parsed = parse_expression(" and ".join(f"({text})" for text in texts) if len(texts) > 1 else texts[0], option)
    if isinstance(parsed, Problem):
        raise UsageError(parsed.message, parsed.help)
    return parsed


def fault_text(console: Console) -> Callable[[Exception], str]:
    """Gives the one-line text of our own faults, and the traceback where one was asked for."""

    def fault(error: Exception) -> str:
        if console.debug:
            import traceback

            console.err("".join(traceback.format_exception(error)))
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"

    return fault
