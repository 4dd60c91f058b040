"""The syntax tree. Every node has a span; each docstring shows the syntax it stands for.

Words keep what the author wrote: ranges, globs and ``${...}`` inside them are read by ``check.expand``. Two trees are
compared by ``dump``, which leaves the spans out.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from dralang.diagnostics.source import SourceFile, Span
from dralang.syntax.tokens import Comment


class Node(Struct, frozen=True, gc=False):
    """Base of all nodes."""

    span: Span


# ---- values ---------------------------------------------------------------------------------------------------------


class Word(Node, frozen=True):
    """``gpu-0``, ``80Gi``, ``v1.2.3``, ``"a text"``: a name or a scalar; its place says which."""

    text: str
    quoted: bool = False


class CelText(Node, frozen=True):
    """An expression between backticks; ``text`` is without them."""

    text: str


class ListValue(Node, frozen=True):
    """``[a, b]``."""

    items: tuple[Value, ...]


class TupleValue(Node, frozen=True):
    """``(a, b)``: a row of a scenario table."""

    items: tuple[Value, ...]


class Block(Node, frozen=True):
    """``{ ... }`` with fields and sugar: the body of a declaration, or a map."""

    entries: tuple[Entry, ...]


class AnyRange(Node, frozen=True):
    """``any 0..9``."""

    low: Word
    high: Word


class AnyOf(Node, frozen=True):
    """``any of [a, b]``, or with ``subset`` set ``any subset of [a, b]``."""

    items: ListValue
    subset: bool = False


class AnyKind(Node, frozen=True):
    """``any device``, ``any node``: one that exists."""

    kind: str


Hole: TypeAlias = AnyRange | AnyOf | AnyKind
When: TypeAlias = Word | AnyRange | AnyOf
Choice: TypeAlias = Word | AnyOf
Pick: TypeAlias = Word | AnyOf | AnyKind
Value: TypeAlias = Word | CelText | ListValue | TupleValue | Block | AnyRange | AnyOf | AnyKind

# ---- entries of blocks ----------------------------------------------------------------------------------------------


class Field(Node, frozen=True):
    """``name: value`` or ``name { ... }``."""

    name: Word
    value: Value


class Device(Node, frozen=True):
    """``device gpu-[0..3] { ... }`` in a slice."""

    name: Word
    body: Block | None


class Counters(Node, frozen=True):
    """``counters card-0 { memory: 80Gi }`` in a slice."""

    name: Word
    body: Block


class Consumes(Node, frozen=True):
    """``consumes card-0 { memory: 10Gi }`` in a device."""

    name: Word
    body: Block


class TaintSpec(Node, frozen=True):
    """``KEY[=VALUE]:EFFECT``."""

    key: Choice
    value: Choice | None
    effect: Choice


class Taint(Node, frozen=True):
    """``taint KEY[=VALUE]:EFFECT`` in a device, node or taintrule."""

    taint: TaintSpec


class Where(Node, frozen=True):
    """``where `CEL` `` in a class, request or subrequest."""

    expression: CelText


class ExactSpec(Node, frozen=True):
    """``2 of gpu where `...` { ... }``; ``count`` is None for ``all of``."""

    count: When | None
    class_name: Choice
    where: tuple[Where, ...]
    body: Block | None


class FirstAvailable(Node, frozen=True):
    """``first available { whole: 1 of gpu }``."""

    body: Block


class Request(Node, frozen=True):
    """``request gpu: 1 of gpu``; without the keyword it is an alternative of ``first available``."""

    name: Word
    spec: ExactSpec | FirstAvailable
    is_alternative: bool = False


class Constraint(Node, frozen=True):
    """``match ATTRIBUTE [across a, b]`` or ``distinct ...``; ``kind`` is that keyword."""

    kind: str
    attribute: Word
    across: tuple[Word, ...]


class Tolerate(Node, frozen=True):
    """``tolerate KEY[=VALUE][:EFFECT] [for 5m]``."""

    key: Choice
    value: Choice | None
    effect: Choice | None
    duration: When | None


class Derive(Node, frozen=True):
    """``derive derived/numa = `CEL` ``."""

    name: Word
    expression: CelText


class ClaimEntry(Node, frozen=True):
    """``claim gpu from TEMPLATE`` or ``claim gpu is CLAIM`` in a pod; ``relation`` is that keyword."""

    name: Word
    relation: str
    target: Pick


class ClaimUse(Node, frozen=True):
    """``claim gpu [request r]`` in a container."""

    name: Word
    request: Word | None


class Container(Node, frozen=True):
    """``[init] container main { ... }`` in a pod."""

    init: bool
    name: Word
    body: Block | None


class OnNode(Node, frozen=True):
    """``on node W`` in a pod."""

    node: Pick


Entry: TypeAlias = (
    Field | Device | Counters | Consumes | Taint | Where | Request | Constraint | Tolerate | Derive | ClaimEntry
    | ClaimUse | Container | OnNode
)  # fmt: skip

# ---- items of files -------------------------------------------------------------------------------------------------


class Header(Node, frozen=True):
    """``kubernetes 1.37``, ``gates { ... }``, ``quirks { ... }``, ``scheduler { ... }``; ``keyword`` says which."""

    keyword: str
    value: Word | Block


class Use(Node, frozen=True):
    """``use "file"`` or ``use std.x.y [as z]``."""

    target: Word
    alias: Word | None


class Param(Node, frozen=True):
    """``gpus = 8`` of a fixture."""

    name: Word
    default: Value | None


class Fixture(Node, frozen=True):
    """``fixture gpu-node(name, gpus = 8) { ... }``."""

    name: Word
    params: tuple[Param, ...]
    items: tuple[Item, ...]


class Arg(Node, frozen=True):
    """``worker-1`` or ``gpus: 2`` of a call."""

    name: Word | None
    value: Value


class Call(Node, frozen=True):
    """``gpu-node(worker-[1..4], gpus: 2)``."""

    name: Word
    args: tuple[Arg, ...]


class Decl(Node, frozen=True):
    """``pod train { ... }``, ``priority high: 1000``; ``kind`` is the keyword."""

    kind: str
    name: Word
    value: Value | None
    body: Block | None


class Table(Node, frozen=True):
    """``for X in [..]``, ``for X in 1..3`` (``low``, ``high``), ``for (X, Y) in [(..), ..]``."""

    names: tuple[Word, ...]
    rows: ListValue | None
    low: Word | None = None
    high: Word | None = None


class Scenario(Node, frozen=True):
    """``scenario "title" tagged a xfail "why" for X in [..] { ... }``, or a ``fuzz``.

    ``repeated`` holds the parts of the head that stand there a second time.
    """

    title: Word
    tags: tuple[Word, ...]
    xfail: Word | None
    table: Table | None
    body: Body
    fuzz: bool = False
    source: Call | None = None
    repeated: tuple[Word, ...] = ()


class Property(Node, frozen=True):
    """``always P``, ``never P``, ``witness P``; ``keyword`` says which."""

    keyword: str
    proposition: Proposition


Item: TypeAlias = Header | Use | Fixture | Call | Decl | Scenario | Property

# ---- statements -----------------------------------------------------------------------------------------------------


class Body(Node, frozen=True):
    """``{ statements }``."""

    statements: tuple[Statement, ...]


class Ref(Node, frozen=True):
    """``batch``, ``pod batch``, ``batch-*``, ``device gpu-0``; ``kind`` is the keyword or empty."""

    kind: str
    name: Pick


class ObjectsAction(Node, frozen=True):
    """``delete a, b``; ``keyword``: delete, finish, fail, cordon, uncordon."""

    keyword: str
    objects: tuple[Ref, ...]


class Create(Node, frozen=True):
    """``create a, b``, ``create pod x like small { ... }``."""

    objects: tuple[Ref, ...]
    like: Ref | None
    body: Block | None


class SetField(Node, frozen=True):
    """``set slice gpus devices[gpu-0].allNodes: true``."""

    object: Ref
    path: Word
    value: Value


class SetBlock(Node, frozen=True):
    """``set taintrule broken { ... }``."""

    object: Ref
    body: Block


class SetCondition(Node, frozen=True):
    """``set condition is-ready of CLAIM device D: true [because "..."]``."""

    condition: Choice
    claim: Ref
    device: Pick
    value: Value
    because: Word | None


class Publish(Node, frozen=True):
    """``publish slice gpus { ... }``: a new generation of its pool."""

    decl: Decl


class TaintObject(Node, frozen=True):
    """``taint device D with KEY=V:EFFECT``."""

    target: Ref
    taint: TaintSpec


class UntaintObject(Node, frozen=True):
    """``untaint device D KEY[:EFFECT]``."""

    target: Ref
    key: Choice
    effect: Choice | None


class LabelEntry(Node, frozen=True):
    """``k=v``."""

    key: Word
    value: Choice | None


class Label(Node, frozen=True):
    """``label node worker-1 k=v, k2=v2``."""

    object: Ref
    entries: tuple[LabelEntry, ...]


class Repeat(Node, frozen=True):
    """``repeat 3 as i { ... }``."""

    count: When
    name: Word | None
    body: Body


class ComponentAction(Node, frozen=True):
    """``pause C``, ``resume C``, ``restart scheduler``."""

    keyword: str
    component: Choice


class FailNext(Node, frozen=True):
    """``fail next 2 bind of serve``."""

    count: When | None
    operation: str
    object: Ref


class Delay(Node, frozen=True):
    """``delay resourceclaim-controller by 5s``."""

    component: Choice
    duration: When


class Maybe(Node, frozen=True):
    """``maybe STATEMENT``."""

    statement: Statement


class AnyOrder(Node, frozen=True):
    """``any order of { ... }``."""

    body: Body


class Compare(Node, frozen=True):
    """``compare with { gates { ... } }``."""

    settings: Block


class At(Node, frozen=True):
    """``at 10s STATEMENT``, ``at 10s { ... }``."""

    time: When
    body: Statement | Body


class After(Node, frozen=True):
    """``after 5s [STATEMENT]``."""

    duration: When
    body: Statement | Body | None


class Settle(Node, frozen=True):
    """``settle``."""


class Expect(Node, frozen=True):
    """``[within 30s] expect P``."""

    within: When | None
    proposition: Proposition


Statement: TypeAlias = (
    Header | Decl | Call | Property | Expect | At | After | Settle | ObjectsAction | Create | SetField | SetBlock
    | SetCondition | Publish | TaintObject | UntaintObject | Label | Repeat | ComponentAction | FailNext | Delay | Maybe
    | AnyOrder | Compare
)  # fmt: skip

# ---- propositions ---------------------------------------------------------------------------------------------------


class Objects(Node, frozen=True):
    """``a, b``: each of them."""

    refs: tuple[Ref, ...]


class ClaimOf(Node, frozen=True):
    """``serve's claim gpu``."""

    pod: Ref
    claim: Word


