"""What must hold in every cluster after every event, and once everything has come to rest.

The numbers O1 to O18 are those of the list of properties in the project's reference on scheduling faults. The search
itself (O3, O4, O5, O9) is held against brute force in the tests of the allocator.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from stories.story import EXPRESSIONS, Story

from dralang.allocator.profiles import AllocatorProfile
from dralang.allocator.state import AllocatedState
from dralang.api.affinity import NodeSelector
from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult
from dralang.api.device import DeviceTaint, DeviceToleration
from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import DeviceSubRequest, ExactDeviceRequest, ResourceClaim
from dralang.api.resourceslice import Device, ResourceSlice
from dralang.api.workloads import PodGroup
from dralang.cluster.journal import JournalEntry
from dralang.cluster.podclaims import EXTENDED_RESOURCE_ANNOTATION, used_claim_names
from dralang.run.simulation import Simulation
from dralang.scheduler.binding import Binding
from dralang.scheduler.cycle import Found
from dralang.scheduler.framework import CycleState
from dralang.scheduler.node_info import PodInfo
from dralang.scheduler.resources import amounts

ENDED = ("Succeeded", "Failed")
DeviceKey = tuple[str, str, str]


class Holding(NamedTuple):
    """What one claim has, written or in flight."""

    claim: str
    allocation: AllocationResult


class Watch:
    """Checks a story after every event; `Story.watchers` calls it."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self._seen: tuple[int, AllocatedState | None, int] = (-1, None, -1)
        self._checked: set[int] = set()
        self._kept: list[Binding] = []
        self._read = 0
        self._tainted: set[tuple[str | None, str | None, str | None]] = set()

    def __call__(self, simulation: Simulation) -> None:
        scheduler = simulation.scheduler
        now = (simulation.store.revision, scheduler.manager.state, len(scheduler.binder.waiting))
        if now[0] == self._seen[0] and now[1] is self._seen[1] and now[2] == self._seen[2]:
            return
        self._seen = now
        self._note_taints(simulation)
        # O2 comes first: the view of the scheduler is still the one with which it decided.
        for binding in list(scheduler.binder.waiting.values()):
            if id(binding) not in self._checked:
                self._checked.add(id(binding))
                self._kept.append(binding)
                _check_decision(simulation, binding)
        self._check_holdings(simulation)
        _check_pods(simulation)
        entries = simulation.journal.entries
        for entry in entries[self._read :]:
            self._check_entry(simulation, entry)
        self._read = len(entries)

    def _check_holdings(self, simulation: Simulation) -> None:
        _check_holdings(simulation, list(_holdings(simulation)))

    def _note_taints(self, simulation: Simulation) -> None:
        for slice_ in simulation.store.objects(ResourceSlice):
            for device in slice_.spec.devices:
                if any(taint.effect == "NoExecute" for taint in device.taints):
                    self._tainted.add((slice_.spec.driver, slice_.spec.pool.name, device.name))
        for rule in simulation.store.objects(DeviceTaintRule):
            chosen = rule.spec.device_selector
            if chosen is not None and rule.spec.taint.effect == "NoExecute":
                self._tainted.add((chosen.driver, chosen.pool, chosen.device))

    def _check_entry(self, simulation: Simulation, entry: JournalEntry) -> None:
        pod = simulation.pod(entry.namespace, entry.name) if entry.kind == "Pod" else None
        if pod is None:
            return
        if entry.reason == "Preempted" and (preemptor := simulation.pod(entry.namespace, entry.related[0])):
            # O18: nobody has to go for somebody who is not more important.
            assert (preemptor.spec.priority or 0) > (pod.spec.priority or 0), entry
        if entry.reason == "DeviceTaintManagerEviction":
            # O17: nobody is evicted for a taint that never was.
            claims = [simulation.claim("default", name) for name in used_claim_names(pod)]
            used = [key for claim in claims if claim is not None for key in _devices(claim.status.allocation)]
            assert not used or any(_covers(each, key) for each in self._tainted for key in used), entry


