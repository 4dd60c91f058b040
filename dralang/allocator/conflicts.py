"""Which requests cannot be served together, and what would have to give way.

The requests of an attempt are dropped one after the other as long as the rest stays impossible; what remains is a
conflict in which every request matters. Then each kind of resource is thought away in turn: the kinds without which
the conflict is gone are to blame, and the choice that could be made then says how much is missing.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from dralang.allocator.attempt_state import AttemptState, Placement
from dralang.allocator.capacity import amounts_for
from dralang.allocator.counters import charges
from dralang.allocator.explanation import Conflict, Shortage, shown_amount
from dralang.allocator.inventory import Candidate, Inventory, NodeView
from dralang.allocator.requests import AttemptError, ClaimPlan, RequestPlan, Step, bind, plan_claims
from dralang.allocator.results import Pick
from dralang.allocator.search import BudgetError, Search
from dralang.allocator.state import AllocatedState
from dralang.api.resourceclaim import ResourceClaim

_Amounts = dict[tuple[str, str, str, str], int]
"""Nano-units by driver, pool, the set or device, and the name of the counter or capacity."""


class _WithoutMarks(AttemptState):
    """Several requests may take one device."""

    def _is_taken(self, plan: RequestPlan, claim: int, device: object) -> bool:
        return False

    def _mark(self, placement: Placement) -> None:
        return


class _WithoutCounters(AttemptState):
    """There are counters enough, and all compatibility groups go together."""

    def _reserve(self, placement: Placement) -> bool:
        return True


class _WithoutCapacity(AttemptState):
    """There is capacity enough of every kind that a device has."""

    def _fits(self, plan: RequestPlan, claim: int, candidate: Candidate, doing: str) -> bool:
        return amounts_for(candidate.device, plan.capacity, self.profile).kind in {"", "size"}


class _Problem:
    """The claims of one attempt on one node, whole or with something thought away."""

    def __init__(self, inventory: Inventory, allocated: AllocatedState, view: NodeView, budget: int) -> None:
        self.inventory = inventory
        self.allocated = allocated
        self.view = view
        self.budget = budget

    def steps(self, plans: Sequence[ClaimPlan]) -> list[Step]:
        """The requests on the node."""
        return bind(plans, self.view, self.inventory.profile, self.allocated)

    def solve(
        self, plans: Sequence[ClaimPlan], steps: Sequence[Step], state: type[AttemptState] = AttemptState
    ) -> tuple[AttemptState, list[Pick]] | None:
        """A solution for some of the requests; None if there is none."""
        attempt = state(self.inventory, self.allocated, self.view.node, plans)
        search = Search(steps, attempt, self.budget)
        if not search.run():
            return None
        return attempt, [pick for picks in search.picks() for pick in picks]

    def attempt(
        self, plans: Sequence[ClaimPlan], steps: Sequence[Step], state: type[AttemptState] = AttemptState
    ) -> tuple[AttemptState, list[Pick]] | None:
        """A solution, None also if an error or the budget comes first."""
        try:
            return self.solve(plans, steps, state)
        except (AttemptError, BudgetError):
            return None


def find_conflicts(
    inventory: Inventory, allocated: AllocatedState, view: NodeView, claims: Sequence[ResourceClaim], budget: int
) -> tuple[Conflict, ...]:
    """The conflicts of an attempt without solution; none if an error or the budget gets in the way."""
    problem = _Problem(inventory, allocated, view, budget)
    plans = plan_claims(claims, inventory)
    try:
        steps = problem.steps(plans)
        if problem.solve(plans, steps) is not None:
            return ()
    except (AttemptError, BudgetError):
        return ()
    return _blame(problem, claims, plans, steps, _minimal(problem, plans, steps))


def _minimal(problem: _Problem, plans: Sequence[ClaimPlan], steps: Sequence[Step]) -> list[int]:
    """Numbers of requests that are impossible together, while any of them less would be possible."""
    core = list(range(len(steps)))
    for number in reversed(range(len(steps))):
        fewer = [other for other in core if other != number]
        try:
            possible = problem.solve(plans, [steps[other] for other in fewer]) is not None
        except (AttemptError, BudgetError):
            possible = True
        if not possible:
            core = fewer
    return core


def _blame(
    problem: _Problem,
    claims: Sequence[ResourceClaim],
    plans: Sequence[ClaimPlan],
    steps: Sequence[Step],
    core: Sequence[int],
) -> tuple[Conflict, ...]:
    chosen = [steps[number] for number in core]
    names = tuple(f"{plans[step.claim].label}: {step.group.api.name}" for step in chosen)
    conflicts: list[Conflict] = []
    for kind, state in (("devices", _WithoutMarks), ("counters", _WithoutCounters), ("capacity", _WithoutCapacity)):
        found = problem.attempt(plans, chosen, state)
        if found is not None:
            attempt, picks = found
            conflicts.append(_RESOURCES[kind](names, attempt, picks))
    conflicts += _constraints(problem, claims, plans, core, names)
    if conflicts:
        return tuple(conflicts)
    if len(chosen) == 1:
        text = f"no node-wide conflict: request {_listed(names)} does not find enough usable devices"
        return (Conflict(kind="count", requests=names, text=text.removeprefix("no node-wide conflict: ")),)
    text = f"requests {_listed(names)} cannot be served together, for more than one reason"
    return (Conflict(kind="combined", requests=names, text=text),)


def _devices(names: tuple[str, ...], attempt: AttemptState, picks: Sequence[Pick]) -> Conflict:
    users: dict[tuple[str, str, str], int] = {}
    for pick in picks:
        if not pick.candidate.device.shareable:
            users[pick.candidate.device.id] = users.get(pick.candidate.device.id, 0) + 1
    shortages = tuple(
        Shortage(kind="device", driver=id_[0], pool=id_[1], where=id_[2]) for id_, number in users.items() if number > 1
    )
    contested = ", ".join(f"`{'/'.join((each.driver, each.pool, each.where))}`" for each in shortages)
    what = f"want the same device {contested}" if contested else "want the same devices"
    text = f"requests {_listed(names)} {what}" if len(names) > 1 else f"request {_listed(names)} has too few devices"
    return Conflict(kind="devices", requests=names, text=text, shortages=shortages)


def _lacking(
    kind: Literal["counter", "capacity"], owner: str, needs: _Amounts, free: _Amounts
) -> tuple[tuple[Shortage, ...], str]:
    """What is needed beyond what is free: as data, and said."""
    shortages = []
    said = []
    for key, amount in needs.items():
        if amount <= free[key]:
            continue
        driver, pool, where, name = key
        needed, left = shown_amount(amount), shown_amount(free[key])
        shortages.append(Shortage(kind=kind, driver=driver, pool=pool, where=where, name=name, needs=needed, free=left))
        short = shown_amount(needed.nano - left.nano)
        said.append(f"{kind} `{name}` of {owner} `{where}` is short by {short} (needs {needed}, has {left})")
    return tuple(shortages), "; ".join(said)


def _counters(names: tuple[str, ...], attempt: AttemptState, picks: Sequence[Pick]) -> Conflict:
    needs: _Amounts = {}
    free: _Amounts = {}
    seen: set[object] = set()
    for pick in picks:
        device = pick.candidate.device
        if device.shareable and device in seen:
            continue
        seen.add(device)
        for (counter_set, name), amount in charges(device):
            key = (device.id[0], device.id[1], counter_set, name)
            needs[key] = needs.get(key, 0) + amount
            free[key] = attempt.account(pick.candidate).baseline.free.get((counter_set, name), amount)
    shortages, lacking = _lacking("counter", "set", needs, free)
    what = lacking or "their compatibility groups do not go together"
    return Conflict(kind="counters", requests=names, text=f"for {_listed(names)}, {what}", shortages=shortages)


def _capacity(names: tuple[str, ...], attempt: AttemptState, picks: Sequence[Pick]) -> Conflict:
    needs: _Amounts = {}
    free: _Amounts = {}
    for pick in picks:
        device = pick.candidate.device
        persisted = attempt.allocations(pick.candidate.pool).consumed.get(device.id[2], {})
        for name, amount, _ in amounts_for(device, pick.plan.capacity, attempt.profile).taken:
            key = (*device.id, name)
            needs[key] = needs.get(key, 0) + amount
            free[key] = device.api.capacity[name].value.nano - persisted.get(name, 0)
    shortages, lacking = _lacking("capacity", "device", needs, free)
    return Conflict(kind="capacity", requests=names, text=f"for {_listed(names)}, {lacking}", shortages=shortages)


_RESOURCES = {"devices": _devices, "counters": _counters, "capacity": _capacity}


def _constraints(
    problem: _Problem,
    claims: Sequence[ResourceClaim],
    plans: Sequence[ClaimPlan],
    core: Sequence[int],
    names: tuple[str, ...],
) -> list[Conflict]:
    """The constraints without which the requests could be served."""
    conflicts = []
    for number, claim in enumerate(claims):
        constraints = claim.spec.devices.constraints
        for index, constraint in enumerate(constraints):
            devices = replace(claim.spec.devices, constraints=(*constraints[:index], *constraints[index + 1 :]))
            without = replace(claim, spec=replace(claim.spec, devices=devices))
            others = plan_claims([*claims[:number], without, *claims[number + 1 :]], problem.inventory)
            steps = problem.steps(others)
            found = problem.attempt(others, [steps[other] for other in core])
            if found is None:
                continue
            name = constraint.match_attribute or constraint.distinct_attribute or ""
            kind = "matchAttribute" if constraint.match_attribute is not None else "distinctAttribute"
            text = f"constraint #{index} of claim `{plans[number].label}` ({kind} `{name}`) cannot be met"
            values = _values(found[1], name)
            conflicts.append(
                Conflict(
                    kind="constraint",
                    requests=names,
                    text=f"{text}: {values}" if values else text,
                    constraint=index,
                    attribute=name,
                )
            )
    return conflicts


def _values(picks: Sequence[Pick], name: str) -> str:
    """The values of the devices that would be chosen without the constraint."""
    shown = []
    for pick in picks:
        attribute = pick.candidate.device.attribute(name)
        value = "unset"
        if attribute is not None:
            given = [getattr(attribute, field) for field in attribute.__struct_fields__]
            value = next((str(each) for each in given if each is not None), "without value")
        shown.append(f"`{pick.candidate.device.id[2]}` has {value}")
    return ", ".join(shown)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