class ConditionOf(Node, frozen=True):
    """``condition EvictionInProgress of broken``."""

    condition: Word
    object: Ref


class Quantified(Node, frozen=True):
    """``exactly 2 of batch-*``, ``all pods``, ``no pending pod``.

    ``quantifier``: exactly, at least, at most, more than, fewer than, none, all, no. ``refs`` is empty for pods in
    general; ``state`` narrows those.
    """

    quantifier: str
    number: Word | None
    refs: tuple[Ref, ...]
    state: Word | None = None


Subject: TypeAlias = Objects | ClaimOf | ConditionOf | Quantified


class ResultSpec(Node, frozen=True):
    """``worker-1/gpu-0 [for req] [consuming { bandwidth: 2Gi }]``."""

    device: Word
    request: Word | None
    consuming: Block | None


class Runs(Node, frozen=True):
    """``runs on worker-1 with gpu-0``, ``does not run``."""

    negated: bool
    node: Word | None
    devices: tuple[Word, ...]


class Is(Node, frozen=True):
    """``is [not] STATE ...``: pending, free, allocated A for r, reserved for a, nominated on W, true, ..."""

    negated: bool
    state: Word
    results: tuple[ResultSpec, ...]
    reserved_for: tuple[Word, ...]
    node: Word | None
    by: Ref | None


class Was(Node, frozen=True):
    """``was [not] preempted [by X]``, ``was evicted``."""

    negated: bool
    state: Word
    by: Ref | None


class Preempted(Node, frozen=True):
    """``preempted a, b``."""

    victims: tuple[Ref, ...]


class HasLeft(Node, frozen=True):
    """``has 40Gi memory left``."""

    amount: Word
    name: Word


class Says(Node, frozen=True):
    """``says "2 allocated devices selected"``."""

    text: Word


class Can(Node, frozen=True):
    """``can preempt``."""

    verb: Word


Predicate: TypeAlias = Runs | Is | Was | Preempted | HasLeft | Says | Can


class Simple(Node, frozen=True):
    """``SUBJECT PREDICATE [because "..."]``."""

    subject: Subject
    predicate: Predicate
    because: Word | None


class CelProposition(Node, frozen=True):
    """CEL over API-shaped objects."""

    expression: CelText
    because: Word | None


Proposition: TypeAlias = Simple | CelProposition


class File(Node, frozen=True):
    """A whole file."""

    source: SourceFile
    items: tuple[Item, ...]
    comments: tuple[Comment, ...]