def _covers(tainted: tuple[str | None, str | None, str | None], key: DeviceKey) -> bool:
    return all(wanted in (None, actual) for wanted, actual in zip(tainted, key, strict=True))


def _devices(allocation: AllocationResult | None) -> list[DeviceKey]:
    return [] if allocation is None else [(each.driver, each.pool, each.device) for each in allocation.devices.results]


def _in_flight(simulation: Simulation) -> Iterator[tuple[Binding, ResourceClaim, AllocationResult]]:
    """What is promised: until it is written (up to 1.35), or until the pod has all that it needs."""
    until_written = simulation.environment.features.version in ("1.34", "1.35")
    for binding in simulation.scheduler.binder.waiting.values():
        data = binding.data
        if data is not None:
            for index, allocation in sorted(data.reserved.items()):
                # Whoever waits for its devices has written all, whatever has become of the claims since.
                if until_written and (binding.deadline or data.claims[index].status.allocation is not None):
                    continue
                yield binding, data.claims[index], allocation


def _holdings(simulation: Simulation) -> Iterator[Holding]:
    written = {claim.metadata.uid: claim.status.allocation for claim in simulation.claims()}
    for uid, allocation in written.items():
        if allocation is not None:
            yield Holding(uid, allocation)
    flying: dict[str, AllocationResult] = {}
    for _, claim, allocation in _in_flight(simulation):
        if written.get(claim.metadata.uid) is None:
            flying[claim.metadata.uid] = allocation
    for uid, allocation in flying.items():
        yield Holding(uid, allocation)


def _check_holdings(simulation: Simulation, holdings: list[Holding]) -> None:
    """O1: no device has two owners, no counter and no capacity gives more than it has."""
    owners: Counter[DeviceKey] = Counter()
    shared: Counter[DeviceKey] = Counter()
    consumed: Counter[tuple[DeviceKey, str]] = Counter()
    for holding in holdings:
        for result in holding.allocation.devices.results:
            if result.admin_access:
                continue
            key = (result.driver, result.pool, result.device)
            if result.share_id is None:
                owners[key] += 1
                continue
            shared[key] += 1
            for name, amount in (result.consumed_capacity or {}).items():
                assert amount.nano >= 0
                consumed[key, name] += amount.nano
    doubled = [key for key, count in owners.items() if count > 1 or shared[key]]
    assert not doubled, f"held twice: {doubled}"
    if consumed or owners:
        _check_amounts(simulation, owners, shared, consumed)


def _check_amounts(
    simulation: Simulation,
    owners: Counter[DeviceKey],
    shared: Counter[DeviceKey],
    consumed: Counter[tuple[DeviceKey, str]],
) -> None:
    forgets_shares = simulation.environment.profile.has("counters-forget-shares")
    used: Counter[tuple[str, str, str, str]] = Counter()
    totals: dict[tuple[str, str, str, str], int] = {}
    counted: set[DeviceKey] = set()
    for slice_ in simulation.scheduler.manager.slices():
        spec = slice_.spec
        pool = (spec.driver, spec.pool.name)
        for counters in spec.shared_counters:
            for name, counter in counters.counters.items():
                totals[*pool, counters.name, name] = counter.value.nano
        for device in spec.devices:
            key = (*pool, device.name)
            for name, capacity in device.capacity.items():
                assert consumed[key, name] <= capacity.value.nano, f"too much of {key} {name}"
            if (owners[key] or (shared[key] and not forgets_shares)) and key not in counted:
                counted.add(key)
                for consumption in device.consumes_counters:
                    for name, counter in consumption.counters.items():
                        used[*pool, consumption.counter_set, name] += counter.value.nano
    # A counter that is not published any more says nothing; nobody can get more of it.
    assert all(amount <= totals.get(key, amount) for key, amount in used.items()), (used, totals)


