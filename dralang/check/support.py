"""What the language knows and the run cannot do yet: a scenario that depends on it is refused, never skipped.

Everything here is checked like the rest. An entry goes when its execution comes.
"""

from typing import Final

from dralang.check import problems
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.scenario import propositions as p
from dralang.scenario.model import Property, Settings
from dralang.scenario.steps import Expect, Step, Watch

UNSUPPORTED_STATEMENTS: Final[dict[type, str]] = {}
UNSUPPORTED_STATES: Final[dict[str, str]] = {}
UNSUPPORTED_GATES: Final[dict[str, str]] = {}


def missing_features(settings: Settings, steps: list[Step], properties: list[Property]) -> list[Diagnostic]:
    """Diagnostics for what a scenario needs beyond its statements."""
    found = [
        problems.not_yet(f"gate {gate}: {what}", None)
        for gate, what in UNSUPPORTED_GATES.items()
        if settings.gates.get(gate)
    ]
    for step in steps:
        if isinstance(step, Expect | Watch):
            found += _of_proposition(step.proposition)
    for item in properties:
        found += _of_proposition(item.proposition)
    return found


def _of_proposition(proposition: p.Proposition) -> list[Diagnostic]:
    if isinstance(proposition, p.CelStatement):
        return []
    predicate = proposition.predicate
    if isinstance(predicate, p.InState) and predicate.state in UNSUPPORTED_STATES:
        return [problems.not_yet(UNSUPPORTED_STATES[predicate.state], proposition.span)]
    return []
