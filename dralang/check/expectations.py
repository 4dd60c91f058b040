"""Expectations with their names resolved: tree to propositions."""

from typing import Final, cast, get_args

from dralang.api.schema import FieldSchema
from dralang.cel.object_expressions import ObjectExpressionError, compile_object_expression
from dralang.check import problems
from dralang.check.expand import Bindings, names, scalar, substitute
from dralang.check.scope import KIND_ORDER, Scope, spoken_kind
from dralang.check.vacuous import check_count
from dralang.check.values import Converter, cel_text, text_of
from dralang.diagnostics.source import Span
from dralang.scenario import propositions as p
from dralang.scenario.keys import ObjectKey
from dralang.scenario.variables import NAMES
from dralang.syntax import nodes as n
from dralang.syntax.vocabulary import STATES
from dralang.values.quantity import Quantity, parse_quantity

_POD: Final = ("Pod",)
_CLAIM: Final = ("ResourceClaim",)
# Whose state a word can be; `device` and `condition` are no kinds of the API.
STATE_KINDS: Final[dict[str, tuple[str, ...]]] = {
    "pending": _POD,
    "running": _POD,
    "settled": _POD,
    "succeeded": _POD,
    "failed": _POD,
    "nominated": _POD,
    "preempted": _POD,
    "evicted": _POD,
    "terminating": KIND_ORDER,
    "gone": KIND_ORDER,
    "ready": ("Pod", "Node"),
    "allocated": (*_CLAIM, "device"),
    "reserved": _CLAIM,
    "tainted": ("device", "Node"),
    "free": ("device",),
    "in-use": ("device",),
    "true": ("condition",),
    "false": ("condition",),
    "unknown": ("condition",),
}
HAPPENINGS: Final = ("preempted", "evicted")
_QUANTITIES = FieldSchema("", "consuming", "map", "quantity", None, (), always=False, nullable=False, default=None)