def _check_pods(simulation: Simulation) -> None:
    """O13 and O15: reservations go with allocations, and pods run where their devices are."""
    nodes = {node.metadata.name: node for node in simulation.nodes()}
    for claim in simulation.claims():
        if claim.status.reserved_for:
            assert claim.status.allocation is not None, f"{claim.metadata.name} is reserved but not allocated"
    cpu: Counter[str] = Counter()
    for pod in simulation.pods():
        name = pod.spec.node_name
        if not name or pod.status.phase in ENDED:
            continue
        cpu[name] += amounts(pod.spec.containers[0].resources.requests).get("cpu", 0)
        if name not in nodes:
            continue
        for claim_name in used_claim_names(pod):
            found = simulation.claim("default", claim_name)
            if found is None or found.status.allocation is None:
                continue
            if any(user.uid == pod.metadata.uid for user in found.status.reserved_for):
                reached = _reaches(found.status.allocation.node_selector, nodes[name])
                changed = _is_of_another_time(simulation, found) or _has_changed_hands(simulation, found)
                assert reached or changed, (pod.metadata.name, claim_name)
    for name, node in nodes.items():
        assert cpu[name] <= amounts(node.status.allocatable)["cpu"], f"{name} is overcommitted"


def _has_changed_hands(simulation: Simulation, claim: ResourceClaim) -> bool:
    """Whether the scheduler has freed a claim for another pod while one was on its way to the claim's node.

    PreBind asks only whether the claim is allocated, not whether it still is where it was (bindClaim, v1.37.2).
    """
    name = claim.metadata.name
    return any(
        entry.reason == "Deallocated" and entry.name == name and "no node accepts it" in entry.message
        for entry in simulation.trace
    )


def _is_of_another_time(simulation: Simulation, claim: ResourceClaim) -> bool:
    """Whether a claim for extended resources may be left from when another class, or any, had their name.

    Then the pod may be placed without it, although it names the claim and holds its devices.
    """
    return EXTENDED_RESOURCE_ANNOTATION in claim.metadata.annotations and any(
        entry.kind == "DeviceClass" for entry in simulation.trace
    )


def _reaches(selector: NodeSelector | None, node: Node) -> bool:
    """The forms of selectors that these clusters have: the name of a node, or a zone."""
    if selector is None:
        return True
    for term in selector.node_selector_terms:
        fields = all(each.values == (node.metadata.name,) for each in term.match_fields)
        if fields and all(node.metadata.labels.get(each.key) in each.values for each in term.match_expressions):
            return True
    return False


# O2: a decision, judged from nothing but the objects.


def _check_decision(simulation: Simulation, binding: Binding) -> None:
    data = binding.data
    node = next((each for each in simulation.scheduler.cache.nodes() if each.name == binding.node), None)
    if data is None or node is None:
        return
    newest: dict[tuple[str, str], int] = {}
    slices = simulation.scheduler.manager.slices()
    for slice_ in slices:
        pool = (slice_.spec.driver, slice_.spec.pool.name)
        newest[pool] = max(newest.get(pool, 0), slice_.spec.pool.generation)
    published: dict[DeviceKey, tuple[ResourceSlice, Device]] = {}
    for slice_ in slices:
        pool = (slice_.spec.driver, slice_.spec.pool.name)
        if slice_.spec.pool.generation == newest[pool]:
            for device in slice_.spec.devices:
                published[*pool, device.name] = (slice_, device)
    classes = {each.metadata.name: each for each in simulation.store.objects(DeviceClass)}
    for index, allocation in sorted(data.reserved.items()):
        claim = data.claims[index]
        if claim is data.special_claim:
            chosen = data.nodes[binding.node].special
            claim = chosen if chosen is not None else claim
        assert _reaches(allocation.node_selector, node.api), claim.metadata.name
        _Verdict(simulation.environment.profile, claim, allocation, published, classes, node.api).check()


