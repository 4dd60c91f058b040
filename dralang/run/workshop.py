"""What many runs share: environments by version, gates and quirks, with compiled expressions and prepared slices.

It only remembers pure results; two runs in one workshop cannot see each other.
"""

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from dralang.api.expressions import DeviceExpressions
from dralang.cel.admission import admission_checker
from dralang.features import FeatureGates, GateProblem
from dralang.run.expressions import expressions_for
from dralang.run.simulation import Environment
from dralang.scenario.model import Settings
from dralang.scenario.scheduler_config import SchedulerConfig
from dralang.scheduler.settings import DEFAULT_SETTINGS, SchedulerSettings


class Workshop:
    """Makes environments, each once.

    Args:
        expressions: makes what compiles and evaluates the device expressions of a cluster.
        memory: of the scheduler, see ``SchedulerSettings``.
    """

    def __init__(
        self,
        expressions: Callable[[FeatureGates], DeviceExpressions] = expressions_for,
        memory: Literal["usual", "eager", "none"] = "usual",
    ) -> None:
        self._expressions = expressions
        self._memory = memory
        self._environments: dict[tuple[object, ...], Environment] = {}

    def environment(self, settings: Settings) -> Environment | tuple[GateProblem, ...]:
        """The environment of a scenario's settings, or why a server would not start with its gates."""
        gates, quirks = sorted(settings.gates.items()), sorted(settings.quirks.items())
        key = (settings.version, tuple(gates), tuple(quirks), settings.scheduler)
        found = self._environments.get(key)
        if found is None:
            features = FeatureGates.resolve(settings.version, settings.gates)
            if not isinstance(features, FeatureGates):
                return features
            scheduler = DEFAULT_SETTINGS if settings.scheduler is None else scheduler_settings(settings.scheduler)
            scheduler = replace(scheduler, memory=self._memory)
            found = Environment(
                features,
                self._expressions(features),
                dict(settings.quirks),
                scheduler,
                admission_checker(features),
            )
            self._environments[key] = found
        return found


def scheduler_settings(config: SchedulerConfig) -> SchedulerSettings:
    """The settings of the simulated scheduler that a configuration asks for."""
    return SchedulerSettings(
        name=config.name,
        initial_backoff=config.initial_backoff,
        max_backoff=config.max_backoff,
        percentage_of_nodes_to_score=config.percentage_of_nodes_to_score,
        ties=config.ties,
        plugins=config.plugins,
        off_at=config.off_at,
        weights=dict(config.weights),
        arguments=config.arguments,
    )
