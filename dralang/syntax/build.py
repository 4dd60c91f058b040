# ruff: noqa: D102  # a method is a rule of the grammar: the rule is its documentation
"""Reductions of the grammar to nodes: one method for each rule of ``grammar/dra.lark``, called by Lark.

All tokens are kept in ``children``, so that the first and the last child give the span.
"""

from typing import Any, TypeAlias, TypeVar

from dralang.diagnostics.source import Span
from dralang.syntax import nodes as n
from dralang.syntax.tokens import Token

Children: TypeAlias = list[Any]
_N = TypeVar("_N")


def _span(children: Children) -> Span:
    first: Span = children[0].span
    last: Span = children[-1].span
    return Span(first.source, first.start, last.end)


def _word(token: Token) -> n.Word:
    return n.Word(token.span, token.text, token.quoted)


def _names(children: Children, start: int) -> tuple[n.Word, ...]:
    """The names among the children from an index on."""
    return tuple([_word(c) for c in children[start:] if type(c) is Token and c.type == "NAME"])


def _nodes(children: Children, kind: type[_N]) -> tuple[_N, ...]:
    return tuple([c for c in children if isinstance(c, kind)])


def _one(children: Children, kind: type[_N]) -> _N | None:
    for child in children:
        if isinstance(child, kind):
            return child
    return None


def _after(children: Children, token_type: str) -> Any:
    """What follows the token of a type, or None if there is no such token."""
    for index, child in enumerate(children):
        if type(child) is Token and child.type == token_type:
            return children[index + 1] if index + 1 < len(children) else None
    return None


def _name_after(children: Children, token_type: str) -> n.Word | None:
    token = _after(children, token_type)
    return _word(token) if type(token) is Token and token.type == "NAME" else None


def _value_after(children: Children, token_type: str) -> Any:
    """The word or hole after the token of a type, or None."""
    found = _after(children, token_type)
    return None if type(found) is Token else found


def _has(children: Children, token_type: str) -> bool:
    return any(type(c) is Token and c.type == token_type for c in children)


class _Tail(n.Node, frozen=True):
    """A part of a predicate on its way up: ``on``, ``with``, ``by``, ``for``, ``because``."""

    keyword: str
    words: tuple[n.Word, ...] = ()
    ref: n.Ref | None = None


class _Count(n.Node, frozen=True):
    """A quantifier on its way up."""

    quantifier: str
    number: n.Word | None


class _Head(n.Node, frozen=True):
    """A part of a scenario's head on its way up."""

    keyword: str
    words: tuple[n.Word, ...] = ()
    call: n.Call | None = None


def _tail(children: Children, keyword: str) -> _Tail | None:
    for child in children:
        if isinstance(child, _Tail) and child.keyword == keyword:
            return child
    return None


def _tail_word(children: Children, keyword: str) -> n.Word | None:
    tail = _tail(children, keyword)
    return tail.words[0] if tail else None


def _tail_words(children: Children, keyword: str) -> tuple[n.Word, ...]:
    tail = _tail(children, keyword)
    return tail.words if tail else ()


def _repeated(children: Children, heads: tuple[_Head, ...]) -> tuple[n.Word, ...]:
    """The heads of a scenario that stand there a second time, tags excepted."""
    seen: set[str] = set()
    repeated = []
    for part in [*heads, *_nodes(children, n.Table)]:
        keyword = part.keyword if isinstance(part, _Head) else "for"
        if keyword in seen and keyword != "tagged":
            repeated.append(n.Word(part.span, keyword))
        seen.add(keyword)
    return tuple(repeated)