class _Verdict:
    def __init__(
        self,
        profile: AllocatorProfile,
        claim: ResourceClaim,
        allocation: AllocationResult,
        published: dict[DeviceKey, tuple[ResourceSlice, Device]],
        classes: dict[str, DeviceClass],
        node: Node,
    ) -> None:
        self.profile = profile
        self.claim = claim
        self.results = allocation.devices.results
        self.published = published
        self.classes = classes
        self.node = node

    def check(self) -> None:
        assert len(self.results) <= 32
        dedicated = Counter(
            (each.driver, each.pool, each.device)
            for each in self.results
            if each.share_id is None and not each.admin_access
        )
        assert all(count == 1 for count in dedicated.values()), "a device twice in one claim"
        known: set[str] = set()
        for request in self.claim.spec.devices.requests:
            if request.exactly is not None:
                self._check_request(request.name, request.exactly)
                known.add(request.name)
                continue
            names = [f"{request.name}/{each.name}" for each in request.first_available]
            given = [name for name in names if any(each.request == name for each in self.results)]
            assert len(given) == 1, f"alternatives {given} at once"
            self._check_request(given[0], request.first_available[names.index(given[0])])
            known.add(given[0])
        assert {each.request for each in self.results} <= known
        for constraint in self.claim.spec.devices.constraints:
            values = [
                value
                for each in self.results
                if not constraint.requests or each.request.partition("/")[0] in constraint.requests
                for value in [self._attribute(each, constraint.match_attribute or constraint.distinct_attribute or "")]
            ]
            if constraint.match_attribute and values and not isinstance(values[0], tuple):
                assert len(set(values)) == 1, f"{constraint.match_attribute} differs: {values}"
            elif constraint.match_attribute and values:
                common = set.intersection(*map(set, values))
                assert common, f"nothing in common: {values}"
            elif constraint.distinct_attribute and not (
                self.profile.has("distinct-attribute-compares-identity")
                or self.profile.has("distinct-attribute-knows-latest-device")
            ):
                assert len(set(values)) == len(values), f"{constraint.distinct_attribute} repeats: {values}"

    def _attribute(self, result: DeviceRequestAllocationResult, name: str) -> Any:
        _, device = self.published[result.driver, result.pool, result.device]
        domain, _, short = name.partition("/")
        if domain == "derived":
            found = device.attributes.get("index")
            return 0 if found is None or result.driver != "gpu.example.com" else (found.int_ or 0) // 2
        attribute = device.attributes.get(short) if domain == result.driver else None
        assert attribute is not None, f"{result.device} has no {name}"
        if attribute.strings is not None:
            return attribute.strings
        return attribute.int_ if attribute.int_ is not None else attribute.string

    def _check_request(self, name: str, request: ExactDeviceRequest | DeviceSubRequest) -> None:
        given = [each for each in self.results if each.request == name]
        if request.allocation_mode == "All":
            wanted = {key for key, (slice_, device) in self.published.items() if self._matches(slice_, device, request)}
            assert given, "all of nothing"
            assert {(each.driver, each.pool, each.device) for each in given} <= wanted
            lacking = wanted - {(each.driver, each.pool, each.device) for each in given}
            sized = request.capacity is not None or any(self.published[key][1].capacity for key in lacking)
            faulty = "/" in name and self.profile.has("all-alternative-continues-as-first")
            assert not lacking or sized or faulty, f"not all: {lacking} missing"
        else:
            assert len(given) == request.count, f"{name} wants {request.count}, has {len(given)}"
        for result in given:
            slice_, device = self.published[result.driver, result.pool, result.device]
            assert self._matches(slice_, device, request), f"{name} does not select {device.name}"
            admin = bool(getattr(request, "admin_access", None))
            assert bool(result.admin_access) == admin
            for taint in device.taints:
                if taint.effect in ("NoSchedule", "NoExecute"):
                    assert any(_tolerates(each, taint) for each in request.tolerations), f"{device.name} is tainted"
            # 1.34 does not note them, and admin access did so only later.
            assert admin or self.profile.version == "1.34" or result.tolerations == request.tolerations, (
                result,
                request.tolerations,
            )
            shared = bool(device.allow_multiple_allocations)
            assert (result.share_id is not None) == shared
            if shared and request.capacity is not None:
                for each, amount in request.capacity.requests.items():
                    assert (result.consumed_capacity or {})[each].nano >= amount.nano

    def _matches(self, slice_: ResourceSlice, device: Device, request: ExactDeviceRequest | DeviceSubRequest) -> bool:
        spec = slice_.spec
        place = device if spec.per_device_node_selection else spec
        selected = place.node_selector is not None and _reaches(place.node_selector, self.node)
        if not (place.all_nodes or place.node_name == self.node.metadata.name or selected):
            return False
        prepared = EXPRESSIONS.prepare(spec.driver, device)
        class_ = self.classes.get(request.device_class_name)
        selectors = [*(class_.spec.selectors if class_ is not None else ()), *request.selectors]
        return all(EXPRESSIONS.selector(each.cel.expression)(prepared) for each in selectors if each.cel is not None)


