"""What preemption has promised: devices held for preemptors, and the victims' claims that are not free yet.

Only in memory: a scheduler that restarts knows nothing of it.

Source: KEP-5690, Claim nomination.
"""

from collections.abc import Container
from typing import NamedTuple

from dralang.api.allocation import AllocationResult
from dralang.api.resourceclaim import ResourceClaim


class ClaimNomination(NamedTuple):
    """The devices that a preemptor has earned on its nominated node.

    Attributes:
        node: the node.
        priority: of the preemptor.
        results: the claims of the preemptor, each with what it was given in the simulation.
    """

    node: str
    priority: int
    results: tuple[tuple[ResourceClaim, AllocationResult], ...]

    def result_for(self, uid: str) -> AllocationResult | None:
        """What the claim with that UID was given."""
        return next((result for claim, result in self.results if claim.metadata.uid == uid), None)


class Nominations:
    """Claim nominations by preemptor (UID), and the claims that wait for their deallocation by node.

    INVARIANT: a claim nomination never exists without the nominated node in the scheduler's nominator. The plugin adds
    one when preemption chooses a node, right before the node is nominated, and the nominator has it removed.
    """

    def __init__(self) -> None:
        self._by_pod: dict[str, ClaimNomination] = {}
        self._victims: dict[str, dict[str, dict[str, None]]] = {}
        """Node, victim claim, and the preemptors that wait for it: a failure of one is not one of another."""
        self._freed: tuple[str, frozenset[str]] = ("", frozenset())
        """The claim that was deallocated last, and the nodes that waited for it."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is held and nothing is waited for."""
        return not self._by_pod and not any(self._victims.values())

    def of(self, pod: str) -> ClaimNomination | None:
        """The nomination of a pod."""
        return self._by_pod.get(pod)

    def all(self) -> dict[str, ClaimNomination]:
        """All nominations, by UID of the pod, in the order in which they came."""
        return dict(self._by_pod)

    def on(self, pod: str, node: str) -> ClaimNomination | None:
        """The nomination of a pod, if it is for this node."""
        found = self._by_pod.get(pod)
        return found if found is not None and found.node == node else None

    def at_least(self, priority: int, node: str, but: str) -> list[ClaimNomination]:
        """What is held on a node for other pods that are at least as important."""
        return [
            found
            for pod, found in self._by_pod.items()
            if found.node == node and found.priority >= priority and pod != but
        ]

    def victims_on(self, node: str) -> list[str]:
        """The victims' claims (UIDs) on a node that are not deallocated yet."""
        return list(self._victims.get(node, ()))

    def victims_of(self, pod: str, node: str) -> list[str]:
        """Those of them that this pod's preemption has released."""
        return [uid for uid, pods in self._victims.get(node, {}).items() if pod in pods]

    def is_open_to(self, user: str, priority: int, claim: str, node: str) -> bool:
        """Whether all others who wait for the deallocation of a claim are less important than that pod."""
        waiting = self._victims.get(node, {}).get(claim, {})
        return all(self._by_pod[pod].priority < priority for pod in waiting if pod in self._by_pod and pod != user)

    def nodes(self) -> list[str]:
        """The nodes with victims' claims that are not deallocated yet."""
        return [node for node, claims in self._victims.items() if claims]

    def track(self, pod: str, node: str, claims: list[str]) -> None:
        """From now on the deallocation of a node's claims is waited for."""
        waiting = self._victims.setdefault(node, {})
        for uid in claims:
            waiting.setdefault(uid, {})[pod] = None

    def nominate(self, pod: str, nomination: ClaimNomination) -> None:
        """Hold devices for a pod; what was held for it before is free."""
        self._by_pod[pod] = nomination

    def remove(self, pod: str, node: str) -> ClaimNomination | None:
        """Hold nothing for the pod on that node any more; return what was held."""
        if self.on(pod, node) is None:
            return None
        return self._by_pod.pop(pod)

    def forget_victims(self, pod: str, node: str, but: Container[str] = ()) -> None:
        """The preemption failed: the claims that only this pod waits for need not become free, except some."""
        waiting = self._victims.get(node, {})
        for uid, pods in list(waiting.items()):
            if uid not in but:
                pods.pop(pod, None)
            if not pods:
                del waiting[uid]

    def deallocated(self, uid: str) -> None:
        """A claim is free; it may be allocated again at once, for somebody else."""
        if not self._victims:
            return
        nodes = [node for node, waiting in self._victims.items() if waiting.pop(uid, None) is not None]
        self._freed = (uid, frozenset(nodes))

    def was_waited_for(self, uid: str, node: str) -> bool:
        """Whether the claim that was deallocated last is this one, and a victim's on that node."""
        return self._freed[0] == uid and node in self._freed[1]
