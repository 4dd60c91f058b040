"""Pods, as far as claims, resources, containers and scheduling go.

The rest of a pod (volumes, probes, security) is carried, not checked.

Source: pkg/apis/core/validation (1.37).
"""

from collections.abc import Callable, Collection
from typing import TypeAlias

from msgspec import structs

from dralang.api.affinity import Affinity, Toleration
from dralang.api.containers import Container, ContainerResourceClaim, ResourceRequirements
from dralang.api.meta import ObjectMeta
from dralang.api.podresources import (
    POD_LEVEL_RESOURCES,
    aggregate,
    is_huge_page,
    is_native,
    is_overcommit_allowed,
    is_pod_level,
)
from dralang.api.pods import Pod, PodExtendedResourceClaimStatus, PodResourceClaim, PodSpec, PodStatus
from dralang.api.validation import formats
from dralang.api.validation.containers import containers
from dralang.api.validation.errors import (
    Errors,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    out_of_range,
    required,
)
from dralang.api.validation.scheduling import LONGEST_DEADLINE, scheduling
from dralang.values.names import label_key_errors
from dralang.values.quantity import Quantity, parse_quantity

_NameCheck: TypeAlias = Callable[[str, str, Errors], None]

_MIRROR_ANNOTATION = "kubernetes.io/config.mirror"
_COUNTED = frozenset(
    {
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    }
)
_STANDARD = _COUNTED | {
    "cpu",
    "memory",
    "ephemeral-storage",
    "storage",
    *(f"{side}.{name}" for side in ("requests", "limits") for name in ("cpu", "memory", "ephemeral-storage")),
    "requests.storage",
}
_STANDARD_FOR_CONTAINERS = frozenset({"cpu", "memory", "ephemeral-storage"})
_NO_SUCH_CLAIM = "must match the name of an entry in `spec.resourceClaims`"
_NO_SUCH_CONTAINER = "must match the name of an entry in spec.initContainers.name or spec.containers.name"
_NO_SUCH_RESOURCE = (
    "must match the extended resource name of an entry in spec.initContainers.resources.requests or "
    "spec.containers.resources.requests"
)


def pod_spec(meta: ObjectMeta, spec: PodSpec, path: str, out: Errors) -> None:
    """The spec of a new pod, or of the template of pods."""
    if spec.resource_claims and _MIRROR_ANNOTATION in meta.annotations:
        out.append(forbidden("", "static pods do not support resource claims"))
    else:
        _claims(spec.resource_claims, f"{path}.resourceClaims", out)
    claim_names = sorted({claim.name for claim in spec.resource_claims if claim.name})
    containers(spec, path, out)
    for field, given in (("initContainers", spec.init_containers), ("containers", spec.containers)):
        for index, container in enumerate(given):
            here = f"{path}.{field}[{index}].resources"
            _requirements(container.resources, container_resource_name, claim_names, here, out)
    if spec.resources is not None:
        _pod_level(spec, spec.resources, claim_names, f"{path}.resources", out)
    scheduling(spec, path, out)


def pod_status(item: Pod, version: str, out: Errors) -> None:
    """The parts of a pod's status that are about claims, for a version of Kubernetes."""
    spec, status = item.spec, item.status
    names = {claim.name for claim in spec.resource_claims}
    seen: set[str] = set()
    for index, entry in enumerate(status.resource_claim_statuses):
        path = f"status.resourceClaimStatuses[{index}]"
        if entry.name not in names:
            out.append(invalid(f"{path}.name", entry.name, _NO_SUCH_CLAIM))
        if entry.name in seen:
            out.append(duplicate(f"{path}.name", entry.name))
        seen.add(entry.name)
        if entry.resource_claim_name is not None:
            formats.subdomain(entry.resource_claim_name, f"{path}.resourceClaimName", out)
    if status.extended_resource_claim_status is not None:
        _extended(status.extended_resource_claim_status, spec, out)
    _node_allocatable(status, spec, version, out)


