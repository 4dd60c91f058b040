"""Compare any number of random problems with the real allocator: ``python tests/oracle/compare.py 20000``.

Every difference is shrunk and saved as a case under ``found``; the exit code says whether there was one.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]

from allocation_problems import random_problem, tight_problem
from real_allocator import FOLDER, Json, Oracle, build, difference, shrunk


def main() -> int:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, help="how many problems")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--tight", action="store_true", help="long searches instead of every feature")
    parser.add_argument("--program", type=Path, help="the built oracle; built anew if not given")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = options.program or build(Path(folder))
        with Oracle(program) as oracle:
            found = _compare(oracle, options.seed, options.number, tight_problem if options.tight else random_problem)
    sys.stdout.write(f"{options.number} problems, {found} differences\n")
    return 1 if found else 0


def _compare(oracle: Oracle, seed: int, number: int, draw: Callable[[int], Json]) -> int:
    found = 0
    for current in range(seed, seed + number):
        case = draw(current)
        if difference(oracle, case) is None:
            continue
        found += 1
        case = shrunk(oracle, case)
        target = FOLDER / "found" / f"{case['id']}.json"
        target.parent.mkdir(exist_ok=True)
        target.write_text(json.dumps({**case, "want": oracle.answer(case)["steps"]}, indent=1) + "\n", encoding="utf-8")
        sys.stdout.write(f"{case['id']}: {difference(oracle, case)}\n")
    return found


if __name__ == "__main__":
    sys.exit(main())
