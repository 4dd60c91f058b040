"""The functions of the environment: which overloads there are, with which types.

Source: see ``catalogue``.
"""

import re
from functools import cache
from typing import Final, NamedTuple

from dralang.cel import types
from dralang.cel.catalogue import AUTHORIZATION, INCLUDES, KUBERNETES, LISTS, MASKS, OPTIONALS, STANDARD, WIDE
from dralang.cel.types import Type


class Overload(NamedTuple):
    """One signature; ``params`` holds the receiver first if it is a member function."""

    id: str
    member: bool
    params: tuple[Type, ...]
    result: Type
    variables: tuple[Type, ...]


_NAMES: Final = {
    "any": types.ANY,
    "bool": types.BOOL,
    "bytes": types.BYTES,
    "double": types.DOUBLE,
    "duration": types.DURATION,
    "dyn": types.DYN,
    "int": types.INT,
    "string": types.STRING,
    "timestamp": types.TIMESTAMP,
    "uint": types.UINT,
    "Quantity": types.QUANTITY,
    "Semver": types.SEMVER,
    "URL": types.URL,
    "Format": types.FORMAT,
    "IP": types.IP,
    "CIDR": types.CIDR,
    "Authorizer": types.struct("kubernetes.authorization.Authorizer"),
    "PathCheck": types.struct("kubernetes.authorization.PathCheck"),
    "GroupCheck": types.struct("kubernetes.authorization.GroupCheck"),
    "ResourceCheck": types.struct("kubernetes.authorization.ResourceCheck"),
    "Decision": types.struct("kubernetes.authorization.Decision"),
}
_TOKEN = re.compile(r"[A-Za-z]+|[(),.]")


class _Signature:
    """Reads ``receiver.(a, b) -> result``."""

    def __init__(self, text: str) -> None:
        left, _, right = text.partition("->")
        self.tokens = _TOKEN.findall(left)
        self.at = 0
        self.variables: list[Type] = []
        self.member = self.tokens[0] != "("
        self.params = [self.read()] if self.member else []
        self.at += 2 if self.member else 1
        while self.tokens[self.at] != ")":
            self.params.append(self.read())
            if self.tokens[self.at] == ",":
                self.at += 1
        self.tokens, self.at = [*_TOKEN.findall(right), ""], 0
        self.result = self.read()

    def read(self) -> Type:
        name = self.tokens[self.at]
        self.at += 1
        if len(name) == 1:
            variable = types.param(name)
            if variable not in self.variables:
                self.variables.append(variable)
            return variable
        if self.tokens[self.at] != "(":
            return _NAMES[name]
        self.at += 1
        inner = [self.read()]
        while self.tokens[self.at] == ",":
            self.at += 1
            inner.append(self.read())
        self.at += 1
        if name == "list":
            return types.list_of(inner[0])
        if name == "map":
            return types.map_of(inner[0], inner[1])
        return types.optional_of(inner[0]) if name == "optional" else types.type_of(inner[0])


def _read(text: str) -> dict[str, list[Overload]]:
    functions: dict[str, list[Overload]] = {}
    overloads: list[Overload] = []
    for line in text.splitlines():
        if not line:
            continue
        if line[0] != " ":
            overloads = functions.setdefault(line, [])
            continue
        name, _, signature = line.strip().partition(": ")
        read = _Signature(signature)
        overloads.append(Overload(name, read.member, tuple(read.params), read.result, tuple(read.variables)))
    return functions


@cache
def functions(
    *, lists: bool, includes: bool, masks: bool = False, wide: bool = False
) -> dict[str, tuple[Overload, ...]]:
    """All functions of an environment.

    Args:
        lists: with cel-go's list library (``slice``, ``sort`` and so on).
        includes: with ``includes``.
        masks: with ``isMask``.
        wide: the smallest 64-bit number is an integer as a quantity, too.
    """
    text = STANDARD + OPTIONALS + KUBERNETES + AUTHORIZATION + (LISTS if lists else "") + (INCLUDES if includes else "")
    text += MASKS if masks else ""
    if wide:
        for name in WIDE:
            text = text.replace(f"  {name}:", f"  {name}_wide:")
    return {name: tuple(overloads) for name, overloads in _read(text).items()}


@cache
def all_overloads() -> dict[str, dict[str, Overload]]:
    """Every overload there may be, by function and id: what evaluation dispatches on."""
    merged: dict[str, dict[str, Overload]] = {}
    for wide in (False, True):
        for name, overloads in functions(lists=True, includes=True, masks=True, wide=wide).items():
            merged.setdefault(name, {}).update((overload.id, overload) for overload in overloads)
    return merged
