"""Many examples of one fuzz, drawn and shrunk by Hypothesis, the same for the same seed."""

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from traceback import extract_tb
from typing import Final

from hypothesis import HealthCheck, Phase, Verbosity, given, reject, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky, Unsatisfiable
from msgspec import Struct

from dralang.diagnostics.diagnostic import Diagnostic
from dralang.fuzz.against import Oracles
from dralang.fuzz.example import Example, play_example
from dralang.fuzz.how import How
from dralang.fuzz.reach import Reached
from dralang.run.workshop import Workshop
from dralang.scenario.holes import Chooser, RecordedChooser
from dralang.scenario.model import Scenario

CHUNK: Final = 50
"""Examples to a chunk."""


class Chunk(Struct, frozen=True):
    """What a number of examples came to; plain data, so that it can come from another process.

    Attributes:
        examples: how many were played.
        discarded: how many did not go together.
        why_discarded: one of the reasons.
        reached: what all of them reached together.
        choices: of the smallest example that failed; None if none did.
        signature: of its failure.
        fault: what broke in dralang itself, if that is the failure.
        counts: what was compared with oracles.
    """

    examples: int
    discarded: int
    why_discarded: str
    reached: Reached
    choices: tuple[int, ...] | None = None
    signature: str = ""
    fault: str = ""
    counts: dict[str, int] = {}


class FoundError(Exception):
    """An example failed; a type of its own for each signature keeps the shrinker from changing the subject."""


def seed_of(base: int, scenario: Scenario, chunk: int) -> int:
    """The seed of a chunk: depends on the run's seed and the fuzz, not on who computes it or where."""
    text = f"{base}/{scenario.file.rpartition('/')[2]}/{scenario.title}/{chunk}"
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


@st.composite
def _drawing(draw: st.DrawFn) -> st.DrawFn:
    """The function that draws, for the test to call: it costs half of what `st.data()` does, which also takes notes."""
    return draw


@cache
def _distances(longest: int) -> st.SearchStrategy[int]:
    return st.integers(-longest, 0)


class _HypothesisChooser:
    """Asks Hypothesis; private to this module.

    It is asked for the distance from the low end, as a negative number: now and then Hypothesis takes a number that
    stands in the source of some loaded module, and those are hardly ever negative. Otherwise the same seed would draw
    other stories where other modules are loaded, in a worker for example.
    """

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return low - self.draw(_distances(high - low))


class _Enough(BaseException):
    """The chunk is to end here; private to this module."""


class Explorer:
    """Explores fuzzes. Owned by one process.

    Args:
        workshop: shared by all examples.
        keep_going: asked before each example; False ends the chunk early.
        how: how stories are drawn and judged.

    Attributes:
        unfinished: what a chunk had come to when Ctrl-C ended it.
    """

    def __init__(
        self, workshop: Workshop, keep_going: Callable[[], bool] | None = None, how: How | None = None
    ) -> None:
        self.workshop = workshop
        self.keep_going = keep_going
        self.how = How() if how is None else how
        self.oracles = Oracles(self.how) if self.how.against else None
        self.unfinished: Chunk | None = None
        self._types: dict[str, type[FoundError]] = {}

    def replay(self, scenario: Scenario, choices: tuple[int, ...]) -> Example | str:
        """Play a recorded example; the text of a fault if dralang itself breaks."""
        try:
            return self.play(scenario, RecordedChooser(choices), None)
        except Exception as error:  # a fault of dralang is a finding
            return fault_of(error)

    def play(self, scenario: Scenario, chooser: Chooser, wanted: str | None = "") -> Example:
        """Draw a story and play it; see `play_example`."""
        stateful = self.how.stateful
        return play_example(scenario, chooser, self.workshop, self.oracles, stateful=stateful, wanted=wanted)

    def chunk(self, scenario: Scenario, number: int, examples: int) -> Chunk:
        """Draw and play so many examples with a seed of their own; a failing one is shrunk."""
        run = _Run(self, scenario, examples)
        chosen = settings(
            # Hypothesis draws otherwise if it is to draw less; so, few examples are the first ones of a whole chunk.
            max_examples=max(examples, CHUNK),
            database=None,
            deadline=None,
            derandomize=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            verbosity=Verbosity.quiet,
            report_multiple_bugs=False,
            print_blob=False,
        )
        test = seed(number)(chosen(given(_drawing())(run.one)))
        try:
            test()
        except (FoundError, Unsatisfiable, _Enough):
            pass
        except KeyboardInterrupt:
            self.unfinished = run.result()
            raise
        except Flaky:
            # The same choices took another course: found by the comparison of traces, or by luck.
            pass
        return run.result()

    def close(self) -> None:
        """End what runs outside of this process."""
        if self.oracles is not None:
            self.oracles.close()

    def found(self, signature: str) -> FoundError:
        """The exception of a signature."""
        kind = self._types.get(signature)
        if kind is None:
            kind = self._types[signature] = type("FoundError", (FoundError,), {})
        return kind(signature)


