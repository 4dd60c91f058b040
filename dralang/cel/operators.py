"""Operators at run time: equality, order, arithmetic, lookup, membership.

Source: cel-go common/types and interpreter/attributes.go (0.29); k8s.io/apiserver pkg/cel for its own types.
"""

from collections.abc import Callable, Iterator
from typing import Final

from dralang.cel.numbers import (
    checked_int,
    checked_uint,
    compare_numbers,
    double_divide,
    format_double,
    int_divide,
    int_modulo,
    uint_divide,
    uint_modulo,
)
from dralang.cel.times import Duration, Timestamp, duration_sum, moved
from dralang.cel.values import (
    NONE,
    Abort,
    CelError,
    Cidr,
    DomainMap,
    Format,
    Ip,
    Optional,
    QuantityResult,
    Semver,
    TypeValue,
    Uint,
    Url,
    Value,
    no_such_overload,
    refuse_if_huge,
)
from dralang.values.quantity import Quantity

_TYPE_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    tuple: "list",
    dict: "map",
    DomainMap: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    TypeValue: "type",
    Quantity: "kubernetes.Quantity",
    QuantityResult: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
    Url: "kubernetes.URL",
    Format: "kubernetes.NamedFormat",
    Ip: "net.IP",
    Cidr: "net.CIDR",
}
_GO_TYPES: Final[dict[type, str]] = {
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    type(None): "types.Null",
    tuple: "*types.baseList",
    dict: "*types.baseMap",
    DomainMap: "cel.mapper",
    Duration: "types.Duration",
    Timestamp: "types.Timestamp",
    Optional: "*types.Optional",
    TypeValue: "*types.Type",
    Quantity: "cel.Quantity",
    QuantityResult: "*cel.Quantity",
    Semver: "cel.Semver",
    Url: "cel.URL",
    Format: "cel.Format",
    Ip: "cel.IP",
    Cidr: "cel.CIDR",
}
_NUMBERS: Final = frozenset({int, Uint, float})
_RECEIVERS: Final = frozenset({str, Timestamp, Duration})
_MAPS: Final = frozenset({dict, DomainMap})
_MISSING: Final = object()


def type_name(value: Value) -> str:
    """The name of the type at run time."""
    return _TYPE_NAMES[type(value)]


def go_type(value: Value) -> str:
    """The name that Go has for the type of the value, as some messages show it."""
    return _GO_TYPES[type(value)]


def is_map(value: Value) -> bool:
    """Whether it is a map."""
    return type(value) in _MAPS


# Equality


def equal(left: Value, right: Value) -> bool:
    """``left == right``; asymmetric for Kubernetes' types, as there.

    Raises:
        CelError: one of Kubernetes' own types on the left and another type on the right.
    """
    if left is None or right is None:
        return left is right
    return _equal_to(left, right)


def _equal_to(left: Value, right: Value) -> bool:
    handler = _EQUALITY.get(type(left))
    if handler is not None:
        return handler(left, right)
    if type(left) is type(right):
        return bool(left == right)
    return False


def _numbers_equal(left: Value, right: Value) -> bool:
    if type(right) not in _NUMBERS or left != left or right != right:
        return False
    return compare_numbers(left, right) == 0


def _lists_equal(left: Value, right: Value) -> bool:
    if type(right) is not tuple or len(left) != len(right):
        return False
    return all(_not_different(one, two) for one, two in zip(left, right, strict=True))


def _not_different(left: Value, right: Value) -> bool:
    """Elements that cannot be compared do not make their lists different."""
    try:
        return equal(left, right)
    except CelError:
        return True


def _maps_equal(left: Value, right: Value) -> bool:
    if type(right) not in _MAPS or len(left) != len(right):
        return False
    for key, value in left.items():
        other = find(right, key)
        if other is _MISSING or not _not_different(value, other):
            return False
    return True


def _optionals_equal(left: Value, right: Value) -> bool:
    if type(right) is not Optional:
        return False
    if not (left.has_value and right.has_value):
        return bool(left.has_value == right.has_value)
    if left.value is None:
        return right.value is None
    return _equal_to(left.value, right.value)


