"""`dralang import`: manifests and cluster dumps as declarations."""

from collections.abc import Sequence
from pathlib import Path

from dralang.cli import exits
from dralang.cli.arguments import Arguments, UsageError
from dralang.cli.console import Console
from dralang.cli.output import write_result
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.render import render_text
from dralang.diagnostics.source import SourceFile
from dralang.interop.importing import import_manifests
from dralang.manifest.reader import MAX_BYTES
from dralang.syntax.reading import decode_source
from dralang.testing.discovery import STDIN


def run(arguments: Arguments, console: Console) -> int:
    """Run the command."""
    named = list(dict.fromkeys(arguments.positionals))
    if not named:
        raise UsageError("`dralang import` takes manifests", "name them, or `-` for standard input")
    log = DiagnosticLog()
    sources = _sources(named, console, log)
    imported = import_manifests(sources, log, keep_managed_fields=arguments.flag("--keep-managed-fields"))
    if log or imported is None:
        color = console.has_color(arguments.text("--color") or "auto")
        console.err(render_text(log.sorted(), color=color, width=console.width) + "\n")
    if imported is None:
        return exits.UNUSABLE
    for note in imported.notes:
        console.err(f"note: {note}\n")
    if not imported.count and not imported.configures:
        console.err("note: there is no object of a kind that is modelled\n")
        return exits.NOTHING
    write_result(arguments, console, imported.text)
    return exits.OK


def _sources(named: Sequence[str], console: Console, log: DiagnosticLog) -> list[SourceFile]:
    sources = []
    for name in named:
        data = console.read_bytes() if name == STDIN else _read(name)
        source = decode_source("<stdin>" if name == STDIN else name, data, log, max_bytes=MAX_BYTES)
        if source is not None:
            sources.append(source)
    return sources


def _read(name: str) -> bytes:
    """The content of a file.

    Raises:
        UsageError: it cannot be read.
    """
    try:
        path = Path(name)
        if path.is_dir():
            raise UsageError(f"`{name}` is a folder", "name the manifests in it")
        if not path.is_file() and path.exists():
            raise UsageError(f"`{name}` is no file", "pipe it: `... | dralang import -`")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"cannot read `{name}`: {(error.strerror or '').lower()}") from None
    except ValueError:
        raise UsageError(f"`{name}` is no path") from None
