"""What carries out chunks for a run: the orders that it gives out, and what every engine does with them.

An order carries the checked program, so that a worker needs none of the files: it may run on another machine, and a
file that changes during a run changes nothing in it.
"""

import pickle
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol, TypeVar
from zlib import compress, decompress

from msgspec import Struct

from dralang.fuzz.explore import Chunk, Explorer
from dralang.fuzz.how import How
from dralang.fuzz.reach import Reached
from dralang.run.workshop import Workshop
from dralang.scenario.model import Scenario


class Order(Struct, frozen=True):
    """A chunk to be done.

    Attributes:
        program: the fuzz, see ``packed``.
        number: the seed of the chunk.
        examples: how many.
        deadline: when to stop, as ``time.time`` counts; None for never.
        how: how stories are drawn and judged.
    """

    program: bytes
    number: int
    examples: int
    deadline: float | None
    how: How = How()


class EngineError(Exception):
    """The workers cannot be used, or not any more."""

    def __init__(self, message: str, way_out: str) -> None:
        super().__init__(message)
        self.message = message
        self.help = way_out


HandleT = TypeVar("HandleT")


class Engine(Protocol[HandleT]):
    """Workers somewhere."""

    @property
    def width(self) -> int:
        """How many orders should be given out at a time, so that nobody waits for work."""

    def submit(self, order: Order) -> HandleT:
        """Give out an order; the handle stands for its result."""

    def result(self, order: Order, handle: HandleT) -> Chunk:
        """The result. What was lost with its worker is done again first.

        Raises:
            EngineError: there is nobody left to do it.
        """

    def cancel(self, handle: HandleT) -> None:
        """Nobody needs the result any more."""

    def close(self) -> None:
        """End what is under way."""


def packed(scenario: Scenario) -> bytes:
    """A fuzz as bytes."""
    return compress(pickle.dumps(scenario))


def carry_out(order: Order) -> Chunk:
    """Do a chunk in a worker."""
    explorer, scenario = _unpacked(order.program, order.how)
    deadline = order.deadline
    explorer.keep_going = _until(deadline) if deadline is not None else None
    return explorer.chunk(scenario, order.number, order.examples)


def _until(deadline: float) -> Callable[[], bool]:
    return lambda: time.time() < deadline


@lru_cache(maxsize=64)
def _unpacked(program: bytes, how: How) -> tuple[Explorer, Scenario]:
    scenario: Scenario = pickle.loads(decompress(program))
    return Explorer(Workshop(), how=how), scenario


def lost_worker() -> Chunk:
    """What is found if a chunk loses one worker after the other."""
    fault = "WorkerLost in worker: a process that explored this fuzz ended again and again"
    return Chunk(0, 0, "", Reached(), (), "fault WorkerLost in worker", fault)
