"""Semantic versions, strict as the API checks them and lenient as CEL's ``semver(text, true)`` reads them.

Source: semver.org 2.0.0 as read by github.com/blang/semver/v4.
"""

import re
from typing import TypeAlias

from msgspec import Struct

_MAX_UINT64 = (1 << 64) - 1
_DIGITS = re.compile(r"[0-9]+", re.ASCII)
_WORD = re.compile(r"[0-9A-Za-z-]+", re.ASCII)

Identifier: TypeAlias = "int | str"
_Key: TypeAlias = tuple[int, int, int, int, tuple[tuple[int, int, str], ...]]


class SemVer(Struct, frozen=True, eq=False):
    """A version; ordered by precedence, so build metadata does not count."""

    major: int
    minor: int
    patch: int
    pre: tuple[Identifier, ...] = ()
    build: tuple[str, ...] = ()

    def _key(self) -> _Key:
        identifiers = tuple((0, part, "") if isinstance(part, int) else (1, 0, part) for part in self.pre)
        return self.major, self.minor, self.patch, 0 if self.pre else 1, identifiers

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, SemVer) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return self._key() != other._key() if isinstance(other, SemVer) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __lt__(self, other: "SemVer") -> bool:
        return self._key() < other._key()

    def __le__(self, other: "SemVer") -> bool:
        return self._key() <= other._key()

    def __gt__(self, other: "SemVer") -> bool:
        return self._key() > other._key()

    def __ge__(self, other: "SemVer") -> bool:
        return self._key() >= other._key()

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}"
        if self.pre:
            text += "-" + ".".join(map(str, self.pre))
        return text + ("+" + ".".join(self.build) if self.build else "")


def parse_semver(text: str) -> SemVer:
    """Read a version, strictly.

    Raises:
        ValueError: not a version; the message is the one of the Go library.
    """
    if not text:
        raise ValueError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise ValueError("No Major.Minor.Patch elements found")
    major = _number(parts[0], "major")
    minor = _number(parts[1], "minor")
    rest, has_build, build = parts[2].partition("+")
    patch_text, has_pre, pre = rest.partition("-")
    patch = _number(patch_text, "patch")
    identifiers = tuple(_identifier(part) for part in pre.split(".")) if has_pre else ()
    words = tuple(_build_word(part) for part in build.split(".")) if has_build else ()
    return SemVer(major, minor, patch, identifiers, words)


def parse_semver_leniently(text: str) -> SemVer:
    """Read a version that may start with ``v``, lack parts or have leading zeros.

    Raises:
        ValueError: not a version even so.
    """
    parts = text.removeprefix("v").split(".", 2)
    parts = [_without_leading_zeros(part) if len(part) > 1 else part for part in parts]
    if len(parts) < 3 and ("+" in parts[-1] or "-" in parts[-1]):
        raise ValueError("short version cannot contain PreRelease/Build meta data")
    return parse_semver(".".join([*parts, "0", "0"][:3]))


def _without_leading_zeros(part: str) -> str:
    stripped = part.lstrip("0")
    return stripped if stripped[:1] and stripped[0] in "0123456789" else "0" + stripped


def _number(text: str, what: str) -> int:
    if not _DIGITS.fullmatch(text) and text:
        raise ValueError(f"Invalid character(s) found in {what} number {_quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise ValueError(f"{what.capitalize()} number must not contain leading zeroes {_quoted(text)}")
    return _unsigned(text)


def _unsigned(text: str) -> int:
    if not text:
        raise ValueError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _MAX_UINT64:
        raise ValueError(f"strconv.ParseUint: parsing {_quoted(text)}: value out of range")
    return int(text)


def _identifier(text: str) -> Identifier:
    if not text:
        raise ValueError("Prerelease is empty")
    if _DIGITS.fullmatch(text):
        if len(text) > 1 and text[0] == "0":
            raise ValueError(f"Numeric PreRelease version must not contain leading zeroes {_quoted(text)}")
        return _unsigned(text)
    if not _WORD.fullmatch(text):
        raise ValueError(f"Invalid character(s) found in prerelease {_quoted(text)}")
    return text


def _build_word(text: str) -> str:
    if not text:
        raise ValueError("Build meta data is empty")
    if not _WORD.fullmatch(text):
        raise ValueError(f"Invalid character(s) found in build meta data {_quoted(text)}")
    return text


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
