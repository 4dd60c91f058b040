"""From a function's name and overloads to what is called.

cel-go binds functions in two ways: one implementation for all overloads, which finds out itself what it was given, or
one per overload, guarded by the overload's types. The errors for unsuitable values differ, so both ways are here.

Source: cel-go common/decls/decls.go (Bindings), common/stdlib/standard.go.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NoReturn

from dralang.cel import formats, lists, network, strings
from dralang.cel import operators as op
from dralang.cel.conversions import CONVERSIONS
from dralang.cel.declarations import Overload, all_overloads
from dralang.cel.formatting import format_values
from dralang.cel.quantities import QUANTITIES
from dralang.cel.semvers import SEMVERS
from dralang.cel.times import Duration, Timestamp, duration_part, timestamp_part
from dralang.cel.types import Type
from dralang.cel.values import (
    NONE,
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
)
from dralang.values.quantity import Quantity

Implementation = Callable[..., Value]


def _matches(text: Value, pattern: Value) -> bool:
    if type(text) is not str:
        raise CelError("no such overload" if type(text) in {Timestamp, Duration} else "no such overload: matches")
    if type(pattern) is not str:
        no_such_overload()
    return strings.matches(text, pattern)


def _string_test(test: Callable[[str, str], bool]) -> Implementation:
    def call(text: Value, part: Value) -> bool:
        if type(text) is not str or type(part) is not str:
            no_such_overload()
        return test(text, part)

    return call


def _sort(items: Value) -> Value:
    if type(items) is not tuple:
        raise CelError("no such overload" if type(items) in {str, Timestamp, Duration} else "no such overload: sort")
    return lists.sort(items)


def _sort_by(items: Value, keys: Value) -> Value:
    if type(items) is not tuple or type(keys) is not tuple:
        receiver = type(items) in {str, Timestamp, Duration}
        raise CelError("no such overload" if receiver else "no such overload: @sortByAssociatedKeys")
    return lists.sort_by_keys(items, keys)


def _not_strictly_false(value: Value) -> bool:
    return value if type(value) is bool else True


def _of_non_zero(value: Value) -> Optional:
    zero = not value if type(value) in {bool, int, Uint, float, str, bytes, tuple, dict, DomainMap} else value is None
    if type(value) is Duration:
        zero = value.nanos == 0
    return NONE if zero else Optional(value)


def _prefer(name: str) -> Implementation:
    def call(_one: Value, _two: Value) -> NoReturn:
        # The evaluators do `or` and `orValue` themselves, because the second operand is lazy.
        raise CelError(f"no such overload: {name}")

    return call


SINGLETONS: Final[dict[str, Implementation]] = {
    "!_": op.logical_not,
    "_==_": op.equal,
    "_!=_": op.not_equal,
    "_+_": op.add,
    "_-_": op.subtract,
    "_*_": op.multiply,
    "_/_": op.divide,
    "_%_": op.modulo,
    "-_": op.negate,
    "_<_": op.less,
    "_<=_": op.less_equal,
    "_>_": op.greater,
    "_>=_": op.greater_equal,
    "_[_]": op.index,
    "_[?_]": op.optional_index,
    "_?._": op.optional_index,
    "@in": op.contained,
    "size": op.size,
    "matches": _matches,
    "contains": _string_test(lambda text, part: part in text),
    "startsWith": _string_test(str.startswith),
    "endsWith": _string_test(str.endswith),
    "type": lambda value: TypeValue(op.type_name(value)),
    "dyn": lambda value: value,
    "@not_strictly_false": _not_strictly_false,
    "flatten": lambda *args: lists.checked_flatten(*args) if len(args) == 1 else lists.checked_flatten_to(*args),
    "sort": _sort,
    "@sortByAssociatedKeys": _sort_by,
    "or": _prefer("or"),
    "orValue": _prefer("orValue"),
}


def _getter(function: str) -> dict[str, Implementation]:
    found: dict[str, Implementation] = {}
    for overload in all_overloads()[function]:
        if overload.startswith("duration"):
            found[overload] = lambda span: duration_part(function, span)
        elif overload.endswith("_tz"):
            found[overload] = lambda moment, zone: timestamp_part(function, moment, zone)
        else:
            found[overload] = lambda moment: timestamp_part(function, moment, "UTC")
    return found


def _sorting(name: str) -> Implementation:
    return {
        "isSorted": lists.is_sorted,
        "max": lists.largest,
        "min": lists.smallest,
    }[name]


def _summing(kind: str) -> Implementation:
    return lambda items: lists.total(items, kind)


def _templated(function: str) -> dict[str, Implementation]:
    overloads = all_overloads()[function]
    if function == "sum":
        return {name: _summing(name.split("_")[1]) for name in overloads}
    return dict.fromkeys(overloads, _sorting(function))


_NETWORK: Final[dict[str, Implementation]] = {
    "string_to_url": network.parse_url,
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": lambda url: url.host,
    "url_get_hostname": network.url_hostname,
    "url_get_port": network.url_port,
    "url_get_escaped_path": lambda url: url.path,
    "url_get_query": network.url_query,
    "is_url_string": network.is_url,
    "string_to_ip": network.parse_ip,
    "cidr_ip": lambda cidr: Ip(cidr.address),
    "ip_family": lambda ip: ip.address.version,
    "ip_is_canonical": network.ip_is_canonical,
    "ip_is_unspecified": network.is_unspecified,
    "ip_is_loopback": network.is_loopback,
    "ip_is_link_local_multicast": network.is_link_local_multicast,
    "ip_is_link_local_unicast": network.is_link_local_unicast,
    "ip_is_global_unicast": network.is_global_unicast,
    "is_ip": network.is_ip,
    "string_to_cidr": network.parse_cidr,
    "cidr_contains_ip_string": network.cidr_contains_ip_text,
    "cidr_contains_ip_ip": network.cidr_contains_ip,
    "cidr_contains_cidr_string": lambda cidr, other: network.cidr_contains_cidr(cidr, network.parse_cidr(other)),
    "cidr_contains_cidr": network.cidr_contains_cidr,
    "cidr_prefix_length": lambda cidr: cidr.bits,
    "cidr_masked": network.masked,
    "cidr_is_mask": lambda value: value == network.masked(value),
    "is_cidr": network.is_cidr,
    "ip_to_string": network.ip_text,
    "cidr_to_string": network.cidr_text,
}
_STRINGS: Final[dict[str, Implementation]] = {
    "string_find_string": strings.find,
    "string_find_all_string": strings.find_all,
    "string_find_all_string_int": strings.find_all,
    "string_char_at_int": strings.char_at,
    "string_index_of_string": strings.index_of,
    "string_index_of_string_int": strings.index_of,
    "string_last_index_of_string": strings.last_index_of,
    "string_last_index_of_string_int": strings.last_index_of,
    "string_lower_ascii": strings.lower_ascii,
    "string_upper_ascii": strings.upper_ascii,
    "string_replace_string_string": strings.replace,
    "string_replace_string_string_int": strings.replace,
    "string_split_string": strings.split,
    "string_split_string_int": strings.split,
    "string_substring_int": strings.substring,
    "string_substring_int_int": strings.substring,
    "string_trim": strings.trim,
    "string_format": format_values,
    "strings_quote": strings.quote,
    "list_join": strings.join,
    "list_join_string": strings.join,
    "format-validate": formats.validate,
    "format-named": formats.named,
}
_LISTS: Final[dict[str, Implementation]] = {
    "list_a_index_of_int": lists.list_index_of,
    "list_a_last_index_of_int": lists.list_last_index_of,
    "list_includes_dyn_dyn": lists.includes,
    "list_slice": lists.sublist,
    "lists_range": lists.number_range,
    "list_reverse": lists.reverse,
    "list_distinct": lists.distinct,
    "list_first": lists.first,
    "list_last": lists.last,
    "optional_unwrap": lists.unwrap,
    "optional_unwrapOpt": lists.unwrap,
    "list_sets_contains_list": lists.sets_contain,
    "list_sets_equivalent_list": lists.sets_equivalent,
    "list_sets_intersects_list": lists.sets_intersect,
    "@mapInsert_map_key_value": lists.map_insert,
    "@mapInsert_map_map": lists.map_merge,
}
_OPTIONALS: Final[dict[str, Implementation]] = {
    "optional_of": Optional,
    "optional_ofNonZeroValue": _of_non_zero,
    "optional_none": lambda: NONE,
    "optional_value": Optional.get,
    "optional_hasValue": lambda value: value.has_value,
}
_GETTERS: Final = frozenset(
    {
        "getFullYear",
        "getMonth",
        "getDayOfYear",
        "getDayOfMonth",
        "getDate",
        "getDayOfWeek",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
    }
)
_TEMPLATED: Final = frozenset({"isSorted", "sum", "max", "min"})


def _constant_format(name: str) -> Implementation:
    value = formats.FORMATS[name]
    return lambda: value


@cache
def _implementations() -> dict[str, Implementation]:
    """Overload id to implementation, for the functions that are bound by overload."""
    found = _NETWORK | _STRINGS | _LISTS | _OPTIONALS | CONVERSIONS | QUANTITIES | SEMVERS
    for function in sorted(_GETTERS):
        found |= _getter(function)
    for function in sorted(_TEMPLATED):
        found |= _templated(function)
    for name in formats.FORMATS:
        found[f"format.{name}"] = _constant_format(name)
    return found


# Guards

_CLASSES: Final[dict[str, type]] = {
    "bool": bool,
    "int": int,
    "uint": Uint,
    "double": float,
    "string": str,
    "bytes": bytes,
    "null_type": type(None),
    "google.protobuf.Duration": Duration,
    "google.protobuf.Timestamp": Timestamp,
    "kubernetes.Quantity": Quantity,
    "kubernetes.Semver": Semver,
    "kubernetes.URL": Url,
    "kubernetes.NamedFormat": Format,
    "net.IP": Ip,
    "net.CIDR": Cidr,
    "optional_type": Optional,
    "type": TypeValue,
}


def suits(wanted: Type, value: Value) -> bool:
    """Whether a value may be given for a parameter, as cel-go checks it at run time (first elements only)."""
    if wanted.kind in {"dyn", "any", "param"}:
        return True
    if wanted.kind == "list":
        return type(value) is tuple and (not value or suits(wanted.params[0], value[0]))
    if wanted.kind == "map":
        if not op.is_map(value):
            return False
        for key, item in value.items():
            return suits(wanted.params[0], key) and suits(wanted.params[1], item)
        return True
    kind = type(value)
    return kind is _CLASSES.get(wanted.name) or (kind is QuantityResult and wanted.name == "kubernetes.Quantity")


def no_overload(function: str, *args: Value) -> NoReturn:
    """Raise the error of a function that has no overload for these values."""
    names = ", ".join(op.type_name(arg) for arg in args)
    raise CelError(f"no such overload: {function}({names})")


def _guarded(function: str, params: tuple[Type, ...], call: Implementation) -> Implementation:
    def guarded(*args: Value) -> Value:
        for wanted, value in zip(params, args, strict=True):
            if not suits(wanted, value):
                no_overload(function, *args)
        return call(*args)

    return guarded


def _dispatching(function: str) -> Implementation:
    known = _implementations()
    overloads = [(one.params, known[one.id]) for one in all_overloads()[function].values() if one.id in known]

    def dispatch(*args: Value) -> Value:
        for params, call in overloads:
            if len(params) == len(args) and all(map(suits, params, args)):
                return call(*args)
        return no_overload(function, *args)

    return dispatch


def implementation_of(function: str, overload: str) -> tuple[Overload, Implementation] | None:
    """Signature and implementation of one overload, for a caller that checks the types itself."""
    call = _implementations().get(overload)
    return None if call is None else (all_overloads()[function][overload], call)


@cache
def resolve(function: str, overloads: tuple[str, ...]) -> Implementation:
    """What to call for a function with the overloads that the checker left."""
    singleton = SINGLETONS.get(function)
    if singleton is not None:
        return singleton
    if len(overloads) == 1:
        call = _implementations().get(overloads[0])
        overload: Any = all_overloads()[function].get(overloads[0])
        if call is None:
            return lambda *args: no_overload(function, *args)
        return _guarded(function, overload.params, call)
    return _dispatching(function)
