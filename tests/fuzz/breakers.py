"""For each invariant a fault that breaks it, in its spec under specs/invariants; switches that only tests have."""

import itertools

from faults import FAULTS, Fault, strict
from msgspec.structs import replace

from dralang.allocator import allocate, attempt_state, capacity, constraints, inventory, pools, state
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.store import ObjectStore
from dralang.controllers import resourceclaim
from dralang.controllers.device_taint_eviction import DeviceTaintEvictionController
from dralang.controllers.kubelet import Kubelet
from dralang.scheduler.cycle import SchedulingAlgorithm
from dralang.scheduler.dynamicresources.binding import ClaimBinder
from dralang.scheduler.dynamicresources.holding import CapacityHolder
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.dynamicresources.nominations import Nominations
from dralang.scheduler.dynamicresources.plugin import DynamicResources
from dralang.scheduler.dynamicresources.simulate import Simulator
from dralang.scheduler.framework import Code, Status
from dralang.scheduler.node_info import NodeCache, PodInfo
from dralang.scheduler.preemption import DefaultPreemption

# ---- results --------------------------------------------------------------------------------------------------------


def changed_results(patch, change):
    """Every allocation is changed before anybody sees it."""
    build = allocate.build_result

    def built(*args):
        made = build(*args)
        return replace(made, devices=replace(made.devices, results=change(made.devices.results)))

    patch.setattr(allocate, "build_result", built)


def last_device_is_lost(patch):
    changed_results(patch, lambda found: found[:1])


def devices_are_misspelled(patch):
    changed_results(patch, lambda found: tuple(replace(each, device=f"{each.device}-x") for each in found))


def tolerations_are_not_written(patch):
    changed_results(patch, lambda found: tuple(replace(each, tolerations=()) for each in found))


# ---- the search -----------------------------------------------------------------------------------------------------


def incomplete_pools_are_used(patch):
    gather = pools._gather

    def lenient(group, relevant):
        found = gather(group, relevant)
        return pools._build(group, relevant, ()) if found is not None and found.state == "incomplete" else found

    patch.setattr(pools, "_gather", lenient)


def amounts_are_not_rounded(patch):
    patch.setattr(capacity, "_rounded_to_range", lambda requested, *_: requested)
    patch.setattr(capacity, "_violation", lambda *_: "")


def devices_are_tried_backwards(patch):
    begin = inventory.NodeView.__init__

    def backwards(self, *args):
        begin(self, *args)
        self.devices.reverse()

    patch.setattr(inventory.NodeView, "__init__", backwards)


def broken_pools_are_fatal(patch):
    def look(self, node):
        found = view(self, node)
        if found.bad_pools:
            found.error = pools.GatherError((0, 0), "a pool is broken")
        return found

    view = inventory.Inventory._look
    patch.setattr(inventory.Inventory, "_look", look)


def admin_access_counts(patch):
    by_pool = state._by_pool

    def all_by_pool(allocation):
        found = tuple(replace(each, admin_access=None) for each in allocation.devices.results)
        return by_pool(replace(allocation, devices=replace(allocation.devices, results=found)))

    patch.setattr(state, "_by_pool", all_by_pool)


def amounts_without_their_unit(patch):
    """The number counts, and not what stands behind it."""

    def numbers(result):
        return {key: each.mantissa * 10**9 for key, each in (result.consumed_capacity or {}).items()}

    patch.setattr(state, "_amounts", numbers)


def lists_match_nothing(patch):
    patch.setattr(constraints.MatchingSets, "add", lambda *_: False)


def useless_devices_keep_counters(patch):
    patch.setattr(attempt_state.AttemptState, "_release", lambda *_: None)


def course_depends_on_the_run(patch):
    """As if a set of texts were walked through: another order in every run."""
    runs = itertools.count()
    begin = DRAManager.__init__

    def moody(self, *args, **rest):
        begin(self, *args, **rest)
        self.shares = next(runs)

    patch.setattr(DRAManager, "__init__", moody)
    record = ClaimBinder._record

    def recorded(self, claim, info, *, allocated):
        record(self, claim, info, allocated=allocated)
        last = self._store.journal.entries[-1]
        self._store.journal.entries[-1] = replace(last, message=f"{last.message} ({self._manager.shares})")

    patch.setattr(ClaimBinder, "_record", recorded)


# ---- what is written ------------------------------------------------------------------------------------------------


def changed_writes(patch, kind, change):
    """The API server stores something else than it was given."""
    put = ObjectStore._put

    def changed(self, of, old, draft):
        return put(self, of, old, change(old, draft) if of is kind and old is not None else draft)

    patch.setattr(ObjectStore, "_put", changed)


