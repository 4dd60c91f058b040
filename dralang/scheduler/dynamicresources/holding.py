"""Holding what a preemptor has earned: when preemption chooses, when the pod is tried, and until when it waits.

Source: KEP-5690, Claim nomination; Deferring further preemption.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from dralang.allocator.allocate import Attempt
from dralang.allocator.outcome import Allocated
from dralang.api.allocation import AllocationResult
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.journal import JournalEntry
from dralang.cluster.store import ObjectStore
from dralang.readings import FAILURE_KEEPS_GONE, HINT_WITHHOLDS_ALL, OWN_VICTIMS_DEFER
from dralang.scheduler.cluster_event import ClusterEvent
from dralang.scheduler.dynamicresources.cycle_data import StateData
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.dynamicresources.nominations import ClaimNomination
from dralang.scheduler.dynamicresources.simulate import Simulator
from dralang.scheduler.framework import NominationEnd
from dralang.scheduler.node_info import NodeInfo, PodInfo

STILL_RECLAIMED = "not eligible due to ResourceClaims of preempted pods that are still allocated on the nominated node."

Freed = Callable[[PodInfo, ResourceClaim, ResourceClaim], None]


class CapacityHolder:
    """Makes, uses and ends claim nominations.

    Args:
        store: for pods that are going, and for the journal.
        manager: keeps the nominations.
        simulator: tries what other pods would change.
        freed: told that what was held for a pod is free, as if a claim had been deallocated.
        readings: of the KEP, where there are two.
    """

    def __init__(
        self,
        store: ObjectStore,
        manager: DRAManager,
        simulator: Simulator,
        freed: Freed,
        readings: frozenset[str] = frozenset(),
    ) -> None:
        self._store = store
        self._manager = manager
        self._simulator = simulator
        self._freed = freed
        self._readings = readings

    # NominationExtensions.

    def add(self, data: StateData, info: PodInfo, node: NodeInfo, victims: Sequence[PodInfo]) -> None:
        """Preemption has chosen: record what the pod is to get, and what has to become free for it.

        Args:
            data: of the preemptor's cycle.
            info: the preemptor.
            node: the chosen node.
            victims: who has to go.
        """
        if not self._simulator.can_preempt(data, info.pod):
            return
        released = self._released_by([victim.pod for victim in victims])
        trial = data.clone()
        assert trial.effects is not None, "the gate is on"
        for uid, allocation in released.items():
            trial.effects.released[uid] = allocation
            trial.change(self._manager, self._manager.without(trial.allocated, allocation))
        asked = [trial.claims[index] for index in trial.to_ask()]
        if not asked:
            return
        nominations = self._manager.nominations
        for held in nominations.at_least(info.priority, node.name, but=info.uid):
            self._simulator.add_nominated(trial, held)
        self._replace(info, node.name)
        nominations.track(info.uid, node.name, list(released))
        assert trial.inventory is not None
        assert trial.allocated is not None
        outcome = self._manager.ask(Attempt(trial.inventory, trial.allocated, asked), node.api)
        if not isinstance(outcome, Allocated):
            self._record(info, node.name, "nothing: the simulation cannot be repeated", released)
            return
        # The shares have their numbers from now on.
        self._manager.shares += outcome.shares
        results = tuple(zip(asked, outcome.results, strict=True))
        nominations.nominate(info.uid, ClaimNomination(node.name, info.priority, results))
        devices = [each.device for result in outcome.results for each in result.devices.results]
        self._record(info, node.name, ", ".join(devices), released)

    def _released_by(self, victims: Sequence[Pod]) -> dict[str, AllocationResult]:
        """The claims that are free once the victims are gone, and those pods that are going anyway."""
        gone = {victim.metadata.uid for victim in victims}
        released: dict[str, AllocationResult] = {}
        for victim in victims:
            for claim in self._simulator.claims_of(victim):
                uid = claim.metadata.uid
                allocation = self._manager.allocation_of(uid)
                if allocation is None or uid in released:
                    continue
                if self._simulator.is_releasable(victim, claim, allocation, gone | self._simulator.going(claim)):
                    released[uid] = allocation
        return released

    def _replace(self, info: PodInfo, node: str) -> None:
        """An earlier nomination ends before the new one begins."""
        before = self._manager.nominations.of(info.uid)
        if before is not None:
            self.remove(info, before.node, "ended" if before.node != node else "scheduled")

    def remove(self, info: PodInfo, node: str, cause: NominationEnd) -> None:
        """A nomination is over: nothing is held any more."""
        nominations = self._manager.nominations
        if cause == "failed":
            nominations.forget_victims(
                info.uid, node, self._leaving(node) if FAILURE_KEEPS_GONE in self._readings else ()
            )
        removed = nominations.remove(info.uid, node)
        if removed is None or cause == "scheduled" or nominations.victims_on(node):
            # Before the victims' claims are free, their deallocation wakes whoever waits.
            return
        for claim, result in removed.results:
            held = replace(claim, status=replace(claim.status, allocation=result))
            self._freed(info, held, replace(claim, status=replace(claim.status, allocation=None)))

    def _leaving(self, node: str) -> frozenset[str]:
        """Of the claims that are waited for on a node, those that are really being given up by all of their users."""
        waited = set(self._manager.nominations.victims_on(node))
        return frozenset(
            claim.metadata.uid
            for claim in self._manager.claims()
            if claim.metadata.uid in waited
            and {each.uid for each in claim.status.reserved_for} <= self._simulator.going(claim)
        )

    def obstacle_to_preemption(self, info: PodInfo, node: str) -> str:
        """Why a pod that is nominated to the node may not preempt again yet."""
        nominations = self._manager.nominations
        if OWN_VICTIMS_DEFER in self._readings:
            return STILL_RECLAIMED if nominations.victims_of(info.uid, node) else ""
        return STILL_RECLAIMED if nominations.victims_on(node) else ""

    # Trying pods.

    def results_for(
        self, data: StateData, first: StateData | None, info: PodInfo, node: NodeInfo
    ) -> tuple[list[AllocationResult] | None, bool]:
        """Results that are given already, and whether nothing else will do.

        Args:
            data: what the plugin keeps of the cycle.
            first: the same with the nominated pods, if the node passed with them.
            info: the pod.
            node: the node.
        """
        if first is not None:
            chosen = first.nodes.get(node.name)
            return (list(chosen.results) if chosen is not None else None), True
        held = self._manager.nominations.on(info.uid, node.name)
        if held is None or data.special or (data.effects is not None and data.effects.removed):
            return None, False
        results = [held.result_for(data.claims[index].metadata.uid) for index in data.to_ask()]
        given = [result for result in results if result is not None]
        return (given if len(given) == len(results) else None), False

    def wakes(self, event: ClusterEvent, info: PodInfo) -> bool:
        """Whether the change of a claim is worth a try: a preemptor waits for the last of its victims' claims."""
        held = self._manager.nominations.of(info.uid)
        if held is None:
            return True
        claim: ResourceClaim = event.new if event.new is not None else event.old
        nominations = self._manager.nominations
        if HINT_WITHHOLDS_ALL in self._readings:
            return not nominations.victims_on(held.node)
        return not (nominations.was_waited_for(claim.metadata.uid, held.node) and nominations.victims_on(held.node))

    def _record(self, info: PodInfo, node: str, devices: str, released: dict[str, AllocationResult]) -> None:
        meta = info.pod.metadata
        number = len(released)
        text = f"nominated on {node}, where it is to have {devices}"
        if number:
            text += f"; waits for {number} claim{'' if number == 1 else 's'} to be deallocated"
        entry = JournalEntry(
            self._store.events.now, "scheduler", "Pod", meta.namespace, meta.name, "Nominated", text, (node,)
        )
        self._store.journal.record(entry)
