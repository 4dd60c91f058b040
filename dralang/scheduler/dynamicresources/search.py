"""The search for devices as seen from outside: how long it takes, and what it means that it found nothing.

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, Filter.
"""

from dralang.allocator.outcome import FatalError, GaveUp, NodeError, Outcome, Unallocatable
from dralang.cluster.clock import EventQueue
from dralang.scheduler.framework import Code, Status

SEARCH = "allocation"
"""What a scenario delays to make the search for devices slow."""
CANNOT_ALLOCATE = Status(Code.UNRESOLVABLE, "cannot allocate all claims")


class DeviceSearch:
    """How long the search takes, on all nodes side by side.

    Args:
        events: the clock, which knows what the scenario delays.
        timeout: after how many milliseconds it is given up; 0 for never.
    """

    def __init__(self, events: EventQueue, timeout: int) -> None:
        self._events = events
        self._timeout = timeout

    @property
    def is_slow(self) -> bool:
        """Whether it takes any time."""
        return self._events.lag(SEARCH) > 0

    @property
    def times_out(self) -> bool:
        """Whether it takes longer than it may."""
        return bool(self._events.delays) and 0 < self._timeout < self._events.lag(SEARCH)

    @property
    def duration(self) -> int:
        """How many milliseconds it takes, until it ends or is given up."""
        return self._timeout if self.times_out else self._events.lag(SEARCH)


def timed_out(node: str) -> Status:
    """The search on a node was given up."""
    return Status(Code.ERROR, f"node {node}: timed out trying to allocate devices")


def refusal(outcome: Outcome, node: str) -> Status:
    """What it means for the node that the claims were not allocated."""
    if isinstance(outcome, Unallocatable):
        return CANNOT_ALLOCATE
    match outcome:
        case NodeError(message=message):
            return Status(Code.UNRESOLVABLE, message, personal=True)
        case FatalError(message=message):
            return Status(Code.ERROR, message)
        case GaveUp():
            return timed_out(node)
        case _:
            raise AssertionError(f"{type(outcome).__name__} is no refusal")
