"""What is probably a mistake in an expression that compiles."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal

from msgspec import Struct

from dralang.api.resourceslice import Device
from dralang.cel.depth import room_for
from dralang.cel.device import AnyPrepared, prepare_for
from dralang.cel.evaluate import EvaluationError, as_bool, interpret
from dralang.cel.interpret import Planner, Run
from dralang.cel.parts import Part, whole
from dralang.cel.paths import path_of
from dralang.cel.program import Compiled
from dralang.cel.readings import Reading, readings_of, reads_device
from dralang.cel.tree import Call, Node
from dralang.cel.tree import Literal as LiteralNode
from dralang.cel.values import Abort, CelError, Semver, Value
from dralang.values.quantity import Quantity

Code = Literal["always-true", "always-false", "compares-kinds", "unguarded"]
_COMPARISONS: Final = frozenset({"_==_", "_!=_", "_<_", "_<=_", "_>_", "_>=_"})
_KINDS: Final[dict[type, str]] = {
    bool: "a bool",
    int: "an int",
    str: "a string",
    Semver: "a semantic version",
    Quantity: "a quantity",
    tuple: "a list",
}
_REMEDIES: Final = {
    ("a semantic version", "a string"): "write the other side as `semver(...)`",
    ("a quantity", "a string"): "write the other side as `quantity(...)`",
}


class Finding(Struct, frozen=True):
    """Something that is probably a mistake.

    Attributes:
        code: what sort of mistake.
        message: what is wrong.
        start: where the part begins that it is about.
        end: where that part ends.
        help: what to write instead; empty if that is not clear.
        device: a device that shows it, as ``driver/name``; empty if it is wrong for all.
    """

    code: Code
    message: str
    start: int
    end: int
    help: str = ""
    device: str = ""


class _Seen:
    """A device with its name, ready for evaluation."""

    __slots__ = ("name", "prepared")

    def __init__(self, name: str, prepared: AnyPrepared) -> None:
        self.name = name
        self.prepared = prepared


def lint(compiled: Compiled, devices: Sequence[tuple[str, Device]] = ()) -> list[Finding]:
    """What is probably a mistake in an expression.

    Args:
        compiled: the expression.
        devices: devices with their drivers, on which the expression is tried.
    """
    seen = [
        _Seen(f"{driver}/{device.name}", prepare_for(compiled.environment, driver, device))
        for driver, device in devices
    ]
    root = whole(compiled.tree, compiled.text)
    with room_for(compiled.depth):
        findings = [] if compiled.purpose == "derived" else list(_constant(compiled, root))
        findings += _comparisons(compiled, root, seen)
    findings += _missing(compiled, root, seen)
    return findings


# Always the same


def _constant(compiled: Compiled, root: Part) -> Iterator[Finding]:
    value = _settled(compiled, root)
    if value is None:
        return
    code: Code = "always-true" if value else "always-false"
    reason = "it looks at nothing of the device" if not reads_device(root.node) else "whatever the device is"
    yield Finding(code, f"the expression is always {'true' if value else 'false'}: {reason}", root.start, root.end)


def _settled(compiled: Compiled, part: Part) -> bool | None:
    """The value of a part that no device can change; None if it depends, or fails."""
    node = part.node
    if not reads_device(node):
        value = _constant_value(compiled, node)
        return value if type(value) is bool else None
    if not isinstance(node, Call) or node.function not in {"_&&_", "_||_", "!_"}:
        return None
    values = [_settled(compiled, operand) for operand in part.operands()]
    if node.function == "!_":
        return None if not values or values[0] is None else not values[0]
    settling = node.function == "_||_"
    return settling if settling in values else None


def _constant_value(compiled: Compiled, node: Node) -> Value:
    try:
        return Planner(minor=compiled.environment.minor).plan(node)(Run({}), None)
    except (Abort, CelError) as problem:
        return CelError(problem.message)


# Comparing what is of different kinds


def _comparisons(compiled: Compiled, part: Part, devices: list[_Seen]) -> Iterator[Finding]:
    operands = part.operands()
    if operands:
        for operand in operands:
            yield from _comparisons(compiled, operand, devices)
        return
    for call in _calls(part.node):
        for reading, other in _sides(compiled, call):
            yield from _of_other_kind(part, reading, other, devices)


def _calls(node: Node) -> Iterator[Call]:
    """Comparisons below a node whose operands are evaluated as they stand."""
    if isinstance(node, Call) and node.function in _COMPARISONS:
        yield node
    for child in node.children():
        yield from _calls(child)


def _sides(compiled: Compiled, call: Call) -> Iterator[tuple[Reading, Value]]:
    """What is read on one side, where the other side is known."""
    for read, other in (call.args, call.args[::-1]):
        path = path_of(read, {})
        if path is not None and path.field == "attributes" and len(path.names) == 2 and _is_known(other):
            value = _constant_value(compiled, other)
            if type(value) in _KINDS:
                yield Reading(path.field, *path.names), value


def _is_known(node: Node) -> bool:
    if isinstance(node, Call):
        return not reads_device(node) and all(isinstance(part, LiteralNode) for part in node.children())
    return isinstance(node, LiteralNode)


def _of_other_kind(part: Part, reading: Reading, other: Value, devices: list[_Seen]) -> Iterator[Finding]:
    wanted = _KINDS[type(other)]
    for device in devices:
        value = device.prepared.whole[reading.field].get(reading.domain, {}).get(reading.name)
        kind = _KINDS.get(type(value), "")
        if kind and kind != wanted:
            yield Finding(
                "compares-kinds",
                f"{reading.text} is {kind}, and {wanted} is never equal to it",
                part.start,
                part.end,
                help=_REMEDIES.get((kind, wanted), ""),
                device=device.name,
            )
            return


# Missing attributes


def _missing(compiled: Compiled, root: Part, devices: Iterable[_Seen]) -> Iterator[Finding]:
    """Attributes for the lack of which the expression fails on a device, each once."""
    told: set[Reading] = set()
    readings = [
        reading
        for reading in readings_of(compiled.tree)
        if reading.name and reading.field in {"attributes", "capacity"}
    ]
    for device in devices:
        message = _failure(compiled, device.prepared)
        if not message.startswith("no such key: "):
            continue
        for reading in readings:
            if reading in told or message != f"no such key: {reading.name}" or _has(device.prepared, reading):
                continue
            told.add(reading)
            yield Finding(
                "unguarded",
                f"{reading.text} is not there on every device, and the expression fails where it is missing",
                root.start,
                root.end,
                help=f"ask first: `has({reading.text}) && ...`",
                device=device.name,
            )


def _has(device: AnyPrepared, reading: Reading) -> bool:
    return reading.name in device.whole[reading.field].get(reading.domain, {})


def _failure(compiled: Compiled, device: AnyPrepared) -> str:
    try:
        value, _ = interpret(compiled, device)
        if compiled.purpose == "selector":
            as_bool(value)
    except EvaluationError as problem:
        return problem.message
    return ""
