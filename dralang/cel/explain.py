"""Explaining expressions to people: type, cost and what is read; per device the result and what decided it."""

from collections.abc import Sequence

from msgspec import Struct

from dralang.api.resourceslice import Device, DeviceAttribute
from dralang.cel.depth import room_for
from dralang.cel.device import AnyPrepared, attribute_value, prepare_for
from dralang.cel.environment import Environment
from dralang.cel.evaluate import EvaluationError, as_attribute, as_bool, interpret
from dralang.cel.interpret import Planner, Run
from dralang.cel.issues import CompileError, Issue
from dralang.cel.operators import is_map
from dralang.cel.parts import Part, whole
from dralang.cel.program import MAX_COST, Compiled, Purpose, compile_expression
from dralang.cel.readings import Reading, readings_of, shown
from dralang.cel.tree import Call
from dralang.cel.values import Abort, CelError, Value


class ReadValue(Struct, frozen=True):
    """What an expression found where it looked.

    Attributes:
        text: the part of the device, as an expression writes it.
        value: its value in words, or ``not there``.
    """

    text: str
    value: str


class Decision(Struct, frozen=True):
    """A part of an expression that settled the result by itself.

    Attributes:
        text: the part.
        start: where it begins in the expression.
        end: where it ends.
        value: what it came to.
        error: or why it failed; empty if it did not.
        values: what it looked at.
    """

    text: str
    start: int
    end: int
    value: str
    error: str
    values: tuple[ReadValue, ...]


class DeviceResult(Struct, frozen=True):
    """What an expression says about one device.

    Attributes:
        driver: the driver of the device.
        device: its name.
        matches: the verdict of a selector; None if it failed, or for a derived attribute.
        attribute: the value of a derived attribute in words; empty if it failed, or for a selector.
        error: why it failed; empty if it did not.
        decisions: which parts decided, unless the result is true or a derived attribute.
        cost: what the evaluation cost.
    """

    driver: str
    device: str
    matches: bool | None
    attribute: str
    error: str
    decisions: tuple[Decision, ...]
    cost: int


class CelExplanation(Struct, frozen=True):
    """All there is to say about an expression.

    Attributes:
        expression: its text.
        purpose: selector or derived attribute.
        error: why it does not compile, in Kubernetes' words; empty if it does.
        issues: the single errors with their offsets; empty also for an error that has no place.
        type: the static type of the result.
        cost: the estimated worst case.
        limit: the limit on that.
        readings: what it looks at.
        devices: the result for each device that was asked about.
    """

    expression: str
    purpose: Purpose
    error: str = ""
    issues: tuple[Issue, ...] = ()
    type: str = ""
    cost: int = 0
    limit: int = MAX_COST
    readings: tuple[Reading, ...] = ()
    devices: tuple[DeviceResult, ...] = ()

    @property
    def too_costly(self) -> bool:
        """Whether the API refuses it for its cost."""
        return self.cost > self.limit


def explain(
    expression: str,
    devices: Sequence[tuple[str, Device]] = (),
    environment: Environment | None = None,
    purpose: Purpose = "selector",
) -> CelExplanation:
    """Explain an expression.

    Args:
        expression: the text.
        devices: devices with their drivers.
        environment: for which it is compiled; by default for stored expressions of the default version.
        purpose: selector or derived attribute.
    """
    environment = environment or Environment()
    try:
        compiled = compile_expression(expression, environment, purpose)
    except CompileError as problem:
        return CelExplanation(expression, purpose, error=problem.message, issues=problem.issues)
    return CelExplanation(
        expression,
        purpose,
        type=compiled.type.display(),
        cost=compiled.cost,
        readings=readings_of(compiled.tree),
        devices=tuple(explain_device(compiled, driver, device) for driver, device in devices),
    )