class PropositionBuilder:
    """Builds propositions in a scope."""

    def __init__(self, scope: Scope, converter: Converter) -> None:
        self.scope = scope
        self.converter = converter
        self.log = converter.log

    def build(self, node: n.Proposition, bindings: Bindings) -> p.Proposition | None:
        """A proposition, or None after diagnostics."""
        because = None
        if node.because is not None:
            because = substitute(node.because.text, node.because.span, bindings, self.log)
        if isinstance(node, n.CelProposition):
            located = cel_text(node.expression, bindings, self.log)
            if located is None or not isinstance(located.value, str):
                return None
            if node.because is not None:
                self.log.add(problems.no_reason("an expression", node.because.span))
                return None
            try:
                if not compile_object_expression(located.value, NAMES).names:
                    self.log.add(problems.looks_at_nothing(located.span))
            except ObjectExpressionError as error:
                self.log.add(problems.bad_cel(str(error), located.span, error.offset, error.help))
                return None
            return p.CelStatement(located.span, located.value, because)
        predicate = self._predicate(node.predicate, bindings)
        subject = self._subject(node, bindings)
        if subject is None or predicate is None or not self._may_have_reason(node, subject):
            return None
        return p.Statement(node.span, subject, predicate, because)

    def _may_have_reason(self, node: n.Simple, subject: p.Subject) -> bool:
        """Whether `because` finds a text to look at; a diagnostic if not, or if any text would do."""
        because = node.because
        if because is None:
            return True
        if not because.text:
            self.log.add(problems.empty_text("reason", because.span, "write a part of the reason, or no `because`"))
            return False
        what = self._without_reason(node, subject)
        if what:
            self.log.add(problems.no_reason(what, because.span))
        return not what

    def _without_reason(self, node: n.Simple, subject: p.Subject) -> str:
        """What nothing gives a reason for; empty if something does."""
        runs = isinstance(node.predicate, n.Runs) and not node.predicate.negated
        if runs or isinstance(node.predicate, n.Preempted | n.HasLeft | n.Says | n.Can):
            return f"`{node.predicate.span.text}`"
        if isinstance(subject, p.Counted):
            kinds = {pattern.kind for pattern in subject.patterns}
        else:
            kinds = {_kind_of(term) for term in subject.subjects}
        others = sorted(kinds - {"Pod", "condition"})
        return f"the state of a {spoken_kind(others[0]) if others[0] in KIND_ORDER else others[0]}" if others else ""

    # ---- subjects ---------------------------------------------------------------------------------------------------

    def _subject(self, node: n.Simple, bindings: Bindings) -> p.Subject | None:
        kinds = self._kinds(node)
        if kinds is None:
            return None
        subject = node.subject
        if isinstance(subject, n.Quantified):
            return self._counted(subject, kinds, bindings)
        terms: list[p.SubjectTerm] = []
        if isinstance(subject, n.Objects):
            for ref in subject.refs:
                terms += self._terms(ref, kinds, bindings)
        elif isinstance(subject, n.ClaimOf):
            entry = text_of(subject.claim, bindings, self.log)
            for key in self.scope.resolve(subject.pod, bindings, _POD, globs=False):
                if entry is not None and isinstance(entry.value, str):
                    terms.append(p.PodClaimTerm(subject.span, key, entry.value))
        else:
            condition = text_of(subject.condition, bindings, self.log)
            for key in self.scope.resolve(subject.object, bindings, KIND_ORDER, globs=False):
                if condition is not None and isinstance(condition.value, str):
                    terms.append(p.ConditionTerm(subject.span, condition.value, key))
        return p.Each(subject.span, tuple(terms)) if terms else None

    def _kinds(self, node: n.Simple) -> tuple[str, ...] | None:
        """The kinds that the predicate can be about; None after a diagnostic if it cannot be about the subject."""
        match node.predicate:
            case n.Is():
                state = node.predicate.state.text
                if state not in STATE_KINDS:
                    self.log.add(problems.bad_state(state, "thing", node.predicate.state.span, STATES))
                    return None
                kinds = STATE_KINDS[state]
            case n.HasLeft():
                kinds = ("device", "counters")
            case n.Says():
                kinds = ("DeviceTaintRule", *(kind for kind in KIND_ORDER if kind != "DeviceTaintRule"))
            case _:
                kinds = _POD
        return self._fitting(node, kinds)

    def _fitting(self, node: n.Simple, kinds: tuple[str, ...]) -> tuple[str, ...] | None:
        subject = node.subject
        if isinstance(subject, n.ConditionOf) != (kinds == ("condition",)):
            self._misfit(
                node, "condition" if isinstance(subject, n.ConditionOf) else "object", ("true", "false", "unknown")
            )
            return None
        if isinstance(subject, n.ClaimOf) and "ResourceClaim" not in kinds:
            self._misfit(node, "claim", [state for state, of in STATE_KINDS.items() if "ResourceClaim" in of])
            return None
        return kinds

    def _misfit(self, node: n.Simple, subject: str, states: list[str] | tuple[str, ...]) -> None:
        predicate = node.predicate
        word = predicate.state.text if isinstance(predicate, n.Is | n.Was) else predicate.span.text.split()[0]
        known = (
            [state for state in STATES if state not in ("true", "false", "unknown")] if subject == "object" else states
        )
        self.log.add(problems.bad_state(word, subject, predicate.span, known))

    def _terms(self, ref: n.Ref, kinds: tuple[str, ...], bindings: Bindings) -> list[p.SubjectTerm]:
        if ref.kind == "counters" or (not ref.kind and kinds == ("counters",)):
            return self._counters(ref, kinds, bindings)
        objects = tuple([kind for kind in kinds if kind not in ("device", "counters")])
        if ref.kind == "device" or (not ref.kind and "device" in kinds and not self._is_object(ref, objects, bindings)):
            if "device" not in kinds:
                states = [state for state, of in STATE_KINDS.items() if "device" in of]
                self.log.add(problems.bad_state(self._state_word(kinds), "device", ref.span, states))
                return []
            return list(self.devices_of(ref, bindings))
        return [p.ObjectTerm(ref.span, key) for key in self.scope.resolve(ref, bindings, objects)]

    def _state_word(self, kinds: tuple[str, ...]) -> str:
        return next((state for state, of in STATE_KINDS.items() if of == kinds), "that")

    def _is_object(self, ref: n.Ref, kinds: tuple[str, ...], bindings: Bindings) -> bool:
        if not kinds or not isinstance(ref.name, n.Word):
            return False
        quiet = substitute(ref.name.text, ref.name.span, bindings, self.log) or ""
        return any(key.kind in kinds for key in self.scope.by_name.get(quiet.rpartition("/")[2], ()))

    def _counters(self, ref: n.Ref, kinds: tuple[str, ...], bindings: Bindings) -> list[p.SubjectTerm]:
        if "counters" not in kinds:
            self.log.add(problems.bad_state(self._state_word(kinds), "counter set", ref.span, ["has ... left"]))
            return []
        result: list[p.SubjectTerm] = []
        for name in names(ref.name, bindings, self.log) if isinstance(ref.name, n.Word) else ():
            known = self.scope.counter_set(name.text, name.span)
            if known is not None:
                result.append(p.CountersTerm(ref.span, known))
        return result

    def devices(self, words: tuple[n.Word, ...], bindings: Bindings) -> tuple[p.DeviceTerm, ...]:
        """Devices by name, each checked against the slices."""
        result = []
        for word in words:
            for name in names(word, bindings, self.log):
                known = self.scope.device(name.text, name.span)
                if known is not None:
                    result.append(p.DeviceTerm(name.span, known))
        return tuple(result)

    def devices_of(self, ref: n.Ref, bindings: Bindings) -> tuple[p.DeviceTerm, ...]:
        """The devices that a reference means; of a hole the first choice, and every choice must exist."""
        groups = []
        for each in self.scope.chosen(ref):
            if each.kind not in ("", "device"):
                self.log.add(problems.wrong_value(f"this needs a device, not a {each.kind}", each.span))
            elif isinstance(each.name, n.Word):
                groups.append(self.devices((each.name,), bindings))
        return groups[0] if groups else ()

    def _counted(self, node: n.Quantified, kinds: tuple[str, ...], bindings: Bindings) -> p.Counted | None:
        objects = tuple([kind for kind in kinds if kind not in ("device", "counters", "condition")])
        patterns = []
        for ref in node.refs:
            for key in self.scope.resolve(ref, bindings, objects or _POD):
                patterns.append(p.Pattern(key.kind, key.namespace, key.name))
        if node.refs and not patterns:
            return None
        number = 0
        if node.number is not None:
            counted = self.count(node.number, bindings)
            if counted is None:
                return None
            number = counted
            check_count(node, patterns, number, self.log)
        state = ""
        if node.state is not None:
            state = node.state.text
            if STATE_KINDS.get(state) is None or "Pod" not in STATE_KINDS[state]:
                known = [word for word, of in STATE_KINDS.items() if "Pod" in of]
                self.log.add(problems.bad_state(state, "pod", node.state.span, known))
                return None
        quantifier = cast(p.Quantifier, node.quantifier)
        assert quantifier in get_args(p.Quantifier)
        return p.Counted(node.span, quantifier, number, tuple(patterns), state)

    def count(self, word: n.Word, bindings: Bindings) -> int | None:
        """A word that must be a number from 0."""
        resolved = self.converter.resolve(word, bindings)
        value = scalar(resolved) if isinstance(resolved, n.Word) else None
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            if resolved is not None:
                shown = resolved.text if isinstance(resolved, n.Word) else word.text
                self.log.add(
                    problems.bad_number(f"`{shown}` is no number of things", word.span, "write a number from 0")
                )
            return None
        return value

    # ---- predicates -------------------------------------------------------------------------------------------------

    def _predicate(self, node: n.Predicate, bindings: Bindings) -> p.Predicate | None:
        match node:
            case n.Runs():
                return p.Runs(
                    node.span, node.negated, self._node(node.node, bindings), self.devices(node.devices, bindings)
                )
            case n.Is():
                return self._in_state(node, bindings)
            case n.Was():
                if node.state.text not in HAPPENINGS:
                    self.log.add(problems.bad_state(node.state.text, "pod's past", node.state.span, HAPPENINGS))
                    return None
                return p.Happened(node.span, node.negated, node.state.text, self._by(node, bindings))
            case n.Preempted():
                victims = [key for ref in node.victims for key in self.scope.resolve(ref, bindings, _POD)]
                return p.DidPreempt(node.span, tuple(victims))
            case n.HasLeft():
                amount = self._quantity(node.amount, bindings)
                name = text_of(node.name, bindings, self.log)
                if amount is None or name is None:
                    return None
                return p.HasLeft(node.span, amount, str(name.value))
            case n.Says():
                text = substitute(node.text.text, node.text.span, bindings, self.log)
                if not node.text.text:
                    self.log.add(problems.empty_text("message", node.text.span, "write a part of the message"))
                return None if text is None else p.Says(node.span, text)
            case n.Can():
                if node.verb.text != "preempt":
                    self.log.add(problems.bad_state(f"can {node.verb.text}", "pod", node.verb.span, ["can preempt"]))
                    return None
                return p.CanPreempt(node.span)

    def _in_state(self, node: n.Is, bindings: Bindings) -> p.InState | None:
        state = node.state.text
        extras = {
            "allocated": bool(node.results),
            "reserved": bool(node.reserved_for),
            "nominated": node.node is not None,
            "preempted": node.by is not None,
            "evicted": node.by is not None,
        }
        given = bool(node.results or node.reserved_for or node.node or node.by)
        if given and not extras.get(state, False):
            way_out = (
                "`runs on NODE with DEVICES`, `is allocated DEVICES`, `is reserved for PODS`, `is nominated on NODE`"
            )
            if node.results and node.results[0].device.quoted:
                way_out = f'a reason is written `because "{node.results[0].device.text}"`'
            self.log.add(problems.wrong_value(f"`is {state}` says nothing more", node.span, way_out))
            return None
        results = [self._result(result, bindings) for result in node.results]
        consumers = [
            key
            for word in node.reserved_for
            for key in self.scope.resolve(n.Ref(word.span, "", word), bindings, ("Pod", "PodGroup"), globs=False)
        ]
        return p.InState(
            node.span,
            node.negated,
            state,
            tuple([result for group in results for result in group]),
            tuple(consumers),
            self._node(node.node, bindings),
            self._by(node, bindings),
        )

    def _result(self, node: n.ResultSpec, bindings: Bindings) -> list[p.ResultTerm]:
        request = None if node.request is None else text_of(node.request, bindings, self.log)
        consuming = self._consuming(node.consuming, bindings)
        named = None if request is None else str(request.value)
        return [p.ResultTerm(node.span, device, named, consuming) for device in self.devices((node.device,), bindings)]

    def _consuming(self, block: n.Block | None, bindings: Bindings) -> dict[str, Quantity] | None:
        if block is None:
            return None
        located = self.converter.member(block, _QUANTITIES, bindings)
        if located is None or not isinstance(located.value, dict):
            return None
        result = {}
        for name, entry in located.value.items():
            quantity = self._parse_quantity(entry.value, entry.span)
            if quantity is not None:
                result[name] = quantity
        return result

    def _quantity(self, word: n.Word, bindings: Bindings) -> Quantity | None:
        resolved = self.converter.resolve(word, bindings)
        if not isinstance(resolved, n.Word):
            return None
        return self._parse_quantity(resolved.text, word.span)

    def _parse_quantity(self, value: object, span: Span) -> Quantity | None:
        try:
            return parse_quantity(str(value))
        except ValueError:
            self.log.add(problems.bad_quantity(str(value), span))
            return None

    def _node(self, word: n.Word | None, bindings: Bindings) -> str | None:
        if word is None:
            return None
        keys = self.scope.resolve(n.Ref(word.span, "", word), bindings, ("Node",), globs=False)
        return keys[0].name if keys else None

    def _by(self, node: n.Is | n.Was, bindings: Bindings) -> ObjectKey | None:
        """Who did it: pods preempt, taint rules evict."""
        if node.by is None:
            return None
        kinds = ("DeviceTaintRule",) if node.state.text == "evicted" else _POD
        keys = self.scope.resolve(node.by, bindings, kinds, globs=False)
        return keys[0] if keys else None


def _kind_of(term: p.SubjectTerm) -> str:
    match term:
        case p.ObjectTerm():
            return term.key.kind
        case p.PodClaimTerm():
            return "ResourceClaim"
        case p.ConditionTerm():
            return "condition"
        case p.DeviceTerm():
            return "device"
        case p.CountersTerm():
            return "counter set"
