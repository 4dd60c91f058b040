"""Writes the table of faults in docs/fuzzing.md anew: `python tests/fuzz/fault_table.py`, about two minutes.

Each fault is put back, and `std.random()` draws from seed 0 on until an example fails, 2,000 at most.
"""

import re
from pathlib import Path

from faults import FAULTS, first_failure

MOST = 2_000
PAGE = Path(__file__).resolve().parents[2] / "docs" / "fuzzing.md"


def row(name):
    """What becomes of one fault."""
    fault = FAULTS[name]
    number, broken = first_failure(fault, MOST)
    by = ", ".join(f"`{each}`" for each in dict.fromkeys(broken))
    return number, f"| `{name}` | {fault.entry} | {fault.area} | {number or 'not found'} | {by} |\n"


def main():
    """Play them all, and write."""
    rows = [row(name) for name in FAULTS]
    found = sum(number is not None for number, _ in rows)
    text = PAGE.read_text()
    head = "| fault | entry | area | found after | by |\n|---|---|---|---|---|\n"
    text = re.sub(re.escape(head) + r"(?:\|.*\n)*", lambda _: head + "".join(line for _, line in rows), text)
    text = re.sub(r"(of 2,000: )\d+( of 25 are found)", rf"\g<1>{found}\g<2>", text)
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
