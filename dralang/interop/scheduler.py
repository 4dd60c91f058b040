"""A KubeSchedulerConfiguration as a `scheduler { ... }` block."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from dralang.api.decode import path_text
from dralang.api.located import Located
from dralang.check import problems
from dralang.check.scheduler_config import fields_of, scheduler_config
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_file
from dralang.interop import words
from dralang.interop.words import NOWHERE, CannotWriteError
from dralang.syntax import nodes as n

_SAYS_WHAT_IT_IS: Final = frozenset({"apiVersion", "kind"})


class ImportedScheduler(Struct, frozen=True):
    """What becomes of a configuration.

    Attributes:
        text: the block, formatted; empty if the configuration says nothing.
        left_out: its fields that change no decision, by name.
    """

    text: str
    left_out: tuple[str, ...]


def import_scheduler(found: Sequence[Located], log: DiagnosticLog) -> ImportedScheduler | None:
    """The one configuration among manifests; None without one, or after a diagnostic.

    Diagnostics: DRA0208 a second one, DRA0313 what is not modelled, DRA0410 what cannot be written.
    """
    if not found:
        return None
    first, *more = found
    for other in more:
        if other.plain() != first.plain():
            log.add(problems.given_twice("scheduler configuration", other.span, first.span))
    own = DiagnosticLog()
    fields = fields_of(first, own)
    scheduler_config(fields, None, own)
    log.extend(own.sorted())
    if own.has_errors or not isinstance(first.value, Mapping):
        return None
    entries: list[n.Entry] = []
    for name, value in fields.items():
        try:
            entries.append(n.Field(NOWHERE, words.name(name), words.raw(value.plain(), 1)))
        except CannotWriteError as error:
            path = (name, *error.path)
            message = f"`{path_text(path)}` cannot be written: {error.message}"
            log.add(Diagnostic(code="DRA0410", message=message, span=value.at(error.path).span))
            return None
    said = _SAYS_WHAT_IT_IS | fields.keys() | {"profiles"}
    left_out = tuple(sorted([name for name in first.value if name not in said]))
    if not entries:
        return ImportedScheduler("", left_out)
    header = n.Header(NOWHERE, "scheduler", n.Block(NOWHERE, tuple(entries)))
    return ImportedScheduler(format_file(n.File(NOWHERE, SourceFile("", ""), (header,), ())), left_out)
