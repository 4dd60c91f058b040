"""Propositions, as operations: what `expect`, `always`, `never` and `witness` say.

The number of a verb (`runs`, `run`) follows from its subject, so that there is one way to write a sentence.
"""

from collections.abc import Callable
from typing import Any, Final

from dralang.formatter.stream import Stream
from dralang.formatter.values import (
    CONTINUATION_INDENT,
    put_cel,
    put_choice,
    put_listed,
    put_map_block,
)
from dralang.syntax import nodes as n

_AFTER_STATE: Final = frozenset({"for", "on", "by", "because"})


def put_proposition(stream: Stream, proposition: n.Proposition) -> None:
    """Write a proposition; the caller has begun the group whose lines its parts continue."""
    if isinstance(proposition, n.CelProposition):
        put_cel(stream, proposition.expression)
    else:
        plural = put_subject(stream, proposition.subject)
        stream.text(" ")
        _PREDICATES[type(proposition.predicate)](stream, proposition.predicate, plural)
    put_because(stream, proposition.because)


def put_because(stream: Stream, because: n.Word | None) -> None:
    """Write the reason, if there is one."""
    if because is not None:
        stream.line()
        stream.text("because ")
        stream.word(because)


# ---- who ------------------------------------------------------------------------------------------------------------


def put_ref(stream: Stream, ref: n.Ref) -> None:
    """Write the name of an object, with its kind if the author gave it."""
    if ref.kind and not isinstance(ref.name, n.AnyKind):
        stream.first(ref.kind, ref)
    put_choice(stream, ref.name)


def put_refs(stream: Stream, refs: tuple[n.Ref, ...]) -> None:
    """Write ``a, b``."""
    put_listed(stream, refs, put_ref)


def put_subject(stream: Stream, subject: n.Subject) -> bool:
    """Write whom a proposition is about; returns whether that is a plural."""
    if isinstance(subject, n.Objects):
        put_refs(stream, subject.refs)
        return len(subject.refs) > 1 or _means_several(subject.refs[0])
    if isinstance(subject, n.ClaimOf):
        put_ref(stream, subject.pod)
        stream.text("'s claim ")
        stream.word(subject.claim)
        return False
    if isinstance(subject, n.ConditionOf):
        stream.first("condition", subject)
        stream.word(subject.condition)
        stream.text(" of ")
        put_ref(stream, subject.object)
        return False
    return _put_quantified(stream, subject)


def _put_quantified(stream: Stream, subject: n.Quantified) -> bool:
    stream.first(subject.quantifier, subject)
    number = subject.number
    if number is None:
        plural = subject.quantifier != "no"
    else:
        plural = number.text != "1"
        stream.word(number)
        stream.text(" ")
    if subject.refs:
        stream.text("of ")
        put_refs(stream, subject.refs)
        return plural
    if subject.state is not None:
        stream.word(subject.state)
        stream.text(" ")
    stream.text("pods" if plural else "pod")
    return plural


def _means_several(ref: n.Ref) -> bool:
    """Whether a name stands for more than one object: it has a range or a glob."""
    return isinstance(ref.name, n.Word) and not ref.name.quoted and any(c in ref.name.text for c in "[*")


# ---- what -----------------------------------------------------------------------------------------------------------


def _put_runs(stream: Stream, predicate: n.Runs, plural: bool) -> None:  # noqa: FBT001  # one of a table of functions
    if predicate.negated:
        stream.text("do not run" if plural else "does not run")
    else:
        stream.text("run" if plural else "runs")
    _put_on(stream, predicate.node)
    if predicate.devices:
        stream.line()
        stream.text("with ")
        put_listed(stream, predicate.devices, _put_device)


def _put_is(stream: Stream, predicate: n.Is, plural: bool) -> None:  # noqa: FBT001 - all of them are called alike
    stream.text("are " if plural else "is ")
    _put_state(stream, predicate.state, negated=predicate.negated)
    if predicate.results:
        device = predicate.results[0].device
        # After the state, a device that is called like what else can follow is only one if the text says so.
        # A state of the name `not` is none if a further word follows.
        is_ambiguous = device.text in _AFTER_STATE and not device.quoted and predicate.state.text != "not"
        stream.text(" device " if is_ambiguous else " ")
        put_listed(stream, predicate.results, _put_result)
    if predicate.reserved_for:
        stream.line()
        stream.text("for ")
        put_listed(stream, predicate.reserved_for, _put_pod)
    _put_on(stream, predicate.node)
    _put_by(stream, predicate.by)


def _put_result(stream: Stream, result: n.ResultSpec) -> None:
    stream.begin(CONTINUATION_INDENT)
    _put_device(stream, result.device)
    if result.request is not None:
        stream.line()
        stream.text("for ")
        stream.word(result.request)
    if result.consuming is not None:
        stream.line()
        stream.text("consuming")
        put_map_block(stream, result.consuming)
    stream.end()


def _put_was(stream: Stream, predicate: n.Was, plural: bool) -> None:  # noqa: FBT001 - all of them are called alike
    stream.text("were " if plural else "was ")
    _put_state(stream, predicate.state, negated=predicate.negated)
    _put_by(stream, predicate.by)


def _put_preempted(stream: Stream, predicate: n.Preempted, _: bool) -> None:  # noqa: FBT001 - all of them are called alike
    stream.text("preempted ")
    put_refs(stream, predicate.victims)


def _put_has_left(stream: Stream, predicate: n.HasLeft, plural: bool) -> None:  # noqa: FBT001 - all of them are called alike
    stream.text("have " if plural else "has ")
    stream.word(predicate.amount)
    stream.text(" ")
    stream.word(predicate.name)
    stream.text(" left")


def _put_says(stream: Stream, predicate: n.Says, _: bool) -> None:  # noqa: FBT001 - all of them are called alike
    stream.text("says ")
    stream.word(predicate.text)


def _put_can(stream: Stream, predicate: n.Can, _: bool) -> None:  # noqa: FBT001 - all of them are called alike
    stream.text("can ")
    stream.word(predicate.verb)


def _put_state(stream: Stream, state: n.Word, *, negated: bool) -> None:
    if negated:
        stream.text("not ")
    stream.word(state)


def _put_device(stream: Stream, name: n.Word) -> None:
    _put_plain_name(stream, name, "device")


def _put_node(stream: Stream, name: n.Word) -> None:
    _put_plain_name(stream, name, "node")


def _put_pod(stream: Stream, name: n.Word) -> None:
    _put_plain_name(stream, name, "pod")


def _put_plain_name(stream: Stream, name: n.Word, kind: str) -> None:
    """Write a name where only one kind can stand: without the kind, unless it would be taken for it."""
    if name.text == kind and not name.quoted:
        stream.text(kind + " ")
    stream.word(name)


def _put_on(stream: Stream, node: n.Word | None) -> None:
    if node is not None:
        stream.text(" on ")
        _put_node(stream, node)


def _put_by(stream: Stream, by: n.Ref | None) -> None:
    if by is not None:
        stream.text(" by ")
        put_ref(stream, by)


_PREDICATES: Final[dict[type, Callable[[Stream, Any, bool], None]]] = {
    n.Runs: _put_runs,
    n.Is: _put_is,
    n.Was: _put_was,
    n.Preempted: _put_preempted,
    n.HasLeft: _put_has_left,
    n.Says: _put_says,
    n.Can: _put_can,
}
