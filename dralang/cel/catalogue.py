"""The catalogue of functions, as text that ``declarations`` reads.

One line is one overload: ``id: (types) -> result``, or ``id: receiver.(types) -> result`` for a member function.
Capital letters are type variables. The order within a function is the order in which overloads are tried.
The authorization functions have no receiver here, but an attribute (of any type) may be tried as one.

Source: cel-go common/stdlib, cel/library.go and ext (0.29); k8s.io/apiserver pkg/cel/library and environment/base.go.
"""

from typing import Final

_NUMBERS = (("int64", "int"), ("uint64", "uint"), ("double", "double"))
_COMPARABLE = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
_RUNTIME_NAMES: Final = {"duration": "google.protobuf.Duration", "timestamp": "google.protobuf.Timestamp"}
_SUMMABLE = ("int", "uint", "double", "duration")


def _relations() -> str:
    lines = []
    for operator, name in (("_<_", "less"), ("_<=_", "less_equals"), ("_>_", "greater"), ("_>=_", "greater_equals")):
        lines.append(operator)
        lines.append(f"  {name}_bool: (bool, bool) -> bool")
        for left_name, left in _NUMBERS:
            others = [(left_name, left), *[pair for pair in _NUMBERS if pair[1] != left]]
            for right_name, right in others:
                suffix = left_name if left == right else f"{left_name}_{right_name}"
                lines.append(f"  {name}_{suffix}: ({left}, {right}) -> bool")
        for kind in ("string", "bytes", "timestamp", "duration"):
            lines.append(f"  {name}_{kind}: ({kind}, {kind}) -> bool")
    return "\n".join(lines) + "\n"


def _getters() -> str:
    lines = []
    names = {
        "getFullYear": "year",
        "getMonth": "month",
        "getDayOfYear": "day_of_year",
        "getDayOfMonth": "day_of_month",
        "getDate": "day_of_month_1_based",
        "getDayOfWeek": "day_of_week",
        "getHours": "hours",
        "getMinutes": "minutes",
        "getSeconds": "seconds",
        "getMilliseconds": "milliseconds",
    }
    for function, name in names.items():
        lines.append(function)
        lines.append(f"  timestamp_to_{name}: timestamp.() -> int")
        lines.append(f"  timestamp_to_{name}_with_tz: timestamp.(string) -> int")
        if name in {"hours", "minutes", "seconds", "milliseconds"}:
            lines.append(f"  duration_to_{name}: duration.() -> int")
    return "\n".join(lines) + "\n"


