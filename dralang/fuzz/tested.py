"""A fuzz as one of many tests: a few examples, the same ones every time."""

import shlex
from typing import Final

from msgspec import structs

from dralang.diagnostics.source import SourceFile, Span
from dralang.formatter.format import format_file
from dralang.fuzz.example import Example
from dralang.fuzz.explore import CHUNK, Chunk, Explorer, seed_of
from dralang.run.outcome import Failure, Played, Verdict, Why
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario
from dralang.syntax import nodes as n

EXAMPLES: Final = 20
_MOST_LINES: Final = 40


def play_fuzz(scenario: Scenario, workshop: Workshop, *, seed: int = 0, examples: int = EXAMPLES) -> Played:
    """Play some examples of a fuzz.

    Args:
        scenario: with a ``template``.
        workshop: shared with other scenarios.
        seed: where random choices start; the same seed gives the same examples.
        examples: how many.

    Raises:
        Exception: whatever broke in dralang while the smallest failing example was played.
    """
    if scenario.missing:
        return Played(scenario, "refused", (), scenario.missing, (), 0, 0)
    explorer = Explorer(workshop)
    count = 0
    # The chunks of `dralang fuzz`: it finds the same with this seed and as many examples.
    for number, first in enumerate(range(0, examples, CHUNK)):
        chunk = explorer.chunk(scenario, seed_of(seed, scenario, number), min(CHUNK, examples - first))
        count += chunk.examples
        if chunk.choices is not None:
            again = f"dralang fuzz {shlex.quote(scenario.node_id)} --seed {seed} --max-examples {examples}"
            return _found(scenario, explorer, chunk, again, count)
    if not count:
        example = explorer.replay(scenario, ())
        diagnostics = example.diagnostics if isinstance(example, Example) else ()
        return Played(scenario, "refused", (), diagnostics, (), 0, 0)
    verdict: Verdict = "passed" if scenario.xfail is None else "xpassed"
    return Played(scenario, verdict, (), (), (), 0, count)


def _found(scenario: Scenario, explorer: Explorer, chunk: Chunk, again: str, count: int) -> Played:
    """The smallest failing example, played once more."""
    if chunk.fault:
        raise FaultError(chunk.fault)
    assert chunk.choices is not None
    example = explorer.replay(scenario, chunk.choices)
    if isinstance(example, str):
        raise FaultError(example)
    verdict: Verdict = "failed" if scenario.xfail is None else "xfailed"
    played = example.played
    trace, end = ((), 0) if played is None else (played.trace, played.end)
    failures = () if example.failure is None else (_told(example.failure, example, again),)
    return Played(scenario, verdict, failures, (), trace, end, count)


class FaultError(Exception):
    """Dralang itself broke while it played an example."""


def _told(failure: Failure, example: Example, again: str) -> Failure:
    """A failure with the story in which it happened."""
    lines = story_of(example)
    shown = tuple([Why(line) for line in lines[:_MOST_LINES]])
    story = Why(f"the shrunk story (`{again}` writes it as a scenario)", shown)
    return structs.replace(failure, why=(*failure.why, story))


def story_of(example: Example) -> list[str]:
    """The statements of an example, line by line."""
    tree = example.drawn.tree
    assert isinstance(tree, n.Scenario)
    span = Span(SourceFile("story", ""), 0, 0)
    text = format_file(n.File(span, span.source, (tree,), ()))
    return [line.strip() for line in text.splitlines()[1:-1]]
