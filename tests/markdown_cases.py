"""Language tests in Markdown: a heading is a test, its `dra` blocks are files, comments name their diagnostics.

    # error: [DRA0115] "`:` is missing"
    # warning: [DRA0203] "never used" # error: [DRA0201]

Such a comment stands at the end of the line on which the diagnostic begins; the text (optional) is part of its message,
label or help. Missing and surplus diagnostics both fail. After the `dra` block there may be a `snapshot` block with the
whole rendering and a `tree` block with the items of the tree, both written by `pytest --update-golden`.
"""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from dralang.diagnostics.diagnostic import Diagnostic, DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.syntax.nodes import File

# Reads (and checks) one text, adds what is wrong to the log and returns the tree.
Checker = Callable[[SourceFile, DiagnosticLog], File]

_HEADING = re.compile(r"(#{1,6}) +(.+?) *$")
_FENCE = re.compile(r"```(\w*)$")
_EXPECTED = re.compile(r'# (error|warning|note): \[(DRA\d{4})\](?: "([^"]*)")?')


class Block(NamedTuple):
    """A fenced block: its language, the number of its first line of content (from 0) and the content."""

    language: str
    first_line: int
    text: str


class Case(NamedTuple):
    """A test: the headings above it and its blocks."""

    name: str
    path: Path
    blocks: tuple[Block, ...]


class Expectation(NamedTuple):
    """A comment that asks for a diagnostic."""

    line: int
    severity: str
    code: str
    text: str


def cases_of(path: Path) -> list[Case]:
    """All sections of a file that have a block."""
    headings: list[str] = []
    cases: list[Case] = []
    blocks: list[Block] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    number = 0

    def close() -> None:
        if blocks:
            cases.append(Case(" / ".join(headings), path, tuple(blocks)))
            blocks.clear()

    while number < len(lines):
        line = lines[number]
        number += 1
        if (heading := _HEADING.match(line)) is not None:
            close()
            headings[len(heading[1]) - 1 :] = [heading[2]]
        elif (fence := _FENCE.match(line)) is not None:
            start = number
            while lines[number] != "```":
                number += 1
            blocks.append(Block(fence[1], start, "".join(f"{text}\n" for text in lines[start:number])))
            number += 1
    close()
    return cases


def expectations_of(text: str) -> list[Expectation]:
    """The diagnostics that the comments of a text ask for."""
    return [
        Expectation(number, found[1], found[2], found[3] or "")
        for number, line in enumerate(text.splitlines(), start=1)
        for found in _EXPECTED.finditer(line)
    ]


def disagreements(expected: list[Expectation], found: list[Diagnostic]) -> list[str]:
    """What is missing and what is too much, one line each."""
    left = list(found)
    problems: list[str] = []
    for want in expected:
        match = next((item for item in left if _answers(item, want)), None)
        if match is None:
            problems.append(f'missing on line {want.line}: {want.severity}: [{want.code}] "{want.text}"')
        else:
            left.remove(match)
    for item in left:
        line = 0 if item.span is None else item.span.position.line
        problems.append(f'surplus on line {line}: {item.severity}: [{item.code}] "{item.message}" ({item.help})')
    return problems


def _answers(item: Diagnostic, want: Expectation) -> bool:
    line = 0 if item.span is None else item.span.position.line
    said = "\n".join((item.message, item.label, item.help))
    return (line, item.severity, item.code) == (want.line, want.severity, want.code) and want.text in said


def write_block(path: Path, block: Block, text: str) -> None:
    """Put other content into a block of a file. Blocks after it move: read the file again."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    end = block.first_line + block.text.count("\n")
    path.write_text("".join([*lines[: block.first_line], text, *lines[end:]]), encoding="utf-8")


def duplicates(cases: list[Case]) -> list[str]:
    """Names that stand for two tests."""
    return [name for name, count in Counter(case.name for case in cases).items() if count > 1]
