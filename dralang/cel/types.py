"""Static types, assignability and unification, as cel-go's checker has them.

Types are interned: equal types are the same object, so identity is equality.

Source: cel-go checker/types.go, checker/mapping.go, common/types/types.go (0.29).
"""

from collections.abc import Iterable
from typing import Final, Literal

Kind = Literal[
    "any",
    "bool",
    "bytes",
    "double",
    "duration",
    "dyn",
    "error",
    "int",
    "list",
    "map",
    "null",
    "opaque",
    "param",
    "string",
    "struct",
    "timestamp",
    "type",
    "uint",
]


class Type:
    """A type; make them with the functions below.

    Attributes:
        kind: what sort of type.
        name: the name at run time (``null_type``), without parameters.
        params: type parameters.
        text: as error messages write it.
        open: whether a type variable occurs in it.
    """

    __slots__ = ("kind", "name", "open", "params", "text")

    def __init__(self, kind: Kind, name: str, params: tuple["Type", ...]) -> None:
        self.kind: Kind = kind
        self.name = name
        self.params = params
        self.open: bool = kind == "param" or any(param.open for param in params)
        self.text: str
        if params:
            self.text = f"{name}({', '.join(param.text for param in params)})"
        else:
            self.text = {"error": "!error!", "null": "null"}.get(kind, name)

    def __repr__(self) -> str:
        return self.text

    def display(self) -> str:
        """As the message about a wrong result type writes it."""
        if self.params:
            return f"{self.name}({', '.join(param.display() for param in self.params)})"
        return self.name


_INTERNED: dict[tuple[Kind, str, tuple[Type, ...]], Type] = {}


def _make(kind: Kind, name: str, params: tuple[Type, ...] = ()) -> Type:
    key = (kind, name, params)
    found = _INTERNED.get(key)
    if found is None:
        found = _INTERNED.setdefault(key, Type(kind, name, params))
    return found


