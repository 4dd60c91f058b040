"""Who gets which devices, in simulations and in earnest, as rows of docs/kep-5690.md."""

from typing import Any

from stories.preempting_watch import Watched, devices_of, results_of
from stories.preempting_world import CARD

from dralang.allocator.allocate import Attempt
from dralang.allocator.outcome import Allocated
from dralang.allocator.state import AllocatedState
from dralang.api.allocation import AllocationResult
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.scheduler.dynamicresources.cycle_data import STATE, StateData
from dralang.scheduler.dynamicresources.nominations import ClaimNomination
from dralang.scheduler.dynamicresources.plugin import DynamicResources
from dralang.scheduler.dynamicresources.simulate import in_group, is_local
from dralang.scheduler.framework import Status


class OfDevices(Watched):
    """Watches Filter, the simulation of victims that are gone, and Reserve."""

    # Filter.

    def _filter(self, original: Any, algorithm: Any, state: Any, info: Any, node: Any) -> Any:
        status = original(algorithm, state, info, node)
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
                cards = {each for each in results_of(against) if each[0] == CARD}
                theirs = {each for each in devices_of(*found) if each[0] == CARD}
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

    def _given(self, original: Any, plugin: Any, state: Any, data: Any, info: Any, node: Any, *rest: Any) -> Any:
        result = original(plugin, state, data, info, node, *rest)
        removed = data.effects is not None and bool(data.effects.removed)
        if removed or data.special or data.allocated is None:
            return result
        if state.first_pass is not None:
            if isinstance(result, Status):
                self._second_pass_refuses(state, data, info, node)
        elif isinstance(result, tuple):
            found = self._search(data, data.allocated, node)
            self._count(
                "P29 although a search finds others",
                when=found is not None and devices_of(*found) != devices_of(*result),
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
        theirs = {device for uid in tracked for device in devices_of(self.held_by_victims[uid])}
        if first is None or not theirs & devices_of(*first.results):
            return
        self._count("P22 a victim's surplus is not given before t3")
        allocated = data.allocated
        assert allocated is not None
        for held in nominations.at_least(info.priority, node.name, but=info.uid):
            for claim, result in held.results:
                if not theirs & devices_of(result):
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
        given = devices_of(allocation)
        priority = next((each.spec.priority or 0 for each in self.simulation.pods() if each.metadata.uid == pod), 0)
        own = self.scheduled.get(pod)
        if own is not None:
            self._of_preemptor(own, claim, given, pod)
        for uid, held in self._nominations.all().items():
            for _, promised in held.results:
                shares = {each.share_id for each in promised.devices.results} - {None}
                common = given & devices_of(promised)
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
            if uid != pod and lost.priority >= priority and given & results_of([lost]):
                self._count("P38 then others get the devices")
                del self.lost[uid]
        self.lost.pop(pod, None)

    def _of_preemptor(self, own: ClaimNomination, claim: Any, given: set[tuple[str, str, str]], pod: str) -> None:
        """A preemptor gets its devices."""
        recorded = own.result_for(claim.metadata.uid)
        if recorded is not None:
            self._count("P29 the recorded devices are given", when=devices_of(recorded) == given)
        node = self._scheduler.cache.node_of(pod)
        before = self.impossible.pop(pod, None)
        if before is not None and (recorded is None or devices_of(recorded) != given):
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
        self._count("P39 another scheduler takes what is held", when=bool(devices_of(allocation) & results_of(live)))
