"""Claims read once for an attempt, and bound to a node.

Everything is checked in the order of the real allocator, so that the first error is the one reported: claim by claim,
request by request, then the constraints of the claim.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental allocator_experimental.go Allocate,
validateDeviceRequest.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence

import msgspec

from dralang.allocator.capacity import Requested, amounts_for, exhausted
from dralang.allocator.inventory import Candidate, Candidates, Inventory, NodeView, PreparedClass
from dralang.allocator.node_selection import NodeSelectorError
from dralang.allocator.profiles import AllocatorProfile
from dralang.allocator.state import AllocatedState
from dralang.api.device import DeviceToleration
from dralang.api.resourceclaim import (
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
)

RESULTS_LIMIT = 32
"""Devices in the allocation of one claim."""


MISSING_KEY_HINT = (
    ". consider using CEL optional chaining (.? followed by orValue()) "
    "or guarding the check with has() for optional fields"
)
"""What Kubernetes adds when an expression reads a key that a device does not have."""


class AttemptError(Exception):
    """The attempt ends with an error.

    Attributes:
        message: the text of the error.
        node_only: the error concerns this node only.
        quirk: the quirk without which there were no such error, or empty.
    """

    def __init__(self, message: str, *, node_only: bool = False, quirk: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.node_only = node_only
        self.quirk = quirk


class RequestPlan:
    """One request, or one alternative of a request.

    Attributes:
        name: its own name.
        full_name: the name in results, ``parent/name`` for an alternative.
        parent: name of the request it is an alternative of, or empty.
        class_: the device class, None if it does not exist.
        selectors: texts of its own selectors.
        takes_all: mode All.
        count: devices wanted with ExactCount.
        admin: admin access.
        tolerations: as written.
        capacity: requested amounts.
        derived: expression by derived attribute name.
        constraints: indices of the constraints of the claim that cover it.
        problem: why it cannot be handled at all, or empty.
    """

    __slots__ = (
        "admin",
        "capacity",
        "class_",
        "constraints",
        "count",
        "derived",
        "full_name",
        "name",
        "parent",
        "problem",
        "selectors",
        "takes_all",
        "tolerations",
    )

    def __init__(
        self,
        source: ExactDeviceRequest | DeviceSubRequest,
        name: str,
        parent: str,
        claim: "ClaimPlan",
        inventory: Inventory,
    ) -> None:
        features = inventory.profile.features
        admin_access = source.admin_access if isinstance(source, ExactDeviceRequest) else None
        self.name = name
        self.parent = parent
        self.full_name = f"{parent}/{name}" if parent else name
        self.class_: PreparedClass | None = inventory.classes.get(source.device_class_name)
        self.selectors = tuple(selector.cel.expression for selector in source.selectors if selector.cel is not None)
        self.takes_all = source.allocation_mode == "All"
        self.count = source.count
        self.admin = admin_access is True
        self.tolerations: tuple[DeviceToleration, ...] = source.tolerations
        self.capacity: Requested | None = None
        if features.consumable_capacity and source.capacity is not None:
            self.capacity = source.capacity.requests or None
        self.derived: Mapping[str, str] = {}
        if "derived attributes" not in inventory.profile.lacks:
            self.derived = {attribute.name: attribute.expression for attribute in source.derived_attributes}
        self.constraints = tuple(
            index
            for index, constraint in enumerate(claim.api.spec.devices.constraints)
            if _covers(constraint, self.full_name, parent)
        )
        self.problem = self._problem(source, admin_access, claim.label, inventory.profile)

    def _problem(
        self,
        source: ExactDeviceRequest | DeviceSubRequest,
        admin_access: bool | None,  # noqa: FBT001 - the API's own three-valued field
        label: str,
        profile: AllocatorProfile,
    ) -> str:
        place = f"claim {label}, request {self.name}"
        if self.derived and not profile.features.derived_attributes:
            return f"{place}: cannot handle request with derived attributes, the feature is disabled"
        for index, selector in enumerate(source.selectors):
            if selector.cel is None:
                return f"{place}, selector #{index}: CEL expression empty (unsupported selector type?)"
        if admin_access is not None and not profile.features.admin_access:
            return f"{place}: admin access is requested, but the feature is disabled"
        if not source.device_class_name:
            return f"{place}: missing device class name (unsupported request type?)"
        if self.class_ is None:
            return (
                f"{place}: could not retrieve device class {source.device_class_name}: "
                f'deviceclass.resource.k8s.io "{source.device_class_name}" not found'
            )
        if source.allocation_mode not in {"ExactCount", "All"}:
            return f"{place}: unsupported count mode {source.allocation_mode}"
        return ""

    def signature(self) -> Hashable:
        """Equal for requests that every node serves alike."""
        capacity = self.capacity or {}
        class_ = self.class_
        return (
            self.full_name,
            # Of a class nothing but its selectors matters, unless its configuration goes into the results.
            class_ if class_ is None or class_.api.spec.config else class_.selectors,
            self.selectors,
            self.takes_all,
            self.count,
            self.admin,
            self.tolerations,
            tuple((name, str(amount), amount.nano) for name, amount in sorted(capacity.items())),
            tuple(sorted(self.derived.items())),
        )


def _covers(constraint: DeviceConstraint, full_name: str, parent: str) -> bool:
    return (
        not constraint.requests or full_name in constraint.requests or (parent != "" and parent in constraint.requests)
    )


class RequestGroup:
    """A request with its alternatives; exactly one if it has no ``firstAvailable``.

    Attributes:
        api: as written.
        is_list: it has ``firstAvailable``.
        alternatives: in order of preference.
        problem: why it cannot be handled, found before any alternative is looked at, or empty.
        quirk: the quirk that keeps ``problem`` from being one, or empty.
    """

    __slots__ = ("alternatives", "api", "is_list", "problem")

    def __init__(self, api: DeviceRequest, claim: "ClaimPlan", inventory: Inventory) -> None:
        self.api = api
        self.is_list = bool(api.first_available)
        if self.is_list:
            self.alternatives = tuple(
                RequestPlan(source, source.name, api.name, claim, inventory) for source in api.first_available
            )
        elif api.exactly is not None:
            self.alternatives = (RequestPlan(api.exactly, api.name, "", claim, inventory),)
        else:
            self.alternatives = ()
        self.problem = self._problem(claim.label, inventory.profile)

    def _problem(self, label: str, profile: AllocatorProfile) -> str:
        api = self.api
        features = profile.features
        if self.is_list and not features.prioritized_list:
            return f"claim {label}, request {api.name}: has subrequests, but the DRAPrioritizedList feature is disabled"
        if not self.alternatives:
            return f"claim {label}, request {api.name}: unknown request type"
        ignored = "capacity requests" in profile.lacks and profile.has("stable-ignores-capacity-requests")
        if features.consumable_capacity or ignored:
            return ""
        off = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
        if api.exactly is not None and api.exactly.capacity is not None:
            return f"claim {label}, request {api.name}: {off}"
        for source in api.first_available:
            if source.capacity is not None:
                return f"claim {label}, subrequest {source.name}: {off}"
        return ""


class ClaimPlan:
    """A claim, read for an attempt.

    Attributes:
        api: as written.
        label: ``namespace/name``.
        requests: in order.
        problem: why its constraints cannot be handled, or empty.
    """

    __slots__ = ("api", "label", "problem", "requests")

    def __init__(self, api: ResourceClaim, inventory: Inventory) -> None:
        self.api = api
        meta = api.metadata
        self.label = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
        self.requests = tuple(RequestGroup(request, self, inventory) for request in api.spec.devices.requests)
        self.problem = ""
        no_distinct = "distinct attributes" in inventory.profile.lacks
        for index, constraint in enumerate(api.spec.devices.constraints):
            known = constraint.match_attribute is not None
            known = known or (constraint.distinct_attribute is not None and not no_distinct)
            if not known:
                self.problem = (
                    f"claim {self.label}, constraint #{index}: empty constraint (unsupported constraint type?)"
                )
                break

    def signature(self) -> Hashable | None:
        """Equal for claims that every node serves alike; None if an error would name the claim."""
        if self.problem or any(group.problem or plan.problem for group in self.requests for plan in group.alternatives):
            return None
        devices = self.api.spec.devices
        return (
            tuple(
                (group.api.name, group.is_list, tuple(plan.signature() for plan in group.alternatives))
                for group in self.requests
            ),
            devices.constraints,
            msgspec.json.encode(devices.config) if devices.config else b"",
        )


class Slot:
    """A request or alternative on one node.

    Attributes:
        plan: the request.
        number: how many devices it needs.
        everything: with mode All, the devices.
        candidates: with ExactCount, the devices to choose from.
    """

    __slots__ = ("candidates", "everything", "number", "plan")

    def __init__(self, plan: RequestPlan, view: NodeView) -> None:
        assert plan.class_ is not None, "a plan without class has a problem"
        self.plan = plan
        self.candidates: Candidates = view.candidates(plan.class_.selectors, plan.selectors)
        self.everything: list[Candidate] | None = None
        self.number = plan.count


class Step:
    """One request of the attempt, in the order of the search.

    Attributes:
        claim: number of the claim.
        group: the request.
        slots: one per alternative.
    """

    __slots__ = ("claim", "group", "slots")

    def __init__(self, claim: int, group: RequestGroup, slots: tuple[Slot, ...]) -> None:
        self.claim = claim
        self.group = group
        self.slots = slots


def plan_claims(claims: Iterable[ResourceClaim], inventory: Inventory) -> tuple[ClaimPlan, ...]:
    """Read the claims; problems are kept in the plans, because a node's own errors may come first."""
    return tuple(ClaimPlan(claim, inventory) for claim in claims)


