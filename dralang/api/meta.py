"""Object metadata and the other shared types of meta/v1.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from collections.abc import Mapping

from msgspec import field

from dralang.api.base import Always, ApiType, Int64, Raw, Time
from dralang.api.enums import ConditionStatus, LabelSelectorOperator, ManagedFieldsOperationType


class OwnerReference(ApiType, frozen=True):
    """meta/v1 OwnerReference."""

    api_version: Always[str] = ""
    kind: Always[str] = ""
    name: Always[str] = ""
    uid: Always[str] = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(ApiType, frozen=True):
    """meta/v1 ManagedFieldsEntry."""

    manager: str = ""
    operation: ManagedFieldsOperationType = ""
    api_version: str = ""
    time: Time | None = None
    fields_type: str = ""
    fields_v1: Raw | None = None
    subresource: str = ""


class ObjectMeta(ApiType, frozen=True):
    """meta/v1 ObjectMeta."""

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    self_link: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    creation_timestamp: Time | None = None
    deletion_timestamp: Time | None = None
    deletion_grace_period_seconds: Int64 | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    managed_fields: tuple[ManagedFieldsEntry, ...] = ()


class Condition(ApiType, frozen=True):
    """meta/v1 Condition."""

    type: Always[str] = ""
    status: Always[ConditionStatus] = ""
    observed_generation: Int64 = 0
    last_transition_time: Always[Time | None] = None
    reason: Always[str] = ""
    message: Always[str] = ""


class LabelSelectorRequirement(ApiType, frozen=True):
    """meta/v1 LabelSelectorRequirement."""

    key: Always[str] = ""
    operator: Always[LabelSelectorOperator] = ""
    values: tuple[str, ...] = ()


class LabelSelector(ApiType, frozen=True):
    """meta/v1 LabelSelector."""

    match_labels: Mapping[str, str] = field(default_factory=dict)
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
