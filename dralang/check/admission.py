"""Declared objects as an API server would look at them when they are created.

Only what the server says of the object itself counts here: what depends on other objects (the labels of a namespace,
the nodes that there are) is known when a scenario runs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from dralang.api.admission import Accepted, AdmissionContext, Refused, admit_object
from dralang.api.availability import newer_fields
from dralang.api.base import ApiType
from dralang.api.decode import path_text
from dralang.api.gated import Dropped, dropped_fields
from dralang.api.kinds import KINDS, KindInfo, is_served, split_api_version
from dralang.api.located import Located
from dralang.api.validation.errors import REQUIRED, FieldError
from dralang.api.validation.limits import ADMIN_ACCESS_LABEL
from dralang.api.verdicts import REFUSED, place_of, report_refusal
from dralang.cel.admission import admission_checker
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog, Related
from dralang.diagnostics.source import Span
from dralang.features import FeatureGates, gates_of
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared, Settings

REMARK: Final = "DRA0312"
DROPPED: Final = "DRA0314"
MOST_VERDICTS: Final = 1_000
"""How many verdicts a server remembers."""
_OF_SERVER: Final = (
    "uid", "creation_timestamp", "deletion_timestamp", "deletion_grace_period_seconds",
)  # fmt: skip
_NOW: Final = "1970-01-01T00:00:00Z"
_FIELD: Final = re.compile(r"((?:spec|status|metadata)[^ :]*): (.*)", re.DOTALL)


class _Verdict(Struct, frozen=True):
    """What a server says of an object's content.

    Attributes:
        unknown: the fields that its version does not have; it says nothing else then.
        refused: why it refuses the object, if it does.
        warnings: what it remarks.
        dropped: what it forgets because features are off.
    """

    unknown: tuple[tuple[str | int, ...], ...] = ()
    refused: Refused | None = None
    warnings: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()


class Server:
    """An API server of one version with certain feature gates; what says the same is looked at once."""

    def __init__(self, gates: FeatureGates) -> None:
        self.gates = gates
        self._context = AdmissionContext(gates, admission_checker(gates), _NOW, _EveryNamespace())
        self._verdicts: dict[tuple[type, str, frozenset[str], bytes], _Verdict] = {}

    def __reduce__(self) -> tuple[type["Server"], tuple[FeatureGates]]:
        """A fuzz that goes to another process leaves behind what this one has looked at."""
        return Server, (self.gates,)

    def judge(self, declared: Declared, log: DiagnosticLog, related: tuple[Related, ...] = ()) -> None:
        """Report what the server has against an object, and what it remarks about one that it takes."""
        info = KINDS[declared.key.kind]
        missing = self._missing(info, declared)
        if missing is not None:
            log.add(structs.replace(missing, related=related))
            return
        verdict = self._verdict(declared, info)
        for path in verdict.unknown:
            log.add(structs.replace(self._no_field(path, declared), related=related))
        for warning in verdict.warnings:
            log.add(_remark(warning, declared, related))
        for dropped in verdict.dropped:
            log.add(_dropped(dropped, declared, self.gates, related))
        refused = verdict.refused
        # What is forbidden altogether depends on other objects; see above.
        if refused is not None and refused.reason != "Forbidden" and not _is_wrong_already(declared, log):
            _report(refused, declared, log, related)

    def judge_change(self, before: Declared, after: Declared, log: DiagnosticLog) -> None:
        """Report fields that a change brings in and that the server does not have, or forgets."""
        version = self.gates.version
        unknown = newer_fields(after.object, version)
        for path in set(unknown).difference(newer_fields(before.object, version)):
            log.add(self._no_field(path, after))
        forgotten = {path for dropped in dropped_fields(before.object, self.gates) for path in dropped.paths}
        forgotten.update(unknown)
        for dropped in dropped_fields(after.object, self.gates):
            paths = tuple([path for path in dropped.paths if path not in forgotten])
            if paths:
                log.add(_dropped(dropped._replace(paths=paths), after, self.gates, ()))

    def judge_device_taint(self, statement: Span, log: DiagnosticLog) -> None:
        """Report a statement that taints a device on a server that knows no such taints."""
        gate = "DRADeviceTaints"
        if not self.gates.enabled(gate):
            why, way_out = _why_dropped((gate,), self.gates, "statement")
            message = f"the API server forgets the taint of this device: {why}"
            log.add(Diagnostic(code=DROPPED, severity="warning", message=message, span=statement, help=way_out))

    def _no_field(self, path: tuple[str | int, ...], declared: Declared) -> Diagnostic:
        place = declared.located.at(path)
        message = f"Kubernetes {self.gates.version} has no field `{path_text(path)}`"
        return Diagnostic(code=REFUSED, message=message, span=place.key_span or place.span)

    def stored(self, declared: Declared) -> ApiType:
        """The object as the server holds it, its status as it was declared; one that is refused stays as it is."""
        version = split_api_version(declared.api_version)[1] or KINDS[declared.key.kind].versions[0]
        given = _lists_given(declared.located)
        answer = admit_object("create", declared.object, None, self._context, version=version, lists_given=given)
        if not isinstance(answer, Accepted):
            return declared.object
        status = getattr(declared.object, "status", None)
        # A dump is no request to create: what the server once gave the object is kept.
        given_once: Any = declared.object
        kept = {name: value for name in _OF_SERVER if (value := getattr(given_once.metadata, name))}
        changes: dict[str, Any] = {} if status is None else {"status": status}
        if kept:
            answered: Any = answer.object
            changes["metadata"] = structs.replace(answered.metadata, **kept)
        stored: ApiType = structs.replace(answer.object, **changes) if changes else answer.object
        return stored

    def _missing(self, info: KindInfo, declared: Declared) -> Diagnostic | None:
        """Says that the server does not have a kind, or not in the version in which the object is written."""
        kubernetes = self.gates.version
        version = split_api_version(declared.api_version)[1]
        if not any(is_served(info, known, kubernetes) for known in info.versions):
            message, way_out = f"Kubernetes {kubernetes} has no {info.name}", ""
        elif info.gate is not None and not self.gates.enabled(info.gate):
            message = f"the API of {info.name} is off: feature gate `{info.gate}`"
            way_out = f"write `gates {{ {info.gate}: true }}`"
        elif version and not is_served(info, version, kubernetes):
            message, way_out = f"Kubernetes {kubernetes} does not serve {info.name} as `{declared.api_version}`", ""
        else:
            return None
        return Diagnostic(code=REFUSED, message=message, span=declared.span, help=way_out)

    def _verdict(self, declared: Declared, info: KindInfo) -> _Verdict:
        version = split_api_version(declared.api_version)[1] or info.versions[0]
        given = _lists_given(declared.located)
        try:
            key = (type(declared.object), version, given, msgspec.json.encode(declared.object))
        except (ValueError, RecursionError, OverflowError):  # ValueError: an integer of thousands of digits
            return self._look(declared, version, given)
        verdict = self._verdicts.get(key)
        if verdict is None:
            if len(self._verdicts) >= MOST_VERDICTS:
                self._verdicts.clear()  # a fuzz has new objects in every story
            verdict = self._verdicts[key] = self._look(declared, version, given)
        return verdict

    def _look(self, declared: Declared, version: str, given: frozenset[str]) -> _Verdict:
        unknown = newer_fields(declared.object, self.gates.version)
        if unknown:
            return _Verdict(unknown)
        answer = admit_object("create", declared.object, None, self._context, version=version, lists_given=given)
        dropped = tuple(dropped_fields(declared.object, self.gates))
        if isinstance(answer, Accepted):
            return _Verdict(warnings=answer.warnings, dropped=dropped)
        return _Verdict(refused=answer, dropped=dropped)


def _report(refused: Refused, declared: Declared, log: DiagnosticLog, related: tuple[Related, ...]) -> None:
    lost = [cause for cause in refused.causes if declared.api_version and _is_lost_owner(cause)]
    for cause in lost:
        log.add(_remark(f"{cause.field}: {cause.message}", declared, related))
    kept = tuple([cause for cause in refused.causes if cause not in lost])
    if kept or not refused.causes:
        refused = structs.replace(refused, causes=kept)
        report_refusal(refused, declared.located, log, name=declared.span, related=related)


class _EveryNamespace(Mapping[str, Mapping[str, str]]):
    """Any namespace, with the labels that allow the most: those of the real ones are known when a scenario runs."""

    _LABELS: Final = MappingProxyType({ADMIN_ACCESS_LABEL: "true"})

    def __getitem__(self, name: str) -> Mapping[str, str]:
        return self._LABELS

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _is_wrong_already(declared: Declared, log: DiagnosticLog) -> bool:
    """Whether an error in the object has been said: the server would only say the same, in other words."""
    whole = declared.located.span
    return any(
        item.severity == "error"
        and item.code != REFUSED
        and item.span is not None
        and item.span.source is whole.source
        and whole.start <= item.span.start <= whole.end
        for item in log
    )


def _is_lost_owner(cause: FieldError) -> bool:
    """Whether a captured object has lost the UID of its owner, as it does before it is shown to others."""
    return (
        cause.type == REQUIRED and cause.field.startswith("metadata.ownerReferences[") and cause.field.endswith("uid")
    )


def _lists_given(located: Located) -> frozenset[str]:
    """The lists of the spec that were written, be they empty."""
    spec = located.at(("spec",)).value
    if not isinstance(spec, Mapping):
        return frozenset()
    return frozenset([name for name, entry in spec.items() if isinstance(entry.value, tuple)])


def _remark(warning: str, declared: Declared, related: tuple[Related, ...]) -> Diagnostic:
    found = _FIELD.match(warning)
    span = declared.span if found is None else place_of(declared.located, found[1]).span
    return Diagnostic(
        code=REMARK,
        severity="warning",
        message=f"the API server remarks: {warning}",
        span=declared.span if span == declared.located.span else span,
        related=related,
    )


def _dropped(dropped: Dropped, declared: Declared, gates: FeatureGates, related: tuple[Related, ...]) -> Diagnostic:
    first, *more = dropped.paths
    place = declared.located.at(first)
    fields = f"`{path_text(first)}`" + (f" and {len(more)} more" if more else "")
    why, way_out = _why_dropped(dropped.gates, gates, "field")
    return Diagnostic(
        code=DROPPED,
        severity="warning",
        message=f"the API server forgets {fields}: {why}",
        span=place.key_span or place.span,
        help=way_out,
        related=related,
    )


def _why_dropped(names: tuple[str, ...], gates: FeatureGates, what: str) -> tuple[str, str]:
    """Why a server forgets what belongs to gates, and the way out."""
    table = gates_of(gates.version)
    missing = [name for name in names if name not in table]
    if missing:
        why = f"Kubernetes {gates.version} has no feature gate `{missing[0]}`"
        return why, f"leave the {what} out, or write a version that has the gate"
    off = " and ".join([f"`{name}`" for name in names])
    why = f"feature gates {off} are off" if len(names) > 1 else f"feature gate {off} is off"
    switches = ", ".join([f"{name}: true" for name in _with_needs(names, gates)])
    return why, f"write `gates {{ {switches} }}`, or leave the {what} out"


def _with_needs(names: Iterable[str], gates: FeatureGates) -> list[str]:
    """The gates to switch on, with those that they need."""
    table = gates_of(gates.version)
    result: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name not in result and not gates.enabled(name):
            result[name] = None
            waiting += table[name].needs
    return list(result)


class Servers:
    """The servers of an analysis run, one for each version and set of gates."""

    def __init__(self) -> None:
        self._servers: dict[tuple[str, tuple[tuple[str, bool], ...]], Server | None] = {}

    def of(self, settings: Settings) -> Server | None:
        """The server with these settings; None if none would start with them, which has been said elsewhere."""
        key = (settings.version, tuple(sorted(settings.gates.items())))
        if key not in self._servers:
            gates = FeatureGates.resolve(settings.version, settings.gates)
            self._servers[key] = Server(gates) if isinstance(gates, FeatureGates) else None
        return self._servers[key]


class FileAdmission:
    """Brings the objects of one file before the servers of its scenarios.

    Args:
        servers: those of the analysis run.
        settings: of the file.
        shared: the objects of the file's own level.
        log: takes the diagnostics.
    """

    def __init__(
        self, servers: Servers, settings: Settings, shared: Mapping[ObjectKey, Declared], log: DiagnosticLog
    ) -> None:
        self._servers = servers
        self._own = servers.of(settings)
        self._shared = shared
        self._log = log
        self._asked: dict[Server, tuple[Related, ...]] = {}

    def again(self, log: DiagnosticLog) -> "FileAdmission":
        """The same with another log, for one more drawing of a fuzz."""
        other = FileAdmission.__new__(FileAdmission)
        other._servers, other._own, other._shared = self._servers, self._own, self._shared
        other._log = log
        other._asked = {}
        return other

    def scenario(self, settings: Settings, title: Span, objects: Iterable[Declared]) -> None:
        """Look at the objects of a scenario; those of the file's level are looked at in the end."""
        server = self._servers.of(settings)
        if server is None:
            return
        related = () if server is self._own else (Related("with the settings of this scenario", title),)
        self._asked.setdefault(server, related)
        for declared in objects:
            if self._shared.get(declared.key) is not declared:
                server.judge(declared, self._log, related)

    def changes(
        self, settings: Settings, changes: Iterable[tuple[Declared, Declared]], device_taints: Iterable[Span]
    ) -> None:
        """Look at what the statements of a scenario change."""
        server = self._servers.of(settings)
        if server is None:
            return
        for before, after in changes:
            server.judge_change(before, after, self._log)
        for statement in device_taints:
            server.judge_device_taint(statement, self._log)

    def finish(self) -> None:
        """Look at the objects of the file's level, once for each of the settings with which they are used."""
        asked = self._asked
        if self._own is not None and (not asked or self._own in asked):
            # First, so that nothing is put down to a scenario that is wrong everywhere.
            asked = {self._own: (), **asked}
        for server, related in asked.items():
            for declared in self._shared.values():
                server.judge(declared, self._log, related)
