"""The DynamicResources plugin: which node can serve the claims of a pod?

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go.
"""

from collections.abc import Callable, Hashable, Sequence

from msgspec.structs import replace

from dralang.allocator.allocate import Attempt
from dralang.allocator.node_selection import NodeSelectorError, only_name, selector_matches
from dralang.allocator.outcome import Allocated
from dralang.allocator.verify import is_feasible
from dralang.api.allocation import AllocationResult
from dralang.api.pods import ContainerExtendedResourceRequest, Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.clock import EventQueue
from dralang.cluster.errors import ApiError
from dralang.cluster.journal import JournalEntry
from dralang.cluster.podclaims import is_reserved_for
from dralang.cluster.store import ObjectStore
from dralang.features import FeatureGates
from dralang.readings import IMPLICIT_NAMES_PLAIN, TRACKED_CLAIMS_CLOSED, UNITS_SHARE
from dralang.scheduler.cluster_event import ClusterEvent, EventKind
from dralang.scheduler.dynamicresources.binding import drop_reservation
from dralang.scheduler.dynamicresources.binding_conditions import is_timed_out, readiness
from dralang.scheduler.dynamicresources.claims import claim_change_helps, claim_entries, pod_claims
from dralang.scheduler.dynamicresources.cycle_data import STATE, Effects, NodeAllocation, StateData
from dralang.scheduler.dynamicresources.extended_resources import delete_special_claim, mapped_requests, special_uid
from dralang.scheduler.dynamicresources.holding import CapacityHolder, Freed
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.dynamicresources.node_allocatable import Footprint, check, footprint, is_mapped, slices_for
from dralang.scheduler.dynamicresources.scoring import has_alternatives, preference
from dralang.scheduler.dynamicresources.search import CANNOT_ALLOCATE, DeviceSearch, refusal, timed_out
from dralang.scheduler.dynamicresources.signing import sign_allocated, sign_open
from dralang.scheduler.dynamicresources.simulate import Simulator
from dralang.scheduler.dynamicresources.special_claims import SpecialClaims
from dralang.scheduler.dynamicresources.units import Units, in_units
from dralang.scheduler.framework import (
    SKIP,
    SUCCESS,
    Code,
    CycleState,
    NodeStatuses,
    NominationEnd,
    Plugin,
    Status,
)
from dralang.scheduler.node_info import NodeInfo, PodInfo

OPTIONAL_NODE_OPERATIONS = "DRAOptionalNodeOperations"
_REJECTED_BY_NODE = Status(Code.UNRESOLVABLE, "resourceclaim not available on the node", personal=True)
"""Personal, because PostFilter wants to know which claims the node rejects."""
_CANNOT_ALLOCATE_NOW = Status(Code.UNSCHEDULABLE, "cannot allocate all claims")
"""With DRAPreemption: other pods on the node may be the reason."""
_GIVEN_UP = Status(Code.UNRESOLVABLE, "resourceclaim is given up for a pod that is nominated to the node")