def signature_number(inventory: Inventory, claim: ResourceClaim) -> int | None:
    """The number for what the claim asks for; None if an error would name the claim."""
    known = inventory.signatures.known(claim.spec)
    if known is not None:
        return known[1]
    return inventory.signatures.keep(claim.spec, ClaimPlan(claim, inventory).signature())


def bind(
    plans: Sequence[ClaimPlan], view: NodeView, profile: AllocatorProfile, allocated: AllocatedState
) -> list[Step]:
    """The requests on one node.

    Raises:
        AttemptError: a request cannot be handled, or not on this node.
    """
    steps: list[Step] = []
    for number, plan in enumerate(plans):
        total = 0
        counted_all = False
        for group in plan.requests:
            if group.problem:
                raise AttemptError(group.problem)
            slots = _bind_group(group, plan, view, profile, allocated)
            least = min(slot.number for slot in slots)
            counted_all = counted_all or any(slot.plan.takes_all for slot in slots)
            if least > RESULTS_LIMIT - total:
                relaxed = counted_all and not profile.has("all-over-limit-is-fatal")
                raise AttemptError(
                    f"claim {plan.label}, request {group.api.name}: adding {least} devices exceeds the claim limit of "
                    f"{RESULTS_LIMIT}, with {total} already accounted for",
                    node_only=relaxed,
                    quirk="all-over-limit-is-fatal" if counted_all else "",
                )
            total += least
            steps.append(Step(number, group, slots))
        if plan.problem:
            raise AttemptError(plan.problem)
    return steps


