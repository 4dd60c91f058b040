"""One example of a fuzz: drawn, played, judged. No Hypothesis here: a recorded example is played the same way."""

from typing import Final
from zlib import crc32

from msgspec import Struct, structs

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.fuzz.against import Difference, Oracles
from dralang.fuzz.reach import Lookout, Reached
from dralang.fuzz.retold import told_otherwise
from dralang.fuzz.stateful import draw_stateful
from dralang.run.invariants.watch import SUMMARIES
from dralang.run.outcome import Failure, Played, Why
from dralang.run.player import play
from dralang.run.simulation import Simulation
from dralang.run.workshop import Workshop
from dralang.scenario.holes import Chooser, Drawn, RecordingChooser, Template
from dralang.scenario.model import Scenario, Settings

REPEATED: Final = 8
"""One example in so many is played twice: the same story must take the same course."""
_AGAIN: Final = "same-input-same-output"
_ABOUT_OBJECTS: Final = ("expect", "within", "always", "never", "witness")
_NOT_THERE: Final = (" does not exist", "nothing matches", "it cannot be evaluated: ")


class Example(Struct, frozen=True):
    """An example after it was played.

    Attributes:
        choices: what filled its holes, in order.
        drawn: the story.
        failure: the first thing that was not as it should be; None if all was.
        signature: tells failures with different causes apart; empty without one.
        settings: the settings of ``compare with`` under which something else happened.
        played: how it went; None if what stood in the holes did not go together.
        reached: states, events and so on that occurred.
        difference: the failure is that an oracle says something else.
    """

    choices: tuple[int, ...]
    drawn: Drawn
    failure: Failure | None
    signature: str
    settings: Settings | None
    played: Played | None
    reached: Reached
    difference: Difference | None = None

    @property
    def is_discarded(self) -> bool:
        """Nothing was played: what stood in the holes did not go together."""
        return self.drawn.scenario is None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Why it was discarded."""
        return self.drawn.diagnostics


def play_example(
    scenario: Scenario,
    chooser: Chooser,
    workshop: Workshop,
    oracles: Oracles | None = None,
    *,
    stateful: bool = False,
    wanted: str | None = "",
) -> Example:
    """Draw a story of a fuzz and play it.

    Args:
        scenario: with a ``template``.
        chooser: fills the holes.
        workshop: makes the environment.
        oracles: judge it too.
        stateful: drawn step by step.
        wanted: the signature of a failure that is looked for: what costs more plays is done for it, and else by lot;
            None does all of it.
    """
    recorder = RecordingChooser(chooser)
    assert scenario.template is not None
    template: Template = scenario.template
    drawn = draw_stateful(template, recorder, workshop) if stateful else template.draw(recorder)
    choices = tuple(recorder.choices)
    if drawn.scenario is None:
        return Example(choices, drawn, None, "", None, None, Reached())
    lookout = Lookout(crc32(repr(choices).encode()))

    def observe(simulation: Simulation) -> None:
        lookout.attach(simulation)
        if oracles is not None:
            oracles.observe(simulation)

    played = play(drawn.scenario, workshop, observe)
    return _judged(choices, drawn, played, lookout, workshop, oracles, wanted)


def _judged(
    choices: tuple[int, ...],
    drawn: Drawn,
    played: Played,
    lookout: Lookout,
    workshop: Workshop,
    oracles: Oracles | None,
    wanted: str | None,
) -> Example:
    """A story that was played, as an example: with the first thing that was not as it should be."""
    story = drawn.scenario
    assert story is not None
    failure = played.failures[0] if played.failures else None
    settings: Settings | None = None
    if failure is None and played.verdict == "refused":
        failure = _refused(played)
    if failure is None:
        failure, settings = _compared(story, drawn.variants, played, workshop)
    twice = wanted is None or _AGAIN in wanted or crc32(repr(choices).encode()) % REPEATED == 0
    if failure is None and twice:
        failure = _again(story, played, workshop)
    if failure is None:
        failure = told_otherwise(story, choices, workshop, wanted)
    difference: Difference | None = None
    if failure is None and oracles is not None:
        difference = oracles.difference(story, played)
        failure = None if difference is None else difference.failure
    signature = "" if failure is None else signature_of(failure)
    reached = lookout.result(played.trace)
    return Example(choices, drawn, failure, signature, settings, played, reached, difference)


def signature_of(failure: Failure) -> str:
    """Tells failures with different causes apart.

    An expectation that fails because what it speaks of is not there says something else than one that fails otherwise:
    else every story could be shrunk by leaving out what it is about.
    """
    return f"{failure.kind} {failure.expected}{' of what is not there' if is_about_nothing(failure) else ''}"


def is_about_nothing(failure: Failure) -> bool:
    """Whether an expectation failed because something that it speaks of is not there."""
    return failure.kind in _ABOUT_OBJECTS and any(words in failure.actual for words in _NOT_THERE)


def _refused(played: Played) -> Failure:
    first = played.diagnostics[0]
    return Failure(played.scenario.span, "refused", 0, "the story can be run", first.message)


def _compared(
    story: Scenario, variants: tuple[Settings, ...], played: Played, workshop: Workshop
) -> tuple[Failure | None, Settings | None]:
    """The same story under other settings must end the same."""
    for settings in variants:
        other = play(structs.replace(story, settings=settings), workshop)
        differing = [
            (mine, theirs)
            for mine, theirs in zip(_padded(played, other), _padded(other, played), strict=True)
            if mine != theirs
        ]
        if differing:
            mine, theirs = differing[0]
            expected = f"the same as without `compare with`: {mine}"
            failure = Failure(story.span, "compare", other.end, expected, theirs, after=len(other.trace))
            return structs.replace(failure, why=tuple([Why(f"{a} / {b}") for a, b in differing[1:6]])), settings
    return None, None


def _padded(played: Played, other: Played) -> list[str]:
    lines = dict(played.final)
    return [
        lines.get(name, f"{name} does not exist") for name in dict.fromkeys([*dict(played.final), *dict(other.final)])
    ]


def _again(story: Scenario, played: Played, workshop: Workshop) -> Failure | None:
    again = play(story, workshop)
    for number, (first, second) in enumerate(zip(played.trace, again.trace, strict=False)):
        if first != second:
            return _unlike(story, f"entry {number}: {first.reason} of {first.name} / {second.reason} of {second.name}")
    if len(played.trace) != len(again.trace):
        return _unlike(story, f"{len(played.trace)} entries, then {len(again.trace)}")
    return None


def _unlike(story: Scenario, actual: str) -> Failure:
    return Failure(story.span, "invariant", 0, f"{_AGAIN} (std.invariants): {SUMMARIES[_AGAIN]}", actual)
