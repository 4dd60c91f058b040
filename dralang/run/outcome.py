"""What a played scenario comes to: verdict, failures, the record. Data only; ``testing`` renders it."""

from typing import Literal

from msgspec import Struct

from dralang.cluster.journal import JournalEntry
from dralang.diagnostics.diagnostic import Diagnostic
from dralang.diagnostics.source import Span
from dralang.scenario.model import Scenario

Verdict = Literal["passed", "failed", "xfailed", "xpassed", "refused", "error"]


class Why(Struct, frozen=True):
    """A reason, and the reasons behind it."""

    text: str
    because: tuple["Why", ...] = ()


class Failure(Struct, frozen=True):
    """An expectation that did not hold, or a statement that could not be carried out.

    Attributes:
        span: the statement.
        kind: its keyword: expect, within, always, never, witness, or the action.
        time: of the simulation, in milliseconds.
        expected: what was said.
        actual: what is.
        why: why it is so, for a pending pod the refusal per node and device.
        after: the last entry of the record before it was noticed, an index into ``Played.trace``.
    """

    span: Span
    kind: str
    time: int
    expected: str
    actual: str
    why: tuple[Why, ...] = ()
    after: int = 0


class Judged(Struct, frozen=True):
    """An expectation that was looked at, or a property at the end of its time.

    Attributes:
        span: the statement.
        kind: its keyword, as in ``Failure``.
        time: when, in milliseconds; for a property the end of the run.
        holds: whether it held.
    """

    span: Span
    kind: str
    time: int
    holds: bool


class Played(Struct, frozen=True):
    """A scenario after its run.

    Attributes:
        scenario: what was played.
        verdict: how it ended; ``refused`` if it needs what cannot be run yet, ``error`` if our own code broke.
        failures: in the order in which they were found.
        diagnostics: why it was refused.
        trace: what happened, in order.
        end: the last instant, in milliseconds.
        checks: how many expectations were looked at.
        judged: each of them, the properties last.
        final: of a drawn story, how each pod ended, by name.
    """

    scenario: Scenario
    verdict: Verdict
    failures: tuple[Failure, ...]
    diagnostics: tuple[Diagnostic, ...]
    trace: tuple[JournalEntry, ...]
    end: int
    checks: int
    judged: tuple[Judged, ...] = ()
    final: tuple[tuple[str, str], ...] = ()