class DeclarationBuilder:
    """Values, blocks, declarations, modules."""

    def file(self, children: Children) -> Children:
        return children[::2]

    def version(self, c: Children) -> n.Header:
        return n.Header(_span(c), "kubernetes", _word(c[1]))

    def _header_block(self, c: Children) -> n.Header:
        return n.Header(_span(c), c[0].text, c[1])

    gates = quirks = scheduler = _header_block

    def use(self, c: Children) -> n.Use:
        return n.Use(_span(c), _word(c[1]), _name_after(c, "AS"))

    def fixture(self, c: Children) -> n.Fixture:
        body_start = next(i for i, x in enumerate(c) if type(x) is Token and x.type == "LBRACE")
        items = tuple([x for x in c[body_start:] if type(x) is not Token])
        return n.Fixture(_span(c), _word(c[1]), _nodes(c[:body_start], n.Param), items)

    def param(self, c: Children) -> n.Param:
        return n.Param(_span(c), _word(c[0]), c[2] if len(c) > 1 else None)

    def call(self, c: Children) -> n.Call:
        return n.Call(_span(c), _word(c[0]), _nodes(c, n.Arg))

    def arg(self, c: Children) -> n.Arg:
        return n.Arg(_span(c), None, c[0]) if len(c) == 1 else n.Arg(_span(c), _word(c[0]), c[2])

    def kind(self, c: Children) -> Token:
        token: Token = c[0]
        return token

    def decl(self, c: Children) -> n.Decl:
        value = c[3] if len(c) > 3 and type(c[2]) is Token else None
        last = c[-1]
        body = last if isinstance(last, n.Block) and last is not value else None
        return n.Decl(_span(c), c[0].text, _word(c[1]), value, body)

    def block(self, c: Children) -> n.Block:
        return n.Block(_span(c), tuple(c[1:-1:2]))

    def field(self, c: Children) -> n.Field:
        return n.Field(_span(c), _word(c[0]), c[-1])

    def device(self, c: Children) -> n.Device:
        return n.Device(_span(c), _word(c[1]), c[2] if len(c) > 2 else None)

    def counters(self, c: Children) -> n.Counters:
        return n.Counters(_span(c), _word(c[1]), c[2])

    def consumes(self, c: Children) -> n.Consumes:
        return n.Consumes(_span(c), _word(c[1]), c[2])

    def taint(self, c: Children) -> n.Taint:
        return n.Taint(_span(c), c[1])

    def taint_spec(self, c: Children) -> n.TaintSpec:
        return n.TaintSpec(_span(c), c[0], _value_after(c, "EQUAL"), c[-1])

    def where(self, c: Children) -> n.Where:
        return n.Where(_span(c), self.cel(c[1:]))

    def request(self, c: Children) -> n.Request:
        return n.Request(_span(c), _word(c[1]), c[3])

    def subrequest(self, c: Children) -> n.Request:
        return n.Request(_span(c), _word(c[0]), c[2], is_alternative=True)

    def exact_spec(self, c: Children) -> n.ExactSpec:
        return n.ExactSpec(_span(c), c[0], c[2], _nodes(c, n.Where), _one(c, n.Block))

    def all_spec(self, c: Children) -> n.ExactSpec:
        return n.ExactSpec(_span(c), None, c[2], _nodes(c, n.Where), _one(c, n.Block))

    def first_available(self, c: Children) -> n.FirstAvailable:
        return n.FirstAvailable(_span(c), c[2])

    def _constraint(self, c: Children) -> n.Constraint:
        return n.Constraint(_span(c), c[0].text, _word(c[1]), _names(c, 3))

    match = distinct = _constraint

    def tolerate(self, c: Children) -> n.Tolerate:
        return n.Tolerate(_span(c), c[1], _value_after(c, "EQUAL"), _value_after(c, "COLON"), _value_after(c, "FOR"))

    def derive(self, c: Children) -> n.Derive:
        return n.Derive(_span(c), _word(c[1]), self.cel(c[3:]))

    def _claim_entry(self, c: Children) -> n.ClaimEntry:
        return n.ClaimEntry(_span(c), _word(c[1]), c[2].text, c[3])

    claim_from = claim_is = _claim_entry

    def claim_use(self, c: Children) -> n.ClaimUse:
        return n.ClaimUse(_span(c), _word(c[1]), _name_after(c, "REQUEST"))

    def container(self, c: Children) -> n.Container:
        return n.Container(_span(c), init=False, name=_word(c[1]), body=_one(c, n.Block))

    def init_container(self, c: Children) -> n.Container:
        return n.Container(_span(c), init=True, name=_word(c[2]), body=_one(c, n.Block))

    def on_node(self, c: Children) -> n.OnNode:
        return n.OnNode(_span(c), c[2])

    def word(self, c: Children) -> n.Word:
        return _word(c[0])

    def cel(self, c: Children) -> n.CelText:
        return n.CelText(c[0].span, c[0].text)

    def list(self, c: Children) -> n.ListValue:
        return n.ListValue(_span(c), tuple(c[1:-1:2]))

    def tuple(self, c: Children) -> n.TupleValue:
        return n.TupleValue(_span(c), tuple(c[1:-1:2]))

    def any_range(self, c: Children) -> n.AnyRange:
        return n.AnyRange(_span(c), _word(c[1]), _word(c[3]))

    def any_of(self, c: Children) -> n.AnyOf:
        return n.AnyOf(_span(c), c[-1])

    def any_subset(self, c: Children) -> n.AnyOf:
        return n.AnyOf(_span(c), c[-1], subset=True)

    def any_kind(self, c: Children) -> n.AnyKind:
        return n.AnyKind(_span(c), c[1].text)


