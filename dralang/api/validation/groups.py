"""PodGroup, Workload and ResourcePoolStatusRequest: what declarative rules do not say.

Source: pkg/apis/scheduling/validation and pkg/apis/resource/validation (1.37).
"""

from collections.abc import Iterator

from dralang.api.resourcepoolstatusrequest import ResourcePoolStatusRequest
from dralang.api.validation.equality import semantically_equal
from dralang.api.validation.errors import IMMUTABLE_TEXT, Errors, duplicate, invalid, required
from dralang.api.validation.metadata import conditions
from dralang.api.workloads import CompositePodGroupTemplate, PodGroup, WorkloadSpec

_MAX_DEPTH = 4
_NO_SUCH_CLAIM = "must match the name of an entry in `spec.resourceClaims`"


def pod_group(group: PodGroup, out: Errors) -> None:
    """The spec of a new group."""
    if group.spec.parent_composite_pod_group_name is not None and group.spec.workload_ref is None:
        out.append(required("spec.workloadRef", "must be set when parentCompositePodGroupName is set"))


def pod_group_status(group: PodGroup, out: Errors) -> None:
    """The status of a group."""
    conditions(group.status.conditions, "status.conditions", out)
    names = {claim.name for claim in group.spec.resource_claims}
    for index, entry in enumerate(group.status.resource_claim_statuses):
        if entry.name not in names:
            out.append(invalid(f"status.resourceClaimStatuses[{index}].name", entry.name, _NO_SUCH_CLAIM))


def workload(spec: WorkloadSpec, out: Errors) -> None:
    """Templates: a tree that is not too deep, names once in all of it, and the same priority everywhere."""
    composites = spec.composite_pod_group_templates
    deep = [index for index, template in enumerate(composites) if _is_too_deep(template)]
    for index in deep:
        text = f"maximum template hierarchy depth is {_MAX_DEPTH}"
        out.append(invalid(f"spec.compositePodGroupTemplates[{index}]", None, text))
    if not deep:
        _repeated_names(spec, out)
        _priorities(spec, out)
        _without_children(composites, "spec", out)


def _is_too_deep(template: CompositePodGroupTemplate) -> bool:
    level = [template]
    for _ in range(_MAX_DEPTH - 1):
        level = [child for parent in level for child in parent.composite_pod_group_templates]
    return bool(level)


def _repeated_names(spec: WorkloadSpec, out: Errors) -> None:
    """Names that occur in two lists; repetitions in one list are for the declarative rule."""
    seen = {group.name for group in spec.pod_group_templates}
    _repeated_in(spec.composite_pod_group_templates, "spec", seen, out)


def _repeated_in(templates: tuple[CompositePodGroupTemplate, ...], path: str, seen: set[str], out: Errors) -> None:
    here = f"{path}.compositePodGroupTemplates"
    _note_names([template.name for template in templates], here, seen, out)
    for index, template in enumerate(templates):
        inner = f"{here}[{index}]"
        names = [group.name for group in template.pod_group_templates]
        _note_names(names, f"{inner}.podGroupTemplates", seen, out)
        _repeated_in(template.composite_pod_group_templates, inner, seen, out)


def _note_names(names: list[str], path: str, seen: set[str], out: Errors) -> None:
    out += [duplicate(f"{path}[{index}].name", name) for index, name in enumerate(names) if name in seen]
    seen.update(names)


def _priorities(spec: WorkloadSpec, out: Errors) -> None:
    groups = {(group.priority_class_name, group.priority) for group in spec.pod_group_templates}
    if len(groups) > 1:
        out.append(invalid("spec", None, "detected multiple priority configurations"))
        return
    below = {pair for template in spec.composite_pod_group_templates for pair in _priorities_below(template)}
    if len(groups | below) > 1:
        text = "all priority and priorityClassName values must be identical, detected multiple values"
        out.append(invalid("spec", None, text))


def _priorities_below(template: CompositePodGroupTemplate) -> Iterator[tuple[str, int | None]]:
    yield template.priority_class_name, template.priority
    for group in template.pod_group_templates:
        yield group.priority_class_name, group.priority
    for child in template.composite_pod_group_templates:
        yield from _priorities_below(child)


def _without_children(templates: tuple[CompositePodGroupTemplate, ...], path: str, out: Errors) -> None:
    for index, template in enumerate(templates):
        here = f"{path}.compositePodGroupTemplates[{index}]"
        if not template.pod_group_templates and not template.composite_pod_group_templates:
            text = "must have at least one child PodGroupTemplate or CompositePodGroupTemplate"
            out.append(invalid(here, template.name, text))
        _without_children(template.composite_pod_group_templates, here, out)


def pool_request_status(request: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest, out: Errors) -> None:
    """The status of a request, which is written once."""
    if old.status is not None:
        if not semantically_equal(request.status, old.status):
            out.append(invalid("status", request.status, IMMUTABLE_TEXT))
    elif request.status is not None:
        conditions(request.status.conditions, "status.conditions", out)
