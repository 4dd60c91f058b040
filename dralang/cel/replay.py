"""Recorded cases played again: kind ``cel`` of the conformance data."""

from collections.abc import Mapping
from typing import Any

from msgspec import convert
from msgspec.json import decode, encode

from dralang.api.resourceslice import Device, DeviceAttribute, DeviceCapacity
from dralang.cel.device import AnyPrepared, prepare_for
from dralang.cel.environment import Environment, parse_minor
from dralang.cel.evaluate import EvaluationError, as_attribute, as_bool, interpret, measured_cost
from dralang.cel.issues import CompileError
from dralang.cel.program import Compiled, Purpose, compile_expression
from dralang.values.quantity import parse_quantity


def device_of(fields: Mapping[str, Any]) -> Device:
    """The parts of a recorded device that expressions can see."""
    return Device(
        name=fields.get("name", ""),
        attributes=convert(fields.get("attributes") or {}, dict[str, DeviceAttribute]),
        capacity={
            name: DeviceCapacity(value=parse_quantity(str(capacity["value"])))
            for name, capacity in (fields.get("capacity") or {}).items()
        },
        allow_multiple_allocations=fields.get("allowMultipleAllocations"),
    )


def environment_of(case: Mapping[str, Any], version: str | None = None) -> Environment:
    """The environment that a case asks for."""
    gates = case.get("featureGates", {})
    return Environment(
        minor=parse_minor(version or case["kubernetes"]),
        new=bool(case.get("newExpression", False)),
        lists=bool(gates.get("DRAListTypeAttributes", False)),
        multiple=bool(gates.get("DRAConsumableCapacity", False)),
    )


def _evaluate(compiled: Compiled, device: AnyPrepared, purpose: Purpose) -> dict[str, Any]:
    try:
        value, _ = interpret(compiled, device)
        if purpose == "selector":
            return {"result": as_bool(value)}
        attribute: DeviceAttribute = as_attribute(value)
    except EvaluationError as problem:
        return {"error": problem.message}
    # JSON leaves out an empty list, so a derived empty list is recorded as nothing.
    fields: dict[str, Any] = decode(encode(attribute))
    if compiled.environment.minor >= 38 and attribute.versions:
        # What records 1.38 writes down lists of versions as Go prints them.
        return {"attribute": {"version": f"[{' '.join(attribute.versions)}]"}}
    return {"attribute": {name: value for name, value in fields.items() if value is not None and value != []}}


def replay_cel(case: Mapping[str, Any], version: str | None = None) -> dict[str, Any]:
    """The answer to a case, with the fields of its ``want``.

    Args:
        case: one recorded case.
        version: the version of Kubernetes to answer for; by default the one of the case.
    """
    environment = environment_of(case, version)
    purpose: Purpose = case["purpose"]
    try:
        compiled = compile_expression(case["expression"], environment, purpose)
    except CompileError as problem:
        return {"compile": problem.message}
    answer: dict[str, Any] = {"cost": compiled.cost}
    if compiled.too_costly:
        answer["tooCostly"] = True
    device = prepare_for(environment, case["driver"], device_of(case["device"]))
    answer |= _evaluate(compiled, device, purpose)
    cost = measured_cost(compiled, device)
    if cost is not None:
        answer["runtimeCost"] = cost
    return answer
