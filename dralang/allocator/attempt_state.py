"""What one attempt has taken so far: devices, counters, capacity, constraint state.

``place`` is the one place where a device is tried for a request: it checks everything in the order of the real
allocator and either takes the device or changes nothing and says which earlier choices are to blame.

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental allocator_experimental.go allocateDevice,
rollbackDevice, deviceInUse, deviceCapacityInUse.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from dralang.allocator.attributes import DerivedAttributeError, attribute_for
from dralang.allocator.capacity import Amounts, amounts_for, exhausted
from dralang.allocator.constraints import ConstraintState, UnsupportedValueError, constraint_state
from dralang.allocator.counters import (
    Baseline,
    CounterName,
    Groups,
    baseline,
    charges,
    first_groups,
    slice_baseline,
)
from dralang.allocator.inventory import Candidate, Inventory
from dralang.allocator.pools import Pool
from dralang.allocator.prepared import SliceDevice
from dralang.allocator.requests import AttemptError, ClaimPlan, RequestPlan, Slot, selection_error
from dralang.allocator.state import AllocatedState, PoolAllocations
from dralang.allocator.taints import untolerated
from dralang.api.nodes import Node

Refusal = Literal[
    "",
    "in use",
    "taken",
    "capacity",
    "shares",
    "operations",
    "partitions",
    "groups",
    "blocked",
    "counters",
    "taint",
    "constraint",
]
"""Which rule refused a device; ``taken`` is by an earlier request of the attempt, ``in use`` by another claim."""

NODE_OPERATIONS_FEATURE = "DRAOptionalNodeOperations"
"""What a node must declare before devices of a slice with ``skipNodeOperations`` are used on it."""


_NOTHING: Mapping[str, int] = MappingProxyType({})


class Placement:
    """A device taken for a request, with what has to be given back.

    Attributes:
        candidate: the device.
        amounts: what it takes of a shared device, or None.
        level: number of the choice, counted from the start of the search.
    """

    __slots__ = ("amounts", "candidate", "charged", "claim", "constrained", "groups", "level", "plan", "taken")

    def __init__(self, candidate: Candidate, plan: RequestPlan, claim: int, level: int) -> None:
        self.candidate = candidate
        self.plan = plan
        self.claim = claim
        self.level = level
        self.amounts: Amounts | None = None
        self.charged: tuple[tuple[CounterName, int], ...] = ()
        self.constrained = 0
        self.groups: tuple[tuple[str, Groups | None], ...] = ()
        self.taken = False


class _Account:
    """Counters and compatibility groups of one pool: what was left before, and what this attempt takes."""

    __slots__ = ("baseline", "group_levels", "groups", "levels", "reserved")

    def __init__(self, start: Baseline) -> None:
        self.baseline = start
        self.reserved: dict[CounterName, int] = {}
        self.levels: dict[CounterName, int] = {}
        self.groups: dict[str, Groups] = dict(start.groups)
        self.group_levels: dict[str, int] = {}


class _Shares:
    """The shares of one device taken in this attempt."""

    __slots__ = ("amounts", "levels", "number")

    def __init__(self) -> None:
        self.number = 0
        self.amounts: dict[str, int] = {}
        self.levels = 0


class AttemptState:
    """The state of one search; INVARIANT: after ``place`` and ``undo`` it is exactly as before.

    Owned and changed by one search only.
    """

    def __init__(
        self, inventory: Inventory, allocated: AllocatedState, node: Node, claims: Sequence[ClaimPlan]
    ) -> None:
        profile = inventory.profile
        self.profile = profile
        self.rules = rules = inventory.rules
        self.node = node
        self.claims = claims
        self._allocated = allocated
        self._inventory = inventory
        self._accounts: dict[object, _Account] = {}
        self._dedicated: dict[Pool, Mapping[str, str]] = {}
        self._marks: dict[SliceDevice, tuple[int, int]] = {}
        """Claim and level of the normal request that has the device."""
        self._admin_marks: dict[SliceDevice, dict[int, int]] = {}
        """Level by claim of the admin requests that have the device."""
        self._shares: dict[SliceDevice, _Shares] = {}
        self.results = [0] * len(claims)
        """Number of devices per claim."""
        self._constraints: list[list[ConstraintState]] = [
            [constraint_state(constraint, profile) for constraint in claim.api.spec.devices.constraints]
            for claim in claims
        ]
        self._constraint_levels: list[list[list[int]]] = [[[] for _ in states] for states in self._constraints]
        self.blame = 0
        """After a refusal: the levels without which there were none, as bits."""
        self.refusal: Refusal = ""
        """After a refusal: the rule that refused."""
        self.constraint = -1
        """After a refusal by a constraint: its number."""
        self.leaky = rules.leaks and (rules.capacity or rules.partitions)
        """Rejected devices may keep what they reserved (a fault of some versions)."""
        self.remembering = frozenset(
            number for number, states in enumerate(self._constraints) if any(state.remembers for state in states)
        )
        """Claims whose constraints are not restored when a device is undone (a fault of some versions)."""

    def fresh(self) -> "AttemptState":
        """The state in which nothing is taken yet."""
        return type(self)(self._inventory, self._allocated, self.node, self.claims)

    def allocations(self, pool: Pool) -> PoolAllocations:
        """What is in use in a pool since before the attempt."""
        return self._allocated.pool(pool.id)

    def is_in_use(self, candidate: Candidate) -> bool:
        """Whether the device is somebody's alone, since before the attempt."""
        dedicated = self._dedicated.get(candidate.pool)
        if dedicated is None:
            dedicated = self._dedicated[candidate.pool] = self._allocated.pool(candidate.pool.id).dedicated
        return candidate.device.id[2] in dedicated

    def account(self, candidate: Candidate) -> _Account:
        """The counters that the device draws from."""
        pool = candidate.pool
        key: object = pool
        if self.rules.per_slice:
            key = candidate.device.home
        elif self.rules.per_name:
            key = pool.id[1]
        known = self._accounts.get(key)
        if known is None:
            allocations = self.allocations(pool)
            if key is candidate.device.home:
                start = slice_baseline(candidate.device.home, allocations)
            else:
                vanished = self._inventory.vanished(pool.id)
                start = baseline(pool, allocations, vanished, forgets_shares=self.rules.forgets_shares)
            known = self._accounts[key] = _Account(start)
        return known

    def place(self, slot: Slot, claim: int, candidate: Candidate, level: int, index: int) -> Placement | None:
        """Try a device for a request.

        Args:
            slot: the request.
            claim: number of its claim.
            candidate: the device.
            level: number of the choice.
            index: which device of the request it is.

        Returns:
            What was taken, or None after a refusal; ``blame`` is set then.

        Raises:
            AttemptError: the device cannot be judged, or a mode All request is spoiled by a constraint.
        """
        plan = slot.plan
        device = candidate.device
        self.blame = 0
        if not plan.admin and self.is_in_use(candidate):
            self.refusal = "in use"
            return None
        if self._is_taken(plan, claim, device):
            self.refusal = "taken"
            return None
        if not plan.takes_all:
            if candidate.error is not None:
                raise selection_error(candidate, plan, self.claims[claim], self.profile)
            if self.rules.capacity and not self._fits(plan, claim, candidate, "checking"):
                return None
        if not self._is_operable(plan, candidate):
            return None
        placement = Placement(candidate, plan, claim, level)
        if device.consumes and not self._reserve(placement):
            return None
        if device.taints and untolerated(device, plan.tolerations) is not None:
            self.refusal = "taint"
            self._release(placement)
            return None
        if plan.constraints and not self._constrain(placement):
            self._release(placement)
            return None
        self._mark(placement)
        if self.rules.capacity and not self._take_share(placement, index):
            if not self.rules.leaks:
                self.undo(placement)
            return None
        self.results[claim] += 1
        placement.taken = True
        return placement

    def undo(self, placement: Placement) -> None:
        """Give everything back, in reverse order."""
        device = placement.candidate.device
        if placement.taken:
            self.results[placement.claim] -= 1
        if placement.amounts is not None:
            self._return_share(placement, placement.amounts)
        if not device.shareable:
            if placement.plan.admin:
                self._admin_marks.get(device, {}).pop(placement.claim, None)
            else:
                self._marks.pop(device, None)
        self._unconstrain(placement, placement.constrained)
        if not (self.rules.leaks and device.shareable):
            self._give_back(placement)

    def _return_share(self, placement: Placement, amounts: Amounts) -> None:
        device = placement.candidate.device
        shares = self._shares[device]
        shares.number -= 1
        shares.levels ^= 1 << placement.level
        for name, amount, _ in amounts.taken:
            shares.amounts[name] -= amount
        gone = not shares.number
        if self.rules.leaks:
            # Without amounts the share stays known; without any amount left all shares are forgotten.
            gone = bool(amounts.taken) and not any(shares.amounts.values())
        if gone:
            del self._shares[device]

    def constraint_key(self, claim: int) -> object:
        """Equal for equal states of the constraints of a claim."""
        return tuple(state.key() for state in self._constraints[claim])

    def is_touched(self, device: SliceDevice) -> bool:
        """Whether this attempt has taken anything of the device."""
        return device in self._shares or device in self._marks or bool(self._admin_marks.get(device))

    # Each step of ``place``, in its order.

    def _is_taken(self, plan: RequestPlan, claim: int, device: SliceDevice) -> bool:
        """In use: for admin requests only by the same claim, for others by anybody."""
        mark = self._marks.get(device)
        admin = self._admin_marks.get(device)
        if plan.admin:
            if mark is not None and mark[0] == claim:
                self.blame = 1 << mark[1]
                return True
            if admin and claim in admin:
                self.blame = 1 << admin[claim]
                return True
            return False
        if mark is not None:
            self.blame = 1 << mark[1]
            return True
        if admin and self.rules.admin_blocks:
            for level in admin.values():
                self.blame |= 1 << level
            return True
        return False

    def _fits(self, plan: RequestPlan, claim: int, candidate: Candidate, doing: str) -> bool:
        """Whether policy and remaining capacity admit the request."""
        device = candidate.device
        if not device.api.capacity and plan.capacity is None:
            return True
        amounts = amounts_for(device, plan.capacity, self.profile)
        if amounts.error:
            raise AttemptError(
                f"claim {self.claims[claim].label}, request {plan.name}: {doing} capacity for device "
                f"{'/'.join(device.id)}: {amounts.error}"
            )
        self.refusal = "capacity"
        if amounts.kind in {"missing", "policy"}:
            return False
        shares = self._shares.get(device)
        persisted = self.allocations(candidate.pool).consumed.get(device.id[2], _NOTHING)
        if not amounts.kind and shares is None and persisted is _NOTHING:
            return True
        if exhausted(device, amounts, persisted, shares.amounts if shares else {}) is None:
            return True
        self.blame |= shares.levels if shares else 0
        return False

    def _is_operable(self, plan: RequestPlan, candidate: Candidate) -> bool:
        device = candidate.device
        if self.rules.capacity and not self.rules.ignores_shares and not plan.admin and not device.shareable:
            allocations = self.allocations(candidate.pool)
            if device.id[2] in allocations.consumed or device.id[2] in allocations.shares:
                self.refusal = "shares"
                return False
        if device.home.api.spec.skip_node_operations and not self._node_operations_allow():
            self.refusal = "operations"
            return False
        if device.consumes and not self.rules.partitions:
            self.refusal = "partitions"
            return False
        return True

    def _node_operations_allow(self) -> bool:
        if self.rules.unchecked_operations:
            return True
        declared = self.node.status.declared_features
        return self.profile.features.optional_node_operations and NODE_OPERATIONS_FEATURE in declared

    def _reserve(self, placement: Placement) -> bool:
        """Take counters and join compatibility groups, unless an earlier share of the device has done so."""
        candidate = placement.candidate
        device = candidate.device
        if device.shareable and self._is_shared(candidate):
            return True
        if placement.plan.admin and not self.rules.admin_pays:
            return True
        account = self.account(candidate)
        if self.rules.groups and not self._join_groups(account, placement):
            self.refusal = "groups"
            return False
        free = account.baseline
        if self.rules.negative_blocks and free.blocked:
            self.refusal = "blocked"
            self._leave_groups(account, placement)
            return False
        wanted = charges(device)
        bit = 1 << placement.level
        for counter, amount in wanted:
            account.reserved[counter] = account.reserved.get(counter, 0) + amount
            account.levels[counter] = account.levels.get(counter, 0) | bit
        placement.charged = wanted
        for counter, _ in wanted:
            left = free.free.get(counter)
            if left is not None and account.reserved[counter] > left:
                self.refusal = "counters"
                self.blame |= account.levels[counter] & ~bit
                self._give_back(placement)
                return False
        return True

    def _is_shared(self, candidate: Candidate) -> bool:
        device = candidate.device
        allocations = self.allocations(candidate.pool)
        name = device.id[2]
        if device in self._shares or name in allocations.consumed:
            return True
        return name in allocations.shares and not self.rules.misses_shares

    def _join_groups(self, state: _Account, placement: Placement) -> bool:
        saved: list[tuple[str, Groups | None]] = []
        bit = 1 << placement.level
        for consumption in placement.candidate.device.consumes:
            name = consumption.counter_set
            current = state.groups.get(name)
            if current is not None and not current.admits(consumption.groups):
                self.blame |= state.group_levels.get(name, 0) & ~bit
                placement.groups = tuple(saved)
                self._leave_groups(state, placement)
                return False
            saved.append((name, current))
            joined = first_groups(consumption.groups) if current is None else current.joined_by(consumption.groups)
            state.groups[name] = joined
            state.group_levels[name] = state.group_levels.get(name, 0) | bit
        placement.groups = tuple(saved)
        return True

    def _leave_groups(self, state: _Account, placement: Placement) -> None:
        bit = 1 << placement.level
        for name, previous in reversed(placement.groups):
            state.group_levels[name] &= ~bit
            if previous is None:
                del state.groups[name]
            else:
                state.groups[name] = previous
        placement.groups = ()

    def _release(self, placement: Placement) -> None:
        """Give back what a candidate that is rejected later on has reserved."""
        if not self.rules.leaks:
            self._give_back(placement)

    def _give_back(self, placement: Placement) -> None:
        if not placement.charged and not placement.groups:
            return
        account = self.account(placement.candidate)
        bit = 1 << placement.level
        for counter, amount in placement.charged:
            account.reserved[counter] -= amount
            account.levels[counter] &= ~bit
        placement.charged = ()
        self._leave_groups(account, placement)

    def _constrain(self, placement: Placement) -> bool:
        """Add the device to the constraints that cover the request; all or none."""
        plan = placement.plan
        claim = placement.claim
        device = placement.candidate.device
        states = self._constraints[claim]
        levels = self._constraint_levels[claim]
        base = plan.parent or plan.name
        for number, index in enumerate(plan.constraints):
            state = states[index]
            try:
                attribute = attribute_for(device, plan.derived, state.name)
                accepted = attribute is not None and state.add(attribute, base)
            except DerivedAttributeError as error:
                raise AttemptError(str(error)) from None
            except UnsupportedValueError:
                raise AttemptError(
                    f"device {'/'.join(device.id)}: unsupported attribute value for {state.name}"
                ) from None
            if not accepted:
                self.refusal, self.constraint = "constraint", index
                if attribute is not None:
                    for place in state.opposed(attribute):
                        self.blame |= 1 << levels[index][place]
                self._unconstrain(placement, number)
                if plan.takes_all and self.rules.fatal_constraints:
                    raise AttemptError(
                        f"claim {self.claims[claim].label}, request {plan.name}: cannot add device "
                        f"{'/'.join(device.id)} because a claim constraint would not be satisfied",
                        quirk="all-constraint-is-fatal",
                    )
                return False
            levels[index].append(placement.level)
        placement.constrained = len(plan.constraints)
        return True

    def _unconstrain(self, placement: Placement, number: int) -> None:
        base = placement.plan.parent or placement.plan.name
        for index in reversed(placement.plan.constraints[:number]):
            self._constraints[placement.claim][index].pop(base)
            self._constraint_levels[placement.claim][index].pop()

    def _mark(self, placement: Placement) -> None:
        device = placement.candidate.device
        if device.shareable:
            return
        if placement.plan.admin:
            self._admin_marks.setdefault(device, {})[placement.claim] = placement.level
        else:
            self._marks[device] = (placement.claim, placement.level)

    def _take_share(self, placement: Placement, index: int) -> bool:
        """Check the remaining capacity once more, as mode All has not yet, and take a share of a shared device."""
        plan = placement.plan
        candidate = placement.candidate
        if self.rules.wrong_recheck:
            if not self._fits(plan, placement.claim, self._neighbour(candidate, index), "rechecking"):
                return False
        elif plan.takes_all and not self._fits(plan, placement.claim, candidate, "rechecking"):
            return False
        if candidate.device.shareable:
            shares = self._shares.setdefault(candidate.device, _Shares())
            shares.number += 1
            shares.levels |= 1 << placement.level
            placement.amounts = amounts_for(candidate.device, plan.capacity, self.profile)
            for name, amount, _ in placement.amounts.taken:
                shares.amounts[name] = shares.amounts.get(name, 0) + amount
        return True

    def _neighbour(self, candidate: Candidate, index: int) -> Candidate:
        """The device of the slice whose number is that of the device in the request."""
        devices = candidate.device.home.devices
        if index >= len(devices):
            raise AttemptError("the allocator crashed: the capacity check looked behind the last device of a slice")
        return Candidate(devices[index], candidate.pool, None, by_class=False)
