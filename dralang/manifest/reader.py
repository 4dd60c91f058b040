"""YAML text (JSON included) to located values.

libyaml cuts the text into events; the tree is built here with a stack of our own, so that depth, size and aliases are
bounded whatever the input. Plain scalars mean what the Kubernetes tools take them for: YAML 1.1 as go-yaml v2 reads it
(``yes`` and ``on`` are true, ``017`` is octal, times stay text), not as PyYAML does.
"""

import base64
import math
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml
from msgspec import Struct, field

from dralang.api.located import Located
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog, Related
from dralang.diagnostics.source import SourceFile, Span
from dralang.manifest.json_text import json_events
from dralang.values.json_number import json_number

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_DEPTH: Final = 100
MAX_VALUES: Final = 4_000_000
MAX_ALIASED: Final = 200_000

_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE: Final = frozenset({"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})
_FALSE: Final = frozenset({"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})
_INTEGER: Final = re.compile(r"[-+]?(0[xX][0-9a-fA-F_]+|0[oO]?[0-7_]+|0[bB][01_]+|[0-9][0-9_]*)\Z")
_FLOAT: Final = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_PREFIX: Final = "tag:yaml.org,2002:"


class _RefusedError(Exception):
    """The text is refused as a whole; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class _Frame(Struct):
    """A collection that is being read."""

    span_start: int
    anchor: str | None
    items: list[Located] | None
    entries: dict[str, Located] | None
    key: str | None = None
    key_span: Span | None = None
    merges: bool = False
    merged: set[str] = field(default_factory=set)
    size: int = 1


def read_documents(source: SourceFile, log: DiagnosticLog) -> list[Located]:
    """All documents of a text that hold something; empty if the text is refused.

    Diagnostics: DRA0401 not YAML, DRA0402 duplicate key, DRA0403 too large, too deep or too many aliases, DRA0404 key
    that is no text.
    """
    if len(source.text) > MAX_BYTES:
        log.add(
            Diagnostic(
                code="DRA0403",
                message=f"this file has {len(source.text):,} characters; the limit is {MAX_BYTES:,}",
                span=Span(source, 0, 0),
                help="split the file, or leave out what the scenario does not need",
            )
        )
        return []
    reader = _Reader(source, log)
    try:
        return reader.read()
    except _RefusedError as refused:
        log.add(refused.diagnostic)
    except yaml.MarkedYAMLError as error:
        log.add(_not_yaml(source, error))
    except yaml.YAMLError as error:
        log.add(
            Diagnostic(code="DRA0401", message=f"this is not YAML: {_one_line(str(error))}", span=Span(source, 0, 0))
        )
    return []


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _not_yaml(source: SourceFile, error: yaml.MarkedYAMLError) -> Diagnostic:
    mark = error.problem_mark or error.context_mark
    at = 0 if mark is None else min(mark.index, len(source.text))
    what = _one_line(f"{error.problem or error.context}")
    if "{{" in source.text:
        way_out = "this looks like a template (`{{`); render it first, e.g. `helm template ... > rendered.yaml`"
    else:
        way_out = "check the indentation and the quotes near this place"
    return Diagnostic(
        code="DRA0401",
        message=f"this is not YAML: {what}",
        span=Span(source, at, min(at + 1, len(source.text))),
        help=way_out,
    )


class _Reader:
    """One run over one text; private to this module."""

    def __init__(self, source: SourceFile, log: DiagnosticLog) -> None:
        self.source = source
        self.log = log
        self.frames: list[_Frame] = []
        self.anchors: dict[str, tuple[Located, int]] = {}
        self.documents: list[Located] = []
        self.values = 0

    def read(self) -> list[Located]:
        for event in self._events():
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._open(event, _Frame(event.start_mark.index, event.anchor, None, {}))
            elif kind is yaml.SequenceStartEvent:
                self._open(event, _Frame(event.start_mark.index, event.anchor, [], None))
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._close(event)
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                self.anchors = {}
        return [document for document in self.documents if document.value is not None]

    def _events(self) -> Iterator[Any]:
        events = json_events(self.source.text)
        return iter(yaml.parse(self.source.text, Loader=yaml.CSafeLoader)) if events is None else events

    def _span(self, event: Any) -> Span:
        return Span(self.source, event.start_mark.index, event.end_mark.index)

    def _refuse(self, event: Any, message: str, way_out: str = "") -> _RefusedError:
        return _RefusedError(Diagnostic(code="DRA0403", message=message, span=self._span(event), help=way_out))

    def _open(self, event: Any, frame: _Frame) -> None:
        if len(self.frames) >= MAX_DEPTH:
            raise self._refuse(event, f"nested more than {MAX_DEPTH} levels deep")
        if self.frames and self.frames[-1].entries is not None and self.frames[-1].key is None:
            raise _RefusedError(Diagnostic(code="DRA0404", message="a key must be a text", span=self._span(event)))
        self.frames.append(frame)

    def _close(self, event: Any) -> None:
        frame = self.frames.pop()
        # A block collection ends where the next thing starts; its text ends before the white space in between.
        end = event.end_mark.index
        text = self.source.text
        while end > frame.span_start and text[end - 1] in " \t\r\n":
            end -= 1
        span = Span(self.source, frame.span_start, end)
        value: Any = frame.entries if frame.items is None else tuple(frame.items)
        self._take(Located(value, span), frame.anchor, frame.size)

    def _scalar(self, event: Any) -> None:
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.entries is not None and frame.key is None:
            self._key(frame, event)
            return
        value = event.value
        if event.tag is not None:
            value = self._resolve(event)
        elif event.implicit[0]:
            value = plain_scalar(value)
        if type(value) is float:
            value = json_number(value)
        self._take(Located(value, self._span(event)), event.anchor, 1)

    def _key(self, frame: _Frame, event: Any) -> None:
        value = event.value
        if event.implicit[0]:
            value = plain_scalar(value)
        self._named(frame, value, self._span(event))
        if value == "<<":
            frame.merges = event.implicit[0] or event.tag == f"{_PREFIX}merge"
        if event.anchor is not None:
            self.anchors[event.anchor] = (Located(value, self._span(event)), 1)

    def _named(self, frame: _Frame, value: Any, span: Span) -> None:
        """Take a value as the key of what comes next."""
        key = value if type(value) is str else _key_text(value)
        if key is None:
            what = "null" if value is None else "a map or a list"
            raise _RefusedError(Diagnostic(code="DRA0404", message=f"a key must be a text, not {what}", span=span))
        assert frame.entries is not None
        first = frame.entries.get(key)
        if first is not None and key not in frame.merged:
            related = () if first.key_span is None else (Related("first given here", first.key_span),)
            self.log.add(
                Diagnostic(
                    code="DRA0402",
                    message=f"key `{key}` is given twice",
                    span=span,
                    related=related,
                    help="keep one of them",
                )
            )
        frame.key = key
        frame.key_span = span

    def _alias(self, event: Any) -> None:
        found = self.anchors.get(event.anchor)
        if found is None:
            raise _RefusedError(
                Diagnostic(
                    code="DRA0401",
                    message=f"alias `*{event.anchor}` stands inside its own anchor or before it",
                    span=self._span(event),
                )
            )
        located, size = found
        if size > MAX_ALIASED:
            raise self._refuse(
                event, f"aliases multiply this document beyond {MAX_ALIASED:,} values", "write the values out"
            )
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.entries is not None and frame.key is None:
            self._named(frame, located.value, self._span(event))
            return
        if frame is not None and frame.merges and not isinstance(located.value, dict):
            raise _no_merge(self._span(event))
        self._take(located, None, size)

    def _take(self, located: Located, anchor: str | None, size: int) -> None:
        """Put a finished value where it belongs."""
        self.values += 1
        if self.values > MAX_VALUES:
            raise _RefusedError(
                Diagnostic(code="DRA0403", message=f"more than {MAX_VALUES:,} values", span=located.span)
            )
        if anchor is not None:
            self.anchors[anchor] = (located, size)
        if not self.frames:
            self.documents.append(located)
            return
        frame = self.frames[-1]
        frame.size += size
        if frame.size > MAX_VALUES:
            raise _RefusedError(
                Diagnostic(
                    code="DRA0403",
                    message=f"aliases multiply this document beyond {MAX_VALUES:,} values",
                    span=located.span,
                )
            )
        if frame.items is not None:
            frame.items.append(located)
            return
        assert frame.entries is not None
        assert frame.key is not None
        if frame.merges:
            frame.merges = False
            self._merge(frame, located)
        else:
            frame.entries[frame.key] = Located(located.value, located.span, frame.key_span)
            if frame.merged:
                frame.merged.discard(frame.key)
        frame.key = None

    def _merge(self, frame: _Frame, located: Located) -> None:
        """Put in what `<<` brings: over all that stands before it, of several maps the first over the others.

        Source: go.yaml.in/yaml/v2 decode.go merge.
        """
        assert frame.entries is not None
        for each in reversed(located.value if isinstance(located.value, tuple) else (located,)):
            if not isinstance(each.value, dict):
                raise _no_merge(each.span)
            frame.entries.update(each.value)
            frame.merged.update(each.value)

    def _resolve(self, event: Any) -> bool | int | float | str | None:
        text: str = event.value
        tag = event.tag
        if tag is not None and tag != "!":
            name = tag.removeprefix(_PREFIX)
            if name == "str":
                return text
            if name == "binary":
                return self._decoded(event)
            if name not in ("int", "float", "bool", "null"):
                raise _RefusedError(
                    Diagnostic(code="DRA0401", message=f"tag `{tag}` has no meaning here", span=self._span(event))
                )
        elif tag == "!":
            return text
        return plain_scalar(text)

    def _decoded(self, event: Any) -> str:
        try:
            return base64.b64decode("".join(event.value.split()), validate=True).decode("utf-8")
        except ValueError:
            message = "this is no text in base64"
            raise _RefusedError(Diagnostic(code="DRA0401", message=message, span=self._span(event))) from None


def _no_merge(span: Span) -> _RefusedError:
    return _RefusedError(Diagnostic(code="DRA0401", message="`<<` takes a map, or a list of maps", span=span))


def _key_text(value: Any) -> str | None:
    """A key as the Kubernetes tools turn it into one of JSON; None where they refuse it.

    Source: sigs.k8s.io/yaml convertToJSONableObject.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # Go writes the fewest digits, and an exponent where Python does for up to six of them.
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value) if isinstance(value, int) else None


def plain_scalar(text: str) -> bool | int | float | str | None:
    """What an unquoted scalar is."""
    if text in _NULLS:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    first = text[0]
    if first.isdigit() or first in "+-.":
        if len(text) <= 200 and _INTEGER.match(text):
            return _integer(text)
        if len(text) <= 400 and _FLOAT.match(text):
            number = float(text)
            return text if math.isinf(number) else number
        if text.lower() in (".inf", "+.inf", "-.inf", ".nan"):
            return float(text.lower().replace(".", ""))
    return text


def _integer(text: str) -> int | float | str:
    digits = text.replace("_", "")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-").lower()
    try:
        if digits.startswith(("0x", "0b", "0o")):
            return sign * int(digits, 0)
        if len(digits) > 1 and digits.startswith("0"):
            return sign * int(digits, 8)
        return sign * int(digits)
    except ValueError:
        # `08` is no octal number; go-yaml takes it for a float.
        return float(sign) * float(digits) if digits.isdigit() else text
