"""What became of the pods of one scenario, so that two runs of it can be compared."""

from msgspec import Struct

from dralang.run.outcome import Played
from dralang.run.player import play
from dralang.run.simulation import Simulation
from dralang.run.states import describe_pod
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario


class Fate(Struct, frozen=True):
    """How a pod ended.

    Attributes:
        end: its state when the run ended; `does not exist` where it was never created.
        started: when it first ran, in milliseconds; None if it never did.
    """

    end: str
    started: int | None


class Run(Struct, frozen=True):
    """A played scenario and what became of its pods, by name with namespace outside of `default`."""

    played: Played
    fates: dict[str, Fate]


class Change(Struct, frozen=True):
    """A pod that two runs treat differently."""

    pod: str
    left: Fate
    right: Fate


NEVER = Fate("does not exist", None)


def run_with_fates(scenario: Scenario, workshop: Workshop) -> Run:
    """Play a scenario and look at its pods at the end."""
    seen: list[Simulation] = []
    played = play(scenario, workshop, seen.append, keeps=True)
    if not seen:
        return Run(played, {})
    simulation = seen[0]
    fates: dict[str, Fate] = {}
    for entry in played.trace:
        if entry.kind != "Pod":
            continue
        name = entry.name if entry.namespace == "default" else f"{entry.namespace}/{entry.name}"
        known = fates.get(name)
        started = entry.time if entry.reason == "Running" and (known is None or known.started is None) else None
        if known is None or started is not None:
            pod = simulation.pod(entry.namespace, entry.name)
            end = describe_pod(simulation, "", pod).strip() if pod is not None else "is gone"
            fates[name] = Fate(end, started)
    return Run(played, fates)


def changes(left: Run, right: Run) -> list[Change]:
    """The pods whose fate differs, in the order in which they appear."""
    names = dict.fromkeys([*left.fates, *right.fates])
    pairs = [Change(name, left.fates.get(name, NEVER), right.fates.get(name, NEVER)) for name in names]
    return [pair for pair in pairs if pair.left != pair.right]
