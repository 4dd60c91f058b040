"""The engine of declarative validation: rules of fields, applied along the types.

On an update, what did not change is not looked at again. Which fields have which rules is said in ``declarations``.

Source: apimachinery's pkg/api/validate (1.37).
"""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, TypeAlias

from msgspec import Struct

from dralang.api.base import ApiType
from dralang.api.encode import to_json
from dralang.api.schema import FieldSchema, fields_of
from dralang.api.validation.equality import semantically_equal
from dralang.api.validation.errors import (
    IMMUTABLE_TEXT,
    Errors,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from dralang.features import FeatureGates
from dralang.values.names import byte_length

Check: TypeAlias = Callable[[str, str, Errors], None]


class Rules(Struct, frozen=True, kw_only=True):
    """What a field must fulfil.

    Attributes:
        required: not empty (a number: not 0; a pointer: there).
        max_items: length of a list.
        keys: attributes by which elements of a list are told apart; empty for the element itself, None for no rule.
        tracked: whether ``keys`` also say which old element a new one continues.
        check: the format of a text.
        each: the format of each element of a list of texts.
        each_key: the format of each key of a map.
        enum: the values that are allowed, for a text or for the elements of a list of texts.
        minimum: of an integer.
        maximum: of an integer.
        max_bytes: length of a text.
        immutable: no change after creation.
        no_modify: may be set and cleared, not changed.
        no_toggle: may be changed, not set or cleared.
        fixed_items: elements may change, not come or go.
        gate: with this gate off, the field must be empty.
        beta: enforced only with the gate ``DeclarativeValidationBeta``.
    """

    required: bool = False
    max_items: int | None = None
    keys: tuple[str, ...] | None = None
    tracked: bool = True
    check: Check | None = None
    each: Check | None = None
    each_key: Check | None = None
    enum: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    max_bytes: int | None = None
    immutable: bool = False
    no_modify: bool = False
    no_toggle: bool = False
    fixed_items: bool = False
    gate: str | None = None
    beta: bool = False


class Union(Struct, frozen=True):
    """Exactly one of these attributes must be given."""

    members: tuple[str, ...]
    beta: bool = False


class TypeRules(Struct, frozen=True):
    """The rules of a type, by attribute."""

    fields: Mapping[str, Rules]
    union: Union | None = None


class _Step(Struct, frozen=True):
    """A field to look at: its rules, and the plan of the type inside."""

    get: Callable[[Any], Any]
    field: FieldSchema
    rules: Rules | None
    inside: "_Plan | None"
    key: Callable[[Any], Any] | None
    speaks_when_empty: bool


class _Plan:
    """What there is to do for a type; made once per type, and able to contain itself."""

    __slots__ = ("members", "names", "steps", "union")

    def __init__(self, union: Union | None, names: tuple[str, ...]) -> None:
        self.union = union
        self.names = names
        self.members: Callable[[Any], tuple[Any, ...]] = attrgetter(*union.members) if union else lambda _: ()
        self.steps: tuple[_Step, ...] = ()


_NO_RULES = Rules()
_EMPTY: tuple[object, ...] = ((), {})


class Declarations:
    """All rules, compiled for going along the types.

    Types that have no rules and lead to none are not walked.
    """

    def __init__(self, rules: Mapping[type[ApiType], TypeRules]) -> None:
        self._rules = rules
        self._plans: dict[type[ApiType], _Plan] = {}

    def validate(self, new: ApiType, old: ApiType | None, path: str, gates: FeatureGates, out: Errors) -> None:
        """Check an object, or its change from ``old``; what is found goes to ``out``."""
        plan = self._plan(type(new))
        _Walk(gates, out, update=old is not None).struct(plan, new, old, path)

    def _plan(self, api_type: type[ApiType]) -> _Plan:
        known = self._plans.get(api_type)
        if known is not None:
            return known
        own = self._rules.get(api_type, TypeRules({}))
        schemas = {field.attribute: field for field in fields_of(api_type).values()}
        names = tuple(schemas[name].json for name in own.union.members) if own.union else ()
        plan = _Plan(own.union, names)
        self._plans[api_type] = plan
        steps = []
        for field in schemas.values():
            rules = own.fields.get(field.attribute)
            inside = self._plan(field.struct) if field.struct is not None else None
            if inside is not None and not self._leads_to_rules(field.struct):
                inside = None
            if rules is not None or inside is not None:
                key = None if rules is None else _key_function(rules.keys)
                speaks = rules is not None and rules.required
                steps.append(_Step(attrgetter(field.attribute), field, rules, inside, key, speaks))
        plan.steps = tuple(steps)
        return plan

    def _leads_to_rules(self, api_type: type[ApiType] | None) -> bool:
        todo, seen = [api_type], set()
        while todo:
            here = todo.pop()
            if here is None or here in seen:
                continue
            if here in self._rules:
                return True
            seen.add(here)
            todo += [field.struct for field in fields_of(here).values()]
        return False


class _Walk:
    """One validation."""

    __slots__ = ("beta", "gates", "out", "update")

    def __init__(self, gates: FeatureGates, out: Errors, *, update: bool) -> None:
        self.gates = gates
        self.beta = gates.enabled("DeclarativeValidationBeta")
        self.out = out
        self.update = update

    def struct(self, plan: _Plan, new: Any, old: Any, path: str) -> None:
        union = plan.union
        if union is not None and (self.beta or not union.beta):
            self._union(plan, new, old, path)
        for step in plan.steps:
            value = step.get(new)
            before = step.get(old) if old is not None else None
            if self.update and old is not None:
                if semantically_equal(value, before):
                    continue
            elif not step.speaks_when_empty and (value is None or value in _EMPTY):
                continue
            here = f"{path}.{step.field.json}" if path else step.field.json
            self._field(step, value, before, here, known=old is not None)

    def _union(self, plan: _Plan, new: Any, old: Any, path: str) -> None:
        # Empty lists count as not given.
        given = [value is not None and value != () for value in plan.members(new)]
        count = sum(given)
        if count == 1:
            return
        if self.update and old is not None:
            before = [value is not None and value != () for value in plan.members(old)]
            if given == before:
                return
        names = plan.names
        listed = ", ".join(f"`{name}`" for name in names)
        if count == 0:
            self.out.append(invalid(path, "", f"must specify one of: {listed}"))
        else:
            shown = ", ".join(name for name, there in zip(names, given, strict=True) if there)
            self.out.append(invalid(path, "{" + shown + "}", f"must specify exactly one of: {listed}"))

    def _field(self, step: _Step, value: Any, before: Any, path: str, *, known: bool) -> None:
        rules = step.rules if step.rules is not None and (self.beta or not step.rules.beta) else _NO_RULES
        if rules is not _NO_RULES and not self._whole(
            rules, value, before, path, known=known, nullable=step.field.nullable
        ):
            return
        if step.field.shape == "list":
            if value:
                self._elements(step, rules, value, before or (), path)
        elif step.field.shape == "map":
            if value:
                self._entries(step, rules, value, before or {}, path)
        elif step.inside is not None:
            if value is not None:
                self.struct(step.inside, value, before, path)
        elif value is not None and (value or step.field.nullable or rules.minimum is not None):
            # An empty text that is no pointer counts as not given.
            self._scalar(rules, value, path)

    def _whole(self, rules: Rules, value: Any, before: Any, path: str, *, known: bool, nullable: bool) -> bool:
        """The rules that, when broken, hide all others of the field."""
        out = self.out
        if rules.gate is not None and not self.gates.enabled(rules.gate):
            if value:
                out.append(forbidden(path, ""))
            return False
        change = _change_error(rules, value, before, path) if self.update and known else None
        if change is not None:
            out.append(change)
            return False
        if rules.required and (value is None or (not value and not nullable)):
            out.append(required(path))
            return False
        if rules.max_items is not None and value is not None and len(value) > rules.max_items:
            out.append(too_many(path, len(value), rules.max_items))
            return False
        return True

    def _elements(self, step: _Step, rules: Rules, value: tuple[Any, ...], before: tuple[Any, ...], path: str) -> None:
        key = step.key if rules.keys is not None else None
        if key is not None and len(value) > 1:
            seen = set()
            for index, element in enumerate(value):
                mark = key(element)
                if mark in seen:
                    shown = to_json(element) if isinstance(element, ApiType) else element
                    self.out.append(duplicate(f"{path}[{index}]", shown))
                seen.add(mark)
        track = key if rules.tracked and self.update and before else None
        old_elements = {} if track is None else {track(element): element for element in reversed(before)}
        if step.inside is not None:
            for index, element in enumerate(value):
                old = None if track is None else old_elements.get(track(element))
                if old is None or not semantically_equal(element, old):
                    self.struct(step.inside, element, old, f"{path}[{index}]")
        elif rules.each is not None or rules.enum:
            for index, element in enumerate(value):
                if element not in old_elements:
                    self._text(rules.each, rules.enum, element, f"{path}[{index}]")

    def _entries(
        self, step: _Step, rules: Rules, value: Mapping[str, Any], before: Mapping[str, Any], path: str
    ) -> None:
        for name, entry in value.items():
            old = before.get(name) if self.update else None
            if rules.each_key is not None and old is None:
                rules.each_key(name, path, self.out)
            if step.inside is not None and (old is None or not semantically_equal(entry, old)):
                self.struct(step.inside, entry, old, f"{path}[{name}]")

    def _scalar(self, rules: Rules, value: Any, path: str) -> None:
        if rules.check is not None or rules.enum:
            self._text(rules.check, rules.enum, value, path)
        if rules.minimum is not None and value < rules.minimum:
            self.out.append(invalid(path, value, f"must be greater than or equal to {rules.minimum}"))
        if rules.maximum is not None and value > rules.maximum:
            self.out.append(invalid(path, value, f"must be less than or equal to {rules.maximum}"))
        if rules.max_bytes is not None and byte_length(value) > rules.max_bytes:
            self.out.append(too_long(path, rules.max_bytes))

    def _text(self, check: Check | None, enum: tuple[str, ...], value: str, path: str) -> None:
        if check is not None:
            check(value, path, self.out)
        if enum and value not in enum:
            self.out.append(not_supported(path, value, enum))


def _change_error(rules: Rules, value: Any, before: Any, path: str) -> Any:
    """For a field that did change: whether it was allowed to."""
    if rules.immutable:
        return invalid(path, None, IMMUTABLE_TEXT)
    if rules.no_modify and value is not None and before is not None:
        return invalid(path, None, "field cannot be modified once set")
    if rules.no_toggle and (value is None) != (before is None):
        text = "field cannot be set once created" if before is None else "field cannot be cleared once set"
        return invalid(path, None, text)
    if rules.fixed_items:
        key = _key_function(rules.keys)
        if key is not None:
            old_keys, new_keys = {key(item) for item in before or ()}, {key(item) for item in value or ()}
            if new_keys - old_keys:
                return forbidden(path, "items may not be added")
            if old_keys - new_keys:
                return forbidden(path, "items may not be removed")
    return None


def _key_function(keys: tuple[str, ...] | None) -> Callable[[Any], Any] | None:
    if keys is None:
        return None
    return attrgetter(*keys) if keys else lambda element: element
