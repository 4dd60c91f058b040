"""JSON text to the events that a reader of YAML has for it.

Most of JSON is YAML, and what is not stands in real files: objects one after the other (`jq -c '.items[]'`), characters
beyond U+FFFF as two escapes (Python's ``json.dumps``). The Kubernetes tools read JSON as JSON, too.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

_SPACE: Final = " \t\r\n"
# Only for a text that is known to be JSON: whatever is neither bracket nor begin of a text is a number or a word.
_TOKEN: Final = re.compile(r'["{}\[\]]|[^\s{}\[\],:"]+')
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PLAIN: Final = (True, False)
_QUOTED: Final = (False, True)


def _refuse(word: str) -> None:
    """Python takes NaN and Infinity for numbers, JSON has none."""
    raise ValueError(word)


_DECODER: Final = json.JSONDecoder(parse_constant=_refuse)


class _Mark:
    """Where an event is; of libyaml's marks, the reader uses the index alone."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


def json_events(text: str) -> Iterator[Any] | None:
    """The events of all values of a text; None if it does not begin with an object, or is no JSON."""
    return _events(text) if text.lstrip(_SPACE).startswith("{") and _is_json(text) else None


def _is_json(text: str) -> bool:
    at, end = 0, len(text)
    try:
        while at < end:
            if text[at] in _SPACE:
                at += 1
                continue
            _, at = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return False
    return True


def _events(text: str) -> Iterator[Any]:
    at = 0
    while (found := _TOKEN.search(text, at)) is not None:
        token = found[0]
        value, at = _DECODER.raw_decode(text, found.start()) if token == '"' else (None, found.end())
        # Typed as libyaml's marks, of which they are no subclass: the reader asks for nothing but the index.
        start: Any = _Mark(found.start())
        end: Any = _Mark(at)
        if value is not None:
            # Half a character is none, and becomes what Go makes of it.
            yield yaml.ScalarEvent(None, None, _QUOTED, _LONE_SURROGATE.sub("\ufffd", value), start, end)
        elif token == "{":
            yield yaml.MappingStartEvent(None, None, implicit=True, start_mark=start, end_mark=end)
        elif token == "}":
            yield yaml.MappingEndEvent(start, end)
        elif token == "[":
            yield yaml.SequenceStartEvent(None, None, implicit=True, start_mark=start, end_mark=end)
        elif token == "]":
            yield yaml.SequenceEndEvent(start, end)
        else:
            yield yaml.ScalarEvent(None, None, _PLAIN, token, start, end)
