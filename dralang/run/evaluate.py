"""Propositions about a simulated cluster: true or not, and what is the case instead. No side effects."""

from fnmatch import fnmatchcase
from typing import Any, assert_never

from msgspec import Struct

from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.run import view
from dralang.run.history import ever_created, happened, names_in_record, pasts_of, preemptions
from dralang.run.left import left_of_capacity, left_of_counter
from dralang.run.objects_cel import evaluate_cel
from dralang.run.preempting import chance_of
from dralang.run.simulation import Simulation
from dralang.run.states import describe_claim, describe_device, describe_object, describe_pod
from dralang.scenario import propositions as p
from dralang.scenario.keys import ObjectKey


class Judgement(Struct, frozen=True):
    """What became of a proposition.

    Attributes:
        holds: whether it is true.
        actual: what is the case, for people.
        pods: pods to explain if it does not hold.
        claims: claims to explain.
    """

    holds: bool
    actual: str
    pods: tuple[ObjectKey, ...] = ()
    claims: tuple[ObjectKey, ...] = ()


def _not(actual: str, pods: tuple[ObjectKey, ...] = (), claims: tuple[ObjectKey, ...] = ()) -> Judgement:
    return Judgement(holds=False, actual=actual, pods=pods, claims=claims)


def judge(simulation: Simulation, proposition: p.Proposition) -> Judgement:
    """Whether a proposition holds now."""
    if isinstance(proposition, p.CelStatement):
        return _judge_cel(simulation, proposition)
    subject = proposition.subject
    if isinstance(subject, p.Counted):
        return _judge_counted(simulation, subject, proposition)
    judgements: list[Judgement] = []
    for term in subject.subjects:
        for one in _each(simulation, term):
            judgements.append(_judge_one(simulation, one, proposition.predicate, proposition.because))
    return _together(judgements)


def _together(judgements: list[Judgement]) -> Judgement:
    failing = [judgement for judgement in judgements if not judgement.holds]
    shown = failing or judgements
    return Judgement(
        not failing,
        "; ".join(judgement.actual for judgement in shown),
        tuple([key for judgement in failing for key in judgement.pods]),
        tuple([key for judgement in failing for key in judgement.claims]),
    )


def _each(simulation: Simulation, term: p.SubjectTerm) -> list[p.SubjectTerm]:
    """A glob in a subject means every object that matches."""
    if not isinstance(term, p.ObjectTerm) or "*" not in term.key.name:
        return [term]
    found = view.matching(simulation, term.key.kind, term.key.namespace, term.key.name)
    keys = [ObjectKey(term.key.kind, term.key.namespace, each.metadata.name) for each in found]
    return [p.ObjectTerm(term.span, key) for key in keys] or [term]


# ---- quantifiers ----------------------------------------------------------------------------------------------------


def _judge_counted(simulation: Simulation, subject: p.Counted, proposition: p.Statement) -> Judgement:
    if isinstance(proposition.predicate, p.Happened):
        return _judge_counted_happenings(simulation, subject, proposition.predicate, proposition.because)
    keys = _counted_keys(simulation, subject, proposition.predicate)
    judged = [
        (key, _judge_one(simulation, p.ObjectTerm(subject.span, key), proposition.predicate, proposition.because))
        for key in keys
    ]
    true = [key for key, judgement in judged if judgement.holds]
    holds = p.COMPARES[subject.quantifier](len(true), subject.number, len(judged))
    if subject.quantifier == "all" and subject.patterns and not judged:
        return _not("nothing matches")
    names = f": {', '.join(key.spoken for key in true)}" if true else ""
    actual = f"{len(true)} of {len(judged)}{names}"
    others = [judgement for key, judgement in judged if not judgement.holds]
    if others and subject.quantifier not in ("none", "no", "at most", "fewer than"):
        actual += "; " + "; ".join(judgement.actual for judgement in others[:5])
        if len(others) > 5:
            actual += f"; and {len(others) - 5} more"
    return Judgement(holds, actual, tuple([key for judgement in others[:2] for key in judgement.pods]))


