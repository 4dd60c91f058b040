"""The estimated worst-case cost of a checked expression.

Source: cel-go checker/cost.go (0.29); presence tests are free, as Kubernetes configures them.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from dralang.cel.callcost import Operand, call_cost
from dralang.cel.sizes import MAX, NO_WAY, ONE, UNKNOWN, Size, Way, capped, fixed, way_from
from dralang.cel.tree import Call, Comprehension, Ident, ListLiteral, Literal, MapLiteral, Message, Node, Select
from dralang.cel.types import Type

_LIST_COST: Final = 10
_MAP_COST: Final = 30
_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "uint"})
_NOTHING: Final = Size(MAX, 0)


class _Entries(NamedTuple):
    """Sizes of the keys and values of a list or map."""

    kind: str
    key: Size
    value: Size

    def union(self, other: "_Entries") -> "_Entries":
        return _Entries(self.kind, self.key.union(other.key), self.value.union(other.value))


class Local(NamedTuple):
    """What is known of a variable."""

    way: Way
    size: Size | None
    entries: _Entries | None


def _is_scalar(kind: Type) -> bool:
    return kind.kind in _SCALARS or (
        kind.name == "optional_type" and kind.kind == "opaque" and _is_scalar(kind.params[0])
    )


class Estimator:
    """Estimates one expression."""

    def __init__(self, minor: int) -> None:
        self.minor = minor
        self.ways: dict[int, Way] = {}
        self.sizes: dict[int, Size] = {}
        self.entries: dict[int, _Entries] = {}
        self.locals: dict[str, list[Local]] = {}
        self.handlers: dict[type[Node], Callable[..., int]] = {
            Literal: lambda _node: 0,
            Ident: self._ident,
            Select: self._select,
            Call: self._call,
            ListLiteral: self._list,
            MapLiteral: self._map,
            Comprehension: self._comprehension,
            Message: lambda _node: 0,
        }

    def cost(self, node: Node) -> int:
        """The cost of a node with all below it."""
        return self.handlers[type(node)](node)

    # What is known

    def _local(self, name: str) -> Local | None:
        stack = self.locals.get(name)
        return stack[-1] if stack else None

    def _way(self, node: Node) -> Way:
        if type(node) is Ident:
            local = self._local(node.name)
            if local is not None:
                return local.way
        return self.ways.get(id(node), NO_WAY)

    def size(self, node: Node) -> Size | None:
        """The size of a node's value, if anything is known of it."""
        key = id(node)
        found = self.sizes.get(key)
        if found is not None:
            return found
        if type(node) is Literal:
            value = node.value
            return fixed(len(value)) if type(value) is str or type(value) is bytes else ONE
        if type(node) is ListLiteral:
            return fixed(len(node.elements))
        if type(node) is MapLiteral:
            return fixed(len(node.entries))
        shape = self._way(node).shape()
        if shape is not None:
            found = Size(0, shape.most)
            self.sizes[key] = found
            return found
        if _is_scalar(node.type):
            return ONE
        if type(node) is Ident:
            local = self._local(node.name)
            if local is not None:
                return local.size
        return None

    def _size_or_unknown(self, node: Node) -> Size:
        found = self.size(node)
        return UNKNOWN if found is None else found

    def _entries_of(self, node: Node) -> _Entries | None:
        found = self.entries.get(id(node))
        if found is None and type(node) is Ident:
            local = self._local(node.name)
            if local is not None:
                return local.entries
        return found

    def _operand(self, node: Node) -> Operand:
        return Operand(node, self.size(node), self._way(node))

    # Nodes

    def _ident(self, node: Ident) -> int:
        local = self._local(node.name)
        self.ways[id(node)] = way_from(node.name.removeprefix(".")) if local is None else local.way
        return 1

    def _select(self, node: Select) -> int:
        total = self.cost(node.operand)
        if node.test:
            return total
        if node.operand.type.kind in {"map", "struct", "param"}:
            total = capped(total + 1)
        self.ways[id(node)] = self._way(node.operand).extended(node.field)
        return total

    def _list(self, node: ListLiteral) -> int:
        total = _LIST_COST
        items = fixed(0) if not node.elements else _NOTHING
        for element in node.elements:
            total += self.cost(element)
            items = items.union(self._size_or_unknown(element))
        self.entries[id(node)] = _Entries("list", ONE, items)
        return capped(total)

    def _map(self, node: MapLiteral) -> int:
        total = _MAP_COST
        keys = values = fixed(0) if not node.entries else _NOTHING
        for entry in node.entries:
            total += self.cost(entry.key) + self.cost(entry.value)
            keys = keys.union(self._size_or_unknown(entry.key))
            values = values.union(self._size_or_unknown(entry.value))
        self.entries[id(node)] = _Entries("map", keys, values)
        return capped(total)

    def _call(self, node: Call) -> int:
        function = node.function
        if function in {"_&&_", "_||_"}:
            return capped(sum(self.cost(arg) for arg in node.args))
        if function == "dyn":
            return self._dyn(node)
        costs: list[int] = []
        args: list[Operand] = []
        for arg in node.args:
            costs.append(self.cost(arg))
            args.append(self._operand(arg))
        if not node.overloads:
            return 0
        total = 0
        target: Operand | None = None
        if node.target is not None:
            total = self.cost(node.target)
            target = self._operand(node.target)
        if function == "_?_:_":
            return self._conditional(node, args, costs)
        argument_cost = capped(sum(costs))
        most = 0
        result: Size | None = None
        for overload in node.overloads:
            if overload in {"add_string", "add_bytes", "add_list"}:
                self._concatenated(node, args)
            own, made = call_cost(function, overload, target, args, self.minor)
            most = max(most, capped(own + argument_cost))
            if made is not None:
                result = made if result is None else result.union(made)
            if overload in {"index_list", "index_map"}:
                entries = self._entries_of(args[0].node)
                result = None if entries is None else entries.value
                name = "@items" if overload == "index_list" else "@values"
                self.ways[id(node)] = self._way(args[0].node).extended(name)
            if result is None:
                result = self.size(node)
        if result is not None:
            self.sizes[id(node)] = result
        return capped(total + most)

    def _dyn(self, node: Call) -> int:
        argument = node.args[0]
        total = capped(self.cost(argument) + 1)
        self._copy(node, argument)
        return total

    def _copy(self, to: Node, source: Node) -> None:
        size = self.size(source)
        if size is not None:
            self.sizes[id(to)] = size
        entries = self._entries_of(source)
        if entries is not None:
            self.entries[id(to)] = entries

    def _conditional(self, node: Call, args: list[Operand], costs: list[int]) -> int:
        yes, no = args[1], args[2]
        left, right = self._entries_of(yes.node), self._entries_of(no.node)
        if left is not None and right is not None:
            self.entries[id(node)] = left.union(right)
        self.sizes[id(node)] = (yes.size or UNKNOWN).union(no.size or UNKNOWN)
        return capped(costs[0] + max(costs[1], costs[2]))

    def _concatenated(self, node: Call, args: list[Operand]) -> None:
        left, right = self._entries_of(args[0].node), self._entries_of(args[1].node)
        if left is not None and right is not None:
            self.entries[id(node)] = left.union(right)

    # Comprehensions

    def _push(self, name: str, local: Local) -> None:
        self.locals.setdefault(name, []).append(local)

    def _push_iteration(self, node: Comprehension) -> None:
        ranged = node.iter_range
        entries = self._entries_of(ranged)
        way = self._way(ranged)
        kind = ranged.type.kind if entries is None else entries.kind
        key = None if entries is None else entries.key
        value = None if entries is None else entries.value
        if node.iter_var2:
            keys = way.extended("@indices" if kind == "list" else "@keys")
            self._push(node.iter_var, Local(keys, key, None))
            values = way.extended("@items" if kind == "list" else "@values")
            self._push(node.iter_var2, Local(values, value, None))
        elif kind == "list":
            self._push(node.iter_var, Local(way.extended("@items"), value, None))
        else:
            self._push(node.iter_var, Local(way.extended("@keys"), key, None))

    def _push_value(self, name: str, node: Node) -> None:
        self._push(name, Local(self._way(node), self.size(node), self._entries_of(node)))

    def _comprehension(self, node: Comprehension) -> int:
        total = self.cost(node.iter_range) + self.cost(node.accu_init)
        if node.is_bind:
            self._push_value(node.accu_var, node.accu_init)
            total += self.cost(node.result)
            self.locals[node.accu_var].pop()
            self._copy(node, node.result)
            return capped(total)
        self._push_value(node.accu_var, node.accu_init)
        self._push_iteration(node)
        loop = capped(self.cost(node.condition) + self.cost(node.step))
        self.locals[node.iter_var].pop()
        if node.iter_var2:
            self.locals[node.iter_var2].pop()
        total += self.cost(node.result)
        self.locals[node.accu_var].pop()
        count = self._size_or_unknown(node.iter_range)
        total += capped(count.most * loop)
        init = node.accu_init
        if isinstance(init, Literal):
            self.sizes[id(node)] = self._size_or_unknown(init)
        elif isinstance(init, (ListLiteral, MapLiteral)):
            self.sizes[id(node)] = count
            entries = self._entries_of(node.step)
            if entries is not None:
                self.entries[id(node)] = entries
        return capped(total)
