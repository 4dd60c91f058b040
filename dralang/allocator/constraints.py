"""The constraints of a claim, as state that the search pushes devices on and pops them off.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental allocator_experimental.go
matchAttributeConstraint, lookupAttribute; constraint.go distinctAttributeConstraint.
"""

from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

from dralang.allocator.profiles import AllocatorProfile
from dralang.api.resourceclaim import DeviceConstraint
from dralang.api.resourceslice import DeviceAttribute

Kind = Literal["int", "bool", "string", "version", "list", "none"]

Value: TypeAlias = tuple[Kind, object]
"""A scalar with its type; ``list`` and ``none`` for what a comparison of scalars cannot use."""
Values: TypeAlias = tuple[Kind, frozenset[object]]


class UnsupportedValueError(Exception):
    """An attribute that this version refuses to compare; the attempt is aborted."""


class ConstraintState(Protocol):
    """A constraint and the devices it has accepted so far. Owned and changed by one search only.

    Attributes:
        name: of the attribute.
        remembers: undoing a device does not restore the state before it (a fault of some versions).
    """

    name: str
    remembers: bool

    def add(self, attribute: DeviceAttribute, request: str) -> bool:
        """Accept one more device with this attribute for a request, or refuse it and change nothing.

        Raises:
            UnsupportedValueError: the attribute cannot be compared.
        """
        ...

    def pop(self, request: str) -> None:
        """Forget the device accepted last, which was for this request."""
        ...

    def opposed(self, attribute: DeviceAttribute) -> Sequence[int]:
        """After a refusal: the accepted devices, by number, without which there were none."""
        ...

    def value(self, attribute: DeviceAttribute) -> object:
        """What the constraint sees of an attribute; equal for attributes it cannot tell apart, never None.

        Raises:
            UnsupportedValueError: the attribute cannot be compared.
        """
        ...

    def key(self) -> object:
        """A value that is equal exactly for states that accept the same devices from here on."""
        ...


def constraint_state(constraint: DeviceConstraint, profile: AllocatorProfile) -> ConstraintState:
    """The constraint with no device accepted yet."""
    name = constraint.match_attribute or constraint.distinct_attribute or ""
    if "/" not in name and "bare constraint names" in profile.lacks:
        name += "/"
    lists = profile.features.list_type_attributes
    if constraint.match_attribute is not None:
        return MatchingSets(name, profile) if lists else MatchingValue(name, profile)
    if profile.has("distinct-attribute-knows-latest-device") or profile.has("distinct-attribute-compares-identity"):
        return DistinctFromLatest(name, profile)
    return DisjointSets(name, profile) if lists else DistinctValues(name, profile)


class _Comparison:
    """What all kinds share: how an attribute is read."""

    __slots__ = ("name", "remembers", "strict", "text_versions")

    def __init__(self, name: str, profile: AllocatorProfile) -> None:
        self.name = name
        self.remembers = False
        self.strict = not profile.has("list-value-accepted-once")
        self.text_versions = profile.has("version-text-comparison")

    def scalar(self, attribute: DeviceAttribute) -> Value:
        if attribute.string is not None:
            return "string", attribute.string
        if attribute.int_ is not None:
            return "int", attribute.int_
        if attribute.bool_ is not None:
            return "bool", attribute.bool_
        if attribute.version is not None:
            return "version", self._version(attribute.version)
        if self.strict:
            raise UnsupportedValueError(self.name)
        return ("list" if _has_list(attribute) else "none"), None

    def elements(self, attribute: DeviceAttribute) -> Values | None:
        """The attribute as a set; None if it has no usable value."""
        if attribute.ints:
            return "int", frozenset(attribute.ints)
        if attribute.bools:
            return "bool", frozenset(attribute.bools)
        if attribute.strings:
            return "string", frozenset(attribute.strings)
        if attribute.versions:
            return "version", frozenset(self._version(version) for version in attribute.versions)
        if attribute.int_ is not None:
            return "int", frozenset((attribute.int_,))
        if attribute.bool_ is not None:
            return "bool", frozenset((attribute.bool_,))
        if attribute.string is not None:
            return "string", frozenset((attribute.string,))
        if attribute.version is not None:
            return "version", frozenset((self._version(attribute.version),))
        if not self.strict:
            return None
        if not _has_list(attribute):
            raise UnsupportedValueError(self.name)
        return "none", frozenset()

    def _version(self, text: str) -> str:
        return text if self.text_versions else text.partition("+")[0]


def _has_list(attribute: DeviceAttribute) -> bool:
    return any(
        values is not None for values in (attribute.ints, attribute.bools, attribute.strings, attribute.versions)
    )


class MatchingValue(_Comparison):
    """matchAttribute over scalars: everything equals the first value."""

    __slots__ = ("_first", "_number")

    def __init__(self, name: str, profile: AllocatorProfile) -> None:
        super().__init__(name, profile)
        self._first: Value = ("none", None)
        self._number = 0

    def add(self, attribute: DeviceAttribute, request: str) -> bool:
        """See ``ConstraintState``."""
        value = self.scalar(attribute)
        if self._number == 0:
            self._first = value
        elif value[0] in {"list", "none"} or value != self._first:
            return False
        self._number += 1
        return True

    def pop(self, request: str) -> None:
        """See ``ConstraintState``."""
        self._number -= 1

    def opposed(self, attribute: DeviceAttribute) -> Sequence[int]:
        """See ``ConstraintState``."""
        return (0,) if self._number else ()

    def value(self, attribute: DeviceAttribute) -> object:
        """See ``ConstraintState``."""
        return self.scalar(attribute)

    def key(self) -> object:
        """See ``ConstraintState``."""
        return self._first if self._number else None