def _counted_keys(simulation: Simulation, subject: p.Counted, predicate: p.Predicate) -> list[ObjectKey]:
    """Who is counted: whoever is named, and those that exist of a glob; of what is gone, those that ever existed."""
    gone = isinstance(predicate, p.InState) and predicate.state == "gone"
    if not subject.patterns:
        pods = simulation.pods()
        if subject.state:
            pods = [pod for pod in pods if _pod_is(simulation, pod, _state(subject))]
        keys = [ObjectKey("Pod", pod.metadata.namespace, pod.metadata.name) for pod in pods]
        if gone and not subject.state:
            keys += [ObjectKey("Pod", *pod) for pod in ever_created(simulation)]
        return list(dict.fromkeys(keys))
    keys = []
    for pattern in subject.patterns:
        if "*" not in pattern.glob:
            keys.append(ObjectKey(pattern.kind, pattern.namespace, pattern.glob))
            continue
        for found in view.matching(simulation, pattern.kind, pattern.namespace, pattern.glob):
            keys.append(ObjectKey(pattern.kind, pattern.namespace, found.metadata.name))
        if gone:
            past = names_in_record(simulation, pattern.kind)
            keys += [ObjectKey(pattern.kind, *name) for name in past if _matches(name, pattern)]
    return list(dict.fromkeys(keys))


def _state(subject: p.Counted) -> p.InState:
    return p.InState(subject.span, negated=False, state=subject.state, results=(), consumers=(), node=None, by=None)


def _matches(name: tuple[str, str], pattern: p.Pattern) -> bool:
    return name[0] == pattern.namespace and fnmatchcase(name[1], pattern.glob)


def _judge_counted_happenings(
    simulation: Simulation, subject: p.Counted, predicate: p.Happened, because: str | None
) -> Judgement:
    """``more than 1 pod was preempted`` counts distinct pods so far, whether they still exist or not."""
    done = happened(simulation, predicate.what, predicate.by, because)
    if subject.quantifier == "all" or subject.state or predicate.negated:
        counted = _with_a_past(simulation, subject)
    else:
        counted = [
            name for name in done if not subject.patterns or any(_matches(name, each) for each in subject.patterns)
        ]
    names = [name for name in counted if (name in done) != predicate.negated]
    if subject.quantifier == "all" and subject.patterns and not counted:
        return _not("nothing matches")
    what = f"{'not ' if predicate.negated else ''}{predicate.what}"
    listed = f": {', '.join(name for _, name in names)}" if names else ""
    actual = f"{len(names)} {'was' if len(names) == 1 else 'were'} {what}{listed}"
    if subject.quantifier == "all":
        actual = f"{len(names)} of {len(counted)} {'was' if len(counted) == 1 else 'were'} {what}{listed}"
    return Judgement(p.COMPARES[subject.quantifier](len(names), subject.number, len(counted)), actual)


def _with_a_past(simulation: Simulation, subject: p.Counted) -> list[tuple[str, str]]:
    """Namespace and name of the pods whose past is asked for: of all that ever existed, or that are named."""
    existing = [(pod.metadata.namespace, pod.metadata.name) for pod in simulation.pods()]
    if subject.state:
        pods = [pod for pod in simulation.pods() if _pod_is(simulation, pod, _state(subject))]
        return [(pod.metadata.namespace, pod.metadata.name) for pod in pods]
    everyone = list(dict.fromkeys([*ever_created(simulation), *existing]))
    if not subject.patterns:
        return everyone
    found: dict[tuple[str, str], None] = {}
    for pattern in subject.patterns:
        if "*" not in pattern.glob:
            found[pattern.namespace, pattern.glob] = None
        else:
            found.update({name: None for name in everyone if _matches(name, pattern)})
    return list(found)


# ---- one subject ----------------------------------------------------------------------------------------------------


