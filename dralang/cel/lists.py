"""The list libraries and sets.

Source: k8s.io/apiserver pkg/cel/library/lists.go; cel-go ext/lists.go (version 3), ext/sets.go.
"""

from functools import cmp_to_key
from typing import Final

from dralang.cel.operators import COMPARABLE, MISSING, add, compare, contained, find, is_map, key_text, same, type_name
from dralang.cel.times import Duration
from dralang.cel.values import NONE, CelError, Optional, Uint, Value, no_such_overload

List = tuple[Value, ...]
MAX_RANGE = 1_000_000


def is_sorted(items: List) -> bool:
    """``items.isSorted()``."""
    for at, item in enumerate(items):
        if type(item) not in COMPARABLE:
            no_such_overload()
        if at and _compare_or_none(items[at - 1], item) == 1:
            return False
    return True


def _compare_or_none(one: Value, two: Value) -> int | None:
    """The order, or None where cel-go has an error value that nobody looks at."""
    try:
        return compare(one, two)
    except CelError:
        return None


_ZEROS: dict[str, Value] = {"int": 0, "uint": Uint(0), "double": 0.0, "duration": Duration(0)}


def total(items: List, kind: str) -> Value:
    """``items.sum()`` for elements of that type."""
    result = _ZEROS[kind]
    for item in items:
        result = add(result, item)
    return result


def _extreme(items: List, name: str, replace: int) -> Value:
    if not items:
        raise CelError(f"{name} called on empty list")
    result = items[0]
    for at, item in enumerate(items):
        if type(item) not in COMPARABLE:
            no_such_overload()
        if at and _compare_or_none(result, item) == replace:
            result = item
    return result


def smallest(items: List) -> Value:
    """``items.min()``."""
    return _extreme(items, "min", 1)


def largest(items: List) -> Value:
    """``items.max()``."""
    return _extreme(items, "max", -1)


def list_index_of(items: List, item: Value) -> int:
    """``items.indexOf(item)``."""
    return next((at for at, one in enumerate(items) if same(one, item)), -1)


def list_last_index_of(items: List, item: Value) -> int:
    """``items.lastIndexOf(item)``."""
    return next((at for at in range(len(items) - 1, -1, -1) if same(items[at], item)), -1)


def includes(target: Value, item: Value) -> bool:
    """``target.includes(item)``."""
    if type(target) is tuple:
        return any(same(one, item) for one in target)
    return same(target, item)


def sublist(items: List, start: int, end: int) -> List:
    """``items.slice(start, end)``."""
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(items) < end:
        raise CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def flatten(items: Value, depth: int = 1) -> List:
    """``items.flatten(depth)``."""
    if depth < 0:
        raise CelError("level must be non-negative")
    result: list[Value] = list(items)
    for _ in range(depth):
        if not any(type(item) is tuple for item in result):
            break
        flat: list[Value] = []
        for item in result:
            if type(item) is tuple:
                flat.extend(item)
            else:
                flat.append(item)
        result = flat
    return tuple(result)


_PARAMETERS: Final = {"list": "(dyn)", "map": "(dyn, dyn)", "optional_type": "(dyn)"}


def _full_type(value: Value) -> str:
    name = type_name(value)
    return name + _PARAMETERS.get(name, "")


def checked_flatten(items: Value) -> List:
    """``items.flatten()``, which does its own check of the type."""
    if type(items) is not tuple:
        raise CelError(f"no such overload: {_full_type(items)}.flatten()")
    return flatten(items)


def checked_flatten_to(items: Value, depth: Value) -> List:
    """``items.flatten(depth)``, which does its own check of the types."""
    if type(items) is not tuple or type(depth) is not int:
        raise CelError(f"no such overload: {_full_type(items)}.flatten({_full_type(depth)})")
    return flatten(items, depth)


def sort(items: List) -> List:
    """``items.sort()``."""
    return sort_by_keys(items, items)


def sort_by_keys(items: List, keys: List) -> List:
    """The items in the order of their keys."""
    if len(items) != len(keys):
        raise CelError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, but got"
            f" {len(items)} and {len(keys)} elements respectively"
        )
    if not items:
        return items
    if type(keys[0]) not in COMPARABLE:
        raise CelError("list elements must be comparable")
    if len(keys) > 1 and any(type(key) is not type(keys[0]) for key in keys):
        raise CelError("list elements must have the same type")

    def compare(one: int, two: int) -> int:
        return _compare_or_none(keys[one], keys[two]) or 0

    order = sorted(range(len(items)), key=cmp_to_key(compare))
    return tuple(items[at] for at in order)


def number_range(count: int) -> List:
    """``lists.range(count)``."""
    if count < 0:
        raise CelError(f"lists.range: size must be non-negative, got {count}")
    if count > MAX_RANGE:
        raise CelError(f"lists.range: size {count} exceeds maximum allowed ({MAX_RANGE})")
    return tuple(range(count))


def reverse(items: List) -> List:
    """``items.reverse()``."""
    return items[::-1]


def distinct(items: List) -> List:
    """``items.distinct()``."""
    seen: list[Value] = []
    for item in items:
        if not any(same(item, other) for other in seen):
            seen.append(item)
    return tuple(seen)


def first(items: List) -> Optional:
    """``items.first()``."""
    return Optional(items[0]) if items else NONE


def last(items: List) -> Optional:
    """``items.last()``."""
    return Optional(items[-1]) if items else NONE


def unwrap(items: List) -> List:
    """``optional.unwrap(items)``."""
    for item in items:
        if type(item) is not Optional:
            raise CelError(f"value {key_text(item)} is not optional")
    return tuple(item.value for item in items if item.has_value)


def sets_contain(items: List, part: List) -> bool:
    """``sets.contains(items, part)``."""
    return all(contained(item, items) for item in part)


def sets_equivalent(one: List, two: List) -> bool:
    """``sets.equivalent(one, two)``."""
    return sets_contain(one, two) and sets_contain(two, one)


def sets_intersect(one: List, two: List) -> bool:
    """``sets.intersects(one, two)``."""
    return any(contained(item, two) for item in one)


def map_insert(items: dict[Value, Value], key: Value, value: Value) -> dict[Value, Value]:
    """The map with one more entry."""
    if find(items, key) is not MISSING:
        raise CelError(f"insert failed: key {key_text(key)} already exists")
    return {**items, key: value}


def map_merge(items: dict[Value, Value], more: Value) -> dict[Value, Value]:
    """The map with the entries of another one."""
    if not is_map(more):
        no_such_overload()
    result = dict(items)
    for key, value in more.items():
        if find(result, key) is not MISSING:
            raise CelError(f"insert failed: key {key_text(key)} already exists")
        result[key] = value
    return result
