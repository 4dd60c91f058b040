"""A run of `dralang fuzz` as a JSON value; the shape is described in ``docs/json.md``."""

from collections.abc import Mapping, Sequence
from typing import Any

from dralang.fuzz.campaign import Campaign, Outcome
from dralang.fuzz.reach import Reached, coverage
from dralang.testing.jsonreport import failure_json, head, scenario_json


def fuzz_json(
    campaign: Campaign, written: Mapping[str, str], version: str, exit_code: int, seconds: float
) -> dict[str, Any]:
    """A run. Real time stands in ``summary`` only.

    Args:
        campaign: after its end.
        written: the files of findings, by the node ids of their fuzzes.
        version: of dralang.
        exit_code: of the command.
        seconds: how long it took.
    """
    outcomes = campaign.outcomes
    return {
        **head("fuzz", version),
        "seed": campaign.plan.seed,
        "fuzzes": [
            {**_outcome(outcome, written.get(outcome.target.scenario.node_id)), "xpassed": campaign.xpassed(outcome)}
            for outcome in outcomes
        ],
        "coverage": {
            part.key: {"reached": list(part.reached), "never": list(part.never)}
            for part in coverage(reached_by(outcomes))
        },
        "summary": {
            "examples": sum(outcome.examples for outcome in outcomes),
            "states": sum(outcome.states.count for outcome in outcomes),
            "found": sum(outcome.found for outcome in outcomes),
            "xfailed": sum(outcome.xfailed for outcome in outcomes),
            "xpassed": sum(campaign.xpassed(outcome) for outcome in outcomes),
            "interrupted": campaign.interrupted,
            "broken": None if campaign.broken is None else campaign.broken.message,
            "exitCode": exit_code,
            "seconds": round(seconds, 3),
        },
    }


def reached_by(outcomes: Sequence[Outcome]) -> Reached:
    """What all fuzzes reached together."""
    reached = Reached()
    for outcome in outcomes:
        reached |= outcome.reached
    return reached


def _outcome(outcome: Outcome, written: str | None) -> dict[str, Any]:
    failure = None if outcome.example is None else outcome.example.failure
    return {
        **scenario_json(outcome.target.scenario),
        "examples": outcome.examples,
        "discarded": outcome.discarded,
        "whyDiscarded": outcome.why_discarded or None,
        "states": outcome.states.count,
        "found": outcome.found,
        "xfailed": outcome.xfailed,
        "remembered": outcome.remembered,
        "fault": outcome.fault or None,
        "failure": None if failure is None else failure_json(failure),
        "written": written,
    }
