"""PodDisruptionBudget.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from collections.abc import Mapping

from msgspec import field

from dralang.api.base import Always, ApiType, Int32, Int64, IntOrString, Time
from dralang.api.enums import UnhealthyPodEvictionPolicyType
from dralang.api.meta import Condition, LabelSelector, ObjectMeta


class PodDisruptionBudgetSpec(ApiType, frozen=True):
    """policy/v1 PodDisruptionBudgetSpec."""

    min_available: IntOrString | None = None
    selector: LabelSelector | None = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: UnhealthyPodEvictionPolicyType | None = None


class PodDisruptionBudgetStatus(ApiType, frozen=True):
    """policy/v1 PodDisruptionBudgetStatus."""

    observed_generation: Int64 = 0
    disrupted_pods: Mapping[str, Time] = field(default_factory=dict)
    disruptions_allowed: Always[Int32] = 0
    current_healthy: Always[Int32] = 0
    desired_healthy: Always[Int32] = 0
    expected_pods: Always[Int32] = 0
    conditions: tuple[Condition, ...] = ()


class PodDisruptionBudget(ApiType, frozen=True):
    """policy/v1 PodDisruptionBudget."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[PodDisruptionBudgetSpec] = PodDisruptionBudgetSpec()
    status: Always[PodDisruptionBudgetStatus] = PodDisruptionBudgetStatus()
