"""docs/fuzzing.md lists the invariants, and stdlib/invariants.dra too."""

import re
from pathlib import Path
from typing import Any

from dralang.fuzz.retold import ORACLES
from dralang.run.invariants.watch import INVARIANTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "fuzzing.md"
ALL: list[Any] = [*INVARIANTS, *ORACLES]
LIBRARY = ROOT / "stdlib" / "invariants.dra"


def test_the_page_lists_every_invariant_with_its_line(update_golden: bool):
    rows = "".join(f"| `{each.name}` | {each.summary} |\n" for each in ALL)
    head = "<!-- invariants -->\n| invariant | what holds |\n|---|---|\n"
    text = PAGE.read_text()
    expected = re.sub(re.escape(head) + r"(?:\|.*\n)*", lambda _: head + rows, text)
    if update_golden:
        PAGE.write_text(expected)
    assert PAGE.read_text() == expected


def test_the_library_lists_them_too(update_golden: bool):
    head = (
        "# The invariants that hold in every scenario, used or not. This file declares nothing: it is to be read.\n"
        "# Where they are checked: docs/fuzzing.md; a page about each: docs/invariants/.\n#\n"
    )
    expected = head + "".join(f"# {each.name}: {each.summary}\n" for each in ALL)
    if update_golden:
        LIBRARY.write_text(expected)
    assert LIBRARY.read_text() == expected


def test_names_are_different_and_lines_are_sentences():
    names = [each.name for each in ALL]
    assert len(set(names)) == len(names)
    assert all(each.summary.endswith(".") and each.summary[0].isupper() for each in ALL)