def _claims(claims: tuple[PodResourceClaim, ...], list_path: str, out: Errors) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        path = f"{list_path}[{index}]"
        if not claim.name:
            out.append(required(f"{path}.name"))
        elif claim.name in seen:
            out.append(duplicate(f"{path}.name", claim.name))
        else:
            formats.label(claim.name, f"{path}.name", out)
            seen.add(claim.name)
        by_name, by_template = claim.resource_claim_name, claim.resource_claim_template_name
        if by_name is not None and by_template is not None:
            text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            out.append(invalid(path, claim, text))
        if by_name is None and by_template is None:
            out.append(invalid(path, claim, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"))
        if by_name is not None:
            formats.subdomain(by_name, f"{path}.resourceClaimName", out)
        if by_template is not None:
            formats.subdomain(by_template, f"{path}.resourceClaimTemplateName", out)


def _claim_references(
    claims: tuple[ContainerResourceClaim, ...], claim_names: Collection[str], path: str, out: Errors
) -> None:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        here = f"{path}[{index}]"
        name = claim.name
        if not name:
            out.append(required(here))
            continue
        if name in seen:
            out.append(duplicate(here, name))
        else:
            key = name
            if claim.request:
                formats.label(claim.request, f"{here}.request", out)
                key = f"{name}/{claim.request}"
            if key in seen:
                out.append(duplicate(here, key))
            elif not claim.request:
                # The whole claim overlaps with any request of it that was named before.
                out += [duplicate(here, name) for other in sorted(seen) if other.startswith(f"{name}/")]
            seen.add(key)
        if name not in claim_names:
            listed = f": {', '.join(claim_names)}" if claim_names else " which is empty"
            out.append(not_found(here, name, f"must be one of the names in pod.spec.resourceClaims{listed}"))


def is_extended_resource(name: str) -> bool:
    """Whether a resource is one that devices or device plugins offer."""
    if is_native(name) or name.startswith("requests."):
        return False
    return not label_key_errors(f"requests.{name}")


def _resource_name(name: str, path: str, out: Errors) -> bool:
    before = len(out)
    formats.label_key(name, path, out)
    if len(out) == before and "/" not in name:
        standard = name in _STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))
        if not standard:
            out.append(invalid(path, name, "must be a standard resource type or fully qualified"))
    return len(out) == before