class ScenarioBuilder(DeclarationBuilder):
    """Scenarios, statements, propositions: with the base, every rule."""

    def tagged(self, c: Children) -> _Head:
        return _Head(_span(c), "tagged", _names(c, 1))

    def xfail(self, c: Children) -> _Head:
        return _Head(_span(c), "xfail", (_word(c[1]),))

    def for_list(self, c: Children) -> n.Table:
        return n.Table(_span(c), (_word(c[1]),), c[3])

    def for_range(self, c: Children) -> n.Table:
        return n.Table(_span(c), (_word(c[1]),), None, _word(c[3]), _word(c[5]))

    def for_rows(self, c: Children) -> n.Table:
        return n.Table(_span(c), _names(c, 2), c[-1])

    def from_(self, c: Children) -> _Head:
        return _Head(_span(c), "from", call=c[1])

    def scenario(self, c: Children) -> n.Scenario:
        heads = _nodes(c, _Head)
        tags = tuple([word for head in heads if head.keyword == "tagged" for word in head.words])
        xfail = next((head.words[0] for head in heads if head.keyword == "xfail"), None)
        source = next((head.call for head in heads if head.keyword == "from"), None)
        fuzz = c[0].text == "fuzz"
        return n.Scenario(
            _span(c), _word(c[1]), tags, xfail, _one(c, n.Table), c[-1], fuzz, source, _repeated(c, heads)
        )

    fuzz = scenario

    def body(self, c: Children) -> n.Body:
        return n.Body(_span(c), tuple(c[1:-1:2]))

    def at(self, c: Children) -> n.At:
        return n.At(_span(c), c[1], c[2])

    def after(self, c: Children) -> n.After:
        return n.After(_span(c), c[1], c[2] if len(c) > 2 else None)

    def within(self, c: Children) -> n.Expect:
        return n.Expect(_span(c), c[1], c[2].proposition)

    def settle(self, c: Children) -> n.Settle:
        return n.Settle(_span(c))

    def create(self, c: Children) -> n.Create:
        like = _after(c, "LIKE")
        if isinstance(like, n.AnyOf):
            like = n.Ref(like.span, "", like)
        refs = tuple([x for x in c if isinstance(x, n.Ref) and x is not like])
        return n.Create(_span(c), refs, like, _one(c, n.Block))

    def _objects_action(self, c: Children) -> n.ObjectsAction:
        return n.ObjectsAction(_span(c), c[0].text, _nodes(c, n.Ref))

    delete = finish = fail = cordon = uncordon = _objects_action

    def set_field(self, c: Children) -> n.SetField:
        return n.SetField(_span(c), c[1], _word(c[2]), c[4])

    def set_block(self, c: Children) -> n.SetBlock:
        return n.SetBlock(_span(c), c[1], c[2])

    def set_condition(self, c: Children) -> n.SetCondition:
        return n.SetCondition(_span(c), c[2], c[4], c[6], c[8], _tail_word(c, "because"))

    def publish(self, c: Children) -> n.Publish:
        return n.Publish(_span(c), c[1])

    def taint_object(self, c: Children) -> n.TaintObject:
        return n.TaintObject(_span(c), self._target_ref(c[1]), c[3])

    def untaint_object(self, c: Children) -> n.UntaintObject:
        return n.UntaintObject(_span(c), self._target_ref(c[1]), c[2], _value_after(c, "COLON"))

    def _target_ref(self, target: n.Ref | n.AnyKind) -> n.Ref:
        return target if isinstance(target, n.Ref) else n.Ref(target.span, target.kind, target)

    def device_ref(self, c: Children) -> n.Ref:
        return n.Ref(_span(c), c[0].text, c[1])

    node_ref = device_ref

    def counters_ref(self, c: Children) -> n.Ref:
        return n.Ref(_span(c), c[0].text, _word(c[1]))

    def label(self, c: Children) -> n.Label:
        return n.Label(_span(c), c[1], _nodes(c, n.LabelEntry))

    def label_entry(self, c: Children) -> n.LabelEntry:
        return n.LabelEntry(_span(c), _word(c[0]), c[2] if len(c) > 2 else None)

    def repeat(self, c: Children) -> n.Repeat:
        return n.Repeat(_span(c), c[1], _name_after(c, "AS"), c[-1])

    def _component_action(self, c: Children) -> n.ComponentAction:
        return n.ComponentAction(_span(c), c[0].text, c[1])

    pause = resume = restart = _component_action

    def fail_next(self, c: Children) -> n.FailNext:
        count = None if type(c[2]) is Token else c[2]
        return n.FailNext(_span(c), count, c[-3].text, c[-1])

    def delay(self, c: Children) -> n.Delay:
        return n.Delay(_span(c), c[1], c[3])

    def maybe(self, c: Children) -> n.Maybe:
        return n.Maybe(_span(c), c[1])

    def any_order(self, c: Children) -> n.AnyOrder:
        return n.AnyOrder(_span(c), c[3])

    def compare(self, c: Children) -> n.Compare:
        return n.Compare(_span(c), c[2])

    def ref(self, c: Children) -> n.Ref:
        first = c[0]
        if type(first) is not Token:
            return n.Ref(_span(c), first.kind if isinstance(first, n.AnyKind) else "", first)
        return n.Ref(_span(c), first.text, c[1]) if len(c) > 1 else n.Ref(_span(c), "", _word(first))

    def expect(self, c: Children) -> n.Expect:
        return n.Expect(_span(c), None, c[1])

    def _property(self, c: Children) -> n.Property:
        return n.Property(_span(c), c[0].text, c[1])

    always = never = witness = _property

    def cel_proposition(self, c: Children) -> n.CelProposition:
        return n.CelProposition(_span(c), self.cel(c[:1]), _tail_word(c, "because"))

    def proposition(self, c: Children) -> n.Simple:
        return n.Simple(_span(c), c[0], c[1], _tail_word(c, "because"))

    def because(self, c: Children) -> _Tail:
        return _Tail(_span(c), "because", (_word(c[1]),))

    def subject(self, c: Children) -> n.Objects:
        return n.Objects(_span(c), _nodes(c, n.Ref))

    def subject_ref(self, c: Children) -> n.Ref:
        ref: n.Ref = c[0]
        return ref

    def claim_of(self, c: Children) -> n.ClaimOf:
        return n.ClaimOf(_span(c), c[0], _word(c[3]))

    def condition_of(self, c: Children) -> n.ConditionOf:
        return n.ConditionOf(_span(c), _word(c[1]), c[3])

    def _quantifier(self, c: Children) -> _Count:
        number = _word(c[-1]) if c[-1].type == "NAME" else None
        words = c[:-1] if number else c
        return _Count(_span(c), " ".join([token.text for token in words]), number)

    exactly = at_least = at_most = more_than = fewer_than = none = all = no = _quantifier

    def counted_refs(self, c: Children) -> n.Quantified:
        return n.Quantified(_span(c), "", None, _nodes(c, n.Ref))

    def counted_pods(self, c: Children) -> n.Quantified:
        return n.Quantified(_span(c), "", None, (), _word(c[0]) if len(c) > 1 else None)

    def quantified(self, c: Children) -> n.Quantified:
        count: _Count = c[0]
        what: n.Quantified = c[1]
        return n.Quantified(_span(c), count.quantifier, count.number, what.refs, what.state)

    def runs(self, c: Children) -> n.Runs:
        return n.Runs(_span(c), _has(c, "NOT"), _tail_word(c, "on"), _tail_words(c, "with"))

    runs_not = runs

    def is_(self, c: Children) -> n.Is:
        negated = _has(c, "NOT")
        state = _word(c[2 if negated else 1])
        by = _tail(c, "by")
        return n.Is(
            _span(c),
            negated,
            state,
            _nodes(c, n.ResultSpec),
            _tail_words(c, "for"),
            _tail_word(c, "on"),
            by.ref if by else None,
        )

    def was(self, c: Children) -> n.Was:
        negated = _has(c, "NOT")
        by = _tail(c, "by")
        return n.Was(_span(c), negated, _word(c[2 if negated else 1]), by.ref if by else None)

    def preempted(self, c: Children) -> n.Preempted:
        return n.Preempted(_span(c), _nodes(c, n.Ref))

    def has_left(self, c: Children) -> n.HasLeft:
        return n.HasLeft(_span(c), _word(c[1]), _word(c[2]))

    def says(self, c: Children) -> n.Says:
        return n.Says(_span(c), _word(c[1]))

    def can(self, c: Children) -> n.Can:
        return n.Can(_span(c), _word(c[1]))

    def on(self, c: Children) -> _Tail:
        return _Tail(_span(c), "on", _names(c, 1))

    def with_(self, c: Children) -> _Tail:
        return _Tail(_span(c), "with", _names(c, 1))

    def by(self, c: Children) -> _Tail:
        return _Tail(_span(c), "by", ref=c[1])

    def for_names(self, c: Children) -> _Tail:
        return _Tail(_span(c), "for", _names(c, 1))

    def result(self, c: Children) -> n.ResultSpec:
        return n.ResultSpec(_span(c), _names(c, 0)[0], _name_after(c, "FOR"), _one(c, n.Block))
