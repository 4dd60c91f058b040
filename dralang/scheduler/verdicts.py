"""What the filters and the node-local scores said before, for as long as the node stays the same.

Most pods of a large cluster want the same as the one before, and between two pods only one node changes. So verdicts
are kept per signature (everything about a pod that the filters look at) and node, and forgotten when something
happens to the node. A cycle then costs a walk over a list instead of a run of all filters.

Source: the idea is upstream's pod signature (OpportunisticBatching), taken further; the outcome is the same.
"""

from collections.abc import Callable, Hashable, Iterable

from dralang.scheduler.framework import CycleState, NodeStatuses, Status
from dralang.scheduler.node_info import NodeInfo

UNKNOWN, REFUSED, FITS = 0, 1, 2


class Verdicts:
    """The verdicts on pods of one signature.

    Attributes:
        nodes: the nodes in the order of the search; another list means another order.
        verdicts: by position in `nodes`.
        statuses: the refusals, by position.
        scores: the node-local scores where they were computed, by position.
        failure: why no node fits, if none does and nothing happened since that was found.
    """

    __slots__ = ("failure", "kept", "nodes", "positions", "scores", "statuses", "verdicts")

    def __init__(self, nodes: list[NodeInfo], kept: CycleState) -> None:
        self.nodes = nodes
        # Keeps alive what the signature knows only by identity.
        self.kept = kept
        self.positions = {node.name: position for position, node in enumerate(nodes)}
        self.verdicts = bytearray(len(nodes))
        self.statuses: dict[int, Status] = {}
        self.scores: list[int | None] = [None] * len(nodes)
        self.failure: NodeStatuses | None = None

    def forget(self, node: str) -> None:
        """Something happened to a node."""
        position = self.positions.get(node)
        if position is not None:
            self.failure = None
            self.verdicts[position] = UNKNOWN
            self.scores[position] = None

    def walk(
        self, start: int, wanted: int, judge: Callable[[NodeInfo], Status | None], passing: Iterable[str]
    ) -> tuple[list[int], list[int]] | Status:
        """Find nodes that fit, from a position on.

        Args:
            start: where to begin.
            wanted: stop after so many.
            judge: runs the filters; None is a node that fits.
            passing: nodes whose verdict depends on more than themselves, so that it is not kept.

        Returns:
            The positions of those that fit and of those that do not, as far as the walk went; or the error that ended
            it.
        """
        verdicts, nodes = self.verdicts, self.nodes
        if not passing and UNKNOWN not in verdicts:
            return self._known(start, wanted)
        self.failure = None
        fitting: list[int] = []
        refused: list[int] = []
        changing = {self.positions[name] for name in passing if name in self.positions}
        for position in (*range(start, len(nodes)), *range(start)):
            verdict = verdicts[position]
            if verdict == UNKNOWN or position in changing:
                status = judge(nodes[position])
                if status is not None and not status.is_rejected:
                    return status
                verdict = FITS if status is None else REFUSED
                passes = position in changing or (status is not None and status.personal)
                verdicts[position] = UNKNOWN if passes else verdict
                if status is not None:
                    self.statuses[position] = status
            if verdict == FITS:
                fitting.append(position)
                if len(fitting) >= wanted:
                    break
            else:
                refused.append(position)
        return fitting, refused

    def _known(self, start: int, wanted: int) -> tuple[list[int], list[int]]:
        """The walk where nothing has to be judged."""
        verdicts, count = self.verdicts, len(self.nodes)
        if FITS not in verdicts:
            return [], [*range(start, count), *range(start)]
        fitting: list[int] = []
        refused: list[int] = []
        for position in (*range(start, count), *range(start)):
            if verdicts[position] == FITS:
                fitting.append(position)
                if len(fitting) >= wanted:
                    break
            else:
                refused.append(position)
        return fitting, refused

    def remember_failure(self, statuses: NodeStatuses) -> None:
        """No node fits, for these reasons; kept if every verdict is known."""
        if UNKNOWN not in self.verdicts:
            statuses.count()
            self.failure = statuses


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
