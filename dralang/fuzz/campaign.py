"""A run over many fuzzes: chunks of examples, one after the other or in worker processes, with the same findings.

Every chunk has a seed of its own. Results are taken in the order in which the chunks were given out, and what comes
after the first failing chunk of a fuzz does not count: so the number of workers changes nothing but the time.
"""

import signal
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Final, Protocol

from msgspec import Struct

from dralang.check.analysis import Analysis, Analyzer
from dralang.fuzz.example import Example
from dralang.fuzz.explore import Chunk, Explorer, seed_of
from dralang.fuzz.memory import Memory
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario, Settings

CHUNK: Final = 50
"""Examples to a chunk."""
_LIVES: Final = 3
"""How often a chunk is given out again when its worker is lost."""


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
        overrides: settings over what files say.
        defaults: settings where files say nothing.
    """

    seed: int = 0
    max_examples: int | None = 1_000
    seconds: float | None = None
    workers: int = 1
    overrides: Settings | None = None
    defaults: Settings | None = None


class Outcome(Struct):
    """What has become of a fuzz so far; grows while the run goes on.

    Attributes:
        target: the fuzz.
        examples: played.
        discarded: drawn, and did not go together.
        why_discarded: one of the reasons.
        reached: see ``example.reached_by``.
        example: the smallest one that failed, played once more; None if none did, or if dralang broke.
        choices: of the same.
        signature: of its failure.
        fault: what broke in dralang.
        remembered: it had failed in an earlier run.
        last: the last chunk that counts.
    """

    target: Target
    examples: int = 0
    discarded: int = 0
    why_discarded: str = ""
    reached: frozenset[str] = frozenset()
    example: Example | None = None
    choices: tuple[int, ...] | None = None
    signature: str = ""
    fault: str = ""
    remembered: bool = False
    last: int = -1

    @property
    def failed(self) -> bool:
        """Whether something was found."""
        return self.choices is not None


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
        self.explorer = Explorer(Workshop(), self._has_time)
        self.interrupted = False

    def run(self) -> None:
        """Do it; the outcomes are in ``outcomes``. Ctrl-C ends it early."""
        try:
            self._remembered()
            if self.plan.workers > 1:
                self._in_workers()
            else:
                self._here()
        except KeyboardInterrupt:
            self.interrupted = True
        for outcome in self.outcomes:
            self._played_again(outcome)

    def _has_time(self) -> bool:
        return self.deadline is None or time.time() < self.deadline

    # ---- what failed before -----------------------------------------------------------------------------------------

    def _remembered(self) -> None:
        if self.memory is None:
            return
        for outcome in self.outcomes:
            scenario = outcome.target.scenario
            for choices in self.memory.failing(scenario.node_id):
                example = self.explorer.replay(scenario, choices)
                fault = example if isinstance(example, str) else ""
                signature = f"fault {fault.partition(': ')[0]}" if isinstance(example, str) else example.signature
                if signature:
                    outcome.choices, outcome.signature, outcome.fault = choices, signature, fault
                    outcome.remembered = True
                    self.listener.progressed(self.outcomes, outcome)
                    break
                self.memory.forget(scenario.node_id, choices)

    def _played_again(self, outcome: Outcome) -> None:
        """The smallest failing example, here: a worker sends only its choices."""
        if outcome.choices is None:
            return
        if self.memory is not None:
            self.memory.keep(outcome.target.scenario.node_id, outcome.choices)
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
        outcome.reached |= chunk.reached
        outcome.last = number
        if chunk.choices is not None:
            outcome.choices, outcome.signature, outcome.fault = chunk.choices, chunk.signature, chunk.fault
        self.listener.progressed(self.outcomes, outcome)

    def _here(self) -> None:
        for outcome, number, size in self._chunks():
            scenario = outcome.target.scenario
            self._take(outcome, number, self.explorer.chunk(scenario, seed_of(self.plan.seed, scenario, number), size))

    def _in_workers(self) -> None:
        pool = _Pool(self.plan.workers)
        waiting: deque[tuple[Outcome, int, _Task, Future[Chunk]]] = deque()
        chunks = self._chunks()
        try:
            while True:
                while len(waiting) < 2 * self.plan.workers and (found := next(chunks, None)) is not None:
                    outcome, number, size = found
                    task = self._task(outcome, number, size)
                    waiting.append((outcome, number, task, pool.submit(task)))
                if not waiting:
                    return
                outcome, number, task, future = waiting.popleft()
                if outcome.failed:
                    future.cancel()  # it comes after the first failing chunk and does not count
                    continue
                chunk = pool.result(task, future)
                if chunk is None:
                    # The worker was lost: everything that was given out is given out again.
                    waiting.appendleft((outcome, number, task, future))
                    waiting = deque([(each, no, job, pool.submit(job)) for each, no, job, _ in waiting])
                    continue
                self._take(outcome, number, chunk)
        finally:
            pool.close()

    def _task(self, outcome: Outcome, number: int, size: int) -> "_Task":
        target, plan = outcome.target, self.plan
        return _Task(
            str(target.path),
            target.scenario.title,
            seed_of(plan.seed, target.scenario, number),
            size,
            self.deadline,
            plan.overrides,
            plan.defaults,
        )


class _Task(Struct, frozen=True):
    """A chunk, for another process."""

    path: str
    title: str
    number: int
    examples: int
    deadline: float | None
    overrides: Settings | None
    defaults: Settings | None


class _Pool:
    """Worker processes, replaced when they are lost; private to this module."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.lost: dict[tuple[str, str, int], int] = {}
        self.executor = self._start()

    def _start(self) -> ProcessPoolExecutor:
        self.others = {child.pid for child in active_children()}
        return ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"), initializer=_ignore_interrupts)

    def submit(self, task: _Task) -> "Future[Chunk]":
        return self.executor.submit(work, task)

    def result(self, task: _Task, future: "Future[Chunk]") -> Chunk | None:
        """The result; None if its worker was lost, then there are new ones."""
        try:
            return future.result()
        except BrokenProcessPool:
            key = (task.path, task.title, task.number)
            self.lost[key] = self.lost.get(key, 0) + 1
            self.executor.shutdown(wait=False, cancel_futures=True)
            self.executor = self._start()
            if self.lost[key] >= _LIVES:
                fault = "WorkerLost in worker: a process that explored this fuzz ended again and again"
                return Chunk(0, 0, "", frozenset(), (), "fault WorkerLost in worker", fault)
            return None

    def close(self) -> None:
        """End the workers, whatever they are at: nobody waits for their results any more."""
        self.executor.shutdown(wait=False, cancel_futures=True)
        for child in active_children():
            if child.pid not in self.others:
                child.terminate()


def _ignore_interrupts() -> None:
    """Ctrl-C is for the process that reports."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def work(task: _Task) -> Chunk:
    """Explore a chunk in a worker process."""
    explorer, scenarios = _analysed(task.path, repr((task.overrides, task.defaults)), _Shared(task))
    scenario = scenarios.get(task.title)
    if scenario is None:
        return Chunk(0, 0, "", frozenset())
    deadline = task.deadline
    explorer.keep_going = None if deadline is None else lambda: time.time() < deadline
    return explorer.chunk(scenario, task.number, task.examples)


@lru_cache(maxsize=64)
def _analysed(path: str, settings: str, task: "_Shared") -> tuple[Explorer, dict[str, Scenario]]:
    analysis = Analyzer(task.task.overrides, task.task.defaults).path(Path(path))
    found = analysis.scenarios if isinstance(analysis, Analysis) else ()
    return Explorer(Workshop()), {scenario.title: scenario for scenario in found if scenario.template is not None}


class _Shared:
    """A task that is equal to every other one: what matters of it stands next to it in the key of the cache."""

    def __init__(self, task: _Task) -> None:
        self.task = task

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Shared)

    def __hash__(self) -> int:
        return 0
