"""Namespace.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from dralang.api.base import Always, ApiType, Time
from dralang.api.enums import ConditionStatus, NamespacePhase
from dralang.api.meta import ObjectMeta


class NamespaceSpec(ApiType, frozen=True):
    """core/v1 NamespaceSpec."""

    finalizers: tuple[str, ...] = ()


class NamespaceCondition(ApiType, frozen=True):
    """core/v1 NamespaceCondition."""

    type: Always[str] = ""
    status: Always[ConditionStatus] = ""
    last_transition_time: Time | None = None
    reason: str = ""
    message: str = ""


class NamespaceStatus(ApiType, frozen=True):
    """core/v1 NamespaceStatus."""

    phase: NamespacePhase = ""
    conditions: tuple[NamespaceCondition, ...] = ()


class Namespace(ApiType, frozen=True):
    """core/v1 Namespace."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[NamespaceSpec] = NamespaceSpec()
    status: Always[NamespaceStatus] = NamespaceStatus()