def reservations_come_alone(patch):
    changed_writes(
        patch,
        ResourceClaim,
        lambda old, new: replace(new, status=replace(new.status, allocation=None)) if new.status.reserved_for else new,
    )


def sharers_choose_again(patch):
    def chosen_again(old, new):
        if old.status.allocation is None or len(new.status.reserved_for) <= len(old.status.reserved_for):
            return new
        made = new.status.allocation
        found = tuple(replace(each, device="gpu-1") for each in made.devices.results)
        made = replace(made, devices=replace(made.devices, results=found))
        return replace(new, status=replace(new.status, allocation=made))

    changed_writes(patch, ResourceClaim, chosen_again)


def pods_wander(patch):
    run = Kubelet.run

    def elsewhere(self, pod):
        started = run(self, pod)
        found = self.store.get(Pod, pod.metadata.namespace, pod.metadata.name)
        self.store._put(Pod, found, replace(found, spec=replace(found.spec, node_name="w-2")))
        return started

    patch.setattr(Kubelet, "run", elsewhere)


def claims_are_not_written(patch):
    patch.setattr(ClaimBinder, "bind_claims", lambda *_: "")


def deallocation_is_forgotten(patch):
    release = resourceclaim.ResourceClaimController._release

    def half(self, claim, *rest):
        before = self.store.get(ResourceClaim, claim.metadata.namespace, claim.metadata.name).status.allocation
        problem = release(self, claim, *rest)
        after = self.store.get(ResourceClaim, claim.metadata.namespace, claim.metadata.name)
        if after is not None and not after.status.reserved_for:
            self.store._put(ResourceClaim, after, replace(after, status=replace(after.status, allocation=before)))
        return problem

    patch.setattr(resourceclaim.ResourceClaimController, "_release", half)


def nobody_gives_up(patch):
    sync = resourceclaim.ResourceClaimController.sync

    def again(self, item):
        sync(self, item)
        self.enqueue(item, 1_000)

    patch.setattr(resourceclaim.ResourceClaimController, "sync", again)


# ---- evictions ------------------------------------------------------------------------------------------------------


def closed_nodes_stay_closed(patch):
    """That a node is open again goes unnoticed."""
    set_node = NodeCache.set_node

    def half(self, node):
        known = self.node(node.metadata.name)
        if known is None or node.spec.unschedulable or not known.api.spec.unschedulable:
            set_node(self, node)

    patch.setattr(NodeCache, "set_node", half)


def every_taint_evicts(patch):
    def all_taints(self, result):
        for name, device in self._published(result):
            for index, taint in enumerate(device.taints):
                yield ("", f"{name}/{device.name}/{index}"), taint

    patch.setattr(DeviceTaintEvictionController, "_taints", all_taints)


def nobody_is_evicted(patch):
    patch.setattr(DeviceTaintEvictionController, "_evict", lambda *_: None)


# ---- preemption and nodes -------------------------------------------------------------------------------------------


def later_alternatives_score_more(patch):
    score = DynamicResources.score
    patch.setattr(DynamicResources, "score", lambda *args: 8 - score(*args))


def held_devices_are_free(patch):
    patch.setattr(Simulator, "add_nominated", lambda *_: None)
    patch.setattr(CapacityHolder, "results_for", lambda *_: (None, False))


def nobody_is_spared(patch):
    dry_run = DefaultPreemption._dry_run

    def merciless(self, *args):
        with patch.context() as inner:
            inner.setattr(SchedulingAlgorithm, "add_pod", lambda *_: Status(Code.UNSCHEDULABLE, "not spared"))
            return dry_run(self, *args)

    patch.setattr(DefaultPreemption, "_dry_run", merciless)


def claims_are_not_waited_for(patch):
    patch.setattr(CapacityHolder, "obstacle_to_preemption", lambda *_: "")


def nominations_outlive_their_node(patch):
    patch.setattr(CapacityHolder, "remove", lambda *_: None)


def deallocations_go_unnoticed(patch):
    patch.setattr(Nominations, "deallocated", lambda *_: None)


def equals_are_preempted(patch):
    dry_run = DefaultPreemption._dry_run

    def bold(self, state_, info, *rest):
        spec = replace(info.pod.spec, priority=info.priority + 1)
        return dry_run(self, state_, PodInfo(replace(info.pod, spec=spec)), *rest)

    patch.setattr(DefaultPreemption, "_dry_run", bold)


