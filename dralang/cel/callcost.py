"""What one call costs at most, beside its operands, and how large its result may be.

Source: k8s.io/apiserver pkg/cel/library/cost.go; cel-go checker/cost.go (functionCost), ext/lists.go, ext/sets.go.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from dralang.cel import types
from dralang.cel.sizes import (
    MAX,
    ONE,
    REGEX_FACTOR,
    STRING_FACTOR,
    UNKNOWN,
    Size,
    Way,
    by_factor,
    capped,
    fixed,
)
from dralang.cel.tree import Literal, Node

CallCost = tuple[int, Size | None]
"""The cost and the size of the result, if that is known."""


class Operand(NamedTuple):
    """An operand as the estimator sees it."""

    node: Node
    size: Size | None
    way: Way

    def known(self) -> Size:
        """The size, or that nothing is known."""
        return UNKNOWN if self.size is None else self.size


_Estimator = Callable[[Operand | None, list[Operand]], CallCost | None]
_ADDRESS: Final = Size(4, 16)
_MAX_FORMAT_REGEX: Final = 128
_MAX_FORMAT: Final = 64


def _one(_target: Operand | None, _args: list[Operand]) -> CallCost:
    return 1, None


def _scan_first(_target: Operand | None, args: list[Operand]) -> CallCost | None:
    return (args[0].known().cost(STRING_FACTOR), None) if args else None


def _elements(target: Operand | None, function: str) -> CallCost | None:
    """One traversal of a list; strings in it count with their lengths."""
    if target is None:
        return None
    params = target.node.type.params
    if params:
        cost = 1
        if params[0].kind in {"string", "bytes"}:
            shape = target.way.items()
            size = UNKNOWN if shape is None else Size(0, shape.most)
            cost = capped(cost + size.cost(STRING_FACTOR))
        return capped(target.known().most * cost), None
    if function == "includes":
        return target.known().most, None
    return target.known().cost(STRING_FACTOR), None


def _url(_target: Operand | None, args: list[Operand]) -> CallCost | None:
    return (args[0].known().cost(STRING_FACTOR), args[0].known()) if len(args) == 1 else None


def _transform(target: Operand | None, _args: list[Operand]) -> CallCost | None:
    return None if target is None else (target.known().cost(STRING_FACTOR), target.known())


def _ratio(size: int, by: int) -> int:
    if by == 0:
        return MAX
    return by_factor(size, 1.0 / by) if size >= MAX else -(-size // by)


def _replace(target: Operand | None, args: list[Operand]) -> CallCost | None:
    if target is None or len(args) < 2:
        return None
    size, old, new = target.known(), args[0].known(), args[1].known()
    kept_most = count_most = 0
    if old.least == 0:
        count_most = size.most + 1 if size.most < MAX else size.most
        kept_most = size.most
    elif new.most <= old.least:
        kept_most = size.most
    else:
        count_most = _ratio(size.most, old.least)
    kept_least = count_least = 0
    if old.most == 0:
        count_least = size.least + 1 if size.least < MAX else size.least
        kept_least = size.least
    elif old.most <= new.least:
        kept_least = size.least
    else:
        count_least = _ratio(size.least, old.most)
    made = Size(count_least, count_most).times(new) + Size(kept_least, kept_most)
    return size.cost(2 * STRING_FACTOR), made


def _split(target: Operand | None, args: list[Operand]) -> CallCost | None:
    if target is None:
        return None
    size = target.known()
    most = size.most
    if len(args) > 1:
        limit = args[1].node
        if isinstance(limit, Literal) and type(limit.value) is int:
            most = limit.value % (1 << 64)
    return size.cost(2 * STRING_FACTOR), Size(0, most)


def _join(target: Operand | None, args: list[Operand]) -> CallCost | None:
    if target is None:
        return None
    made = fixed(0)
    items = target.known()
    if target.node.type.params:
        shape = target.way.items()
        made = items.times(UNKNOWN if shape is None else Size(0, shape.most))
    if args:
        made = made + args[0].known().times(Size(max(items.least - 1, 0), max(items.most - 1, 0)))
    return made.cost(STRING_FACTOR), made


def _find(target: Operand | None, args: list[Operand]) -> CallCost | None:
    if target is None or not args:
        return None
    size = target.known()
    cost = (size + ONE).cost(STRING_FACTOR) * args[0].known().cost(REGEX_FACTOR)
    return capped(cost), Size(0, size.most)


def _canonical(_target: Operand | None, args: list[Operand]) -> CallCost | None:
    return (args[0].known().cost(2 * STRING_FACTOR), None) if args else None


def _validate(_target: Operand | None, args: list[Operand]) -> CallCost | None:
    if not args:
        return None
    return by_factor(args[0].known().cost(STRING_FACTOR), _MAX_FORMAT_REGEX * REGEX_FACTOR), None


_BY_FUNCTION: Final[dict[str, _Estimator]] = {
    "url": _url,
    "lowerAscii": _transform,
    "upperAscii": _transform,
    "substring": _transform,
    "trim": _transform,
    "replace": _replace,
    "split": _split,
    "join": _join,
    "find": _find,
    "findAll": _find,
    "cidr": _scan_first,
    "isIP": _scan_first,
    "isCIDR": _scan_first,
    "ip.isCanonical": _canonical,
    "quantity": _scan_first,
    "isQuantity": _scan_first,
    "semver": _scan_first,
    "isSemver": _scan_first,
    "validate": _validate,
    "check": lambda _target, _args: (350_000, None),
} | dict.fromkeys(
    (
        *("masked", "isMask", "prefixLength", "family", "isUnspecified", "isLoopback", "isLinkLocalMulticast"),
        *("isLinkLocalUnicast", "isGlobalUnicast", "format.named", "sign", "asInteger", "isInteger"),
        *("asApproximateFloat", "isGreaterThan", "isLessThan", "compareTo", "add", "sub", "major", "minor", "patch"),
        *("getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"),
        *("serviceAccount", "path", "group", "resource", "subresource", "namespace", "name"),
        *("allowed", "reason", "error", "errored"),
    ),
    _one,
)
_TRAVERSING: Final = frozenset({"isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"})
_CONSTANT_EQUALITY: Final = frozenset({types.QUANTITY, types.SEMVER, types.IP, types.CIDR})


def _selector(args: list[Operand]) -> CallCost | None:
    if len(args) != 1:
        return None
    size = args[0].known()
    requirements = by_factor(by_factor(size.most, 0.5), 50.0)
    return capped(10 + size.cost(STRING_FACTOR) + requirements), None


def _contains_address(overload: str, args: list[Operand]) -> CallCost:
    cost = by_factor(_ADDRESS.most * 2, STRING_FACTOR)
    if overload.startswith("cidr_contains_cidr"):
        cost += by_factor(_ADDRESS.most, STRING_FACTOR) + 1
    if overload.endswith("_string"):
        cost += args[0].known().cost(STRING_FACTOR)
    return capped(cost), None


def _equality(args: list[Operand]) -> CallCost | None:
    left, right = args[0].node.type, args[1].node.type
    if left is not right:
        return None
    if left in _CONSTANT_EQUALITY:
        return 1, None
    if left is types.FORMAT:
        return by_factor(_MAX_FORMAT, STRING_FACTOR), None
    if left is types.URL:
        # Both sizes are those of the right side, there too.
        size = args[1].size
        return by_factor(1 if size is None else size.most, STRING_FACTOR), None
    return None


def _by_function(function: str, overload: str, target: Operand | None, args: list[Operand]) -> CallCost | None:
    if function in _TRAVERSING:
        return _elements(target, function)
    estimator = _BY_FUNCTION.get(function)
    if estimator is not None:
        return estimator(target, args)
    if function == "ip":
        return (1, None) if overload == "cidr_ip" else _scan_first(target, args)
    if function in {"containsIP", "containsCIDR"} and args:
        return _contains_address(overload, args)
    if function == "_==_" and len(args) == 2:
        return _equality(args)
    if function in {"fieldSelector", "labelSelector"}:
        return _selector(args)
    return None


# By overload: the list library and sets


def _whole(node: Node, default: int) -> int:
    if not isinstance(node, Literal) or type(node.value) is not int:
        return default
    return max(node.value, 0)


def _allocating(factor: float, size: Size) -> CallCost:
    return capped(size.cost(factor) + 11), size


def _sort_cost(operand: Operand, overload: str) -> CallCost:
    factor = 2.0
    if "_string_" in overload or "_bytes_" in overload:
        factor += STRING_FACTOR
    return _allocating(factor, operand.known().times(operand.known()))


def _list_call(overload: str, target: Operand | None, args: list[Operand]) -> CallCost | None:
    if overload == "lists_range":
        return _allocating(1, fixed(_whole(args[0].node, MAX)))
    if overload in {"list_sets_contains_list", "list_sets_intersects_list", "list_sets_equivalent_list"}:
        factor = 2.0 if overload == "list_sets_equivalent_list" else 1.0
        return capped(args[0].known().times(args[1].known()).cost(factor) + 1), None
    if target is None:
        return None
    if overload == "list_slice":
        end = _whole(args[1].node, target.known().most)
        return _allocating(1, fixed((end - _whole(args[0].node, 0)) % (1 << 64)))
    if overload == "list_reverse":
        return _allocating(1, target.known())
    if overload in {"list_flatten", "list_flatten_int"}:
        depth = _whole(args[0].node, MAX) if args else 1
        return _allocating(float(depth), target.known())
    if overload == "list_distinct":
        return _allocating(2.0, target.known().times(target.known()))
    if overload.endswith("_sortByAssociatedKeys"):
        return _sort_cost(args[0], overload)
    return _sort_cost(target, overload) if overload.endswith("_sort") else None


# By overload: the standard library

_PREFIXED: Final = frozenset({"starts_with_string", "ends_with_string"})
_COMPARING: Final = frozenset(
    {f"{name}_{kind}" for name in ("less", "less_equals", "greater", "greater_equals") for kind in ("string", "bytes")}
) | {"equals", "not_equals"}


def _standard(overload: str, target: Operand | None, args: list[Operand]) -> CallCost:
    if overload in _COMPARING:
        return by_factor(min(args[0].known().most, args[1].known().most), STRING_FACTOR), None
    if overload in _PREFIXED:
        return args[0].known().cost(STRING_FACTOR), None
    if overload == "in_list":
        return args[1].known().most, None
    if overload in {"add_string", "add_bytes", "add_list"}:
        made = args[0].known() + args[1].known()
        return (1 if overload == "add_list" else made.cost(STRING_FACTOR)), made
    if overload in {"matches", "matches_string"}:
        text, pattern = (args[0], args[1]) if target is None else (target, args[0])
        cost = (text.known() + ONE).cost(STRING_FACTOR) * pattern.known().cost(REGEX_FACTOR)
        return capped(cost), None
    if overload == "contains_string" and target is not None:
        return capped(target.known().cost(STRING_FACTOR) * args[0].known().cost(STRING_FACTOR)), None
    if overload == "string_format" and target is not None:
        return target.known().cost(STRING_FACTOR), None
    if overload in {"string_to_bytes", "bytes_to_string", "strings_quote"}:
        return _converted(overload, args[0].known())
    return 1, None


def _converted(overload: str, size: Size) -> CallCost:
    # Products and sums wrap around there.
    if overload == "string_to_bytes":
        made = Size(size.least, size.most * 4 % (1 << 64))
    elif overload == "bytes_to_string":
        made = Size(size.least // 4, size.most)
    else:
        made = Size((size.least + 2) % (1 << 64), (size.most * 2 + 2) % (1 << 64))
    return size.cost(STRING_FACTOR), made


def call_cost(function: str, overload: str, target: Operand | None, args: list[Operand], minor: int) -> CallCost:
    """Cost and result size of one overload, in a minor version of Kubernetes."""
    if minor <= 36:
        # Two rules that came with 1.37.
        if function == "includes":
            return 48, None
        if overload == "matches":
            return 1, None
    if overload.startswith("list"):
        found = _list_call(overload, target, args)
        if found is not None:
            return found
    found = _by_function(function, overload, target, args)
    return _standard(overload, target, args) if found is None else found