def _strictly(compare: Callable[[Value, Value], bool]) -> Callable[[Value, Value], bool]:
    def check(left: Value, right: Value) -> bool:
        if type(left) is not type(right):
            no_such_overload()
        return compare(left, right)

    return check


def _quantities_equal(left: Value, right: Value) -> bool:
    if type(right) is not Quantity:
        no_such_overload()
    return bool(left.nano == right.nano)


_EQUALITY: Final[dict[type, Callable[[Value, Value], bool]]] = {
    int: _numbers_equal,
    Uint: _numbers_equal,
    float: _numbers_equal,
    tuple: _lists_equal,
    dict: _maps_equal,
    DomainMap: _maps_equal,
    Optional: _optionals_equal,
    TypeValue: lambda left, right: type(right) is TypeValue and left.name == right.name,
    Quantity: _quantities_equal,
    QuantityResult: _quantities_equal,
    Semver: _strictly(lambda left, right: bool(left.key == right.key)),
    Url: _strictly(lambda left, right: bool(left.text == right.text)),
    Format: _strictly(lambda left, right: bool(left.name == right.name)),
    Ip: _strictly(lambda left, right: bool(left.address == right.address)),
    Cidr: _strictly(lambda left, right: bool((left.address, left.bits) == (right.address, right.bits))),
}


def not_equal(left: Value, right: Value) -> bool:
    """``left != right``: values that cannot be compared are different."""
    try:
        return not equal(left, right)
    except CelError:
        return True


def same(left: Value, right: Value) -> bool:
    """Equality as ``in`` and ``includes`` use it: what cannot be compared is different, null is like any value."""
    try:
        if left is None:
            return right is None
        return _equal_to(left, right)
    except CelError:
        return False


# Order


def compare(left: Value, right: Value) -> int:
    """-1, 0 or 1.

    Raises:
        CelError: the types have no common order, or NaN.
    """
    kind = type(left)
    if kind in _NUMBERS:
        if kind is float and left != left:
            raise CelError("NaN values cannot be ordered")
        if type(right) not in _NUMBERS:
            no_such_overload()
        if right != right:
            raise CelError("NaN values cannot be ordered")
        return compare_numbers(left, right)
    if type(right) is not kind:
        no_such_overload()
    if kind is Duration or kind is Timestamp:
        left, right = left.nanos, right.nanos
    elif kind is str and not (left.isascii() and right.isascii()):
        # Go compares bytes; surrogates aside, code points have the same order.
        left, right = left.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass")
    return int(left > right) - int(left < right)


COMPARABLE: Final = frozenset({bool, int, Uint, float, str, bytes, Duration, Timestamp})


def _ordering(name: str, accept: frozenset[int]) -> Callable[[Value, Value], bool]:
    def check(left: Value, right: Value) -> bool:
        if type(left) not in COMPARABLE:
            raise CelError(f"no such overload: {name}")
        return compare(left, right) in accept

    return check


less = _ordering("_<_", frozenset({-1}))
less_equal = _ordering("_<=_", frozenset({-1, 0}))
greater = _ordering("_>_", frozenset({1}))
greater_equal = _ordering("_>=_", frozenset({0, 1}))


# Arithmetic


def _lacking(name: str, left: Value) -> CelError:
    """The error for a left operand that has no such operator."""
    return CelError("no such overload" if type(left) in _RECEIVERS else f"no such overload: {name}")


def add(left: Value, right: Value) -> Value:
    """``left + right``."""
    kind = type(left)
    if kind is Duration or kind is Timestamp:
        return _add_time(left, right)
    if kind not in _ADDABLE:
        raise _lacking("_+_", left)
    if type(right) is not kind:
        no_such_overload()
    if kind is int:
        return checked_int(left + right)
    if kind is Uint:
        return checked_uint(int(left) + int(right))
    if kind is not float:
        refuse_if_huge(len(left) + len(right))
    return left + right


_ADDABLE: Final = frozenset({int, Uint, float, str, bytes, tuple})


