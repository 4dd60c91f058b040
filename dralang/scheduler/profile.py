"""The plugins of the one profile, in the order of the default profile or as a configuration has them.

Source: kubernetes pkg/scheduler/apis/config/v1/default_plugins.go.
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

from dralang.features import FeatureGates
from dralang.scheduler.declared_features import NodeDeclaredFeatures
from dralang.scheduler.dynamicresources.device_counts import ManagedDeviceCounts
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.framework import Plugin
from dralang.scheduler.image_locality import ImageLocality
from dralang.scheduler.node_info import NodeCache, NodeInfo
from dralang.scheduler.node_plugins import NodeAffinity, NodeName, NodePorts, NodeUnschedulable, TaintToleration
from dralang.scheduler.pod_affinity import InterPodAffinity
from dralang.scheduler.resource_plugins import BalancedAllocation, NodeResourcesFit
from dralang.scheduler.scheduling_gates import SchedulingGates
from dralang.scheduler.settings import SchedulerSettings
from dralang.scheduler.topology_spread import PodTopologySpread


class _Delegates(Protocol):
    def __call__(self, resource: str, node: NodeInfo | None, /) -> bool: ...


class _NamespaceLabels(Protocol):
    def __call__(self, name: str, /) -> Mapping[str, str]: ...


class Parts(NamedTuple):
    """What plugins look at, and the plugins that the scheduler itself talks to.

    Attributes:
        cache: the nodes.
        manager: claims, slices and classes.
        dynamic_resources: the plugin for claims.
        preemption: the plugin that evicts pods.
        delegates: whether devices serve a resource name instead of a node.
        namespace_labels: the labels of a namespace.
    """

    cache: NodeCache
    manager: DRAManager
    dynamic_resources: Plugin
    preemption: Plugin
    delegates: _Delegates
    namespace_labels: _NamespaceLabels


def plugins_of(settings: SchedulerSettings, features: FeatureGates, parts: Parts) -> list[Plugin]:
    """The plugins that are on, with their weights and extension points."""
    plugins = _default_profile(settings, features, parts)
    for plugin in plugins if settings.weights or settings.off_at else ():
        plugin.weight = settings.weights.get(plugin.name, type(plugin).weight)
        for point, name in settings.off_at:
            if name == plugin.name:
                plugin.switch_off(point)
    if settings.plugins is None:
        return plugins
    by_name = {plugin.name: plugin for plugin in plugins}
    return [by_name[name] for name in settings.plugins if name in by_name]


def _default_profile(settings: SchedulerSettings, features: FeatureGates, parts: Parts) -> list[Plugin]:
    arguments = settings.arguments
    cache = parts.cache
    devices = ManagedDeviceCounts(parts.manager) if features.enabled("DRAExtendedResource") else None
    ignored = (arguments.ignored_resources, arguments.ignored_resource_groups)
    scored = frozenset([name for name, _ in arguments.fit.resources]).union(arguments.balanced_resources)
    plugins: list[Plugin] = [
        SchedulingGates(),
        NodeName(),
        NodeUnschedulable(),
        TaintToleration(cache),
        NodeAffinity(),
        NodePorts(),
        NodeResourcesFit(parts.delegates, cache.is_offered, arguments.fit, devices, ignored, scored),
        PodTopologySpread(cache),
        InterPodAffinity(
            cache,
            parts.namespace_labels,
            hard_weight=arguments.hard_pod_affinity_weight,
            ignores_others=arguments.ignore_preferred_terms_of_existing_pods,
        ),
        parts.dynamic_resources,
        parts.preemption,
        BalancedAllocation(arguments.balanced_resources, devices),
        ImageLocality(cache),
    ]
    if features.enabled("NodeDeclaredFeatures"):
        plugins.append(NodeDeclaredFeatures(features.version))
    return plugins
