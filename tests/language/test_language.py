"""Runs the Markdown tests of this folder; `markdown_cases` says how they are written."""

from pathlib import Path

import pytest
from markdown_cases import (
    Case,
    Checker,
    cases_of,
    disagreements,
    duplicates,
    expectations_of,
    write_block,
)

from dralang.check.analysis import Analyzer
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.render import render_text
from dralang.diagnostics.source import SourceFile
from dralang.syntax.dump import dump
from dralang.syntax.nodes import File
from dralang.syntax.reading import parse


def analyse(source: SourceFile, log: DiagnosticLog) -> File:
    """The whole static analysis, as `dralang check` does it."""
    analysis = Analyzer().text(FOLDER / source.name, source.name, source.text.encode())
    log.extend(analysis.diagnostics)
    return analysis.tree


FOLDER = Path(__file__).resolve().parent
# By the first word of the file's name: what its `dra` blocks go through.
CHECKERS: dict[str, Checker] = {"syntax": parse, "check": analyse}
FILES = sorted(FOLDER.glob("*.md"))
CASES = [case for path in FILES for case in cases_of(path)]


def test_the_folder_has_tests_and_every_file_a_checker():
    assert len(CASES) > 100
    for path in FILES:
        assert path.stem.partition("-")[0] in CHECKERS, path.name
    assert not duplicates(CASES)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.path.stem}: {case.name}" for case in CASES])
def test_language(case: Case, update_golden):
    check = CHECKERS[case.path.stem.partition("-")[0]]
    rendering = tree = ""
    for number, block in enumerate(case.blocks):
        if block.language == "dra":
            source = SourceFile("spec.dra", block.text)
            log = DiagnosticLog()
            file = check(source, log)
            found = log.sorted()
            problems = disagreements(expectations_of(block.text), found)
            assert not problems, "\n".join(problems) + "\n\n" + render_text(found)
            rendering = render_text(found)
            tree = "".join(f"{dump(item)}\n" for item in file.items)
            continue
        assert block.language in ("snapshot", "tree"), f"a block of {block.language!r} is not known"
        want = rendering if block.language == "snapshot" else tree
        if update_golden and block.text != want:
            # Blocks move when one grows: find this one again.
            current = next(item for item in cases_of(case.path) if item.name == case.name)
            write_block(case.path, current.blocks[number], want)
        else:
            assert block.text == want, "golden text differs; `pytest --update-golden` writes it"
