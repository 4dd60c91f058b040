"""Values of the tree to located JSON, guided by the schema of the field they stand in.

The schema decides what a word is: `1m` is a quantity in `cpu: 1m`, `None` a string in `effect: None`. Where the API
wants a one-member wrapper (attribute values; `{ value: .. }` of capacity and counters), a bare scalar or list is
wrapped.
"""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeVar

from dralang.api.base import ApiType
from dralang.api.located import Located
from dralang.api.resourceslice import Counter, DeviceAttribute, DeviceCapacity
from dralang.api.schema import FieldSchema, fields_of
from dralang.check import problems
from dralang.check.choices import first_choice
from dralang.check.expand import Bindings, json_scalar, one_name, scalar, substitute, whole_value
from dralang.check.labels import Rule
from dralang.check.unknown import unknown_field
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import Span
from dralang.syntax import nodes as n
from dralang.values.duration import parse_duration

_T = TypeVar("_T")
VERSION: Final = re.compile(r"v\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?\Z")
_LOOKS_LIKE_VERSION = re.compile(r"v?\d+(?:\.\d+)+\S*\Z")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:h|m|s|ms))+\Z")
_WRAPPED_BY_VALUE: Final = (DeviceCapacity, Counter)


class Converter:
    """Turns values into located JSON; collects diagnostics.

    In a fuzz, a hole stands for its first or smallest value, so that the rest can be checked.
    """

    def __init__(self, log: DiagnosticLog, *, fuzz: bool = False) -> None:
        self.log = log
        self.fuzz = fuzz
        # The names under which the file at hand uses modules: `a100.gpu` means `gpu` of that module.
        self.aliases: Collection[str] = ()
        # What stands for `any KIND` while a fuzz is checked: names that need not exist.
        self.stand_ins: set[str] = set()
        # What holes in the place of another object's name may become, with the keywords of their kinds.
        self.choices: list[tuple[str, Located]] = []

    def reference(self, value: n.Pick, kind: str, bindings: Bindings) -> Located | None:
        """The name of another object, a module's alias before it taken away; of a hole the first choice.

        Args:
            value: the name.
            kind: what it is the name of, by its keyword.
            bindings: what ``${...}`` may mean.
        """

        def read(choice: n.Value) -> Located | None:
            found = self._own_name(self._text(choice, bindings, kind))
            if found is not None and isinstance(choice, n.Word) and choice is not value:
                self.choices.append((kind, found))
            return found

        return self.first(value, read)

    def first(self, value: n.Value, read: Callable[[n.Value], _T | None]) -> _T | None:
        """What a value is read as; of a hole the first choice, and every choice must do."""
        return first_choice(value, read, self.log, fuzz=self.fuzz)

    def text(self, value: n.Choice, bindings: Bindings, rule: Rule | None = None) -> Located | None:
        """A name or text, as a located string; of a hole the first choice, and every choice must be one.

        In a fuzz every choice is held against the rule.
        """

        def read(choice: n.Value) -> Located | None:
            found = self._text(choice, bindings)
            refused = None if found is None or rule is None or not self.fuzz else rule(str(found.value), found.span)
            if refused is not None:
                self.log.add(refused)
            return found

        return self.first(value, read)

    def _text(self, value: n.Value, bindings: Bindings, kind: str = "") -> Located | None:
        if isinstance(value, n.Word):
            return text_of(value, bindings, self.log)
        if isinstance(value, n.AnyKind) and value.kind == kind:
            self.stand_ins.add(kind)
            return Located(kind, value.span)
        message = (
            f"this needs a {kind}, not a {value.kind}"
            if isinstance(value, n.AnyKind) and kind
            else "a name is needed here"
        )
        self.log.add(problems.wrong_value(message, value.span, "write `any of [a, b]`"))
        return None

    def _own_name(self, located: Located | None) -> Located | None:
        if located is None or not isinstance(located.value, str):
            return located
        for alias in self.aliases:
            if located.value.startswith(f"{alias}."):
                return Located(located.value[len(alias) + 1 :], located.span)
        return located

    def resolve(self, value: n.Value, bindings: Bindings) -> n.Value | None:
        """A value with ``${...}`` computed and holes filled."""
        if isinstance(value, n.Word):
            return whole_value(value, bindings, self.log)
        if isinstance(value, n.AnyRange | n.AnyOf | n.AnyKind):
            return self.fill(value, bindings)
        return value

    def fill(self, hole: n.Hole, bindings: Bindings) -> n.Value | None:
        """What stands in a hole while a fuzz is checked: the first or smallest choice."""
        if not self.fuzz:
            self.log.add(problems.only_in_fuzz("`any`", hole.span))
            return None
        if isinstance(hole, n.AnyRange):
            return whole_value(hole.low, bindings, self.log)
        if isinstance(hole, n.AnyOf):
            if not hole.items.items:
                self.log.add(problems.nothing_to_choose(hole.span))
                return None
            return n.ListValue(hole.span, ()) if hole.subset else self.resolve(hole.items.items[0], bindings)
        self.stand_ins.add(hole.kind)
        return n.Word(hole.span, hole.kind)

    # ---- structs ----------------------------------------------------------------------------------------------------

    def fields(self, block: n.Block, struct: type[ApiType], bindings: Bindings, where: str) -> dict[str, Located]:
        """The fields of a block that stands for a struct; lines that are no fields are reported."""
        result: dict[str, Located] = {}
        for entry in block.entries:
            if isinstance(entry, n.Field):
                self.field(entry, struct, bindings, where, result)
            else:
                self.log.add(misplaced_sugar(entry, where))
        return result

    def field(
        self, entry: n.Field, struct: type[ApiType], bindings: Bindings, where: str, into: dict[str, Located]
    ) -> None:
        """One ``name: value``, put into a struct's fields."""
        name = one_name(entry.name, bindings, self.log)
        if name is None:
            return
        schema = fields_of(struct).get(name)
        if schema is None:
            self.log.add(unknown_field(name, entry.name.span, where, fields_of(struct)))
            return
        if name in into:
            self.log.add(problems.given_twice(name, entry.name.span, into[name].key_span or into[name].span))
            return
        located = self.member(entry.value, schema, bindings)
        if located is not None:
            into[name] = Located(located.value, located.span, entry.name.span)

    def member(self, value: n.Value, schema: FieldSchema, bindings: Bindings) -> Located | None:
        """The value of a field: a list, a map, a struct or a scalar, as the schema says."""
        resolved = self.resolve(value, bindings)
        if resolved is None:
            return None
        if isinstance(resolved, n.Word) and not resolved.quoted and resolved.text == "null":
            return Located(None, resolved.span)
        if schema.shape == "list":
            if isinstance(resolved, n.ListValue):
                return self._list(resolved, schema, bindings)
        elif schema.shape == "map":
            if isinstance(resolved, n.Block):
                return self._map(resolved, schema, bindings)
        else:
            return self._element(resolved, schema, bindings)
        # A wrong shape is kept as it is: decoding says what was expected.
        return self._untyped(resolved, bindings)

    def element(self, value: n.Value, schema: FieldSchema, bindings: Bindings) -> Located | None:
        """A scalar, or an element of a list or map."""
        resolved = self.resolve(value, bindings)
        return None if resolved is None else self._element(resolved, schema, bindings)

    # What is computed once is not computed again: a text may hold `${` afterwards.
    def _element(self, resolved: n.Value, schema: FieldSchema, bindings: Bindings) -> Located | None:
        if schema.format == "struct" and schema.struct is not None:
            return self._struct(resolved, schema.struct, bindings, schema.json)
        if schema.format == "raw":
            return self._untyped(resolved, bindings)
        if isinstance(resolved, n.Word):
            return self._scalar(resolved, schema)
        if isinstance(resolved, n.CelText) and schema.json != "expression":
            self.log.add(
                problems.wrong_value(f"`{schema.json}` takes no CEL", resolved.span, "write a text in double quotes")
            )
            return None
        return self._untyped(resolved, bindings)

    def _struct(self, value: n.Value, struct: type[ApiType], bindings: Bindings, where: str) -> Located | None:
        if isinstance(value, n.Block):
            return Located(self.fields(value, struct, bindings, where), value.span)
        if struct is DeviceAttribute and isinstance(value, n.Word | n.ListValue):
            return self._attribute(value, bindings)
        if struct in _WRAPPED_BY_VALUE and isinstance(value, n.Word):
            schema = fields_of(struct)["value"]
            inner = self._scalar(value, schema)
            return None if inner is None else Located({"value": inner}, value.span)
        return self._untyped(value, bindings)

    def _list(self, value: n.ListValue, schema: FieldSchema, bindings: Bindings) -> Located:
        items = [self.element(item, schema, bindings) for item in value.items]
        return Located(tuple([item for item in items if item is not None]), value.span)

    def _map(self, value: n.Block, schema: FieldSchema, bindings: Bindings) -> Located:
        result: dict[str, Located] = {}
        for entry in value.entries:
            if not isinstance(entry, n.Field):
                self.log.add(misplaced_sugar(entry, f"`{schema.json}`"))
                continue
            key = one_name(entry.name, bindings, self.log)
            if key is None:
                continue
            if key in result:
                self.log.add(problems.given_twice(key, entry.name.span, result[key].key_span or result[key].span))
                continue
            located = self.element(entry.value, schema, bindings)
            if located is not None:
                result[key] = Located(located.value, located.span, entry.name.span)
        return Located(result, value.span)

    # ---- scalars ----------------------------------------------------------------------------------------------------

    def _scalar(self, word: n.Word, schema: FieldSchema) -> Located | None:
        value = scalar(word)
        if schema.format in ("int32", "int64") and isinstance(value, str) and not word.quoted:
            if schema.json.endswith("Seconds") and _DURATION.match(value):
                self._seconds(word, schema)
                return None
            if schema.json == "priority" and value[:1].isalpha():
                way_out = f"a PriorityClass is named by `priorityClassName: {value}`"
                self.log.add(problems.wrong_value("`priority` takes an integer", word.span, way_out))
                return None
        elif schema.format == "string" and not isinstance(value, str):
            shown = word.text
            self.log.add(
                problems.wrong_value(
                    f"`{schema.json}` takes a string, `{shown}` is {_kind_of(value)}", word.span, f'write `"{shown}"`'
                )
            )
            return None
        return Located(value, word.span)

    def _seconds(self, word: n.Word, schema: FieldSchema) -> None:
        try:
            milliseconds = parse_duration(word.text)
        except ValueError:
            return
        way_out = f"write `{schema.json}: {milliseconds // 1000}`"
        if milliseconds % 1000:
            way_out = f"it takes whole seconds: `{-(-milliseconds // 1000)}`"
        self.log.add(
            problems.wrong_value(f"`{schema.json}` takes a number of seconds, without a unit", word.span, way_out)
        )

    def _attribute(self, value: n.Word | n.ListValue, bindings: Bindings) -> Located | None:
        """The wrapper of an attribute's value: its type follows from the value."""
        if isinstance(value, n.Word):
            typed = self._attribute_value(value)
            return None if typed is None else Located({typed[0]: typed[1]}, value.span)
        members: list[tuple[str, Located]] = []
        for item in value.items:
            resolved = self.resolve(item, bindings)
            if resolved is None:
                return None
            if not isinstance(resolved, n.Word):
                self.log.add(problems.wrong_value("a list attribute holds scalars", item.span))
                return None
            typed = self._attribute_value(resolved)
            if typed is None:
                return None
            members.append(typed)
        kinds = sorted({kind for kind, _ in members})
        if len(kinds) > 1:
            self.log.add(
                problems.wrong_value(
                    f"a list attribute holds values of one type, not {' and '.join(kinds)}", value.span
                )
            )
            return None
        # An empty list has no type to go by; the API takes it as a list of strings.
        name = f"{kinds[0]}s" if kinds else "strings"
        return Located({name: Located(tuple([located for _, located in members]), value.span)}, value.span)

    def _attribute_value(self, word: n.Word) -> tuple[str, Located] | None:
        value = scalar(word)
        if value is None:
            self.log.add(problems.wrong_value("an attribute has a value", word.span, "leave the attribute out"))
            return None
        if isinstance(value, bool):
            return "bool", Located(value, word.span)
        if isinstance(value, int):
            return "int", Located(value, word.span)
        if not word.quoted:
            if VERSION.match(value):
                return "version", Located(value[1:], word.span)
            if _LOOKS_LIKE_VERSION.match(value):
                self.log.add(
                    problems.wrong_value(
                        f"`{value}` is neither a version nor a string",
                        word.span,
                        f'a version is written with `v` and three numbers (`v1.2.3`), a string in quotes (`"{value}"`)',
                    )
                )
                return None
        return "string", Located(value, word.span)

    # ---- without a schema -------------------------------------------------------------------------------------------

    def untyped(self, value: n.Value, bindings: Bindings) -> Located | None:
        """A value whose type nobody knows: raw JSON."""
        resolved = self.resolve(value, bindings)
        return None if resolved is None else self._untyped(resolved, bindings)

    def _untyped(self, resolved: n.Value, bindings: Bindings) -> Located | None:
        if isinstance(resolved, n.Word):
            return Located(json_scalar(resolved), resolved.span)
        if isinstance(resolved, n.CelText):
            text = substitute(resolved.text, resolved.span, bindings, self.log)
            return None if text is None else Located(text, resolved.span)
        if isinstance(resolved, n.ListValue | n.TupleValue):
            items = [self.untyped(item, bindings) for item in resolved.items]
            return Located(tuple([item for item in items if item is not None]), resolved.span)
        if isinstance(resolved, n.Block):
            return self._untyped_map(resolved, bindings)
        return None

    def _untyped_map(self, block: n.Block, bindings: Bindings) -> Located:
        result: dict[str, Located] = {}
        for entry in block.entries:
            if not isinstance(entry, n.Field):
                self.log.add(misplaced_sugar(entry, "a map"))
                continue
            key = one_name(entry.name, bindings, self.log)
            located = self.untyped(entry.value, bindings)
            if key is None or located is None:
                continue
            if key in result:
                self.log.add(problems.given_twice(key, entry.name.span, result[key].key_span or result[key].span))
                continue
            result[key] = Located(located.value, located.span, entry.name.span)
        return Located(result, block.span)