def _judge_one(simulation: Simulation, term: p.SubjectTerm, predicate: p.Predicate, because: str | None) -> Judgement:
    match term:
        case p.DeviceTerm():
            return _judge_device(simulation, term, predicate)
        case p.CountersTerm():
            assert isinstance(predicate, p.HasLeft)
            holds, actual = left_of_counter(simulation, term.name, predicate.name, predicate.amount)
            return Judgement(holds, actual)
        case p.PodClaimTerm():
            return _judge_pod_claim(simulation, term, predicate)
        case p.ConditionTerm():
            return _judge_condition(simulation, term, predicate, because)
        case p.ObjectTerm():
            return _judge_object(simulation, term.key, predicate, because)
        case _:
            assert_never(term)


def _judge_object(simulation: Simulation, key: ObjectKey, predicate: p.Predicate, because: str | None) -> Judgement:
    found = view.find(simulation, key)
    if isinstance(predicate, p.Says):
        texts = _messages(found)
        said = "; ".join(texts) or "nothing"
        return Judgement(
            any(predicate.text in text for text in texts),
            f"{key.spoken} says {said!r}" if texts else f"{key.spoken} says nothing",
        )
    if key.kind == "Pod":
        return _judge_pod(simulation, key, found, predicate, because)
    if key.kind == "ResourceClaim":
        holds = _claim_is(simulation, found, predicate)
        return Judgement(holds, describe_claim(key.spoken, found), claims=() if holds else (key,))
    assert isinstance(predicate, p.InState)
    return Judgement(_object_is(found, predicate), describe_object(key.spoken, found) + _state_of(found, predicate))


def _state_of(found: Any, predicate: p.InState) -> str:
    if isinstance(found, Node):
        if predicate.state == "ready":
            return ", ready" if view.is_ready(found) else ", not ready"
        if predicate.state == "tainted":
            taints = ", ".join(f"{taint.key}:{taint.effect}" for taint in found.spec.taints)
            return f", tainted {taints}" if taints else ", without taints"
    return ""


def _object_is(found: Any | None, predicate: p.InState) -> bool:
    match predicate.state:
        case "gone":
            state = found is None
        case "terminating":
            state = found is not None and view.is_terminating(found)
        case "ready":
            state = isinstance(found, Node) and view.is_ready(found)
        case "tainted":
            state = isinstance(found, Node) and bool(found.spec.taints)
        case other:
            raise AssertionError(f"`is {other}` was let through for this kind")
    return state != predicate.negated


def _messages(found: Any | None) -> list[str]:
    if found is None:
        return []
    return [condition.message for condition in view.conditions_of(found) if condition.message]


# ---- pods -----------------------------------------------------------------------------------------------------------


def _judge_pod(
    simulation: Simulation, key: ObjectKey, pod: Pod | None, predicate: p.Predicate, because: str | None
) -> Judgement:
    match predicate:
        case p.Runs():
            holds = _runs(simulation, pod, predicate)
        case p.InState():
            holds = _pod_is(simulation, pod, predicate)
        case p.Happened():
            return _judge_happening(simulation, key, predicate, because)
        case p.DidPreempt():
            return _did_preempt(simulation, key, predicate)
        case p.CanPreempt():
            if pod is None:
                return _not(f"{key.spoken} does not exist")
            chance = chance_of(simulation, pod)
            return Judgement(chance.holds, chance.text, () if chance.holds else (key,))
        case _:
            raise AssertionError(f"{type(predicate).__name__} was let through for a pod")
    actual = describe_pod(simulation, key.spoken, pod)
    if holds and because is not None and because not in _reason(simulation, key, pod, predicate):
        return _not(actual, (key,))
    return Judgement(holds, actual, () if holds else (key,))


def _reason(simulation: Simulation, key: ObjectKey, pod: Pod | None, predicate: p.Predicate) -> str:
    """What `because` looks at: why a pod has no node, or why it had to go."""
    if isinstance(predicate, p.InState) and predicate.state in ("preempted", "evicted"):
        return "; ".join(pasts_of(simulation, predicate.state, (key.namespace, key.name)).values())
    return "" if pod is None else view.scheduling_message(pod)


