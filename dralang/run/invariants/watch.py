"""The watch over a simulation: which invariants are looked at with which write, and all of them by name."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final, TypeVar

from msgspec import Struct

from dralang.api.allocation import AllocationResult
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.podclaims import used_claim_names
from dralang.run.invariants import (
    allocations,
    amounts,
    evictions,
    feasible,
    nominations,
    preemptions,
    rest,
    results,
    sharing,
)
from dralang.run.invariants.excuses import EXCUSES
from dralang.run.invariants.feasible import Taken
from dralang.run.invariants.found_right import FoundRight
from dralang.run.invariants.preemptions import Chosen
from dralang.run.invariants.world import Violation, World
from dralang.run.simulation import MOST_LOADED, Environment, Simulation
from dralang.scenario.keys import ObjectKey
from dralang.scheduler.framework import CycleState

MOST: Final = 20
A_WHILE: Final = 60_000
"""Longer than any back-off, in milliseconds."""
C = TypeVar("C", bound=Callable[..., object])
Check = Callable[..., Iterator[str]]
OfAllocation = Callable[[World, ResourceClaim, AllocationResult], Iterator[str]]
OfClaim = Callable[[World, ResourceClaim, ResourceClaim], Iterator[str]]
OfPod = Callable[[World, Pod, Pod], Iterator[str]]
AtRest = Callable[[Simulation, World], Iterator[str]]
OfTaken = Callable[[Simulation, World, Taken], Iterator[str]]
OfChosen = Callable[[Simulation, World, Chosen], Iterator[str]]


# ---- of every write of a claim's status -----------------------------------------------------------------------------


def reserved_means_allocated(world: World, old: ResourceClaim, new: ResourceClaim) -> Iterator[str]:
    """A claim that is reserved for somebody is allocated."""
    if new.status.reserved_for and new.status.allocation is None:
        yield f"{new.metadata.name} is reserved for {new.status.reserved_for[0].name} and not allocated"


def allocations_do_not_move(world: World, old: ResourceClaim, new: ResourceClaim) -> Iterator[str]:
    """The devices of an allocated claim never change; it is freed first."""
    if old.status.allocation is None or new.status.allocation is None:
        return
    if old.status.allocation is not new.status.allocation and (
        old.status.allocation.devices.results != new.status.allocation.devices.results
    ):
        yield f"{new.metadata.name} was given other devices while it was allocated"


# ---- of every write of a pod ----------------------------------------------------------------------------------------


def pods_stay_on_their_node(world: World, old: Pod, new: Pod) -> Iterator[str]:
    """A pod that has a node never gets another one."""
    if old.spec.node_name and new.spec.node_name != old.spec.node_name:
        yield f"{new.metadata.name} was moved from {old.spec.node_name} to {new.spec.node_name or 'no node'}"


def pods_have_their_claims(world: World, old: Pod, new: Pod) -> Iterator[str]:
    """A pod is bound to a node only when each of its claims is allocated, reserved for it and usable on that node."""
    if old.spec.node_name or not new.spec.node_name:
        return
    node = world.node(new.spec.node_name)
    # A scheduler that hears late of its own writes takes back what it has given away: a race that Kubernetes has too.
    hears_late = world.lag > 0 or world.events.lag("scheduler") > 0
    for name in used_claim_names(new):
        claim = world.store.get(ResourceClaim, new.metadata.namespace, name)
        where = f"{new.metadata.name} was bound to {new.spec.node_name}"
        if claim is None:
            yield f"{where} and its claim {name} does not exist"
        elif claim.status.allocation is None:
            yield f"{where} and its claim {name} is not allocated"
        elif node is not None and not allocations.reaches(claim.status.allocation, node):
            yield f"{where}, where the devices of {name} cannot be used"
        elif not hears_late and not any(
            user.uid == new.metadata.uid or user.resource == "podgroups" for user in claim.status.reserved_for
        ):
            yield f"{where} and its claim {name} is not reserved for it"


def victims_are_less_important(world: World, simulation: Simulation, first: int) -> Iterator[str]:
    """Whoever is preempted has a lower priority than the pod that is to take its place."""
    for entry in simulation.trace[first:]:
        if entry.reason != "Preempted" or entry.kind != "Pod" or not entry.related:
            continue
        victim = world.priorities.get((entry.namespace, entry.name), 0)
        preemptor = entry.related[0]
        by = [priority for pod, priority in world.priorities.items() if ObjectKey("Pod", *pod).spoken == preemptor]
        if by and victim >= max(by):
            yield f"{entry.name} (priority {victim}) was preempted by {entry.related[0]} (priority {max(by)})"


OF_USE: Final[tuple[OfAllocation, ...]] = (
    allocations.no_device_over_allocated,
    allocations.no_capacity_below_zero,
    allocations.no_counter_below_zero,
)
"""Of allocations beside the others that there are."""
OF_ALLOCATIONS: Final[tuple[OfAllocation, ...]] = (
    allocations.requests_answered,
    allocations.devices_published,
    allocations.selectors_hold,
    allocations.taints_respected,
    allocations.constraints_hold,
)
"""Of an allocation alone: they look at the claim's spec, the result and the world of `FoundRight`, at nothing else."""
OF_DECISIONS: Final[tuple[OfAllocation, ...]] = (
    allocations.all_means_all,
    allocations.pools_are_complete,
    amounts.amounts_are_exact,
    results.results_say_everything,
)
"""The same of those that the scheduler has made; what the author of a story writes may be as incomplete as he likes."""
OF_CLAIMS: Final[tuple[OfClaim, ...]] = (reserved_means_allocated, allocations_do_not_move)
"""Of every write of a claim's status."""
OF_BINDINGS: Final[tuple[OfPod, ...]] = (pods_stay_on_their_node, pods_have_their_claims)
"""Of every write of a pod's spec."""
OF_CONDITIONS: Final[tuple[OfPod, ...]] = (evictions.evictions_have_a_reason,)
"""Of every write of a pod's conditions."""
OF_TAKEN: Final[tuple[OfTaken, ...]] = (
    feasible.first_choice_in_order,
    feasible.better_alternatives_win,
    preemptions.promises_are_kept,
)
"""Of what the scheduler takes for a pod, before it is written; in fuzzes only, but for the last one."""
OF_CHOSEN: Final[tuple[OfChosen, ...]] = (preemptions.victims_are_needed, preemptions.one_preemption_at_a_time)
"""Of what preemption has chosen, before anything is done."""
WITH_PODS: Final[tuple[AtRest, ...]] = (
    nominations.nominations_have_their_node,
    nominations.victims_claims_are_allocated,
    sharing.sharers_are_counted,
)
"""Of what the scheduler remembers of bindings and nominations, looked at with every write of a pod."""
AT_REST: Final[tuple[AtRest, ...]] = (
    nominations.simulations_leave_no_trace,
    rest.memory_is_what_is_written,
    rest.pods_where_the_scheduler_thinks,
    rest.reservations_of_the_living,
    rest.running_pods_keep_their_claims,
    rest.unused_claims_are_free,
    rest.generated_claims_go_with_their_pod,
    sharing.nothing_is_left_in_flight,
    sharing.nodes_count_devices_once,
    evictions.tainted_devices_are_left,
)
THOROUGH: Final[tuple[AtRest, ...]] = (rest.who_waits_has_to, feasible.refusals_are_right)
"""Looked at in fuzzes only: they ask every node once more."""


