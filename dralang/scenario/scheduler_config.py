"""What a spec says about the scheduler: a KubeSchedulerConfiguration, checked and reduced to what is modelled."""

from msgspec import Struct

CPU_AND_MEMORY = ("cpu", "memory")


class FitScoring(Struct, frozen=True, kw_only=True):
    """`scoringStrategy` of NodeResourcesFitArgs.

    Attributes:
        type: LeastAllocated, MostAllocated or RequestedToCapacityRatio.
        resources: what is looked at, with weights.
        shape: for RequestedToCapacityRatio: utilization (0 to 100) and score (0 to 10), by utilization.
    """

    type: str = "LeastAllocated"
    resources: tuple[tuple[str, int], ...] = tuple((name, 1) for name in CPU_AND_MEMORY)
    shape: tuple[tuple[int, int], ...] = ()


class PluginArguments(Struct, frozen=True, kw_only=True):
    """`pluginConfig`; times in milliseconds.

    Attributes:
        binding_timeout: of DynamicResourcesArgs.
        filter_timeout: of DynamicResourcesArgs; 0 for none.
        fit: of NodeResourcesFitArgs.
        ignored_resources: of NodeResourcesFitArgs: extended resources that are not counted.
        ignored_resource_groups: of NodeResourcesFitArgs: the same by what stands before the slash.
        balanced_resources: of NodeResourcesBalancedAllocationArgs.
        hard_pod_affinity_weight: of InterPodAffinityArgs.
        ignore_preferred_terms_of_existing_pods: of InterPodAffinityArgs.
    """

    binding_timeout: int = 600_000
    filter_timeout: int = 10_000
    fit: FitScoring = FitScoring()
    ignored_resources: frozenset[str] = frozenset()
    ignored_resource_groups: frozenset[str] = frozenset()
    balanced_resources: tuple[str, ...] = CPU_AND_MEMORY
    hard_pod_affinity_weight: int = 1
    ignore_preferred_terms_of_existing_pods: bool = False


class SchedulerConfig(Struct, frozen=True, kw_only=True):
    """One profile of the scheduler; times in milliseconds.

    Attributes:
        name: `schedulerName` of the profile.
        initial_backoff: `podInitialBackoffSeconds`.
        max_backoff: `podMaxBackoffSeconds`.
        percentage_of_nodes_to_score: 0 lets the size of the cluster decide.
        ties: which one of several equal nodes is taken, counted from the usual one; see ``SchedulerSettings``.
        plugins: the modelled plugins that are on, in the order in which they are asked.
        off_at: extension points at which one of them is not asked all the same: point and plugin, sorted.
        weights: of score plugins, where they differ from the default; sorted.
        arguments: of the plugins.
    """

    name: str
    initial_backoff: int
    max_backoff: int
    percentage_of_nodes_to_score: int
    ties: int = 0
    plugins: tuple[str, ...]
    off_at: tuple[tuple[str, str], ...]
    weights: tuple[tuple[str, int], ...]
    arguments: PluginArguments = PluginArguments()