STANDARD: Final = f"""
_?_:_
  conditional: (bool, A, A) -> A
_&&_
  logical_and: (bool, bool) -> bool
_||_
  logical_or: (bool, bool) -> bool
!_
  logical_not: (bool) -> bool
@not_strictly_false
  not_strictly_false: (bool) -> bool
_==_
  equals: (A, A) -> bool
_!=_
  not_equals: (A, A) -> bool
_+_
  add_bytes: (bytes, bytes) -> bytes
  add_double: (double, double) -> double
  add_duration_duration: (duration, duration) -> duration
  add_duration_timestamp: (duration, timestamp) -> timestamp
  add_timestamp_duration: (timestamp, duration) -> timestamp
  add_int64: (int, int) -> int
  add_list: (list(A), list(A)) -> list(A)
  add_string: (string, string) -> string
  add_uint64: (uint, uint) -> uint
_/_
  divide_double: (double, double) -> double
  divide_int64: (int, int) -> int
  divide_uint64: (uint, uint) -> uint
_%_
  modulo_int64: (int, int) -> int
  modulo_uint64: (uint, uint) -> uint
_*_
  multiply_double: (double, double) -> double
  multiply_int64: (int, int) -> int
  multiply_uint64: (uint, uint) -> uint
-_
  negate_double: (double) -> double
  negate_int64: (int) -> int
_-_
  subtract_double: (double, double) -> double
  subtract_duration_duration: (duration, duration) -> duration
  subtract_int64: (int, int) -> int
  subtract_timestamp_duration: (timestamp, duration) -> timestamp
  subtract_timestamp_timestamp: (timestamp, timestamp) -> duration
  subtract_uint64: (uint, uint) -> uint
{_relations()}
_[_]
  index_list: (list(A), int) -> A
  index_map: (map(A, B), A) -> B
  optional_list_index_int: (optional(list(V)), int) -> optional(V)
  optional_map_index_value: (optional(map(K, V)), K) -> optional(V)
@in
  in_list: (A, list(A)) -> bool
  in_map: (A, map(A, B)) -> bool
size
  size_bytes: (bytes) -> int
  bytes_size: bytes.() -> int
  size_list: (list(A)) -> int
  list_size: list(A).() -> int
  size_map: (map(A, B)) -> int
  map_size: map(A, B).() -> int
  size_string: (string) -> int
  string_size: string.() -> int
type
  type: (A) -> type(A)
bool
  bool_to_bool: (bool) -> bool
  string_to_bool: (string) -> bool
bytes
  bytes_to_bytes: (bytes) -> bytes
  string_to_bytes: (string) -> bytes
double
  double_to_double: (double) -> double
  int64_to_double: (int) -> double
  string_to_double: (string) -> double
  uint64_to_double: (uint) -> double
duration
  duration_to_duration: (duration) -> duration
  string_to_duration: (string) -> duration
dyn
  to_dyn: (A) -> dyn
int
  int64_to_int64: (int) -> int
  double_to_int64: (double) -> int
  duration_to_int64: (duration) -> int
  string_to_int64: (string) -> int
  timestamp_to_int64: (timestamp) -> int
  uint64_to_int64: (uint) -> int
string
  string_to_string: (string) -> string
  bool_to_string: (bool) -> string
  bytes_to_string: (bytes) -> string
  double_to_string: (double) -> string
  duration_to_string: (duration) -> string
  int64_to_string: (int) -> string
  timestamp_to_string: (timestamp) -> string
  uint64_to_string: (uint) -> string
  ip_to_string: (IP) -> string
  cidr_to_string: (CIDR) -> string
timestamp
  timestamp_to_timestamp: (timestamp) -> timestamp
  int64_to_timestamp: (int) -> timestamp
  string_to_timestamp: (string) -> timestamp
uint
  uint64_to_uint64: (uint) -> uint
  double_to_uint64: (double) -> uint
  int64_to_uint64: (int) -> uint
  string_to_uint64: (string) -> uint
contains
  contains_string: string.(string) -> bool
endsWith
  ends_with_string: string.(string) -> bool
startsWith
  starts_with_string: string.(string) -> bool
matches
  matches: (string, string) -> bool
  matches_string: string.(string) -> bool
{_getters()}
"""

OPTIONALS: Final = """
optional.of
  optional_of: (V) -> optional(V)
optional.ofNonZeroValue
  optional_ofNonZeroValue: (V) -> optional(V)
optional.none
  optional_none: () -> optional(V)
value
  optional_value: optional(V).() -> V
hasValue
  optional_hasValue: optional(V).() -> bool
or
  optional_or_optional: optional(V).(optional(V)) -> optional(V)
orValue
  optional_orValue_value: optional(V).(V) -> V
_?._
  select_optional_field: (dyn, string) -> optional(V)
_[?_]
  list_optindex_optional_int: (list(V), int) -> optional(V)
  optional_list_optindex_optional_int: (optional(list(V)), int) -> optional(V)
  map_optindex_optional_value: (map(K, V), K) -> optional(V)
  optional_map_optindex_optional_value: (optional(map(K, V)), K) -> optional(V)
last
  list_last: list(V).() -> optional(V)
first
  list_first: list(V).() -> optional(V)
optional.unwrap
  optional_unwrap: (list(optional(V))) -> list(V)
unwrapOpt
  optional_unwrapOpt: list(optional(V)).() -> list(V)
"""


def _templates(function: str, kinds: tuple[str, ...], line: str, *, runtime_name: bool = False) -> str:
    lines = [function]
    for kind in kinds:
        name = _RUNTIME_NAMES.get(kind, kind) if runtime_name else kind
        lines.append("  " + line.replace("NAME", name).replace("TYPE", kind))
    return "\n".join(lines) + "\n"


