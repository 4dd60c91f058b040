"""What the filters and the node-local scores said before, for as long as the node stays the same.

Most pods of a large cluster want the same as the one before, and between two pods only one node changes. So verdicts
are kept per signature (everything about a pod that the filters look at) and node, and forgotten when something
happens to the node. The nodes that fit stand in one list in the order of the search, so that a cycle cuts its share
out of it and looks only at the nodes that changed: its cost does not grow with those that did not.

Source: the idea is upstream's pod signature (OpportunisticBatching), taken further; the outcome is the same.
"""

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import NamedTuple
from weakref import ref

from dralang.scheduler.framework import Code, CycleState, NodeStatuses, Status
from dralang.scheduler.node_info import NodeInfo

UNKNOWN, REFUSED, FITS = 0, 1, 2


class Walk(NamedTuple):
    """What a search found.

    Attributes:
        fitting: the positions of the nodes that fit, in the order of the search.
        scores: the node-local score of each, None where it is not known.
        visited: how many nodes the search has passed.
        failure: why no node fits; None if one does.
    """

    fitting: list[int]
    scores: list[int | None]
    visited: int
    failure: NodeStatuses | None


class Refusals:
    """Why nodes refuse, by name, with the numbers that messages need.

    What was handed out is copied before a change only if somebody still has it.
    """

    __slots__ = ("_codes", "_plugins", "_reasons", "_shared", "own")

    def __init__(self) -> None:
        self.own: dict[str, Status] = {}
        self._reasons: Counter[tuple[str, ...]] = Counter()
        self._codes: Counter[Code] = Counter()
        self._plugins: Counter[str] = Counter()
        self._shared: ref[NodeStatuses] | None = None

    def put(self, node: str, status: Status) -> None:
        """A node refuses."""
        self._own()[node] = status
        self._count(status, 1)

    def drop(self, node: str) -> None:
        """A node refuses no more."""
        self._count(self._own().pop(node), -1)

    def _own(self) -> dict[str, Status]:
        if self._shared is not None:
            if self._shared() is not None:
                self.own = dict(self.own)
            self._shared = None
        return self.own

    def _count(self, status: Status, sign: int) -> None:
        self._reasons[status.reasons] += sign
        self._codes[status.code] += sign
        self._plugins[status.plugin] += sign

    def statuses(self) -> NodeStatuses:
        """All of them; the same object as long as somebody has it and nothing changes."""
        shared = self._shared() if self._shared is not None else None
        if shared is None:
            shared = NodeStatuses.counted(self.own, +self._reasons, +self._codes, +self._plugins)
            self._shared = ref(shared)
        return shared


class Verdicts:
    """The verdicts on pods of one signature.

    Attributes:
        nodes: the nodes in the order of the search; another list means another order.
    """

    __slots__ = ("_fitting", "_positions", "_refusals", "_scores", "_unknown", "_verdicts", "kept", "nodes")

    def __init__(self, nodes: list[NodeInfo], kept: CycleState) -> None:
        self.nodes = nodes
        # Keeps alive what the signature knows only by identity.
        self.kept = kept
        self._positions = {node.name: position for position, node in enumerate(nodes)}
        self._verdicts = bytearray(len(nodes))
        # INVARIANT: both are sorted; a position is in the first, or in the second, or its node refuses.
        self._fitting: list[int] = []
        self._unknown = list(range(len(nodes)))
        self._scores: list[int | None] = []
        self._refusals = Refusals()

    def forget(self, node: str) -> None:
        """Something happened to a node."""
        position = self._positions.get(node)
        if position is not None and self._verdicts[position] != UNKNOWN:
            self._take_out(position)
            insort(self._unknown, position)

    def _take_out(self, position: int) -> None:
        if self._verdicts[position] == FITS:
            index = bisect_left(self._fitting, position)
            del self._fitting[index]
            del self._scores[index]
        else:
            self._refusals.drop(self.nodes[position].name)
        self._verdicts[position] = UNKNOWN

    def _put(self, position: int, status: Status | None) -> None:
        if status is None:
            self._verdicts[position] = FITS
            index = bisect_left(self._fitting, position)
            self._fitting.insert(index, position)
            self._scores.insert(index, None)
        else:
            self._verdicts[position] = REFUSED
            self._refusals.put(self.nodes[position].name, status)

    def walk(
        self, start: int, wanted: int, judge: Callable[[NodeInfo], Status | None], passing: Iterable[str]
    ) -> Walk | Status:
        """Find nodes that fit, from a position on.

        Args:
            start: where to begin.
            wanted: stop after so many.
            judge: runs the filters; None is a node that fits.
            passing: nodes whose verdict depends on more than themselves, so that it is not kept.

        Returns:
            What was found; or the error that ended the search.
        """
        for name in passing:
            self.forget(name)
        changing = {self._positions[name] for name in passing if name in self._positions}
        passed: list[int] = []
        unknown, count = self._unknown, len(self.nodes)
        visited = self._reach(start, wanted)
        while unknown:
            index = bisect_left(unknown, start)
            if index == len(unknown):
                index = 0
            position = unknown[index]
            if (position - start) % count >= visited:
                break
            status = judge(self.nodes[position])
            if status is not None and not status.is_rejected:
                self._forget_all(passed)
                return status
            del unknown[index]
            self._put(position, status)
            if position in changing or (status is not None and status.personal):
                passed.append(position)
            if status is None:
                visited = self._reach(start, wanted)
        found = self._result(start, wanted, visited)
        self._forget_all(passed)
        return found

    def _forget_all(self, positions: list[int]) -> None:
        for position in positions:
            self.forget(self.nodes[position].name)

    def _reach(self, start: int, wanted: int) -> int:
        """How many nodes a search passes until enough fit, as far as is known."""
        fitting, count = self._fitting, len(self.nodes)
        if len(fitting) < wanted:
            return count
        last = fitting[(bisect_left(fitting, start) + wanted - 1) % len(fitting)]
        return (last - start) % count + 1

    def _result(self, start: int, wanted: int, visited: int) -> Walk:
        fitting, scores = self._fitting, self._scores
        if not fitting:
            return Walk([], [], visited, self._refusals.statuses())
        first = bisect_left(fitting, start)
        end = first + wanted
        if end <= len(fitting):
            return Walk(fitting[first:end], scores[first:end], visited, None)
        rest = min(end - len(fitting), first)
        return Walk(fitting[first:] + fitting[:rest], scores[first:] + scores[:rest], visited, None)

    def set_score(self, position: int, score: int) -> None:
        """The node-local score of a node, kept if its verdict is."""
        if self._verdicts[position] == FITS:
            self._scores[bisect_left(self._fitting, position)] = score


class VerdictCache:
    """The verdicts of the most recent signatures. Whoever changes a node tells it."""

    MOST = 16

    def __init__(self) -> None:
        self._by_signature: dict[Hashable, Verdicts] = {}

    def of(self, signature: Hashable, nodes: list[NodeInfo], state: CycleState) -> Verdicts:
        """The verdicts for a signature on these nodes."""
        known = self._by_signature.pop(signature, None)
        if known is None or known.nodes is not nodes:
            known = Verdicts(nodes, state)
            while len(self._by_signature) >= self.MOST:
                del self._by_signature[next(iter(self._by_signature))]
        self._by_signature[signature] = known
        return known

    def forget_node(self, node: str) -> None:
        """Something happened to a node or to what it can use."""
        for verdicts in self._by_signature.values():
            verdicts.forget(node)

    def forget_all(self) -> None:
        """Something happened that concerns all nodes."""
        self._by_signature.clear()