def list_of(element: Type) -> Type:
    """``list(element)``."""
    return _make("list", "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """``map(key, value)``."""
    return _make("map", "map", (key, value))


def optional_of(value: Type) -> Type:
    """``optional_type(value)``."""
    return _make("opaque", "optional_type", (value,))


def type_of(value: Type) -> Type:
    """The type of a type's name."""
    return _make("type", "type", (value,))


def param(name: str) -> Type:
    """A type variable."""
    return _make("param", name)


def opaque(name: str) -> Type:
    """A type of which only the name is known."""
    return _make("opaque", name)


def struct(name: str) -> Type:
    """An object type."""
    return _make("struct", name)


ANY: Final = _make("any", "google.protobuf.Any")
BOOL: Final = _make("bool", "bool")
BYTES: Final = _make("bytes", "bytes")
DOUBLE: Final = _make("double", "double")
DURATION: Final = _make("duration", "google.protobuf.Duration")
DYN: Final = _make("dyn", "dyn")
ERROR: Final = _make("error", "error")
INT: Final = _make("int", "int")
NULL: Final = _make("null", "null_type")
STRING: Final = _make("string", "string")
TIMESTAMP: Final = _make("timestamp", "google.protobuf.Timestamp")
TYPE: Final = _make("type", "type")
UINT: Final = _make("uint", "uint")
QUANTITY: Final = struct("kubernetes.Quantity")
SEMVER: Final = struct("kubernetes.Semver")
URL: Final = struct("kubernetes.URL")
FORMAT: Final = struct("kubernetes.NamedFormat")
DEVICE: Final = struct("kubernetes.DRADevice")
IP: Final = opaque("net.IP")
CIDR: Final = opaque("net.CIDR")

ANY.text = "any"
DURATION.text = "duration"
TIMESTAMP.text = "timestamp"


class Bindings(dict[Type, Type]):
    """Type variables and what they stand for.

    Attributes:
        strict: compare also what types name, where a variable occurs in it, as 1.38 does.
    """

    __slots__ = ("strict",)

    def __init__(self, *, strict: bool = False) -> None:
        super().__init__()
        self.strict = strict

    def copy(self) -> "Bindings":
        """The same bindings, to try others on."""
        made = Bindings(strict=self.strict)
        made.update(self)
        return made


def is_dyn(item: Type) -> bool:
    """Whether anything may be assigned to it."""
    return item is DYN or item is ANY


def is_optional(item: Type) -> bool:
    """Whether it is ``optional_type(...)``."""
    return item.name == "optional_type" and item.kind == "opaque"


def substitute(bindings: Bindings, item: Type, *, to_dyn: bool = False) -> Type:
    """The type with bound variables replaced; unbound ones become dyn if ``to_dyn``."""
    if not item.open:
        return item
    if item.kind == "param":
        bound = bindings.get(item)
        if bound is not None:
            return substitute(bindings, bound, to_dyn=to_dyn)
        return DYN if to_dyn else item
    return _make(item.kind, item.name, tuple(substitute(bindings, param, to_dyn=to_dyn) for param in item.params))


def rename(item: Type, fresh: dict[Type, Type]) -> Type:
    """The type with the variables of a declaration replaced by fresh ones."""
    if not item.open:
        return item
    if item.kind == "param":
        return fresh[item]
    return _make(item.kind, item.name, tuple(rename(param, fresh) for param in item.params))


def assignable(bindings: Bindings, given: Type, wanted: Type) -> Bindings | None:
    """The bindings under which ``given`` fits ``wanted``, or None."""
    if given is wanted:
        return bindings
    if not (given.open or wanted.open):
        return bindings if _fits(bindings, given, wanted) else None
    trial = bindings.copy()
    return trial if _fits(trial, given, wanted) else None


def all_assignable(bindings: Bindings, given: Iterable[Type], wanted: Iterable[Type]) -> Bindings | None:
    """Same for several types at once (the numbers must agree)."""
    pairs = list(zip(given, wanted, strict=True))
    if not any(one.open or two.open for one, two in pairs):
        return bindings if all(one is two or _fits(bindings, one, two) for one, two in pairs) else None
    trial = bindings.copy()
    return trial if all(_fits(trial, one, two) for one, two in pairs) else None


def _fits(bindings: Bindings, given: Type, wanted: Type) -> bool:
    if wanted.kind == "param":
        valid, bound = _binds(bindings, given, wanted)
        if valid or bound:
            return valid
    if given.kind == "param":
        return _binds(bindings, wanted, given)[0]
    if given.kind in _ANYTHING or wanted.kind in _ANYTHING:
        return True
    if given is NULL or wanted is NULL:
        other = wanted if given is NULL else given
        return other is NULL or other.kind in _NULLABLE
    if given.kind == "type":
        return wanted.kind == "type" and (not bindings.strict or _same_named(bindings, given, wanted))
    if given.kind in _PARAMETRIC:
        return (
            given.kind == wanted.kind
            and given.name == wanted.name
            and len(given.params) == len(wanted.params)
            and all(_fits(bindings, one, two) for one, two in zip(given.params, wanted.params, strict=True))
        )
    return given is wanted


def _same_named(bindings: Bindings, given: Type, wanted: Type) -> bool:
    if not given.params or not wanted.params:
        return not wanted.params
    if not (given.open or wanted.open):
        return True
    return _fits(bindings, given.params[0], wanted.params[0])


_ANYTHING: Final = frozenset({"dyn", "any", "error"})
_NULLABLE: Final = frozenset({"opaque", "struct", "any", "duration", "timestamp"})
_PARAMETRIC: Final = frozenset({"opaque", "list", "map"})


def _binds(bindings: Bindings, given: Type, variable: Type) -> tuple[bool, bool]:
    """Whether ``given`` can stand for the variable, and whether something stood for it already."""
    if given is variable:
        return True, True
    bound = bindings.get(variable)
    if bound is not None:
        if given is bound:
            return True, True
        if _fits(bindings, given, bound):
            general = most_general(given, bound)
            if _does_not_occur(bindings, variable, general):
                bindings[variable] = general
            return True, True
        return False, True
    if _does_not_occur(bindings, variable, given):
        bindings[variable] = given
        return True, False
    return False, False


def _does_not_occur(bindings: Bindings, variable: Type, within: Type) -> bool:
    if within is variable:
        return False
    if not within.open:
        return True
    if within.kind == "param":
        bound = bindings.get(within)
        return bound is None or _does_not_occur(bindings, variable, bound)
    return all(_does_not_occur(bindings, variable, param) for param in within.params)


def most_general(one: Type, two: Type) -> Type:
    """The less specific of two types that fit each other."""
    return one if _as_general(one, two) else two


def _as_general(one: Type, two: Type) -> bool:
    if is_dyn(one) or one.kind == "param":
        return True
    if is_dyn(two) or two.kind == "param" or one.kind != two.kind:
        return False
    if one.kind in _PARAMETRIC:
        return (
            one.name == two.name
            and len(one.params) == len(two.params)
            and all(_as_general(first, second) for first, second in zip(one.params, two.params, strict=True))
        )
    return one.kind == "type" or one is two


def equivalent(one: Type, two: Type) -> bool:
    """Equal up to the names of type variables, and type names whatever they name."""
    if one.kind == "param" and two.kind == "param":
        return True
    if one.kind != two.kind or one.name != two.name or len(one.params) != len(two.params):
        return False
    return all(equivalent(first, second) for first, second in zip(one.params, two.params, strict=True))