def explain_device(compiled: Compiled, driver: str, device: Device) -> DeviceResult:
    """What a compiled expression says about one device, and why."""
    prepared = prepare_for(compiled.environment, driver, device)
    cost = 0
    try:
        value, cost = interpret(compiled, prepared)
        if compiled.purpose == "derived":
            text = attribute_text(as_attribute(value))
            return DeviceResult(driver, device.name, None, text, "", (), cost)
        matches = as_bool(value)
    except EvaluationError as problem:
        decisions = () if prepared.problem else deciding(compiled, prepared)
        return DeviceResult(driver, device.name, None, "", problem.message, decisions, cost)
    decisions = () if matches else deciding(compiled, prepared)
    return DeviceResult(driver, device.name, matches, "", "", decisions, cost)


def attribute_text(attribute: DeviceAttribute) -> str:
    """The value of an attribute in words."""
    return shown(attribute_value(attribute))


def deciding(compiled: Compiled, device: AnyPrepared) -> tuple[Decision, ...]:
    """The parts of an expression that made it false, or made it fail, on a device."""
    with room_for(compiled.depth):
        return tuple(_Judge(compiled, device).blame(whole(compiled.tree, compiled.text)))


class _Judge:
    def __init__(self, compiled: Compiled, device: AnyPrepared) -> None:
        self.compiled = compiled
        self.device = device

    def value(self, part: Part) -> Value:
        try:
            return Planner(minor=self.compiled.environment.minor).plan(part.node)(Run(self.device.whole), None)
        except (Abort, CelError) as problem:
            return CelError(problem.message)

    def blame(self, part: Part) -> list[Decision]:
        """The parts within a part to which it owes its value."""
        operands = part.operands()
        node = part.node
        if not operands or not isinstance(node, Call):
            return [self.decision(part)]
        if node.function == "_?_:_":
            chosen = self.value(operands[0])
            if type(chosen) is not bool:
                return self.blame(operands[0])
            return self.blame(operands[1 if chosen else 2])
        if node.function == "!_":
            return self.blame(operands[0])
        values = [self.value(operand) for operand in operands]
        settling = node.function == "_||_"
        for operand, value in zip(operands, values, strict=True):
            if value is settling:
                return self.blame(operand)
        failing = [operand for operand, value in zip(operands, values, strict=True) if type(value) is not bool]
        return [decision for operand in failing or operands for decision in self.blame(operand)]

    def decision(self, part: Part) -> Decision:
        value = self.value(part)
        error = value.message if type(value) is CelError else ""
        return Decision(
            text=self.compiled.text[part.start : part.end],
            start=part.start,
            end=part.end,
            value="" if error else _in_words(value),
            error=error,
            values=tuple(ReadValue(reading.text, reading.value_on(self.device)) for reading in readings_of(part.node)),
        )


def _in_words(value: Value) -> str:
    return f"a map of {len(value)}" if is_map(value) else shown(value)


def render(explanation: CelExplanation) -> list[str]:
    """The explanation as lines of text, one fact per line."""
    if explanation.error:
        return explanation.error.splitlines()
    limit = f"more than the limit of {explanation.limit}" if explanation.too_costly else f"limit {explanation.limit}"
    lines = [f"type: {explanation.type}", f"cost: {explanation.cost} ({limit})"]
    names = [reading.text + (", if it is there" if reading.guarded else "") for reading in explanation.readings]
    lines.append("reads: nothing of the device" if not names else f"reads: {names[0]}")
    lines += [f"       {name}" for name in names[1:]]
    for result in explanation.devices:
        lines += render_result(result)
    return lines


def render_result(result: DeviceResult) -> list[str]:
    """The result for one device as lines of text."""
    name = f"{result.driver}/{result.device}"
    if result.error:
        lines = [f"{name}: fails: {result.error}"]
    elif result.matches is None:
        return [f"{name}: {result.attribute}"]
    else:
        lines = [f"{name}: {'matches' if result.matches else 'does not match'}"]
    for decision in result.decisions:
        lines += [f"  {line}" for line in render_decision(decision)]
    return lines


def render_decision(decision: Decision) -> list[str]:
    """Which part decided and what it saw, as lines of text."""
    text = " ".join(decision.text.split())
    outcome = f"fails: {decision.error}" if decision.error else f"is {decision.value}"
    return [f"`{text}` {outcome}", *(f"  {read.text} is {read.value}" for read in decision.values)]
