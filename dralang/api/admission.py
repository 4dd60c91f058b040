"""A write request to an API server: decoded, filled in, checked, and taken or refused.

Source: apiserver's pkg/registry/rest and pkg/registry/generic (1.37).
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct, structs

from dralang.api.availability import newer_fields
from dralang.api.base import ApiType
from dralang.api.conversion import to_current
from dralang.api.decode import DecodeError, from_json, path_text
from dralang.api.defaults import with_defaults
from dralang.api.kinds import KIND_OF_TYPE, KINDS, KindInfo, deprecation, is_served, split_api_version, type_in_version
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.strategies import STRATEGIES, Kind, Operation, Situation, Strategy
from dralang.api.validation.context import CelChecker, ValidationContext
from dralang.api.validation.declarations import DECLARATIONS
from dralang.api.validation.errors import Errors, FieldError, invalid
from dralang.api.validation.metadata import object_meta_update
from dralang.features import FeatureGates

Reason = Literal["Invalid", "BadRequest", "Forbidden", "NotFound", "Conflict"]

_NO_LISTS: frozenset[str] = frozenset()
_NO_LABELS: Mapping[str, str] = MappingProxyType({})
_NOT_SERVED = "the server could not find the requested resource"
_STALE = "the object has been modified; please apply your changes to the latest version and try again"


class AdmissionContext(Struct, frozen=True):
    """The server that is asked, and what it knows.

    Attributes:
        gates: its feature gates, and with them its version.
        cel: compiles expressions as this server does.
        now: the time, as objects show times.
        namespaces: labels of the namespaces that exist; None for any namespace, without labels.
        nodes: the nodes that exist.
    """

    gates: FeatureGates
    cel: CelChecker
    now: str
    namespaces: Mapping[str, Mapping[str, str]] | None = None
    nodes: tuple[Node, ...] = ()


class WriteRequest(Struct, frozen=True):
    """A request to write an object, with unknown fields as errors.

    Attributes:
        operation: what to do.
        object: the object as JSON, with ``apiVersion`` and ``kind``.
        old: for updates, the object as it is stored.
    """

    operation: Operation
    object: Mapping[str, Any]
    old: ApiType | None = None


class Accepted(Struct, frozen=True):
    """The request was taken.

    Attributes:
        object: what is stored, in the version in which objects are held.
        version: the API version that was sent.
        warnings: what the server remarks about it.
    """

    object: ApiType
    version: str
    warnings: tuple[str, ...] = ()


class Refused(Struct, frozen=True):
    """The request was refused.

    Attributes:
        reason: the reason of the API status.
        causes: the field errors of an ``Invalid``.
        message: one line for people, where there are no causes.
        path: for a ``BadRequest``, where in the object the trouble is.
    """

    reason: Reason
    causes: tuple[FieldError, ...] = ()
    message: str = ""
    path: tuple[str | int, ...] = ()


def admit(request: WriteRequest, context: AdmissionContext) -> Accepted | Refused:
    """What a server answers to a request."""
    api_version, kind = request.object.get("apiVersion"), request.object.get("kind")
    if not isinstance(api_version, str) or not isinstance(kind, str):
        return Refused("BadRequest", message="`apiVersion` and `kind` must be there, as text")
    group, version = split_api_version(api_version)
    info = KINDS.get(kind)
    gates = context.gates
    if info is None or info.group != group or not is_served(info, version, gates.version):
        return Refused("NotFound", message=_NOT_SERVED)
    if info.gate is not None and not gates.enabled(info.gate):
        return Refused("NotFound", message=_NOT_SERVED)
    try:
        sent = from_json(type_in_version(info, version), request.object)
    except DecodeError as error:
        message = f'{kind} in version "{version}" cannot be handled as a {kind}: {error}'
        return Refused("BadRequest", message=message, path=error.path)
    unknown = newer_fields(sent, gates.version)
    if unknown:
        message = (
            f'{kind} in version "{version}" cannot be handled as a {kind}: unknown field "{path_text(unknown[0])}"'
        )
        return Refused("BadRequest", message=message, path=unknown[0])
    spec = request.object.get("spec")
    lists = (
        frozenset(name for name, value in spec.items() if isinstance(value, list))
        if isinstance(spec, dict)
        else _NO_LISTS
    )
    return admit_object(request.operation, sent, request.old, context, version=version, lists_given=lists)


def admit_object(
    operation: Operation,
    sent: ApiType,
    old: Kind | None,
    context: AdmissionContext,
    *,
    version: str | None = None,
    lists_given: frozenset[str] = _NO_LISTS,
) -> Accepted | Refused:
    """As ``admit``, for an object that is decoded already.

    Args:
        operation: what to do.
        sent: the object, of the type that it has in its version.
        old: for updates, the stored object.
        context: the server.
        version: the API version of ``sent``; None for the one in which objects are held.
        lists_given: the lists of the spec that were sent, be they empty.
    """
    try:
        return _admit(operation, sent, old, context, version, lists_given)
    except RecursionError:
        # Raw JSON is the one thing in an object that can be nested without end.
        return Refused("BadRequest", message="the object is nested too deeply")


def _admit(
    operation: Operation,
    sent: ApiType,
    old: Kind | None,
    context: AdmissionContext,
    version: str | None,
    lists_given: frozenset[str],
) -> Accepted | Refused:
    new: Kind = to_current(with_defaults(sent, context.now))
    info = KIND_OF_TYPE[type(new)]
    strategy = STRATEGIES[info.name]
    version = info.versions[0] if version is None else version
    metadata = _placed(new.metadata, info, context)
    if metadata is None:
        return Refused("NotFound", message=f'namespaces "{new.metadata.namespace}" not found')
    new = structs.replace(new, metadata=metadata)
    situation = Situation(
        context=ValidationContext(context.gates, context.cel),
        now=context.now,
        version=version,
        namespace_labels=_NO_LABELS
        if context.namespaces is None
        else context.namespaces.get(metadata.namespace, _NO_LABELS),
        nodes=context.nodes,
        lists_given=lists_given,
    )
    errors: Errors = []
    if operation == "create" or old is None:
        new = strategy.on_create(structs.replace(new, metadata=_fresh(new.metadata)), situation)
        strategy.check_create(new, situation, errors)
        old = None
    elif KIND_OF_TYPE.get(type(old)) is not info:
        return Refused("BadRequest", message=f"the stored object is no {info.name}")
    else:
        refusal = _contradiction(new.metadata, old.metadata, info, strategy, version)
        if refusal is not None:
            return refusal
        new = _changed(operation, new, old, strategy, situation, errors)
    causes = _with_declared(errors, new, old, situation)
    if causes:
        return Refused("Invalid", causes)
    objection = strategy.objection(new, situation)
    if objection:
        plural = f"{info.plural}.{info.group}" if info.group else info.plural
        return Refused("Forbidden", message=f'{plural} "{new.metadata.name}" is forbidden: {objection}')
    return Accepted(new, version, (*_deprecation(info, version, context.gates.version), *strategy.warnings(new)))


def _placed(meta: ObjectMeta, info: KindInfo, context: AdmissionContext) -> ObjectMeta | None:
    """Metadata with the namespace that the object gets; None if there is no such namespace."""
    if not info.namespaced:
        return structs.replace(meta, namespace="") if meta.namespace else meta
    namespace = meta.namespace or "default"
    if context.namespaces is not None and namespace not in context.namespaces:
        return None
    return meta if meta.namespace else structs.replace(meta, namespace=namespace)


def _fresh(meta: ObjectMeta) -> ObjectMeta:
    """Metadata without what only the server says."""
    return structs.replace(
        meta,
        self_link="",
        uid="",
        resource_version="",
        creation_timestamp=None,
        deletion_timestamp=None,
        deletion_grace_period_seconds=None,
        managed_fields=(),
    )


def _contradiction(
    new: ObjectMeta, old: ObjectMeta, info: KindInfo, strategy: Strategy, version: str
) -> Refused | None:
    """What in the metadata of an update rules it out before anything is checked."""
    if new.name != old.name:
        text = f"the name of the object ({new.name}) does not match the name on the URL ({old.name})"
        return Refused("BadRequest", message=text)
    if new.namespace != old.namespace:
        return Refused("BadRequest", message="the namespace of the provided object does not match the request")
    plural = f"{info.plural}.{info.group}" if info.group else info.plural
    conflict = f'Operation cannot be fulfilled on {plural} "{old.name}": '
    if new.uid and new.uid != old.uid:
        return Refused("Conflict", message=f"{conflict}Precondition failed: UID in precondition: {new.uid}")
    if new.resource_version and new.resource_version != old.resource_version:
        return Refused("Conflict", message=conflict + _STALE)
    if not new.resource_version and strategy.needs_resource_version(version):
        return Refused("Invalid", (invalid("metadata.resourceVersion", 0, "must be specified for an update"),))
    return None


def _changed(
    operation: Operation, new: Kind, old: Kind, strategy: Strategy, situation: Situation, errors: Errors
) -> Kind:
    """The object after an update, checked by hand."""
    before: ObjectMeta = old.metadata
    kept = {
        "generation": before.generation,
        "uid": before.uid,
        "resource_version": before.resource_version,
        "creation_timestamp": before.creation_timestamp,
        "deletion_timestamp": before.deletion_timestamp,
        "deletion_grace_period_seconds": before.deletion_grace_period_seconds,
        "managed_fields": before.managed_fields,
    }
    if operation == "update-status" and not isinstance(new, Pod):
        kept |= {
            "self_link": before.self_link,
            "labels": before.labels,
            "annotations": before.annotations,
            "finalizers": before.finalizers,
            "owner_references": before.owner_references,
        }
    new = structs.replace(new, metadata=structs.replace(new.metadata, **kept))
    if operation == "update":
        new = strategy.on_update(new, old, situation)
        object_meta_update(new.metadata, before, "metadata", errors)
        strategy.check_update(new, old, situation, errors)
    else:
        new = strategy.on_status(new, old, situation)
        object_meta_update(new.metadata, before, "metadata", errors)
        strategy.check_status(new, old, situation, errors)
    return new


def _with_declared(
    handwritten: Errors, new: ApiType, old: ApiType | None, situation: Situation
) -> tuple[FieldError, ...]:
    """Handwritten and declarative errors together; where both say the same, the declarative one counts."""
    declared: Errors = []
    DECLARATIONS.validate(new, old, "", situation.context.gates, declared)
    said = {(error.type, error.field) for error in declared}
    kept = [error for error in handwritten if not (error.covered and (error.type, error.field) in said)]
    if situation.version == "v1beta1":
        declared = [structs.replace(error, field=_flat_path(error.field)) for error in declared]
    return (*kept, *declared)


_EXACTLY = re.compile(r"(spec(?:\.spec)?\.devices\.requests\[[0-9]+\])\.exactly\.")
_DEVICE = re.compile(r"(spec\.devices\[[0-9]+\])\.(?!name$)")


def _flat_path(path: str) -> str:
    """A path as v1beta1 has it: declarative rules look at objects in the version that was sent."""
    return _DEVICE.sub(r"\1.basic.", _EXACTLY.sub(r"\1.", path))


def _deprecation(info: KindInfo, version: str, kubernetes: str) -> tuple[str, ...]:
    found = deprecation(info, version)
    if found is None or kubernetes < found[0]:
        return ()
    return (f"{info.in_version(version)} {info.name} is deprecated in v{found[0]}+, unavailable in v{found[1]}+",)
