"""What a call has cost at run time.

Source: cel-go interpreter/runtimecost.go (0.29), ext/lists.go, ext/sets.go; k8s.io/apiserver pkg/cel/library/cost.go.
"""

import math
from collections.abc import Callable
from typing import Final

from dralang.cel.operators import byte_size, is_map
from dralang.cel.sizes import REGEX_FACTOR, STRING_FACTOR, capped
from dralang.cel.values import Cidr, Format, Ip, Optional, QuantityResult, Semver, Url, Value
from dralang.values.quantity import Quantity

_SIZED: Final = frozenset({str, bytes, tuple})


def actual_size(value: Value) -> int:
    """Characters, bytes, elements or entries; 1 for everything else."""
    kind = type(value)
    if kind in _SIZED or is_map(value):
        return len(value)
    if kind is Ip or kind is Cidr:
        return byte_size(value)
    return 1


def _unwrapped_size(value: Value) -> int:
    while type(value) is Optional and value.has_value:
        value = value.value
    return actual_size(value)


def _traversal(value: Value) -> int:
    kind = type(value)
    if kind is str:
        length = len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        return int(length * STRING_FACTOR)
    if kind is bytes:
        return int(len(value) * STRING_FACTOR)
    if kind is tuple:
        return sum(_traversal(item) for item in value)
    if is_map(value):
        return sum(_traversal(key) + _traversal(item) for key, item in value.items())
    return 1


def _scan(value: Value, factor: float = STRING_FACTOR) -> int:
    return math.ceil(actual_size(value) * factor)


def _regex(text: int, pattern: int) -> int:
    return math.ceil((1.0 + text) * STRING_FACTOR) * math.ceil(pattern * REGEX_FACTOR)


_Args = list[Value]
_Cost = Callable[[str, _Args, Value], int]


def _one(_overload: str, _args: _Args, _result: Value) -> int:
    return 1


def _contains_ip(overload: str, args: _Args, _result: Value) -> int:
    cost = _scan(args[0], 2 * STRING_FACTOR)
    return cost + _scan(args[1]) if overload == "cidr_contains_ip_string" else cost


def _contains_cidr(overload: str, args: _Args, _result: Value) -> int:
    cost = _scan(args[0], 2 * STRING_FACTOR) + _scan(args[0]) + 1
    return cost + _scan(args[1]) if overload == "cidr_contains_cidr_string" else cost


def _validate(_overload: str, args: _Args, _result: Value) -> int:
    kind = args[0]
    return _regex(actual_size(args[1]), kind.regex_size) if type(kind) is Format else 1


_BY_FUNCTION: Final[dict[str, _Cost]] = (
    dict.fromkeys(
        ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"),
        lambda _overload, args, _result: _traversal(args[0]),
    )
    | dict.fromkeys(
        (
            *("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR"),
            *("quantity", "isQuantity", "semver", "isSemver"),
        ),
        lambda _overload, args, _result: _scan(args[0]),
    )
    | dict.fromkeys(
        ("replace", "split", "ip.isCanonical"), lambda _overload, args, _result: _scan(args[0], 2 * STRING_FACTOR)
    )
    | dict.fromkeys(
        ("find", "findAll"), lambda _overload, args, _result: _regex(actual_size(args[0]), actual_size(args[1]))
    )
    | dict.fromkeys(
        (
            *("masked", "isMask", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast"),
            *("isLinkLocalUnicast", "isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger"),
            *("asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub"),
            *("major", "minor", "patch"),
            *("getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"),
        ),
        _one,
    )
    | {
        "join": lambda _overload, _args, result: _scan(result, 2 * STRING_FACTOR),
        "ip": lambda overload, args, _result: 1 if overload == "cidr_ip" else _scan(args[0]),
        "containsIP": _contains_ip,
        "containsCIDR": _contains_cidr,
        "validate": _validate,
    }
)
_CONSTANT_EQUALITY: Final = frozenset({Quantity, QuantityResult, Ip, Cidr, Format, Url, Semver})


def _allocating(factor: float, size: int) -> int:
    return capped(int(size * factor) + 11)


def _self_compare(items: Value) -> int:
    count = actual_size(items)
    factor = 2.0
    if type(items) is tuple and items and type(items[0]) in {str, bytes}:
        factor += STRING_FACTOR
    return _allocating(factor, count * count)


def _list_call(overload: str, args: _Args, result: Value) -> int | None:
    if overload in {"list_slice", "lists_range", "list_reverse"}:
        return _allocating(1, actual_size(result))
    if overload in {"list_flatten", "list_flatten_int"}:
        depth = float(args[1]) if len(args) == 2 and type(args[1]) is int else 1.0
        return _allocating(depth if depth >= 0 else 1.0, actual_size(args[0]))
    if overload == "list_distinct" or overload.endswith("_sort"):
        return _self_compare(args[0])
    if overload.endswith("_sortByAssociatedKeys"):
        return _self_compare(args[1])
    if overload in {"list_sets_contains_list", "list_sets_intersects_list", "list_sets_equivalent_list"}:
        factor = 2.0 if overload == "list_sets_equivalent_list" else 1.0
        return capped(1 + int(actual_size(args[0]) * actual_size(args[1]) * factor))
    return None


_COMPARING: Final = frozenset(
    {f"{name}_{kind}" for name in ("less", "less_equals", "greater", "greater_equals") for kind in ("string", "bytes")}
) | {"equals", "not_equals"}


def _standard(overload: str, args: _Args) -> int:
    if overload in _COMPARING:
        return math.ceil(min(_unwrapped_size(args[0]), _unwrapped_size(args[1])) * STRING_FACTOR)
    if overload in {"starts_with_string", "ends_with_string"}:
        return math.ceil(_unwrapped_size(args[1]) * STRING_FACTOR)
    if overload in {"string_to_bytes", "bytes_to_string", "strings_quote", "string_format"}:
        return math.ceil(_unwrapped_size(args[0]) * STRING_FACTOR)
    if overload == "in_list":
        return _unwrapped_size(args[1])
    if overload in {"add_string", "add_bytes"}:
        return math.ceil((_unwrapped_size(args[0]) + _unwrapped_size(args[1])) * STRING_FACTOR)
    if overload in {"matches", "matches_string"}:
        return _regex(_unwrapped_size(args[0]), _unwrapped_size(args[1]))
    if overload == "contains_string":
        text = math.ceil(_unwrapped_size(args[0]) * STRING_FACTOR)
        return text * math.ceil(_unwrapped_size(args[1]) * STRING_FACTOR)
    return 1


def actual_cost(function: str, overload: str, args: _Args, result: Value) -> int:
    """The cost of a call; arguments and result may be errors, which count as values of size 1.

    Args:
        function: the name.
        overload: the id, empty if several were possible.
        args: receiver and arguments.
        result: what came of it.
    """
    if overload.startswith("list"):
        found = _list_call(overload, args, result)
        if found is not None:
            return found
    by_function = _BY_FUNCTION.get(function)
    if by_function is not None and args:
        return by_function(overload, args, result)
    if function == "_==_" and type(args[0]) in _CONSTANT_EQUALITY:
        return 1
    return _standard(overload, args)
