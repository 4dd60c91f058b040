"""Why the devices of a node do not serve a pod: what the allocator says of each, in words."""

from typing import Final

from dralang.allocator.explain import explain
from dralang.allocator.explanation import DeviceVerdict, RequestExplanation
from dralang.allocator.outcome import Allocated, GaveUp
from dralang.allocator.render import outcome_text
from dralang.run.outcome import Why
from dralang.run.simulation import Simulation
from dralang.run.view import short_names
from dralang.run.waiting import AllocationQuestion

MAX_GROUPS: Final = 8
MAX_NAMES: Final = 6


def explain_question(simulation: Simulation, question: AllocationQuestion) -> tuple[Why, ...]:
    """The reasons per claim, request and device; empty where the allocator has no objection."""
    found = explain(question.inventory, question.state, question.node, question.claims)
    if isinstance(found.outcome, Allocated):
        return ()
    if isinstance(found.outcome, GaveUp):
        return (Why(outcome_text(found.outcome)),)
    reasons = [Why(conflict.text) for conflict in found.conflicts]
    reasons += [Why(f"pool {note.pool} of {note.driver} is {note.state}: {note.text}") for note in found.pools]
    for claim in found.claims:
        requests = tuple(_request(simulation, request) for request in claim.requests)
        reasons.append(Why(f"claim {claim.name.removeprefix('default/')}", requests))
    for effect in found.quirks:
        source = f" ({effect.source})" if effect.source else ""
        reasons.append(Why(f"quirk {effect.name} changed the answer{source}: {effect.effect}"))
    return tuple(reasons)


def _request(simulation: Simulation, request: RequestExplanation) -> Why:
    wanted = "all devices" if request.takes_all else f"{request.wants} device{'' if request.wants == 1 else 's'}"
    text = f"request {request.name} wants {wanted}, {request.usable} of {len(request.devices)} can be used"
    because = [Why(request.problem)] if request.problem else []
    because += _grouped(simulation, [verdict for verdict in request.devices if verdict.obstacle is not None])
    return Why(text, tuple(because))


def _grouped(simulation: Simulation, verdicts: list[DeviceVerdict]) -> list[Why]:
    """Devices that the same rule keeps away with the same words stand together."""
    groups: dict[str, list[str]] = {}
    for verdict in verdicts:
        assert verdict.obstacle is not None
        text = verdict.obstacle.text + _users(simulation, verdict.obstacle.holders)
        groups.setdefault(text, []).append("/".join(verdict.device))
    short = dict(zip(names := [n for group in groups.values() for n in group], short_names(names), strict=True))
    result = []
    for text, members in list(groups.items())[:MAX_GROUPS]:
        listed = ", ".join(short[name] for name in members[:MAX_NAMES])
        more = f" and {len(members) - MAX_NAMES} more" if len(members) > MAX_NAMES else ""
        result.append(Why(f"{listed}{more}: {text}"))
    if len(groups) > MAX_GROUPS:
        result.append(Why(f"and {len(groups) - MAX_GROUPS} more reasons for other devices"))
    return result


def _users(simulation: Simulation, holders: tuple[str, ...]) -> str:
    """The pods behind the claims that hold a device."""
    pods: list[str] = []
    for claim in simulation.claims():
        if f"{claim.metadata.namespace}/{claim.metadata.name}" in holders:
            pods += [consumer.name for consumer in claim.status.reserved_for if consumer.name not in pods]
    return f" (pod {', '.join(pods)})" if pods else ""
