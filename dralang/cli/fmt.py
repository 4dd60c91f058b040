"""`dralang fmt`: write files in the one way to write them. A file with errors is reported and left alone."""

import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.config import load
from dralang.cli.console import Console
from dralang.cli.project import fault_text, find_specs
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.render import clean, render_text
from dralang.formatter.format import format_source
from dralang.syntax.reading import MAX_SOURCE_BYTES, decode_source
from dralang.testing.discovery import STDIN


class _Formatted(Struct, frozen=True):
    """A text before and after; private to this module."""

    before: bytes
    after: bytes


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    config = load(arguments, console)
    if STDIN in arguments.positionals and arguments.positionals != [STDIN]:
        raise UsageError("`-` stands alone", "format files and standard input with two commands")
    files = (
        [] if arguments.positionals == [STDIN] else [spec.path for spec in find_specs(arguments.positionals, config)]
    )
    call = _Call(arguments, console, config.color)
    if arguments.positionals == [STDIN]:
        call.standard_input()
    elif not files:
        console.err("note: there are no .dra files here\n")
        return exits.NOTHING
    for path in files:
        call.file(path)
    if files:
        call.summary()
    if call.faults:
        return exits.INTERNAL
    if call.unusable:
        return exits.UNUSABLE
    return exits.FAILED if call.changed and call.is_dry else exits.OK


class _Call:
    """One call of the command; private to this module."""

    def __init__(self, arguments: Arguments, console: Console, color: str) -> None:
        self.console = console
        self.has_color = console.has_color(color)
        self.check = arguments.flag("--check")
        self.diff = arguments.flag("--diff")
        self.is_dry = self.check or self.diff
        self.fault = fault_text(console)
        self.changed = 0
        self.unchanged = 0
        self.unusable = 0
        self.faults = 0

    def standard_input(self) -> None:
        data = self.console.read_bytes()
        formatted = self._format("<stdin>", lambda: data)
        if formatted is None:
            return
        self._count(formatted)
        if self.diff:
            self._show_diff("<stdin>", formatted)
        elif not self.check:
            self.console.out_bytes(formatted.after)

    def file(self, path: Path) -> None:
        formatted = self._format(str(path), lambda: _read(path))
        if formatted is None:
            return
        self._count(formatted)
        if formatted.before == formatted.after:
            return
        if self.diff:
            self._show_diff(str(path), formatted)
        elif self.check:
            self.console.out(f"would format {clean(str(path))}\n")
        else:
            try:
                write_atomically(path, formatted.after)
                self.console.out(f"formatted {clean(str(path))}\n")
            except OSError as error:
                self.changed -= 1
                self._unusable(f"error: cannot write `{clean(str(path))}`: {(error.strerror or '').lower()}\n")

    def summary(self) -> None:
        parts = [
            f"{count} {'file' if count == 1 else 'files'} {what}"
            for count, what in (
                (self.changed, "would be formatted" if self.is_dry else "formatted"),
                (self.unchanged, "unchanged"),
                (self.unusable + self.faults, "left alone"),
            )
            if count
        ]
        self.console.err(", ".join(parts) + "\n")

    def _count(self, formatted: _Formatted) -> None:
        if formatted.before == formatted.after:
            self.unchanged += 1
        else:
            self.changed += 1

    def _unusable(self, text: str) -> None:
        self.unusable += 1
        self.console.err(text)

    def _format(self, name: str, read: Callable[[], bytes]) -> _Formatted | None:
        log = DiagnosticLog()
        try:
            data = read()
            source = decode_source(name, data, log)
            text = None if source is None else format_source(source, log)
        except OSError as error:
            self._unusable(f"error: cannot read `{clean(name)}`: {(error.strerror or '').lower()}\n")
            return None
        except Exception as error:  # our own bug must not take the other files along
            self.faults += 1
            self.console.err(f"error: dralang has a fault: {clean(name)}: {self.fault(error)}\n")
            return None
        if text is None:
            self._unusable(render_text(log.sorted(), color=self.has_color, width=self.console.width) + "\n")
            return None
        return _Formatted(data, text.encode("utf-8"))

    def _show_diff(self, name: str, formatted: _Formatted) -> None:
        import difflib

        before = _lines(formatted.before.decode("utf-8-sig"))
        after = _lines(formatted.after.decode("utf-8"))
        for line in difflib.unified_diff(before, after, f"{name} (as it is)", f"{name} (formatted)"):
            color = {"+": "32", "-": "31", "@": "36"}.get(line[0], "") if self.has_color else ""
            text = line.removesuffix("\n")
            if self.console.is_terminal:  # elsewhere it may be a patch, of which every letter counts
                text = clean(text)
            self.console.out(f"\033[{color}m{text}\033[0m\n" if color else f"{text}\n")
            if not line.endswith("\n"):
                self.console.out("\\ no newline at the end of the file\n")


def _lines(text: str) -> list[str]:
    """Lines with their ends; a form feed or U+2028, in a comment say, ends none."""
    return io.StringIO(text, newline="\n").readlines()


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_SOURCE_BYTES + 1)


def write_atomically(path: Path, data: bytes) -> None:
    """Replace a file's content: all of it or nothing. Keeps its permissions; a link's target is replaced."""
    target = path.resolve()
    mode = target.stat().st_mode
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(temporary, mode & 0o7777)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