class _Run:
    """One chunk; private to this module."""

    def __init__(self, explorer: Explorer, scenario: Scenario, most: int) -> None:
        self.explorer = explorer
        self.scenario = scenario
        self.most = most
        self.examples = 0
        self.discarded = 0
        self.why_discarded = ""
        self.reached = Reached()
        self.choices: tuple[int, ...] | None = None
        self.signature = ""
        self.fault = ""

    def one(self, draw: st.DrawFn) -> None:
        shrinking = self.choices is not None
        keep_going = self.explorer.keep_going
        if not shrinking and (
            self.examples - self.discarded >= self.most or (keep_going is not None and not keep_going())
        ):
            raise _Enough
        recorder = _Keeping(_HypothesisChooser(draw))
        fault = ""
        example: Example | None = None
        try:
            example = self.explorer.play(self.scenario, recorder, self.signature)
        except Exception as error:
            if _is_of_hypothesis(error):
                raise
            fault = fault_of(error)
        signature = f"fault {fault.partition(': ')[0]}" if example is None else example.signature
        if not shrinking:
            self.examples += 1
            if example is not None:
                self.reached |= example.reached
        if example is not None and example.is_discarded:
            if not shrinking:
                self.discarded += 1
                self.why_discarded = self.why_discarded or _reason(example.diagnostics)
            reject()
        if signature:
            self.choices, self.signature, self.fault = tuple(recorder.choices), signature, fault
            raise self.explorer.found(signature)

    def result(self) -> Chunk:
        return Chunk(
            self.examples - self.discarded,
            self.discarded,
            self.why_discarded,
            self.reached,
            self.choices,
            self.signature,
            self.fault,
            {} if self.explorer.oracles is None else self.explorer.oracles.taken_counts(),
        )


class _Keeping:
    """Keeps the choices even where the play breaks; private to this module."""

    def __init__(self, inner: _HypothesisChooser) -> None:
        self.inner = inner
        self.choices: list[int] = []

    def integer(self, low: int, high: int) -> int:
        number = self.inner.integer(low, high)
        self.choices.append(number)
        return number


def _reason(diagnostics: Sequence[Diagnostic]) -> str:
    """What is wrong with a story, and where it stands."""
    if not diagnostics:
        return ""
    message, span = diagnostics[0].message, diagnostics[0].span
    if span is None:
        return message
    place = span.source.position(span.start)
    return f"{message} ({span.source.name}:{place.line}:{place.column})"


def _is_of_hypothesis(error: Exception) -> bool:
    return type(error).__module__.startswith("hypothesis")


def fault_of(error: Exception) -> str:
    """A fault of dralang in one line: where it broke, and how."""
    frames = extract_tb(error.__traceback__)
    where = f"{frames[-1].name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__} in {where}: {' '.join(str(error).split())[:300]}"
