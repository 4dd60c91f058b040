"""Inputs that nobody wrote: each gives diagnostics, in bounded time, and never an exception."""

import codecs
import time

import pytest

from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.render import render_text
from dralang.diagnostics.source import SourceFile
from dralang.syntax.reading import MAX_SOURCE_BYTES, decode_source, parse

SECONDS = 10.0
# A quarter of what is accepted; the time is linear in the length.
LENGTH = MAX_SOURCE_BYTES // 4

REPEATED = {
    "lines of words": "a\n",
    "words on one line": "word ",
    "items": "pod a\n",
    "opening braces": "{",
    "opening brackets": "[",
    "opening parentheses": "(",
    "closing braces": "}",
    "crossed brackets": "([)]",
    "braces the wrong way round": "}{",
    "heads without end": 'scenario "x" {\n',
    "faulty scenarios": 'scenario "x" { create a b }\n',
    "backticks": "`",
    "lines of CEL without end": "  where `a\n",
    "quotes": '"',
    "single quotes": "'",
    "typographic quotes": "“",
    "escapes": '"\\q" ',
    "substitutions without end": "${x}${",
    "ranges full of substitutions without end": "a[${x}",
    "comments": "#",
    "block comments without end": "/*",
    "NUL": "\0",
    "carriage returns": "\r",
    "blanks": " ",
    "tabs": "\t",
    "emoji": "\U0001f600",
    "text that runs backwards": "\u202e",
    "terminal escapes": "\x1b[31m",
    "separators": ";",
    "commas": "a,",
    "colons": ":",
    "conjunctions": "expect a and ",
    "holes": "any ",
    "dots": "1..2 ",
    "names that end in a dash": "a-",
}


def timed(text: str) -> list[Diagnostic]:
    log = DiagnosticLog()
    started = time.process_time()
    parse(SourceFile("spec.dra", text), log)
    render_text(log.sorted(), color=True, width=100)
    assert time.process_time() - started < SECONDS
    return log.sorted()


@pytest.mark.parametrize("unit", REPEATED.values(), ids=REPEATED.keys())
def test_long_text_of_one_thing_is_read_in_time(unit: str):
    found = timed((unit * (LENGTH // len(unit) + 1))[:LENGTH])
    assert len(found) <= 110


@pytest.mark.parametrize("head", ['scenario "x" {\n', "slice s {\n"])
@pytest.mark.parametrize("line", ["create a\n", "create a b\n", "a: b\n", "a b\n"])
def test_one_item_of_many_lines_is_read_in_time(head: str, line: str):
    timed(head + line * (LENGTH // len(line)) + "}\n")


@pytest.mark.parametrize("bracket", ["{", "[", "(", "pod x {", "a: [{ b: "])
def test_ten_thousand_levels_are_refused(bracket: str):
    found = timed("pod p { x: " + bracket * 10_000)
    assert "DRA0104" in [item.code for item in found]


def test_nesting_inside_cel_and_strings_is_their_own():
    log = DiagnosticLog()
    parse(SourceFile("spec.dra", "class c { where `" + "(" * 10_000 + '` }\nuse "' + "{" * 10_000 + '"\n'), log)
    assert not log


def test_text_above_the_limit_is_refused_and_the_limit_named():
    log = DiagnosticLog()
    file = parse(SourceFile("large.dra", "a" * (MAX_SOURCE_BYTES + 1)), log)
    assert [item.code for item in log.sorted()] == ["DRA0105"]
    assert str(MAX_SOURCE_BYTES) in log.sorted()[0].message
    assert file.items == ()
    assert "large.dra" in render_text(log.sorted(), color=False, width=80)


def test_bytes_above_the_limit_are_refused_undecoded():
    log = DiagnosticLog()
    assert decode_source("large.dra", b"\xff" * 10_000_000, log) is None
    assert [item.code for item in log.sorted()] == ["DRA0105"]
    assert decode_source("manifest.yaml", b"a" * 3_000_000, log, max_bytes=4_000_000) is not None


NOT_TEXT = {
    "UTF-16 little endian": ("node a\n".encode("utf-16"), "this is UTF-16", 1, 1),
    "UTF-16 big endian": (codecs.BOM_UTF16_BE + "node a\n".encode("utf-16-be"), "this is UTF-16", 1, 1),
    "UTF-16 without its mark": ("node a\n".encode("utf-16-le"), "this is UTF-16", 1, 1),
    "UTF-32": ("node a\n".encode("utf-32"), "this is UTF-32", 1, 1),
    "Latin-1": ("node a\nnode w\xfc\n".encode("latin-1"), "byte 13 (0xFC) is not UTF-8", 2, 7),
    "UTF-8 with a mark and a bad byte": (codecs.BOM_UTF8 + b"node \xff", "byte 8 (0xFF)", 1, 6),
    "a cut character": ("node ä".encode()[:-1], "byte 5 (0xC3)", 1, 6),
    "an encoded surrogate": (b"node \xed\xa0\x80", "byte 5 (0xED)", 1, 6),
    "NUL": ("node ä\nnode \0b\n".encode(), "byte 13 is NUL", 2, 6),
    "only NULs": (b"\0" * 100, "byte 0 is NUL", 1, 1),
    "gzip": (b"\x1f\x8b\x08\x00\x00\x00", "byte 1 (0x8B) is not UTF-8", 1, 2),
}


@pytest.mark.parametrize(("data", "message", "line", "column"), NOT_TEXT.values(), ids=NOT_TEXT.keys())
def test_what_is_not_utf_8_is_refused_with_its_place(data: bytes, message: str, line: int, column: int):
    log = DiagnosticLog()
    assert decode_source("spec.dra", data, log) is None
    (found,) = log.sorted()
    assert found.code == "DRA0106"
    assert message in found.message
    assert found.span is not None
    assert found.span.position == (line, column)
    assert render_text([found], color=False, width=80)


@pytest.mark.parametrize("data", [b"node a\n", codecs.BOM_UTF8 + b"node a\n"], ids=["plain", "with a mark"])
def test_utf_8_is_decoded_without_its_mark(data: bytes):
    log = DiagnosticLog()
    source = decode_source("spec.dra", data, log)
    assert source is not None
    assert source.text == "node a\n"
    assert not log


def test_line_ends_may_be_lf_or_cr_lf():
    log = DiagnosticLog()
    file = parse(SourceFile("spec.dra", "node a\r\nnode b # c\r\npod p {\r\n  a: b\r\n}\r\n"), log)
    assert not log
    assert len(file.items) == 3
    assert [comment.text for comment in file.comments] == ["# c"]


def test_a_lone_carriage_return_is_reported_once():
    log = DiagnosticLog()
    parse(SourceFile("spec.dra", "node a\rnode b\r"), log)
    assert [item.code for item in log.sorted()] == ["DRA0101"]
