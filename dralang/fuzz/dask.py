"""The engine of many machines: the workers of a Dask cluster that is there already.

Dask gives a chunk whose worker is lost to another one. What it needs of the machines is Python, Dask and the same
dralang: the orders carry the rest.
"""

import logging
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pkgutil import resolve_name
from threading import Lock
from typing import Any, Final

from msgspec.structs import replace

from dralang.fuzz.engine import EngineError, Order, carry_out, lost_worker
from dralang.fuzz.explore import Chunk
from dralang.fuzz.identity import IDENTITY, difference

REACHING: Final = 10.0
"""Seconds for the scheduler to answer."""
GATHERING: Final = 15.0
"""Seconds for the first worker to come."""
PATIENCE: Final = 60.0
"""Seconds without a single worker before the run is given up: they may be on their way."""
_ASK: Final = 2.0
"""Seconds between two looks at how many workers there are."""
_TRIES: Final = 2
"""How often Dask may give a chunk up, each time after several lost workers, before the fuzz is to blame."""
_INSTALL: Final = "install it, here and where the workers run: `pip install 'dralang[dask]'`"
_ALONE: Final = Lock()
"""Hypothesis and a workshop belong to one thread at a time; a second one would not make Python faster."""


class Dask:
    """The workers of a Dask cluster.

    Args:
        address: of the scheduler, as `tcp://host:8786`.

    Raises:
        EngineError: Dask is not installed, or nobody answers, or there is no worker, or one with another dralang.
    """

    def __init__(self, address: str) -> None:
        try:
            # The extra is not there, or half of it.
            import distributed  # noqa: PLC0415 - an extra
        except ImportError as error:
            message = f"`--engine dask` needs Dask, which cannot be imported: {error}"
            raise EngineError(message, _INSTALL) from None
        self.address = address
        self.killed: type[Exception] = distributed.KilledWorker
        self.asked = 0.0
        self.threads = 1
        self.logger = logging.getLogger("distributed")
        self.level = self.logger.level
        # Dask logs what this module says in its own words.
        self.logger.setLevel(logging.CRITICAL + 1)
        try:
            self.client: Any = self._connected(distributed)
        except BaseException:
            self.logger.setLevel(self.level)
            raise
        try:
            self._gather()
        except BaseException:
            self.close()
            raise

    # ---- the beginning ----------------------------------------------------------------------------------------------

    def _connected(self, distributed: Any) -> Any:
        try:
            with _versions_unsaid(distributed):
                return distributed.Client(self.address, timeout=REACHING, set_as_default=False, name="dralang-fuzz")
        except Exception as error:  # whatever listens there says whatever it says
            told = " ".join(str(error).split())[:200] or type(error).__name__
            raise EngineError(
                f"no Dask scheduler answers at `{self.address}`: {told}",
                "start one with `dask scheduler` and give its address: `--scheduler tcp://HOST:8786`",
            ) from None

    def _gather(self) -> None:
        """Wait for a worker, and see that all of them have this very dralang."""
        until = time.monotonic() + GATHERING
        while not self._count():
            if time.monotonic() > until:
                raise EngineError(
                    f"the Dask scheduler at `{self.address}` has no workers",
                    f"start some: `dask worker {self.address} --nworkers 4 --nthreads 1`",
                )
            time.sleep(0.1)
        answers: Mapping[str, Any] = self.client.run(
            resolve_name, f"{difference.__module__}:IDENTITY", on_error="return"
        )
        for worker, answer in sorted(answers.items()):
            if isinstance(answer, Exception):
                wrong = f"cannot load this dralang: {type(answer).__name__}: {answer}"
            else:
                wrong = difference(answer)
            if wrong:
                raise _unlike(worker, wrong)

    def _count(self) -> int:
        """How many threads all workers have together."""
        try:
            threads: Mapping[str, int] = self.client.nthreads()
        except (OSError, RuntimeError):
            return 0
        self.asked = time.monotonic()
        self.threads = max(1, sum(threads.values()))
        return len(threads)

    # ---- orders -----------------------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        """See ``Engine``; workers may come and go."""
        if time.monotonic() - self.asked > _ASK:
            self._count()
        return 2 * self.threads

    def submit(self, order: Order) -> Any:
        """See ``Engine``."""
        # Their clock is not ours.
        seconds = None if order.deadline is None else order.deadline - time.time()
        elsewhere = replace(order, deadline=None)
        return self.client.submit(carry_out_elsewhere, elsewhere, seconds, dict(IDENTITY), pure=False)

    def result(self, order: Order, handle: Any) -> Chunk:
        """See ``Engine``."""
        alone_since: float | None = None
        killed = 0
        while True:
            try:
                chunk: Chunk = handle.result(timeout=_ASK)
            except TimeoutError:
                alone_since = self._alone(alone_since)
            except self.killed:
                # Dask counts what was waiting at a lost worker too.
                killed += 1
                if killed == _TRIES:
                    return lost_worker()
                handle = self.submit(order)
            except UnlikeError as error:
                raise _unlike(error.worker, difference(error.identity)) from None
            except Exception as error:
                if handle.cancelled():
                    raise self._lost("the connection to it is lost") from None
                told = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
                raise EngineError(f"a Dask worker cannot do its work: {told}", _INSTALL) from None
            else:
                return chunk

    def _alone(self, since: float | None) -> float | None:
        """Since when there has been no worker, if there is none now."""
        if self._count():
            return None
        now = time.monotonic()
        if since is not None and now - since > PATIENCE:
            raise self._lost(f"it has had no worker for {PATIENCE:.0f} seconds")
        return now if since is None else since

    def _lost(self, what: str) -> EngineError:
        return EngineError(
            f"the Dask scheduler at `{self.address}` cannot be used any more: {what}",
            "what was found until then counts; the same seed finds the rest",
        )

    def cancel(self, handle: Any) -> None:
        """See ``Engine``."""
        handle.release()

    def close(self) -> None:
        """Leave the cluster; it goes on without us."""
        try:
            # What we do not hold any more is not done any more.
            self.client.close(timeout=REACHING)
        except (OSError, RuntimeError):
            pass  # it is gone already
        finally:
            self.logger.setLevel(self.level)


class UnlikeError(Exception):
    """A worker has another dralang; raised there.

    Attributes:
        worker: its address.
        identity: its own.
    """

    def __init__(self, worker: str, identity: Mapping[str, str]) -> None:
        super().__init__(worker, identity)
        self.worker = worker
        self.identity = identity


def carry_out_elsewhere(order: Order, seconds: float | None, identity: Mapping[str, str]) -> Chunk:
    """Do a chunk in a worker of Dask.

    Args:
        order: without a deadline.
        seconds: how long from now on; None for as long as it takes.
        identity: of whoever gives the order; workers that came later were not asked for theirs.

    Raises:
        UnlikeError: this is another dralang.
    """
    if identity != IDENTITY:
        from distributed import get_worker  # noqa: PLC0415 - an extra

        raise UnlikeError(get_worker().address, dict(IDENTITY))
    with _ALONE:
        return carry_out(order if seconds is None else replace(order, deadline=time.time() + seconds))


def _unlike(worker: str, wrong: str) -> EngineError:
    return EngineError(
        f"the Dask worker at {worker} {wrong}",
        "it would find something else with the same seed: install there what is installed here",
    )


@contextmanager
def _versions_unsaid(distributed: Any) -> Iterator[None]:
    """Dask warns of other versions of Python and of itself; what matters here is looked at by ourselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", distributed.versions.VersionMismatchWarning)
        yield