class Invariant(Struct, frozen=True):
    """An invariant as people speak of it."""

    name: str
    summary: str


def name_of(check: Callable[..., object]) -> str:
    """``no_device_over_allocated`` is called `no-device-over-allocated`."""
    return check.__name__.replace("_", "-")


def summary_of(check: Callable[..., object]) -> str:
    """The line of documentation of a check."""
    return " ".join((check.__doc__ or "").split())


def _checks() -> list[Callable[..., object]]:
    of_writes: list[Callable[..., object]] = [
        *OF_USE,
        *OF_ALLOCATIONS,
        *OF_DECISIONS,
        *OF_CLAIMS,
        *OF_BINDINGS,
        *OF_CONDITIONS,
        *WITH_PODS,
    ]
    return [*of_writes, victims_are_less_important, *OF_TAKEN, *OF_CHOSEN, *AT_REST, *THOROUGH]


INVARIANTS: Final[tuple[Invariant, ...]] = (
    *(Invariant(name_of(check), summary_of(check)) for check in _checks()),
    Invariant(
        "restart-changes-nothing",
        "A scheduler that starts again at rest places nobody anew: nobody had been missed.",
    ),
    Invariant("same-input-same-output", "The same story takes the same course, entry by entry."),
    Invariant("every-story-ends", "What was told comes to rest: nothing is tried again and again for ever."),
)
SUMMARIES: Final = {each.name: each.summary for each in INVARIANTS}


