"""The type checker.

It gives every node its type and every call its possible overloads, or reports errors with cel-go's texts.

Source: cel-go checker/checker.go (0.29).
"""

from collections.abc import Callable
from typing import Final

from dralang.cel import types
from dralang.cel.declarations import Overload
from dralang.cel.issues import Issues
from dralang.cel.suggestions import Catalog
from dralang.cel.tree import (
    Call,
    Comprehension,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Message,
    Node,
    Select,
)
from dralang.cel.types import DYN, ERROR, Bindings, Type
from dralang.cel.values import Uint

_LITERAL_TYPES: Final[dict[type, Type]] = {
    bool: types.BOOL,
    int: types.INT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    Uint: types.UINT,
    type(None): types.NULL,
}
TYPE_NAMES: Final[dict[str, Type]] = {
    "bool": types.BOOL,
    "bytes": types.BYTES,
    "double": types.DOUBLE,
    "google.protobuf.Duration": types.DURATION,
    "int": types.INT,
    "list": types.list_of(types.DYN),
    "map": types.map_of(types.DYN, types.DYN),
    "null_type": types.NULL,
    "string": types.STRING,
    "google.protobuf.Timestamp": types.TIMESTAMP,
    "type": types.TYPE,
    "uint": types.UINT,
    "optional_type": types.optional_of(types.DYN),
    "net.IP": types.IP,
    "net.CIDR": types.CIDR,
}


class Scope:
    """What the checker must know of the environment."""

    __slots__ = ("catalog", "container", "device_fields", "functions", "strict")

    def __init__(
        self,
        functions: dict[str, tuple[Overload, ...]],
        device_fields: dict[str, Type],
        *,
        container: str,
        strict: bool,
        catalog: Catalog | None = None,
    ) -> None:
        self.functions = functions
        self.device_fields = device_fields
        self.container = container
        self.strict = strict
        self.catalog = catalog


