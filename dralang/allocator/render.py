"""An explanation as lines of text."""

from dralang.allocator.explanation import DeviceVerdict, Explanation, RequestExplanation
from dralang.allocator.outcome import Allocated, FatalError, GaveUp, NodeError, Outcome, Unallocatable


def render_explanation(explanation: Explanation) -> list[str]:
    """The explanation for people, one fact per line, indented by what it belongs to."""
    lines = [f"node `{explanation.node}`: {outcome_text(explanation.outcome)}"]
    lines += [f"  {conflict.text}" for conflict in explanation.conflicts]
    lines += [f"  pool `{note.driver}/{note.pool}` is {note.state}: {note.text}" for note in explanation.pools]
    if not isinstance(explanation.outcome, Allocated):
        for claim in explanation.claims:
            lines.append(f"  claim `{claim.name}`:")
            for request in claim.requests:
                lines += _request(request)
    for effect in explanation.quirks:
        source = f" ({effect.source})" if effect.source else ""
        lines.append(f"  quirk `{effect.name}` changed the answer{source}: {effect.effect}")
        lines.append(f"    without it: {outcome_text(effect.without)}")
    return lines


def outcome_text(outcome: Outcome) -> str:
    """The outcome in a few words."""
    match outcome:
        case Allocated(results=results):
            devices = [
                f"{result.request} = {result.driver}/{result.pool}/{result.device}"
                for allocation in results
                for result in allocation.devices.results
            ]
            return f"allocated {', '.join(devices)}" if devices else "allocated nothing, because nothing is asked for"
        case Unallocatable():
            return "cannot allocate all claims"
        case NodeError(message=message):
            return f"error on this node: {message}"
        case FatalError(message=message):
            return f"error that ends the attempt: {message}"
        case GaveUp(steps=steps):
            return f"gave up after {steps} steps"


def _request(request: RequestExplanation) -> list[str]:
    wanted = "all devices" if request.takes_all else f"{request.wants} device{'' if request.wants == 1 else 's'}"
    lines = [f"    request `{request.name}` wants {wanted}, {request.usable} of {len(request.devices)} can be used"]
    if request.problem:
        lines.append(f"      {request.problem}")
    lines += [_device(verdict) for verdict in request.devices if verdict.obstacle is not None]
    return lines


def _device(verdict: DeviceVerdict) -> str:
    assert verdict.obstacle is not None, "only devices with an obstacle are listed"
    return f"      `{'/'.join(verdict.device)}` {verdict.obstacle.text}"
