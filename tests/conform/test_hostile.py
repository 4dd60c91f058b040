"""Cases that somebody has damaged: answered or refused, never a fault."""

import json
import random
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from counts import count

from dralang.conform.cases import find_case_files, read_bytes, read_cases
from dralang.conform.replay import Replayer, UnplayableError
from dralang.diagnostics.diagnostic import DiagnosticLog

RECORDED = Path(__file__).parent.parent / "conformance"
KINDS = ("validation", "cel", "allocation", "scheduling")
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**63, 2**70, 1.5, 1e308, -0.0, "", "a", "\u00e9" * 300, "1Gi", "\0", "@a/b",
    [], {}, [[]], {"a": 1}, ["x"],
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, entry in inside for place in [(*path, key), *places(entry, (*path, key))]]


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def damage(case: dict[str, Any], draw: random.Random) -> None:
    """Take something away, put something odd in its place, or something from elsewhere in the case."""
    every = places(case)
    place = draw.choice(every)
    here, key = at(case, place[:-1]), place[-1]
    how = draw.randrange(5)
    if how == 0:
        del here[key]
    elif how == 1:
        here[key] = deepcopy(at(case, draw.choice(every)))
    elif how == 2 and isinstance(here, list):
        here.append(deepcopy(here[key]))
    else:
        here[key] = deepcopy(draw.choice(VALUES))


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_cases_are_answered_or_refused(kind: str):
    draw = random.Random(kind)
    cases = [
        case.data
        for path in find_case_files(RECORDED)
        if path.name.startswith(kind)
        for case in read_cases(path, path.name, DiagnosticLog())
    ]
    outcomes = set()
    for _ in range(count(100, 2_000)):
        case = deepcopy(dict(draw.choice(cases)))
        for _ in range(draw.randint(1, 3)):
            damage(case, draw)
            if not case:
                break
        log = DiagnosticLog()
        for found in read_bytes(json.dumps(case).encode(), "a.jsonl", log):
            try:
                answered = Replayer(answer_all=True).replay(found)
            except UnplayableError as error:
                outcomes.add(found.problem(str(error)).code)
            else:
                json.dumps(answered.answer)
                outcomes.add(answered.verdict)
        outcomes.update(item.code for item in log.sorted())
    assert {"passed", "DRA0702"} <= outcomes
