"""What can be set about the scheduler: the part of KubeSchedulerConfiguration that is modelled."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

from dralang.scenario.scheduler_config import PluginArguments


class SchedulerSettings(Struct, frozen=True, kw_only=True):
    """One profile of the scheduler; times in milliseconds.

    Attributes:
        name: `schedulerName` of the profile.
        initial_backoff: `podInitialBackoffSeconds`.
        max_backoff: `podMaxBackoffSeconds`.
        percentage_of_nodes_to_score: 0 lets the size of the cluster decide.
        ties: of nodes with the same highest score, and of those where preemption hurts as little, the one that comes
            so many places after the usual one is taken, round and round. A real scheduler looks at nodes side by side:
            the order in which it finds equal ones, on which its choice rests, is that in which its threads are done.
        plugins: those that are on, in the order in which they are asked; None for the default profile.
        off_at: extension points (`filter`, `score`, ...) at which a plugin is not asked: point and plugin.
        weights: of score plugins, where they differ from the default.
        arguments: of the plugins.
        memory: how much of what was found out before is used again: as pays off, as much as can be, or nothing. What
            happens does not depend on it; fuzzes compare.
    """

    name: str = "default-scheduler"
    initial_backoff: int = 1_000
    max_backoff: int = 10_000
    percentage_of_nodes_to_score: int = 0
    ties: int = 0
    plugins: tuple[str, ...] | None = None
    off_at: Collection[tuple[str, str]] = ()
    weights: Mapping[str, int] = MappingProxyType({})
    arguments: PluginArguments = PluginArguments()
    memory: Literal["usual", "eager", "none"] = "usual"


DEFAULT_SETTINGS = SchedulerSettings()
