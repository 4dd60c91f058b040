"""The depth-first search for the first complete choice of devices.

The search tries requests in order, alternatives in order, devices in order, and takes the first complete solution. It
keeps its own stack, so that no input can exhaust Python's.

What failed is not tried again: neither an interchangeable device at the same place, nor a state like one that led
nowhere before (``symmetry``). And every failure carries the levels of the stack that are to blame. A level that is not
cannot help by choosing otherwise, so it is not asked to: the search jumps back over it. None of this changes the
outcome, because a jump is only made where nothing that it skips could have raised an error (``hazards``).

Source: k8s.io/dynamic-resource-allocation structured/internal/experimental allocator_experimental.go allocateOne.
"""

from collections.abc import Sequence

from dralang.allocator.attempt_state import AttemptState, Placement
from dralang.allocator.bounds import Bounds
from dralang.allocator.hazards import Hazards
from dralang.allocator.inventory import Candidate
from dralang.allocator.requests import RESULTS_LIMIT, AttemptError, Slot, Step
from dralang.allocator.results import Pick
from dralang.allocator.symmetry import Symmetry

_EFFORT_BEFORE_SYMMETRY = 24
"""Failures before it pays to find out which devices are interchangeable."""
_EFFORT_BEFORE_PROBE = 400
"""Failures before it pays to ask whether part of the claims is impossible by itself."""
_PROBE_BUDGET = 2_000
"""Steps of such a question."""


class BudgetError(Exception):
    """The search was stopped; nothing is known about the outcome."""


class _Alternatives:
    """A level at which an alternative of a request is chosen."""

    __slots__ = ("all_exceeded", "blame", "key", "number", "step")

    def __init__(self, step: int, key: object) -> None:
        self.step = step
        self.key = key
        self.number = -1
        self.all_exceeded = True
        self.blame = 0


class _Device:
    """A level at which a device is chosen.

    Attributes:
        step: which request.
        slot: the request, or the alternative of it.
        index: which device of the request.
        cursor: the candidate to try next.
        placement: the device chosen at the moment.
        blame: the levels to blame for the candidates that failed so far.
        failed: the kinds of devices that cannot be part of the request any more, with the levels to blame.
        taken: the kinds of devices that an earlier level has, with those levels.
        key: what the state was like before the request, if that is of use.
    """

    __slots__ = ("blame", "cursor", "failed", "index", "key", "placement", "slot", "step", "taken")

    def __init__(
        self, step: int, slot: Slot, index: int, cursor: int, blame: int, failed: dict[int, int], key: object
    ) -> None:
        self.step = step
        self.failed = failed
        self.key = key
        self.slot = slot
        self.index = index
        self.cursor = cursor
        self.placement: Placement | None = None
        self.blame = blame
        self.taken: dict[int, int] = {}


_Next = tuple[int, Slot | None, int, int]
"""What to look for next: step, alternative if chosen, number of the device, first candidate."""


