"""The disruption controller: how many pods a PodDisruptionBudget lets go.

The pods of a simulation have no controller of their own, so budgets that count in shares of a desired number of pods
(`maxUnavailable`, percentages) allow no disruption, as in a real cluster.

Source: kubernetes pkg/controller/disruption/disruption.go.
"""

from msgspec.structs import replace

from dralang.api.disruption import PodDisruptionBudget, PodDisruptionBudgetStatus
from dralang.api.meta import Condition
from dralang.api.pods import Pod
from dralang.api.selectors import matches_labels
from dralang.cluster.errors import ApiError
from dralang.cluster.store import ObjectStore, WatchEvent
from dralang.cluster.timestamps import format_time
from dralang.controllers.controller import RETRY, Controller


class DisruptionController(Controller[tuple[str, str]]):
    """Keeps the status of budgets; an item is the namespace and name of one."""

    name = "disruption-controller"

    def __init__(self, store: ObjectStore) -> None:
        super().__init__(store)
        store.subscribe(self.name, self.phase, (PodDisruptionBudget,), self._on_budget)
        store.subscribe(self.name, self.phase, (Pod,), self._on_pod, _has_labels)

    def start(self) -> None:
        """Look at all budgets."""
        for budget in self.store.objects(PodDisruptionBudget):
            self.enqueue((budget.metadata.namespace, budget.metadata.name))

    def _on_budget(self, event: WatchEvent) -> None:
        if event.new is not None:
            self.enqueue((event.new.metadata.namespace, event.new.metadata.name))

    def _on_pod(self, event: WatchEvent) -> None:
        pod: Pod = event.new if event.new is not None else event.old
        if not pod.metadata.labels:
            return
        for budget in self.store.objects(PodDisruptionBudget):
            if budget.metadata.namespace == pod.metadata.namespace and matches_labels(
                budget.spec.selector, pod.metadata.labels
            ):
                self.enqueue((budget.metadata.namespace, budget.metadata.name))

    def sync(self, item: tuple[str, str]) -> None:
        """Count the pods of a budget."""
        budget = self.store.get(PodDisruptionBudget, *item)
        if budget is None:
            return
        pods = [
            pod
            for pod in self.store.objects(Pod)
            if pod.metadata.namespace == item[0] and matches_labels(budget.spec.selector, pod.metadata.labels)
        ]
        counts = isinstance(budget.spec.min_available, int) and budget.spec.max_unavailable is None
        wanted = budget.spec.min_available if counts and isinstance(budget.spec.min_available, int) else 0
        expected = len(pods) if counts else 0
        healthy = sum(pod.metadata.deletion_timestamp is None and _is_ready(pod) for pod in pods)
        allowed = max(0, healthy - wanted) if expected else 0
        status = PodDisruptionBudgetStatus(
            observed_generation=budget.metadata.generation,
            disruptions_allowed=allowed,
            current_healthy=healthy,
            desired_healthy=wanted,
            expected_pods=expected,
            conditions=(self._condition(budget, allowed),),
        )
        if status != budget.status:
            written = self.store.update_status(replace(budget, status=status))
            if isinstance(written, ApiError):
                self.enqueue(item, RETRY)

    def _condition(self, budget: PodDisruptionBudget, allowed: int) -> Condition:
        known = next((each for each in budget.status.conditions if each.type == "DisruptionAllowed"), None)
        changed = known is None or (known.status == "True") != (allowed > 0)
        since = format_time(self.events.now) if changed or known is None else known.last_transition_time
        return Condition(
            type="DisruptionAllowed",
            status="True" if allowed else "False",
            reason="SufficientPods" if allowed else "InsufficientPods",
            observed_generation=budget.metadata.generation,
            last_transition_time=since,
        )


def _is_ready(pod: Pod) -> bool:
    return any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


def _has_labels(event: WatchEvent) -> bool:
    """Whether a budget can select the pod."""
    pod: Pod = event.new if event.new is not None else event.old
    return bool(pod.metadata.labels)
