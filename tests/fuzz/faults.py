"""Faults put back on purpose, by name, for tests alone: each has happened to Kubernetes, to dralang, or both.

``entry`` is the entry of the log of public bug reports (or the property of it) whose fault this is.
"""

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from dralang.allocator import attempt_state, constraints, prepared
from dralang.allocator.state import AllocatedState, PoolAllocations
from dralang.check.analysis import Analyzer
from dralang.controllers import resourceclaim
from dralang.controllers.garbage_collector import GarbageCollector
from dralang.fuzz.example import play_example
from dralang.run import player
from dralang.run.invariants.watch import Watch
from dralang.run.workshop import Workshop
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.node_info import NodeCache
from dralang.scheduler.queue import SchedulingQueue
from dralang.scheduler.scheduler import Scheduler

Patch = pytest.MonkeyPatch


class Fault(NamedTuple):
    """A switch: what it breaks, where that was seen, and how it is done."""

    entry: str
    area: str
    apply: Callable[[Patch], None]
    quirk: str = ""


class Dice:
    """Chooses at random, from a seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def integer(self, low, high):
        return self.random.randint(low, high)


class Blind:
    """Sees no invariant broken: for tests of what else finds faults."""

    def __init__(self, *_, **__):
        self.violations = []

    begin = look_at_rest = look_back = look_after_restart = slowed_down = add = lambda *_: None


class StrictWatch(Watch):
    """Excuses no fault of Kubernetes."""

    def __init__(self, simulation, environment, *, thorough):
        strict: Any = SimpleNamespace(
            features=environment.features,
            profile=replace(environment.profile, quirks=frozenset()),
            inventories=environment.inventories,
            readings=environment.readings,
            found_right={},
        )
        super().__init__(simulation, strict, thorough=thorough)


def strict(patch):
    patch.setattr(player, "Watch", StrictWatch)


def taints_ignored(patch):
    patch.setattr(attempt_state, "untolerated", lambda *_: None)


def selectors_ignored(patch):
    patch.setattr(prepared.SliceDevice, "satisfies", lambda *_: True)


def finished_pods_keep_devices(patch):
    patch.setattr(resourceclaim, "is_done", lambda _: False)


def nobody_is_woken(patch):
    patch.setattr(SchedulingQueue, "_consider", lambda *_: None)


def own_status_does_not_wake(patch):
    patch.setattr(SchedulingQueue, "update", lambda *_: None)


def shares_numbered_again(patch):
    def restart(self):
        self.events.drop(self.name)
        self._reset()
        self.start()

    patch.setattr(Scheduler, "restart", restart)


def one_share_frees_all(patch):
    removed = AllocatedState._removed

    def forgetful(self, pool, results):
        results = list(results)
        left = removed(self, pool, results)
        names = {result.device for result in results}
        shares = {name: each for name, each in left.shares.items() if name not in names}
        consumed = {name: each for name, each in left.consumed.items() if name not in names}
        return PoolAllocations(left.dedicated, shares, consumed)

    patch.setattr(AllocatedState, "_removed", forgetful)


def devices_in_use_are_free(patch):
    add = AllocatedState._added

    def forgetful(self, pool, holder, results):
        return add(self, pool, holder, [result for result in results if result.share_id is not None])

    patch.setattr(AllocatedState, "_added", forgetful)


def consumed_capacity_forgotten(patch):
    add = AllocatedState._added

    def forgetful(self, pool, holder, results):
        made = add(self, pool, holder, results)
        return PoolAllocations(made.dedicated, made.shares, pool.consumed)

    patch.setattr(AllocatedState, "_added", forgetful)


def restart_forgets_claims(patch):
    start = DRAManager.inform

    def deaf(self, old, new):
        if old is None and new is not None and new.status.allocation is not None:
            return
        start(self, old, new)

    patch.setattr(DRAManager, "inform", deaf)


def orphans_stay(patch):
    patch.setattr(GarbageCollector, "sync", lambda *_: "")


def ended_pods_count(patch):
    patch.setattr(NodeCache, "remove_pod", lambda *_: None)


def slice_updates_missed(patch):
    inform = DRAManager.inform_slice

    def deaf(self, old, new):
        if old is None or new is None:
            inform(self, old, new)

    patch.setattr(DRAManager, "inform_slice", deaf)


def users_are_never_done(patch):
    patch.setattr(resourceclaim.ResourceClaimController, "_still_uses", lambda *_: True)


def unreserving_is_forgotten(patch):
    patch.setattr(resourceclaim.ResourceClaimController, "_sync_claim", lambda *_: "")


def in_flight_for_ever(patch):
    patch.setattr(DRAManager, "settle", lambda *_: False)


def constraints_ignored(patch):
    kinds = [kind for name, kind in vars(constraints).items() if isinstance(kind, type) and hasattr(kind, "opposed")]
    for kind in kinds:
        patch.setattr(kind, "add", lambda self, attribute, request: True)
        patch.setattr(kind, "pop", lambda self, request: None)


def everybody_is_done(patch):
    patch.setattr(resourceclaim, "is_done", lambda _: True)


def sharers_not_counted(patch):
    settle = DRAManager.settle
    patch.setattr(DRAManager, "settle", lambda self, uid, pod=None: settle(self, uid))


FAULTS = {
    "taints-ignored": Fault("B26", "E admin access and taints", taints_ignored),
    "selectors-ignored": Fault("B01", "A search and All", selectors_ignored),
    "distinct-knows-latest": Fault("B21", "D constraints", strict, "distinct-attribute-knows-latest-device"),
    "counters-forget-shares": Fault("B16", "B shared counters", strict, "counters-forget-shares"),
    "finished-pods-keep-devices": Fault("B49", "J claim life cycle", finished_pods_keep_devices),
    "nobody-is-woken": Fault("B42", "I queueing and wake-ups", nobody_is_woken),
    "own-status-does-not-wake": Fault("B43", "I queueing and wake-ups", own_status_does_not_wake),
    "shares-numbered-again": Fault("O8", "C consumable capacity", shares_numbered_again),
    "one-share-frees-all": Fault("B16", "C consumable capacity", one_share_frees_all),
    "devices-in-use-are-free": Fault("B35", "H reserve and in-flight state", devices_in_use_are_free),
    "consumed-capacity-forgotten": Fault("O1", "C consumable capacity", consumed_capacity_forgotten),
    "restart-forgets-claims": Fault("O8", "H reserve and in-flight state", restart_forgets_claims),
    "orphans-stay": Fault("O15", "J claim life cycle", orphans_stay),
    "ended-pods-count": Fault("O20", "M node accounting", ended_pods_count),
    "rejected-candidate-keeps-counters": Fault(
        "B10", "B shared counters", strict, "rejected-candidate-keeps-reservation"
    ),
    "counters-by-pool-name": Fault("B11", "B shared counters", strict, "counters-shared-by-pool-name"),
    "any-taint-blocks": Fault("B26", "E admin access and taints", strict, "any-taint-effect-blocks"),
    "slice-updates-missed": Fault("B42", "I queueing and wake-ups", slice_updates_missed),
    "users-are-never-done": Fault("B46", "J claim life cycle", users_are_never_done),
    "unreserving-is-forgotten": Fault("B45", "J claim life cycle", unreserving_is_forgotten),
    "in-flight-for-ever": Fault("B41", "H reserve and in-flight state", in_flight_for_ever),
    "constraints-ignored": Fault("O2", "D constraints", constraints_ignored),
    "distinct-compares-identity": Fault("B21", "D constraints", strict, "distinct-attribute-compares-identity"),
    "everybody-is-done": Fault("O15", "J claim life cycle", everybody_is_done),
    "sharers-not-counted": Fault("B37", "H reserve and in-flight state", sharers_not_counted),
}


def first_failure(fault, limit):
    """The number of the first example that fails, and every way in which it does."""
    quirks = f"quirks {{ {fault.quirk}: true }}\n" if fault.quirk else ""
    text = f'kubernetes 1.37\n{quirks}fuzz "f" from std.random() {{ expect all pods are settled }}\n'
    analysis = Analyzer().text(Path("f.dra"), "f.dra", text.encode())
    scenario, workshop = analysis.scenarios[0], Workshop()
    with pytest.MonkeyPatch.context() as patch:
        fault.apply(patch)
        for number in range(limit):
            example = play_example(scenario, Dice(number), workshop)
            if example.failure is not None:
                failures = (example.failure, *example.played.failures)
                return number + 1, [each.expected.partition(" (")[0] for each in failures]
    return None, []
