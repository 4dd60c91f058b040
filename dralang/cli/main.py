"""The entry point: finds the command, runs it, turns every way to end into an exit code.

Nothing heavy is imported here: a command brings what it uses when it runs.
"""

import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from dralang import __version__
from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError, did_you_mean, read_arguments
from dralang.cli.commands import COMMANDS, Command, command_named, help_of, overview
from dralang.cli.console import Console, OutputError

_MAX_MESSAGE = 2_000
GARBAGE_THRESHOLDS = (100_000, 10, 100)
Handler = Callable[[Arguments, Console], int]


def main(
    argv: Sequence[str] | None = None,
    *,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    stderr: TextIO | None = None,
    environ: Mapping[str, str] | None = None,
) -> int:
    """Run a command line; by default that of the process, on its streams.

    Returns:
        The exit code, see ``exits``.
    """
    console = Console.of_process()
    console = Console(
        stdin or console.stdin,
        stdout or console.stdout,
        stderr or console.stderr,
        console.environ if environ is None else environ,
    )
    words = list(sys.argv[1:] if argv is None else argv)
    # Most of what a command makes lives to its end, and looking for garbage among it every few hundred objects takes a
    # tenth of the time. What a drawn story leaves is garbage, though, and a web that only the collector can free: half
    # of it in the second generation, which must not wait too long: a fuzz may take hours.
    thresholds = gc.get_threshold()
    gc.set_threshold(*GARBAGE_THRESHOLDS)
    try:
        code = _guarded(words, console)
        console.flush()
    except OutputError as error:
        if stdout is None and sys.stdout is not None:
            # Python closes the stream at its end and must not come upon the same error again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not error.reason:
            return exits.INTERRUPTED
        console.stderr.write(f"error: cannot write the output: {error.reason.lower()}\n")
        return exits.INTERNAL
    except KeyboardInterrupt:
        console.stderr.write("interrupted\n")
        return exits.INTERRUPTED
    finally:
        gc.set_threshold(*thresholds)
    return code


def _guarded(words: Sequence[str], console: Console) -> int:
    try:
        return _dispatch(words, console)
    except UsageError as error:
        console.err(f"error: {printable(error.message)}\n")
        if error.help:
            console.err(f"help: {printable(error.help)}\n")
        return exits.UNUSABLE
    except OutputError:
        raise
    except Exception as error:  # our own bug, whatever it is
        report_fault(error, console)
        return exits.INTERNAL


def printable(text: str) -> str:
    """A text of the user on one line, with nothing in it that a terminal would act on."""
    shown = text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}..."
    return "".join([letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in shown])


def report_fault(error: BaseException, console: Console) -> None:
    """Say that dralang itself is at fault."""
    console.err(
        f"error: dralang has a fault: {type(error).__name__}: {printable(str(error))[:500]}\n"
        "help: please report it with the command line and the files; DRALANG_DEBUG=1 shows where it happened\n"
    )
    if console.debug:
        import traceback

        console.err("".join(traceback.format_exception(error)))


def _dispatch(words: Sequence[str], console: Console) -> int:
    if not words:
        console.err(overview())
        return exits.UNUSABLE
    name, rest = words[0], words[1:]
    if name in ("-h", "--help"):
        console.out(overview())
        return exits.OK
    if name == "--version":
        console.out(f"dralang {__version__}\n")
        return exits.OK
    command = command_named(name)
    if command is None:
        raise _unknown_command(name)
    if name == "test" and (added := console.environ.get("DRALANG_ADDOPTS")):
        rest = [*_split(added), *rest]
    arguments = read_arguments(rest, command.options, name)
    if arguments.flag("--help"):
        console.out(help_of(command))
        return exits.OK
    return _handler(command)(arguments, console)


def _split(added: str) -> list[str]:
    import shlex

    try:
        return shlex.split(added)
    except ValueError as error:
        raise UsageError(f"DRALANG_ADDOPTS cannot be read: {str(error).lower()}") from None


def _unknown_command(name: str) -> UsageError:
    if name.startswith("-"):
        way_out = did_you_mean(name, ("--help", "--version"))
        return UsageError(f"`dralang` has no option `{name}`", way_out or "options stand after the command")
    if os.path.exists(name.partition("::")[0]):
        return UsageError(f"there is no command `{name}`", f"did you mean `dralang test {name}`?")
    way_out = did_you_mean(name, [command.name for command in COMMANDS])
    return UsageError(f"there is no command `{name}`", way_out or "`dralang --help` lists the commands")


def _handler(command: Command) -> Handler:  # noqa: C901  # one case a command
    match command.name:
        case "test":
            from dralang.cli.test import run
        case "run":
            from dralang.cli.run import run
        case "check":
            from dralang.cli.check import run
        case "fmt":
            from dralang.cli.fmt import run
        case "import":
            from dralang.cli.import_ import run
        case "export":
            from dralang.cli.export import run
        case "cel":
            from dralang.cli.cel import run
        case "allocate":
            from dralang.cli.allocate import run
        case "conform":
            from dralang.cli.conform import run
        case "fuzz":
            from dralang.cli.fuzz import run
        case "why":
            from dralang.cli.why import run
        case "evict":
            from dralang.cli.evict import run
        case "diff":
            from dralang.cli.diff import run
        case "explain":
            from dralang.cli.explain import run
        case "init":
            from dralang.cli.init import run
        case "completion":
            from dralang.cli.completion import run
        case _:
            run = _help
    return run


def _help(arguments: Arguments, console: Console) -> int:
    if not arguments.positionals:
        console.out(overview())
    for name in arguments.positionals:
        command = command_named(name)
        if command is None:
            raise _unknown_command(name)
        console.out(help_of(command))
    return exits.OK