def _runs(simulation: Simulation, pod: Pod | None, predicate: p.Runs) -> bool:
    if pod is None or pod.status.phase != "Running" or view.is_terminating(pod):
        return predicate.negated
    fits = predicate.node is None or pod.spec.node_name == predicate.node
    if fits and predicate.devices:
        fits = _same_devices(predicate.devices, [view.full_device_name(r) for r in view.pod_devices(simulation, pod)])
    return fits != predicate.negated


def _same_devices(wanted: tuple[p.DeviceTerm, ...], held: list[str]) -> bool:
    """Whether the named devices are exactly those held, in any order."""
    left = list(held)
    for term in wanted:
        match = next((full for full in left if view.is_suffix(term.name, full)), None)
        if match is None:
            return False
        left.remove(match)
    return not left


def _pod_is(simulation: Simulation, pod: Pod | None, predicate: p.InState) -> bool:
    state = (
        pod is None if predicate.state == "gone" else pod is not None and _existing_pod_is(simulation, pod, predicate)
    )
    return state != predicate.negated


def _existing_pod_is(simulation: Simulation, pod: Pod, predicate: p.InState) -> bool:
    phase = pod.status.phase
    match predicate.state:
        case "pending":
            return not pod.spec.node_name and phase in ("", "Pending") and not view.is_terminating(pod)
        case "running":
            return phase == "Running" and not view.is_terminating(pod)
        case "terminating":
            return view.is_terminating(pod)
        case "succeeded" | "failed":
            return phase.lower() == predicate.state
        case "ready":
            return view.is_ready(pod)
        case "nominated":
            node = pod.status.nominated_node_name
            return bool(node) and predicate.node in (None, node)
        case "preempted" | "evicted":
            return (pod.metadata.namespace, pod.metadata.name) in happened(simulation, predicate.state, predicate.by)
        case "settled":
            return _is_settled(simulation, pod)
        case other:
            raise AssertionError(f"`is {other}` was let through for a pod")


def _is_settled(simulation: Simulation, pod: Pod) -> bool:
    """Runs, is finished, or waits with nothing due that could help it."""
    if view.is_terminating(pod):
        return False
    if pod.status.phase in ("Running", "Succeeded", "Failed"):
        return True
    return not pod.spec.node_name and simulation.events.near_count == 0


def _did_preempt(simulation: Simulation, key: ObjectKey, predicate: p.DidPreempt) -> Judgement:
    entries = [entry for entry in preemptions(simulation) if key.spoken in entry.related]
    victims = [ObjectKey("Pod", entry.namespace, entry.name) for entry in entries]
    holds = all(victim in victims for victim in predicate.victims)
    names = ", ".join(dict.fromkeys(victim.spoken for victim in victims)) or "nobody"
    return Judgement(holds, f"{key.spoken} preempted {names}", () if holds else (key,))


def _judge_happening(simulation: Simulation, key: ObjectKey, predicate: p.Happened, because: str | None) -> Judgement:
    pod = (key.namespace, key.name)
    holds = (pod in happened(simulation, predicate.what, predicate.by, because)) != predicate.negated
    past = pasts_of(simulation, predicate.what, pod)
    if not past:
        return Judgement(holds, f"{key.spoken} was not {predicate.what}")
    if predicate.what == "preempted":
        return Judgement(holds, f"{key.spoken} was preempted by {', '.join(past)}")
    return Judgement(holds, f"{key.spoken} was {'; '.join(past.values())}")


# ---- claims ---------------------------------------------------------------------------------------------------------


def _judge_pod_claim(simulation: Simulation, term: p.PodClaimTerm, predicate: p.Predicate) -> Judgement:
    name = f"{term.pod.name}'s claim {term.entry}"
    pod = view.find(simulation, term.pod)
    if pod is None:
        holds = isinstance(predicate, p.InState) and (predicate.state == "gone") != predicate.negated
        return Judgement(holds, f"{term.pod.name} does not exist", () if holds else (term.pod,))
    entries = dict(view.pod_claims(simulation, pod))
    if term.entry not in entries:
        known = ", ".join(entries) or "none"
        return _not(f"{term.pod.name} has no claim {term.entry} (it has {known})")
    claim = entries[term.entry]
    holds = _claim_is(simulation, claim, predicate)
    return Judgement(holds, describe_claim(name, claim), () if holds else (term.pod,))


