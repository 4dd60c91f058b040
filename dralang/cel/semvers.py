"""Semantic versions in expressions.

Source: k8s.io/apiserver pkg/cel/library/semverlib.go.
"""

from collections.abc import Callable
from typing import Final

from dralang.cel.values import MAX_INT, CelError, Semver, Value
from dralang.values.semver import parse_semver, parse_semver_leniently


def to_semver(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002 - an argument of the CEL function
    """``semver(text, normalize)``."""
    try:
        return Semver(parse_semver_leniently(text) if normalize else parse_semver(text))
    except ValueError as problem:
        raise CelError(str(problem)) from None


def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002 - see to_semver
    try:
        to_semver(text, normalize)
    except CelError:
        return False
    return True


def _signed(value: int) -> int:
    """The number as a signed 64-bit integer, which is what Go's conversion makes of it."""
    return value - (1 << 64) if value > MAX_INT else value


SEMVERS: Final[dict[str, Callable[..., Value]]] = {
    "string_to_semver": to_semver,
    "string_bool_to_semver": to_semver,
    "is_semver_string": _is_semver,
    "is_semver_string_bool": _is_semver,
    "semver_major": lambda value: _signed(value.version.major),
    "semver_minor": lambda value: _signed(value.version.minor),
    "semver_patch": lambda value: _signed(value.version.patch),
    "semver_is_greater_than": lambda one, two: one.key > two.key,
    "semver_is_less_than": lambda one, two: one.key < two.key,
    "semver_compare_to": lambda one, two: (one.key > two.key) - (one.key < two.key),
}