KUBERNETES: Final = (
    """
url
  string_to_url: (string) -> URL
getScheme
  url_get_scheme: URL.() -> string
getHost
  url_get_host: URL.() -> string
getHostname
  url_get_hostname: URL.() -> string
getPort
  url_get_port: URL.() -> string
getEscapedPath
  url_get_escaped_path: URL.() -> string
getQuery
  url_get_query: URL.() -> map(string, list(string))
isURL
  is_url_string: (string) -> bool
find
  string_find_string: string.(string) -> string
findAll
  string_find_all_string: string.(string) -> list(string)
  string_find_all_string_int: string.(string, int) -> list(string)
quantity
  string_to_quantity: (string) -> Quantity
isQuantity
  is_quantity_string: (string) -> bool
sign
  quantity_sign: (Quantity) -> int
isInteger
  quantity_is_integer: Quantity.() -> bool
asInteger
  quantity_get_int: Quantity.() -> int
asApproximateFloat
  quantity_get_float: Quantity.() -> double
isGreaterThan
  quantity_is_greater_than: Quantity.(Quantity) -> bool
  semver_is_greater_than: Semver.(Semver) -> bool
isLessThan
  quantity_is_less_than: Quantity.(Quantity) -> bool
  semver_is_less_than: Semver.(Semver) -> bool
compareTo
  quantity_compare_to: Quantity.(Quantity) -> int
  semver_compare_to: Semver.(Semver) -> int
add
  quantity_add: Quantity.(Quantity) -> Quantity
  quantity_add_int: Quantity.(int) -> Quantity
sub
  quantity_sub: Quantity.(Quantity) -> Quantity
  quantity_sub_int: Quantity.(int) -> Quantity
semver
  string_to_semver: (string) -> Semver
  string_bool_to_semver: (string, bool) -> Semver
isSemver
  is_semver_string: (string) -> bool
  is_semver_string_bool: (string, bool) -> bool
major
  semver_major: Semver.() -> int
minor
  semver_minor: Semver.() -> int
patch
  semver_patch: Semver.() -> int
ip
  string_to_ip: (string) -> IP
  cidr_ip: CIDR.() -> IP
family
  ip_family: IP.() -> int
ip.isCanonical
  ip_is_canonical: (string) -> bool
isUnspecified
  ip_is_unspecified: IP.() -> bool
isLoopback
  ip_is_loopback: IP.() -> bool
isLinkLocalMulticast
  ip_is_link_local_multicast: IP.() -> bool
isLinkLocalUnicast
  ip_is_link_local_unicast: IP.() -> bool
isGlobalUnicast
  ip_is_global_unicast: IP.() -> bool
isIP
  is_ip: (string) -> bool
cidr
  string_to_cidr: (string) -> CIDR
containsIP
  cidr_contains_ip_string: CIDR.(string) -> bool
  cidr_contains_ip_ip: CIDR.(IP) -> bool
containsCIDR
  cidr_contains_cidr_string: CIDR.(string) -> bool
  cidr_contains_cidr: CIDR.(CIDR) -> bool
prefixLength
  cidr_prefix_length: CIDR.() -> int
masked
  cidr_masked: CIDR.() -> CIDR
isCIDR
  is_cidr: (string) -> bool
validate
  format-validate: Format.(string) -> optional(list(string))
format.named
  format-named: (string) -> optional(Format)
format.dns1123Label
  format.dns1123Label: () -> Format
format.dns1123Subdomain
  format.dns1123Subdomain: () -> Format
format.dns1035Label
  format.dns1035Label: () -> Format
format.qualifiedName
  format.qualifiedName: () -> Format
format.dns1123LabelPrefix
  format.dns1123LabelPrefix: () -> Format
format.dns1123SubdomainPrefix
  format.dns1123SubdomainPrefix: () -> Format
format.dns1035LabelPrefix
  format.dns1035LabelPrefix: () -> Format
format.labelValue
  format.labelValue: () -> Format
format.uri
  format.uri: () -> Format
format.uuid
  format.uuid: () -> Format
format.byte
  format.byte: () -> Format
format.date
  format.date: () -> Format
format.datetime
  format.datetime: () -> Format
charAt
  string_char_at_int: string.(int) -> string
indexOf
  list_a_index_of_int: list(A).(A) -> int
  string_index_of_string: string.(string) -> int
  string_index_of_string_int: string.(string, int) -> int
lastIndexOf
  list_a_last_index_of_int: list(A).(A) -> int
  string_last_index_of_string: string.(string) -> int
  string_last_index_of_string_int: string.(string, int) -> int
lowerAscii
  string_lower_ascii: string.() -> string
replace
  string_replace_string_string: string.(string, string) -> string
  string_replace_string_string_int: string.(string, string, int) -> string
split
  string_split_string: string.(string) -> list(string)
  string_split_string_int: string.(string, int) -> list(string)
substring
  string_substring_int: string.(int) -> string
  string_substring_int_int: string.(int, int) -> string
trim
  string_trim: string.() -> string
upperAscii
  string_upper_ascii: string.() -> string
format
  string_format: string.(list(dyn)) -> string
strings.quote
  strings_quote: (string) -> string
join
  list_join: list(string).() -> string
  list_join_string: list(string).(string) -> string
sets.contains
  list_sets_contains_list: (list(T), list(T)) -> bool
sets.equivalent
  list_sets_equivalent_list: (list(T), list(T)) -> bool
sets.intersects
  list_sets_intersects_list: (list(T), list(T)) -> bool
cel.@mapInsert
  @mapInsert_map_key_value: (map(K, V), K, V) -> map(K, V)
  @mapInsert_map_map: (map(K, V), map(K, V)) -> map(K, V)
"""
    + _templates("isSorted", _COMPARABLE, "list_NAME_is_sorted_bool: list(TYPE).() -> bool")
    + _templates("sum", _SUMMABLE, "list_NAME_sum_NAME: list(TYPE).() -> TYPE")
    + _templates("max", _COMPARABLE, "list_NAME_max_NAME: list(TYPE).() -> TYPE")
    + _templates("min", _COMPARABLE, "list_NAME_min_NAME: list(TYPE).() -> TYPE")
)

