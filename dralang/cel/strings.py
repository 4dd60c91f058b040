"""The string library and regular expressions.

Source: cel-go ext/strings.go (version 2); k8s.io/apiserver pkg/cel/library/regex.go.
"""

import re
from functools import lru_cache
from typing import Any

import re2

from dralang.cel.gotext import ESCAPES
from dralang.cel.operators import key_text
from dralang.cel.values import CelError, Value, refuse_if_huge

_CHECKED = 1_000_000
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False
# Quoted stretches and escapes, of which one is not wanted.
_ANY_BYTE = re.compile(r"\\Q.*?(?:\\E|$)|\\.", re.DOTALL)
_SPACES = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def char_at(text: str, at: int) -> str:
    """``text.charAt(at)``; the place after the end gives nothing."""
    if not 0 <= at <= len(text):
        raise CelError(f"index out of range: {at}")
    return text[at : at + 1]


def index_of(text: str, part: str, start: int = 0) -> int:
    """``text.indexOf(part, start)``."""
    if start < 0:
        raise CelError(f"index out of range: {start}")
    if not part:
        return min(start, len(text))
    return text.find(part, start)


def last_index_of(text: str, part: str, start: int | None = None) -> int:
    """``text.lastIndexOf(part, start)``."""
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise CelError(f"index out of range: {start}")
    if not part:
        return min(start, len(text))
    if start >= len(text):
        return -1
    return text.rfind(part, 0, start + len(part))


def lower_ascii(text: str) -> str:
    """``text.lowerAscii()``."""
    return text.lower() if text.isascii() else text.translate(_LOWER)


def upper_ascii(text: str) -> str:
    """``text.upperAscii()``."""
    return text.upper() if text.isascii() else text.translate(_UPPER)


def replace(text: str, old: str, new: str, count: int = -1) -> str:
    """``text.replace(old, new, count)``."""
    if len(new) > len(old) and len(text) * len(new) > _CHECKED:
        found = text.count(old)
        refuse_if_huge(len(text) + (found if count < 0 else min(found, count)) * (len(new) - len(old)))
    return text.replace(old, new, max(count, -1))


def split(text: str, separator: str, limit: int = -1) -> tuple[str, ...]:
    """``text.split(separator, limit)``; an empty separator splits into characters."""
    if limit == 0:
        return ()
    if limit < 0:
        return tuple(text.split(separator)) if separator else tuple(text)
    if separator:
        return tuple(text.split(separator, limit - 1))
    if limit >= len(text):
        return tuple(text)
    return (*text[: limit - 1], text[limit - 1 :])


def substring(text: str, start: int, end: int | None = None) -> str:
    """``text.substring(start, end)``."""
    if end is not None and start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        raise CelError(f"index out of range: {start}")
    if end is None:
        return text[start:]
    if not 0 <= end <= len(text):
        raise CelError(f"index out of range: {end}")
    return text[start:end]


def trim(text: str) -> str:
    """``text.trim()``."""
    return text.strip(_SPACES)


def join(parts: tuple[Value, ...], separator: str = "") -> str:
    """``parts.join(separator)``."""
    for part in parts:
        if type(part) is not str:
            raise CelError(f"join: invalid input: {key_text(part)}")
    refuse_if_huge(sum(map(len, parts)) + len(parts) * len(separator))
    return separator.join(parts)


_QUOTED = str.maketrans(ESCAPES)


def quote(text: str) -> str:
    """``strings.quote(text)``."""
    return '"' + text.translate(_QUOTED) + '"'


@lru_cache(maxsize=4096)
def compile_regex(pattern: str) -> Any:
    """The pattern as RE2 has it, silent about errors.

    Raises:
        ValueError: not a pattern; with the reason.
    """
    for match in _ANY_BYTE.finditer(pattern):
        if match[0] == "\\C":
            # RE2 has it, Go's package does not.
            raise ValueError("invalid escape sequence: \\C")
    try:
        return re2.compile(pattern, _OPTIONS)
    except re2.error as problem:
        reason = problem.args[0] if problem.args else ""
        raise ValueError(reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)) from None
    except UnicodeError:
        raise ValueError("invalid UTF-8") from None


def regex_error(pattern: str, reason: str) -> str:
    """The message that Go's regexp package has for a bad pattern."""
    kind, _, detail = reason.partition(": ")
    known = {
        "missing ]": "missing closing ]",
        "missing )": "missing closing )",
        "unexpected )": "unexpected )",
        "no argument for repetition operator": "missing argument to repetition operator",
        "bad repetition operator": "invalid nested repetition operator",
        "invalid repetition size": "invalid repeat count",
        "trailing \\": "trailing backslash at end of expression",
        "invalid escape sequence": "invalid escape sequence",
        "invalid character class range": "invalid character class range",
        "invalid named capture group": "invalid named capture",
        "invalid perl operator": "invalid or unsupported Perl syntax",
    }
    if kind in {"missing )", "unexpected )"}:
        detail = pattern
    if kind.startswith("trailing"):
        detail = ""
    return f"error parsing regexp: {known.get(kind, kind)}: `{detail}`"


def matches(text: str, pattern: str) -> bool:
    """``text.matches(pattern)``: anywhere in the text."""
    try:
        regex = compile_regex(pattern)
    except ValueError as problem:
        raise CelError(regex_error(pattern, str(problem))) from None
    return regex.search(text) is not None


def _for_find(pattern: str) -> Any:
    try:
        return compile_regex(pattern)
    except ValueError as problem:
        raise CelError(f"Illegal regex: {regex_error(pattern, str(problem))}") from None


def find(text: str, pattern: str) -> str:
    """``text.find(pattern)``: the first match or nothing."""
    match = _for_find(pattern).search(text)
    return "" if match is None else str(match[0])


def find_all(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    """``text.findAll(pattern, limit)``."""
    regex = _for_find(pattern)
    if limit == 0:
        return ()
    found: list[str] = []
    end = -1
    for match in regex.finditer(text):
        # Go drops an empty match right after another match.
        if match.end() == match.start() == end:
            continue
        end = match.end()
        found.append(match[0])
        if 0 <= limit <= len(found):
            break
    return tuple(found)
