"""Pods that are meant for a node on which there is no room yet.

Source: kubernetes pkg/scheduler/backend/queue/nominator.go.
"""

from collections.abc import Callable

from dralang.scheduler.framework import NominationEnd
from dralang.scheduler.node_info import PodInfo

Ended = Callable[[PodInfo, str, NominationEnd], None]


class PodNominator:
    """Which pods are nominated to which node. Only the scheduler changes it.

    Args:
        ended: told of every nomination that ends, also because the pod is nominated to another node.
    """

    def __init__(self, ended: Ended = lambda _info, _node, _cause: None) -> None:
        self._ended = ended
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._node: dict[str, str] = {}

    def node_of(self, uid: str) -> str:
        """The node a pod is nominated to, empty if none."""
        return self._node.get(uid, "")

    def pods_for(self, node: str) -> list[PodInfo]:
        """The pods nominated to a node, in the order of their nomination."""
        found = self._by_node.get(node)
        return list(found.values()) if found else []

    def nodes(self) -> list[str]:
        """The nodes that somebody is nominated to."""
        return [node for node, pods in self._by_node.items() if pods]

    def add(self, info: PodInfo, node: str) -> None:
        """Nominate a pod; an earlier nomination of it to another node ends."""
        before = self._node.get(info.uid)
        if before is not None and before != node:
            self.delete(info.uid)
        elif before is not None:
            del self._by_node[before][info.uid]
        self._by_node.setdefault(node, {})[info.uid] = info
        self._node[info.uid] = node

    def delete(self, uid: str, cause: NominationEnd = "ended") -> None:
        """End the nomination of a pod."""
        node = self._node.pop(uid, None)
        if node is not None:
            info = self._by_node[node].pop(uid)
            self._ended(info, node, cause)
