"""Object metadata and conditions.

Source: apimachinery's pkg/api/validation and pkg/apis/meta/v1/validation, pkg/apis/core/validation (1.37).
"""

from collections.abc import Callable, Mapping

from dralang.api.meta import Condition, ObjectMeta, OwnerReference
from dralang.api.validation import formats, limits
from dralang.api.validation.errors import (
    IMMUTABLE_TEXT,
    Errors,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from dralang.values.names import byte_length, dns_label_errors, dns_subdomain_errors, label_key_errors

_STANDARD_FINALIZERS = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_CONDITION_STATUSES = ("True", "False", "Unknown")
NameErrors = Callable[[str], tuple[str, ...]]


def generate_name_errors(prefix: str, name_errors: NameErrors) -> tuple[str, ...]:
    """For the beginning of a name: a hyphen at its end is fine, since more will follow."""
    return name_errors(prefix[:-2] + "a") if len(prefix) > 1 and prefix.endswith("-") else name_errors(prefix)


def object_meta(
    meta: ObjectMeta,
    path: str,
    out: Errors,
    *,
    namespaced: bool,
    name_errors: NameErrors = dns_subdomain_errors,
    covered_name: bool = False,
) -> None:
    """The metadata of an object that is being created."""
    if meta.generate_name and not covered_name:
        texts = generate_name_errors(meta.generate_name, name_errors)
        out += [invalid(f"{path}.generateName", meta.generate_name, text) for text in texts]
    if not meta.name:
        out.append(required(f"{path}.name", "name or generateName is required"))
    else:
        out += [invalid(f"{path}.name", meta.name, text, covered=covered_name) for text in name_errors(meta.name)]
    if namespaced:
        if not meta.namespace:
            out.append(required(f"{path}.namespace"))
        else:
            out += [invalid(f"{path}.namespace", meta.namespace, text) for text in dns_label_errors(meta.namespace)]
    elif meta.namespace:
        out.append(forbidden(f"{path}.namespace", "not allowed on this type"))
    if meta.generation < 0:
        out.append(invalid(f"{path}.generation", meta.generation, "must be greater than or equal to 0"))
    labels(meta.labels, f"{path}.labels", out)
    annotations(meta.annotations, f"{path}.annotations", out)
    owner_references(meta.owner_references, f"{path}.ownerReferences", out)
    finalizers(meta.finalizers, f"{path}.finalizers", out)


def object_meta_update(new: ObjectMeta, old: ObjectMeta, path: str, out: Errors) -> None:
    """The metadata of an object that is being changed."""
    if old.deletion_timestamp is not None:
        added = sorted(set(new.finalizers) - set(old.finalizers))
        if added:
            text = "no new finalizers can be added if the object is being deleted, found new finalizers "
            out.append(forbidden(f"{path}.finalizers", text + ", ".join(added)))
    if not new.resource_version:
        out.append(invalid(f"{path}.resourceVersion", "", "must be specified for an update"))
    for name, now, before in (
        ("name", new.name, old.name),
        ("namespace", new.namespace, old.namespace),
        ("uid", new.uid, old.uid),
        ("creationTimestamp", new.creation_timestamp, old.creation_timestamp),
        ("deletionTimestamp", new.deletion_timestamp, old.deletion_timestamp),
        (
            "deletionGracePeriodSeconds",
            new.deletion_grace_period_seconds,
            old.deletion_grace_period_seconds,
        ),
    ):
        if now != before:
            out.append(invalid(f"{path}.{name}", now, IMMUTABLE_TEXT))
    labels(new.labels, f"{path}.labels", out)
    annotations(new.annotations, f"{path}.annotations", out)
    owner_references(new.owner_references, f"{path}.ownerReferences", out)


def labels(entries: Mapping[str, str], path: str, out: Errors) -> None:
    """Names and values of labels, all reported on the map."""
    for name, value in entries.items():
        formats.label_key(name, path, out)
        formats.label_value(value, path, out)


def annotations(entries: Mapping[str, str], path: str, out: Errors) -> None:
    """Names of annotations in any case, and their total size."""
    for name in entries:
        out += [invalid(path, name, text) for text in label_key_errors(name.lower())]
    size = sum(byte_length(name) + byte_length(value) for name, value in entries.items())
    if size > limits.ANNOTATIONS_MAX_SIZE:
        out.append(too_long(path, limits.ANNOTATIONS_MAX_SIZE))


def owner_references(owners: tuple[OwnerReference, ...], path: str, out: Errors) -> None:
    """Owners, of which one may be the controller."""
    controller = ""
    for index, owner in enumerate(owners):
        here = f"{path}[{index}]"
        if not owner.api_version:
            out.append(required(f"{here}.apiVersion", "must not be empty"))
        elif owner.api_version.count("/") > 1 or owner.api_version.endswith("/"):
            text = "must be <group>/<version> or <version>"
            out.append(invalid(f"{here}.apiVersion", owner.api_version, text))
        for name, value in (("kind", owner.kind), ("name", owner.name), ("uid", owner.uid)):
            if not value:
                out.append(required(f"{here}.{name}", "must not be empty"))
        if (owner.api_version, owner.kind) == ("v1", "Event"):
            out.append(invalid(here, owner, "/v1, Kind=Event is disallowed from being an owner"))
        if owner.controller:
            if controller:
                text = (
                    'Only one reference can have Controller set to true. Found "true" in references for '
                    f"{controller} and {owner.kind}/{owner.name}"
                )
                out.append(invalid(path, owners, text))
            else:
                controller = f"{owner.kind}/{owner.name}"


def finalizers(names: tuple[str, ...], path: str, out: Errors) -> None:
    """Finalizers: qualified, or one of the three that Kubernetes itself uses."""
    for name in names:
        formats.label_key(name, path, out)
    if "orphan" in names and "foregroundDeletion" in names:
        out.append(invalid(path, names, "finalizer orphan and foregroundDeletion cannot be both set"))
    for index, name in enumerate(names):
        if "/" not in name and name not in _STANDARD_FINALIZERS:
            text = "name is neither a standard finalizer name nor is it fully qualified"
            out.append(invalid(f"{path}[{index}]", name, text))


_TEMPLATE_FIELDS = frozenset({"labels", "annotations"})


def template_meta(meta: ObjectMeta, path: str, out: Errors) -> None:
    """The metadata of a template: labels and annotations, and nothing else."""
    annotations(meta.annotations, f"{path}.annotations", out)
    labels(meta.labels, f"{path}.labels", out)
    empty = ObjectMeta()
    for attribute in ObjectMeta.__struct_fields__:
        if attribute not in _TEMPLATE_FIELDS and getattr(meta, attribute) != getattr(empty, attribute):
            out.append(forbidden(f"{path}.{_reflected(attribute)}", "cannot be set"))


def _reflected(attribute: str) -> str:
    """The Go field with a small first letter: these errors are made by reflection (``UID`` becomes ``uID``)."""
    if attribute == "uid":
        return "uID"
    first, *rest = attribute.split("_")
    return first + "".join(word.capitalize() for word in rest)


def conditions(items: tuple[Condition, ...], path: str, out: Errors) -> None:
    """Conditions, one of a type."""
    seen: set[str] = set()
    for index, condition in enumerate(items):
        here = f"{path}[{index}]"
        if condition.type in seen:
            out.append(duplicate(here, condition.type))
        seen.add(condition.type)
        _condition(condition, here, out)


def _condition(condition: Condition, path: str, out: Errors) -> None:
    if not condition.type:
        out.append(required(f"{path}.type", "is required"))
    else:
        formats.label_key(condition.type, f"{path}.type", out)
    if not condition.status:
        out.append(required(f"{path}.status"))
    elif condition.status not in _CONDITION_STATUSES:
        out.append(not_supported(f"{path}.status", condition.status, _CONDITION_STATUSES))
    if condition.observed_generation < 0:
        text = "must be greater than or equal to zero"
        out.append(invalid(f"{path}.observedGeneration", condition.observed_generation, text))
    if condition.last_transition_time is None:
        out.append(required(f"{path}.lastTransitionTime"))
    if not condition.reason:
        out.append(required(f"{path}.reason"))
    else:
        formats.condition_reason(condition.reason, f"{path}.reason", out)
        if byte_length(condition.reason) > limits.CONDITION_REASON_MAX_LENGTH:
            out.append(too_long(f"{path}.reason", limits.CONDITION_REASON_MAX_LENGTH))
    if byte_length(condition.message) > limits.CONDITION_MESSAGE_MAX_LENGTH:
        out.append(too_long(f"{path}.message", limits.CONDITION_MESSAGE_MAX_LENGTH))
