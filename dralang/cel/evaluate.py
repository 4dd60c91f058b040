"""Running a compiled expression on a device, and what its result becomes.

Source: k8s.io/dynamic-resource-allocation cel/compile.go (DeviceMatches, EvaluateDerivedAttribute).
"""

from typing import Final

from dralang.api.resourceslice import DeviceAttribute
from dralang.cel.depth import room_for
from dralang.cel.device import AnyPrepared
from dralang.cel.interpret import Observer, Run
from dralang.cel.operators import go_type, is_map, type_name
from dralang.cel.program import Compiled
from dralang.cel.times import Duration, Timestamp
from dralang.cel.values import (
    Abort,
    CelError,
    Cidr,
    DomainMap,
    Ip,
    Optional,
    QuantityResult,
    Semver,
    TypeValue,
    Uint,
    Url,
    Value,
)
from dralang.values.quantity import Quantity


class EvaluationError(Exception):
    """A run-time failure, with Kubernetes' text."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def interpret(compiled: Compiled, device: AnyPrepared, observer: Observer | None = None) -> tuple[Value, int]:
    """The value of an expression on a device, and what it cost.

    Raises:
        EvaluationError: it fails.
    """
    if device.problem:
        raise EvaluationError(device.problem)
    run = Run(device.whole, observer=observer)
    try:
        with room_for(compiled.depth):
            value = compiled.plan(run, None)
    except (Abort, CelError) as problem:
        raise EvaluationError(problem.message) from None
    if type(value) is CelError:
        raise EvaluationError(value.message)
    return value, run.cost


def measured_cost(compiled: Compiled, device: AnyPrepared) -> int | None:
    """What an evaluation costs, even one that fails; None if it does not begin."""
    if device.problem:
        return None
    run = Run(device.whole)
    try:
        with room_for(compiled.depth):
            compiled.plan(run, None)
    except (Abort, CelError):
        return run.cost
    return run.cost


_CONVERSION_TYPES: Final[dict[type, str]] = {
    int: "unsupported type conversion from 'int' to bool",
    Uint: "unsupported type conversion from 'uint' to bool",
    float: "type conversion error from Double to 'bool'",
    str: "unsupported native conversion from string to 'bool'",
    bytes: "type conversion error from Bytes to 'bool'",
    tuple: "type conversion error from list to 'bool'",
    Duration: "type conversion error from 'Duration' to 'bool'",
    Timestamp: "type conversion error from 'Timestamp' to 'bool'",
    Semver: "type conversion error from 'Semver' to 'bool'",
    type(None): "type conversion error from 'null_type' to 'bool'",
    TypeValue: "type conversion not supported for 'type'",
}


def as_bool(value: Value) -> bool:
    """The verdict of a selector.

    Raises:
        EvaluationError: it is no bool.
    """
    if type(value) is bool:
        return value
    if type(value) is Optional:
        if not value.has_value:
            reason = "optional.none() dereference"
        elif type(value.value) is bool:
            return value.value
        else:
            reason = _conversion_error(value.value)
    else:
        reason = _conversion_error(value)
    raise EvaluationError(f"CEL result of type {type_name(value)} could not be converted to bool: {reason}")


def _conversion_error(value: Value) -> str:
    if is_map(value):
        return "type conversion error from map to 'bool'"
    known = _CONVERSION_TYPES.get(type(value))
    return known if known is not None else f"type conversion error from '{go_type(value).partition('.')[2]}' to 'bool'"


_GO_KINDS: Final[dict[type, str]] = {
    bool: "bool",
    int: "int64",
    Uint: "uint64",
    float: "float64",
    str: "string",
    bytes: "[]uint8",
    type(None): "structpb.NullValue",
    Semver: "semver.Version",
    Duration: "time.Duration",
    Timestamp: "time.Time",
    tuple: "[]ref.Val",
    Quantity: "*resource.Quantity",
    QuantityResult: "*resource.Quantity",
    Url: "*url.URL",
    Ip: "netip.Addr",
    Cidr: "netip.Prefix",
    DomainMap: "map[string]interface {}",
    dict: "map[ref.Val]ref.Val",
}


def _go_kind(value: Value) -> str:
    return _GO_KINDS.get(type(value), go_type(value))


_KINDS: Final[dict[type, str]] = {bool: "bool", int: "int", str: "string", Semver: "semver"}


def as_attribute(value: Value) -> DeviceAttribute:
    """The derived attribute that a value is.

    Raises:
        EvaluationError: it is none of the types an attribute may have.
    """
    wrapped = type(value) is Optional
    while type(value) is Optional:
        if not value.has_value:
            raise EvaluationError("unsupported CEL return type: <nil>")
        value = value.value
    kind = type(value)
    if kind is bool:
        return DeviceAttribute(bool_=value)
    if kind is int:
        return DeviceAttribute(int_=value)
    if kind is str:
        return DeviceAttribute(string=value)
    if kind is Semver:
        return DeviceAttribute(version=str(value))
    if kind is TypeValue:
        return DeviceAttribute(string=value.name)
    if kind is tuple and not wrapped:
        return _list_attribute(value)
    raise EvaluationError(f"unsupported CEL return type: {_go_kind(value)}")


def _list_attribute(items: tuple[Value, ...]) -> DeviceAttribute:
    if not items:
        return DeviceAttribute(strings=())
    kind = type(items[0])
    name = _KINDS.get(kind)
    if name is None:
        raise EvaluationError(f"unsupported list element type: {_go_kind(items[0])}")
    for at, item in enumerate(items):
        if type(item) is not kind:
            raise EvaluationError(f"expected list element at index {at} to be {name}, got {_go_kind(item)}")
    if kind is bool:
        return DeviceAttribute(bools=items)
    if kind is int:
        return DeviceAttribute(ints=items)
    if kind is str:
        return DeviceAttribute(strings=items)
    return DeviceAttribute(versions=tuple(map(str, items)))
