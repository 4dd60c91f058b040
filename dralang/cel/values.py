"""The values an expression computes with.

int, double, bool, string, bytes and null are Python's own; a list is a tuple, a map is a dict, a quantity is the
project's. The other types are here.
"""

from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final, NoReturn, TypeAlias

from dralang.values.quantity import Quantity
from dralang.values.semver import SemVer, parse_semver

Value: TypeAlias = Any
"""Any CEL value; the checks that matter are made by type, at run time, as CEL makes them."""

MIN_INT: Final = -(1 << 63)
MAX_INT: Final = (1 << 63) - 1
MAX_UINT: Final = (1 << 64) - 1


class CelError(Exception):
    """A run-time error, with Kubernetes' text."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Abort(Exception):  # noqa: N818 - not an error value of CEL: it ends the evaluation
    """What no ``||`` or ``&&`` absorbs: the cost limit, or a panic inside cel-go."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class Uint(int):
    """An unsigned integer."""

    __slots__ = ()


class Optional:
    """``optional_type``: a value or nothing."""

    __slots__ = ("has_value", "value")

    def __init__(self, value: Value = None, *, has_value: bool = True) -> None:
        self.value = value
        self.has_value = has_value

    def get(self) -> Value:
        """The value; an error if there is none."""
        if not self.has_value:
            raise CelError("optional.none() dereference")
        return self.value


NONE: Final = Optional(has_value=False)


class TypeValue:
    """A type as a value: what ``type(x)`` gives and what ``int``, ``list`` and so on name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class DomainMap(dict[str, dict[str, Value]]):
    """``device.attributes`` and ``device.capacity``: a lookup of an unknown domain finds an empty map."""

    __slots__ = ()


class Semver:
    """A semantic version; ``key`` orders by precedence."""

    __slots__ = ("key", "version")

    def __init__(self, version: SemVer) -> None:
        self.version = version
        pre = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in version.pre)
        self.key = (version.major, version.minor, version.patch, 0 if pre else 1, pre)

    def __eq__(self, other: object) -> bool:
        if type(other) is Semver:
            return self.key == other.key
        raise CelError("no such overload")

    def __hash__(self) -> int:
        raise Abort("internal error: runtime error: hash of unhashable type cel.Semver")

    def __str__(self) -> str:
        return str(self.version)


def semver_of(text: str) -> Semver:
    """A strictly read version.

    Raises:
        ValueError: it is none; with the message of the Go library.
    """
    return Semver(parse_semver(text))


class QuantityResult(Quantity, frozen=True, eq=False):
    """A quantity that was computed: in Go a pointer, to which nothing is equal from the left."""


def quantity_result(value: Quantity) -> QuantityResult:
    """The same amount, as a computed one."""
    return QuantityResult(value.nano, value.mantissa, value.scale, value.format, value.kept, value.big)


class Ip:
    """An IP address without zone."""

    __slots__ = ("address",)

    def __init__(self, address: IPv4Address | IPv6Address) -> None:
        self.address = address


class Cidr:
    """An address with a prefix length."""

    __slots__ = ("address", "bits")

    def __init__(self, address: IPv4Address | IPv6Address, bits: int) -> None:
        self.address = address
        self.bits = bits


class Url:
    """A parsed URL."""

    __slots__ = ("host", "path", "query", "scheme", "text")

    def __init__(self, text: str, scheme: str, host: str, path: str, query: str) -> None:
        self.text = text
        self.scheme = scheme
        self.host = host
        self.path = path
        self.query = query


class Format:
    """A named format of the ``format`` library."""

    __slots__ = ("name", "regex_size")

    def __init__(self, name: str, regex_size: int) -> None:
        self.name = name
        self.regex_size = regex_size


COST_EXCEEDED: Final = "operation cancelled: actual cost limit exceeded"
_MOST: Final = 20_000_000


def refuse_if_huge(size: int) -> None:
    """Stop before a value is made that is much larger than the cost limit allows: there, the limit stops it after.

    Raises:
        Abort: it would be.
    """
    if size > _MOST:
        raise Abort(COST_EXCEEDED)


def no_such_overload() -> NoReturn:
    """Raise the error of a value of an unsuitable type."""
    raise CelError("no such overload")
