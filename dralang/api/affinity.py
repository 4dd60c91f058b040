"""Node selectors, taints, tolerations, affinity and topology spread.

Field names and types are those of the Kubernetes API; see ``base`` for the markers.
"""

from dralang.api.base import Always, ApiType, Int32, Int64, Time
from dralang.api.enums import (
    NodeInclusionPolicy,
    NodeSelectorOperator,
    TaintEffect,
    TolerationOperator,
    UnsatisfiableConstraintAction,
)
from dralang.api.meta import LabelSelector


class NodeSelectorRequirement(ApiType, frozen=True):
    """core/v1 NodeSelectorRequirement."""

    key: Always[str] = ""
    operator: Always[NodeSelectorOperator] = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(ApiType, frozen=True):
    """core/v1 NodeSelectorTerm."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(ApiType, frozen=True):
    """core/v1 NodeSelector."""

    node_selector_terms: Always[tuple[NodeSelectorTerm, ...]] = ()


class PreferredSchedulingTerm(ApiType, frozen=True):
    """core/v1 PreferredSchedulingTerm."""

    weight: Always[Int32] = 0
    preference: Always[NodeSelectorTerm] = NodeSelectorTerm()


class NodeAffinity(ApiType, frozen=True):
    """core/v1 NodeAffinity."""

    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] = ()


class PodAffinityTerm(ApiType, frozen=True):
    """core/v1 PodAffinityTerm."""

    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] = ()
    topology_key: Always[str] = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] = ()
    mismatch_label_keys: tuple[str, ...] = ()


class WeightedPodAffinityTerm(ApiType, frozen=True):
    """core/v1 WeightedPodAffinityTerm."""

    weight: Always[Int32] = 0
    pod_affinity_term: Always[PodAffinityTerm] = PodAffinityTerm()


class PodAffinity(ApiType, frozen=True):
    """core/v1 PodAffinity."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class PodAntiAffinity(ApiType, frozen=True):
    """core/v1 PodAntiAffinity."""

    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] = ()
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] = ()


class Affinity(ApiType, frozen=True):
    """core/v1 Affinity."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class Toleration(ApiType, frozen=True):
    """core/v1 Toleration."""

    key: str = ""
    operator: TolerationOperator = ""
    value: str = ""
    effect: TaintEffect = ""
    toleration_seconds: Int64 | None = None


class TopologySpreadConstraint(ApiType, frozen=True):
    """core/v1 TopologySpreadConstraint."""

    max_skew: Always[Int32] = 0
    topology_key: Always[str] = ""
    when_unsatisfiable: Always[UnsatisfiableConstraintAction] = ""
    label_selector: LabelSelector | None = None
    min_domains: Int32 | None = None
    node_affinity_policy: NodeInclusionPolicy | None = None
    node_taints_policy: NodeInclusionPolicy | None = None
    match_label_keys: tuple[str, ...] = ()


class Taint(ApiType, frozen=True):
    """core/v1 Taint."""

    key: Always[str] = ""
    value: str = ""
    effect: Always[TaintEffect] = ""
    time_added: Time | None = None
