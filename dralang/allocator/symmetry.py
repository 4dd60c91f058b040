"""Which devices are interchangeable, and which states of the search are alike.

Two devices are of one kind when no request of the attempt can tell them apart. If one of them leads nowhere, so does
the other; and two states that differ only in which devices of a kind are taken lead nowhere together. Both are used to
skip what is known to fail, never to choose: the first device in order is still the one that is taken.

INVARIANT: a device that could raise an error is the only one of its kind.
"""

from collections.abc import Iterable, Sequence

from dralang.allocator.attempt_state import AttemptState, Placement
from dralang.allocator.attributes import DerivedAttributeError, attribute_for
from dralang.allocator.capacity import amounts_for
from dralang.allocator.constraints import UnsupportedValueError, constraint_state
from dralang.allocator.inventory import Candidate
from dralang.allocator.prepared import SliceDevice
from dralang.allocator.requests import Slot, Step


class Symmetry:
    """The kinds of devices in one attempt; computed when first asked for."""

    __slots__ = ("_kinds", "_masks", "_numbers", "_slots", "_state", "_unlike", "usable")

    def __init__(self, steps: Sequence[Step], state: AttemptState) -> None:
        self._state = state
        self._slots: list[tuple[int, Slot]] = [(step.claim, slot) for step in steps for slot in step.slots]
        self._kinds: dict[object, int] = {}
        self._numbers: dict[object, int] = {}
        self._masks: dict[object, int] = {}
        self._unlike: set[object] = set()
        self.usable = not state.leaky and not self._order_matters()
        """Whether the order in which a constraint meets devices makes no difference."""
        if self.usable:
            self._read_candidates()

    def kind(self, candidate: Candidate) -> int:
        """The number of the device's kind."""
        device = candidate.device
        known = self._kinds.get(device)
        if known is None:
            signature = self._signature(candidate)
            known = self._kinds[device] = self._numbers.setdefault(signature, len(self._numbers))
        return known

    def key(self, step: int, claim: int, placements: Iterable[Placement], *, exact: bool) -> object:
        """A value that is equal for states from which the same requests cannot be served.

        Args:
            step: the request that is next.
            claim: its claim.
            placements: what is taken.
            exact: devices of one kind are not alike, because the order in which they are tried matters.
        """
        state = self._state
        dedicated: list[tuple[int, bool, int]] = []
        shared: dict[SliceDevice, tuple[int, dict[tuple[bool, str], int]]] = {}
        for placement in placements:
            device = placement.candidate.device
            # Whose it is matters for whom to blame.
            own = placement.claim == claim
            kind = id(device) if exact else self.kind(placement.candidate)
            if device.shareable:
                sums = shared.setdefault(device, (kind, {(own, ""): 0}))[1]
                for name, amount, _ in placement.amounts.taken if placement.amounts is not None else ():
                    sums[own, name] = sums.get((own, name), 0) + amount
            elif placement.plan.admin:
                dedicated.append((id(device), own, placement.claim))
            else:
                dedicated.append((kind, own, -1))
        dedicated.sort()
        shares = tuple(sorted((kind, tuple(sorted(sums.items()))) for kind, sums in shared.values()))
        return step, tuple(dedicated), shares, state.results[claim], state.constraint_key(claim)

    def _order_matters(self) -> bool:
        """A list among scalars under distinctAttribute is accepted first and refused later."""
        state = self._state
        if state.profile.features.list_type_attributes:
            return False
        constraints = [constraint for claim in state.claims for constraint in claim.api.spec.devices.constraints]
        if all(constraint.distinct_attribute is None for constraint in constraints):
            return False
        return any(
            value in {("list", None), ("none", None)}
            for claim, slot in self._slots
            for candidate in _candidates(slot)
            for value in self._constrained_values(candidate, claim, slot)
        )

    def _read_candidates(self) -> None:
        for number, (_, slot) in enumerate(self._slots):
            bit = 1 << number
            # Whether such a request fails or raises an error depends on which of its devices is met first.
            ordered = slot.plan.takes_all and bool(slot.plan.constraints)
            for candidate in _candidates(slot):
                device = candidate.device
                self._masks[device] = self._masks.get(device, 0) | bit
                if ordered or candidate.error is not None or candidate.stop is not None:
                    self._unlike.add(device)

    def _signature(self, candidate: Candidate) -> object:
        device = candidate.device
        if device in self._unlike:
            return device
        state = self._state
        allocations = state.allocations(candidate.pool)
        name = device.id[2]
        amounts = []
        values = []
        mask = self._masks.get(device, 0)
        for number, (claim, slot) in enumerate(self._slots):
            if not mask >> number & 1:
                continue
            if state.profile.features.consumable_capacity and (device.api.capacity or slot.plan.capacity):
                taken = amounts_for(device, slot.plan.capacity, state.profile)
                if taken.error:
                    return device
                amounts.append((taken.kind, tuple((key, amount) for key, amount, _ in taken.taken)))
            found = self._constrained_values(candidate, claim, slot)
            if None in found:
                return device
            values.append(found)
        return (
            mask,
            tuple(amounts),
            tuple(values),
            name in allocations.dedicated,
            name in allocations.shares,
            tuple(sorted(allocations.consumed.get(name, {}).items())),
            tuple((key, capacity.value.nano) for key, capacity in sorted(device.api.capacity.items())),
            device.shareable,
            device.taints,
            bool(device.home.api.spec.skip_node_operations),
            (candidate.pool.id, _consumption(candidate)) if device.consumes else (),
        )

    def _constrained_values(self, candidate: Candidate, claim: int, slot: Slot) -> tuple[object, ...]:
        """What each constraint of the request sees of the device; None where that is an error."""
        plan = slot.plan
        profile = self._state.profile
        constraints = self._state.claims[claim].api.spec.devices.constraints
        values: list[object] = []
        for index in plan.constraints:
            state = constraint_state(constraints[index], profile)
            try:
                attribute = attribute_for(candidate.device, plan.derived, state.name)
                values.append("missing" if attribute is None else state.value(attribute))
            except (DerivedAttributeError, UnsupportedValueError):
                values.append(None)
        return tuple(values)


def _candidates(slot: Slot) -> list[Candidate]:
    return slot.candidates.all() if slot.everything is None else slot.everything


def _consumption(candidate: Candidate) -> object:
    return tuple(
        (part.counter_set, tuple(sorted(part.counters.items())), tuple(sorted(part.groups)))
        for part in candidate.device.consumes
    )
