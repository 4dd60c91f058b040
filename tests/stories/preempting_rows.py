"""Which rows of docs/kep-5690.md the stories of preemption reach: watched in the scheduler while it works.

Nothing here changes what happens. Where a row says that a pod is refused *because* of what is held, the allocator is
asked once more what it would answer otherwise.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stories.preempting_branches import BRANCHES, table
from stories.preempting_world import CARD

from dralang.allocator.allocate import Attempt
from dralang.allocator.node_selection import selector_matches
from dralang.allocator.outcome import Allocated
from dralang.allocator.state import AllocatedState
from dralang.api.allocation import AllocationResult
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.run.simulation import Simulation
from dralang.scheduler.cycle import SchedulingAlgorithm
from dralang.scheduler.dynamicresources import plugin as plugin_module
from dralang.scheduler.dynamicresources.cycle_data import STATE, StateData
from dralang.scheduler.dynamicresources.holding import CapacityHolder
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.dynamicresources.nominations import ClaimNomination, Nominations
from dralang.scheduler.dynamicresources.plugin import DynamicResources
from dralang.scheduler.dynamicresources.simulate import Simulator, in_group, is_local
from dralang.scheduler.framework import Code, Status
from dralang.scheduler.nominator import PodNominator
from dralang.scheduler.preemption import Candidate, DefaultPreemption
from dralang.scheduler.scheduler import Scheduler

LONGER_THAN_TIMERS = 601_000
"""Milliseconds: the flush of the queue comes after five minutes, the timeout of bindings after ten."""
HOUR = 3_600_000


class Rows:
    """Counts over many stories."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.cascades: list[str] = []
        """Second preemptions of a pod whose first one has not settled."""
        self._watching = False

    def begin(self, simulation: Simulation) -> None:
        """A story begins."""
        self.simulation = simulation
        self.preemptor: Pod | None = None
        self.best: Candidate | None = None
        self.replacing = 0
        self.owners: dict[str, dict[str, set[str]]] = {}
        """Node, victim's claim, and the preemptors that wait for it."""
        self.held_by_victims: dict[str, AllocationResult] = {}
        self.since: dict[str, int] = {}
        self.scheduled: dict[str, ClaimNomination] = {}
        self.impossible: dict[str, str] = {}
        self.surplus: dict[tuple[str, str, str], int] = {}
        self.waiters: dict[str, str] = {}
        self.stolen: set[str] = set()
        self.failed: set[str] = set()
        self.lost: dict[str, ClaimNomination] = {}
        self.late: set[str] = set()
        self._watching = True

    def end(self) -> None:
        """A story has come to rest; what is asked from now on is not part of it."""
        self._watching = False
        simulation = self.simulation
        trace = simulation.trace
        self.counts["stories"] += 1
        self.counts["stories that preempt"] += any(entry.reason == "Preempted" for entry in trace)

    def lines(self) -> list[str]:
        """A table of all counts."""
        return table(self.counts)

    # Listening.

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Watch all schedulers."""
        kept: list[tuple[Any, str, Any]] = []

        def around(owner: Any, name: str, see: Callable[..., Any]) -> None:
            original = getattr(owner, name)
            kept.append((owner, name, original))

            def wrapped(*arguments: Any, **options: Any) -> Any:
                if not self._watching:
                    return original(*arguments, **options)
                return see(original, *arguments, **options)

            setattr(owner, name, wrapped)

        hooks: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
            (DefaultPreemption, "post_filter", self._post_filter),
            (DefaultPreemption, "_nominate", self._nominate),
            (DefaultPreemption, "_dry_run", self._dry_run),
            (DefaultPreemption, "_obstacle", self._obstacle),
            (DefaultPreemption, "_execute", self._execute),
            (DefaultPreemption, "_preempt", self._preempt),
            (CapacityHolder, "add", self._add),
            (CapacityHolder, "remove", self._remove),
            (CapacityHolder, "wakes", self._wakes),
            (Nominations, "track", self._track),
            (Nominations, "deallocated", self._deallocated),
            (PodNominator, "add", self._nominator_add),
            (SchedulingAlgorithm, "filter", self._filter),
            (DynamicResources, "_given", self._given),
            (plugin_module, "drop_reservation", self._drop_reservation),
            (Simulator, "remove", self._simulated_removal),
            (Simulator, "is_releasable", self._is_releasable),
            (Simulator, "add_nominated", self._add_nominated),
            (DRAManager, "reserve", self._reserve),
            (Scheduler, "_capacity_freed", self._capacity_freed),
            (Scheduler, "restart", self._restart),
            (Scheduler, "report_member", self._report_member),
        )
        for hook in hooks:
            around(*hook)
        try:
            yield
        finally:
            for owner, name, original in kept:
                setattr(owner, name, original)

    def _count(self, name: str, *, when: bool = True) -> None:
        if when:
            assert name in BRANCHES, name
            self.counts[name] += 1

    # The cluster.

    @property
    def _scheduler(self) -> Scheduler:
        return self.simulation.scheduler

    @property
    def _nominations(self) -> Nominations:
        return self._scheduler.manager.nominations

    def _is_alive(self, uid: str) -> bool:
        """Whether the pod exists and does not end."""
        return any(
            each.metadata.uid == uid and each.metadata.deletion_timestamp is None for each in self.simulation.pods()
        )

    def _exists(self, uid: str) -> bool:
        return any(each.metadata.uid == uid for each in self.simulation.pods())

    def _claim_by_uid(self, uid: str) -> ResourceClaim | None:
        return next((each for each in self.simulation.claims() if each.metadata.uid == uid), None)

    def _users_gone(self, claim: str) -> bool:
        """Whether all pods that a victim's claim was reserved for are gone: t1 is over."""
        found = self._claim_by_uid(claim)
        return found is not None and not any(self._exists(each.uid) for each in found.status.reserved_for)

    # DefaultPreemption.

    def _post_filter(self, original: Any, plugin: Any, state: Any, info: Any, statuses: Any) -> Any:
        before = self._scheduler.nominator.node_of(info.uid)
        held = self._nominations.of(info.uid)
        settling = bool(before) and bool(self._nominations.victims_on(before))
        others = {node: self._settles(node, info.uid) for node in self._nominations.nodes()}
        self.best = None
        status, node = original(plugin, state, info, statuses)
        if not self._scheduler.dynamic_resources.preempts:
            self._gate_is_off(info, statuses, node)
            return status, node
        if node and held is not None and settling and statuses.of(before).code is not Code.UNRESOLVABLE:
            self.cascades.append(
                f"{info.pod.metadata.name} preempts again before the victims' claims on {before} are free"
            )
        if held is not None and not settling and node is not None:
            self._count(
                "P36 after t3 another nomination follows" if node else "P36 after t3 the nomination is given up"
            )
        if node and not before and self.best is not None and others.get(node):
            fresh = any(victim.pod.metadata.deletion_timestamp is None for victim in self.best.victims)
            self._count("P18 a pod without a nomination preempts where another preemption settles", when=fresh)
        return status, node

    def _settles(self, node: str, but: str) -> bool:
        return any(held.node == node and uid != but for uid, held in self._nominations.all().items())

    def _gate_is_off(self, info: Any, statuses: Any, node: Any) -> None:
        """A node has a device of a less important pod, and refused this one for want of devices."""
        for name, status in statuses.own.items():
            if status.plugin != "DynamicResources" or "cannot allocate" not in status.message:
                continue
            if not node and self._has_less_important_holders(name, info.priority):
                self._count("P1 gate off: nobody goes for a device")
                return

    def _has_less_important_holders(self, node: str, priority: int) -> bool:
        there = self._scheduler.cache.node(node)
        pods = list(there.pods.values()) if there is not None else []
        return any(each.priority < priority and each.pod.spec.resource_claims for each in pods)

    def _report_member(self, original: Any, scheduler: Any, queued: Any, message: str, *, failed: bool) -> Any:
        original(scheduler, queued, message, failed=failed)
        nodes = [each.name for each in scheduler.cache.nodes()]
        self._count(
            "P9 a preemptor in a group stays pending",
            when="cannot allocate all claims" in message
            and any(self._has_less_important_holders(node, queued.info.priority) for node in nodes),
        )

    def _nominate(self, original: Any, plugin: Any, state: Any, info: Any, best: Candidate, candidates: Any) -> Any:
        self.best = best
        data = state.read(STATE)
        if data is not None and data.claims and not data.special:
            taken = self._shares_of(best.victims)
            self._count(
                "P4 a share is enough, other users of the device are spared",
                when=bool(taken & self._shares_of(best.spared)),
            )
        return original(plugin, state, info, best, candidates)

    def _shares_of(self, infos: Any) -> set[tuple[str, str, str]]:
        manager, simulator = self._scheduler.manager, self._scheduler.dynamic_resources._simulator
        found = set()
        for info in infos:
            for each in simulator.claims_of(info.pod):
                allocation = manager.allocation_of(each.metadata.uid)
                for result in allocation.devices.results if allocation is not None else ():
                    if result.share_id is not None:
                        found.add((result.driver, result.pool, result.device))
        return found

    def _dry_run(self, original: Any, plugin: Any, state: Any, info: Any, node: Any, budgets: Any) -> Any:
        result = original(plugin, state, info, node, budgets)
        data = state.read(STATE)
        if not isinstance(result, Candidate) and data is not None and data.claims and not data.special:
            self._count(
                "P8 a device that a pod on another node has is not offered", when=self._held_elsewhere(data, info, node)
            )
        return result

    def _held_elsewhere(self, data: StateData, info: Any, node: Any) -> bool:
        """Whether a less important pod on another node has a device that this one wants and the node reaches."""
        wanted = {
            request.exactly.device_class_name
            for index in data.to_ask()
            for request in data.claims[index].spec.devices.requests
            if request.exactly is not None
        }
        if "net" not in wanted:
            return False
        manager, simulator = self._scheduler.manager, self._scheduler.dynamic_resources._simulator
        for other in self._scheduler.cache.nodes():
            for each in other.pods.values() if other.name != node.name else ():
                for one in simulator.claims_of(each.pod) if each.priority < info.priority else ():
                    allocation = manager.allocation_of(one.metadata.uid)
                    if allocation is None or len(allocation.devices.results) > 1:
                        continue
                    selector = allocation.node_selector
                    local = all(is_local(manager.inventory, result) for result in allocation.devices.results)
                    if not local and (selector is None or selector_matches(selector, node.api)):
                        return True
        return False

    def _obstacle(self, original: Any, plugin: Any, info: Any, statuses: Any) -> Any:
        result = original(plugin, info, statuses)
        self._count("P15 deferred by a terminating pod", when="terminating pod" in result)
        if "ResourceClaims" in result:
            self._count("P16 deferred by claims")
            node = self._scheduler.nominator.node_of(info.uid)
            waited = [self.owners.get(node, {}).get(uid, set()) for uid in self._nominations.victims_on(node)]
            gone = all(owners and info.uid not in owners and not any(map(self._exists, owners)) for owners in waited)
            self._count("P37 deferred by claims whose preemptor is gone", when=gone)
            if self.simulation.now - self.since.get(info.uid, self.simulation.now) > HOUR:
                self._count("P17 deferred for more than an hour")
                self.late.add(info.uid)
        return result

    def _execute(self, original: Any, plugin: Any, plan: Any) -> Any:
        info, candidate, victims = plan
        original(plugin, plan)
        pods = {each.metadata.uid: each for each in self.simulation.pods()}
        preemptor = pods.get(info.uid)
        told = {entry.name for entry in self.simulation.trace if entry.reason == "Preempted"}
        marked = [
            pods[each.uid]
            for each in victims
            if each.uid in pods and any(one.type == "DisruptionTarget" for one in pods[each.uid].status.conditions)
        ]
        self._count(
            "P2 event, condition and nominated node",
            when=bool(marked)
            and preemptor is not None
            and bool(preemptor.spec.resource_claims)
            and preemptor.status.nominated_node_name == candidate.node
            and all(each.metadata.name in told for each in marked),
        )

    def _preempt(self, original: Any, plugin: Any, info: Any, victim: Any, node: Any) -> Any:
        outcome = original(plugin, info, victim, node)
        if outcome == "in memory":
            self._count("P47 a victim in PreBind goes back to the queue", when=self._is_alive(victim.uid))
        return outcome

    # Nominations.

    def _track(self, original: Any, nominations: Any, pod: str, node: str, claims: list[str]) -> Any:
        original(nominations, pod, node, claims)
        for uid in claims:
            self.owners.setdefault(node, {}).setdefault(uid, set()).add(pod)
            allocation = self._scheduler.manager.allocation_of(uid)
            if allocation is not None:
                self.held_by_victims[uid] = allocation

    def _deallocated(self, original: Any, nominations: Any, uid: str) -> Any:
        """Of what a victim's claim gives back, note what nobody holds."""
        for node in nominations.nodes():
            if uid not in nominations.victims_on(node) or uid not in self.held_by_victims:
                continue
            live = [held for held in nominations.all().values() if held.node == node]
            held_now = {device for held in live for device in _devices(*(result for _, result in held.results))}
            for device in _devices(self.held_by_victims[uid]) - held_now if live else ():
                self.surplus[device] = max(held.priority for held in live)
            self.owners.get(node, {}).pop(uid, None)
        original(nominations, uid)

    def _add(self, original: Any, holder: Any, data: StateData, info: Any, node: Any, victims: Any) -> Any:
        nominations = self._nominations
        tracked = set(nominations.victims_on(node.name))
        owned = {uid: set(owners) for uid, owners in self.owners.get(node.name, {}).items()}
        others = {uid: held for uid, held in nominations.all().items() if held.node == node.name and uid != info.uid}
        self.replacing += 1
        original(holder, data, info, node, victims)
        self.replacing -= 1
        held = nominations.on(info.uid, node.name)
        if held is None:
            return
        self.since[info.uid] = self.simulation.now
        mine = {uid for uid, owners in self.owners.get(node.name, {}).items() if info.uid in owners}
        wanted = {data.claims[index].metadata.uid for index in data.to_ask()}
        asked = {claim.metadata.uid for claim, _ in held.results}
        self._count(
            "P14 a nomination with one result for each claim, and victims' claims", when=wanted <= asked and bool(mine)
        )
        self._of_victims(info, held, victims, mine)
        shared = mine & tracked
        peers = {uid for uid, each in others.items() if each.priority == info.priority}
        dying = any(victim.pod.metadata.deletion_timestamp is not None for victim in victims)
        self._count(
            "P25 two of the same priority share a terminating victim",
            when=dying and any(owned.get(uid, set()) & peers for uid in shared),
        )
        fresh = any(victim.pod.metadata.deletion_timestamp is None for victim in victims)
        first = [uid for uid in tracked - mine if owned.get(uid, set()) & set(others) and self._users_gone(uid)]
        self._count("P27 a second victim is preempted after the first is gone", when=fresh and bool(first and mine))
        for name, waiting in (
            ("P20 and the preemptor preempts again", self.stolen),
            ("P35 and the pod preempts again", self.failed),
        ):
            self._count(name, when=info.uid in waiting)
            waiting.discard(info.uid)
        self._count("P38 then the pod preempts once more", when=self.lost.pop(info.uid, None) is not None)

    def _of_victims(self, info: Any, held: ClaimNomination, victims: Any, mine: set[str]) -> None:
        """What a new nomination says of its victims' claims."""
        scheduler = self._scheduler
        given = _devices(*(result for _, result in held.results))
        cards = [uid for uid in mine if any(driver == CARD for driver, _, _ in _devices(self.held_by_victims[uid]))]
        large = {each for each in given if each[0] == CARD and each[2] == "whole"}
        self._count("P3 several small partitions go for a large one", when=bool(large) and len(cards) > 1)
        gone = {victim.uid for victim in victims}
        for victim in victims:
            claims = scheduler.dynamic_resources._simulator.claims_of(victim.pod)
            for each in claims:
                uid = each.metadata.uid
                users = {user.uid for user in each.status.reserved_for}
                if uid in mine:
                    self._count(
                        "P5 a victim that waits in PreBind is counted as free",
                        when=victim.uid in scheduler.binder.waiting,
                    )
                    self._count("P12 a claim whose other user is terminating is waited for", when=bool(users - gone))
                elif scheduler.manager.allocation_of(uid) is not None and any(map(self._is_alive, users - gone)):
                    self._count("P11 nor waited for")

    def _remove(self, original: Any, holder: Any, info: Any, node: str, cause: str) -> Any:
        nominations = self._nominations
        held = nominations.on(info.uid, node)
        tracked = set(nominations.victims_on(node))
        original(holder, info, node, cause)
        if held is None:
            return
        age = self.simulation.now - self.since.pop(info.uid, self.simulation.now)
        self._count("P43 held for longer than any timer", when=age > LONGER_THAN_TIMERS)
        self._count("P17 and over in the end", when=info.uid in self.late)
        self.late.discard(info.uid)
        if cause == "scheduled":
            self.scheduled[info.uid] = held
            self._count("P40 scheduled on another node", when=self._scheduler.cache.node_of(info.uid) != node)
        elif cause == "failed":
            self._count("P35 a failed deletion ends the nomination")
            self.failed.add(info.uid)
        elif not self._is_alive(info.uid):
            self._count(f"P31 the preemptor is deleted {'before' if tracked else 'after'} t3")
        else:
            self._count(f"P32 the nominated node is {'replaced' if self.replacing else 'cleared'}")
            if tracked:
                assert tracked == set(nominations.victims_on(node))
                self._count("P32 the victims' claims stay tracked")

    def _nominator_add(self, original: Any, nominator: Any, info: Any, node: str) -> Any:
        self.replacing += 1
        original(nominator, info, node)
        self.replacing -= 1

    def _wakes(self, original: Any, holder: Any, event: Any, info: Any) -> Any:
        result = original(holder, event, info)
        nominations = self._nominations
        claim = event.new if event.new is not None else event.old
        uid = claim.metadata.uid
        held = nominations.of(info.uid)
        if held is None:
            waited = any(nominations.was_waited_for(uid, node) for node in self._scheduler.nominator.nodes())
            self._count("P34 a victim's claim wakes others", when=result and waited)
        elif not result:
            self._count("P33 a victim's claim does not wake the preemptor")
        elif nominations.was_waited_for(uid, held.node):
            self._count("P33 the last one does", when=not nominations.victims_on(held.node))
        else:
            self._count("P34 another claim wakes the preemptor", when=bool(nominations.victims_on(held.node)))
        return result

    def _capacity_freed(self, original: Any, scheduler: Any, info: Any, old: Any, new: Any) -> Any:
        def waiting() -> set[str]:
            return {each.uid for each in scheduler.queue._unschedulable.everybody()}

        before = waiting()
        original(scheduler, info, old, new)
        self._count("P31 a synthetic event wakes a pod", when=bool(before - waiting()))

    def _restart(self, original: Any, scheduler: Any) -> Any:
        nominations = self._nominations
        lost = {uid: held for uid, held in nominations.all().items() if nominations.victims_on(held.node)}
        original(scheduler)
        self._count("P38 a restart while a preemption settles", when=bool(lost))
        self.lost.update(lost)
        for known in (self.owners, self.since, self.scheduled, self.impossible, self.surplus, self.waiters):
            known.clear()
        for some in (self.stolen, self.failed, self.late):
            some.clear()

    # Filter.

    def _filter(self, original: Any, algorithm: Any, state: Any, info: Any, node: Any, filters: Any = None) -> Any:
        status = original(algorithm, state, info, node, filters)
        if status.plugin == DynamicResources.name and "cannot allocate all claims" in status.message:
            data = state.read(STATE)
            dry = data.effects is not None and bool(data.effects.removed)
            if not dry and not data.special and data.allocated is not None and data.to_ask():
                self._refused(data, info, node)
        return status

    def _refused(self, data: StateData, info: Any, node: Any) -> None:
        """A node has no devices for a pod: because of what is held or not deallocated yet?"""
        nominations = self._nominations
        live = [held for uid, held in nominations.all().items() if held.node == node.name and uid != info.uid]
        tracked = nominations.victims_on(node.name)
        against = [held for held in live if held.priority >= info.priority]
        assert data.allocated is not None
        if against and not tracked:
            found = self._search(data, data.allocated, node)
            if found is not None:
                self._count("P19 equal or lower priority does not get what is held after t3")
                cards = {each for each in _results(against) if each[0] == CARD}
                theirs = {each for each in _devices(*found) if each[0] == CARD}
                overlap = {each[1] for each in cards} & {each[1] for each in theirs}
                self._count(
                    "P42 the counters of a held partition keep others away", when=bool(overlap) and not cards & theirs
                )
        if live and not against and tracked:
            state = data.allocated
            for uid in tracked:
                allocation = self._scheduler.manager.allocation_of(uid)
                if allocation is not None:
                    state = state.without_allocation(allocation)
            self._count(
                "P21 a more important pod does not get it before t3", when=self._search(data, state, node) is not None
            )

    def _search(self, data: StateData, state: AllocatedState, node: Any) -> tuple[AllocationResult, ...] | None:
        """What the allocator finds for the pod in a state of the devices."""
        assert data.inventory is not None
        asked = [data.claims[index] for index in data.to_ask()]
        outcome = Attempt(data.inventory, state, asked).on(node.api, self._scheduler.manager.shares + 1)
        return outcome.results if isinstance(outcome, Allocated) else None

    def _given(self, original: Any, plugin: Any, state: Any, data: Any, info: Any, node: Any, *special: Any) -> Any:
        result = original(plugin, state, data, info, node, *special)
        removed = data.effects is not None and bool(data.effects.removed)
        if removed or special[0] is not None or data.allocated is None:
            return result
        if state.first_pass is not None:
            if isinstance(result, Status):
                self._second_pass_refuses(state, data, info, node)
        elif isinstance(result, tuple):
            found = self._search(data, data.allocated, node)
            self._count(
                "P29 although a search finds others", when=found is not None and _devices(*found) != _devices(*result)
            )
        elif (
            self._nominations.on(info.uid, node.name) and data.to_ask() and not self._nominations.victims_on(node.name)
        ):
            self._count("P30 recorded devices are not possible")
            self.impossible[info.uid] = node.name
        return result

    def _second_pass_refuses(self, state: Any, data: StateData, info: Any, node: Any) -> None:
        nominations = self._nominations
        first = state.first_pass.read(STATE).nodes.get(node.name)
        tracked = nominations.victims_on(node.name)
        theirs = {device for uid in tracked for device in _devices(self.held_by_victims[uid])}
        if first is None or not theirs & _devices(*first.results):
            return
        self._count("P22 a victim's surplus is not given before t3")
        allocated = data.allocated
        assert allocated is not None
        for held in nominations.at_least(info.priority, node.name, but=info.uid):
            for claim, result in held.results:
                if not theirs & _devices(result):
                    allocated = self._scheduler.manager.plus(allocated, claim, result)
        self._count(
            "P24 another device that is free is not found", when=self._search(data, allocated, node) is not None
        )
        if all(self._users_gone(uid) for uid in tracked):
            self.waiters[info.uid] = node.name

    # Simulation.

    def _simulated_removal(self, original: Any, simulator: Any, data: Any, preemptor: Pod, victim: Pod) -> Any:
        self.preemptor = preemptor
        original(simulator, data, preemptor, victim)
        self.preemptor = None
        self._count(
            "P10 a preemptor with extended resources frees nothing",
            when=data.effects is not None and data.special and bool(simulator.claims_of(victim)),
        )

    def _is_releasable(self, original: Any, simulator: Any, victim: Pod, claim: Any, allocation: Any, gone: Any) -> Any:
        gone = set(gone)
        result = original(simulator, victim, claim, allocation, gone)
        if result:
            return result
        inventory = self._scheduler.manager.inventory
        local = {is_local(inventory, each) for each in allocation.devices.results}
        users = {each.uid for each in claim.status.reserved_for}
        if in_group(victim):
            self._count("P9 a victim in a group frees nothing", when=False not in local)
        elif simulator._has_extended_resources(victim):
            self._count("P10 a victim with extended resources frees nothing", when=users <= gone and False not in local)
        elif users <= gone and False in local:
            several = True in local
            self._count(
                "P7 a claim with one such device is not released"
                if several
                else "P6 a claim of a device of several nodes is not released"
            )
        elif self.preemptor is not None:
            least = self.preemptor.spec.priority or 0
            surviving = [
                each
                for each in self.simulation.pods()
                if each.metadata.uid in users - gone
                and (each.spec.priority or 0) >= least
                and each.metadata.deletion_timestamp is None
            ]
            self._count("P11 a claim with a surviving user is not released", when=bool(surviving))
        return result

    def _add_nominated(self, original: Any, simulator: Any, data: Any, nomination: Any) -> Any:
        before = len(data.effects.subtracted) if data.effects is not None else 0
        original(simulator, data, nomination)
        if data.effects is not None and data.effects.removed:
            self._count(
                "P28 what victims hold is subtracted before what is held is added",
                when=len(data.effects.subtracted) > before,
            )

    # Reserving.

    def _reserve(self, original: Any, manager: Any, claim: Any, allocation: Any, pod: str) -> Any:
        original(manager, claim, allocation, pod)
        if manager is not self._scheduler.manager:
            return
        given = _devices(allocation)
        priority = next((each.spec.priority or 0 for each in self.simulation.pods() if each.metadata.uid == pod), 0)
        own = self.scheduled.get(pod)
        if own is not None:
            self._of_preemptor(own, claim, given, pod)
        for uid, held in self._nominations.all().items():
            for _, promised in held.results:
                shares = {each.share_id for each in promised.devices.results} - {None}
                common = given & _devices(promised)
                if common and shares:
                    self._count("P41 a share is held, the rest of the device is given", when=uid != pod)
                elif common and held.priority < priority:
                    self._count("P20 a more important pod takes what is held")
                    self.stolen.add(uid)
        for device in given & set(self.surplus):
            least = self.surplus.pop(device)
            self._count("P23 a victim's surplus is given after t3", when=own is None and priority <= least)
            self._count(
                "P26 after t1 the second one waits and gets the surplus", when=pod in self.waiters and own is None
            )
        for uid, lost in list(self.lost.items()):
            if uid != pod and lost.priority >= priority and given & _results([lost]):
                self._count("P38 then others get the devices")
                del self.lost[uid]
        self.lost.pop(pod, None)

    def _of_preemptor(self, own: ClaimNomination, claim: Any, given: set[tuple[str, str, str]], pod: str) -> None:
        """A preemptor gets its devices."""
        recorded = own.result_for(claim.metadata.uid)
        if recorded is not None:
            self._count("P29 the recorded devices are given", when=_devices(recorded) == given)
        node = self._scheduler.cache.node_of(pod)
        before = self.impossible.pop(pod, None)
        if before is not None and (recorded is None or _devices(recorded) != given):
            others = "others of the node" if before == node else "devices of another node"
            self._count(f"P30 {others} are given")

    def _drop_reservation(
        self, original: Any, store: Any, manager: Any, claim: Any, uid: str, *, deallocates: bool
    ) -> None:
        original(store, manager, claim, uid, deallocates=deallocates)
        if deallocates:
            now = self._claim_by_uid(claim.metadata.uid)
            self._count("P47 its claim is freed at once", when=now is not None and now.status.allocation is None)

    def taken_from_outside(self, claim: ResourceClaim) -> None:
        """Another scheduler has written an allocation."""
        allocation = claim.status.allocation
        assert allocation is not None
        live = list(self._nominations.all().values())
        self._count("P39 another scheduler takes what is held", when=bool(_devices(allocation) & _results(live)))


def _devices(*allocations: AllocationResult) -> set[tuple[str, str, str]]:
    return {(each.driver, each.pool, each.device) for one in allocations for each in one.devices.results}


def _results(nominations: list[ClaimNomination]) -> set[tuple[str, str, str]]:
    return _devices(*(result for held in nominations for _, result in held.results))
