"""Virtual time: one heap of everything that is still to happen.

An entry is due at an instant (integer milliseconds), in a phase, in the order in which it was added: the order
(time, phase, sequence) is total, so the same scenario always takes the same course. Inside one instant the earliest
phase with work runs next; what it causes joins the heap, so that an instant ends when nothing is left that is due.

Whoever owns an entry can be paused (its entries wait until it is resumed) or slowed down (entries added later are due
later), which is how a scenario injects faults without the components knowing.
"""

from collections.abc import Callable, Iterable
from enum import IntEnum
from heapq import heappop, heappush
from sys import maxsize
from typing import Any

from msgspec import Struct


class Phase(IntEnum):
    """What comes first inside one instant."""

    SCENARIO = 0
    API_SERVER = 1
    CONTROLLER = 2
    SCHEDULER_EVENT = 3
    SCHEDULING = 4
    BINDING = 5
    CLEANUP = 6
    """What controllers tidy up: a real scheduler is faster (it hears of the end of a pod before its claim is free). And
    whom the scheduler evicts: what has begun to be tidied up by then is done before."""


class Timer(Struct, order=True):
    """One thing that is to happen; only the queue that made it changes it. The order is that of happening."""

    time: int
    phase: Phase
    sequence: int
    component: str
    action: Callable[[Any], None]
    argument: object
    queue: "EventQueue"
    far: bool = False
    state: int = 0

    def cancel(self) -> None:
        """Make sure that it does not happen; harmless if it already did."""
        self.queue.cancel(self)

    @property
    def is_pending(self) -> bool:
        """Whether it is still to happen."""
        return self.state != _DONE


_WAITING, _PARKED, _DONE = range(3)
"""What a timer's state can be; it begins as the first of them."""


class Listener:
    """Who hears of something, and when.

    Args:
        component: who listens.
        phase: when inside an instant.
        handler: what is told.
        wants: False for news for which the handler would do nothing; asked when they are spread.
    """

    __slots__ = ("component", "handler", "last_due", "phase", "wants")

    def __init__(
        self, component: str, phase: Phase, handler: Callable[[Any], None], wants: Callable[[Any], bool] | None
    ) -> None:
        self.component = component
        self.phase = phase
        self.handler = handler
        self.wants = wants
        self.last_due = 0
        """When it hears of the last news that were spread since anybody is late."""


