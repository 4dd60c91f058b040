"""Every regular expression of the package ends on every Python that the package supports."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

import dralang

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(dralang.__path__, "dralang.")
    if not module.name.endswith(("__main__", "fuzz.dask"))
)


def patterns(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The compiled patterns that a module keeps."""
    for name, value in vars(module).items():
        if isinstance(value, re.Pattern):
            yield name, value


def possessive_groups(tree: object) -> Iterator[object]:
    """The possessive repetitions, in what `re` has parsed, of more than a single character."""
    if isinstance(tree, tuple | list) or type(tree).__name__ == "SubPattern":
        parts = list(tree)  # type: ignore[call-overload]  # a sequence without being one of typing's
        if parts and str(parts[0]) == "POSSESSIVE_REPEAT":
            repeated = list(parts[1][2])
            if len(repeated) != 1 or str(repeated[0][0]) not in {"IN", "LITERAL", "NOT_LITERAL", "ANY"}:
                yield repeated
        for part in parts:
            yield from possessive_groups(part)


def parsed(pattern: str | bytes, flags: int = 0) -> object:
    parser = importlib.import_module("re._parser")
    return parser.parse(pattern, flags & ~re.UNICODE if isinstance(pattern, bytes) else flags)


def test_no_pattern_repeats_a_group_possessively() -> None:
    # Before Python 3.11.5 such a repetition may match nothing for ever, until the memory is full.
    found = [
        f"{name}.{variable}"
        for name in MODULES
        for variable, pattern in patterns(importlib.import_module(name))
        if list(possessive_groups(parsed(pattern.pattern, pattern.flags)))
    ]
    assert found == []


@pytest.mark.parametrize("pattern", ["(?:a|bc)*+", "x(?:[ab]c?)++", "(?:(?:a|bc){0,3}+c)*", "(?=(?:ab)?+)"])
def test_the_check_sees_them(pattern: str) -> None:
    assert list(possessive_groups(parsed(pattern)))


@pytest.mark.parametrize("pattern", ["[ab]*+", "(?:[^{#]++|#[^\\n]*+)*", ".?+", "a{2,3}+"])
def test_single_characters_are_no_groups(pattern: str) -> None:
    assert not list(possessive_groups(parsed(pattern)))