class Checker:
    """Checks one expression."""

    def __init__(self, scope: Scope, issues: Issues) -> None:
        self.scope = scope
        self.issues = issues
        self.bindings = Bindings(strict=scope.strict)
        self.locals: dict[str, list[Type]] = {}
        self.fresh = 0
        self.visited: list[Node] = []
        self.handlers: dict[type[Node], Callable[..., Type]] = {
            Literal: self._literal,
            Ident: self._ident,
            Select: self._select,
            Call: self._call,
            ListLiteral: self._list,
            MapLiteral: self._map,
            Comprehension: self._comprehension,
            Message: self._message,
        }

    def run(self, root: Node) -> None:
        """Check a tree; types of nodes are final afterwards."""
        self.check(root)
        bindings = self.bindings
        for node in self.visited:
            if node.type.open:
                node.type = types.substitute(bindings, node.type, to_dyn=True)

    def check(self, node: Node) -> Type:
        """Check a node and what is below it."""
        found = self.handlers[type(node)](node)
        node.type = found
        self.visited.append(node)
        return found

    def _literal(self, node: Literal) -> Type:
        return _LITERAL_TYPES[type(node.value)]

    def _undeclared(self, pos: int, name: str) -> Type:
        catalog = self.scope.catalog
        suggestion = "" if catalog is None else catalog.suffix(name)
        self.issues.add(pos, f"undeclared reference to '{name}'{self.scope.container}{suggestion}")
        return ERROR

    def _is_near_known(self, name: str) -> bool:
        """Whether a qualified name is one, or nearly one, that is known: then it is reported as a whole."""
        catalog = self.scope.catalog
        return catalog is not None and bool(catalog.find(name)) and self._lookup(name.partition(".")[0]) is None

    def _lookup(self, name: str) -> Type | None:
        if name[0] == ".":
            name = name[1:]
        else:
            stack = self.locals.get(name)
            if stack:
                return stack[-1]
        if name == "device":
            return types.DEVICE
        named = TYPE_NAMES.get(name)
        return None if named is None else types.type_of(named)

    def _ident(self, node: Ident) -> Type:
        found = self._lookup(node.name)
        return self._undeclared(node.pos, node.name) if found is None else found

    def _qualified(self, node: Select) -> Type | None:
        """The type that a chain like ``google.protobuf.Duration`` names."""
        names: list[str] = []
        at: Node = node
        while isinstance(at, Select) and not at.test:
            names.append(at.field)
            at = at.operand
        if not isinstance(at, Ident):
            return None
        first = at.name
        if first[0] != "." and self.locals.get(first):
            return None
        name = ".".join([first.removeprefix("."), *reversed(names)])
        named = TYPE_NAMES.get(name)
        return None if named is None else types.type_of(named)

    def _select(self, node: Select) -> Type:
        if not node.test and type(node.operand) is not Call:
            named = self._qualified(node)
            if named is not None:
                return named
            whole = _namespace_of(node)
            if whole is not None and "." in whole and self._is_near_known(whole):
                return self._undeclared(node.pos, whole)
        found = self._field(node, node.operand, node.field, optional=False)
        return types.BOOL if node.test else types.substitute(self.bindings, found)

    def _field(self, node: Node, operand: Node, field: str, *, optional: bool) -> Type:
        whole = types.substitute(self.bindings, self.check(operand))
        wrapped = types.is_optional(whole)
        target = whole.params[0] if wrapped else whole
        kind = target.kind
        result = ERROR
        if kind == "map":
            result = target.params[1]
        elif kind == "struct":
            found = self.scope.device_fields.get(field) if target is types.DEVICE else None
            if target is not types.DEVICE:
                self.issues.add(node.pos, f"unexpected failed resolution of '{target.name}'")
            elif found is None:
                self.issues.add(node.pos, f"undefined field '{field}'")
            else:
                result = found
        elif kind == "param":
            self._assign(DYN, target)
            result = DYN
        else:
            if not types.is_dyn(target) and target is not ERROR:
                self.issues.add(node.pos, f"type '{target.text}' does not support field selection")
            result = DYN
        return types.optional_of(result) if wrapped or optional else result

    def _assign(self, given: Type, wanted: Type) -> bool:
        found = types.assignable(self.bindings, given, wanted)
        if found is None:
            return False
        self.bindings = found
        return True

    def _call(self, node: Call) -> Type:
        name = node.function
        if name == "_?._":
            field = node.args[1]
            assert isinstance(field, Literal)
            found = self._field(node, node.args[0], field.value, optional=True)
            field.type = types.STRING
            node.overloads = ("select_optional_field",)
            return types.substitute(self.bindings, found)
        given = [self.check(arg) for arg in node.args]
        functions = self.scope.functions
        if node.target is None:
            plain = name.removeprefix(".")
            overloads = functions.get(plain)
            if overloads is None:
                return self._undeclared(node.pos, name)
            node.function = plain
            return self._resolve(node, overloads, given)
        namespace = _namespace_of(node.target)
        if namespace is not None:
            overloads = functions.get(f"{namespace}.{name}")
            if overloads is not None:
                node.function = f"{namespace}.{name}"
                node.target = None
                return self._resolve(node, overloads, given)
            if self._is_near_known(f"{namespace}.{name}"):
                return self._undeclared(node.pos, f"{namespace}.{name}")
        given.insert(0, self.check(node.target))
        overloads = functions.get(name)
        return self._undeclared(node.pos, name) if overloads is None else self._resolve(node, overloads, given)

    def _logical(self, node: Call, given: list[Type], name: str) -> Type:
        good = True
        for arg, found in zip(node.args, given, strict=True):
            if not self._assign(found, types.BOOL):
                self.issues.add(arg.pos, f"expected type 'bool' but found '{found.text}'")
                good = False
        if not good:
            return ERROR
        node.overloads = (name,)
        return types.BOOL

    def _resolve(self, node: Call, overloads: tuple[Overload, ...], given: list[Type]) -> Type:
        if node.function in {"_&&_", "_||_"}:
            return self._logical(node, given, overloads[0].id)
        member = node.target is not None
        count = len(given)
        matched: list[str] = []
        result: Type | None = None
        for overload in overloads:
            if overload.member is not member or len(overload.params) != count:
                continue
            wanted, returned = overload.params, overload.result
            if overload.variables:
                fresh = {variable: self._variable() for variable in overload.variables}
                wanted = tuple(types.rename(param, fresh) for param in wanted)
                returned = types.rename(returned, fresh)
            found = types.all_assignable(self.bindings, given, wanted)
            if found is None:
                continue
            self.bindings = found
            matched.append(overload.id)
            returned = types.substitute(found, returned)
            if result is None:
                result = returned
            elif not types.is_dyn(result) and returned is not result:
                result = DYN
        if result is None:
            self._no_overload(node, given, member=member)
            return ERROR
        node.overloads = tuple(matched)
        return result

    def _no_overload(self, node: Call, given: list[Type], *, member: bool) -> None:
        texts = [types.substitute(self.bindings, one, to_dyn=True).text for one in given]
        signature = f"{texts[0]}.({', '.join(texts[1:])})" if member else f"({', '.join(texts)})"
        self.issues.add(node.pos, f"found no matching overload for '{node.function}' applied to '{signature}'")

    def _variable(self) -> Type:
        self.fresh += 1
        return types.param(f"_var{self.fresh - 1}")

    def _unwrap(self, node: Node, found: Type) -> Type:
        if types.is_optional(found):
            return found.params[0]
        if not types.is_dyn(found):
            self.issues.add(node.pos, f"expected type 'optional_type({found.text})' but found '{found.text}'")
        return found

    def _join(self, before: Type | None, found: Type) -> Type:
        if before is None:
            return found
        # Mixed literals become dyn here; ``validators`` refuses them where Kubernetes does.
        return types.most_general(before, found) if self._assign(before, found) else DYN

    def _list(self, node: ListLiteral) -> Type:
        joined: Type | None = None
        for index, element in enumerate(node.elements):
            found = self.check(element)
            if index in node.optionals:
                found = self._unwrap(element, found)
            joined = self._join(joined, found)
        return types.list_of(self._variable() if joined is None else joined)

    def _map(self, node: MapLiteral) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for entry in node.entries:
            keys = self._join(keys, self.check(entry.key))
            found = self.check(entry.value)
            if entry.optional:
                found = self._unwrap(entry.value, found)
            values = self._join(values, found)
        if keys is None or values is None:
            keys, values = self._variable(), self._variable()
        return types.map_of(keys, values)

    def _message(self, node: Message) -> Type:
        return self._undeclared(node.pos, node.name)

    def _comprehension(self, node: Comprehension) -> Type:
        ranged = self.check(node.iter_range)
        accu = self.check(node.accu_init)
        ranged = types.substitute(self.bindings, ranged)
        two = bool(node.iter_var2)
        kind = ranged.kind
        second: Type = DYN
        if kind == "list":
            first, second = (types.INT, ranged.params[0]) if two else (ranged.params[0], DYN)
        elif kind == "map":
            first, second = ranged.params[0], ranged.params[1]
        elif kind in {"dyn", "error", "param"}:
            self._assign(DYN, ranged)
            first = DYN
        else:
            self.issues.add(
                node.iter_range.pos,
                f"expression of type '{ranged.text}' cannot be range of a comprehension"
                " (must be list, map, or dynamic)",
            )
            first = second = ERROR
        self.locals.setdefault(node.accu_var, []).append(accu)
        self.locals.setdefault(node.iter_var, []).append(first)
        if two:
            self.locals.setdefault(node.iter_var2, []).append(second)
        self._expect(node.condition, types.BOOL, self.check(node.condition))
        self._expect(node.step, accu, self.check(node.step))
        self.locals[node.iter_var].pop()
        if two:
            self.locals[node.iter_var2].pop()
        result = self.check(node.result)
        self.locals[node.accu_var].pop()
        return types.substitute(self.bindings, result)

    def _expect(self, node: Node, wanted: Type, found: Type) -> None:
        if not self._assign(wanted, found):
            self.issues.add(node.pos, f"expected type '{wanted.text}' but found '{found.text}'")


def _namespace_of(node: Node) -> str | None:
    """``a.b`` of a target that may be a namespace: names only."""
    names: list[str] = []
    while isinstance(node, Select) and not node.test:
        names.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    names.append(node.name.removeprefix("."))
    return ".".join(reversed(names))
