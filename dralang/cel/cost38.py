"""The estimated worst-case cost as Kubernetes 1.38 computes it, which knows the sizes of what a list or map holds.

Source: cel-go common/cost (0.33, cost model version 0); k8s.io/apiserver pkg/cel/library/cost.go (1.38).
"""

from typing import Final

from dralang.cel import types
from dralang.cel.callcost import Operand, call_cost
from dralang.cel.cost import Estimator, Local
from dralang.cel.sizes import MAX, ONE, UNKNOWN, Size, Way, capped, fixed, merged
from dralang.cel.tree import Call, Comprehension, ListLiteral, Literal, MapLiteral, Node, Select
from dralang.cel.types import Type

_DYNAMIC: Final = frozenset({"any", "dyn", "param"})
_CONTAINERS: Final = _DYNAMIC | {"list", "map"}
_SIMPLE: Final = frozenset(
    {"bool", "bytes", "double", "duration", "int", "null", "string", "timestamp", "uint"},
)
_SCALARS: Final = frozenset({"bool", "double", "duration", "int", "timestamp", "type", "uint"})
_COMPARING: Final = frozenset(
    f"{name}_{kind}" for name in ("less", "less_equals", "greater", "greater_equals") for kind in ("string", "bytes")
) | {"equals", "not_equals"}
_URL_PARTS: Final = frozenset({"getScheme", "getHostname", "getHost", "getPort", "getEscapedPath", "getQuery"})
_ADDING: Final = frozenset({"add_string", "add_bytes", "add_list"})


def _is_scalar(kind: Type) -> bool:
    return kind.kind in _SCALARS or (
        kind.name == "optional_type" and kind.kind == "opaque" and kind.params[0].kind in _SCALARS
    )


