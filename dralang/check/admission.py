"""Declared objects as an API server would look at them when they are created.

Only what the server says of the object itself counts here: what depends on other objects (the labels of a namespace,
the nodes that there are) is known when a scenario runs.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from dralang.api.admission import Accepted, AdmissionContext, Refused, admit_object
from dralang.api.availability import newer_fields
from dralang.api.decode import path_text
from dralang.api.kinds import KINDS, KindInfo, deprecation, is_served, split_api_version
from dralang.api.located import Located
from dralang.api.verdicts import REFUSED, place_of, report_refusal
from dralang.cel.admission import admission_checker
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog, Related
from dralang.features import FeatureGates
from dralang.scenario.model import Declared, Settings

REMARK: Final = "DRA0312"
_NOW: Final = "1970-01-01T00:00:00Z"
_FIELD: Final = re.compile(r"((?:spec|status|metadata)[^ :]*): (.*)", re.DOTALL)
_Answer = Accepted | Refused


class Server:
    """An API server of one version with certain feature gates; the same object is looked at once."""

    def __init__(self, gates: FeatureGates) -> None:
        self.gates = gates
        self._context = AdmissionContext(gates, admission_checker(gates), _NOW)
        self._answers: dict[tuple[type, str, frozenset[str], bytes], _Answer] = {}

    def judge(self, declared: Declared, log: DiagnosticLog, related: tuple[Related, ...] = ()) -> None:
        """Report what the server has against an object, and what it remarks about one that it takes."""
        info = KINDS[declared.key.kind]
        if self._is_unknown(info, declared, log, related):
            return
        answer = self._answer(declared, info)
        if isinstance(answer, Accepted):
            for warning in answer.warnings:
                log.add(_remark(warning, declared, related))
        elif answer.reason != "Forbidden":
            # Only what depends on other objects is forbidden; see above.
            report_refusal(answer, declared.located, log, name=declared.span, related=related)

    def _is_unknown(
        self, info: KindInfo, declared: Declared, log: DiagnosticLog, related: tuple[Related, ...]
    ) -> bool:
        """Whether the server does not have the kind, its API version, or a field."""
        kubernetes = self.gates.version
        version = split_api_version(declared.api_version)[1]
        message = way_out = ""
        if not any(is_served(info, known, kubernetes) for known in info.versions):
            message = f"Kubernetes {kubernetes} has no {info.name}"
        elif info.gate is not None and not self.gates.enabled(info.gate):
            message = f"the API of {info.name} is off: feature gate `{info.gate}`"
            way_out = f"write `gates {{ {info.gate}: true }}`"
        elif version and not is_served(info, version, kubernetes):
            message = f"Kubernetes {kubernetes} does not serve {info.name} as `{declared.api_version}`"
        if message:
            log.add(Diagnostic(code=REFUSED, message=message, span=declared.span, related=related, help=way_out))
            return True
        unknown = newer_fields(declared.object, kubernetes)
        for path in unknown:
            place = declared.located.at(path)
            message = f"Kubernetes {kubernetes} has no field `{path_text(path)}`"
            log.add(Diagnostic(code=REFUSED, message=message, span=place.key_span or place.span, related=related))
        return bool(unknown)

    def _answer(self, declared: Declared, info: KindInfo) -> _Answer:
        version = split_api_version(declared.api_version)[1]
        given = _lists_given(declared.located)
        key = None
        try:
            key = (type(declared.object), version, given, msgspec.json.encode(declared.object))
        except (UnicodeEncodeError, RecursionError, OverflowError):
            pass  # an object that cannot be written is looked at each time
        answer = None if key is None else self._answers.get(key)
        if answer is None:
            answer = admit_object(
                "create",
                declared.object,
                None,
                self._context,
                version=version or info.versions[0],
                lists_given=given,
            )
            if key is not None:
                self._answers[key] = answer
        return answer


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


class _Looked(Struct):
    """What of a file a server has seen."""

    server: Server
    shared: bool = False


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
    """Brings the objects of one file before the servers of its scenarios, each object once before each of them."""

    def __init__(self, servers: Servers, settings: Settings, shared: Mapping[object, Declared], log: DiagnosticLog):
        self._servers = servers
        self._own = servers.of(settings)
        self._shared = shared
        self._log = log
        self._seen: set[int] = set()