class DynamicResources(Plugin):
    """Claims at every extension point."""

    name = "DynamicResources"
    wakes_on = frozenset(
        {
            EventKind.CLAIM_CHANGED,
            EventKind.TARGET_POD_UPDATED,
            EventKind.NODE_ADDED,
            EventKind.SLICE_CHANGED,
            EventKind.CLASS_CHANGED,
            EventKind.NODE_UPDATED,
        }
    )
    weight = 2
    has_pre_filter = True
    has_filter = True
    has_score = True
    has_post_filter = True
    has_reserve = True

    def __init__(
        self,
        store: ObjectStore,
        manager: DRAManager,
        features: FeatureGates,
        *,
        binding_timeout: int,
        filter_timeout: int,
        freed: Freed = lambda _info, _old, _new: None,
        is_offered: Callable[[str], bool] = lambda _name: True,
        readings: frozenset[str] = frozenset(),
    ) -> None:
        self._store = store
        self._events: EventQueue = store.events
        self.manager = manager
        self.group_claims = features.enabled("DRAWorkloadResourceClaims")
        self.waits_for_devices = features.enabled("DRADeviceBindingConditions") and features.enabled(
            "DRAResourceClaimDeviceStatus"
        )
        self._extended = features.enabled("DRAExtendedResource")
        self.node_allocatable = features.enabled("DRANodeAllocatableResources")
        self.binding_timeout = binding_timeout
        self.search = DeviceSearch(store.events, filter_timeout if features.enabled("DRASchedulerFilterTimeout") else 0)
        self.preempts = self.has_add_pod = self.has_nominations = features.enabled("DRAPreemption")
        self._closes_claims = self.preempts and TRACKED_CLAIMS_CLOSED in readings
        self._units_share = UNITS_SHARE in readings
        self._special = SpecialClaims(
            manager,
            class_capacity=features.enabled("DRAExtendedResourceCapacity"),
            implicit_plain=IMPLICIT_NAMES_PLAIN in readings,
            is_offered=is_offered,
        )
        self._simulator = Simulator(store, manager, group_claims=self.group_claims, readings=readings)
        self._holder = CapacityHolder(store, manager, self._simulator, freed, readings)

    # Queueing.

    def pre_enqueue(self, pod: Pod) -> Status:
        """All claims must be there."""
        if not pod.spec.resource_claims:
            return SUCCESS
        claims = pod_claims(pod, self.manager, group_claims=self.group_claims)
        return Status(Code.UNRESOLVABLE, claims) if isinstance(claims, str) else SUCCESS

    def helps(self, event: ClusterEvent, info: PodInfo) -> bool:
        """Claims, slices and classes; nodes that are new, labelled or sized anew."""
        match event.kind:
            case EventKind.CLAIM_CHANGED:
                if self.preempts and not self._holder.wakes(event, info):
                    return False
                return claim_change_helps(event, info.pod, self.manager, group_claims=self.group_claims)
            case EventKind.TARGET_POD_UPDATED:
                return self._own_claims_appeared(event)
            case EventKind.NODE_ADDED | EventKind.SLICE_CHANGED | EventKind.CLASS_CHANGED:
                return True
            case EventKind.NODE_UPDATED:
                return "labels" in event.aspects or "allocatable" in event.aspects
            case _:
                return False

    def _own_claims_appeared(self, event: ClusterEvent) -> bool:
        old, new = event.old.status, event.new.status
        if (
            old.resource_claim_statuses == new.resource_claim_statuses
            and old.extended_resource_claim_status == new.extended_resource_claim_status
        ):
            return False
        return not isinstance(pod_claims(event.new, self.manager, group_claims=self.group_claims), str)

    # Filtering.

    def pre_filter(
        self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]
    ) -> tuple[Status, frozenset[str] | None]:
        """Collect the claims and check what does not depend on a node."""
        data = StateData(Effects() if self.preempts else None)
        state.write(STATE, data)
        found = pod_claims(info.pod, self.manager, group_claims=self.group_claims)
        if isinstance(found, str):
            return Status(Code.UNRESOLVABLE, found), None
        claims = found
        special = self._special.of(info, data) if self._extended else None
        if special is not None:
            claims = [*claims, special]
        if not claims:
            return SKIP, None
        open_claims = 0
        for index, claim in enumerate(claims):
            allocation = claim.status.allocation
            if allocation is not None:
                if allocation.node_selector is not None:
                    data.selectors[index] = allocation.node_selector
                continue
            open_claims += 1
            shared = self._shared_in_group(state, claim)
            if shared is not None:
                data.shared[index] = shared
                if shared.node_selector is not None:
                    data.selectors[index] = shared.node_selector
                continue
            name = f"{claim.metadata.namespace}/{claim.metadata.name}"
            if self.manager.pending(claim.metadata.uid) is not None:
                text = f"resource claim {name} is in the process of being allocated"
                return Status(Code.UNRESOLVABLE, text), None
            if claim is not special:
                problem = self._class_problem(claim, name)
                if problem is not None:
                    return problem, None
        if open_claims:
            data.inventory = self.manager.inventory
            data.allocated = self.manager.state
        # INVARIANT: only a cycle that got here has claims; after a rejection PostFilter finds nothing to do.
        data.claims = claims
        data.special = special is not None
        return SUCCESS, None

    def _shared_in_group(self, state: CycleState, claim: ResourceClaim) -> AllocationResult | None:
        """What another member of the group was given for the claim in this cycle."""
        if state.group is None or claim.metadata.uid not in state.group.pending:
            return None
        return self.manager.pending(claim.metadata.uid)

    def _class_problem(self, claim: ResourceClaim, name: str) -> Status | None:
        for request in claim.spec.devices.requests:
            if request.exactly is not None:
                wanted = [(request.name, request.exactly.device_class_name)]
            elif request.first_available:
                wanted = [(f"{request.name}/{each.name}", each.device_class_name) for each in request.first_available]
            else:
                text = f"resource claim {name}, request {request.name}: unknown request type"
                return Status(Code.UNRESOLVABLE, text)
            for label, class_name in wanted:
                if not class_name:
                    return Status(Code.ERROR, f"request {label}: unsupported request type")
                if not self.manager.has_class(class_name):
                    return Status(Code.UNRESOLVABLE, f"request {label}: device class {class_name} does not exist")
        return None

    def search_time(self, info: PodInfo) -> int:
        """How long a cycle of the pod looks for devices where a search takes time."""
        claims = pod_claims(info.pod, self.manager, group_claims=self.group_claims)
        if isinstance(claims, str):
            return 0
        extended = self._extended and bool(mapped_requests(info, self.manager.names))
        return self.search.duration if extended or any(map(is_open, claims)) else 0

    def sign(self, state: CycleState, info: PodInfo) -> Hashable | None:
        """What the claims ask for, if nothing else about them matters."""
        data = state.read(STATE)
        if data is None or not data.claims:
            return ()
        if self.search.is_slow:
            return None
        # What the filter finds out about alternatives is needed for the score.
        if self.node_allocatable or has_alternatives(data):
            return None
        parts: list[Hashable] = [data.special]
        for index, claim in enumerate(data.user_claims):
            if claim.status.allocation is None and index not in data.shared:
                parts.append(sign_open(data, claim))
                continue
            place = sign_allocated(data, index, claim, waits=self.waits_for_devices)
            # If claims are closed, who waits for the deallocation counts too.
            if place is None or self._closes_claims:
                return None
            parts.append(place)
        if data.special:
            special = self._special.everywhere(data, info) if data.claims[-1].status.allocation is None else None
            if special is None:
                return None
            parts.append(sign_open(data, special))
        return tuple(parts)

    def only_node(self, state: CycleState, info: PodInfo) -> str:
        """Where the claims are, if all are allocated and one of them is on a node of that name."""
        data = state.read(STATE)
        if data is None or not data.claims or data.special or self.node_allocatable or data.to_ask():
            return ""
        names = {only_name(selector) for selector in data.selectors.values()}
        return names.pop() or "" if len(names) == 1 else ""

    def filter(self, state: CycleState, info: PodInfo, node: NodeInfo) -> Status:
        """Can the node serve the claims?"""
        data = state.read(STATE)
        if data is None or not data.claims:
            return SUCCESS
        special: ResourceClaim | None = None
        mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
        if data.special:
            answer = self._special.on(data, info, node)
            if isinstance(answer, Status):
                return answer
            special, mappings = answer
            if special is None and not data.user_claims:
                return SUCCESS
        if self.node_allocatable:
            shared = self._shared_mapping(data, info)
            if shared is not None:
                return shared
        unavailable = self._unavailable(data, node)
        if isinstance(unavailable, Status):
            return unavailable
        if self._closes_claims and not self._all_open(data, info, node):
            return _GIVEN_UP
        results = self._allocate(state, data, info, node, special)
        if isinstance(results, Status):
            return results
        amounts = self._footprint(data, info, node, results) if self.node_allocatable else ()
        if isinstance(amounts, Status):
            return amounts
        return self._conclude(data, node, unavailable, NodeAllocation(results, special, mappings, amounts))

    def _allocate(
        self, state: CycleState, data: StateData, info: PodInfo, node: NodeInfo, special: ResourceClaim | None
    ) -> tuple[AllocationResult, ...] | Status:
        """What the open claims get on the node."""
        units = in_units(special) if special is not None and self._units_share else None
        attempt = self.attempt_for(data, units.claim if units is not None else special)
        if attempt is None:
            return ()
        given = self._given(state, data, info, node, attempt, units) if self.preempts else None
        if given is not None:
            return given
        if self.search.times_out:
            return timed_out(node.name)
        outcome = self.manager.ask(attempt, node.api)
        if not isinstance(outcome, Allocated):
            refused = refusal(outcome, node.name)
            hopeful = refused is CANNOT_ALLOCATE and self.preempts and special is None
            return _CANNOT_ALLOCATE_NOW if hopeful else refused
        results = outcome.results
        return results if units is None else (*results[:-1], units.as_requested(results[-1]))

    def _given(
        self,
        state: CycleState,
        data: StateData,
        info: PodInfo,
        node: NodeInfo,
        attempt: Attempt,
        units: Units | None,
    ) -> tuple[AllocationResult, ...] | Status | None:
        """Results that are chosen already, as far as they are possible here; None if there is a choice."""
        first = state.first_pass.read(STATE) if state.first_pass is not None else None
        results, final = self._holder.results_for(data, first, info, node)
        if results is not None:
            checked = results if units is None else [*results[:-1], units.by_unit(results[-1])]
            if is_feasible(attempt, node.api, checked):
                return tuple(results)
        if final:
            return CANNOT_ALLOCATE if data.special else _CANNOT_ALLOCATE_NOW
        return None

    def _shared_mapping(self, data: StateData, info: PodInfo) -> Status | None:
        """A device that stands for a resource of the node is used by one pod only."""
        for claim in data.claims:
            allocation = claim.status.allocation
            if (
                allocation is not None
                and claim.status.reserved_for
                and not is_reserved_for(info.pod, claim, group_claims=self.group_claims)
                and is_mapped(allocation, self.manager.slices())
            ):
                name = claim.metadata.name
                text = f"node allocatable resource claim {name} has a mapped device and cannot be shared across pods"
                return Status(Code.UNRESOLVABLE, text)
        return None

    def _footprint(
        self, data: StateData, info: PodInfo, node: NodeInfo, results: tuple[AllocationResult, ...]
    ) -> Footprint | Status:
        """What the devices add to the requests of the pod, if the node has room for that."""
        chosen = {**dict(zip(data.to_ask(), results, strict=False)), **data.shared}
        entries = claim_entries(info.pod, self.manager)
        claims: list[tuple[str, ResourceClaim, AllocationResult]] = []
        for index, claim in enumerate(data.claims):
            allocation = chosen.get(index, claim.status.allocation)
            if allocation is not None:
                claims.append((entries[index].name if index < len(entries) else "", claim, allocation))
        amounts = footprint(info.pod, claims, slices_for(node.api, self.manager.slices()), node.api)
        if isinstance(amounts, str):
            return Status(Code.ERROR, amounts)
        problem = check(info.pod, amounts, node) if amounts else None
        return amounts if problem is None else problem

    def data_of(self, state: CycleState) -> StateData | None:
        """What the plugin knows about the pod of a cycle."""
        return state.read(STATE)

    def footprint_on(self, state: CycleState, node: str) -> Footprint:
        """What the devices of the chosen node add to the requests of the pod."""
        data = state.read(STATE)
        return data.nodes[node].footprint if data is not None and node in data.nodes else ()

    @staticmethod
    def attempt_for(data: StateData, special: ResourceClaim | None) -> Attempt | None:
        """The allocator for the open claims; the claim for extended resources may be a different one on each node."""
        if data.inventory is None or data.allocated is None:
            return None
        key = 0 if special is None else id(special)
        attempt = data.attempts.get(key)
        if attempt is None:
            claims = [data.claims[index] for index in data.to_ask() if data.claims[index] is not data.special_claim]
            asked = claims if special is None else [*claims, special]
            attempt = data.attempts[key] = Attempt(data.inventory, data.allocated, asked)
        return attempt

    def claims_for(self, data: StateData, info: PodInfo, node: NodeInfo) -> list[ResourceClaim]:
        """The claims that the allocator is asked for on a node."""
        claims = [data.claims[index] for index in data.to_ask() if data.claims[index] is not data.special_claim]
        if data.special:
            answer = self._special.on(data, info, node)
            if not isinstance(answer, Status) and answer[0] is not None:
                claims.append(in_units(answer[0]).claim if self._units_share else answer[0])
        return claims

    @staticmethod
    def _conclude(data: StateData, node: NodeInfo, unavailable: list[int], found: NodeAllocation) -> Status:
        """Remember what Filter found out for the node."""
        if unavailable:
            data.unavailable.update(unavailable)
            return _REJECTED_BY_NODE
        if data.inventory is not None or found.footprint:
            data.nodes[node.name] = found
        return SUCCESS

    def _all_open(self, data: StateData, info: PodInfo, node: NodeInfo) -> bool:
        """Whether nobody as important waits for the deallocation of a claim that the pod would use."""
        released = data.effects.released if data.effects is not None else {}
        return all(
            self.manager.nominations.is_open_to(info.uid, info.priority, claim.metadata.uid, node.name)
            for claim in data.user_claims
            if claim.status.allocation is not None
            and claim.metadata.uid not in released
            and not is_reserved_for(info.pod, claim)
        )

    def _unavailable(self, data: StateData, node: NodeInfo) -> list[int] | Status:
        """The allocated claims that cannot be used on the node, by index."""
        try:
            return [
                index
                for index, claim in enumerate(data.claims)
                # One that is to be allocated always can.
                if (claim.status.allocation is not None or index in data.shared)
                and not self._is_usable(data, index, claim, node)
            ]
        except NodeSelectorError as error:
            # A status that no server would have stored; the scheduler cannot read it either.
            return Status(Code.ERROR, str(error))

    def _is_usable(self, data: StateData, index: int, claim: ResourceClaim, node: NodeInfo) -> bool:
        """Whether an allocated claim can be used on the node."""
        allocation = claim.status.allocation
        selector = data.selectors.get(index)
        if selector is not None and not selector_matches(selector, node.api):
            return False
        if allocation is None or (data.effects is not None and claim.metadata.uid in data.effects.released):
            return True
        if (
            any(result.skip_node_operations for result in allocation.devices.results)
            and OPTIONAL_NODE_OPERATIONS not in node.api.status.declared_features
        ):
            return False
        if self.waits_for_devices:
            ready = readiness(claim)
            if ready.state == "failed":
                return False
            if ready.state == "waiting" and is_timed_out(claim, self._events.now, self.binding_timeout):
                return False
        return True

    # Preemption.

    def add_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """A nominated pod comes, or a victim may stay after all."""
        data = state.read(STATE)
        if data is not None and data.claims:
            nomination = self.manager.nominations.on(other.uid, node.name)
            if nomination is not None:
                self._simulator.add_nominated(data, nomination)
            else:
                self._simulator.put_back(data, info.pod, other.pod)
        return SUCCESS

    def remove_pod(self, state: CycleState, info: PodInfo, other: PodInfo, node: NodeInfo) -> Status:
        """A victim leaves."""
        data = state.read(STATE)
        if data is not None and data.claims:
            self._simulator.remove(data, info.pod, other.pod)
        return SUCCESS

    def add_nominated_pod(self, state: CycleState, info: PodInfo, node: NodeInfo, victims: Sequence[PodInfo]) -> None:
        """Preemption has chosen: hold what the pod is to get."""
        data = state.read(STATE)
        if data is not None and data.claims:
            self._holder.add(data, info, node, victims)

    def remove_nominated_pod(self, info: PodInfo, node: str, cause: NominationEnd) -> None:
        """Hold nothing any more."""
        self._holder.remove(info, node, cause)

    def obstacle_to_preemption(self, info: PodInfo, node: str) -> str:
        """Whether victims' claims are still allocated."""
        return self._holder.obstacle_to_preemption(info, node)

    def post_filter(self, state: CycleState, info: PodInfo, statuses: NodeStatuses) -> tuple[Status, str | None]:
        """Give up one allocation that only this pod could use and that no node accepts."""
        data = state.read(STATE)
        if data is None or not data.claims:
            return Status(Code.UNSCHEDULABLE), None
        for index in sorted(data.unavailable):
            claim = data.claims[index]
            users = claim.status.reserved_for
            if not users or (len(users) == 1 and users[0].uid == info.uid):
                return self._deallocate(claim, info), None
        special = data.special_claim
        if special is not None and special.spec.devices.requests:
            return self._delete_leftover(special), None
        return Status(Code.UNSCHEDULABLE), None

    def _deallocate(self, claim: ResourceClaim, info: PodInfo) -> Status:
        status = replace(claim.status, reserved_for=(), allocation=None, devices=())
        written = self._store.update_status(replace(claim, status=status))
        if isinstance(written, ApiError):
            return Status(Code.ERROR, written.message)
        meta = claim.metadata
        text = f"deallocated: no node accepts it for pod `{info.pod.metadata.name}`"
        entry = JournalEntry(
            self._events.now, "scheduler", "ResourceClaim", meta.namespace, meta.name, "Deallocated", text
        )
        self._store.journal.record(entry)
        return Status(Code.UNSCHEDULABLE, "deallocation of ResourceClaim completed")

    def _delete_leftover(self, claim: ResourceClaim) -> Status:
        refused = delete_special_claim(self._store, claim)
        if refused is not None:
            return Status(Code.ERROR, refused.message)
        return Status(Code.UNSCHEDULABLE, "deletion of ResourceClaim completed")

    # Scoring.

    def pre_score(self, state: CycleState, info: PodInfo, nodes: Sequence[NodeInfo]) -> Status:
        """Only prioritized lists make a difference."""
        data = state.read(STATE)
        if data is None or data.inventory is None:
            return SKIP
        return SUCCESS if has_alternatives(data) else SKIP

    def score(self, state: CycleState, info: PodInfo, node: NodeInfo) -> int:
        """Earlier alternatives of prioritized lists count more."""
        data = state.read(STATE)
        if data is None or data.inventory is None or node.name not in data.nodes:
            return 0
        return preference(data, node.name)

    def normalize(self, scores: list[int]) -> list[int]:
        """Scaled to the highest."""
        highest = max(scores, default=0)
        return [score * 100 // highest for score in scores] if highest else scores

    # Reserving.

    def reserve(self, state: CycleState, info: PodInfo, node: str) -> Status:
        """Count the chosen devices as taken."""
        data = state.read(STATE)
        if data is None or not data.claims:
            return SUCCESS
        open_claims = data.to_allocate()
        if not open_claims or data.inventory is None:
            return SUCCESS
        chosen = data.nodes.get(node)
        if chosen is None or not (chosen.results or data.shared):
            if all(data.claims[index] is data.special_claim for index in open_claims):
                return SUCCESS
            return Status(Code.ERROR, "claim allocation not found for node")
        asked = [i for i in data.to_ask() if chosen.special is not None or data.claims[i] is not data.special_claim]
        given = {**dict(zip(asked, chosen.results, strict=True)), **data.shared}
        for index, allocation in sorted(given.items()):
            claim = data.claims[index]
            if claim is data.special_claim and chosen.special is not None:
                claim = chosen.special
            data.reserved[index] = allocation
            data.in_flight[index] = claim.metadata.uid
            self.manager.reserve(claim, allocation, info.uid)
            if state.group is not None:
                state.group.pending.setdefault(claim.metadata.uid, set()).add(info.uid)
            self.manager.shares += sum(result.share_id is not None for result in allocation.devices.results)
        return SUCCESS

    def unreserve(self, state: CycleState, info: PodInfo, node: str) -> None:
        """Give the devices back that are not written yet, and the reservations that are."""
        data = state.read(STATE)
        if data is None or not data.claims:
            return
        for index, claim in enumerate(data.user_claims):
            uid = claim.metadata.uid
            if not self.manager.keeps_of_remade:
                # While a pod waits for its devices, another claim may have got the name of its own.
                uid = data.in_flight.get(index, uid)
            if self.manager.settle(uid, info.uid):
                self.manager.restore(claim, is_written=claim.status.allocation is not None)
            if claim.status.allocation is not None and is_reserved_for(info.pod, claim):
                drop_reservation(
                    self._store, self.manager, claim, info.uid, deallocates=self.preempts and data.preempted
                )
        special = data.special_claim
        if special is not None:
            self.manager.settle(special_uid(info.pod))
            self.manager.settle(special.metadata.uid)
            if self._store.get(ResourceClaim, special.metadata.namespace, special.metadata.name) is not None:
                delete_special_claim(self._store, special)
        if self.footprint_on(state, node):
            meta = info.pod.metadata
            self._store.patch_status(Pod, meta.namespace, meta.name, node_allocatable_resource_claim_statuses=())


def is_open(claim: ResourceClaim) -> bool:
    """Whether the claim still has to be allocated."""
    return claim.status.allocation is None
