"""The engine of one machine: worker processes, replaced when they are lost."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process, resource_tracker
from threading import Thread
from typing import Final

from dralang.fuzz.engine import Order, carry_out, lost_worker
from dralang.fuzz.explore import Chunk

_TRIES: Final = 2
"""How often an order that lost its worker is done again before the fuzz is to blame."""


class Processes:
    """Worker processes.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.width = 2 * workers
        resource_tracker.ensure_running()  # before signals are blocked: it unblocks them when it starts
        self.others = {child.pid for child in active_children()}
        self.executor = self._start()

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.workers, mp_context=get_context("spawn"), initializer=_begin)

    def submit(self, order: Order) -> "Future[Chunk]":
        """See ``Engine``."""
        with _interrupts_later():  # processes start here
            try:
                return self.executor.submit(carry_out, order)
            except BrokenProcessPool:
                self._replace()
                return self.executor.submit(carry_out, order)

    def result(self, order: Order, handle: "Future[Chunk]") -> Chunk:
        """See ``Engine``.

        A worker that ends takes all the others with it, and nobody says whose fault it was: so what was lost is done
        again while nothing else is under way.
        """
        for _ in range(_TRIES):
            try:
                return handle.result()
            except (BrokenProcessPool, CancelledError):
                handle = self.submit(order)
        try:
            return handle.result()
        except BrokenProcessPool:
            return lost_worker()

    def _replace(self) -> None:
        self.executor.shutdown(wait=False, cancel_futures=True)
        self.executor = self._start()

    def cancel(self, handle: "Future[Chunk]") -> None:
        """See ``Engine``."""
        handle.cancel()

    def close(self) -> None:
        """End the workers, whatever they are at: nobody waits for their results any more."""
        self.executor.shutdown(wait=False, cancel_futures=True)
        for child in active_children():
            if child.pid not in self.others:
                child.terminate()


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Ctrl-C waits; a process that is started meanwhile never hears of it, not even before ``_begin``."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin() -> None:
    """Ctrl-C is for the process that reports, and when that is gone there is nobody to work for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