def _kind_of(value: object) -> str:
    if isinstance(value, bool):
        return "a boolean"
    return "a number" if isinstance(value, int) else "null"


def text_of(word: n.Word, bindings: Bindings, log: DiagnosticLog) -> Located | None:
    """A word that is a name or text, as a located string."""
    text = one_name(word, bindings, log) if not word.quoted else substitute(word.text, word.span, bindings, log)
    return None if text is None else Located(text, word.span)


def cel_text(node: n.CelText, bindings: Bindings, log: DiagnosticLog) -> Located | None:
    """A CEL expression; its place is the text inside the backticks."""
    text = substitute(node.text, node.span, bindings, log) if "${" in node.text else node.text
    inside = Span(node.span.source, node.span.start + 1, max(node.span.start + 1, node.span.end - 1))
    return None if text is None else Located(text, inside)


_SUGAR_PLACES: Final[Mapping[type, tuple[str, str]]] = {
    n.Device: ("device", "it stands in a slice"),
    n.Counters: ("counters", "it stands in a slice"),
    n.Consumes: ("consumes", "it stands in a device of a slice"),
    n.Taint: ("taint", "it stands in a device, node or taintrule"),
    n.Where: ("where", "it stands in a class or a request"),
    n.Request: ("request", "it stands in a claim or template"),
    n.Constraint: ("match", "it stands in a claim or template"),
    n.Tolerate: ("tolerate", "it stands in a request"),
    n.Derive: ("derive", "it stands in a request"),
    n.ClaimEntry: ("claim", "`claim X from TEMPLATE` and `claim X is CLAIM` stand in a pod"),
    n.ClaimUse: ("claim", "`claim X` stands in a container"),
    n.Container: ("container", "it stands in a pod"),
    n.OnNode: ("on node", "it stands in a pod"),
}


def misplaced_sugar(entry: n.Entry, where: str) -> Diagnostic:
    """A line that is no field, in a block that takes only fields."""
    word, place = _SUGAR_PLACES[type(entry)]
    if isinstance(entry, n.Constraint):
        word = entry.kind
    if isinstance(entry, n.Request) and entry.is_alternative:
        word, place = "an alternative (`name: 1 of class`)", "it stands in `first available { ... }`"
        return problems.misplaced(word, where, entry.span, place)
    return problems.misplaced(f"`{word}`", where, entry.span, place)
