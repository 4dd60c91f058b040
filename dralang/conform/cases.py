"""Cases, and the files that hold them: one JSON object a line, compressed or not."""

import gzip
import io
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Final, NoReturn, TypeAlias, cast

from msgspec import Struct

from dralang.conform.shapes import SHAPES, Kind, shape_problem
from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.features import VERSIONS
from dralang.spelling import nearest

Json: TypeAlias = Any

MAX_FILE_BYTES: Final = 1024 * 1024 * 1024
"""Read of one file, decompressed; more is no collection of cases but a bomb."""
MAX_LINE_BYTES: Final = 32 * 1024 * 1024
MAX_BAD_LINES: Final = 20
"""Lines of one file that may be wrong before the rest of it is left alone."""
_SHOWN: Final = 200
SUFFIXES: Final = (".jsonl", ".jsonl.gz")


class Case(Struct, frozen=True):
    """A recorded case.

    Attributes:
        kind: which part of Kubernetes was asked.
        id: its name.
        data: all of it, as JSON.
        file: the file that holds it.
        line: where in it, from 1.
    """

    kind: Kind
    id: str
    data: Mapping[str, Json]
    file: str
    line: int

    @property
    def kubernetes(self) -> str:
        """The version that answered."""
        version: str = self.data["kubernetes"]
        return version

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"

    def wanted(self, version: str) -> Json:
        """What was recorded for a version; None if that version was not asked."""
        by_version = self.data.get("wantByVersion", {})
        if version in by_version:
            return by_version[version]
        return self.data.get("want") if version in (self.data.get("versions") or (self.kubernetes,)) else None

    def problem(self, message: str) -> Diagnostic:
        """A diagnostic about this case."""
        shown = f"{self.kind} case {self.id}"
        span = _span(self.file, self.line, shown, 0, len(shown))
        return Diagnostic(code="DRA0703", message=message, span=span)


def find_case_files(path: Path) -> tuple[Path, ...]:
    """The files of cases in a folder, by name; a file itself."""
    if not path.is_dir():
        return (path,)
    return tuple(sorted(entry for entry in path.iterdir() if entry.name.endswith(SUFFIXES) and entry.is_file()))


def read_cases(path: Path, name: str, log: DiagnosticLog) -> Iterator[Case]:
    """The cases of a file, one after the other, so that large files need no room.

    Diagnostics: DRA0701 the file cannot be read, DRA0702 a line is no case.
    """
    try:
        with gzip.open(path) if name.endswith(".gz") else path.open("rb") as file:
            yield from read_lines(cast("IO[bytes]", file), name, log)
    except OSError as error:
        reason = (error.strerror or str(error) or "it cannot be read").lower()
        log.add(Diagnostic(code="DRA0701", message=f"cannot read `{name}`: {reason}"))
    except (EOFError, zlib.error) as error:
        log.add(Diagnostic(code="DRA0701", message=f"cannot read `{name}`: {str(error).lower()}"))


def read_bytes(data: bytes, name: str, log: DiagnosticLog) -> Iterator[Case]:
    """The cases of a text that is already here."""
    return read_lines(io.BytesIO(data), name, log)


def read_lines(file: IO[bytes], name: str, log: DiagnosticLog) -> Iterator[Case]:
    """The cases of an open file."""
    total = number = bad = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        total += len(line)
        if total > MAX_FILE_BYTES:
            log.add(Diagnostic(code="DRA0701", message=f"`{name}` is larger than {MAX_FILE_BYTES:,} bytes"))
            return
        if len(line) > MAX_LINE_BYTES:
            log.add(
                Diagnostic(code="DRA0701", message=f"line {number} of `{name}` is longer than {MAX_LINE_BYTES:,} bytes")
            )
            return
        if not line.strip():
            continue
        case = _case(line, name, number)
        if isinstance(case, Case):
            yield case
            continue
        log.add(case)
        bad += 1
        if bad == MAX_BAD_LINES:
            message = f"{bad} lines of `{name}` are no cases; the rest of the file is left alone"
            log.add(Diagnostic(code="DRA0701", message=message, help="each line of the file is one JSON object"))
            return


def _case(line: bytes, name: str, number: int) -> Case | Diagnostic:
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        shown = line.decode("utf-8", "backslashreplace")
        before = len(line[: error.start].decode("utf-8"))
        return _bad_line("this line is not UTF-8", _span(name, number, shown, before, before + 4))
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        reason = f"this line is no JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        return _bad_line(reason, _span(name, number, text, error.pos, error.pos + 1))
    except ValueError as error:
        return _bad_line(f"this line is no JSON: {error}", _span(name, number, text, 0, _SHOWN))
    except RecursionError:
        return _bad_line("this line is nested too deeply", _span(name, number, text, 0, _SHOWN))
    if _has_half_characters(line, data):
        return _bad_line("a text holds half of a surrogate pair", _span(name, number, text, 0, _SHOWN))
    problem = _problem(data)
    if problem is not None:
        message, way_out = problem
        return _bad_line(message, _span(name, number, text, 0, _SHOWN), way_out)
    return Case(data["kind"], data["id"], data, name, number)


def _has_half_characters(line: bytes, data: Json) -> bool:
    """Whether a text is none that could be written: JSON can escape one half of a pair of surrogates."""
    if b"\\ud" not in line and b"\\uD" not in line:
        return False
    try:
        json.dumps(data, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def _problem(data: Json) -> tuple[str, str] | None:
    """What keeps a JSON value from being a case, and the way out."""
    if not isinstance(data, dict):
        return "a case is a JSON object", ""
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in SHAPES:
        near = nearest(kind, SHAPES) if isinstance(kind, str) else None
        way_out = f"did you mean `{near}`?" if near else f"there are {', '.join(f'`{known}`' for known in SHAPES)}"
        return (f"there is no kind of case `{kind}`" if isinstance(kind, str) else "a case has a `kind`"), way_out
    wrong = shape_problem(kind, data)
    if wrong:
        return f"this is no {kind} case: {wrong}", ""
    if data["kubernetes"] not in VERSIONS:
        way_out = f"there are {', '.join(VERSIONS)}"
        return f"`{data['kubernetes']}` is no Kubernetes version that is modelled", way_out
    return None


def _refuse_constant(text: str) -> NoReturn:
    raise ValueError(f"`{text}` is no number")


def _bad_line(message: str, span: Span, way_out: str = "") -> Diagnostic:
    return Diagnostic(code="DRA0702", message=message, span=span, help=way_out)


def _span(name: str, number: int, line: str, start: int, end: int) -> Span:
    """A place in a line of a file of which only what is to be shown of that line is kept."""
    shown = line.rstrip("\r\n")[: start + _SHOWN]
    # Empty lines before it give it its number.
    before = number - 1
    start, end = min(start, len(shown)), min(end, len(shown))
    return Span(SourceFile(name, "\n" * before + shown), before + start, before + max(start, end))
