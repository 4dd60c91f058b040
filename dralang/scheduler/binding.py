"""The binding cycle: what happens between the choice of a node and the pod being there.

Source: kubernetes pkg/scheduler/schedule_one.go (bindingCycle, handleBindingCycleError).
"""

from collections.abc import Callable

from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.clock import Phase, Timer
from dralang.cluster.errors import ApiError
from dralang.cluster.journal import JournalEntry
from dralang.cluster.store import ObjectStore
from dralang.scheduler.dynamicresources.binding import ClaimBinder, Conflict
from dralang.scheduler.dynamicresources.binding_conditions import Readiness, is_timed_out, readiness
from dralang.scheduler.dynamicresources.cycle_data import STATE, StateData
from dralang.scheduler.dynamicresources.extended_resources import SPECIAL_NAME
from dralang.scheduler.framework import CycleState
from dralang.scheduler.queue import QueuedPod

POLL = 5_000
"""How often the conditions of devices are looked at, in milliseconds."""


class Binding:
    """One pod on the way to its node. The scheduler and the binder change it.

    Attributes:
        queued: the pod.
        state: of its scheduling cycle.
        node: where it goes.
        nominated: the node to which the pod was nominated when the attempt began, empty for none.
        deadline: when waiting for devices ends.
        preempted: a more important pod took its place before it was bound.
    """

    __slots__ = ("deadline", "node", "nominated", "preempted", "queued", "state", "timer")

    def __init__(self, queued: QueuedPod, state: CycleState, node: str) -> None:
        self.queued = queued
        self.state = state
        self.node = node
        self.nominated = queued.pod.status.nominated_node_name
        self.deadline = 0
        self.preempted = False
        self.timer: Timer | None = None

    @property
    def data(self) -> StateData | None:
        """The state of DynamicResources, if it has anything to do with the pod."""
        data = self.state.read(STATE)
        return data if data is not None and data.claims else None


