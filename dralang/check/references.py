"""References between objects: does what they name exist, and what is used at all."""

from collections.abc import Iterable, Iterator, Set
from typing import Final

from dralang.api.deviceclass import DeviceClass
from dralang.api.kinds import KIND_OF_KEYWORD
from dralang.api.located import Located
from dralang.check import problems
from dralang.check.parts import HOSTNAME
from dralang.check.scope import spoken_kind
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared

# The API server makes these itself.
SYSTEM_PRIORITIES: Final = frozenset({"system-cluster-critical", "system-node-critical"})


class Reference:
    """One object naming another one."""

    __slots__ = ("key", "span")

    def __init__(self, key: ObjectKey, span: Span) -> None:
        self.key = key
        self.span = span


def check_references(
    objects: Iterable[Declared],
    known: Iterable[ObjectKey],
    used: set[ObjectKey],
    log: DiagnosticLog,
    broken: Set[str] = frozenset(),
) -> None:
    """Report what is named and does not exist; note what is used. What is ``broken`` has an error of its own."""
    by_key = set(known)
    for declared in objects:
        for reference in references(declared):
            if reference.key in by_key:
                used.add(reference.key)
            elif reference.key.name not in SYSTEM_PRIORITIES and reference.key.name not in broken:
                _report(reference, declared, by_key, log)
        _check_claim_names(declared, log)


def check_choices(
    chosen: Iterable[tuple[str, Located]],
    known: Iterable[ObjectKey],
    used: set[ObjectKey],
    log: DiagnosticLog,
    broken: Set[str] = frozenset(),
) -> None:
    """Report what a hole may become, by keyword and name, and does not exist in any namespace; note what is used."""
    everything = tuple(known)
    for keyword, name in chosen:
        kind = KIND_OF_KEYWORD[keyword].name
        found = [key for key in everything if key.kind == kind and key.name == name.value]
        used.update(found)
        if not found and name.value not in broken:
            names = [key.spoken for key in everything if key.kind == kind]
            log.add(problems.undefined(keyword, str(name.value), name.span, names))


def _report(reference: Reference, declared: Declared, known: set[ObjectKey], log: DiagnosticLog) -> None:
    kind = spoken_kind(reference.key.kind)
    if declared.own:
        key = reference.key
        names = [other.spoken for other in known if (other.kind, other.namespace) == (key.kind, key.namespace)]
        elsewhere = sorted(other.namespace for other in known if (other.kind, other.name) == (key.kind, key.name))
        if elsewhere:
            way_out = f"`{key.name}` of namespace `{elsewhere[0]}` cannot be used from namespace `{key.namespace}`"
            log.add(problems.undefined(kind, key.spoken, reference.span, (), way_out=way_out))
        else:
            log.add(problems.undefined(kind, key.spoken, reference.span, names))
    else:
        log.add(problems.dangling(kind, reference.key.name, reference.span))


def _members(located: Located, *path: str) -> Located | None:
    here = located
    for step in path:
        inside = here.value
        if not isinstance(inside, dict) or step not in inside:
            return None
        here = inside[step]
    return here


def _items(located: Located, *path: str) -> tuple[Located, ...]:
    found = _members(located, *path)
    return found.value if found is not None and isinstance(found.value, tuple) else ()


def _named(kind: str, namespace: str, located: Located | None) -> Iterator[Reference]:
    if located is not None and isinstance(located.value, str) and located.value:
        yield Reference(ObjectKey(kind, namespace, located.value), located.span)


