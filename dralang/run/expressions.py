"""The device expressions of a cluster: those that are stored, in the environment of its version and gates."""

from dralang.cel.environment import Environment, parse_minor
from dralang.cel.expressions import CelExpressions
from dralang.features import FeatureGates


def stored_environment(features: FeatureGates) -> Environment:
    """The environment in which the scheduler of a version with these gates compiles stored expressions."""
    return Environment(
        minor=parse_minor(features.version),
        lists=features.enabled("DRAListTypeAttributes"),
        multiple=features.enabled("DRAConsumableCapacity"),
    )


def expressions_for(features: FeatureGates) -> CelExpressions:
    """The device expressions of a version with these gates."""
    return CelExpressions(stored_environment(features))
