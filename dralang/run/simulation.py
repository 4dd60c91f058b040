"""A whole simulated cluster: the store, the scheduler and the controllers on one clock.

Nothing here is random and nothing looks at a real clock: the same calls give the same trace, byte for byte.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from dralang.allocator.profiles import AllocatorProfile, allocator_profile
from dralang.api.expressions import DeviceExpressions
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.strategies import Operation
from dralang.api.validation.context import CelChecker
from dralang.api.workloads import PodGroup
from dralang.cluster.admission import KubernetesObject
from dralang.cluster.clock import EventQueue
from dralang.cluster.errors import ApiError
from dralang.cluster.journal import Journal, JournalEntry
from dralang.cluster.store import NAMESPACED, Contents, ObjectStore, namespace_of
from dralang.controllers.controller import Controller
from dralang.controllers.device_taint_eviction import DeviceTaintEvictionController
from dralang.controllers.disruption import DisruptionController
from dralang.controllers.garbage_collector import GarbageCollector
from dralang.controllers.kubelet import Kubelet
from dralang.controllers.pod_garbage import PodGarbageCollector
from dralang.controllers.podgroup_protection import PodGroupProtectionController
from dralang.controllers.pool_status import PoolStatusController
from dralang.controllers.resourceclaim import ResourceClaimController
from dralang.controllers.taint_eviction import TaintEvictionController
from dralang.features import FeatureGates
from dralang.readings import faults_of, readings_of
from dralang.run.admission import ServerAdmission
from dralang.scheduler.dynamicresources.inventories import Inventories
from dralang.scheduler.scheduler import Scheduler
from dralang.scheduler.settings import DEFAULT_SETTINGS, SchedulerSettings

T = TypeVar("T", bound=KubernetesObject)

EVENT_LIMIT = 2_000_000
"""How many events may run up to an instant before it counts as never reached."""

MOST_LOADED = 16
"""How many beginnings an environment remembers."""

RESTLESS_EVENTS, RESTLESS_EVENTS_PER_OBJECT = 10_000, 500
"""How many events may run before a cluster counts as never coming to rest: a pod is tried again some 2,000 times."""


class Environment:
    """What simulations with the same version, gates and expressions share: it only remembers pure results.

    Args:
        features: the gates of all components.
        expressions: compiles and evaluates device expressions.
        quirks: faults of the version, and readings of KEPs, to switch on or off.
        settings: of the scheduler.
        checker: compiles expressions as the API server does that looks at what users write; without one it takes
            everything.
    """

    def __init__(
        self,
        features: FeatureGates,
        expressions: DeviceExpressions,
        quirks: dict[str, bool] | None = None,
        settings: SchedulerSettings = DEFAULT_SETTINGS,
        checker: CelChecker | None = None,
    ) -> None:
        self.features = features
        self.settings = settings
        self.checker = checker
        self.readings = readings_of(quirks or {})
        faults = faults_of(quirks or {})
        self.profile: AllocatorProfile = allocator_profile(features.version, _allocator_gates(features), faults)
        self.inventories = Inventories(self.profile, expressions)
        self._loaded: dict[tuple[int, ...], tuple[Sequence[KubernetesObject], Contents]] = {}
        """What stores hold after the creation of these objects, by identity; the objects are kept alive for that."""

        self.found_right: dict[tuple[object, ...], Any] = {}
        """What invariants have found right, by the objects that they judge by; see ``run.invariants.found_right``."""

    def loaded(self, objects: Sequence[KubernetesObject]) -> Contents | None:
        """What an empty store holds after the creation of objects, if it is known and none was refused."""
        known = self._loaded.get(tuple(map(id, objects)))
        return None if known is None else known[1]

    def remember(self, objects: Sequence[KubernetesObject], contents: Contents) -> None:
        """A store that was empty holds this after the creation of objects, of which none was refused."""
        if len(self._loaded) >= MOST_LOADED:
            self._loaded.clear()
        self._loaded[tuple(map(id, objects))] = (objects, contents)


class Simulation:
    """One cluster from its first instant on.

    Args:
        environment: version, gates, expressions.
        manual_kubelet: pods start and end only when told to.
        waits_for_claims: pods that bypass the scheduler start only when their claims are allocated and reserved.
    """

    def __init__(
        self, environment: Environment, *, manual_kubelet: bool = False, waits_for_claims: bool = True
    ) -> None:
        self.environment = environment
        self.events = EventQueue()
        self.journal = Journal()
        features = environment.features
        self.store = ObjectStore(self.events, self.journal, features)
        checker = environment.checker
        self._admission = None if checker is None else ServerAdmission(self.store, checker)
        self.kubelet = Kubelet(self.store, manual=manual_kubelet, waits_for_claims=waits_for_claims)
        self.claim_controller = ResourceClaimController(self.store, features)
        self.garbage_collector = GarbageCollector(self.store, (Pod, PodGroup))
        self.scheduler = Scheduler(
            self.store, features, environment.inventories, environment.settings, environment.readings
        )
        controllers: list[Controller[Any]] = [
            self.garbage_collector,
            self.claim_controller,
            self.kubelet,
            PodGarbageCollector(self.store),
            DisruptionController(self.store),
            TaintEvictionController(self.store),
        ]
        if features.enabled("DRADeviceTaints"):
            protects = features.version not in ("1.34", "1.35", "1.36", "1.37")
            controllers.append(DeviceTaintEvictionController(self.store, features, empty_effect_protects=protects))
        if features.enabled("GenericWorkload"):
            controllers.append(PodGroupProtectionController(self.store))
        if features.enabled("DRAResourcePoolStatus"):
            controllers.append(PoolStatusController(self.store, features))
        self.controllers = tuple(controllers)
        self.cel_forms: dict[tuple[str, str, str], Any] = {}
        """Objects as CEL expectations see them, by kind, UID and version: made when they are first asked for."""

    # The clock.

    @property
    def now(self) -> int:
        """Milliseconds since the start."""
        return self.events.now

    def advance_before(self, instant: int) -> bool:
        """Let everything happen that is due before an instant, and set the clock to it.

        Returns:
            Whether that came to an end; False if there is ever more to do in the time up to the instant.
        """
        return self._advance(instant - 1) and self._reach(instant)

    def advance_to(self, instant: int) -> bool:
        """Let everything happen that is due at an instant or before, with all that follows without delay.

        Returns:
            As `advance_before`.
        """
        return self._advance(instant) and self._reach(instant)

    def _advance(self, last: int) -> bool:
        return self.events.run_until(last, EVENT_LIMIT)

    def _reach(self, instant: int) -> bool:
        self.events.now = max(self.events.now, instant)
        return True

    def settle(self, limit: int | None = None) -> bool:
        """Advance to the first instant after which only far timers are left.

        Args:
            limit: an instant that is not passed.

        Returns:
            Whether the cluster came to rest; False if it was still busy at the limit, or goes on for ever.
        """
        most = RESTLESS_EVENTS + RESTLESS_EVENTS_PER_OBJECT * self.store.object_count
        rests = self.events.run_to_rest(limit, most)
        if not rests and limit is not None:
            self._reach(limit)
        return rests

    def step(self) -> None:
        """Let the next thing happen; there must be one."""
        self.events.run_next()

    def look_on(self, observer: "Callable[[Simulation], None]", *, at_rest: bool = False) -> None:
        """From now on let somebody look after every single event.

        Args:
            observer: whose look changes nothing.
            at_rest: only after events that leave nothing near.
        """
        self.events.on_event = lambda: observer(self)
        self.events.watches_all = not at_rest

    # What a scenario does.

    def create(self, new: T) -> T | ApiError:
        """Create an object; its status is kept."""
        if refused := self._refusal("create", new, None):
            return refused
        created = self.store.create(new)
        if not isinstance(created, ApiError):
            self._record(type(new), created, "Created", "created")
        return created

    def load(self, objects: Iterable[KubernetesObject]) -> list[ApiError]:
        """Create objects that exist from the start; return what was refused.

        The objects themselves are not judged: they may be captured, and declared ones were before the story began.
        """
        first, objects = self.store.is_untouched and not self.now, tuple(objects)
        known = self.environment.loaded(objects) if first else None
        if known is not None:
            # The stories of a fuzz begin alike.
            self.store.fill(known)
            return []
        results = [self.store.create(each) for each in objects]
        refused = [each for each in results if isinstance(each, ApiError)]
        if self._admission is not None:
            refused += self._admission.objections()
        if first and not refused:
            self.environment.remember(objects, self.store.contents())
        return refused

    def update(self, new: T) -> T | ApiError:
        """Replace labels, annotations and spec of an object."""
        if refused := self._refusal("update", new, self._stored(new)):
            return refused
        updated = self.store.update(new)
        if not isinstance(updated, ApiError):
            self._record(type(new), updated, "Updated", "changed")
        return updated

    def update_status(self, new: T) -> T | ApiError:
        """Replace the status of an object."""
        if refused := self._refusal("update-status", new, self._stored(new)):
            return refused
        updated = self.store.update_status(new)
        if not isinstance(updated, ApiError):
            self._record(type(new), updated, "Updated", "status changed")
        return updated

    def _stored(self, new: T) -> T | None:
        meta = new.metadata
        return self.store.get(type(new), namespace_of(type(new), meta), meta.name)

    def _refusal(self, operation: Operation, new: KubernetesObject, old: KubernetesObject | None) -> ApiError | None:
        """Why the API server refuses what a user writes; what is not there is the store's to say."""
        if self._admission is None or (old is None and operation != "create"):
            return None
        return self._admission.refusal(operation, new, old)

    def delete(self, kind: type[T], namespace: str, name: str, *, grace_seconds: int | None = None) -> ApiError | None:
        """Delete an object, a pod with its own grace period unless another is given."""
        found = self.store.get(kind, namespace if kind in NAMESPACED else "", name)
        if found is not None:
            self._record(kind, found, "DeletionAsked", "is to be deleted")
        return self.store.delete(kind, namespace if kind in NAMESPACED else "", name, grace_seconds=grace_seconds)

    def start_pod(self, namespace: str, name: str) -> ApiError | None:
        """The containers of a pod start: for a manual kubelet."""
        pod = self.store.get(Pod, namespace, name)
        if pod is None:
            return ApiError("NotFound", f'pods "{name}" not found')
        return (
            None if self.kubelet.run(pod) else ApiError("InternalError", f"the start of pod `{name}` was not written")
        )

    def finish(self, namespace: str, name: str) -> ApiError | None:
        """All containers of a pod end well."""
        return self._end(namespace, name, "Succeeded")

    def fail(self, namespace: str, name: str) -> ApiError | None:
        """A container of a pod ends badly."""
        return self._end(namespace, name, "Failed")

    def _end(self, namespace: str, name: str, phase: str) -> ApiError | None:
        pod = self.store.get(Pod, namespace, name)
        if pod is None:
            return ApiError("NotFound", f'pods "{name}" not found')
        return self.kubelet.finish(pod, phase)

    def cordon(self, node: str, *, on: bool = True) -> ApiError | None:
        """Close a node for new pods, or open it again."""
        found = self.store.get(Node, "", node)
        if found is None:
            return ApiError("NotFound", f'nodes "{node}" not found')
        updated = self.store.update(replace(found, spec=replace(found.spec, unschedulable=on)))
        if isinstance(updated, ApiError):
            return updated
        self._record(Node, updated, "Cordoned" if on else "Uncordoned", "cordoned" if on else "uncordoned")
        return None

    def uncordon(self, node: str) -> ApiError | None:
        """Open a node for new pods again."""
        return self.cordon(node, on=False)

    # Faults.

    def components(self) -> dict[str, Scheduler | Controller[Any]]:
        """All components that can be paused, slowed down or restarted, by name."""
        found: dict[str, Scheduler | Controller[Any]] = {each.name: each for each in self.controllers}
        return {self.scheduler.name: self.scheduler, **found}

    def pause(self, component: str) -> None:
        """Stop a component until it is resumed."""
        self.events.pause(component)

    def resume(self, component: str) -> None:
        """Let a paused component go on."""
        self.events.resume(component)

    def delay(self, component: str, milliseconds: int) -> None:
        """Let a component hear of changes late from now on."""
        self.events.slow_down(component, milliseconds)

    def restart(self, component: str) -> None:
        """Let a component lose its memory and start again."""
        self.components()[component].restart()

    def close(self) -> None:
        """Take the cluster apart, at its end; what was read from it stays.

        Its parts refer to each other in circles: left to the collector of garbage, the clusters of a fuzz, hundreds a
        second, cost more to find than to run.
        """
        for part in (self.scheduler.queue, self.scheduler, *self.controllers, self.store, self.events):
            vars(part).clear()

    # Reading.

    @property
    def trace(self) -> list[JournalEntry]:
        """What has happened so far, in order."""
        return self.journal.entries

    def pods(self) -> list[Pod]:
        """All pods, in the order of their creation."""
        return self.store.objects(Pod)

    def claims(self) -> list[ResourceClaim]:
        """All claims, in the order of their creation."""
        return self.store.objects(ResourceClaim)

    def nodes(self) -> list[Node]:
        """All nodes, in the order of their creation."""
        return self.store.objects(Node)

    def pod(self, namespace: str, name: str) -> Pod | None:
        """A pod, or None."""
        return self.store.get(Pod, namespace, name)

    def claim(self, namespace: str, name: str) -> ResourceClaim | None:
        """A claim, or None."""
        return self.store.get(ResourceClaim, namespace, name)

    def _record(self, kind: type[Any], found: KubernetesObject, reason: str, message: str) -> None:
        meta = found.metadata
        entry = JournalEntry(self.events.now, "scenario", kind.__name__, meta.namespace, meta.name, reason, message)
        self.journal.record(entry)


def _allocator_gates(features: FeatureGates) -> dict[str, bool]:
    """The gates that are on, as the scheduler hands them to the allocator: binding conditions need device status."""
    gates = dict.fromkeys(sorted(features.on), True)
    if not gates.pop("DRAResourceClaimDeviceStatus", False):
        gates.pop("DRADeviceBindingConditions", None)
    return gates