def _scaled(size: int, divisor: int) -> int:
    return MAX if size >= MAX else -(-size // divisor)


def _listed(size: Size | None, elem: Size | None) -> Size | None:
    if size is None:
        return None if elem is None else Size(0, MAX, None, elem)
    return Size(size.least, size.most, None, UNKNOWN if elem is None and size.most > 0 else elem)


def _mapped(size: Size | None, key: Size | None, value: Size | None) -> Size | None:
    if size is None:
        if key is None and value is None:
            return None
        return Size(0, MAX, key or UNKNOWN, value or UNKNOWN)
    if size.most > 0:
        key, value = key or UNKNOWN, value or UNKNOWN
    return Size(size.least, size.most, key, value)


def _folded(operands: list[tuple[Type, Size]], least: int, most: int) -> Size:
    """A size made from those of operands, with the parts of all of them."""
    key: Size | None = None
    elem: Size | None = None
    has_key = any(size.key is not None for _, size in operands)
    has_elem = any(size.elem is not None for _, size in operands)
    for kind, size in operands:
        unstated = size.most > 0 and size.key is None and size.elem is None and kind.kind not in _SIMPLE
        if has_elem:
            unknown = unstated or (size.key is not None and size.most > 0)
            elem = merged(elem, UNKNOWN if size.elem is None and unknown else size.elem)
        if has_key:
            key = merged(key, UNKNOWN if size.key is None and unstated else size.key)
    return Size(least, most, key, elem)


def _elem_type(kind: Type) -> Type:
    return kind.params[0] if kind.params else types.DYN


def _map_types(kind: Type) -> tuple[Type, Type]:
    return (kind.params[0], kind.params[1]) if len(kind.params) >= 2 else (types.DYN, types.DYN)


def _root(node: Node) -> Node:
    while True:
        if isinstance(node, Select) and not node.test:
            node = node.operand
        elif isinstance(node, Call) and node.function in {"_[_]", "_[?_]", "_?._"} and node.args:
            node = node.args[0]
        else:
            return node


def _is_chain(node: Node) -> bool:
    if isinstance(node, Call):
        return node.function in {"_[_]", "_[?_]", "_?._", "_?_:_"}
    return not isinstance(node, (Literal, ListLiteral, MapLiteral, Comprehension))


def _branches(operand: Node) -> int:
    """What qualifiers of the branches of a conditional cost in a presence test."""
    root = _root(operand)
    if not (isinstance(root, Call) and root.function == "_?_:_"):
        return 0
    costs = [
        1 if not _is_chain(branch) or (isinstance(branch, Select) and branch.test) else _branches(branch)
        for branch in root.args[1:]
    ]
    return max(costs)


class Estimator38(Estimator):
    """Estimates one expression."""

    # Sizes

    def size(self, node: Node) -> Size | None:
        """The size of a node's value, if anything is known of it."""
        found = self.sizes.get(id(node))
        if found is None:
            found = self._size(node)
            if found is not None:
                self.sizes[id(node)] = found
        return found

    def _size(self, node: Node) -> Size | None:
        local = self._local(getattr(node, "name", ""))
        if local is not None and local.size is not None:
            return self._declared(self._way(node)) or local.size
        if type(node) is Literal:
            value = node.value
            return fixed(len(value)) if type(value) is str or type(value) is bytes else ONE
        return self._by_type(node, self._way(node), node.type)

    @staticmethod
    def _declared(way: Way) -> Size | None:
        shape = way.shape()
        return None if shape is None else Size(0, shape.most)

    def _by_type(self, node: Node | None, way: Way, kind: Type) -> Size | None:
        if kind.kind == "list":
            return self._list_size(node, way, kind)
        if kind.kind == "map":
            return self._map_size(node, way, kind)
        if kind.kind in _DYNAMIC:
            return self._dynamic_size(node, way, kind)
        return self._scalar_size(way, kind)

    def _scalar_size(self, way: Way, kind: Type) -> Size | None:
        found = self._declared(way)
        return ONE if found is None and _is_scalar(kind) else found

    def _choice(self, node: Node) -> Size | None:
        if not (isinstance(node, Call) and node.function == "_?_:_" and len(node.args) == 3):
            return None
        return self._size_or_unknown(node.args[1]).union(self._size_or_unknown(node.args[2]))

    def _list_size(self, node: Node | None, way: Way, kind: Type) -> Size | None:
        size: Size | None = None
        elem: Size | None = None
        if isinstance(node, ListLiteral):
            size = self._literal_list(node)
            elem = size.elem
        elif isinstance(node, Call):
            if node.function == "_+_" and len(node.args) == 2:
                size = self._size_or_unknown(node.args[0]) + self._size_or_unknown(node.args[1])
            else:
                size = self._choice(node)
            elem = None if size is None else size.elem
        if size is None:
            size = self._declared(way)
        elem = self._part(way, "@items", _elem_type(kind), elem)
        if size is None and elem is None and node is not None:
            size = UNKNOWN
        return _listed(size, elem)

    def _literal_list(self, node: ListLiteral) -> Size:
        least = most = len(node.elements)
        elem: Size | None = None
        for index, element in enumerate(node.elements):
            value: Node | None = element
            if index in node.optionals:
                least -= 1
                value = _present(element)
                if value is None:
                    most -= 1
                    continue
            assert value is not None
            elem = merged(elem, self._size_or_unknown(value))
        return Size(least, most, None, elem)

    def _map_size(self, node: Node | None, way: Way, kind: Type) -> Size | None:
        size: Size | None = None
        if isinstance(node, MapLiteral):
            size = self._literal_map(node)
        elif isinstance(node, Call):
            size = self._inserted(node) if node.function == "cel.@mapInsert" else self._choice(node)
        if size is None:
            size = self._declared(way)
        key_type, value_type = _map_types(kind)
        key = self._part(way, "@keys", key_type, None if size is None else size.key)
        value = self._part(way, "@values", value_type, None if size is None else size.elem)
        if size is None and key is None and value is None and node is not None:
            size = UNKNOWN
        return _mapped(size, key, value)

    def _literal_map(self, node: MapLiteral) -> Size:
        least = len(node.entries)
        key: Size | None = None
        value: Size | None = None
        for entry in node.entries:
            least -= entry.optional
            key = merged(key, self._size_or_unknown(entry.key))
            value = merged(value, self._size_or_unknown(entry.value))
        return Size(least, len(node.entries), key, value)

    def _inserted(self, node: Call) -> Size:
        sizes = [self._size_or_unknown(arg) for arg in node.args]
        if len(sizes) == 3:
            added = sizes[0] + ONE
            return Size(added.least, added.most, merged(sizes[0].key, sizes[1]), merged(sizes[0].elem, sizes[2]))
        return sizes[0] + sizes[1]

    def _dynamic_size(self, node: Node | None, way: Way, kind: Type) -> Size | None:
        if isinstance(node, ListLiteral):
            return self._list_size(node, way, kind)
        if isinstance(node, MapLiteral):
            return self._map_size(node, way, kind)
        if node is not None:
            chosen = self._choice(node)
            if chosen is not None:
                return chosen
        size = self._declared(way)
        elem = self._dynamic_part(way, "@items")
        if elem is not None:
            return _listed(size, elem)
        key, value = self._dynamic_part(way, "@keys"), self._dynamic_part(way, "@values")
        return size if key is None and value is None else _mapped(size, key, value)

    def _dynamic_part(self, way: Way, name: str) -> Size | None:
        if way.length == 0 or way.length >= 32:
            return None
        part = way.copied().extended(name)
        return None if self._declared(part) is None else self._dynamic_size(None, part, types.DYN)

    def _part(self, way: Way, name: str, kind: Type, current: Size | None) -> Size | None:
        """The size of elements, keys or values."""
        if (current is None or (current.elem is None and kind.kind in _CONTAINERS)) and way.length:
            found = self._by_type(None, way.copied().extended(name), kind)
            if found is not None and found != UNKNOWN:
                current = found if current is None else Size(current.least, current.most, found.key, found.elem)
        if current is None and _is_scalar(kind):
            return ONE
        return current

    # Nodes

    def _select(self, node: Select) -> int:
        total = _branches(node.operand) if node.test else 1
        total = capped(total + self.cost(node.operand))
        way = self._way(node.operand)
        if way.length:
            self.ways[id(node)] = way.extended(node.field)
        return total

    def _list(self, node: ListLiteral) -> int:
        return capped(10 + sum(self.cost(element) for element in node.elements))

    def _map(self, node: MapLiteral) -> int:
        return capped(30 + sum(self.cost(entry.key) + self.cost(entry.value) for entry in node.entries))

    def _call(self, node: Call) -> int:
        if node.function == "dyn":
            return self._dyn(node)
        costs = [self.cost(arg) for arg in node.args]
        if not node.overloads:
            return capped(1 + sum(costs))
        total = 0
        target: Operand | None = None
        if node.target is not None:
            total = self.cost(node.target)
        args = [self._operand(arg) for arg in node.args]
        if node.target is not None:
            target = self._operand(node.target)
        shared = [costs[0], max(costs[1:])] if node.function == "_?_:_" else costs
        argument_cost = capped(sum(shared))
        most = 0
        result: Size | None = None
        for overload in node.overloads:
            own, made = self._called(node, overload, target, args)
            most = max(most, capped(own + argument_cost))
            if overload in {"index_list", "index_map"}:
                way = self._way(node.args[0])
                if way.length:
                    self.ways[id(node)] = way.extended("@items" if overload == "index_list" else "@values")
            result = merged(result, made or self.size(node))
        if result is not None:
            self.sizes[id(node)] = result
        return capped(total + most)

    def _called(
        self, node: Call, overload: str, target: Operand | None, args: list[Operand]
    ) -> tuple[int, Size | None]:
        """The cost of one overload, beside the operands, and the size of its result."""
        function = node.function
        if function in _URL_PARTS and target is not None:
            size = target.known()
            return 1, size.times(Size(1, 3)) if function == "getEscapedPath" else size
        own, made = call_cost(function, overload, target, args, self.minor)
        if overload in _COMPARING:
            return own, made
        standard = self._standard(overload, target, args)
        if standard is not None:
            return standard
        if overload in {"index_list", "index_map"}:
            return own, self._size_or_unknown(args[0].node).elem or UNKNOWN
        if overload == "conditional":
            yes, no = self._typed(args[1]), self._typed(args[2])
            union = yes[1].union(no[1])
            return 0, _folded([yes, no], union.least, union.most)
        if overload == "lists_range" and made is not None:
            return own, made._replace(elem=ONE)
        if overload in {"logical_and", "logical_or"}:
            return 0, None
        return own, self._list_made(overload, made, target)

    @staticmethod
    def _list_made(overload: str, made: Size | None, target: Operand | None) -> Size | None:
        if made is None or target is None or not overload.startswith("list_"):
            return made
        if overload.startswith(("list_slice", "list_distinct")) or overload.endswith(
            ("_sort", "_sortByAssociatedKeys")
        ):
            return Size(made.least, made.most, None, target.known().elem)
        return made

    def _typed(self, operand: Operand) -> tuple[Type, Size]:
        return operand.node.type, self._size_or_unknown(operand.node)

    def _standard(self, overload: str, target: Operand | None, args: list[Operand]) -> tuple[int, Size | None] | None:
        if overload in _ADDING:
            left, right = self._typed(args[0]), self._typed(args[1])
            made = left[1] + right[1]
            made = _folded([left, right], made.least, made.most)
            return (1 if overload == "add_list" else _scaled(made.most, 10)), made
        if overload in {"starts_with_string", "ends_with_string"}:
            return _scaled(args[0].known().most, 10), None
        if overload == "contains_string" and target is not None:
            return capped(_scaled(target.known().most, 10) * _scaled(args[0].known().most, 10)), None
        if overload in {"matches", "matches_string"}:
            text, pattern = (args[0], args[1]) if target is None else (target, args[0])
            return capped(_scaled(capped(text.known().most + 1), 10) * _scaled(pattern.known().most, 4)), None
        if overload == "string_format" and target is not None:
            return _scaled(target.known().most, 10), None
        if overload in {"string_to_bytes", "bytes_to_string", "strings_quote"}:
            size = args[0].known()
            made = {
                "string_to_bytes": Size(size.least, capped(size.most * 4)),
                "bytes_to_string": Size(_scaled(size.least, 4), size.most),
                "strings_quote": Size(capped(size.least + 2), capped(capped(size.most * 2) + 2)),
            }[overload]
            return _scaled(size.most, 10), made
        return None

    def _copy(self, to: Node, source: Node) -> None:
        size = self.size(source)
        if size is not None:
            self.sizes[id(to)] = size

    # Comprehensions

    def _push_iteration(self, node: Comprehension) -> None:
        ranged = node.iter_range
        way = self._way(ranged)
        size = self._size_or_unknown(ranged)
        kind = ranged.type.kind
        if node.iter_var2:
            of_list = kind == "list"
            keys = way.extended("@indices" if of_list else "@keys")
            self._push(node.iter_var, Local(keys, ONE if of_list else size.key, None))
            self._push(node.iter_var2, Local(way.extended("@items" if of_list else "@values"), size.elem, None))
        elif kind == "list" or (kind == "dyn" and size.key is None and size.elem is not None):
            self._push(node.iter_var, Local(way.extended("@items"), size.elem, None))
        else:
            self._push(node.iter_var, Local(way.extended("@keys"), size.key, None))

    def _push_value(self, name: str, node: Node) -> None:
        self._push(name, Local(self._way(node), self.size(node), None))

    def _comprehension(self, node: Comprehension) -> int:
        total = self.cost(node.iter_range) + self.cost(node.accu_init)
        self._push_value(node.accu_var, node.accu_init)
        if node.is_bind:
            total += self.cost(node.result)
            way = self._way(node.result)
            if way.length:
                self.ways[id(node)] = way
            self._copy(node, node.result)
            self.locals[node.accu_var].pop()
            return capped(total)
        self._push_iteration(node)
        loop = capped(self.cost(node.condition) + self.cost(node.step))
        step = self.size(node.step)
        self.locals[node.iter_var].pop()
        if node.iter_var2:
            self.locals[node.iter_var2].pop()
        total += self.cost(node.result)
        self.locals[node.accu_var].pop()
        count = self._size_or_unknown(node.iter_range)
        total += capped(count.most * loop)
        init = node.accu_init
        if isinstance(init, Literal):
            self._copy(node, init)
        elif isinstance(init, (ListLiteral, MapLiteral)):
            self.sizes[id(node)] = _collected(node, count, step)
        return capped(total)


def _collected(node: Comprehension, count: Size, step: Size | None) -> Size:
    """The size of what a comprehension collects."""
    of_map = isinstance(node.accu_init, MapLiteral)
    key, elem = (count.key if of_map else None), count.elem
    if step is not None:
        elem = step.elem or elem
        if of_map:
            key = step.key or key
    filtering = isinstance(node.step, Call) and node.step.function == "_?_:_"
    return Size(0 if filtering else count.least, count.most, key, elem)


def _present(node: Node) -> Node | None:
    """The value of an optional element of a list literal; None if it is known not to be there."""
    if isinstance(node, Call) and node.target is None:
        if node.function == "optional.none" and not node.args:
            return None
        if node.function in {"optional.of", "optional.ofNonZeroValue"} and len(node.args) == 1:
            return node.args[0]
    return node


def estimate(root: Node, minor: int) -> int:
    """The estimated worst-case cost of a checked tree, in a minor version of Kubernetes."""
    estimator = Estimator38 if minor >= 38 else Estimator
    return estimator(minor).cost(root)
