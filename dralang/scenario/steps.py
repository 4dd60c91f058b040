"""What happens in a scenario, in order, names resolved and repetitions written out."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from dralang.api.base import ApiType
from dralang.api.device import DeviceTaint
from dralang.api.resourceslice import ResourceSlice
from dralang.diagnostics.source import Span
from dralang.scenario.keys import ObjectKey
from dralang.scenario.propositions import Proposition


class BaseStep(Struct, frozen=True):
    """Base of all steps; ``span`` is the statement."""

    span: Span


class Create(BaseStep, frozen=True):
    """An object comes to be: by ``create``, or because a scenario declares it."""

    key: ObjectKey
    object: ApiType


class Act(BaseStep, frozen=True):
    """``delete``, ``finish``, ``fail``, ``cordon`` or ``uncordon`` of one object, or of all that match a glob."""

    action: Literal["delete", "finish", "fail", "cordon", "uncordon"]
    key: ObjectKey


class SetField(BaseStep, frozen=True):
    """A field of an existing object changes.

    Attributes:
        path: JSON names, and for lists the name of the entry or its number.
        value: the new value as JSON.
    """

    key: ObjectKey
    path: tuple[str | int, ...]
    value: object


class SetLabels(BaseStep, frozen=True):
    """Labels are set; None takes one away."""

    key: ObjectKey
    labels: tuple[tuple[str, str | None], ...]


class TaintNode(BaseStep, frozen=True):
    """A taint is added to a node or taken away; ``value`` None takes it away."""

    key: ObjectKey
    taint_key: str
    value: str | None
    effect: str | None


class TaintDevice(BaseStep, frozen=True):
    """A taint is added to a device of a slice."""

    device: str
    taint: DeviceTaint


class UntaintDevice(BaseStep, frozen=True):
    """Taints are taken from a device of a slice."""

    device: str
    taint_key: str
    effect: str | None


class Publish(BaseStep, frozen=True):
    """A driver publishes a slice in the next generation of its pool, or in the one that another slice has begun."""

    key: ObjectKey
    object: ResourceSlice


class SetCondition(BaseStep, frozen=True):
    """A driver sets a condition of an allocated device in the claim's status.

    Attributes:
        status: ``True``, ``False`` or ``Unknown``.
        message: of the condition.
    """

    key: ObjectKey
    device: str
    condition: str
    status: str
    message: str


class Component(BaseStep, frozen=True):
    """A component is paused, resumed, restarted, or delayed by ``milliseconds`` from now on."""

    action: Literal["pause", "resume", "restart", "delay"]
    component: str
    milliseconds: int = 0


class FailNext(BaseStep, frozen=True):
    """The next ``count`` calls of an operation on an object fail."""

    operation: Literal["create", "update", "delete", "bind"]
    key: ObjectKey
    count: int


class Consequences(BaseStep, frozen=True):
    """What follows without delay from the statement before happens, before the next one: a story has an order."""


class Advance(BaseStep, frozen=True):
    """The clock moves: everything before a time happens.

    Attributes:
        time: milliseconds; from the start, or with ``relative`` from the previous statement's instant.
    """

    time: int
    relative: bool


class Settle(BaseStep, frozen=True):
    """Time passes until only far timers are left, not past the next ``at``: ``limit`` in milliseconds, or None."""

    limit: int | None


class Expect(BaseStep, frozen=True):
    """A proposition must hold.

    Attributes:
        when: ``settled`` (a bare ``expect``), ``due`` (at the clock's time, everything due there done), ``within``.
        duration: of ``within``, milliseconds.
        limit: the next ``at``, for ``settled`` and ``within``; None if there is none.
    """

    proposition: Proposition
    when: Literal["settled", "due", "within"]
    duration: int = 0
    limit: int | None = None


class Watch(BaseStep, frozen=True):
    """A property holds from here on."""

    keyword: Literal["always", "never", "witness"]
    proposition: Proposition


Step: TypeAlias = (
    Create | Act | SetField | SetLabels | TaintNode | TaintDevice | UntaintDevice | Publish | SetCondition
    | Component | FailNext | Consequences
    | Advance | Settle | Expect | Watch
)  # fmt: skip
