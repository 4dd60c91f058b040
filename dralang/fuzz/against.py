"""Differential oracles: the same story must come to the same, whoever evaluates, remembers or allocates.

The real allocator is asked what ours was asked in the story. The other oracles play the story again: with cel-python
as evaluator, or with a scheduler that remembers nothing; its course must be the same, entry by entry.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

from dralang.api.expressions import DeviceExpressions
from dralang.features import FeatureGates
from dralang.fuzz.how import FROM_SCRATCH, REAL_ALLOCATOR, REFERENCE_CEL, How
from dralang.fuzz.questions import Encoder, Hearing, Question, differing
from dralang.fuzz.real_allocator import VERSION, RealAllocator
from dralang.run.expressions import expressions_for, stored_environment
from dralang.run.outcome import Failure, Played, Why
from dralang.run.player import play
from dralang.run.simulation import Simulation
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario

Json: TypeAlias = dict[str, Any]
KIND = "against"
"""The kind of these failures."""


class Difference(Struct, frozen=True):
    """Something came to something else.

    Attributes:
        failure: what was found.
        other: how the story goes the other way; None if only an answer differs.
        how: the other way, for ``Oracles.told``.
        case: the question with the real answer, as ``dralang conform`` replays it.
    """

    failure: Failure
    other: Played | None = None
    case: Json | None = None
    how: str = ""


class Oracles:
    """The oracles of a run. Owned by one process.

    Args:
        how: which.

    Attributes:
        counts: what was compared, and what could not be; whoever reads them empties them.
    """

    def __init__(self, how: How) -> None:
        self.counts: dict[str, int] = {}
        self._real = RealAllocator(Path(how.program)) if REAL_ALLOCATOR in how.against else None
        self._encoder = Encoder()
        self._hearing = Hearing(self._encoder)
        self._left: list[dict[str, str]] = []
        self._others: list[tuple[str, str, Workshop]] = []
        if REFERENCE_CEL in how.against:
            self._others.append((REFERENCE_CEL, "with cel-python", Workshop(self._reference)))
        if FROM_SCRATCH in how.against:
            self._others.append((FROM_SCRATCH, "from scratch", Workshop(memory="none")))
            # Small clusters use few memories of their own accord.
            self._others.append((FROM_SCRATCH, "with every memory in use", Workshop(memory="eager")))

    def _reference(self, features: FeatureGates) -> DeviceExpressions:
        # cel-python takes longer to import than everything else together.
        from dralang.cel.reference import ReferenceExpressions  # noqa: PLC0415

        expressions = ReferenceExpressions(stored_environment(features), ours=expressions_for(features))
        self._left.append(expressions.left)
        return expressions

    def taken_counts(self) -> dict[str, int]:
        """What was counted since the last time."""
        counts, self.counts = self.counts, {}
        return counts

    def close(self) -> None:
        """End what runs outside of this process."""
        if self._real is not None:
            self._real.close()

    # ---- one story --------------------------------------------------------------------------------------------------

    def observe(self, simulation: Simulation) -> None:
        """A story begins."""
        if self._real is not None:
            self._hearing = Hearing(self._encoder)
            simulation.scheduler.manager.on_asked = self._hearing.hear

    def difference(self, story: Scenario, played: Played) -> Difference | None:
        """The first difference after a story was played."""
        if self._real is not None:
            found = self._asked(self._real, story, played)
            if found is not None:
                return found
        for name, how, workshop in self._others:
            self._count(f"{name}: stories compared {how}")
            left = sum(map(len, self._left))
            other = play(story, workshop)
            if name == REFERENCE_CEL and sum(map(len, self._left)) > left:
                new = sum(map(len, self._left)) - left
                self._count(f"{name}: expressions that cel-python cannot judge, left to ours", new)
            found = _another_course(name, how, story, played, other)
            if found is not None:
                return found
        return None

    def told(self, how: str, story: Scenario) -> Played:
        """A story told in the way in which a difference was found."""
        return next(play(story, workshop) for _, each, workshop in self._others if each == how)

    def _count(self, name: str, number: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + number

    # ---- the real allocator -----------------------------------------------------------------------------------------

    def _asked(self, real: RealAllocator, story: Scenario, played: Played) -> Difference | None:
        hearing = self._hearing
        for reason, number in hearing.unsaid.items():
            self._count(f"{REAL_ALLOCATOR}: questions not put, {reason}", number)
        questions = list(hearing.questions.values())
        self._count(f"{REAL_ALLOCATOR}: questions put", len(questions))
        for question, answer in zip(questions, real.answers(questions), strict=True):
            if answer["status"] in ("timeout", "panic"):
                gave_up = "gave up" if answer["status"] == "timeout" else "crashed"
                self._count(f"{REAL_ALLOCATOR}: questions without an answer, Kubernetes' allocator {gave_up}")
                continue
            what = differing(question.answer, answer)
            if what:
                return _another_answer(what, question, answer, story, played)
        return None


def _another_answer(what: str, question: Question, answer: Json, story: Scenario, played: Played) -> Difference:
    words = {"status": "verdict", "allocations": "devices", "message": "error"}
    expected = f"{REAL_ALLOCATOR}: the {words[what]} of the allocator of Kubernetes {VERSION}"
    actual = f"{', '.join(question.labels)} on {question.node}: {said(answer)}; ours: {said(question.answer)}"
    failure = Failure(story.span, KIND, played.end, expected, actual, after=len(played.trace))
    if what == "message":  # which `dralang conform` does not compare
        return Difference(failure)
    return Difference(failure, case={**question.case(REAL_ALLOCATOR, VERSION), "want": [answer]})


def said(answer: Json) -> str:
    """An answer in one line."""
    if answer["status"] != "allocated":
        message = answer.get("message", "")
        return f"{answer['status']}, {message}" if message else str(answer["status"])
    given = [
        f"{label} has {', '.join(_device(result) for result in found['devices'].get('results') or ()) or 'nothing'}"
        for label, found in answer["allocations"].items()
    ]
    return "; ".join(given)


def _device(result: Json) -> str:
    amounts = ", ".join(f"{name} {amount}" for name, amount in sorted((result.get("consumedCapacity") or {}).items()))
    where = f"{result['driver']}/{result['pool']}/{result['device']}"
    return f"{where} ({amounts})" if amounts else where


# ---- another course -------------------------------------------------------------------------------------------------


def _another_course(name: str, how: str, story: Scenario, played: Played, other: Played) -> Difference | None:
    lines = next(_differences(played, other), None)
    if lines is None:
        return None
    mine, theirs = lines
    expected = f"{name}: the same course {how}"
    failure = Failure(story.span, KIND, played.end, expected, f"{how}: {theirs}", (Why(f"else: {mine}"),))
    return Difference(failure, other, how=how)


def _differences(played: Played, other: Played) -> Iterator[tuple[str, str]]:
    """Where two courses part, in words."""
    parts: tuple[tuple[Callable[[Played], list[str]], str], ...] = (
        (_entries, "nothing more happens"),
        (lambda each: [f"{failure.kind} {failure.expected}: {failure.actual}" for failure in each.failures], "holds"),
        (lambda each: [text for _, text in each.final], "there is no such pod"),
        (lambda each: [f"it ends at {each.end} ms"], ""),
    )
    for lines, nothing in parts:
        first, second = lines(played), lines(other)
        for number in range(max(len(first), len(second))):
            mine = first[number] if number < len(first) else nothing
            theirs = second[number] if number < len(second) else nothing
            if mine != theirs:
                yield mine, theirs


def _entries(played: Played) -> list[str]:
    """The record in words: whatever is in it is in them."""
    return [
        f"at {entry.time} ms {entry.component} {entry.reason} {entry.kind} {entry.namespace}/{entry.name}:"
        f" {entry.message} {entry.related}"
        for entry in played.trace
    ]