@lru_cache
def _excused(quirks: frozenset[str]) -> frozenset[str]:
    """The invariants that modelled faults of Kubernetes break, by name."""
    return frozenset([name for name, faults in EXCUSES.items() if not quirks.isdisjoint(faults)])


def _found_right(environment: Environment, checks: tuple[object, ...], surroundings: tuple[object, ...]) -> FoundRight:
    """What is known of worlds with these objects, as these checks see them."""
    key = (checks, tuple(map(id, surroundings)))
    memory = environment.found_right
    found = memory.get(key)
    if found is None:
        if len(memory) >= MOST_LOADED:
            memory.clear()
        found = memory[key] = FoundRight(surroundings)
    return found


class Watch:
    """Looks at a simulation from outside. It never writes.

    Args:
        simulation: what to look at, before anything has happened.
        environment: version, gates and quirks.
        thorough: also look at what costs time.
    """

    def __init__(self, simulation: Simulation, environment: Environment, *, thorough: bool) -> None:
        self.simulation = simulation
        self._environment = environment
        self.thorough = thorough
        self.world = World(simulation.store, simulation.events, environment)
        self.violations: list[Violation] = []
        self.preemptions = 0
        self.judging = False
        self.excused = excused = _excused(environment.profile.quirks | environment.readings)

        def kept(checks: tuple[C, ...]) -> tuple[C, ...]:
            return checks if not excused else tuple([check for check in checks if name_of(check) not in excused])

        self.of_use = kept(OF_USE)
        self.of_allocations = kept(OF_ALLOCATIONS)
        self.of_decisions = kept(OF_DECISIONS)
        self.of_taken = kept(OF_TAKEN if thorough else OF_TAKEN[-1:])
        self.of_chosen = kept(OF_CHOSEN)
        self.at_rest = kept((*AT_REST, *THOROUGH) if thorough else AT_REST)
        simulation.store.on_write = self._written
        simulation.scheduler.on_taken = self._taken
        if simulation.scheduler.dynamic_resources.preempts:
            simulation.scheduler.on_preempting = self._preempting

    def begin(self) -> None:
        """The story begins: what was there before is nobody's doing."""
        self.judging = True
        checks, surroundings = (self.of_allocations, self.of_decisions), self.world.surroundings()
        self.world.right = _found_right(self._environment, checks, surroundings)

    def _written(self, kind: type[Any], old: Any, new: Any) -> None:
        world = self.world
        world.note(kind, old, new)
        if not self.judging:
            return
        if kind is ResourceClaim:
            if old is not None and new is not None and old.status is not new.status:
                self._look_at_claim(old, new)
        elif kind is Pod:
            if old is not None and new is not None:
                if old.spec is not new.spec:
                    self._take_all(OF_BINDINGS, world, old, new)
                if old.status.conditions is not new.status.conditions:
                    self._take_all(OF_CONDITIONS, world, old, new)
            scheduler = self.simulation.scheduler
            if scheduler.binder.waiting or not scheduler.manager.nominations.is_empty:
                self._take_all(WITH_PODS, self.simulation, world)

    def _look_at_claim(self, old: ResourceClaim, new: ResourceClaim) -> None:
        """The status of a claim was written."""
        self._take_all(OF_CLAIMS, self.world, old, new)
        allocation = new.status.allocation
        if allocation is not None and old.status.allocation is None:
            self._take_all(self.of_use, self.world, new, allocation)
            self._look_at_allocation(new, allocation)

    def _look_at_allocation(self, claim: ResourceClaim, allocation: AllocationResult) -> None:
        """A claim was allocated: the allocation alone."""
        decided = self.simulation.scheduler.manager.pending(claim.metadata.uid) is not None
        right = self.world.right
        if right is not None and right.has(claim, allocation, decided=decided):
            return
        self._take_all(self.of_allocations, self.world, claim, allocation)
        if decided:
            self._take_all(self.of_decisions, self.world, claim, allocation)
        if right is not None and not self.violations:
            right.add(claim, allocation, decided=decided)

    def _taken(self, pod: Pod, state: CycleState, node: str) -> None:
        scheduler = self.simulation.scheduler
        data, info = scheduler.dynamic_resources.data_of(state), scheduler.cache.node(node)
        if data is None or info is None or data.shared or not data.reserved or not self.of_taken or state.group:
            return
        chosen = data.nodes[node]
        claims = [
            (
                chosen.special if data.claims[index] is data.special_claim and chosen.special else data.claims[index],
                made,
            )
            for index, made in sorted(data.reserved.items())
        ]
        taken = Taken(pod, info.api, tuple(claims))
        self._take_all(self.of_taken, self.simulation, self.world, taken)

    def _preempting(self, pod: Pod, node: str, victims: tuple[Pod, ...]) -> None:
        info = self.simulation.scheduler.cache.node(node)
        if info is not None:
            self._take_all(self.of_chosen, self.simulation, self.world, Chosen(pod, info.api, victims))

    def slowed_down(self) -> None:
        """A component hears of changes later from now on."""
        self.world.lag = max(self.world.lag, self.simulation.events.lag("scheduler"))

    def look_at_rest(self) -> None:
        """Look at what must hold when nothing is due any more, if that is so."""
        self.look_back()
        if not rest.is_undisturbed(self.simulation):
            return
        self._take_all(self.at_rest, self.simulation, self.world)

    def look_at_unrest(self) -> None:
        """The cluster never comes to rest."""
        if not (
            self.world.has_claims_named_twice("claim-named-twice-counts-twice")
            or self.world.has_unwritable_footprint("special-claim-has-no-node-resources")
            or self.world.has_undated_allocation("undated-allocation-blocks-claim")
            or self.world.has_empty_claim_for_resources("native-resource-blocks-claims")
        ):
            self.add("every-story-ends", "the cluster never comes to rest")

    def look_after_restart(self) -> None:
        """The story is over: let the scheduler start again, and look whether that changes anything."""
        simulation = self.simulation
        nominations_ = simulation.scheduler.manager.nominations
        promised = nominations_.all() or nominations_.nodes() or simulation.scheduler.nominator.nodes()
        if promised or self.violations or not rest.is_undisturbed(simulation):
            return  # what preemption promised is forgotten, as Kubernetes forgets it
        if all(pod.spec.node_name for pod in simulation.pods()):
            return  # nobody is left whom a scheduler could place
        if self.world.may_be_overlooked() or simulation.scheduler.manager.left_of_remade():
            return  # a fault by which somebody is missed
        self.judging = False
        # Properties are about the story, which is over.
        simulation.events.on_event = None
        # Who is tried again by itself, groups above all, is tried before the restart.
        simulation.advance_to(simulation.now + A_WHILE)
        if not simulation.settle():
            return
        before = {pod.metadata.uid: pod for pod in simulation.pods()}
        told = len(simulation.trace)
        simulation.restart("scheduler")
        if not simulation.settle():
            self.add("restart-changes-nothing", "the cluster never comes to rest after a restart")
        if any(entry.reason == "Preempted" for entry in simulation.trace[told:]):
            return  # no event says that somebody could be preempted now
        after = {pod.metadata.uid: pod for pod in simulation.pods()}
        for uid, pod in before.items():
            was, name = pod.spec.node_name, pod.metadata.name
            now = after[uid].spec.node_name if uid in after else "nowhere, it is gone"
            if now != was:
                self.add("restart-changes-nothing", f"{name} is on {was or 'no node'}, and after a restart on {now}")

    def look_back(self) -> None:
        """Look at what the record says since the last time."""
        trace = self.simulation.trace
        if len(trace) > self.preemptions:
            self._take_all((victims_are_less_important,), self.world, self.simulation, self.preemptions)
            self.preemptions = len(trace)

    def add(self, invariant: str, actual: str) -> None:
        """Note a violation that others have found."""
        if len(self.violations) < MOST:
            simulation = self.simulation
            self.violations.append(Violation(invariant, actual, simulation.now, len(simulation.trace)))

    def _take_all(self, checks: tuple[Check, ...], *subject: object) -> None:
        """Let checks look at something, and note what they find."""
        for check in checks:
            for actual in check(*subject):
                self.add(name_of(check), actual)
