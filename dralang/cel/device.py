"""Devices as expressions see them.

Source: k8s.io/dynamic-resource-allocation cel/compile.go (DeviceMatches, getAttributeValue, parseQualifiedName).
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from dralang.api.resourceslice import Device, DeviceAttribute
from dralang.cel.environment import Environment
from dralang.cel.values import CelError, DomainMap, Value, semver_of

_MAX_TEXT: Final = 64
_MAX_LIST: Final = 64
_MAX_NAME: Final = 63
_MAX_ID: Final = 32
_MAX_ENTRIES: Final = 32
_LAZY_SINCE: Final = 38


def attribute_value(attribute: DeviceAttribute, *, lists: bool = True) -> Value:
    """The one value of an attribute.

    Raises:
        ValueError: there is none, or a version is no semantic version.
    """
    if lists:
        if attribute.ints is not None:
            return attribute.ints
        if attribute.bools is not None:
            return attribute.bools
        if attribute.strings is not None:
            return attribute.strings
        if attribute.versions is not None:
            return tuple(_version(text) for text in attribute.versions)
    if attribute.int_ is not None:
        return attribute.int_
    if attribute.bool_ is not None:
        return attribute.bool_
    if attribute.string is not None:
        return attribute.string
    if attribute.version is not None:
        return _version(attribute.version)
    raise ValueError("unsupported attribute value")


@lru_cache(1024)
def _version(text: str) -> Value:
    try:
        return semver_of(text)
    except ValueError as problem:
        raise ValueError(f"parse semantic version: {problem}") from None


class UnreadyError(Exception):
    """The device is not one on which generated code may run."""


class Prepared:
    """A device, ready to be evaluated.

    Attributes:
        flat: every attribute and capacity under ``attribute_key`` and ``capacity_key``, the names of their domains
            under ``A:domain`` and ``C:domain``, the driver under ``driver`` and the flag under ``multi``.
        problem: what makes every evaluation fail, if anything does.
    """

    __slots__ = ("_whole", "flat")
    problem = ""

    def __init__(self, flat: dict[str, Value]) -> None:
        self.flat = flat
        self._whole: dict[str, Value] | None = None

    @property
    def whole(self) -> dict[str, Value]:
        """The value of ``device``."""
        found = self._whole
        if found is None:
            found = self._whole = _nested(self.flat)
        return found


class Unready:
    """A device with a problem, or one larger than the API allows: generated code leaves it to the interpreter."""

    __slots__ = ("hidden", "problem")

    def __init__(self, flat: dict[str, Value], problem: str) -> None:
        self.hidden = flat
        self.problem = problem

    @property
    def flat(self) -> dict[str, Value]:
        """Nothing that generated code may see.

        Raises:
            UnreadyError: always.
        """
        raise UnreadyError

    @property
    def whole(self) -> dict[str, Value]:
        """The value of ``device``."""
        return _nested(self.hidden)


AnyPrepared = Prepared | Unready


def attribute_key(domain: str, identifier: str) -> str:
    """Under which key the value of an attribute lies."""
    return f"a:{domain}\0{identifier}"


def capacity_key(domain: str, identifier: str) -> str:
    """Under which key a capacity lies."""
    return f"c:{domain}\0{identifier}"


def _nested(flat: Mapping[str, Value]) -> dict[str, Value]:
    attributes: DomainMap = DomainMap()
    capacity: DomainMap = DomainMap()
    for key, value in flat.items():
        kind, rest = key[:2], key[2:]
        if kind in {"a:", "c:"}:
            domain, _, name = rest.partition("\0")
            target = attributes if kind == "a:" else capacity
            target.setdefault(domain, {})[name] = value
    return {
        "driver": flat["driver"],
        "allowMultipleAllocations": flat["multi"],
        "attributes": attributes,
        "capacity": capacity,
    }


class _Names(NamedTuple):
    """The keys of an attribute or capacity, and whether its name is longer than the API allows."""

    identifier: str
    attribute: str
    attributes: str
    capacity: str
    capacities: str
    large: bool


@lru_cache(4096)
def _names(name: str, driver: str) -> _Names:
    """What follows from a name; devices by the thousand have the same ones."""
    domain, slash, identifier = name.partition("/")
    if not slash:
        domain, identifier = driver, name
    large = len(domain) > _MAX_NAME or len(identifier) > _MAX_ID
    attribute, capacity = attribute_key(domain, identifier), capacity_key(domain, identifier)
    return _Names(identifier, attribute, f"A:{domain}", capacity, f"C:{domain}", large)


class _Layout(NamedTuple):
    """What follows from the names of a device's attributes and capacities.

    Attributes:
        flat: all keys of a prepared device in their order, with whatever does not depend on its values.
        attributes: each attribute's name and its names.
        capacities: the same for capacities.
        large: more of them, or longer ones, than the API allows.
    """

    flat: dict[str, Value]
    attributes: tuple[tuple[str, _Names], ...]
    capacities: tuple[tuple[str, _Names], ...]
    large: bool


@lru_cache(1024)
def _layout(attributes: tuple[str, ...], capacities: tuple[str, ...], driver: str) -> _Layout:
    flat: dict[str, Value] = {}
    named = tuple((name, _names(name, driver)) for name in _bare_first(attributes))
    counted = tuple((name, _names(name, driver)) for name in _bare_first(capacities))
    for _, known in named:
        flat[known.attribute] = flat[known.attributes] = True
    for _, known in counted:
        flat[known.capacity] = flat[known.capacities] = True
    flat["driver"] = driver
    large = len(driver) > _MAX_NAME or max(len(attributes), len(capacities)) > _MAX_ENTRIES
    return _Layout(flat, named, counted, large or any(known.large for _, known in (*named, *counted)))


def _bare_first(names: Iterable[str]) -> list[str]:
    """The names in their order, but those without a domain first.

    So the qualified name wins over the same name without domain, wherever they stand.
    """
    return sorted(names, key=lambda name: "/" in name)


def _is_large(value: Value) -> bool:
    if type(value) is str:
        return len(value) > _MAX_TEXT
    if type(value) is tuple:
        return len(value) > _MAX_LIST or any(type(item) is str and len(item) > _MAX_TEXT for item in value)
    return False


def prepare_for(environment: Environment, driver: str, device: Device) -> AnyPrepared:
    """A device in the form that evaluation in an environment wants."""
    return prepare(driver, device, lists=environment.list_attributes, lazy=environment.minor >= _LAZY_SINCE)


def prepare(driver: str, device: Device, *, lists: bool = True, lazy: bool = False) -> AnyPrepared:
    """A device in the form that evaluation wants.

    Args:
        driver: the driver of its slice, and the domain of names without one.
        device: the device.
        lists: whether this version of Kubernetes knows list attributes.
        lazy: whether a bad attribute fails only where it is looked at.
    """
    layout = _layout(tuple(device.attributes), tuple(device.capacity), driver)
    flat = layout.flat.copy()
    problem = ""
    large = layout.large
    for name, known in layout.attributes:
        try:
            value = attribute_value(device.attributes[name], lists=lists)
        except ValueError as error:
            if not lazy:
                problem = problem or f"attribute {name}: {error}"
                flat.pop(known.attribute, None)
                continue
            text = f"attribute {known.identifier}: value is invalid or its type is not supported by this version"
            value, large = CelError(text), True
        large = large or _is_large(value)
        flat[known.attribute] = value
    for name, known in layout.capacities:
        flat[known.capacity] = device.capacity[name].value
    flat["multi"] = bool(device.allow_multiple_allocations)
    return Unready(flat, problem) if problem or large else Prepared(flat)
