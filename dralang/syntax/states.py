"""The closed set of words after `is`, `was` and `can`, which the grammar leaves open so that their errors can help."""

from collections.abc import Iterable, Iterator
from typing import Final

from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.spelling import nearest
from dralang.syntax import nodes as n
from dralang.syntax.vocabulary import STATES

# What people write for a state -> what the language calls it.
_MEANT: Final = {
    "run": "runs",
    "runs": "runs",
    "scheduled": "runs on NODE",
    "bound": "runs on NODE",
    "placed": "runs on NODE",
    "assigned": "runs on NODE",
    "unscheduled": "is pending",
    "unschedulable": "is pending",
    "waiting": "is pending",
    "blocked": "is pending",
    "stuck": "is pending",
    "started": "is running",
    "active": "is running",
    "deleted": "is gone",
    "removed": "is gone",
    "absent": "is gone",
    "deleting": "is terminating",
    "finished": "is succeeded",
    "completed": "is succeeded",
    "done": "is succeeded",
    "used": "is in-use",
    "busy": "is in-use",
    "taken": "is in-use",
    "available": "is free",
    "unused": "is free",
    "unallocated": "is not allocated",
    "deallocated": "is not allocated",
    "killed": "was evicted",
    "rejected": "is pending",
}
_VERBS: Final = ("preempt",)


def check_states(items: Iterable[n.Item | n.Statement], log: DiagnosticLog) -> None:
    """Report states that do not exist (DRA0127) and `pods` without `all` (DRA0126)."""
    for proposition in _propositions(items):
        if isinstance(proposition, n.CelProposition):
            continue
        subject = proposition.subject
        predicate = proposition.predicate
        if isinstance(subject, n.Quantified) and subject.state is not None:
            _check_state(subject.state, "", log)
        elif isinstance(subject, n.Objects):
            _check_pods(subject, log)
        if isinstance(predicate, n.Is | n.Was):
            verb = "is" if isinstance(predicate, n.Is) else "was"
            _check_state(predicate.state, verb, log)
        elif isinstance(predicate, n.Can) and predicate.verb.text not in _VERBS:
            log.add(
                Diagnostic(
                    code="DRA0127",
                    message=f"`can {predicate.verb.text}` is not known",
                    span=predicate.verb.span,
                    expected=tuple([f"`{verb}`" for verb in _VERBS]),
                    help="write `can preempt`",
                )
            )


def _propositions(items: Iterable[n.Item | n.Statement]) -> Iterator[n.Proposition]:
    # A stack of its own: statements in statements (`maybe maybe ...`) need no braces, so nothing bounds their depth.
    waiting: list[n.Item | n.Statement | n.Body | None] = list(reversed(tuple(items)))
    while waiting:
        item = waiting.pop()
        match item:
            case n.Expect() | n.Property():
                yield item.proposition
            case n.Scenario() | n.Repeat() | n.AnyOrder() | n.At() | n.After():
                waiting.append(item.body)
            case n.Body():
                waiting.extend(reversed(item.statements))
            case n.Maybe():
                waiting.append(item.statement)
            case n.Fixture():
                waiting.extend(reversed(item.items))
            case _:
                pass


def _check_state(state: n.Word, verb: str, log: DiagnosticLog) -> None:
    text = state.text
    if (text in STATES and not state.quoted) or "${" in text:
        return
    if text in ("because", "with", "by", "for", "on") and not state.quoted:
        before = Span(state.span.source, state.span.start, state.span.start)
        log.add(
            Diagnostic(
                code="DRA0127",
                message=f"a state is missing before `{text}`",
                span=before,
                help="write `is pending`, for example",
            )
        )
        return
    meant = _MEANT.get(text.lower())
    if meant is None and (near := nearest(text, STATES)) is not None:
        meant = f"{verb} {near}".strip()
    log.add(
        Diagnostic(
            code="DRA0127",
            message=f"`{text}` is not a state",
            span=state.span,
            expected=() if meant else ("`pending`", "`running`", "`free`", "`allocated`", "`gone`"),
            help=f"did you mean `{meant}`?" if meant else "all states: " + ", ".join(STATES),
        )
    )


def _check_pods(subject: n.Objects, log: DiagnosticLog) -> None:
    for ref in subject.refs:
        if not ref.kind and isinstance(ref.name, n.Word) and ref.name.text == "pods" and not ref.name.quoted:
            log.add(
                Diagnostic(
                    code="DRA0126",
                    message="`pods` alone names nothing",
                    span=ref.span,
                    help="write `all pods`; a pod that is called pods is `pod pods`",
                )
            )