class MatchingSets(_Comparison):
    """matchAttribute over sets: all devices so far have an element in common."""

    __slots__ = ("_stack",)

    def __init__(self, name: str, profile: AllocatorProfile) -> None:
        super().__init__(name, profile)
        self._stack: list[Values] = []
        self.remembers = profile.has("list-intersection-not-restored")

    def add(self, attribute: DeviceAttribute, request: str) -> bool:
        """See ``ConstraintState``."""
        values = self.elements(attribute)
        if values is None:
            return False
        if self._stack:
            kind, common = self._stack[-1]
            narrowed = common & values[1]
            if kind != values[0] or not narrowed:
                return False
            values = (kind, narrowed)
        self._stack.append(values)
        return True

    def pop(self, request: str) -> None:
        """See ``ConstraintState``."""
        narrowest = self._stack.pop()
        if self.remembers and self._stack:
            self._stack[-1] = narrowest

    def opposed(self, attribute: DeviceAttribute) -> Sequence[int]:
        """See ``ConstraintState``."""
        if self.elements(attribute) is None:
            return ()
        return range(len(self._stack))

    def value(self, attribute: DeviceAttribute) -> object:
        """See ``ConstraintState``."""
        return self.elements(attribute) or "no value"

    def key(self) -> object:
        """See ``ConstraintState``."""
        return self._stack[-1] if self._stack else None


class DistinctValues(_Comparison):
    """distinctAttribute over scalars: no value twice."""

    __slots__ = ("_values",)

    def __init__(self, name: str, profile: AllocatorProfile) -> None:
        super().__init__(name, profile)
        self._values: list[Value] = []

    def add(self, attribute: DeviceAttribute, request: str) -> bool:
        """See ``ConstraintState``."""
        value = self.scalar(attribute)
        if self._values and (value[0] in {"list", "none"} or value in self._values):
            return False
        self._values.append(value)
        return True

    def pop(self, request: str) -> None:
        """See ``ConstraintState``."""
        self._values.pop()

    def opposed(self, attribute: DeviceAttribute) -> Sequence[int]:
        """See ``ConstraintState``."""
        value = self.scalar(attribute)
        if value[0] in {"list", "none"}:
            return range(len(self._values))
        return [number for number, known in enumerate(self._values) if known == value]

    def value(self, attribute: DeviceAttribute) -> object:
        """See ``ConstraintState``."""
        return self.scalar(attribute)

    def key(self) -> object:
        """See ``ConstraintState``."""
        return frozenset(self._values)


class DisjointSets(_Comparison):
    """distinctAttribute over sets: every two devices have disjoint values."""

    __slots__ = ("_values",)

    def __init__(self, name: str, profile: AllocatorProfile) -> None:
        super().__init__(name, profile)
        self._values: list[Values] = []

    def add(self, attribute: DeviceAttribute, request: str) -> bool:
        """See ``ConstraintState``."""
        values = self.elements(attribute)
        if values is None:
            return False
        if any(kind == values[0] and not elements.isdisjoint(values[1]) for kind, elements in self._values):
            return False
        self._values.append(values)
        return True

    def pop(self, request: str) -> None:
        """See ``ConstraintState``."""
        self._values.pop()

    def opposed(self, attribute: DeviceAttribute) -> Sequence[int]:
        """See ``ConstraintState``."""
        values = self.elements(attribute)
        if values is None:
            return ()
        return [
            number
            for number, (kind, elements) in enumerate(self._values)
            if kind == values[0] and not elements.isdisjoint(values[1])
        ]

    def value(self, attribute: DeviceAttribute) -> object:
        """See ``ConstraintState``."""
        return self.elements(attribute) or "no value"

    def key(self) -> object:
        """See ``ConstraintState``."""
        return frozenset(self._values)


class DistinctFromLatest(_Comparison):
    """distinctAttribute as it was: one value per request, the latest, and none after any device was undone."""

    __slots__ = ("_latest", "_lists", "_number", "_same")

    def __init__(self, name: str, profile: AllocatorProfile) -> None:
        super().__init__(name, profile)
        self.remembers = True
        self._lists = profile.features.list_type_attributes
        self._same = profile.has("distinct-attribute-compares-identity")
        self._latest: dict[str, DeviceAttribute] = {}
        self._number = 0

    def add(self, attribute: DeviceAttribute, request: str) -> bool:
        """See ``ConstraintState``."""
        if self._number and any(self._collide(attribute, known) for known in self._latest.values()):
            return False
        if self._number and self._lists and self.elements(attribute) is None:
            return False
        self._latest[request] = attribute
        self._number += 1
        return True

    def pop(self, request: str) -> None:
        """See ``ConstraintState``."""
        self._latest.pop(request, None)
        self._number -= 1

    def opposed(self, attribute: DeviceAttribute) -> Sequence[int]:
        """See ``ConstraintState``."""
        return range(self._number)

    def value(self, attribute: DeviceAttribute) -> object:
        """See ``ConstraintState``."""
        return self.scalar(attribute), self.elements(attribute)

    def key(self) -> object:
        """See ``ConstraintState``."""
        return tuple((name, self.scalar(value), self.elements(value)) for name, value in self._latest.items())

    def _collide(self, attribute: DeviceAttribute, known: DeviceAttribute) -> bool:
        if self._lists and not self._same:
            values, others = self.elements(attribute), self.elements(known)
            if values is None or others is None:
                return False
            return values[0] == others[0] and not values[1].isdisjoint(others[1])
        value = self.scalar(attribute)
        if value[0] in {"list", "none"}:
            return True
        return attribute is known if self._same else value == self.scalar(known)
