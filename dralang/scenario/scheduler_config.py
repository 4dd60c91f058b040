"""What a spec says about the scheduler: a KubeSchedulerConfiguration, checked and reduced to what is modelled."""

from msgspec import Struct


class SchedulerConfig(Struct, frozen=True, kw_only=True):
    """One profile of the scheduler; times in milliseconds.

    Attributes:
        name: `schedulerName` of the profile.
        initial_backoff: `podInitialBackoffSeconds`.
        max_backoff: `podMaxBackoffSeconds`.
        percentage_of_nodes_to_score: 0 lets the size of the cluster decide.
        binding_timeout: of DynamicResourcesArgs.
        plugins: the modelled plugins that are on, in the order in which they are asked.
        off_at: extension points at which one of them is not asked all the same: point and plugin, sorted.
        weights: of score plugins, where they differ from the default; sorted.
    """

    name: str
    initial_backoff: int
    max_backoff: int
    percentage_of_nodes_to_score: int
    binding_timeout: int
    plugins: tuple[str, ...]
    off_at: tuple[tuple[str, str], ...]
    weights: tuple[tuple[str, int], ...]
