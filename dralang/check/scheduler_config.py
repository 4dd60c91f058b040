"""KubeSchedulerConfiguration, as a manifest or as a `scheduler { ... }` block, to what can be set in the simulation.

Nothing is passed over in silence: a field, plugin or argument that would change decisions and is not modelled is
refused by name. Fields that change no decision (leader election, client connection, profiling) are taken.

Source: kubernetes pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go, .../config/validation,
pkg/scheduler/framework/runtime/framework.go.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from dralang.api.located import Located
from dralang.check.scheduler_args import plugin_arguments
from dralang.check.scheduler_fields import (
    Fields,
    entries_of,
    items_of,
    not_modelled,
    plugin_name,
    refused,
    unknown,
    whole_number,
)
from dralang.check.scheduler_plugins import (
    DEFAULT_PLUGINS,
    IMPLEMENTED,
    MODELLED,
    NEEDED,
    PART_OF_ANOTHER,
    POINTS,
    WEIGHTS,
)
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.features import FeatureGates
from dralang.scenario.scheduler_config import SchedulerConfig

_OF_PROFILE: Final = ("schedulerName", "percentageOfNodesToScore", "plugins", "pluginConfig")
_OF_ALL: Final = ("percentageOfNodesToScore", "podInitialBackoffSeconds", "podMaxBackoffSeconds", "extenders")
_OF_MODEL: Final = ("ties",)
"""What only a `scheduler` block says: no field of Kubernetes, but a thing that Kubernetes leaves to chance."""
_WITHOUT_EFFECT: Final = frozenset(
    {
        "apiVersion", "kind", "parallelism", "leaderElection", "clientConnection", "enableProfiling",
        "enableContentionProfiling", "delayCacheUntilActive",
    }
)  # fmt: skip
_MAX_SECONDS: Final = 10**9
_MAX_WEIGHT: Final = 10**6
_MAX_TIES: Final = 10**6


class _PluginSet(NamedTuple):
    """What is said of one extension point."""

    enabled: dict[str, tuple[int, Span]]
    disabled: dict[str, Span]


_NOTHING_SAID: Final = _PluginSet({}, {})


def fields_of(located: Located, log: DiagnosticLog, *, is_block: bool = False) -> Fields:
    """The fields of a configuration, those of its profile beside them.

    Args:
        located: the configuration.
        log: takes the diagnostics.
        is_block: whether it is a `scheduler` block and no manifest.

    Diagnostics: DRA0313 unknown or unmodelled fields, several profiles.
    """
    result: dict[str, Located] = {}
    profile: dict[str, Located] = {}
    known = (*_OF_ALL, *_OF_PROFILE, *(_OF_MODEL if is_block else ()))
    for name, value in entries_of(located, "a scheduler configuration", log).items():
        if name == "profiles":
            profile = _profile(value, log)
        elif name in known:
            result[name] = value
        elif name not in _WITHOUT_EFFECT:
            log.add(unknown("field", name, value.key_span or value.span, (*known, "profiles")))
    extenders = result.pop("extenders", None)
    if extenders is not None and extenders.value not in (None, ()):
        log.add(refused("`extenders` are not modelled", extenders.key_span or extenders.span, "leave them out"))
    return {**result, **profile}


def _profile(profiles: Located, log: DiagnosticLog) -> dict[str, Located]:
    items = items_of(profiles, "profiles", log)
    if len(items) > 1:
        log.add(
            refused(
                "several profiles are not modelled",
                items[1].span,
                "keep the profile whose pods the scenario is about",
            )
        )
    result: dict[str, Located] = {}
    for name, value in (entries_of(items[0], "a profile", log) if items else {}).items():
        if name in _OF_PROFILE:
            result[name] = value
        else:
            log.add(unknown("field", name, value.key_span or value.span, _OF_PROFILE))
    return result


def scheduler_config(fields: Fields, features: FeatureGates | None, log: DiagnosticLog) -> SchedulerConfig:
    """The configuration that fields describe; with problems in the log, what could be understood of it.

    Args:
        fields: as from `fields_of`, those of several places merged.
        features: the gates, on which some arguments depend; None if they are not known.
        log: takes DRA0313.
    """
    reader = _Reader(fields, log)
    initial = reader.seconds("podInitialBackoffSeconds", 1, minimum=1)
    longest = reader.seconds("podMaxBackoffSeconds", 10)
    if longest < initial:
        place = fields.get("podMaxBackoffSeconds", fields.get("podInitialBackoffSeconds"))
        text = f"`podMaxBackoffSeconds` ({longest}) is less than `podInitialBackoffSeconds` ({initial})"
        log.add(refused(text, None if place is None else place.span))
    plugins, off_at, weights = _plugins(fields.get("plugins"), features, log)
    return SchedulerConfig(
        name=reader.name(),
        initial_backoff=initial * 1000,
        max_backoff=longest * 1000,
        percentage_of_nodes_to_score=reader.number("percentageOfNodesToScore", 0, 0, 100),
        ties=reader.number("ties", 0, 0, _MAX_TIES),
        plugins=plugins,
        off_at=off_at,
        weights=weights,
        arguments=plugin_arguments(fields.get("pluginConfig"), features, log),
    )


class _Reader:
    """Scalars; private to this module."""

    def __init__(self, fields: Fields, log: DiagnosticLog) -> None:
        self.fields = fields
        self.log = log

    def name(self) -> str:
        found = self.fields.get("schedulerName")
        if found is None or found.value is None:
            return "default-scheduler"
        if isinstance(found.value, str) and found.value:
            return found.value
        self.log.add(refused("`schedulerName` is a text", found.span))
        return "default-scheduler"

    def number(self, name: str, default: int, low: int, high: int) -> int:
        return whole_number(self.fields.get(name), name, default, low, high, self.log)

    def seconds(self, name: str, default: int, *, minimum: int = 0) -> int:
        return self.number(name, default, minimum, _MAX_SECONDS)


# ---- plugins --------------------------------------------------------------------------------------------------------


def _plugins(
    located: Located | None, features: FeatureGates | None, log: DiagnosticLog
) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...], tuple[tuple[str, int], ...]]:
    """Which plugins are on, where they are not asked, and the weights."""
    said = _plugin_sets(located, log)
    whole = said.get("multiPoint", _NOTHING_SAID)
    order = [name for name in DEFAULT_PLUGINS if not whole.disabled.keys() & {name, "*"}]
    order += [name for name in whole.enabled if name not in order]
    for name in NEEDED:
        if name not in order:
            where = whole.disabled.get(name) or whole.disabled.get("*")
            log.add(refused(f"without plugin `{name}` the scheduler does not start", where))
    lists = {point: _asked_at(IMPLEMENTED[point], order, said.get(point, _NOTHING_SAID)) for point in IMPLEMENTED}
    everything = [*order, *[name for asked in lists.values() for name in asked if name not in order]]
    plugins = tuple([name for name in dict.fromkeys(everything) if name in MODELLED])
    for point, place in (("filter", said.get("filter")), ("postFilter", said.get("postFilter"))):
        asked = lists[point]
        if place is not None and asked != [name for name in plugins if name in asked]:
            span = next(iter(place.enabled.values()))[1] if place.enabled else None
            log.add(refused(f"another order of plugins at `{point}` alone is not modelled", span))
    off_at = tuple(
        sorted(
            (point, name)
            for point, able in IMPLEMENTED.items()
            for name in plugins
            if name in able and name not in lists[point]
        )
    )
    _check_halves(off_at, plugins, said, log)
    return plugins, off_at, _weights(said, lists["score"])


def _plugin_sets(located: Located | None, log: DiagnosticLog) -> dict[str, _PluginSet]:
    result: dict[str, _PluginSet] = {}
    for point, value in (entries_of(located, "`plugins`", log) if located is not None else {}).items():
        if point not in POINTS:
            log.add(unknown("extension point", point, value.key_span or value.span, POINTS))
            continue
        read = _plugin_set(value, log)
        if point != "multiPoint" and point not in IMPLEMENTED:
            if read.enabled or read.disabled:
                log.add(
                    refused(
                        f"plugins of extension point `{point}` alone are not modelled",
                        value.key_span or value.span,
                        "switch whole plugins at `multiPoint`",
                    )
                )
            continue
        result[point] = read
    return result


def _plugin_set(located: Located, log: DiagnosticLog) -> _PluginSet:
    result = _PluginSet({}, {})
    for key, value in entries_of(located, "an extension point", log).items():
        if key not in ("enabled", "disabled"):
            log.add(unknown("field", key, value.key_span or value.span, ("enabled", "disabled")))
            continue
        for item in items_of(value, key, log):
            name = plugin_name(item, log)
            if name is None:
                continue
            span = item.at(("name",)).span
            weight = _weight(item, log)
            if key == "disabled":
                if name != "*" and name not in DEFAULT_PLUGINS:
                    log.add(unknown("default plugin", name, span, DEFAULT_PLUGINS))
                result.disabled[name] = span
            elif name in result.enabled:
                log.add(refused(f"plugin `{name}` is enabled twice", span))
            elif name not in MODELLED and name not in PART_OF_ANOTHER:
                log.add(not_modelled(name, span))
            else:
                result.enabled[name] = (weight, span)
    return result


def _weight(item: Located, log: DiagnosticLog) -> int:
    assert isinstance(item.value, Mapping)
    for key, value in item.value.items():
        if key not in ("name", "weight"):
            log.add(unknown("field", key, value.key_span or value.span, ("name", "weight")))
    return whole_number(item.value.get("weight"), "weight", 0, 0, _MAX_WEIGHT, log)


def _asked_at(able: Collection[str], order: Sequence[str], own: _PluginSet) -> list[str]:
    """The plugins of one extension point: first those of `multiPoint` that it names too, in its own order."""
    if "*" in own.disabled:
        return [name for name in own.enabled if name in able]
    rest = [name for name in order if name in able and name not in own.disabled]
    overriding = [name for name in own.enabled if name in rest]
    added = [name for name in own.enabled if name in able and name not in rest]
    return [*overriding, *[name for name in rest if name not in own.enabled], *added]


def _check_halves(
    off_at: Sequence[tuple[str, str]], plugins: Sequence[str], said: Mapping[str, _PluginSet], log: DiagnosticLog
) -> None:
    """A plugin cannot filter without having prepared it, nor score; devices are filtered and reserved together."""
    for point, name in off_at:
        needs = {"preFilter": "filter", "preScore": "score"}.get(point)
        if name == "DynamicResources" and point in ("preFilter", "filter"):
            whole = "plugin `DynamicResources` is on or off as a whole: switch it at `multiPoint`"
        elif needs is not None and name in IMPLEMENTED[needs] and (needs, name) not in off_at:
            whole = f"plugin `{name}` cannot be asked at `{needs}` without `{point}`"
        else:
            continue
        here = said.get(point, _NOTHING_SAID).disabled
        log.add(refused(whole, here.get(name) or here.get("*")))


def _weights(said: Mapping[str, _PluginSet], scoring: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """The weights that differ from the default; one that is named without a weight has 1."""
    result = {}
    for name in scoring:
        for point in ("score", "multiPoint"):
            found = said.get(point, _NOTHING_SAID).enabled.get(name)
            if found is not None:
                result[name] = found[0] or 1
                break
    return tuple(sorted((name, weight) for name, weight in result.items() if weight != WEIGHTS[name]))