def container_resource_name(name: str, path: str, out: Errors) -> None:
    """The name of a resource of a container."""
    _resource_name(name, path, out)
    if "/" not in name:
        if name not in _STANDARD_FOR_CONTAINERS and not is_huge_page(name):
            out.append(invalid(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended_resource(name):
        out.append(invalid(path, name, "doesn't follow extended resource name standard"))


def _pod_resource_name(name: str, path: str, out: Errors) -> None:
    if _resource_name(name, path, out) and not is_pod_level(name):
        out.append(not_supported(path, name, POD_LEVEL_RESOURCES))


def _amount(name: str, amount: Quantity, path: str, out: Errors) -> None:
    if amount.sign < 0:
        out.append(invalid(path, amount, "must be greater than or equal to 0"))
    if (name in _COUNTED or is_extended_resource(name)) and amount.milli_value() % 1000:
        out.append(invalid(path, amount, "must be an integer"))
    if is_huge_page(name) and not _fits_pages(name, amount):
        out.append(invalid(path, amount, f"{amount} is not positive integer multiple of {name}"))


def _fits_pages(name: str, amount: Quantity) -> bool:
    try:
        page = parse_quantity(name.removeprefix("hugepages-"))
    except ValueError:
        return False
    size = page.value()
    return page.sign > 0 and page.milli_value() % 1000 == 0 and size != 0 and amount.value() % size == 0


def _requirements(
    requirements: ResourceRequirements,
    check_name: _NameCheck,
    claim_names: Collection[str],
    path: str,
    out: Errors,
) -> None:
    limits, requests = requirements.limits, requirements.requests
    for name, amount in limits.items():
        here = f"{path}.limits[{name}]"
        check_name(name, here, out)
        _amount(name, amount, here, out)
    for name, amount in requests.items():
        here = f"{path}.requests[{name}]"
        check_name(name, here, out)
        _amount(name, amount, here, out)
        limit = limits.get(name)
        if limit is None:
            if not is_overcommit_allowed(name):
                out.append(required(f"{path}.limits", "Limit must be set for non overcommitable resources"))
        elif amount != limit and not is_overcommit_allowed(name):
            out.append(invalid(f"{path}.requests", amount, f"must be equal to {name} limit of {limit}"))
        elif amount > limit:
            out.append(invalid(f"{path}.requests", amount, f"must be less than or equal to {name} limit of {limit}"))
    names = {*limits, *requests}
    if not names & {"cpu", "memory"} and any(map(is_huge_page, names)):
        out.append(forbidden(path, "HugePages require cpu or memory"))
    _claim_references(requirements.claims, claim_names, f"{path}.claims", out)


def _pod_level(
    spec: PodSpec, resources: ResourceRequirements, claim_names: Collection[str], path: str, out: Errors
) -> None:
    if spec.os is not None and spec.os.name == "windows":
        out.append(forbidden(path, "may not be set for a windows pod"))
        return
    if resources.claims:
        out.append(forbidden(f"{path}.claims", "claims may not be set for Resources at pod-level"))
    _requirements(resources, _pod_resource_name, claim_names, path, out)
    for name, amount in aggregate(spec, "requests").items():
        given = resources.requests.get(name)
        if given is not None and amount > given:
            text = f"must be greater than or equal to aggregate container requests of {amount}"
            out.append(invalid(f"{path}.requests[{name}]", given, text))
    for name, amount in aggregate(spec, "limits").items():
        given = resources.limits.get(name)
        if is_huge_page(name) and given is not None and amount > given:
            text = f"must be greater than or equal to aggregate container limits of {amount}"
            out.append(invalid(f"{path}.limits[{name}]", given, text))
    for index, container in enumerate(spec.containers):
        for name, limit in container.resources.limits.items():
            given = resources.limits.get(name)
            if given is not None and limit > given:
                here = f"{path}.containers[{index}][{name}].limits"
                out.append(invalid(here, limit, f"must be less than or equal to pod limits of {given}"))


def _extended(status: PodExtendedResourceClaimStatus, spec: PodSpec, out: Errors) -> None:
    path = "status.extendedResourceClaimStatus"
    containers = {container.name: container for container in (*spec.init_containers, *spec.containers)}
    if not status.request_mappings:
        out.append(required(f"{path}.requestMappings", "at least one request mapping is required"))
    seen = set()
    for index, mapping in enumerate(status.request_mappings):
        here = f"{path}.requestMappings[{index}]"
        container = containers.get(mapping.container_name)
        if container is None:
            out.append(invalid(f"{here}.containerName", mapping.container_name, _NO_SUCH_CONTAINER))
        elif mapping.resource_name not in container.resources.requests:
            out.append(invalid(f"{here}.resourceName", mapping.resource_name, _NO_SUCH_RESOURCE))
        # Upstream reports this one without the index.
        formats.label(mapping.request_name, f"{path}.requestName", out)
        if mapping in seen:
            out.append(duplicate(f"{here}.containerName", mapping.container_name))
            out.append(duplicate(f"{here}.resourceName", mapping.resource_name))
            out.append(duplicate(f"{here}.requestName", mapping.request_name))
        seen.add(mapping)
    if not status.resource_claim_name:
        out.append(required(f"{path}.resourceClaimName"))
    else:
        formats.subdomain(status.resource_claim_name, f"{path}.resourceClaimName", out)


def _node_allocatable(status: PodStatus, spec: PodSpec, version: str, out: Errors) -> None:
    known = {claim.resource_claim_name for claim in spec.resource_claims}
    known |= {entry.resource_claim_name for entry in status.resource_claim_statuses}
    if version >= "1.38" and status.extended_resource_claim_status is not None:
        known.add(status.extended_resource_claim_status.resource_claim_name)
    for index, entry in enumerate(status.node_allocatable_resource_claim_statuses):
        path = f"status.nodeAllocatableResourceClaimStatuses[{index}]"
        if not entry.resource_claim_name:
            continue
        if entry.resource_claim_name not in known:
            text = "no mapping found in pod reference"
            out.append(invalid(f"{path}.resourceClaimName", entry.resource_claim_name, text))
        for number, mapped in enumerate(entry.mapping):
            here = f"{path}.mapping[{number}]"
            _node_resource(mapped.name, here, out)
            _not_negative(mapped.quantity, f"{here}.quantity", out)
        for number, overhead in enumerate(entry.overhead):
            here = f"{path}.overhead[{number}]"
            _node_resource(overhead.name, here, out)
            if overhead.per_pod is None and overhead.per_container is None:
                out.append(invalid(here, "", "at least one of perPod or perContainer must be set"))
            _not_negative(overhead.per_pod, f"{here}.perPod", out)
            _not_negative(overhead.per_container, f"{here}.perContainer", out)


def _node_resource(name: str, path: str, out: Errors) -> None:
    if not is_pod_level(name):
        out.append(invalid(f"{path}.name", name, "must be a node allocatable resource name"))


def _not_negative(amount: Quantity | None, path: str, out: Errors) -> None:
    if amount is not None and amount.sign < 0:
        out.append(invalid(path, amount, "must be non-negative"))


_UPDATE_TEXT = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_update(item: Pod, old: Pod, out: Errors) -> None:
    """The change of a pod's spec: little of it may change once the pod is there."""
    pod_spec(item.metadata, item.spec, "spec", out)
    new_spec, old_spec = item.spec, old.spec
    for field, new, before in (
        ("containers", new_spec.containers, old_spec.containers),
        ("initContainers", new_spec.init_containers, old_spec.init_containers),
    ):
        if len(new) != len(before):
            out.append(forbidden(f"spec.{field}", "pod updates may not add or remove containers"))
            return
    _deadline(new_spec.active_deadline_seconds, old_spec.active_deadline_seconds, out)
    if not all(any(_continues(new, before) for new in new_spec.tolerations) for before in old_spec.tolerations):
        text = "existing toleration can not be modified except its tolerationSeconds"
        out.append(forbidden("spec.tolerations", text))
    gates = {gate.name for gate in old_spec.scheduling_gates}
    if any(gate.name not in gates for gate in new_spec.scheduling_gates):
        text = "only deletion is allowed, but found new scheduling gate"
        out.append(forbidden("spec.schedulingGates", text))
    if _with_what_may_change(new_spec, old_spec) != old_spec:
        out.append(forbidden("spec", _UPDATE_TEXT))


def _deadline(new: int | None, old: int | None, out: Errors) -> None:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        if old is not None:
            out.append(invalid(path, new, "must not update from a positive integer to nil value"))
    elif not 0 <= new <= LONGEST_DEADLINE:
        out.append(out_of_range(path, new, 0, LONGEST_DEADLINE))
    elif old is not None and old < new:
        out.append(invalid(path, new, "must be less than or equal to previous value"))


def _continues(new: Toleration, old: Toleration) -> bool:
    return structs.replace(old, toleration_seconds=new.toleration_seconds) == new


def _with_what_may_change(new: PodSpec, old: PodSpec) -> PodSpec:
    """The new spec with the old values in the fields that an update may change."""
    gated = bool(old.scheduling_gates)
    grace = new.termination_grace_period_seconds
    if grace == 1 and (old.termination_grace_period_seconds or 0) < 0:
        grace = old.termination_grace_period_seconds
    return structs.replace(
        new,
        containers=_with_images(new.containers, old.containers),
        init_containers=_with_images(new.init_containers, old.init_containers),
        active_deadline_seconds=old.active_deadline_seconds,
        scheduling_gates=old.scheduling_gates,
        tolerations=old.tolerations,
        termination_grace_period_seconds=grace,
        # A pod that waits at a gate may still be told where to go.
        node_selector=old.node_selector if gated else new.node_selector,
        affinity=_with_node_affinity(new.affinity, old.affinity) if gated else new.affinity,
    )


def _with_images(new: tuple[Container, ...], old: tuple[Container, ...]) -> tuple[Container, ...]:
    return tuple(structs.replace(item, image=before.image) for item, before in zip(new, old, strict=True))


def _with_node_affinity(new: Affinity | None, old: Affinity | None) -> Affinity | None:
    node_affinity = None if old is None else old.node_affinity
    if new is None:
        return None if node_affinity is None else Affinity(node_affinity=node_affinity)
    replaced = structs.replace(new, node_affinity=node_affinity)
    return None if old is None and replaced == Affinity() else replaced
