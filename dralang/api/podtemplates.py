"""The pod templates inside kinds that are otherwise only carried: Deployment, Job and so on."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dralang.api.admission import Refused
from dralang.api.base import Always, ApiType
from dralang.api.decode import DecodeError, from_json
from dralang.api.meta import ObjectMeta
from dralang.api.pods import PodSpec
from dralang.api.validation.errors import Errors
from dralang.api.validation.metadata import annotations, labels
from dralang.api.validation.pods import pod_spec

_TEMPLATE = ("spec", "template")
_JOB_TEMPLATE = ("spec", "jobTemplate", "spec", "template")

POD_TEMPLATES: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("apps/v1", "Deployment"): _TEMPLATE,
        ("apps/v1", "ReplicaSet"): _TEMPLATE,
        ("apps/v1", "StatefulSet"): _TEMPLATE,
        ("apps/v1", "DaemonSet"): _TEMPLATE,
        ("batch/v1", "Job"): _TEMPLATE,
        ("batch/v1", "CronJob"): _JOB_TEMPLATE,
        ("v1", "ReplicationController"): _TEMPLATE,
    }
)
"""Where the template of a kind is, by ``apiVersion`` and ``kind``."""


class PodTemplateSpec(ApiType, frozen=True):
    """core/v1 PodTemplateSpec."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[PodSpec] = PodSpec()


def pod_template(value: Mapping[str, Any]) -> tuple[tuple[str, ...], Any] | None:
    """The path and the JSON of the pod template of an object; None if its kind has none or it is not there."""
    api_version, kind = value.get("apiVersion"), value.get("kind")
    path = POD_TEMPLATES.get((api_version, kind)) if isinstance(api_version, str) and isinstance(kind, str) else None
    here: Any = value
    for step in path or ():
        here = here.get(step) if isinstance(here, Mapping) else None
    return None if path is None or here is None else (path, here)


def check_pod_template(value: Mapping[str, Any]) -> Refused | None:
    """What an API server has against the pod template of an object; nothing else of the object is looked at."""
    found = pod_template(value)
    if found is None:
        return None
    path, template = found
    where = ".".join(path)
    try:
        decoded = from_json(PodTemplateSpec, template)
    except DecodeError as error:
        return Refused("BadRequest", message=f"{where}.{error}", path=(*path, *error.path))
    errors: Errors = []
    labels(decoded.metadata.labels, f"{where}.labels", errors)
    annotations(decoded.metadata.annotations, f"{where}.annotations", errors)
    pod_spec(decoded.metadata, decoded.spec, f"{where}.spec", errors)
    return Refused("Invalid", tuple(errors)) if errors else None