class EventQueue:
    """The clock and the heap. Components add entries; only the simulation runs them."""

    def __init__(self) -> None:
        self.now = 0
        """The current instant in milliseconds since the start."""
        self.near_count = 0
        """How many waiting entries are not far: as long as there are any, the cluster has not settled."""
        self.executed = 0
        self.on_event: Callable[[], None] | None = None
        """Called after every single entry, for those who look on."""
        self.watches_all = True
        """False: only after those that leave nothing near."""
        self.running = ""
        """The component whose entry runs; empty between two entries."""
        self._heap: list[Timer] = []
        self._sequence = 0
        self._parked: dict[str, list[Timer]] = {}
        self.delays: dict[str, int] = {}
        """By how many milliseconds components hear of changes late, those that do."""

    def schedule(
        self,
        phase: Phase,
        component: str,
        action: Callable[[Any], None],
        argument: object = None,
        *,
        delay: int = 0,
        far: bool = False,
    ) -> Timer:
        """Add an entry that is due `delay` milliseconds from now.

        A far entry is one that nobody waits for: see `near_count`.
        """
        self._sequence = sequence = self._sequence + 1
        due = self.now + delay
        timer = Timer(due, phase, sequence, component, action, argument, self, far)
        if self._parked and component in self._parked and phase is not Phase.SCENARIO:
            timer.state = _PARKED
            self._parked[component].append(timer)
            return timer
        heappush(self._heap, timer)
        if not far:
            self.near_count += 1
        return timer

    def spread(self, news: object, listeners: Iterable[Listener]) -> None:
        """Let everybody who wants to hear of something, in this order and as late as each of them is."""
        now, delays, parked = self.now, self.delays, self._parked
        heap, sequence = self._heap, self._sequence
        for each in listeners:
            component, due = each.component, now
            if component in delays:
                # INVARIANT: whoever listens hears of things in their order, even after its lag became smaller.
                each.last_due = due = max(now + delays[component], each.last_due)
            if due == now and each.wants is not None and not each.wants(news):
                continue  # what comes later keeps the cluster busy until then, even if it changes nothing
            sequence += 1
            timer = Timer(due, each.phase, sequence, component, each.handler, news, self)
            if component in parked:
                timer.state = _PARKED
                parked[component].append(timer)
            else:
                heappush(heap, timer)
                self.near_count += 1
        self._sequence = sequence

    def cancel(self, timer: Timer) -> None:
        """Take an entry out, wherever it waits."""
        if timer.state == _WAITING and not timer.far:
            self.near_count -= 1
        timer.state = _DONE

    def bring_near(self, timer: Timer) -> None:
        """Turn a far entry into one that settling waits for."""
        if timer.far:
            timer.far = False
            if timer.state == _WAITING:
                self.near_count += 1

    def next_time(self) -> int | None:
        """When the next entry is due, or None if nothing is left."""
        heap = self._heap
        while heap and heap[0].state == _DONE:
            heappop(heap)
        return heap[0].time if heap else None

    def run_next(self) -> None:
        """Run the next entry; there must be one."""
        due = self.next_time()
        assert due is not None, "something is left"
        self._run(due, 1, to_rest=False)

    def run_until(self, instant: int, most: int) -> bool:
        """Run everything that is due up to an instant, that instant included.

        Args:
            instant: the last one.
            most: how many entries may run.

        Returns:
            Whether nothing is left up to the instant.
        """
        return self._run(instant, most, to_rest=False)

    def run_to_rest(self, instant: int | None, most: int) -> bool:
        """Run entries up to the first instant after which only far ones are left.

        Args:
            instant: the last one; None for no end.
            most: how many entries may run.

        Returns:
            Whether that instant came.
        """
        return self._run(instant, most, to_rest=True)

    def _run(self, last: int | None, most: int, *, to_rest: bool) -> bool:
        # One loop without calls of its own: a story is a hundred entries and more.
        heap, end = self._heap, maxsize if last is None else last
        while heap:
            timer = heappop(heap)
            if timer.state == _DONE:
                continue
            time = timer.time
            is_later = time > self.now
            if is_later and to_rest and not self.near_count:
                heappush(heap, timer)
                return True
            if time > end or not most:
                heappush(heap, timer)
                return not to_rest and time > end
            most -= 1
            if not timer.far:
                self.near_count -= 1
            if is_later:
                self.now = time
            timer.state = _DONE
            self.executed += 1
            self.running = timer.component
            timer.action(timer.argument)
            self.running = ""
            if self.on_event is not None and (self.watches_all or not self.near_count):
                self.on_event()
        return True

    def pause(self, component: str) -> None:
        """From now on nothing that the component has to do happens, and nobody waits for it."""
        if component in self._parked:
            return
        parked = self._parked[component] = []
        kept = []
        for timer in sorted(self._heap):
            if timer.component != component or timer.phase is Phase.SCENARIO or timer.state != _WAITING:
                kept.append(timer)
                continue
            timer.state = _PARKED
            parked.append(timer)
            if not timer.far:
                self.near_count -= 1
        self._heap[:] = kept  # in place: whoever runs the entries holds the list

    def resume(self, component: str) -> None:
        """Let the component work off, now and in order, what has waited."""
        for timer in self._parked.pop(component, []):
            if timer.state == _DONE:
                continue
            timer.state = _WAITING
            timer.time = max(timer.time, self.now)
            heappush(self._heap, timer)
            if not timer.far:
                self.near_count += 1

    def is_paused(self, component: str) -> bool:
        """Whether the component is paused."""
        return component in self._parked

    def slow_down(self, component: str, delay: int) -> None:
        """Let the component hear of changes `delay` milliseconds late from now on."""
        self.delays[component] = delay

    def lag(self, component: str) -> int:
        """By how many milliseconds the component hears of changes late."""
        return self.delays.get(component, 0)

    def drop(self, component: str) -> None:
        """Forget everything that the component still has to do, as when its process ends."""
        for timer in self._heap:
            if timer.component == component and timer.state == _WAITING:
                self.cancel(timer)
        if component in self._parked:
            self._parked[component] = []

    def pending(self) -> list[Timer]:
        """Everything that waits, in the order in which it will happen; for explanations."""
        return [timer for timer in sorted(self._heap) if timer.state == _WAITING]
