"""Findings played again, judged as the fuzz has judged them."""

from msgspec import structs

from dralang.fuzz.retold import ORACLES, ask
from dralang.run.outcome import Played
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario


def play_finding(scenario: Scenario, workshop: Workshop) -> Played:
    """Play a scenario that a fuzz has found.

    Where nothing else is wrong, it is told otherwise too, by the oracles whose names are among its tags.

    Args:
        scenario: tagged ``regression``.
        workshop: shared with other scenarios.
    """
    return judge_finding(play(scenario, workshop), workshop)


def judge_finding(played: Played, workshop: Workshop) -> Played:
    """The same for one that has been played already."""
    scenario = played.scenario
    if played.verdict in ("passed", "xpassed"):
        for oracle in ORACLES:
            failure = ask(oracle, scenario, workshop) if oracle.name in scenario.tags else None
            if failure is not None:
                verdict = "failed" if scenario.xfail is None else "xfailed"
                return structs.replace(played, verdict=verdict, failures=(failure,))
    return played
