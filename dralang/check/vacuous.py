"""What says nothing: sentences that are true, or false, whatever happens, faults that change nothing, unused names.

Such a sentence passes, and so looks like a promise that is kept. All of this is warnings: a table may have a row for
which a sentence is trivial.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set

from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.check import problems
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.scenario import propositions as p
from dralang.scenario import steps as s
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared
from dralang.syntax import nodes as n


def report_never_created(spoken: Mapping[ObjectKey, Span], created: Set[ObjectKey], log: DiagnosticLog) -> None:
    """Warn of pods that a scenario speaks of and does not create; a glob is right if it means one that is created.

    Args:
        spoken: whom its statements are about, and where first.
        created: what its statements create.
        log: takes the warnings.
    """
    pods = [key for key in created if key.kind == "Pod"]
    for key, span in spoken.items():
        if key.kind != "Pod" or any(pod.is_meant_by(key) for pod in pods):
            continue
        log.add(problems.never_created(key.spoken, span))


def check_count(node: n.Quantified, patterns: Iterable[p.Pattern], number: int, log: DiagnosticLog) -> None:
    """Warn of a number that makes a sentence true, or false, however many there are."""
    if node.number is None or "${" in node.number.text:
        return
    known = tuple(patterns)
    some = not known or any("*" in pattern.glob for pattern in known)
    # However many a glob means, one more than the number shows all that there is to see.
    highest = number + 1 if some else len(known)
    holds = p.COMPARES[node.quantifier]
    answers = {holds(true, number, highest) for true in range(min(highest, number + 1) + 1)}
    if len(answers) == 1:
        said = f"{node.quantifier} {number}"
        log.add(problems.always_the_same(said, node.number.span, so=answers.pop(), of=None if some else len(known)))


def report_unused_parameters(names: Iterable[n.Word], where: Span, log: DiagnosticLog) -> None:
    """Warn of parameters of a table or fixture that its text never computes with."""
    computed = re.findall(r"\$\{([^}]*)\}", where.text)
    used = {word for text in computed for word in re.findall(r"[A-Za-z_]\w*", text)}
    for name in names:
        if name.text not in used:
            log.add(problems.unused("parameter", name.text, name.span, f"write `${{{name.text}}}` where it is meant"))


def report_idle_rules(objects: Iterable[Declared], devices: Iterable[str], log: DiagnosticLog) -> None:
    """Warn of taint rules that select no device of any slice.

    Args:
        objects: what the file declares.
        devices: what any slice of the file has, as driver/pool/device.
        log: takes the warnings.
    """
    # The name of a pool may have a `/`.
    known = [(driver, *rest.rsplit("/", 1)) for driver, _, rest in (device.partition("/") for device in devices)]
    for declared in objects:
        rule = declared.object
        if not isinstance(rule, DeviceTaintRule) or not declared.own or rule.spec.device_selector is None:
            continue
        selector = rule.spec.device_selector
        wanted = (selector.driver, selector.pool, selector.device)
        if not any(all(want in (None, has) for want, has in zip(wanted, one, strict=True)) for one in known):
            log.add(problems.idle_rule(declared.key.name, declared.span))


def report_idle_faults(steps: Sequence[s.Step], log: DiagnosticLog, *, goes_on: bool) -> None:
    """Warn of faults that change nothing, as far as the text tells: which calls will be made it does not tell.

    Args:
        steps: of a scenario that is not drawn.
        log: takes the warnings.
        goes_on: whether more happens after the last step, properties in its middle aside.
    """
    paused: set[str] = set()
    # What waits for something to happen since anything could.
    waiting: dict[tuple[object, ...], s.Component | s.FailNext] = {}
    for step in steps:
        if isinstance(step, s.Component) and step.action in ("pause", "resume"):
            is_paused = step.component in paused
            if is_paused == (step.action == "pause"):
                log.add(problems.idle_pause(step.component, step.span, paused=is_paused))
            (paused.add if step.action == "pause" else paused.discard)(step.component)
        if isinstance(step, s.FailNext) or (isinstance(step, s.Component) and step.action == "delay"):
            subject = (step.operation, step.key) if isinstance(step, s.FailNext) else (step.component,)
            if subject in waiting:
                log.add(problems.replaced_fault(_words_of(waiting[subject]), waiting[subject].span, step.span))
            waiting[subject] = step
        else:
            waiting.clear()
    goes_on = goes_on or any(isinstance(step, s.Watch) for step in steps)
    for step in () if goes_on else reversed(steps):
        if isinstance(step, s.FailNext) or (isinstance(step, s.Component) and step.action in ("pause", "delay")):
            log.add(problems.late_fault(_words_of(step), step.span))
        elif not isinstance(step, s.Consequences):
            return


def _words_of(step: s.Component | s.FailNext) -> str:
    return f"fail next {step.operation}" if isinstance(step, s.FailNext) else f"{step.action} {step.component}"