def _bind_group(
    group: RequestGroup, claim: ClaimPlan, view: NodeView, profile: AllocatorProfile, allocated: AllocatedState
) -> tuple[Slot, ...]:
    slots: list[Slot] = []
    for plan in group.alternatives:
        if plan.problem:
            raise AttemptError(plan.problem)
        slot = Slot(plan, view)
        if plan.takes_all:
            candidates = slot.candidates
            reuses = len(slots) == 1 and slots[0].plan.takes_all and profile.has("second-alternative-reuses-verdicts")
            if reuses:
                candidates = slots[0].candidates
            slot.everything = _everything(plan, claim, candidates, view, profile, allocated)
            slot.number = len(slot.everything)
        slots.append(slot)
    return tuple(slots)


def _everything(
    plan: RequestPlan,
    claim: ClaimPlan,
    candidates: Candidates,
    view: NodeView,
    profile: AllocatorProfile,
    allocated: AllocatedState,
) -> list[Candidate]:
    """The devices of mode All: what class, request and total capacity admit.

    A bad pool counts only after the pools before it, whose devices may raise an error of their own.
    """
    bad = view.bad_pools[0] if view.bad_pools else None
    result: list[Candidate] = []
    before = set(view.pools[: view.pools.index(bad)]) if bad is not None else None
    for candidate in candidates.all():
        if before is not None and candidate.pool not in before:
            continue
        if candidate.error is not None:
            raise selection_error(candidate, plan, claim, profile)
        if profile.features.consumable_capacity and not _is_big_enough(candidate, plan, claim, profile, allocated):
            continue
        result.append(candidate)
    if bad is not None:
        what = "being updated" if bad.state == "incomplete" else "invalid"
        raise AttemptError(
            f"claim {claim.label}, request {plan.name}: asks for all devices, but resource pool "
            f"{'/'.join(bad.id)} is currently {what}",
            node_only=not profile.has("all-mode-bad-pool-is-fatal"),
            quirk="all-mode-bad-pool-is-fatal",
        )
    return result


def _is_big_enough(
    candidate: Candidate, plan: RequestPlan, claim: ClaimPlan, profile: AllocatorProfile, allocated: AllocatedState
) -> bool:
    device = candidate.device
    amounts = amounts_for(device, plan.capacity, profile)
    if amounts.error:
        raise AttemptError(
            f"claim {claim.label}, request {plan.name}: checking capacity for device {device.id[2]}: {amounts.error}"
        )
    if profile.has("all-skips-exhausted-devices") and amounts.kind in {"", "size"}:
        persisted = allocated.pool(candidate.pool.id).consumed.get(device.id[2], {})
        return exhausted(device, amounts, persisted, {}) is None
    return not amounts.refusal


def selection_error(
    candidate: Candidate, plan: RequestPlan, claim: ClaimPlan, profile: AllocatorProfile
) -> AttemptError:
    """The error of a device on which a selector cannot be decided."""
    error = candidate.error
    if isinstance(error, NodeSelectorError):
        return AttemptError(f"failed to parse node selector: {error}")
    assert error is not None, "asked for the error of a good candidate"
    owner = f"class {plan.class_.name if plan.class_ else ''}" if candidate.by_class else f"claim {claim.label}"
    if error.phase == "compile":
        return AttemptError(f"{owner}: selector #{error.index}: CEL compile error: {error.message}")
    device = "" if "devices in errors" in profile.lacks else f" on device {'/'.join(candidate.device.id)}"
    hint = MISSING_KEY_HINT if "no such key:" in error.message else ""
    return AttemptError(f"{owner}: selector #{error.index}{device}: CEL runtime error: {error.message}{hint}")
