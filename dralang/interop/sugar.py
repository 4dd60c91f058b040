"""The shorter lines: written where they mean exactly the same, otherwise the plain field.

The counterpart of ``check.sugar``. A list that has lines of its own for its entries is cut in two where needed: sugar's
entries stand behind those of the field of the same name, so what no line can say, and all before it, is the field.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from dralang.api.affinity import Taint
from dralang.api.base import ApiType
from dralang.api.containers import Container
from dralang.api.device import DeviceSelector, DeviceTaint, DeviceToleration
from dralang.api.pods import PodResourceClaim
from dralang.api.resourceclaim import (
    DeviceClaim,
    DeviceConstraint,
    DeviceDerivedAttribute,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
)
from dralang.api.resourceslice import CounterSet, Device, DeviceCounterConsumption
from dralang.interop import words
from dralang.interop.fields import block, entries_of, field, write_struct
from dralang.interop.words import NOWHERE, CannotWriteError
from dralang.syntax import nodes as n
from dralang.values.duration import format_duration

_T = TypeVar("_T", bound=ApiType)
_MAX_SECONDS: Final = 10**12
_EXACT: Final = frozenset(
    {"name", "deviceClassName", "selectors", "allocationMode", "count", "tolerations", "derivedAttributes"}
)
_DEVICE: Final = frozenset({"name", "consumesCounters", "taints"})
_CONTAINER: Final = frozenset({"name", "image", "resources"})
DEFAULT_IMAGE: Final = "pause"
_MAX_RANGE: Final = 1000
_NUMBER_AT_END = re.compile(r"(.*?)(0|[1-9][0-9]{0,8})\Z")


def lines(json: str, items: Sequence[_T], write: Callable[[_T, int], n.Entry | None], depth: int) -> list[n.Entry]:
    """A list of the API: a field with the entries that have no line of their own, then the lines."""
    sugar: list[n.Entry | None] = []
    structs: list[n.Value] = []
    plain = 0
    try:
        for item in items:
            sugar.append(write(item, depth))
            plain = len(sugar) if sugar[-1] is None else plain
        if not plain:
            return [entry for entry in sugar if entry is not None]
        for item in items[:plain]:
            structs.append(write_struct(item, depth + 1))
    except CannotWriteError as error:
        error.steps += [len(structs if len(sugar) == len(items) else sugar), json]
        raise
    return [field(json, n.ListValue(NOWHERE, tuple(structs))), *[entry for entry in sugar[plain:] if entry is not None]]


# ---- taints and tolerations -----------------------------------------------------------------------------------------


def taint_spec(taint: DeviceTaint | Taint) -> n.TaintSpec | None:
    """``KEY[=VALUE]:EFFECT``."""
    if not taint.key or not taint.effect or taint.time_added is not None:
        return None
    held = words.name(taint.value) if taint.value else None
    return n.TaintSpec(NOWHERE, words.name(taint.key), held, words.name(taint.effect))


def taint(item: DeviceTaint | Taint, depth: int) -> n.Entry | None:
    """``taint KEY[=VALUE]:EFFECT``."""
    spec = taint_spec(item)
    return None if spec is None else n.Taint(NOWHERE, spec)


def toleration(item: DeviceToleration, depth: int) -> n.Entry | None:
    """``tolerate KEY[=VALUE][:EFFECT] [for 5m]``."""
    if not item.key:
        return None
    if item.operator == "Exists":
        if item.value:
            return None
        held = None
    elif item.operator in ("Equal", ""):
        held = words.name(item.value)
    else:
        return None
    seconds = item.toleration_seconds
    if seconds is not None and not 0 <= seconds < _MAX_SECONDS:
        return None
    effect = words.name(item.effect) if item.effect else None
    duration = None if seconds is None else words.number(format_duration(seconds * 1000))
    return n.Tolerate(NOWHERE, words.name(item.key), held, effect, duration)


# ---- claims ---------------------------------------------------------------------------------------------------------


def where(item: DeviceSelector, depth: int) -> n.Where | None:
    """``where `CEL` ``."""
    expression = None if item.cel is None else words.cel(item.cel.expression)
    return None if expression is None else n.Where(NOWHERE, expression)


def derive(item: DeviceDerivedAttribute, depth: int) -> n.Entry | None:
    """``derive NAME = `CEL` ``."""
    expression = words.cel(item.expression)
    return None if expression is None else n.Derive(NOWHERE, words.name(item.name), expression)


def device_claim(claim: DeviceClaim, depth: int) -> list[n.Entry]:
    """What stands in a claim: requests, constraints, configuration."""
    requests = lines("requests", claim.requests, request, depth + 1)
    constraints = lines("constraints", claim.constraints, constraint, depth + 1)
    plain: list[n.Entry] = [entry for entry in (*requests, *constraints) if isinstance(entry, n.Field)]
    plain += entries_of(claim, depth + 1, frozenset({"requests", "constraints"}))
    sugar: list[n.Entry] = [entry for entry in (*requests, *constraints) if not isinstance(entry, n.Field)]
    return [*sugar, field("devices", block(plain))] if plain else sugar


def request(item: DeviceRequest, depth: int) -> n.Entry | None:
    """``request NAME: 2 of CLASS``, ``request NAME: first available { ... }``."""
    spec: n.ExactSpec | n.FirstAvailable | None
    if item.exactly is not None:
        spec = None if item.first_available else _exact(item.exactly, depth)
    elif item.first_available:
        spec = _first_available(item.first_available, depth)
    else:
        spec = None
    return None if spec is None else n.Request(NOWHERE, words.name(item.name), spec)


def _first_available(items: Sequence[DeviceSubRequest], depth: int) -> n.FirstAvailable | None:
    alternatives: list[n.Entry] = []
    for item in items:
        spec = _exact(item, depth + 1)
        if spec is None:
            return None
        alternatives.append(n.Request(NOWHERE, words.name(item.name), spec, is_alternative=True))
    return n.FirstAvailable(NOWHERE, block(alternatives))


def _exact(item: ExactDeviceRequest | DeviceSubRequest, depth: int) -> n.ExactSpec | None:
    """``2 of CLASS where `...` { ... }``. A mode and a count that are not given are those that the server fills in."""
    if item.allocation_mode == "All" and item.count == 0:
        count = None
    elif item.allocation_mode in ("ExactCount", "") and item.count >= 0:
        count = words.number(item.count or 1)
    else:
        return None
    selectors = lines("selectors", item.selectors, where, depth + 1)
    body = [
        *entries_of(item, depth + 1, _EXACT),
        *lines("tolerations", item.tolerations, toleration, depth + 1),
        *lines("derivedAttributes", item.derived_attributes, derive, depth + 1),
    ]
    short = [entry for entry in selectors if isinstance(entry, n.Where)]
    if len(short) != 1 or len(selectors) != 1 or "\n" in short[0].expression.text:
        body, short = [*selectors, *body], []
    return n.ExactSpec(NOWHERE, count, words.name(item.device_class_name), tuple(short), block(body) if body else None)


def constraint(item: DeviceConstraint, depth: int) -> n.Entry | None:
    """``match ATTRIBUTE [across A, B]``, ``distinct ...``."""
    if (item.match_attribute is None) == (item.distinct_attribute is None):
        return None
    kind, attribute = (
        ("match", item.match_attribute) if item.match_attribute is not None else ("distinct", item.distinct_attribute)
    )
    assert attribute is not None
    return n.Constraint(NOWHERE, kind, words.name(attribute), tuple(map(words.name, item.requests)))


# ---- slices ---------------------------------------------------------------------------------------------------------


def counters(item: CounterSet, depth: int) -> n.Entry | None:
    """``counters SET { ... }``."""
    return n.Counters(NOWHERE, words.name(item.name), _counters_of(item, depth))


def _consumes(item: DeviceCounterConsumption, depth: int) -> n.Entry | None:
    if item.compatibility_groups:
        return None
    return n.Consumes(NOWHERE, words.name(item.counter_set), _counters_of(item, depth))


def _counters_of(item: CounterSet | DeviceCounterConsumption, depth: int) -> n.Block:
    return block([field(name, words.number(counter.value)) for name, counter in item.counters.items()])


def devices(items: Sequence[Device], depth: int) -> list[n.Entry]:
    """``device NAME { ... }``; one line for devices that follow each other and differ in nothing but a number."""
    bodies: list[list[n.Entry]] = []
    try:
        for item in items:
            bodies.append(_device_body(item, depth + 1))
    except CannotWriteError as error:
        error.steps += [len(bodies), "devices"]
        raise
    result: list[n.Entry] = []
    index = 0
    while index < len(items):
        prefix, first = _numbered(items[index].name)
        last = index + 1
        while (
            first >= 0
            and last < len(items)
            and last - index < _MAX_RANGE
            and items[last].name == f"{prefix}{first + last - index}"
            and bodies[last] == bodies[index]
        ):
            last += 1
        name = words.name(items[index].name)
        if last - index > 1:
            name = n.Word(NOWHERE, f"{prefix}[{first}..{first + last - index - 1}]")
        result.append(n.Device(NOWHERE, name, block(bodies[index]) if bodies[index] else None))
        index = last
    return result


def _device_body(item: Device, depth: int) -> list[n.Entry]:
    return [
        *entries_of(item, depth, _DEVICE),
        *lines("consumesCounters", item.consumes_counters, _consumes, depth),
        *lines("taints", item.taints, taint, depth),
    ]


def _numbered(name: str) -> tuple[str, int]:
    """What stands before the number at the end of a name, and the number; -1 if the name cannot be part of a range."""
    found = _NUMBER_AT_END.match(name) if words.is_bare(name) else None
    return (found[1], int(found[2])) if found is not None and found[1] else (name, -1)


# ---- pods -----------------------------------------------------------------------------------------------------------


def pod_claim(item: PodResourceClaim, depth: int) -> n.Entry | None:
    """``claim NAME from TEMPLATE``, ``claim NAME is CLAIM``."""
    if (item.resource_claim_name is None) == (item.resource_claim_template_name is None):
        return None
    relation, target = ("is", item.resource_claim_name)
    if target is None:
        relation, target = "from", item.resource_claim_template_name
    assert target is not None
    return n.ClaimEntry(NOWHERE, words.name(item.name), relation, words.name(target))


def container(item: Container, depth: int, *, init: bool, claims: bool) -> n.Container:
    """``container NAME { ... }``.

    Args:
        item: the container.
        depth: the brackets around it.
        init: whether it is an init container.
        claims: whether its claims have to be said.
    """
    body: list[n.Entry] = []
    if item.image != DEFAULT_IMAGE:
        body.append(field("image", words.value(item.image)))
    body += entries_of(item, depth + 1, _CONTAINER)
    body += entries_of(item.resources, depth + 1, frozenset({"claims"}))
    if claims:
        for use in item.resources.claims:
            asked = words.name(use.request) if use.request else None
            body.append(n.ClaimUse(NOWHERE, words.name(use.name), asked))
    return n.Container(NOWHERE, init, words.name(item.name), block(body) if body else None)


def uses(containers: Sequence[Any]) -> list[list[tuple[str, str]]]:
    """The claims of containers, as pairs of claim and request."""
    return [[(use.name, use.request) for use in item.resources.claims] for item in containers]