class Search:
    """One attempt on one node. Owns and changes its state; used once."""

    def __init__(self, steps: Sequence[Step], state: AttemptState, budget: int, *, probes: bool = True) -> None:
        self._steps = steps
        self._state = state
        self._budget = budget
        self._probe_at = _EFFORT_BEFORE_PROBE if probes else None
        self._stack: list[_Alternatives | _Device] = []
        self._hazards = Hazards(steps, state)
        self._combinations = not state.rules.any_order
        self._remembering = [False] * len(steps)
        """Whether what a step has tried before may change what it accepts."""
        self._quiet = 0
        """The first step from which on none does; before it, no two states are alike."""
        for number, step in enumerate(steps if state.remembering else ()):
            if step.claim in state.remembering:
                self._remembering[number] = True
                self._quiet = number + 1
        self._symmetry: Symmetry | None = None
        self._bounds: Bounds | None = None
        self._effort = 0
        self._dead: dict[object, bool] = {}
        """States from which the rest cannot be served, and whether that is the claim's own fault."""
        self.entries = 0
        """Steps taken so far, against the budget."""

    def run(self) -> bool:
        """Whether there is a solution; ``picks`` and ``chosen`` then tell it.

        Raises:
            AttemptError: the search met an error.
            BudgetError: after as many steps as the budget allows.
        """
        following: _Next | None = (0, None, 0, 0)
        while following is not None:
            if following[0] == len(self._steps):
                return True
            following = self._descend(following)
            if self._probe_at is not None and self._effort > self._probe_at:
                self._probe_at = None
                if self._is_impossible():
                    return False
        return False

    def picks(self) -> list[list[Pick]]:
        """For each claim its devices, in the order in which they were chosen."""
        result: list[list[Pick]] = [[] for _ in self._state.claims]
        for level in self._stack:
            if isinstance(level, _Device) and level.placement is not None:
                claim = self._steps[level.step].claim
                result[claim].append(Pick(level.slot.plan, level.placement.candidate, level.placement.amounts))
        return result

    def chosen(self) -> list[Slot]:
        """The alternative chosen for each request."""
        result = [step.slots[0] for step in self._steps]
        for level in self._stack:
            if isinstance(level, _Alternatives):
                result[level.step] = self._steps[level.step].slots[level.number]
        return result

    def _descend(self, following: _Next) -> _Next | None:
        """Take one step down, or back up to where another choice is left; None when there is none."""
        number, slot, index, cursor = following
        self.entries += 1
        if self.entries > self._budget:
            raise BudgetError
        step = self._steps[number]
        depth = len(self._stack)
        blame = 0
        key: object = None
        if slot is None:
            short = self._shortage(number)
            if short is not None:
                return self._retreat(number, short, exceeded=False)
            key = self._key(number, step.claim)
            if key is not None and key in self._dead:
                whole = (1 << depth) - 1
                own = self._dead[key]
                return self._retreat(number, whole & ~self._before_claim(step.claim) if own else whole, exceeded=False)
            if step.group.is_list:
                self._stack.append(_Alternatives(number, key))
                return self._retreat(number, 0, exceeded=False, fresh=True)
            slot = step.slots[0]
        if step.group.is_list or index:
            # Which alternative was taken, and where the device before was found, decide what can be found here.
            blame = 1 << (depth - 1)
        if slot.everything is not None and not slot.everything:
            return self._retreat(number, blame, exceeded=False)
        if index >= slot.number:
            return number + 1, None, 0, 0
        if slot.number - index > RESULTS_LIMIT - self._state.results[step.claim]:
            return self._retreat(number, self._choices_of(step.claim), exceeded=True)
        failed: dict[int, int] = {}
        if index and self._combinations:
            before = self._stack[-1]
            assert isinstance(before, _Device), "a device of the same request comes before"
            failed = {kind: mask | blame for kind, mask in before.failed.items()}
        level = _Device(number, slot, index, cursor, blame, failed, key)
        self._stack.append(level)
        return self._advance(level) or self._retreat(number, 0, exceeded=False)

    def _key(self, number: int, claim: int) -> object:
        """What the state before a request is like; None while it does not pay to know."""
        if self._effort < _EFFORT_BEFORE_SYMMETRY or not number or self._state.leaky:
            return None
        remembered = number < self._quiet
        if remembered and self._steps[number - 1].claim == claim:
            return None  # only a claim that has not begun is sure to know nothing of what was tried
        if self._symmetry is None:
            self._symmetry = Symmetry(self._steps, self._state)
        exact = remembered or not self._symmetry.usable
        return self._symmetry.key(number, claim, self._placements(), exact=exact)

    def _shortage(self, number: int) -> int | None:
        """The levels to blame if there are not devices enough for the requests that are left, else None."""
        if self._effort < _EFFORT_BEFORE_SYMMETRY:
            return None
        if not self._hazards.none(number, len(self._steps) - 1):
            return None
        if self._bounds is None:
            self._bounds = Bounds(self._steps, self._state)
        return self._bounds.blame(number, self._placements())

    def _placements(self) -> list[Placement]:
        return [level.placement for level in self._stack if isinstance(level, _Device) and level.placement is not None]

    def _advance(self, level: _Device) -> _Next | None:
        """Choose the next device that can be taken at a level; None if there is none left."""
        slot = level.slot
        claim = self._steps[level.step].claim
        depth = len(self._stack) - 1
        state = self._state
        if slot.everything is not None:
            level.placement = state.place(slot, claim, slot.everything[level.index], depth, level.index)
            if level.placement is None:
                level.blame |= state.blame
                return None
            first = state.rules.first_alternative
            return level.step, self._steps[level.step].slots[0] if first else slot, level.index + 1, 0
        candidates = slot.candidates
        owned = not slot.plan.admin
        while True:
            candidate = candidates.at(level.cursor)
            if candidate is None:
                self._blame_takers(level)
                return None
            level.cursor += 1
            if candidate.stop is not None:
                raise AttemptError(candidate.stop)
            if owned and state.is_in_use(candidate):
                continue
            if level.failed and self._is_hopeless(level, candidate):
                continue
            level.placement = state.place(slot, claim, candidate, depth, level.index)
            if level.placement is not None:
                return level.step, slot, level.index + 1, level.cursor if self._combinations else 0
            self._effort += 1
            if state.refusal == "taken" and self._knows_kinds(level):
                kind = self._kind(candidate)
                if kind in level.failed:
                    level.blame |= level.failed[kind]
                else:
                    level.taken[kind] = level.taken.get(kind, 0) | state.blame
                continue
            level.blame |= state.blame
            self._note_failure(level, candidate, state.blame)

    def _blame_takers(self, level: _Device) -> None:
        """Blame the levels that have devices the request could use, unless a free one like them has failed anyway.

        Taken devices in front of the one that failed count nevertheless if the request needs more devices, because
        those might be found between the two.
        """
        last = level.index == level.slot.number - 1
        for kind, mask in level.taken.items():
            other = level.failed.get(kind) if last else None
            fewer = other is not None and (other & ~level.blame).bit_count() < (mask & ~level.blame).bit_count()
            level.blame |= other if other is not None and fewer else mask

    def _is_hopeless(self, level: _Device, candidate: Candidate) -> bool:
        """Whether a device like this one has failed at this place."""
        if self._state.is_touched(candidate.device):
            return False
        mask = level.failed.get(self._kind(candidate))
        if mask is None:
            return False
        level.blame |= mask
        return True

    def _note_failure(self, level: _Device, candidate: Candidate, blame: int) -> None:
        """Remember that devices of this kind cannot serve the request from here on."""
        if self._effort < _EFFORT_BEFORE_SYMMETRY:
            return
        if self._symmetry is None:
            self._symmetry = Symmetry(self._steps, self._state)
        if self._knows_kinds(level) and not self._state.is_touched(candidate.device):
            level.failed[self._kind(candidate)] = blame

    def _knows_kinds(self, level: _Device) -> bool:
        """Whether devices of one kind are alike for the level and all that follows."""
        return self._symmetry is not None and self._symmetry.usable and level.step >= self._quiet

    def _kind(self, candidate: Candidate) -> int:
        assert self._symmetry is not None, "kinds are known"
        return self._symmetry.kind(candidate)

    def _retreat(self, origin: int, blame: int, *, exceeded: bool, fresh: bool = False) -> _Next | None:
        """Go back up to a level that can choose otherwise.

        Args:
            origin: the step that failed.
            blame: the levels to blame.
            exceeded: it failed because the claim would get too many devices, whatever the devices.
            fresh: nothing failed yet; the level on top has its first choice to make.
        """
        stack = self._stack
        claim = self._steps[origin].claim
        self._effort += 1
        if self._remembering[origin] and not fresh:
            blame = (1 << len(stack)) - 1
        while stack:
            level = stack[-1]
            step = self._steps[level.step]
            if step.claim != claim:
                claim, exceeded = step.claim, False
            bit = 1 << (len(stack) - 1)
            chose = not fresh and (isinstance(level, _Alternatives) or level.placement is not None)
            jump = chose and not exceeded and not blame & bit and self._may_skip(level.step, origin, blame)
            if isinstance(level, _Alternatives):
                following = self._next_alternative(level, blame & ~bit, exceeded=exceeded, fresh=fresh, jump=jump)
            else:
                following = self._next_device(level, blame & ~bit, exceeded=exceeded, jump=jump)
            fresh = False
            if following is not None:
                return following
            stack.pop()
            if isinstance(level, _Alternatives):
                exceeded = exceeded and level.all_exceeded
            if not jump:
                blame = level.blame
                if self._remembering[level.step]:
                    blame |= (1 << len(stack)) - 1
            if level.key is not None and not exceeded:
                self._dead[level.key] = not blame & self._before_claim(step.claim)
        if exceeded and claim == 0:
            # Only where an alternative goes on as another one can the smallest choice be too large.
            raise AttemptError("allocation max size exceeded")
        return None

    def _may_skip(self, step: int, origin: int, blame: int) -> bool:
        """Whether a level need not choose otherwise; where choices are remembered, only for the claim as a whole."""
        if not self._hazards.none(step, origin):
            return False
        return not self._remembering[step] or not blame & ~self._before_claim(self._steps[step].claim)

    def _next_alternative(
        self, level: _Alternatives, blame: int, *, exceeded: bool, fresh: bool, jump: bool
    ) -> _Next | None:
        level.blame |= blame
        if not exceeded and not fresh:
            level.all_exceeded = False
        level.number += 1
        slots = self._steps[level.step].slots
        if level.number < len(slots) and not jump:
            return level.step, slots[level.number], 0, 0
        return None

    def _next_device(self, level: _Device, blame: int, *, exceeded: bool, jump: bool) -> _Next | None:
        level.blame |= blame
        placement = level.placement
        if placement is None:
            return None
        self._state.undo(placement)
        level.placement = None
        if exceeded or jump or level.slot.everything is not None:
            return None
        self._note_failure(level, placement.candidate, blame)
        return self._advance(level)

    def _is_impossible(self) -> bool:
        """Whether the claims from some claim on, or a claim by itself, cannot be served even with nothing taken."""
        last = len(self._steps) - 1
        if not self._hazards.none(0, last):
            return False
        claims = sorted({step.claim for step in self._steps})
        parts = [[step for step in self._steps if step.claim == claim] for claim in claims]
        parts += [[step for step in self._steps if step.claim >= claim] for claim in reversed(claims[1:-1])]
        for part in parts:
            if len(part) == len(self._steps) or any(step.claim in self._state.remembering for step in part):
                continue
            try:
                if not Search(part, self._state.fresh(), _PROBE_BUDGET, probes=False).run():
                    return True
            except BudgetError:
                continue
        return False

    def _before_claim(self, claim: int) -> int:
        """The levels of earlier claims."""
        result = 0
        for depth, level in enumerate(self._stack):
            if self._steps[level.step].claim < claim:
                result |= 1 << depth
        return result

    def _choices_of(self, claim: int) -> int:
        """The levels at which alternatives of a claim were chosen."""
        result = 0
        for depth, level in enumerate(self._stack):
            if isinstance(level, _Alternatives) and self._steps[level.step].claim == claim:
                result |= 1 << depth
        return result