def references(declared: Declared) -> Iterator[Reference]:
    """The objects that an object names."""
    root = declared.located
    namespace = declared.key.namespace
    match declared.key.kind:
        case "ResourceClaim":
            yield from _claim_references(root, "spec")
        case "ResourceClaimTemplate":
            yield from _claim_references(root, "spec", "spec")
        case "ResourceSlice":
            yield from _named("Node", "", _members(root, "spec", "nodeName"))
        case "Pod":
            yield from _named("PriorityClass", "", _members(root, "spec", "priorityClassName"))
            yield from _named("Node", "", _members(root, "spec", "nodeName"))
            yield from _named("Node", "", _members(root, "spec", "nodeSelector", HOSTNAME))
            for entry in _items(root, "spec", "resourceClaims"):
                yield from _named("ResourceClaim", namespace, _members(entry, "resourceClaimName"))
                yield from _named("ResourceClaimTemplate", namespace, _members(entry, "resourceClaimTemplateName"))
        case _:
            return


def _claim_references(root: Located, *spec: str) -> Iterator[Reference]:
    for request in _items(root, *spec, "devices", "requests"):
        yield from _named("DeviceClass", "", _members(request, "exactly", "deviceClassName"))
        for alternative in _items(request, "firstAvailable"):
            yield from _named("DeviceClass", "", _members(alternative, "deviceClassName"))


# ---- names inside of one object -------------------------------------------------------------------------------------


def _check_claim_names(declared: Declared, log: DiagnosticLog) -> None:
    if not declared.own:
        return
    if declared.key.kind in ("ResourceClaim", "ResourceClaimTemplate"):
        spec = ("spec", "spec") if declared.key.kind == "ResourceClaimTemplate" else ("spec",)
        _check_requests(declared.located, spec, log)
    elif declared.key.kind == "Pod":
        _check_pod_claims(declared.located, log)


def _check_requests(root: Located, spec: tuple[str, ...], log: DiagnosticLog) -> None:
    known: dict[str, Span] = {}
    for request in _items(root, *spec, "devices", "requests"):
        name = _members(request, "name")
        if name is None or not isinstance(name.value, str):
            continue
        if name.value in known:
            log.add(problems.duplicate("request", name.value, name.span, known[name.value]))
        known[name.value] = name.span
        for alternative in _items(request, "firstAvailable"):
            inner = _members(alternative, "name")
            if inner is not None and isinstance(inner.value, str):
                known[f"{name.value}/{inner.value}"] = inner.span
    for field in ("constraints", "config"):
        for entry in _items(root, *spec, "devices", field):
            for reference in _items(entry, "requests"):
                if isinstance(reference.value, str) and reference.value not in known:
                    log.add(problems.undefined("request", reference.value, reference.span, known))


def _check_pod_claims(root: Located, log: DiagnosticLog) -> None:
    known: dict[str, Span] = {}
    for entry in _items(root, "spec", "resourceClaims"):
        name = _members(entry, "name")
        if name is None or not isinstance(name.value, str):
            continue
        if name.value in known:
            log.add(problems.duplicate("claim", name.value, name.span, known[name.value]))
        known[name.value] = name.span
    for field in ("containers", "initContainers"):
        for container in _items(root, "spec", field):
            for use in _items(container, "resources", "claims"):
                name = _members(use, "name")
                if name is not None and isinstance(name.value, str) and name.value not in known:
                    way_out = f"add it to the pod: `claim {name.value} from TEMPLATE`"
                    log.add(problems.undefined("claim", name.value, name.span, known, way_out=way_out))


# ---- what nobody uses -----------------------------------------------------------------------------------------------

_UNUSED: Final = {
    "DeviceClass": "no request asks for it",
    "ResourceClaimTemplate": "no pod has a claim from it",
    "ResourceClaim": "no pod and no statement uses it",
    "PriorityClass": "no pod has it",
    "Pod": "no statement creates it",
}


def report_unused(objects: Iterable[Declared], used: set[ObjectKey], log: DiagnosticLog) -> None:
    """Warn of what is declared and never used."""
    for declared in objects:
        way_out = _UNUSED.get(declared.key.kind)
        if way_out is None or declared.key in used or not declared.own:
            continue
        if isinstance(declared.object, DeviceClass) and declared.object.spec.extended_resource_name:
            continue
        log.add(problems.unused(spoken_kind(declared.key.kind), declared.key.name, declared.span, way_out))