def _claim_is(simulation: Simulation, claim: ResourceClaim | None, predicate: p.Predicate) -> bool:
    if not isinstance(predicate, p.InState):
        raise AssertionError(f"{type(predicate).__name__} was let through for a claim")
    match predicate.state:
        case "gone":
            state = claim is None
        case "terminating":
            state = claim is not None and view.is_terminating(claim)
        case "allocated":
            state = claim is not None and claim.status.allocation is not None and _results_fit(claim, predicate)
        case "reserved":
            state = claim is not None and _reserved(claim, predicate)
        case other:
            raise AssertionError(f"`is {other}` was let through for a claim")
    return state != predicate.negated


def _results_fit(claim: ResourceClaim, predicate: p.InState) -> bool:
    """``is allocated A, B`` lists all results, in order."""
    if not predicate.results:
        return True
    held = view.results_of(claim)
    if len(held) != len(predicate.results):
        return False
    return all(_result_fits(wanted, result) for wanted, result in zip(predicate.results, held, strict=True))


def _result_fits(wanted: p.ResultTerm, result: Any) -> bool:
    if not view.is_suffix(wanted.device.name, view.full_device_name(result)):
        return False
    if wanted.request is not None and wanted.request != result.request:
        return False
    if wanted.consuming is None:
        return True
    consumed = result.consumed_capacity or {}
    return all(name in consumed and consumed[name] == amount for name, amount in wanted.consuming.items())


def _reserved(claim: ResourceClaim, predicate: p.InState) -> bool:
    consumers = [consumer.name for consumer in claim.status.reserved_for]
    if not predicate.consumers:
        return bool(consumers)
    return sorted(consumers) == sorted(key.name for key in predicate.consumers)


# ---- devices and conditions -----------------------------------------------------------------------------------------


def _judge_device(simulation: Simulation, term: p.DeviceTerm, predicate: p.Predicate) -> Judgement:
    found = view.published(simulation, term.name)
    if not found:
        return _not(f"no slice has a device {term.name}")
    if len(found) > 1:
        names = ", ".join(each.full_name for each in found)
        return _not(f"{term.name} means several devices: {names}")
    device = found[0]
    if isinstance(predicate, p.HasLeft):
        holds, actual = left_of_capacity(simulation, device, predicate.name, predicate.amount)
        return Judgement(holds, actual)
    assert isinstance(predicate, p.InState)
    if predicate.state == "tainted":
        taints = view.effective_taints(simulation, device)
        text = ", ".join(f"{taint.key}:{taint.effect}" for taint in taints)
        holds = bool(taints) != predicate.negated
        return Judgement(
            holds, f"{device.full_name} is tainted {text}" if taints else f"{device.full_name} has no taint"
        )
    in_use = bool(view.holders(simulation, device.full_name))
    state = not in_use if predicate.state == "free" else in_use
    return Judgement(state != predicate.negated, describe_device(simulation, device.full_name))


def _judge_condition(
    simulation: Simulation, term: p.ConditionTerm, predicate: p.Predicate, because: str | None
) -> Judgement:
    assert isinstance(predicate, p.InState)
    found = view.find(simulation, term.key)
    if found is None:
        return _not(f"{term.key.spoken} does not exist")
    condition = next((each for each in view.conditions_of(found) if each.type == term.condition), None)
    if condition is None:
        known = ", ".join(each.type for each in view.conditions_of(found)) or "none"
        return _not(f"{term.key.spoken} has no condition {term.condition} (it has {known})")
    holds = (condition.status.lower() == predicate.state) != predicate.negated
    if because is not None and because not in condition.message and because not in condition.reason:
        holds = False
    return Judgement(
        holds, f"condition {term.condition} of {term.key.spoken} is {condition.status}: {condition.message!r}"
    )


def _judge_cel(simulation: Simulation, proposition: p.CelStatement) -> Judgement:
    holds, actual = evaluate_cel(simulation, proposition.expression)
    return Judgement(holds, actual)
