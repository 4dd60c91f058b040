"""Manifests and cluster dumps to the text of a `.dra` file.

What is kept: every field of every object of a kind that is modelled, status included, in the current version of its
API, and a configuration of the scheduler. What is left out, and counted: objects of other kinds; ``managedFields`` and
kubectl's copy of the last applied object, which say who wrote what and are read by no rule.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from dralang.api.base import ApiType
from dralang.api.conversion import to_current
from dralang.api.decode import decode, path_text
from dralang.api.kinds import type_in_version
from dralang.api.located import Located
from dralang.api.meta import ObjectMeta
from dralang.check import problems
from dralang.check.environment import MAX_OBJECTS
from dralang.check.references import SYSTEM_PRIORITIES, references
from dralang.check.scope import spoken_kind
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.interop.reify import ordered, pool_sizes, reify
from dralang.interop.scheduler import ImportedScheduler, import_scheduler
from dralang.interop.text import format_declarations
from dralang.interop.words import CannotWriteError
from dralang.manifest.objects import Manifest, ManifestObject, read_manifest
from dralang.manifest.versions import lifted
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared
from dralang.syntax import nodes as n
from dralang.syntax.reading import MAX_SOURCE_BYTES

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"

# What only Helm provides. Other tools have templates too, in strings of complete manifests (`docker inspect -f`).
_HELM_WORD = re.compile(
    r"\{\{-?[ \t]{0,20}(?:include|template|toYaml|tpl)\b|(?<![\w)])\.(?:Values|Release|Chart|Capabilities)\b"
)
_NO_YAML: Final = frozenset({"DRA0401", "DRA0404"})
_MAX_ACTION: Final = 200
_MAX_NAME: Final = 80
_ANY_TEMPLATE = re.compile(r"\{\{-?[^}\n]*")
_MAKES_PODS: Final = frozenset(
    {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "ReplicationController"}
)


class Imported(Struct, frozen=True):
    """What an import comes to.

    Attributes:
        text: a `.dra` file.
        count: how many objects it declares.
        notes: what was left out, one line each.
        configures: whether it says how the scheduler works.
    """

    text: str
    count: int
    notes: tuple[str, ...]
    configures: bool = False


class _Found(Struct, frozen=True):
    """An object, and where its parts were read; private to this module."""

    value: Any
    located: Located
    span: Span


def import_manifests(
    sources: Sequence[SourceFile], log: DiagnosticLog, *, keep_managed_fields: bool = False
) -> Imported | None:
    """The declarations of all objects of some YAML or JSON texts; None after an error.

    Diagnostics: those of ``read_manifest``, ``decode`` and ``import_scheduler``; DRA0202 two different objects of one
    name, DRA0405 an object without a name, DRA0409 a template, DRA0410 something that a declaration cannot hold.
    """
    objects: dict[ObjectKey, _Found] = {}
    foreign: Counter[str] = Counter()
    older: Counter[str] = Counter()
    configurations: list[Located] = []
    for source in sources:
        manifest = _read(source, log)
        foreign.update(dict(manifest.foreign))
        configurations += manifest.scheduler
        for found in manifest.objects:
            _take(found, objects, older, log)
    scheduler = import_scheduler(configurations, log)
    if log.has_errors:
        return None
    kept, notes = _without_bookkeeping([found.value for found in objects.values()], keep=keep_managed_fields)
    declarations = _declarations(kept, list(objects.values()), log)
    if declarations is None:
        return None
    notes = [*_versions(older), *_foreign(foreign), *_configured(scheduler), *notes, *_missing(objects)]
    head = "".join([f"# {note}".rstrip() + "\n" for note in [_title(sources), *notes]])
    parts = [head, "" if scheduler is None else scheduler.text, format_declarations(declarations)]
    text = "\n".join([part for part in parts if part])
    if len(text.encode()) > MAX_SOURCE_BYTES:
        notes.append(f"this is more than the {MAX_SOURCE_BYTES:,} bytes that a spec may have: import less at a time")
    if len(declarations) > MAX_OBJECTS:
        notes.append(f"this is more than the {MAX_OBJECTS:,} objects that a spec may have: import less at a time")
    return Imported(text, len(declarations), tuple(notes), configures=scheduler is not None)


def _declarations(values: Sequence[Any], found: Sequence[_Found], log: DiagnosticLog) -> list[n.Decl] | None:
    """The declarations of values, that were found at these places; None after a diagnostic."""
    places = {id(value): each for value, each in zip(values, found, strict=True)}
    sizes = pool_sizes(values)
    result: list[n.Decl] = []
    refused = False
    for value in ordered(values):
        try:
            result.append(reify(value, sizes))
        except CannotWriteError as error:
            refused = True
            log.add(_cannot_write(error, places[id(value)]))
    return None if refused else result


# ---- reading --------------------------------------------------------------------------------------------------------


def _read(source: SourceFile, log: DiagnosticLog) -> Manifest:
    """What a text holds."""
    template = _helm_action(source) if "{{" in source.text else None
    own = DiagnosticLog()
    manifest = Manifest((), ()) if template is not None else read_manifest(source, own)
    is_broken = any(item.code in _NO_YAML for item in own.sorted())
    if is_broken and (found := _ANY_TEMPLATE.search(source.text)) is not None:
        template = Span(source, *found.span())
    if template is not None:
        log.add(_template(template))
        return Manifest((), ())
    log.extend(own.sorted())
    return manifest


def _helm_action(source: SourceFile) -> Span | None:
    """The first place at which Helm would put something in."""
    text = source.text
    for found in _HELM_WORD.finditer(text):
        start = found.start()
        if text[start] == ".":
            start = text.rfind("{{", max(0, start - _MAX_ACTION), start)
        if start >= 0 and not any(end in text[start : found.start()] for end in "}\n"):
            return Span(source, start, found.end())
    return None


def _template(span: Span) -> Diagnostic:
    return Diagnostic(
        code="DRA0409",
        message=f"`{span.source.name}` is a template (Helm), not a manifest",
        span=span,
        help="render it first: `helm template RELEASE CHART | dralang import -`",
    )


def _take(found: ManifestObject, objects: dict[ObjectKey, _Found], older: Counter[str], log: DiagnosticLog) -> None:
    info = found.info
    decoded = decode(type_in_version(info, found.version), found.located, log)
    if decoded is None:
        return
    value: Any = to_current(decoded)
    meta: ObjectMeta = value.metadata
    if not meta.name:
        way_out = "give it one: only a server makes names from `generateName`" if meta.generate_name else ""
        message = f"this {info.name} has no `metadata.name`"
        log.add(Diagnostic(code="DRA0405", message=message, span=found.located.span, help=way_out))
        return
    name = found.located.at(("metadata", "name")).span
    key = ObjectKey(info.name, (meta.namespace or "default") if info.namespaced else "", meta.name)
    first = objects.setdefault(key, _Found(value, lifted(info.name, found.version, found.located), name))
    # Dumps of several kinds overlap, and manifests repeat what they share.
    if first.span != name and first.value != value:
        log.add(problems.duplicate(spoken_kind(info.name), meta.name, name, first.span))
    if found.version != info.versions[0]:
        older[f"{info.in_version(found.version)} {info.name}"] += 1


def _cannot_write(error: CannotWriteError, found: _Found) -> Diagnostic:
    at = found.located.at(error.path)
    where = path_text(error.path)
    return Diagnostic(code="DRA0410", message=f"`{where}` cannot be written: {error.message}", span=at.span)


# ---- what is left out -----------------------------------------------------------------------------------------------


def _without_bookkeeping(objects: list[Any], *, keep: bool) -> tuple[list[Any], list[str]]:
    """Objects without what tools note about their own writes, and how many had it."""
    result: list[ApiType] = []
    managed = applied = 0
    for value in objects:
        meta: ObjectMeta = value.metadata
        has_managed, has_applied = bool(meta.managed_fields) and not keep, LAST_APPLIED in meta.annotations
        managed += has_managed
        applied += has_applied
        if has_managed or has_applied:
            annotations = {key: text for key, text in meta.annotations.items() if key != LAST_APPLIED}
            fields = () if has_managed else meta.managed_fields
            value = replace(value, metadata=replace(meta, annotations=annotations, managed_fields=fields))
        result.append(value)
    notes = []
    if managed:
        notes.append(f"left out: the `managedFields` of {_counted(managed, 'object')}")
    if applied:
        notes.append(f"left out: the annotation `{LAST_APPLIED}` of {_counted(applied, 'object')}")
    return result, notes


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _versions(older: Counter[str]) -> list[str]:
    return [f"converted to the current version: {_listed(older)}"] if older else []


def _configured(scheduler: ImportedScheduler | None) -> list[str]:
    """What there is to say about a configuration of the scheduler."""
    if scheduler is None:
        return []
    notes = []
    if scheduler.text:
        notes.append("the scheduler configuration is a `scheduler` block: it holds for every scenario of the file")
    if scheduler.left_out:
        listed = ", ".join([f"`{_printable(name)}`" for name in scheduler.left_out])
        notes.append(f"left out of the scheduler configuration, as it changes no decision: {listed}")
    return notes


def _foreign(foreign: Counter[str]) -> list[str]:
    if not foreign:
        return []
    makes = [kind for kind in sorted(foreign) if kind in _MAKES_PODS]
    more = f" (nothing makes pods of a {makes[0]} here: declare them)" if makes else ""
    return [f"not modelled and left out: {_listed(foreign)}{more}"]


def _listed(counts: Counter[str]) -> str:
    return ", ".join([f"{count:,} {_printable(what)}" for what, count in sorted(counts.items())])


def _printable(text: str) -> str:
    """A kind as somebody has written it: on one line, and not too much of it."""
    shown = "".join([letter if letter.isprintable() else "?" for letter in text])
    return shown if len(shown) <= _MAX_NAME else shown[: _MAX_NAME - 3] + "..."


def _title(sources: Sequence[SourceFile]) -> str:
    # Of a long path, the end says most.
    names = [_printable(source.name[-_MAX_NAME:]) for source in sources]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"imported from {', '.join(names[:5])}{more}"


def _missing(objects: Mapping[ObjectKey, _Found]) -> list[str]:
    """What is named and was not there, as far as a spec needs it."""
    names: dict[str, None] = {}
    for key, found in objects.items():
        for reference in references(Declared(key, found.value, found.located, found.span)):
            if reference.key not in objects and reference.key.name not in SYSTEM_PRIORITIES:
                names[f"{spoken_kind(reference.key.kind)} {_printable(reference.key.spoken)}"] = None
    if not names:
        return []
    shown = sorted(names)
    more = f" and {len(shown) - 8:,} more" if len(shown) > 8 else ""
    return [f"named but not imported: {', '.join(shown[:8])}{more}"]
