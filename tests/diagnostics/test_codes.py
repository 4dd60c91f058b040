"""The registry of codes agrees with the code: nothing missing, nothing idle, every example true."""

import re
from pathlib import Path

import pytest

from dralang.diagnostics.codes import CODES
from dralang.diagnostics.codes_syntax import SYNTAX_CODES
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.syntax.reading import decode_source, parse

PACKAGE = Path(__file__).resolve().parent.parent.parent / "dralang"
REGISTRY = set(PACKAGE.glob("diagnostics/codes*.py"))
USED = sorted(
    {
        code
        for path in sorted(PACKAGE.rglob("*.py"))
        if path not in REGISTRY
        for code in re.findall(r"\bDRA\d{4}\b", path.read_text(encoding="utf-8"))
    }
)
# Codes of files, whose examples are commands that make such a file; here are the bytes.
FILES = {"DRA0105": b"node worker\n" * 250_000, "DRA0106": b"node w\xfcrfel\n"}


def test_every_code_in_use_is_in_the_registry():
    assert USED
    assert [code for code in USED if code not in CODES] == []


def test_every_code_of_the_registry_is_in_use():
    assert [code for code in CODES if code not in USED] == []


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_explained(code: str):
    entry = CODES[code]
    assert re.fullmatch(r"DRA\d{4}", code)
    assert entry.title
    assert entry.title[0].islower() or entry.title[0] in "`" or entry.title.split()[0].isupper()
    assert not entry.title.endswith(".")
    assert len(entry.explanation) > 30
    assert entry.explanation.endswith(".")
    assert entry.example == "" or entry.example.endswith("\n")


@pytest.mark.parametrize("code", [code for code in SYNTAX_CODES if code not in FILES])
def test_the_example_of_a_syntax_code_provokes_it_and_nothing_worse(code: str):
    log = DiagnosticLog()
    parse(SourceFile("spec.dra", SYNTAX_CODES[code].example), log)
    found = {item.code for item in log.sorted()}
    assert code in found
    assert found <= {code, "DRA0101"}


@pytest.mark.parametrize("code", FILES)
def test_the_bytes_of_a_file_code_provoke_it(code: str):
    log = DiagnosticLog()
    assert decode_source("spec.dra", FILES[code], log) is None
    assert [item.code for item in log.sorted()] == [code]
    assert code in SYNTAX_CODES[code].example
