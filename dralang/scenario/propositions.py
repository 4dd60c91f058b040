"""What an expectation says, with its names resolved."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from dralang.diagnostics.source import Span
from dralang.scenario.keys import ObjectKey
from dralang.values.quantity import Quantity


class Term(Struct, frozen=True):
    """Base of all parts of a proposition; ``span`` is their text."""

    span: Span


# ---- whom it is about -----------------------------------------------------------------------------------------------


class ObjectTerm(Term, frozen=True):
    """An object by its name."""

    key: ObjectKey


class DeviceTerm(Term, frozen=True):
    """A device by a suffix, at a ``/``, of driver/pool/device."""

    name: str


class CountersTerm(Term, frozen=True):
    """A counter set by its name."""

    name: str


class PodClaimTerm(Term, frozen=True):
    """``serve's claim gpu``: the claim behind an entry of a pod's ``resourceClaims``."""

    pod: ObjectKey
    entry: str


class ConditionTerm(Term, frozen=True):
    """``condition C of OBJECT``."""

    condition: str
    key: ObjectKey


SubjectTerm: TypeAlias = ObjectTerm | DeviceTerm | CountersTerm | PodClaimTerm | ConditionTerm


class Each(Term, frozen=True):
    """Every one of the subjects."""

    subjects: tuple[SubjectTerm, ...]


class Pattern(Struct, frozen=True):
    """Objects of a kind whose names match a glob; a name without ``*`` matches itself."""

    kind: str
    namespace: str
    glob: str


Quantifier = Literal["exactly", "at least", "at most", "more than", "fewer than", "none", "all", "no"]
COMPARES: Final[Mapping[str, Callable[[int, int, int], bool]]] = {
    "exactly": lambda true, number, total: true == number,
    "at least": lambda true, number, total: true >= number,
    "at most": lambda true, number, total: true <= number,
    "more than": lambda true, number, total: true > number,
    "fewer than": lambda true, number, total: true < number,
    "none": lambda true, number, total: true == 0,
    "no": lambda true, number, total: true == 0,
    "all": lambda true, number, total: true == total,
}
"""Whether a quantifier is true of so many, by its number and by how many there are."""


class Counted(Term, frozen=True):
    """``exactly 2 of batch-*``, ``all pods``, ``no pending pod``.

    Attributes:
        quantifier: how the number compares; ``number`` is 0 where it has none.
        patterns: whom it counts; empty for all pods.
        state: narrows them to those in this state; empty for no narrowing.
    """

    quantifier: Quantifier
    number: int
    patterns: tuple[Pattern, ...]
    state: str


Subject: TypeAlias = Each | Counted

# ---- what it says of them -------------------------------------------------------------------------------------------


class Runs(Term, frozen=True):
    """``runs [on NODE] [with DEVICES]``."""

    negated: bool
    node: str | None
    devices: tuple[DeviceTerm, ...]


class ResultTerm(Term, frozen=True):
    """One expected result of an allocation; ``request`` may be ``request/subrequest``."""

    device: DeviceTerm
    request: str | None
    consuming: Mapping[str, Quantity] | None


class InState(Term, frozen=True):
    """``is [not] STATE``.

    Attributes:
        state: a word of ``vocabulary.STATES``.
        results: of ``allocated``.
        consumers: of ``reserved``: the pods or pod groups, by name.
        node: of ``nominated``.
        by: whoever did it.
    """

    negated: bool
    state: str
    results: tuple[ResultTerm, ...]
    consumers: tuple[ObjectKey, ...]
    node: str | None
    by: ObjectKey | None


class Happened(Term, frozen=True):
    """``was [not] preempted [by X]``, ``was evicted``."""

    negated: bool
    what: str
    by: ObjectKey | None


class DidPreempt(Term, frozen=True):
    """``preempted a, b``."""

    victims: tuple[ObjectKey, ...]


class HasLeft(Term, frozen=True):
    """``has 40Gi memory left``."""

    amount: Quantity
    name: str


class Says(Term, frozen=True):
    """``says "..."``: the message of its status contains the text."""

    text: str


class CanPreempt(Term, frozen=True):
    """``can preempt``."""


Predicate: TypeAlias = Runs | InState | Happened | DidPreempt | HasLeft | Says | CanPreempt


class Statement(Term, frozen=True):
    """Subject and predicate; ``because`` is a part of the reason."""

    subject: Subject
    predicate: Predicate
    because: str | None


class CelStatement(Term, frozen=True):
    """A CEL expression over API-shaped objects; ``span`` covers the backticks."""

    expression: str
    because: str | None


Proposition: TypeAlias = Statement | CelStatement