def _add_time(left: Value, right: Value) -> Value:
    if type(left) is Duration:
        if type(right) is Duration:
            return duration_sum(left.nanos + right.nanos)
        if type(right) is Timestamp:
            return moved(right, left.nanos)
    elif type(right) is Duration:
        return moved(left, right.nanos)
    return no_such_overload()


def subtract(left: Value, right: Value) -> Value:
    """``left - right``."""
    kind = type(left)
    if kind is Timestamp:
        if type(right) is Duration:
            return moved(left, -right.nanos)
        if type(right) is Timestamp:
            return duration_sum(left.nanos - right.nanos)
        return no_such_overload()
    if kind not in _SUBTRACTABLE:
        raise _lacking("_-_", left)
    if type(right) is not kind:
        no_such_overload()
    if kind is int:
        return checked_int(left - right)
    if kind is Uint:
        return checked_uint(int(left) - int(right))
    return duration_sum(left.nanos - right.nanos) if kind is Duration else left - right


_SUBTRACTABLE: Final = frozenset({int, Uint, float, Duration})


def multiply(left: Value, right: Value) -> Value:
    """``left * right``."""
    kind = type(left)
    if kind not in _NUMBERS:
        raise _lacking("_*_", left)
    if type(right) is not kind:
        no_such_overload()
    if kind is int:
        return checked_int(left * right)
    return checked_uint(int(left) * int(right)) if kind is Uint else left * right


def divide(left: Value, right: Value) -> Value:
    """``left / right``."""
    kind = type(left)
    if kind not in _NUMBERS:
        raise _lacking("_/_", left)
    if type(right) is not kind:
        no_such_overload()
    if kind is int:
        return int_divide(left, right)
    return uint_divide(int(left), int(right)) if kind is Uint else double_divide(left, right)


def modulo(left: Value, right: Value) -> Value:
    """``left % right``."""
    kind = type(left)
    if kind is not int and kind is not Uint:
        raise _lacking("_%_", left)
    if type(right) is not kind:
        no_such_overload()
    return int_modulo(left, right) if kind is int else uint_modulo(int(left), int(right))


def negate(value: Value) -> Value:
    """``-value``."""
    kind = type(value)
    if kind is int:
        return checked_int(-value)
    if kind is float:
        return -value
    if kind is Duration:
        return duration_sum(-value.nanos)
    if kind is bool:
        return no_such_overload()
    raise _lacking("-_", value)


def logical_not(value: Value) -> bool:
    """``!value``."""
    if value is True:
        return False
    if value is False:
        return True
    return no_such_overload()


# Lookup


def key_text(key: Value) -> str:
    """A key as messages show it."""
    if type(key) is bool:
        return "true" if key else "false"
    if type(key) is float:
        return format_double(key)
    return str(key)


def find(items: dict[Value, Value], key: Value) -> Value:
    """The value of a key in a map, or ``MISSING``; numbers of different types find each other, booleans do not."""
    if type(items) is DomainMap:
        return items.get(key, _EMPTY) if type(key) is str else _EMPTY
    kind = type(key)
    if kind is str:
        return items.get(key, _MISSING)
    if kind is bool or kind in _NUMBERS:
        found = items.get(key, _MISSING)
        if found is _MISSING or not (kind is bool or any(type(known) is bool for known in items)):
            return found
        for known, value in items.items():
            if known == key and (type(known) is bool) == (kind is bool):
                return value
    return _MISSING


MISSING: Final = _MISSING
_EMPTY: Final[dict[str, Value]] = {}


def list_index(key: Value) -> int:
    """The index that a value means.

    Raises:
        CelError: it is no number, or not a whole one.
    """
    kind = type(key)
    if kind is int:
        return int(key)
    if kind is float or kind is Uint:
        if key == key and abs(key) < 2**63 and key == int(key):
            return int(key)
        raise CelError(f"unsupported index value {key_text(key)} in list")
    raise CelError(f"unsupported index type '{type_name(key)}' in list")


_QUALIFIERS: Final = frozenset({str, int, Uint, bool, float})


