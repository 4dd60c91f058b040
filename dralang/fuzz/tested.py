"""A fuzz as one of many tests: a few examples, the same ones every time."""

from typing import Final

from msgspec import structs

from dralang.diagnostics.source import SourceFile, Span
from dralang.formatter.format import format_file
from dralang.fuzz.example import Example
from dralang.fuzz.explore import Explorer, seed_of
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
    chunk = explorer.chunk(scenario, seed_of(seed, scenario, 0), examples)
    if chunk.choices is None:
        if not chunk.examples:
            example = explorer.replay(scenario, ())
            diagnostics = example.diagnostics if isinstance(example, Example) else ()
            return Played(scenario, "refused", (), diagnostics, (), 0, 0)
        verdict: Verdict = "passed" if scenario.xfail is None else "xpassed"
        return Played(scenario, verdict, (), (), (), 0, chunk.examples)
    if chunk.fault:
        raise FaultError(chunk.fault)
    example = explorer.replay(scenario, chunk.choices)
    if isinstance(example, str):
        raise FaultError(example)
    verdict = "failed" if scenario.xfail is None else "xfailed"
    played = example.played
    trace, end = ((), 0) if played is None else (played.trace, played.end)
    failure = example.failure
    failures = () if failure is None else (_told(failure, example, seed),)
    return Played(scenario, verdict, failures, (), trace, end, chunk.examples)


class FaultError(Exception):
    """Dralang itself broke while it played an example."""


def _told(failure: Failure, example: Example, seed: int) -> Failure:
    """A failure with the story in which it happened."""
    lines = story_of(example)
    shown = tuple([Why(line) for line in lines[:_MOST_LINES]])
    story = Why(f"the shrunk story, seed {seed} (`dralang fuzz` writes it as a scenario)", shown)
    return structs.replace(failure, why=(*failure.why, story))


def story_of(example: Example) -> list[str]:
    """The statements of an example, line by line."""
    tree = example.drawn.tree
    assert isinstance(tree, n.Scenario)
    span = Span(SourceFile("story", ""), 0, 0)
    text = format_file(n.File(span, span.source, (tree,), ()))
    return [line.strip() for line in text.splitlines()[1:-1]]
