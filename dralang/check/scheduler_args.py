"""`pluginConfig` of a scheduler configuration: the arguments of plugins.

Source: kubernetes pkg/scheduler/apis/config/v1/defaults.go, .../config/validation/validation_pluginargs.go.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import structs

from dralang.api.located import Located
from dralang.check.scheduler_fields import (
    Fields,
    entries_of,
    items_of,
    known_entries,
    not_modelled,
    plugin_name,
    refused,
    unknown,
    whole_number,
)
from dralang.check.scheduler_plugins import DEFAULT_ARGS, DEFAULT_PLUGINS
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.features import FeatureGates
from dralang.manifest.objects import CONFIGURATION_GROUP, CONFIGURATION_VERSION
from dralang.scenario.scheduler_config import CPU_AND_MEMORY, FitScoring, PluginArguments
from dralang.values.duration import parse_duration

_API_VERSION: Final = f"{CONFIGURATION_GROUP}/{CONFIGURATION_VERSION}"
_FILTER_GATES: Final = ("DRASchedulerFilterTimeout",)
_BINDING_GATES: Final = ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
_STRATEGIES: Final = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")
_RATIO: Final = "RequestedToCapacityRatio"


def plugin_arguments(found: Located | None, features: FeatureGates | None, log: DiagnosticLog) -> PluginArguments:
    """The arguments of all plugins; with problems in the log (DRA0313), what could be understood of them."""
    reader = _Arguments(features, log)
    seen: dict[str, Span] = {}
    for item in items_of(found, "pluginConfig", log) if found is not None else ():
        entries = known_entries(item, "an entry of `pluginConfig`", ("name", "args"), log)
        name = plugin_name(item, log)
        if name is None:
            continue
        if name in seen:
            log.add(refused(f"`pluginConfig` names `{name}` twice", item.span))
        seen[name] = item.span
        args = entries.get("args")
        if args is not None and args.value is not None:
            reader.read(name, entries["name"].span, args)
    return reader.result


class _Arguments:
    """Reads the arguments of one plugin after the other; private to this module."""

    def __init__(self, features: FeatureGates | None, log: DiagnosticLog) -> None:
        self.features = features
        self.log = log
        self.result = PluginArguments()

    def read(self, plugin: str, name: Span, args: Located) -> None:
        """The arguments of a plugin; of most only what holds anyway may be said."""
        if plugin not in DEFAULT_PLUGINS:
            self.log.add(not_modelled(plugin, name))
            return
        found = self._entries(plugin, args)
        match plugin:
            case "DynamicResources":
                self._dynamic_resources(found)
            case "NodeResourcesFit":
                self._fit(found)
            case "NodeResourcesBalancedAllocation":
                self._balanced(found)
            case "InterPodAffinity":
                self._affinity(found)
            case _:
                self._only_defaults(plugin, found)

    def _entries(self, plugin: str, args: Located) -> dict[str, Located]:
        kind = f"{plugin}Args"
        found = dict(entries_of(args, f"`args` of {kind}", self.log))
        for name, expected in (("kind", kind), ("apiVersion", _API_VERSION)):
            said = found.pop(name, None)
            if said is not None and said.value != expected:
                self.log.add(refused(f"`{name}` is `{expected}` here", said.span))
        return found

    def _known(self, plugin: str, found: Fields, known: Sequence[str]) -> Fields:
        for name, value in found.items():
            if name not in known:
                self.log.add(unknown(f"argument of {plugin}", name, value.key_span or value.span, known))
        return found

    def _dynamic_resources(self, found: Fields) -> None:
        self._known("DynamicResources", found, ("bindingTimeout", "filterTimeout"))
        if "filterTimeout" in found:
            value = self._duration("filterTimeout", found["filterTimeout"], 0, _FILTER_GATES)
            if value is not None:
                self.result = structs.replace(self.result, filter_timeout=value)
        if "bindingTimeout" in found:
            value = self._duration("bindingTimeout", found["bindingTimeout"], 1000, _BINDING_GATES)
            if value is not None:
                self.result = structs.replace(self.result, binding_timeout=value)

    def _duration(self, name: str, found: Located, minimum: int, gates: tuple[str, ...]) -> int | None:
        off = [gate for gate in gates if self.features is not None and not self.features.enabled(gate)]
        if off:
            self.log.add(refused(f"`{name}` needs gate `{off[0]}`, which is off", found.key_span or found.span))
        try:
            value = parse_duration(found.value) if isinstance(found.value, str) else None
        except ValueError:
            value = None
        if value is None or value < minimum:
            least = ", at least one second" if minimum else ""
            self.log.add(refused(f"`{name}` is a duration such as `30s`{least}", found.span))
            return None
        return value

    def _fit(self, found: Fields) -> None:
        known = ("scoringStrategy", "ignoredResources", "ignoredResourceGroups")
        self._known("NodeResourcesFit", found, known)
        groups = self._names(found.get("ignoredResourceGroups"), "ignoredResourceGroups")
        for name, span in groups.items():
            if "/" in name:
                self.log.add(refused("the name of a group of resources has no `/`", span))
        self.result = structs.replace(
            self.result,
            fit=self._scoring(found.get("scoringStrategy")),
            ignored_resources=frozenset(self._names(found.get("ignoredResources"), "ignoredResources")),
            ignored_resource_groups=frozenset(groups),
        )

    def _names(self, found: Located | None, what: str) -> dict[str, Span]:
        result = {}
        for item in items_of(found, what, self.log) if found is not None else ():
            if isinstance(item.value, str) and item.value:
                result[item.value] = item.span
            else:
                self.log.add(refused(f"`{what}` is a list of names", item.span))
        return result

    def _scoring(self, found: Located | None) -> FitScoring:
        if found is None:
            return FitScoring()
        known = ("type", "resources", "requestedToCapacityRatio")
        entries = known_entries(found, "`scoringStrategy`", known, self.log)
        kind = entries.get("type")
        name = kind.value if kind is not None and isinstance(kind.value, str) else ""
        if name not in _STRATEGIES:
            listed = ", ".join([f"`{each}`" for each in _STRATEGIES])
            place = found.span if kind is None else kind.span
            self.log.add(refused(f"`type` of a scoring strategy is one of {listed}", place, expected=_STRATEGIES))
            return FitScoring()
        resources = self._resources(entries.get("resources"), highest=100)
        return FitScoring(
            type=name,
            resources=resources or FitScoring().resources,
            shape=self._shape(name, entries.get("requestedToCapacityRatio"), found.span),
        )

    def _resources(self, found: Located | None, *, highest: int) -> tuple[tuple[str, int], ...]:
        result: dict[str, int] = {}
        for item in items_of(found, "resources", self.log) if found is not None else ():
            entries = known_entries(item, "a resource", ("name", "weight"), self.log)
            name = entries.get("name")
            if name is None or not isinstance(name.value, str) or not name.value:
                self.log.add(refused("a resource has a `name`", item.span))
            elif name.value in result:
                self.log.add(refused(f"resource `{name.value}` stands twice", name.span))
            else:
                weight = whole_number(entries.get("weight"), "weight", 1, 0, highest, self.log)
                result[name.value] = weight or 1
        return tuple(result.items())

    def _shape(self, kind: str, found: Located | None, strategy: Span) -> tuple[tuple[int, int], ...]:
        if kind != _RATIO:
            if found is not None and found.value is not None:
                text = f"`requestedToCapacityRatio` belongs to strategy `{_RATIO}`"
                self.log.add(refused(text, found.key_span or found.span))
            return ()
        entries = known_entries(found, "`requestedToCapacityRatio`", ("shape",), self.log) if found is not None else {}
        listed = entries.get("shape")
        points = items_of(listed, "shape", self.log) if listed is not None else ()
        shape: list[tuple[int, int]] = []
        for item in points:
            at = known_entries(item, "a point of `shape`", ("utilization", "score"), self.log)
            utilization = whole_number(at.get("utilization"), "utilization", 0, 0, 100, self.log)
            score = whole_number(at.get("score"), "score", 0, 0, 10, self.log)
            if shape and shape[-1][0] >= utilization:
                self.log.add(refused("the points of `shape` stand in the order of their `utilization`", item.span))
                continue
            shape.append((utilization, score))
        if not shape:
            way_out = "write `requestedToCapacityRatio: { shape: [{ utilization: 0, score: 0 }, ...] }`"
            self.log.add(refused(f"strategy `{_RATIO}` needs a `shape`", strategy, way_out))
            return ((0, 0),)
        return tuple(shape)

    def _balanced(self, found: Fields) -> None:
        self._known("NodeResourcesBalancedAllocation", found, ("resources",))
        resources = self._resources(found.get("resources"), highest=1)
        names = tuple([name for name, _ in resources]) or CPU_AND_MEMORY
        self.result = structs.replace(self.result, balanced_resources=names)

    def _affinity(self, found: Fields) -> None:
        weight, ignore = "hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"
        self._known("InterPodAffinity", found, (weight, ignore))
        ignores = found.get(ignore)
        if ignores is not None and not isinstance(ignores.value, bool):
            self.log.add(refused(f"`{ignore}` is true or false", ignores.span))
        self.result = structs.replace(
            self.result,
            hard_pod_affinity_weight=whole_number(found.get(weight), weight, 1, 0, 100, self.log),
            ignore_preferred_terms_of_existing_pods=ignores is not None and ignores.value is True,
        )

    def _only_defaults(self, plugin: str, found: Fields) -> None:
        defaults = DEFAULT_ARGS.get(plugin, {})
        for name, value in found.items():
            if name not in defaults or value.plain() != defaults[name]:
                self.log.add(
                    refused(
                        f"argument `{name}` of plugin `{plugin}` is not modelled",
                        value.key_span or value.span,
                        "only its default is" if name in defaults else "",
                    )
                )