class Binder:
    """Runs binding cycles.

    Args:
        store: the API server.
        component: whose entries of the event queue it adds.
        claims: writes claims.
        timeout: how long to wait for devices, in milliseconds; 0 if devices are not waited for.
        done: told that a pod is bound.
        failed: told that a binding failed, and why.
    """

    def __init__(
        self,
        store: ObjectStore,
        component: str,
        claims: ClaimBinder,
        *,
        timeout: int,
        done: Callable[[Binding], None],
        failed: Callable[[Binding, str], None],
    ) -> None:
        self._store = store
        self._component = component
        self._claims = claims
        self._timeout = timeout
        self._done = done
        self._failed = failed
        self.waiting: dict[str, Binding] = {}
        """The bindings that are not over yet, by UID of the pod."""
        self._polling: dict[str, None] = {}
        """Those of them that wait for devices, and perhaps some that are over."""

    def start(self, binding: Binding) -> None:
        """Begin a binding cycle at this instant."""
        self.waiting[binding.queued.info.uid] = binding
        self._store.events.schedule(Phase.BINDING, self._component, self._pre_bind, binding)

    @staticmethod
    def foretell(binding: Binding) -> None:
        """A pod that is not bound yet is to be preempted: all is given back, also if its binding fails first."""
        if binding.data is not None:
            binding.data.preempted = True

    def cancel(self, binding: Binding) -> None:
        """Preempt a pod that is not bound yet: its binding fails at once."""
        binding.preempted = True
        self.foretell(binding)
        if binding.timer is not None:
            binding.timer.cancel()
        self._store.events.schedule(Phase.BINDING, self._component, self._poll, binding)

    def _pre_bind(self, binding: Binding) -> None:
        info = binding.queued.info
        data = binding.data
        if info.uid not in self.waiting:
            return
        if data is not None:
            problem = self._claims.bind_claims(data, info, binding.node)
            if isinstance(problem, Conflict):
                self._store.events.schedule(Phase.BINDING, self._component, self._pre_bind, binding)
                return
            if problem:
                self._fail_pre_bind(binding, problem)
                return
            if self._timeout and self._claims.must_wait(data):
                self._wait(binding)
                return
            self._claims.settle(data)
        self._bind(binding)

    def _wait(self, binding: Binding) -> None:
        meta = binding.queued.pod.metadata
        now = self._store.events.now
        binding.deadline = now + self._timeout
        text = f"waiting for binding conditions for device on node {binding.node}"
        entry = JournalEntry(
            now, self._component, "Pod", meta.namespace, meta.name, "BindingConditionsPending", text, (binding.node,)
        )
        self._store.journal.record(entry)
        # Whoever watches the pod can see where it is going to be.
        self._store.patch_status(Pod, meta.namespace, meta.name, nominated_node_name=binding.node)
        self._poll(binding)

    def _poll(self, binding: Binding) -> None:
        if binding.queued.info.uid not in self.waiting:
            return
        data = binding.data
        if binding.preempted:
            self._fail_pre_bind(binding, "preempted by DefaultPreemption")
            return
        assert data is not None
        ready = self._look(data)
        if ready.state == "ready":
            self._claims.settle(data)
            self._bind(binding)
        elif ready.state == "failed":
            self._fail_pre_bind(binding, ready.message)
        elif self._store.events.now >= binding.deadline:
            self._fail_pre_bind(binding, "device binding timeout: context deadline exceeded")
        else:
            delay = min(POLL, binding.deadline - self._store.events.now)
            binding.timer = self._store.events.schedule(
                Phase.BINDING, self._component, self._poll, binding, delay=delay, far=True
            )
            self._polling[binding.queued.info.uid] = None

    def _look(self, data: StateData) -> Readiness:
        """Look at the claims in order, as they are now; the first one that is not ready decides.

        Also at those whose devices have no conditions: who has lost them waits for the time-out.
        """
        for index, claim in enumerate(data.claims):
            meta = claim.metadata
            if meta.name == SPECIAL_NAME:
                continue  # was not written: the node serves the resource itself
            current = self._store.get(ResourceClaim, meta.namespace, meta.name)
            if current is None:
                return Readiness("failed", f'could not find ResourceClaim "{meta.namespace}/{meta.name}"')
            data.claims[index] = current
            ready = readiness(current)
            if ready.state == "waiting" and is_timed_out(current, self._store.events.now, self._timeout):
                return Readiness("failed", f"device binding timeout: claim={meta.name}")
            if ready.state != "ready":
                return ready
        return Readiness("ready")

    def watch(self, old: ResourceClaim | None, claim: ResourceClaim) -> None:
        """A claim changed: a wait that its devices end is no longer one that nobody waits for."""
        if old is not None and _tells_the_same(old, claim):
            return  # what the scheduler writes itself ends no wait
        for uid in list(self._polling):
            binding = self.waiting.get(uid)
            if binding is None:
                del self._polling[uid]
                continue
            data = binding.data
            if binding.timer is None or data is None:
                continue
            if any(each.metadata.uid == claim.metadata.uid for each in data.claims):
                self._store.events.bring_near(binding.timer)

    def _bind(self, binding: Binding) -> None:
        meta = binding.queued.pod.metadata
        bound = self._store.bind(meta.namespace, meta.name, meta.uid, binding.node)
        if isinstance(bound, ApiError):
            self._fail(binding, f'running Bind plugin "DefaultBinder": {bound.message}')
            return
        del self.waiting[meta.uid]
        self._done(binding)

    def _fail_pre_bind(self, binding: Binding, message: str) -> None:
        self._fail(binding, f'running PreBind plugin "DynamicResources": {message}')

    def _fail(self, binding: Binding, message: str) -> None:
        del self.waiting[binding.queued.info.uid]
        self._failed(binding, message)


def _tells_the_same(old: ResourceClaim, new: ResourceClaim) -> bool:
    """Whether a change of a claim says nothing about its devices."""
    return old.status.devices == new.status.devices and (
        old.status.allocation is None or old.status.allocation is new.status.allocation
    )
