"""Why an attempt came out as it did, as data.

Source of the rules: the modules that apply them; here is only what they say about one attempt.
"""

from typing import Literal

from msgspec import Struct

from dralang.allocator.outcome import Outcome
from dralang.allocator.prepared import DeviceId
from dralang.values.quantity import Quantity


def shown_amount(nano: int) -> Quantity:
    """An amount given in billionths, to be shown with a binary suffix where that is exact."""
    binary = nano != 0 and nano % (1024 * 10**9) == 0
    return Quantity(nano=nano, mantissa=nano, scale=-9, format="BinarySI" if binary else "DecimalSI")


Rule = Literal[
    "binding-conditions-gate",
    "selector",
    "selector-error",
    "node",
    "in-use",
    "shares",
    "capacity-missing",
    "capacity-policy",
    "capacity-short",
    "capacity-error",
    "node-operations",
    "partitions-gate",
    "groups",
    "counter-overcommitted",
    "counter-short",
    "taint",
    "attribute-missing",
    "attribute-error",
]


class Obstacle(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The first rule that keeps a device from a request, with what the rule looked at.

    Attributes:
        rule: which rule.
        text: the same in words, for people.
        owner: whose selector it is, ``class NAME`` or ``claim NAMESPACE/NAME``.
        index: number of the selector or constraint.
        expression: the selector.
        parts: the parts of the selector that decide, if the expressions can tell.
        found: what those parts found on the device, in words.
        holders: the claims that have the device, its shares, or the devices on the counters.
        name: of the capacity, counter or attribute, key of the taint.
        counter_set: the counter set.
        needs: the amount the device needs, or the request wants.
        free: the amount that is left; negative if over-committed.
        value: value of the taint.
        effect: effect of the taint.
    """

    rule: Rule
    text: str
    owner: str = ""
    index: int = -1
    expression: str = ""
    parts: tuple[str, ...] = ()
    found: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    name: str = ""
    counter_set: str = ""
    needs: Quantity | None = None
    free: Quantity | None = None
    value: str = ""
    effect: str = ""


class DeviceVerdict(Struct, frozen=True):
    """One device and one request, as if the request were alone.

    Attributes:
        device: driver, pool and name.
        obstacle: what is in the way; None if the request could have the device.
    """

    device: DeviceId
    obstacle: Obstacle | None = None


class RequestExplanation(Struct, frozen=True):
    """A request, or one alternative of it.

    Attributes:
        name: as in results, ``parent/name`` for an alternative.
        wants: how many devices it needs; with mode All, how many there are.
        takes_all: mode All.
        problem: why the request cannot be handled whatever the devices, or empty.
        devices: every device that the node can see, in search order.
    """

    name: str
    wants: int
    takes_all: bool
    problem: str
    devices: tuple[DeviceVerdict, ...]

    @property
    def usable(self) -> int:
        """How many devices nothing keeps from the request."""
        return sum(verdict.obstacle is None for verdict in self.devices)


class ClaimExplanation(Struct, frozen=True):
    """A claim of the attempt."""

    name: str
    requests: tuple[RequestExplanation, ...]


class PoolNote(Struct, frozen=True):
    """A pool whose devices the node cannot use, or not all of them.

    Attributes:
        driver: of the pool.
        pool: its name.
        state: what is wrong with it.
        text: because of what.
    """

    driver: str
    pool: str
    state: Literal["incomplete", "invalid", "obsolete", "hidden"]
    text: str


class Shortage(Struct, frozen=True, kw_only=True):
    """Something of which the requests of a conflict together need more than there is.

    Attributes:
        kind: of what.
        driver: of the pool.
        pool: its name.
        where: the counter set, or the device.
        name: the counter, or the capacity; empty for a device that several want.
        needs: what they need.
        free: what is left.
    """

    kind: Literal["device", "counter", "capacity"]
    driver: str
    pool: str
    where: str
    name: str = ""
    needs: Quantity | None = None
    free: Quantity | None = None


class Conflict(Struct, frozen=True, kw_only=True):
    """Requests that cannot be served together, none of which can be left out of the conflict.

    Attributes:
        kind: what would have to give way so that they could be: too few usable devices (``count``), devices that
            several want, counters or groups, capacity, a constraint, or more than one of these (``combined``).
        requests: ``claim: request``.
        text: the conflict in words.
        shortages: what is short, in the choice that would be made if there were enough.
        constraint: number of the constraint.
        attribute: the attribute of the constraint.
    """

    kind: Literal["count", "devices", "counters", "capacity", "constraint", "combined"]
    requests: tuple[str, ...]
    text: str
    shortages: tuple[Shortage, ...] = ()
    constraint: int = -1
    attribute: str = ""


class QuirkEffect(Struct, frozen=True):
    """A known fault that changed the answer.

    Attributes:
        name: of the quirk.
        effect: what the fault does.
        source: its public issue, or a case that shows it.
        without: the outcome without it.
    """

    name: str
    effect: str
    source: str
    without: Outcome


class Explanation(Struct, frozen=True, kw_only=True):
    """Why an attempt on a node came out as it did.

    Attributes:
        node: name of the node.
        outcome: of the attempt.
        pools: the pools that are not as they should be.
        claims: what each request could have had.
        conflicts: why the requests together cannot be served, if that is the outcome.
        quirks: the known faults that changed the outcome.
    """

    node: str
    outcome: Outcome
    pools: tuple[PoolNote, ...]
    claims: tuple[ClaimExplanation, ...]
    conflicts: tuple[Conflict, ...]
    quirks: tuple[QuirkEffect, ...]

    @property
    def summary(self) -> str:
        """One line: the outcome and its main reason."""
        from_outcome = getattr(self.outcome, "message", "")
        if from_outcome:
            return str(from_outcome)
        if self.conflicts:
            return self.conflicts[0].text
        return type(self.outcome).__name__.lower()
