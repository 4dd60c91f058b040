"""A run over many fuzzes: chunks of examples, one after the other or in worker processes, with the same findings.

Every chunk has a seed of its own. Results are taken in the order in which the chunks were given out, and what comes
after the first failing chunk of a fuzz does not count: so the number of workers changes nothing but the time.
"""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct, field, structs

from dralang.fuzz.engine import Engine, EngineError, HandleT, Order, packed
from dralang.fuzz.example import Example
from dralang.fuzz.explore import CHUNK, Chunk, Explorer, seed_of
from dralang.fuzz.how import How
from dralang.fuzz.memory import Memory
from dralang.fuzz.reach import Reached, States
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario, Settings


class Target(Struct, frozen=True):
    """A fuzz and its file."""

    path: Path
    scenario: Scenario


class Plan(Struct, frozen=True):
    """How much is to be done.

    Attributes:
        seed: where random choices start.
        max_examples: of each fuzz; None for no limit.
        seconds: of the whole run; None for no limit.
        workers: how many processes; 1 for this one alone.
        scheduler: the address of a Dask scheduler, whose workers are used instead; empty for none.
        overrides: settings over what files say.
        defaults: settings where files say nothing.
        how: how stories are drawn and judged.
    """

    seed: int = 0
    max_examples: int | None = 1_000
    seconds: float | None = None
    workers: int = 1
    scheduler: str = ""
    overrides: Settings | None = None
    defaults: Settings | None = None
    how: How = How()