def _tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    return toleration.effect in ("", taint.effect) and toleration.key in ("", taint.key)


# At rest.


def check_at_rest(story: Story) -> None:
    """The memory of the scheduler is what the store says, nothing is held for nobody, who waits has to wait."""
    simulation = story.simulation
    _check_memory(simulation)
    _check_life_cycles(simulation)
    _check_liveness(simulation)
    _check_evictions(simulation)


def _check_memory(simulation: Simulation) -> None:
    """O8 and O14: a state built anew from the objects is the state that was kept up to date."""
    manager = simulation.scheduler.manager
    rebuilt = AllocatedState.of(
        (
            (f"{claim.metadata.namespace}/{claim.metadata.name}", claim.status.allocation)
            for claim in simulation.claims()
            if claim.status.allocation is not None
        ),
        manager.state.features,
    )
    pools = {key[:2] for claim in simulation.claims() for key in _devices(claim.status.allocation)}
    pools |= {(each.spec.driver, each.spec.pool.name) for each in simulation.store.objects(ResourceSlice)}
    for pool in sorted(pools):
        kept, anew = manager.state.pool(pool), rebuilt.pool(pool)
        assert dict(kept.dedicated) == dict(anew.dedicated), pool
        assert {name: sorted(each.id for each in shares) for name, shares in kept.shares.items()} == {
            name: sorted(each.id for each in shares) for name, shares in anew.shares.items()
        }, pool
        assert kept.consumed == anew.consumed, pool
    for pod in simulation.pods():
        placed = pod.spec.node_name if pod.status.phase not in ENDED else ""
        if pod.metadata.uid not in simulation.scheduler.binder.waiting:
            assert simulation.scheduler.cache.node_of(pod.metadata.uid) == placed, pod.metadata.name


def _check_life_cycles(simulation: Simulation) -> None:
    """O15: reservations are for the living, claims go with their owners, nothing is deleted but still there."""
    alive = {pod.metadata.uid for pod in simulation.pods() if pod.status.phase not in ENDED}
    groups = {group.metadata.uid for group in simulation.store.objects(PodGroup)}
    existing = {pod.metadata.uid for pod in simulation.pods()} | groups
    wanted = {name for pod in simulation.pods() if not pod.spec.node_name for name in used_claim_names(pod)}
    for claim in simulation.claims():
        name = claim.metadata.name
        assert all(user.uid in alive | groups for user in claim.status.reserved_for), name
        assert all(owner.uid in existing for owner in claim.metadata.owner_references), name
        if claim.metadata.deletion_timestamp is not None:
            assert claim.status.reserved_for, f"{name} is deleted and nobody uses it"
        if claim.status.allocation is not None and not claim.status.reserved_for:
            # A pod whose binding failed finds its devices again at the next attempt. If it is deleted before that, its
            # own claims go with it; one that nobody owns stays allocated (the real controller frees claims only with
            # their last reservation).
            assert name in wanted or not claim.metadata.owner_references, f"{name} holds devices for nobody"