def dry_runs_are_remembered(patch):
    without = DRAManager.without

    def remembered(self, allocated, allocation):
        left = without(self, allocated, allocation)
        self._state = left
        return left

    patch.setattr(DRAManager, "without", remembered)


def mapped_devices_are_shared(patch):
    patch.setattr(DynamicResources, "_shared_mapping", lambda *_: None)


BREAKERS = {
    "no-device-over-allocated": FAULTS["devices-in-use-are-free"],
    "no-capacity-below-zero": FAULTS["consumed-capacity-forgotten"],
    "no-counter-below-zero": FAULTS["counters-forget-shares"],
    "requests-answered": Fault("O2", "A search and All", last_device_is_lost),
    "devices-published": Fault("O2", "A search and All", devices_are_misspelled),
    "selectors-hold": FAULTS["selectors-ignored"],
    "taints-respected": FAULTS["taints-ignored"],
    "constraints-hold": FAULTS["constraints-ignored"],
    "all-means-all": Fault("B07", "A search and All", strict, "all-skips-exhausted-devices"),
    "pools-are-complete": Fault("B03", "A search and All", incomplete_pools_are_used),
    "amounts-are-exact": Fault("B19", "C consumable capacity", amounts_are_not_rounded),
    "results-say-everything": Fault("O16", "K device taints and eviction", tolerations_are_not_written),
    "reserved-means-allocated": Fault("O15", "J claim life cycle", reservations_come_alone),
    "allocations-do-not-move": Fault("B39", "J claim life cycle", sharers_choose_again),
    "pods-stay-on-their-node": Fault("O13", "J claim life cycle", pods_wander),
    "pods-have-their-claims": Fault("O13", "H reserve and in-flight state", claims_are_not_written),
    "evictions-have-a-reason": Fault("B52", "K device taints and eviction", every_taint_evicts),
    "nominations-have-their-node": Fault("B57", "N preemption", nominations_outlive_their_node),
    "victims-claims-are-allocated": Fault("B57", "N preemption", deallocations_go_unnoticed),
    "sharers-are-counted": FAULTS["sharers-not-counted"],
    "victims-are-less-important": Fault("O18", "N preemption", equals_are_preempted),
    "first-choice-in-order": Fault("O3", "A search and All", devices_are_tried_backwards),
    "better-alternatives-win": Fault("O11", "F prioritized list and scoring", later_alternatives_score_more),
    "promises-are-kept": Fault("B57", "N preemption", held_devices_are_free),
    "victims-are-needed": Fault("O18", "N preemption", nobody_is_spared),
    "one-preemption-at-a-time": Fault("B57", "N preemption", claims_are_not_waited_for),
    "simulations-leave-no-trace": Fault("O18", "N preemption", dry_runs_are_remembered),
    "memory-is-what-is-written": FAULTS["restart-forgets-claims"],
    "pods-where-the-scheduler-thinks": FAULTS["ended-pods-count"],
    "reservations-of-the-living": FAULTS["users-are-never-done"],
    "running-pods-keep-their-claims": FAULTS["everybody-is-done"],
    "unused-claims-are-free": Fault("O15", "J claim life cycle", deallocation_is_forgotten),
    "generated-claims-go-with-their-pod": FAULTS["orphans-stay"],
    "nothing-is-left-in-flight": FAULTS["in-flight-for-ever"],
    "nodes-count-devices-once": Fault("O20", "M node accounting", mapped_devices_are_shared),
    "tainted-devices-are-left": Fault("O17", "K device taints and eviction", nobody_is_evicted),
    "who-waits-has-to": FAULTS["nobody-is-woken"],
    "refusals-are-right": FAULTS["rejected-candidate-keeps-counters"],
    "restart-changes-nothing": Fault("O8", "I queueing and wake-ups", closed_nodes_stay_closed),
    "same-input-same-output": Fault("O3", "A search and All", course_depends_on_the_run),
    "every-story-ends": Fault("O12", "I queueing and wake-ups", nobody_gives_up),
    "names-do-not-matter": FAULTS["counters-by-pool-name"],
    "useless-devices-change-nothing": Fault("B10", "B shared counters", useless_devices_keep_counters),
    "admin-access-holds-nothing": Fault("O10", "E admin access and taints", admin_access_counts),
    "damage-stays-local": Fault("B04", "A search and All", broken_pools_are_fatal),
    "spelling-does-not-matter": Fault("O9", "C consumable capacity", amounts_without_their_unit),
    "unused-gates-change-nothing": Fault("O19", "D constraints", lists_match_nothing),
}
"""The fault by the invariant that it breaks."""
