"""Recorded write requests answered again: kind ``validation`` of the conformance data."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from msgspec import structs

from dralang.api.admission import Accepted, AdmissionContext, Refused, WriteRequest, admit
from dralang.api.base import ApiType
from dralang.api.conversion import versioned_json
from dralang.api.kinds import KIND_OF_TYPE, KINDS, split_api_version
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import Node, NodeStatus
from dralang.api.podtemplates import check_pod_template
from dralang.api.validation.context import CelChecker
from dralang.features import FeatureGates

Json: TypeAlias = Any
CelFactory = Callable[[FeatureGates], CelChecker]

_OWN_GROUPS = frozenset({"resource.k8s.io", "scheduling.k8s.io"})
NOW = "2031-07-13T17:19:23Z"
"""A time that no case names."""
_NOW_TEXT = "<now>"
_OLD_VERSION = "2"
_NODES = (
    Node(ObjectMeta(name="node-1"), status=NodeStatus(declared_features=("DRANodeAllocatableResources",))),
    Node(ObjectMeta(name="plain")),
)
_NAMESPACES = {
    "default": {},
    "admin-ok": {"resource.kubernetes.io/admin-access": "true"},
    "admin-no": {"resource.kubernetes.io/admin-access": "false"},
}
_HIDDEN_METADATA = (
    "uid",
    "creationTimestamp",
    "generation",
    "resourceVersion",
    "managedFields",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_POD_STATUS = ("resourceClaimStatuses", "extendedResourceClaimStatus", "nodeAllocatableResourceClaimStatuses")


class ReplayError(Exception):
    """A case that cannot be played: its gates do not go together, or ``old`` is refused."""


def replay_validation(case: Mapping[str, Json], cel_of: CelFactory) -> dict[str, Json]:
    """The answer to a recorded request, in the shape of ``want``.

    Args:
        case: the case, as in the conformance data.
        cel_of: makes what compiles expressions as a server with certain gates does.

    Raises:
        ReplayError: the case cannot be played.
    """
    sent = case["object"]
    kind, api_version = sent.get("kind"), str(sent.get("apiVersion", ""))
    if isinstance(kind, str) and kind not in KINDS and split_api_version(api_version)[0] not in _OWN_GROUPS:
        # A kind that has nothing to do with devices; only the pods that it makes are looked at.
        refusal = check_pod_template(sent)
        return {"accepted": True} if refusal is None else _refused(refusal)
    context = _context(case, cel_of, "featureGates")
    old = None
    if "old" in case:
        stored_by = _context(case, cel_of, "oldFeatureGates") if "oldFeatureGates" in case else context
        old = _stored(case, stored_by)
        sent = _about(sent, old)
    answer = admit(WriteRequest(case["operation"], sent, old), context)
    return _taken(answer) if isinstance(answer, Accepted) else _refused(answer)


def _context(case: Mapping[str, Json], cel_of: CelFactory, key: str) -> AdmissionContext:
    gates = FeatureGates.resolve(case["kubernetes"], case.get(key) or {})
    if not isinstance(gates, FeatureGates):
        raise ReplayError("; ".join(problem.message for problem in gates))
    namespaces = dict(_NAMESPACES)
    metadata = case["object"].get("metadata")
    given = metadata.get("namespace") if isinstance(metadata, dict) else None
    namespace = given if isinstance(given, str) else ""
    if case.get("namespaceLabels") is not None:
        namespaces[namespace or "default"] = case["namespaceLabels"]
    elif str(case["id"]).startswith("manifest:") and namespace:
        namespaces.setdefault(namespace, {})
    return AdmissionContext(gates, cel_of(gates), NOW, namespaces, _NODES)


def _stored(case: Mapping[str, Json], context: AdmissionContext) -> ApiType:
    """``old`` as it lay in the server."""
    created = admit(WriteRequest("create", case["old"]), context)
    if isinstance(created, Refused):
        raise ReplayError(f"`old` is refused: {_refused(created)}")
    old = _with_metadata(created.object, uid="a-uid", resource_version=_OLD_VERSION, creation_timestamp=NOW)
    if case["old"].get("status"):
        with_status = admit(WriteRequest("update-status", _about(case["old"], old), old), context)
        if isinstance(with_status, Refused):
            raise ReplayError(f"the status of `old` is refused: {_refused(with_status)}")
        old = with_status.object
    if not case.get("deleting"):
        return old
    return _with_metadata(old, deletion_timestamp=NOW, deletion_grace_period_seconds=0)


def _with_metadata(value: Any, **fields: Json) -> ApiType:
    changed: ApiType = structs.replace(value, metadata=structs.replace(value.metadata, **fields))
    return changed


def _about(sent: Mapping[str, Json], old: ApiType) -> Mapping[str, Json]:
    """An update as it was sent: with the resource version of the old object unless it names one."""
    metadata = sent.get("metadata")
    if not isinstance(metadata, dict) or "resourceVersion" in metadata:
        return sent
    return {**sent, "metadata": {**metadata, "resourceVersion": _OLD_VERSION}}


def _taken(answer: Accepted) -> dict[str, Json]:
    info = KIND_OF_TYPE[type(answer.object)]
    stored = _shown(versioned_json(answer.object, answer.version))
    taken = {"accepted": True, "stored": _trimmed_pod(stored) if info.name == "Pod" else stored}
    if info.group == "resource.k8s.io" and answer.version != "v1" and "v1" in info.versions:
        taken["storedAsV1"] = _shown(versioned_json(answer.object, "v1"))
    if answer.warnings:
        taken["warnings"] = list(answer.warnings)
    return taken


def _refused(answer: Refused) -> dict[str, Json]:
    causes = [{"field": cause.field, "type": cause.type, "message": cause.message} for cause in answer.causes]
    refused = {"accepted": False, "reason": answer.reason, "causes": causes}
    return refused if causes else {**refused, "message": answer.message}


def _shown(stored: dict[str, Json]) -> dict[str, Json]:
    metadata = {name: value for name, value in stored["metadata"].items() if name not in _HIDDEN_METADATA}
    shown: dict[str, Json] = _with_now({**stored, "metadata": metadata})
    return shown


def _with_now(value: Json, key: str = "") -> Json:
    if isinstance(value, dict):
        return {name: _with_now(entry, name) for name, entry in value.items()}
    if isinstance(value, list):
        return [_with_now(entry) for entry in value]
    return _NOW_TEXT if key == "timeAdded" and value == NOW else value


def _trimmed_pod(stored: dict[str, Json]) -> dict[str, Json]:
    """The parts of a pod that were recorded."""
    spec = {name: entry for name, entry in stored["spec"].items() if name in {"resourceClaims", "resources"}}
    for name in ("initContainers", "containers"):
        if stored["spec"].get(name):
            spec[name] = [{part: item.get(part) for part in ("name", "resources")} for item in stored["spec"][name]]
    trimmed = {name: stored[name] for name in ("apiVersion", "kind", "metadata")} | {"spec": spec}
    status = {name: entry for name, entry in stored["status"].items() if name in _POD_STATUS}
    return {**trimmed, "status": status} if status else trimmed
