"""Steps for which several things have to meet within moments: left to chance, they nearly never do."""

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace
from stories.world import Draw

from dralang.api.pods import Pod, PodResourceClaim
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.podclaims import EXTENDED_RESOURCE_ANNOTATION, used_claim_names
from dralang.cluster.podclaims import FINALIZER as PROTECTION
from dralang.run.simulation import Simulation
from dralang.scheduler.binding import Binding

FINALIZER = "example.com/hold"
_MOST_EVENTS = 80
"""How long somebody is waited for at most; one instant of a story has fewer."""


class Coincidences:
    """The steps of one story.

    Args:
        simulation: the cluster.
        draw: the choices of the story.
        create: creates a pod, with these fields of its spec and these finalizers.
        late: told which component is late from now on, or, with no name, that a write will be lost.
    """

    def __init__(
        self, simulation: Simulation, draw: Draw, create: Callable[..., Pod | None], late: Callable[[str], None]
    ) -> None:
        self._simulation = simulation
        self._draw = draw
        self._create = create
        self._late = late

    def steps(self, themes: frozenset[str]) -> list[Callable[[], None]]:
        """Those that suit what the story is about."""
        steps: list[Callable[[], None]] = [self._claim_goes_before_its_pod_is_tried]
        steps += [self._shared_claim_goes_while_its_pod_is_bound] * 2
        steps.append(self._claim_is_allocated_while_its_pod_is_bound)
        if themes & {"binding", "extended", "gates", "claim-preemption"}:
            steps += [self._something_goes_while_it_is_bound, self._held_pod_goes_while_it_is_bound]
            steps += [self._place_is_lost_after_a_failed_binding] * 2
        if "extended" in themes:
            steps += [partial(self._place_is_lost_after_a_failed_binding, extended=True)] * 14
        if "claim-preemption" in themes:
            steps += [self._victims_hold_on] * (8 if "selectors" in themes else 4)
        return steps

    def release(self) -> None:
        """Whoever has held pods lets them go."""
        for each in self._simulation.pods():
            if FINALIZER in each.metadata.finalizers:
                self._simulation.update(replace(each, metadata=replace(each.metadata, finalizers=())))

    def _until(self, condition: Callable[[], bool]) -> bool:
        """Let events of this instant happen until something is so."""
        events = self._simulation.events
        for _ in range(_MOST_EVENTS):
            if condition():
                return True
            if events.next_time() != self._simulation.now:
                return False
            self._simulation.step()
        return condition()

    def _binding(self, uid: str) -> Binding | None:
        return self._simulation.scheduler.binder.waiting.get(uid)

    def _delete_claim(self, name: str) -> None:
        self._simulation.delete(ResourceClaim, "default", name)

    def _allocated_claim(self) -> str:
        """One that belongs to no pod."""
        allocated = [
            each.metadata.name
            for each in self._simulation.claims()
            if each.status.allocation is not None and not each.metadata.owner_references
        ]
        return self._draw.pick(allocated) if allocated else ""

    def _claim_goes_before_its_pod_is_tried(self) -> None:
        name = self._allocated_claim()
        if not name:
            return
        made = self._create(resource_claims=(PodResourceClaim(name="taken", resource_claim_name=name),))
        if made is None:
            return
        uid = made.metadata.uid

        def is_next() -> bool:
            queued = self._simulation.scheduler.queue.get(uid)
            return queued is not None and queued.place == "active"

        if self._until(is_next):
            self._delete_claim(name)

    def _something_goes_while_it_is_bound(self) -> None:
        waiting = self._simulation.scheduler.binder.waiting
        if not waiting and self._create() is not None:
            self._until(lambda: bool(self._simulation.scheduler.binder.waiting))
            waiting = self._simulation.scheduler.binder.waiting
        if not waiting:
            return
        pod = self._draw.pick(list(waiting.values())).queued.pod
        names = list(used_claim_names(pod))
        if names and self._draw.chance(80):
            self._delete_claim(self._draw.pick(names))
        else:
            self._simulation.delete(Pod, "default", pod.metadata.name)

    def _shared_claim_goes_while_its_pod_is_bound(self) -> None:
        """It is allocated already, so it does not go at once."""
        name = self._allocated_claim()
        if not name:
            return
        made = self._create(resource_claims=(PodResourceClaim(name="joined", resource_claim_name=name),))
        if made is not None and self._until(lambda: self._binding(made.metadata.uid) is not None):
            self._delete_claim(name)

    def _claim_is_allocated_while_its_pod_is_bound(self) -> None:
        """Somebody else writes what the scheduler is about to write."""
        made = self._create()
        if made is None or not self._until(lambda: self._binding(made.metadata.uid) is not None):
            return
        binding = self._binding(made.metadata.uid)
        data = None if binding is None else binding.data
        for index, allocation in data.reserved.items() if data is not None else ():
            assert data is not None
            found = self._simulation.claim("default", data.claims[index].metadata.name)
            if found is not None and found.status.allocation is None:
                meta = replace(found.metadata, finalizers=(PROTECTION,))
                marked = self._simulation.update(replace(found, metadata=meta))
                if isinstance(marked, ResourceClaim):
                    status = replace(marked.status, allocation=allocation)
                    self._simulation.update_status(replace(marked, status=status))
                return

    def _held_pod_goes_while_it_is_bound(self) -> None:
        made = self._create(finalizers=(FINALIZER,))
        if made is not None and self._until(lambda: self._binding(made.metadata.uid) is not None):
            self._simulation.delete(Pod, "default", made.metadata.name)
        if self._draw.chance(50):
            self.release()

    def _place_is_lost_after_a_failed_binding(self, *, extended: bool = False) -> None:
        """What was allocated stays, where the pod can no longer go."""
        made = self._create(only_extended=extended)
        if made is None:
            return
        simulation, uid, name = self._simulation, made.metadata.uid, made.metadata.name
        self._until(lambda: self._binding(uid) is not None)
        found = self._binding(uid)
        if found is None:
            return
        node = found.node
        self._late("")
        simulation.store.fail_next("bind", Pod, "default", name)
        if self._until(lambda: bool(self._special_claims(uid))):
            self._special_claim_is_left(self._draw.pick(self._special_claims(uid)).metadata.name)
        self._until(lambda: self._binding(uid) is None)
        simulation.cordon(node)
        pod = simulation.pod("default", name)
        for claim in used_claim_names(pod) if pod is not None else ():
            if self._draw.chance(70):
                simulation.store.fail_next("update", ResourceClaim, "default", claim)
        simulation.advance_to(simulation.now + 3_000)
        if self._draw.chance(50):
            simulation.cordon(node, on=False)

    def _special_claims(self, uid: str) -> list[ResourceClaim]:
        """What was written for the extended resources of a pod."""
        return [
            each
            for each in self._simulation.claims()
            if each.metadata.annotations.get(EXTENDED_RESOURCE_ANNOTATION)
            and each.status.allocation is not None
            and each.metadata.owner_references[0].uid == uid
        ]

    def _special_claim_is_left(self, name: str) -> None:
        if self._draw.chance(70):
            self._simulation.store.fail_next("update", ResourceClaim, "default", name)
        elif self._draw.chance(50):
            self._simulation.restart("scheduler")

    def _victims_hold_on(self) -> None:
        """The controller that frees the claims of victims is slow, and meanwhile their preemptor is tried again."""
        simulation, draw = self._simulation, self._draw
        self._late("resourceclaim-controller")
        simulation.delay("resourceclaim-controller", draw.pick([2_000, 5_000, 20_000]))
        for _ in range(draw.number(1, 3)):
            self._create(priority_class_name="low")
        self._until(lambda: bool(simulation.scheduler.binder.waiting))
        if draw.chance(60):
            simulation.advance_to(simulation.now)
        for _ in range(draw.number(1, 2)):
            self._create(priority_class_name="high")
        simulation.advance_to(simulation.now + draw.pick([0, 500, 1_500]))
        for _ in range(draw.number(1, 3)):
            self._stir()
            simulation.advance_to(simulation.now + draw.pick([1_000, 2_000, 4_000]))

    def _stir(self) -> None:
        """A change that may help anybody."""
        nodes = self._simulation.nodes()
        if nodes:
            name = self._draw.pick(nodes).metadata.name
            self._simulation.cordon(name)
            self._simulation.cordon(name, on=False)