LISTS: Final = (
    """
slice
  list_slice: list(T).(int, int) -> list(T)
flatten
  list_flatten: list(list(T)).() -> list(T)
  list_flatten_int: list(dyn).(int) -> list(dyn)
lists.range
  lists_range: (int) -> list(int)
reverse
  list_reverse: list(T).() -> list(T)
distinct
  list_distinct: list(T).() -> list(T)
"""
    + _templates("sort", _COMPARABLE, "list_NAME_sort: list(TYPE).() -> list(TYPE)", runtime_name=True)
    + _templates(
        "@sortByAssociatedKeys",
        _COMPARABLE,
        "list_NAME_sortByAssociatedKeys: list(T).(list(TYPE)) -> list(T)",
        runtime_name=True,
    )
)
MASKS: Final = """
isMask
  cidr_is_mask: CIDR.() -> bool
"""
WIDE: Final = ("quantity_is_integer", "quantity_get_int")
INCLUDES: Final = """
includes
  list_includes_dyn_dyn: dyn.(dyn) -> bool
"""
AUTHORIZATION: Final = """
path
  authorizer_path: Authorizer.(string) -> PathCheck
group
  authorizer_group: Authorizer.(string) -> GroupCheck
serviceAccount
  authorizer_serviceaccount: Authorizer.(string, string) -> Authorizer
resource
  groupcheck_resource: GroupCheck.(string) -> ResourceCheck
subresource
  resourcecheck_subresource: ResourceCheck.(string) -> ResourceCheck
namespace
  resourcecheck_namespace: ResourceCheck.(string) -> ResourceCheck
name
  resourcecheck_name: ResourceCheck.(string) -> ResourceCheck
check
  pathcheck_check: PathCheck.(string) -> Decision
  resourcecheck_check: ResourceCheck.(string) -> Decision
errored
  decision_errored: Decision.() -> bool
error
  decision_error: Decision.() -> string
allowed
  decision_allowed: Decision.() -> bool
reason
  decision_reason: Decision.() -> string
fieldSelector
  authorizer_fieldselector: ResourceCheck.(string) -> ResourceCheck
labelSelector
  authorizer_labelselector: ResourceCheck.(string) -> ResourceCheck
"""
