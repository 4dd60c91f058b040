"""What many runs share: environments by version, gates and quirks, with compiled expressions and prepared slices.

It only remembers pure results; two runs in one workshop cannot see each other.
"""

from dralang.cel.expressions import CelExpressions
from dralang.features import FeatureGates, GateProblem
from dralang.run.simulation import Environment
from dralang.scenario.model import Settings


class Workshop:
    """Makes environments, each once."""

    def __init__(self) -> None:
        self._environments: dict[tuple[object, ...], Environment] = {}

    def environment(self, settings: Settings) -> Environment | tuple[GateProblem, ...]:
        """The environment of a scenario's settings, or why a server would not start with its gates."""
        key = (settings.version, tuple(sorted(settings.gates.items())), tuple(sorted(settings.quirks.items())))
        found = self._environments.get(key)
        if found is None:
            features = FeatureGates.resolve(settings.version, settings.gates)
            if not isinstance(features, FeatureGates):
                return features
            found = Environment(features, CelExpressions(), dict(settings.quirks))
            self._environments[key] = found
        return found
