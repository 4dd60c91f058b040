"""What DefaultPreemption does, as rows of docs/kep-5690.md."""

from typing import Any

from stories.preempting_watch import Watched

from dralang.allocator.node_selection import selector_matches
from dralang.scheduler.dynamicresources.cycle_data import STATE, StateData
from dralang.scheduler.dynamicresources.simulate import is_local
from dralang.scheduler.framework import Code
from dralang.scheduler.preemption import Candidate

HOUR = 3_600_000


class OfPreemption(Watched):
    """Watches who preempts whom, and who does not."""

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
