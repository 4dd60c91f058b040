"""PodGroup and Workload.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from dralang.api.base import Always, ApiType, Int32
from dralang.api.enums import PreemptionPolicy
from dralang.api.meta import Condition, ObjectMeta


class WorkloadReference(ApiType, frozen=True):
    """scheduling/v1beta1 WorkloadReference."""

    workload_name: Always[str] = ""
    template_name: Always[str] = ""


class BasicSchedulingPolicy(ApiType, frozen=True):
    """scheduling/v1beta1 BasicSchedulingPolicy."""


class GangSchedulingPolicy(ApiType, frozen=True):
    """scheduling/v1beta1 GangSchedulingPolicy."""

    min_count: Always[Int32] = 0


class PodGroupSchedulingPolicy(ApiType, frozen=True):
    """scheduling/v1beta1 PodGroupSchedulingPolicy."""

    basic: BasicSchedulingPolicy | None = None
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(ApiType, frozen=True):
    """scheduling/v1beta1 TopologyConstraint."""

    key: Always[str] = ""


class PodGroupSchedulingConstraints(ApiType, frozen=True):
    """scheduling/v1beta1 PodGroupSchedulingConstraints."""

    topology: tuple[TopologyConstraint, ...] = ()


class PodGroupResourceClaim(ApiType, frozen=True):
    """scheduling/v1beta1 PodGroupResourceClaim."""

    name: Always[str] = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class SingleDisruptionMode(ApiType, frozen=True):
    """scheduling/v1beta1 SingleDisruptionMode."""


class AllDisruptionMode(ApiType, frozen=True):
    """scheduling/v1beta1 AllDisruptionMode."""


class DisruptionMode(ApiType, frozen=True):
    """scheduling/v1beta1 DisruptionMode."""

    single: SingleDisruptionMode | None = None
    all: AllDisruptionMode | None = None


class PodGroupSpec(ApiType, frozen=True):
    """scheduling/v1beta1 PodGroupSpec."""

    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_policy: Always[PodGroupSchedulingPolicy] = PodGroupSchedulingPolicy()
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: PreemptionPolicy | None = None


class PodGroupResourceClaimStatus(ApiType, frozen=True):
    """scheduling/v1beta1 PodGroupResourceClaimStatus."""

    name: Always[str] = ""
    resource_claim_name: str | None = None


class PodGroupStatus(ApiType, frozen=True):
    """scheduling/v1beta1 PodGroupStatus."""

    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: tuple[PodGroupResourceClaimStatus, ...] = ()


class PodGroup(ApiType, frozen=True):
    """scheduling/v1beta1 PodGroup."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[PodGroupSpec] = PodGroupSpec()
    status: Always[PodGroupStatus] = PodGroupStatus()


class WorkloadObjectReference(ApiType, frozen=True):
    """scheduling/v1beta1 WorkloadObjectReference."""

    api_group: str = ""
    kind: Always[str] = ""
    name: Always[str] = ""


class PodGroupTemplate(ApiType, frozen=True):
    """scheduling/v1beta1 PodGroupTemplate."""

    name: Always[str] = ""
    scheduling_policy: Always[PodGroupSchedulingPolicy] = PodGroupSchedulingPolicy()
    scheduling_constraints: Always[PodGroupSchedulingConstraints | None] = None
    resource_claims: tuple[PodGroupResourceClaim, ...] = ()
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: PreemptionPolicy | None = None


class CompositeBasicSchedulingPolicy(ApiType, frozen=True):
    """scheduling/v1beta1 CompositeBasicSchedulingPolicy."""


class CompositeGangSchedulingPolicy(ApiType, frozen=True):
    """scheduling/v1beta1 CompositeGangSchedulingPolicy."""

    min_group_count: Always[Int32] = 0


class CompositePodGroupSchedulingPolicy(ApiType, frozen=True):
    """scheduling/v1beta1 CompositePodGroupSchedulingPolicy."""

    basic: CompositeBasicSchedulingPolicy | None = None
    gang: CompositeGangSchedulingPolicy | None = None


class CompositePodGroupSchedulingConstraints(ApiType, frozen=True):
    """scheduling/v1beta1 CompositePodGroupSchedulingConstraints."""

    topology: tuple[TopologyConstraint, ...] = ()


class SingleCompositeDisruptionMode(ApiType, frozen=True):
    """scheduling/v1beta1 SingleCompositeDisruptionMode."""


class AllCompositeDisruptionMode(ApiType, frozen=True):
    """scheduling/v1beta1 AllCompositeDisruptionMode."""


class CompositeDisruptionMode(ApiType, frozen=True):
    """scheduling/v1beta1 CompositeDisruptionMode."""

    single: SingleCompositeDisruptionMode | None = None
    all: AllCompositeDisruptionMode | None = None


class CompositePodGroupTemplate(ApiType, frozen=True):
    """scheduling/v1beta1 CompositePodGroupTemplate."""

    name: Always[str] = ""
    scheduling_policy: Always[CompositePodGroupSchedulingPolicy] = CompositePodGroupSchedulingPolicy()
    scheduling_constraints: CompositePodGroupSchedulingConstraints | None = None
    disruption_mode: CompositeDisruptionMode | None = None
    priority_class_name: str = ""
    priority: Int32 | None = None
    preemption_policy: PreemptionPolicy | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] = ()
    composite_pod_group_templates: tuple["CompositePodGroupTemplate", ...] = ()


class WorkloadSpec(ApiType, frozen=True):
    """scheduling/v1beta1 WorkloadSpec."""

    controller_ref: WorkloadObjectReference | None = None
    pod_group_templates: Always[tuple[PodGroupTemplate, ...]] = ()
    composite_pod_group_templates: tuple[CompositePodGroupTemplate, ...] = ()


class Workload(ApiType, frozen=True):
    """scheduling/v1beta1 Workload."""

    metadata: Always[ObjectMeta] = ObjectMeta()
    spec: Always[WorkloadSpec] = WorkloadSpec()
