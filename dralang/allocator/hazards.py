"""Which requests could end the attempt with an error while they are searched.

Skipping a part of the search is allowed only where it could not have raised one. The answer is computed only when a
search first wants to skip something, and errs on the side of yes.
"""

from collections.abc import Sequence

from dralang.allocator.attempt_state import AttemptState
from dralang.allocator.attributes import DerivedAttributeError, attribute_for
from dralang.allocator.capacity import amounts_for
from dralang.allocator.constraints import UnsupportedValueError, constraint_state
from dralang.allocator.inventory import Candidate
from dralang.allocator.requests import Slot, Step


class Hazards:
    """The requests of one attempt that could raise an error."""

    __slots__ = ("_state", "_steps", "_until")

    def __init__(self, steps: Sequence[Step], state: AttemptState) -> None:
        self._steps = steps
        self._state = state
        self._until: list[int] = [0]
        """How many of the first steps are hazards, by number of steps."""

    def none(self, first: int, last: int) -> bool:
        """Whether no request from ``first`` to ``last`` could raise an error."""
        if self._state.leaky:
            return False
        until = self._until
        while len(until) <= last + 1:
            step = self._steps[len(until) - 1]
            until.append(until[-1] + any(self._is_hazard(slot, step.claim) for slot in step.slots))
        return until[last + 1] == until[first]

    def _is_hazard(self, slot: Slot, claim: int) -> bool:
        plan = slot.plan
        if plan.takes_all and plan.constraints:
            return True
        candidates = slot.candidates.all() if slot.everything is None else slot.everything
        return any(self._can_fail(candidate, slot, claim) for candidate in candidates)

    def _can_fail(self, candidate: Candidate, slot: Slot, claim: int) -> bool:
        if candidate.error is not None or candidate.stop is not None:
            return True
        plan = slot.plan
        profile = self._state.profile
        if profile.features.consumable_capacity and amounts_for(candidate.device, plan.capacity, profile).error:
            return True
        constraints = self._state.claims[claim].api.spec.devices.constraints
        for index in plan.constraints:
            state = constraint_state(constraints[index], profile)
            try:
                attribute = attribute_for(candidate.device, plan.derived, state.name)
                if attribute is not None:
                    state.add(attribute, plan.name)
            except (DerivedAttributeError, UnsupportedValueError):
                return True
        return False
