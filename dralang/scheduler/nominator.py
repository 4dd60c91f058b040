"""Pods that are meant for a node on which there is no room yet.

Source: kubernetes pkg/scheduler/backend/queue/nominator.go.
"""

from dralang.scheduler.node_info import PodInfo


class PodNominator:
    """Which pods are nominated to which node. Only the scheduler changes it."""

    def __init__(self) -> None:
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
        """Nominate a pod; an earlier nomination of it ends."""
        self.delete(info.uid)
        self._by_node.setdefault(node, {})[info.uid] = info
        self._node[info.uid] = node

    def delete(self, uid: str) -> None:
        """End the nomination of a pod."""
        node = self._node.pop(uid, None)
        if node is not None:
            del self._by_node[node][uid]