def _lookup(value: Value, key: Value, *, constant: bool) -> Value:
    """The element, or ``MISSING``."""
    if not constant and type(key) not in _QUALIFIERS:
        raise CelError(f"invalid qualifier type: {go_type(key)}")
    kind = type(value)
    if kind is dict or kind is DomainMap:
        return find(value, key)
    if kind is tuple:
        at = list_index(key)
        return value[at] if 0 <= at < len(value) else _MISSING
    return _MISSING


def index(value: Value, key: Value) -> Value:
    """``value[key]`` and ``value.key``.

    Raises:
        CelError: there is no such element.
    """
    if type(value) is Optional:
        return optional_index(value, key)
    found = _lookup(value, key, constant=False)
    if found is _MISSING:
        if type(value) is tuple:
            raise CelError(f"index out of bounds: {key_text(key)}")
        raise CelError(f"no such key: {key_text(key)}")
    return found


def optional_index(value: Value, key: Value) -> Optional:
    """``value[?key]`` and ``value.?key``."""
    if type(value) is Optional:
        if not value.has_value:
            return NONE
        value = value.value
    found = _lookup(value, key, constant=False)
    return NONE if found is _MISSING else Optional(found)


def has(value: Value, field: str) -> bool:
    """``has(value.field)``."""
    if type(value) is Optional:
        if not value.has_value:
            return False
        value = value.value
    return _lookup(value, field, constant=True) is not _MISSING


# Membership


def contained(value: Value, container: Value) -> bool:
    """``value in container``."""
    kind = type(container)
    if kind is tuple:
        return any(same(value, element) for element in container)
    if kind is DomainMap:
        return type(value) is str and value in container
    if kind is dict:
        return find(container, value) is not _MISSING
    return no_such_overload()


_UNHASHABLE: Final = frozenset({Semver, Format, bytes})


def contained_in_constants(value: Value, constants: tuple[Value, ...]) -> bool:
    """``value in [constants]``: a set in cel-go, which does not take every value."""
    if type(value) in _UNHASHABLE:
        raise Abort(f"internal error: runtime error: hash of unhashable type {go_type(value)}")
    if type(value) is float and value != value:
        return False
    return any(same(value, constant) for constant in constants)


class OpaqueKey:
    """A list or map as the key of a map: in Go a pointer, so no other key is equal to it."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


def map_key(key: Value) -> Value:
    """A key as it is kept in a map.

    Raises:
        Abort: Go cannot hash it.
    """
    kind = type(key)
    if kind in _UNHASHABLE:
        raise Abort(f"internal error: runtime error: hash of unhashable type {go_type(key)}")
    return OpaqueKey(key) if kind is tuple or kind is dict or kind is DomainMap else key


def _shown_key(key: Value) -> Value:
    return key.value if type(key) is OpaqueKey else key


def iterate(value: Value) -> Iterator[Value]:
    """The elements of a list or the keys of a map.

    Raises:
        CelError: neither a list nor a map.
    """
    kind = type(value)
    if kind is tuple or kind is DomainMap:
        return iter(value)
    if kind is dict:
        return map(_shown_key, value)
    raise CelError(f"got '{go_type(value)}', expected iterable type")


def iterate_pairs(value: Value) -> Iterator[tuple[Value, Value]]:
    """Index and element of a list, or key and value of a map.

    Raises:
        CelError: neither a list nor a map.
    """
    kind = type(value)
    if kind is tuple:
        return enumerate(value)
    if kind is dict or kind is DomainMap:
        return ((_shown_key(key), item) for key, item in value.items())
    raise CelError(f"unsupported comprehension range type: {go_type(value)}")


def size(value: Value) -> int:
    """``size(value)``."""
    kind = type(value)
    if kind is str or kind is bytes or kind is tuple or kind is dict or kind is DomainMap:
        return len(value)
    raise _lacking("size", value)


def byte_size(value: Value) -> int:
    """Bytes of an address, or bytes that the prefix of a network covers."""
    if type(value) is Ip:
        return 4 if value.address.version == 4 else 16
    return int(-(-value.bits // 8))
