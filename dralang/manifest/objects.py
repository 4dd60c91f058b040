"""Documents to API objects: kinds and versions recognised, lists opened, foreign kinds counted."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from dralang.api.decode import report_wrong_type
from dralang.api.kinds import KINDS, KindInfo, split_api_version
from dralang.api.located import Located
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.manifest.reader import read_documents
from dralang.spelling import nearest

CONFIGURATION_KIND: Final = "KubeSchedulerConfiguration"
CONFIGURATION_GROUP: Final = "kubescheduler.config.k8s.io"
CONFIGURATION_VERSION: Final = "v1"


_KINDS_IN_LOWER_CASE: Final = {name.lower(): info for name, info in KINDS.items()}


class ManifestObject(Struct, frozen=True):
    """An object of a kind that we model, as written.

    Attributes:
        info: its kind.
        version: the version of the kind's group in which it is written.
        located: the whole object.
    """

    info: KindInfo
    version: str
    located: Located


class Manifest(Struct, frozen=True):
    """What a file holds.

    Attributes:
        objects: objects of kinds that we model, in order, lists opened.
        foreign: how many objects of each other kind, sorted by name.
        scheduler: configurations of kube-scheduler, in order.
    """

    objects: tuple[ManifestObject, ...]
    foreign: tuple[tuple[str, int], ...]
    scheduler: tuple[Located, ...] = ()


def read_manifest(source: SourceFile, log: DiagnosticLog) -> Manifest:
    """Read the objects of a YAML or JSON text.

    Diagnostics: those of ``read_documents``; DRA0302 items that are no list, DRA0405 not a Kubernetes object, or a kind
    in other letters, DRA0406 unknown version of a known kind.
    """
    objects: list[ManifestObject] = []
    foreign: Counter[str] = Counter()
    scheduler: list[Located] = []
    for document in read_documents(source, log):
        for located in _opened(document, log):
            found = _recognise(located, log)
            if isinstance(found, ManifestObject):
                objects.append(found)
            elif isinstance(found, Located):
                scheduler.append(found)
            elif found is not None:
                foreign[found] += 1
    return Manifest(tuple(objects), tuple(sorted(foreign.items())), tuple(scheduler))


def _text(located: Located, key: str) -> str | None:
    if not isinstance(located.value, Mapping):
        return None
    entry = located.value.get(key)
    return entry.value if entry is not None and isinstance(entry.value, str) else None


def _opened(document: Located, log: DiagnosticLog) -> Iterator[Located]:
    """The objects of a document: itself, or the items of a list."""
    kind = _text(document, "kind")
    if kind is not None and kind.endswith("List") and isinstance(document.value, Mapping):
        items = document.value.get("items")
        if items is not None and isinstance(items.value, tuple):
            for item in items.value:
                # Items of typed lists may leave out what the list says; kubectl's own `List` never does.
                yield _with_type(item, document, kind)
            return
        if items is not None and (kind == "List" or kind.removesuffix("List") in KINDS):
            if items.value is not None:  # an empty list, as Go writes it
                report_wrong_type(items, "a list", log)
            return
    yield document


def _with_type(item: Located, of: Located, list_kind: str) -> Located:
    if list_kind == "List" or not isinstance(item.value, Mapping) or not isinstance(of.value, Mapping):
        return item
    added = {}
    if "kind" not in item.value:
        added["kind"] = Located(list_kind.removesuffix("List"), item.span)
    if "apiVersion" not in item.value and "apiVersion" in of.value:
        added["apiVersion"] = of.value["apiVersion"]
    return Located({**added, **item.value}, item.span, item.key_span) if added else item


def _recognise(located: Located, log: DiagnosticLog) -> ManifestObject | Located | str | None:
    """A modelled object, a scheduler configuration, or the name of a foreign kind, or None after a diagnostic."""
    kind = _text(located, "kind")
    api_version = _text(located, "apiVersion")
    if kind is None or api_version is None:
        missing = "kind" if kind is None else "apiVersion"
        log.add(
            Diagnostic(
                code="DRA0405",
                message=f"this is no Kubernetes object: it has no `{missing}`",
                span=located.span,
                help="every object starts with `apiVersion:` and `kind:`",
            )
        )
        return None
    group, version = split_api_version(api_version)
    if (kind, group) == (CONFIGURATION_KIND, CONFIGURATION_GROUP):
        if version == CONFIGURATION_VERSION:
            return located
        log.add(_other_version(located, kind, api_version))
        return None
    info = KINDS.get(kind)
    if info is None:
        meant = _KINDS_IN_LOWER_CASE.get(kind.lower())
        if meant is None or meant.group != group:
            return kind
        log.add(
            Diagnostic(
                code="DRA0405",
                message=f"`{api_version}` has no kind `{kind}`",
                span=located.at(("kind",)).span,
                help=f"did you mean `{meant.name}`?",
            )
        )
        return None
    if info.group != group:
        return f"{kind} of {group or 'the core group'}"
    if version not in info.versions:
        near = nearest(version, info.versions)
        log.add(
            Diagnostic(
                code="DRA0406",
                message=f"kind {kind} has no version `{api_version}`",
                span=located.at(("apiVersion",)).span,
                expected=tuple(info.in_version(v) for v in info.versions),
                help=f"did you mean `{info.in_version(near or info.versions[0])}`?",
            )
        )
        return None
    return ManifestObject(info, version, located)


def _other_version(located: Located, kind: str, api_version: str) -> Diagnostic:
    known = f"{CONFIGURATION_GROUP}/{CONFIGURATION_VERSION}"
    return Diagnostic(
        code="DRA0406",
        message=f"kind {kind} has no version `{api_version}`",
        span=located.at(("apiVersion",)).span,
        expected=(known,),
        help=f"did you mean `{known}`?",
    )
