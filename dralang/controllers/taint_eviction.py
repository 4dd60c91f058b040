"""The taint eviction controller: pods leave nodes with a NoExecute taint that they do not tolerate.

Source: kubernetes pkg/controller/tainteviction (taint_eviction.go, timed_workers.go), the same from 1.34 to 1.38.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeAlias

from dralang.api.affinity import Taint, Toleration
from dralang.api.nodes import Node
from dralang.api.pods import Pod, PodCondition
from dralang.api.tolerations import covers
from dralang.cluster.errors import ApiError
from dralang.cluster.store import ObjectStore, WatchEvent, with_condition
from dralang.controllers.controller import Controller

ATTEMPTS = 5
"""How often it tries to evict a pod that the API server does not let go; then it gives up."""

PAUSE = 10
"""How long it waits between two attempts, in milliseconds."""

_GIVEN: Final = tuple(
    [
        Toleration(key=f"node.kubernetes.io/{name}", operator="Exists", effect="NoExecute", toleration_seconds=300)
        for name in ("not-ready", "unreachable")
    ]
)
"""Tolerations that pods have if they say nothing of these taints (kubernetes plugin/pkg/admission/
defaulttolerationseconds)."""

Key: TypeAlias = tuple[str, str]


class Eviction(NamedTuple):
    """A pod that has to go.

    Attributes:
        uid: of the pod.
        planned: when that was found out, in milliseconds.
        due: when it has to go.
        why: the taints of its node, in words.
        attempts: that have failed.
    """

    uid: str
    planned: int
    due: int
    why: str
    attempts: int = 0


class TaintEvictionController(Controller[Key]):
    """Evicts pods; an item is the namespace and name of one whose time may have come.

    Pods that have ended go too: it looks at nothing but their node.
    """

    name = "taint-eviction-controller"

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store)
        self._due: dict[Key, Eviction] = {}
        store.subscribe(self.name, self.phase, (Node,), self._on_node, _is_about_taints)
        store.subscribe(self.name, self.phase, (Pod,), self._on_pod, self._is_on_a_tainted_node)

    def forget(self) -> None:
        """Forget when who has to go: the time of their tolerations begins anew."""
        self._due = {}

    def start(self) -> None:
        """Look at all nodes with such taints."""
        for node in self.store.objects(Node):
            if no_execute(node):
                self._review(node)

    # What changed.

    def _on_node(self, event: WatchEvent) -> None:
        if event.new is None:
            return  # pods of a node that is gone are left to the garbage collector, what is planned stays
        node = self.store.get(Node, "", event.new.metadata.name)
        if node is not None:
            self._review(node)

    def _review(self, node: Node) -> None:
        for pod in self.store.objects(Pod):
            if pod.spec.node_name == node.metadata.name:
                self._consider(pod, node)

    def _is_on_a_tainted_node(self, event: WatchEvent) -> bool:
        """Whether a pod came to such a node, or tolerates something else there.

        A node that gets its taints later, or loses them, is itself an event.
        """
        if not _is_placed_anew(event):
            return False
        node = self.store.get(Node, "", event.new.spec.node_name)
        return node is not None and bool(no_execute(node))

    def _on_pod(self, event: WatchEvent) -> None:
        if not _is_placed_anew(event):
            return
        meta = event.new.metadata
        pod = self.store.get(Pod, meta.namespace, meta.name)
        node = None if pod is None else self.store.get(Node, "", pod.spec.node_name)
        if pod is not None and node is not None:
            self._consider(pod, node)

    def _consider(self, pod: Pod, node: Node) -> None:
        """Plan, hasten or cancel the eviction of a pod."""
        key = (pod.metadata.namespace, pod.metadata.name)
        now = self.events.now
        planned = self._due.get(key)
        if planned is not None and planned.uid != pod.metadata.uid:
            planned = None
        taints = no_execute(node)
        used = _used(taints, pod.spec.tolerations)
        seconds = 0 if None in used else _shortest(used)
        if seconds is None:
            if planned is not None:
                del self._due[key]
                self.record("Pod", *key, "EvictionCancelled", "stays after all: the taint is gone or tolerated")
            return
        if planned is not None and None not in used and planned.planned < now:
            return  # what was planned earlier stands, even if it comes later than this
        why = f"node `{node.metadata.name}` has {', '.join(f'{each.key}={each.value}' for each in taints)}:NoExecute"
        start = now if planned is None else planned.planned
        self._due[key] = Eviction(pod.metadata.uid, start, now + seconds * 1000, why)
        self.enqueue(key, seconds * 1000, far=seconds > 0)

    # What is done.

    def sync(self, item: Key) -> None:
        """Evict a pod whose time has come."""
        planned = self._due.get(item)
        if planned is None:
            return
        if planned.due > self.events.now:
            self.enqueue(item, planned.due - self.events.now, far=True)
            return
        pod = self.store.get(Pod, *item)
        if pod is None or pod.metadata.uid != planned.uid or self._evict(pod, planned):
            del self._due[item]
        elif planned.attempts + 1 < ATTEMPTS:
            self._due[item] = planned._replace(due=self.events.now + PAUSE, attempts=planned.attempts + 1)
            self.enqueue(item, PAUSE)
        else:
            del self._due[item]

    def _evict(self, pod: Pod, planned: Eviction) -> bool:
        """Delete a pod with a condition that says why; whether that went well."""
        namespace, name = pod.metadata.namespace, pod.metadata.name
        if pod.metadata.deletion_timestamp is not None:
            return True
        if not planned.attempts:
            self.record("Pod", namespace, name, "TaintManagerEviction", f"evicted: {planned.why}")
        condition = PodCondition(
            type="DisruptionTarget",
            status="True",
            reason="DeletionByTaintManager",
            message="Taint manager: deleting due to NoExecute taint",
        )
        conditions = with_condition(pod.status.conditions, condition)
        if isinstance(self.store.patch_status(Pod, namespace, name, conditions=conditions), ApiError):
            return False
        return self.store.delete(Pod, namespace, name) is None


def no_execute(node: Node) -> tuple[Taint, ...]:
    """The taints of a node that drive pods away."""
    return tuple([each for each in node.spec.taints if each.effect == "NoExecute"])


def _used(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> list[Toleration | None]:
    """For each taint the first toleration that covers it."""
    # What the API server gives every pod is not in the stored pods here: the scheduler does not need it.
    given = [each for each in _GIVEN if not any(_is_about(own, each.key) for own in tolerations)]
    return [next((each for each in (*tolerations, *given) if covers(each, taint)), None) for taint in taints]


def _is_about(toleration: Toleration, key: str) -> bool:
    return toleration.key in ("", key) and toleration.effect in ("", "NoExecute")


def _shortest(used: Iterable[Toleration | None]) -> int | None:
    """How many seconds a pod may stay; None for ever."""
    limits = [each.toleration_seconds for each in used if each is not None and each.toleration_seconds is not None]
    return max(0, min(limits)) if limits else None


def _is_placed_anew(event: WatchEvent) -> bool:
    """Whether a pod got a node or other tolerations there."""
    old: Pod | None = event.old
    new: Pod | None = event.new
    if new is None or not new.spec.node_name:
        return False
    return old is None or old.spec.node_name != new.spec.node_name or old.spec.tolerations != new.spec.tolerations


def _is_about_taints(event: WatchEvent) -> bool:
    """Whether a node has other taints of this effect than before."""
    old = () if event.old is None else no_execute(event.old)
    return event.new is not None and no_execute(event.new) != old
