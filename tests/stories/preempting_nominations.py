"""What is promised, and how promises end, as rows of docs/kep-5690.md."""

from typing import Any

from stories.preempting_watch import Watched, devices_of
from stories.preempting_world import CARD

from dralang.scheduler.dynamicresources.cycle_data import StateData
from dralang.scheduler.dynamicresources.nominations import ClaimNomination

LONGER_THAN_TIMERS = 601_000
"""Milliseconds: the flush of the queue comes after five minutes, the timeout of bindings after ten."""


class OfNominations(Watched):
    """Watches nominations and the claims that are waited for."""

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
            held_now = {device for held in live for device in devices_of(*(result for _, result in held.results))}
            for device in devices_of(self.held_by_victims[uid]) - held_now if live else ():
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
        given = devices_of(*(result for _, result in held.results))
        cards = [uid for uid in mine if any(driver == CARD for driver, _, _ in devices_of(self.held_by_victims[uid]))]
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