class Outcome(Struct):
    """What has become of a fuzz so far; grows while the run goes on.

    Attributes:
        target: the fuzz.
        examples: played.
        discarded: drawn, and did not go together.
        why_discarded: one of the reasons.
        reached: what was reached, but for the states.
        states: these.
        example: the smallest one that failed, played once more; None if none did, or if dralang broke.
        choices: of the same.
        signature: of its failure.
        fault: what broke in dralang.
        remembered: it had failed in an earlier run.
        last: the last chunk that counts.
        program: the fuzz as workers get it.
        counts: what was compared with oracles.
    """

    target: Target
    examples: int = 0
    discarded: int = 0
    why_discarded: str = ""
    reached: Reached = Reached()
    states: States = field(default_factory=States)
    example: Example | None = None
    choices: tuple[int, ...] | None = None
    signature: str = ""
    fault: str = ""
    remembered: bool = False
    last: int = -1
    program: bytes = b""
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether an example failed."""
        return self.choices is not None

    @property
    def xfailed(self) -> bool:
        """Whether one failed as its author expects (``xfail``); nobody expects faults of dralang."""
        return self.failed and not self.fault and self.target.scenario.xfail is not None

    @property
    def found(self) -> bool:
        """Whether something was found."""
        return self.failed and not self.xfailed


class Listener(Protocol):
    """Hears of the progress."""

    def progressed(self, outcomes: Sequence[Outcome], current: Outcome) -> None:
        """A chunk is done."""


class Campaign:
    """One run.

    Args:
        targets: the fuzzes.
        plan: how much.
        listener: hears of each chunk.
        memory: of what failed before; None to know nothing.
    """

    def __init__(self, targets: Sequence[Target], plan: Plan, listener: Listener, memory: Memory | None) -> None:
        self.plan = plan
        self.listener = listener
        self.memory = memory
        self.outcomes = [Outcome(target) for target in targets]
        self.deadline = None if plan.seconds is None else time.time() + plan.seconds
        self.explorer = Explorer(Workshop(), self._has_time, plan.how)
        self.interrupted = False
        self.broken: EngineError | None = None

    def run(self) -> None:
        """Do it; the outcomes are in ``outcomes``. Ctrl-C ends it early, and so do workers that are gone (``broken``).

        Raises:
            EngineError: there are no workers from the start.
        """
        engine = self._engine()
        try:
            self._remembered()
            if engine is None:
                self._here()
            else:
                self._in_workers(engine)
        except KeyboardInterrupt:
            self.interrupted = True
        except EngineError as error:
            self.broken = error
        finally:
            if engine is not None:
                engine.close()
        for outcome in self.outcomes:
            self._played_again(outcome)
        self.explorer.close()

    def xpassed(self, outcome: Outcome) -> bool:
        """Whether a fuzz that is to fail has not, in all the examples that it was to have."""
        if self.interrupted or self.broken is not None or outcome.failed:
            return False
        return outcome.examples > 0 and outcome.target.scenario.xfail is not None

    def _engine(self) -> Engine[Any] | None:
        plan = self.plan
        if plan.scheduler:
            from dralang.fuzz.dask import Dask  # noqa: PLC0415 - an extra that most runs do without

            return Dask(plan.scheduler)
        if plan.workers > 1:
            from dralang.fuzz.processes import Processes  # noqa: PLC0415 - brings what one process does without

            return Processes(plan.workers)
        return None

    def _has_time(self) -> bool:
        return self.deadline is None or time.time() < self.deadline

    # ---- what failed before -----------------------------------------------------------------------------------------

    def _remembered(self) -> None:
        if self.memory is None:
            return
        for outcome in self.outcomes:
            scenario = outcome.target.scenario
            keys = self.plan.how.keys(scenario.node_id)
            for key, choices in [(each, choices) for each in keys for choices in self.memory.failing(each)]:
                example = self.explorer.replay(scenario, choices)
                fault = example if isinstance(example, str) else ""
                signature = f"fault {fault.partition(': ')[0]}" if isinstance(example, str) else example.signature
                if signature:
                    outcome.choices, outcome.signature, outcome.fault = choices, signature, fault
                    outcome.remembered = True
                    self.listener.progressed(self.outcomes, outcome)
                    break
                self.memory.forget(key, choices)

    def _played_again(self, outcome: Outcome) -> None:
        """The smallest failing example, here: a worker sends only its choices."""
        if outcome.choices is None:
            return
        example = self.explorer.replay(outcome.target.scenario, outcome.choices)
        if isinstance(example, str):
            outcome.fault = example
        else:
            outcome.example = example

    # ---- chunks -----------------------------------------------------------------------------------------------------

    def _chunks(self) -> Iterator[tuple[Outcome, int, int]]:
        """Outcome, number and size of the chunks, one of each fuzz in turn, as long as there is something to do."""
        number = 0
        while self._has_time():
            left = False
            for outcome in self.outcomes:
                size = CHUNK
                if self.plan.max_examples is not None:
                    size = min(CHUNK, self.plan.max_examples - number * CHUNK)
                if size > 0 and not outcome.failed:
                    left = True
                    yield outcome, number, size
            if not left:
                return
            number += 1

    def _take(self, outcome: Outcome, number: int, chunk: Chunk) -> None:
        if outcome.failed:
            return
        outcome.examples += chunk.examples
        outcome.discarded += chunk.discarded
        outcome.why_discarded = outcome.why_discarded or chunk.why_discarded
        outcome.states.add(chunk.reached.states)
        outcome.reached |= structs.replace(chunk.reached, states=frozenset())
        outcome.last = number
        for name, count in chunk.counts.items():
            outcome.counts[name] = outcome.counts.get(name, 0) + count
        if chunk.choices is not None:
            outcome.choices, outcome.signature, outcome.fault = chunk.choices, chunk.signature, chunk.fault
            if self.memory is not None:
                key = self.plan.how.key(outcome.target.scenario.node_id, chunk.signature)
                self.memory.keep(key, chunk.choices)
        self.listener.progressed(self.outcomes, outcome)

    def _here(self) -> None:
        for outcome, number, size in self._chunks():
            scenario = outcome.target.scenario
            try:
                chunk = self.explorer.chunk(scenario, seed_of(self.plan.seed, scenario, number), size)
            except KeyboardInterrupt:
                if self.explorer.unfinished is not None:
                    self._take(outcome, number, self.explorer.unfinished)
                raise
            self._take(outcome, number, chunk)

    def _in_workers(self, engine: Engine[HandleT]) -> None:
        waiting: deque[tuple[Outcome, int, Order, HandleT]] = deque()
        chunks = self._chunks()
        while True:
            while len(waiting) < engine.width and (found := next(chunks, None)) is not None:
                outcome, number, size = found
                order = self._order(outcome, number, size)
                waiting.append((outcome, number, order, engine.submit(order)))
            if not waiting:
                return
            outcome, number, order, handle = waiting.popleft()
            if outcome.failed:
                engine.cancel(handle)  # it comes after the first failing chunk and does not count
            else:
                self._take(outcome, number, engine.result(order, handle))

    def _order(self, outcome: Outcome, number: int, size: int) -> Order:
        scenario = outcome.target.scenario
        if not outcome.program:
            outcome.program = packed(scenario)
        return Order(outcome.program, seed_of(self.plan.seed, scenario, number), size, self.deadline, self.plan.how)