def _check_liveness(simulation: Simulation) -> None:
    """O12: nobody waits who could run."""
    for pod in simulation.pods():
        if pod.spec.node_name or pod.status.phase != "Pending" or pod.spec.scheduling_group is not None:
            continue
        if pod.metadata.uid in simulation.scheduler.binder.waiting or pod.metadata.deletion_timestamp is not None:
            continue
        scheduler = simulation.scheduler
        if not scheduler.gate_of(pod).is_success:
            continue
        answer = scheduler.algorithm.schedule(CycleState(), PodInfo(pod), post_filter=False)
        assert not isinstance(answer, Found), f"{pod.metadata.name} could run on {answer.node}"


def _check_evictions(simulation: Simulation) -> None:
    """O17: nobody runs on a device with a taint that has thrown them out."""
    if not simulation.environment.features.enabled("DRADeviceTaints"):
        return
    tainted = _no_execute(simulation)
    for pod in simulation.pods():
        if pod.status.phase != "Running":
            continue
        for name in used_claim_names(pod):
            claim = simulation.claim("default", name)
            allocation = claim.status.allocation if claim is not None else None
            for result in allocation.devices.results if allocation is not None else ():
                for taint in tainted.get((result.driver, result.pool, result.device), ()):
                    assert any(_tolerates(each, taint) for each in result.tolerations), (pod.metadata.name, result)


def _no_execute(simulation: Simulation) -> dict[DeviceKey, list[DeviceTaint]]:
    """The NoExecute taints of published devices."""
    slices = simulation.store.objects(ResourceSlice)
    newest: dict[tuple[str, str], int] = {}
    for slice_ in slices:
        pool = (slice_.spec.driver, slice_.spec.pool.name)
        newest[pool] = max(newest.get(pool, 0), slice_.spec.pool.generation)
    rules = simulation.store.objects(DeviceTaintRule)
    if not simulation.environment.features.enabled("DRADeviceTaintRules"):
        rules = []
    result: dict[DeviceKey, list[DeviceTaint]] = {}
    for slice_ in slices:
        spec = slice_.spec
        if spec.pool.generation != newest[spec.driver, spec.pool.name]:
            continue
        for device in spec.devices:
            key = (spec.driver, spec.pool.name, device.name)
            taints = [taint for taint in device.taints if taint.effect == "NoExecute"]
            for rule in rules:
                chosen, taint = rule.spec.device_selector, rule.spec.taint
                selects = chosen is not None and _covers((chosen.driver, chosen.pool, chosen.device), key)
                if selects and taint.effect == "NoExecute":
                    taints.append(taint)
            result[key] = taints
    return result


def check_restart_of_everything(story: Story) -> bool:
    """O15 and O8: when all components start anew, nothing changes any more.

    Returns:
        Whether it could be checked: a restart forgets who waits for devices, makes generated claims anew that
        somebody has deleted, knows the class of a name again that 1.37 lost when another class gave it up, and may
        know another one of several classes with one name.
    """
    simulation = story.simulation
    generated = {name for pod in simulation.pods() for name in used_claim_names(pod)}
    for group in simulation.store.objects(PodGroup):
        generated |= {each.resource_claim_name or "" for each in group.status.resource_claim_statuses}
    names = simulation.scheduler.manager.names
    classes = [each for each in simulation.store.objects(DeviceClass) if each.spec.extended_resource_name]
    shown = [each.spec.extended_resource_name or "" for each in classes]
    if len(set(shown)) < len(shown) or any(names.class_for(name) is None for name in shown):
        return False
    if simulation.scheduler.binder.waiting or any(simulation.claim("default", name) is None for name in generated):
        return False
    before = outcome(simulation)
    for component in simulation.components():
        simulation.restart(component)
    assert simulation.settle()
    assert outcome(simulation) == before
    return True


def outcome(simulation: Simulation) -> dict[str, object]:
    """Who runs where, and who has which devices."""
    pods: dict[str, object] = {
        f"pod {each.metadata.name}": (each.spec.node_name, each.status.phase) for each in simulation.store.objects(Pod)
    }
    claims = {f"claim {each.metadata.name}": each.status for each in simulation.claims()}
    return {**pods, **claims}
