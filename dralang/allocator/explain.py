"""Explanations, computed only when asked for.

Each device is tried for each request by the very rules of the search, in a state in which nothing is taken yet; the
rule that refuses is then asked for what it saw.

Source: the rules, see ``attempt_state``.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from dralang.allocator.allocate import DEFAULT_BUDGET, allocate
from dralang.allocator.attempt_state import AttemptState
from dralang.allocator.capacity import amounts_for, exhausted
from dralang.allocator.conflicts import find_conflicts
from dralang.allocator.counters import charges
from dralang.allocator.explanation import (
    ClaimExplanation,
    Conflict,
    DeviceVerdict,
    Explanation,
    Obstacle,
    PoolNote,
    QuirkEffect,
    RequestExplanation,
    Rule,
    shown_amount,
)
from dralang.allocator.inventory import Candidate, Inventory, NodeView
from dralang.allocator.node_selection import NodeSelectorError, node_matches
from dralang.allocator.outcome import Allocated, GaveUp, NodeError, Outcome, Unallocatable
from dralang.allocator.pools import GatherError, Pool
from dralang.allocator.prepared import SelectorFailure, SliceDevice
from dralang.allocator.quirks import QUIRKS
from dralang.allocator.requests import AttemptError, ClaimPlan, RequestPlan, Slot, plan_claims
from dralang.allocator.state import AllocatedState, PoolAllocations
from dralang.allocator.taints import untolerated
from dralang.api.expressions import DecidingPart, ExplainingExpressions
from dralang.api.nodes import Node
from dralang.api.resourceclaim import ResourceClaim

_QUESTION_BUDGET = 5_000
"""Steps of each search that only serves the explanation."""


def explain(
    inventory: Inventory,
    state: AllocatedState,
    node: Node,
    claims: Iterable[ResourceClaim],
    budget: int = DEFAULT_BUDGET,
) -> Explanation:
    """Why the claims are allocated as they are on the node, or why they are not.

    Args:
        inventory: slices and classes.
        state: what is in use.
        node: the node to try.
        claims: those that have no allocation yet.
        budget: steps of the search; conflicts and quirks that take much longer to find out are left out.
    """
    wanted = tuple(claims)
    outcome = allocate(inventory, state, node, wanted, budget)
    # What follows asks many times; a question that takes long is not worth its answer.
    budget = min(budget, _QUESTION_BUDGET)
    view = inventory.view(node)
    plans = plan_claims(wanted, inventory)
    conflicts: tuple[Conflict, ...] = ()
    if isinstance(outcome, Unallocatable | NodeError):
        conflicts = find_conflicts(inventory, state, view, wanted, budget)
    return Explanation(
        node=node.metadata.name,
        outcome=outcome,
        pools=_pool_notes(inventory, view),
        claims=tuple(_explain_claim(number, plans, inventory, state, view) for number in range(len(plans))),
        conflicts=conflicts,
        quirks=_quirk_effects(inventory, state, node, wanted, outcome, budget),
    )


def _explain_claim(
    number: int, plans: Sequence[ClaimPlan], inventory: Inventory, state: AllocatedState, view: NodeView
) -> ClaimExplanation:
    plan = plans[number]
    requests = []
    for group in plan.requests:
        for alternative in group.alternatives:
            problem = group.problem or alternative.problem or plan.problem
            devices: tuple[DeviceVerdict, ...] = ()
            if alternative.class_ is not None:
                judge = _Judge(number, plans, alternative, inventory, state, view)
                devices = tuple(judge.verdict(device, pool) for device, pool in view.devices)
            matching = sum(verdict.obstacle is None or _is_late(verdict.obstacle) for verdict in devices)
            wants = matching if alternative.takes_all else alternative.count
            requests.append(RequestExplanation(alternative.full_name, wants, alternative.takes_all, problem, devices))
    return ClaimExplanation(plan.label, tuple(requests))


_EARLY: frozenset[Rule] = frozenset(
    {"binding-conditions-gate", "selector", "selector-error", "node", "capacity-missing", "capacity-policy"}
)


def _is_late(obstacle: Obstacle) -> bool:
    """Whether the device belongs to what mode All takes, so that the obstacle makes all of it fail."""
    return obstacle.rule not in _EARLY


class _Judge:
    """Tries devices for one request."""

    def __init__(
        self,
        claim: int,
        plans: Sequence[ClaimPlan],
        plan: RequestPlan,
        inventory: Inventory,
        state: AllocatedState,
        view: NodeView,
    ) -> None:
        self._claim = claim
        self._plans = plans
        self._plan = plan
        self._profile = inventory.profile
        self._inventory = inventory
        self._state = state
        self._view = view
        self._slot = Slot(plan, view)
        self._attempt = AttemptState(inventory, state, view.node, plans)
        self._expressions = inventory.expressions

    def verdict(self, device: SliceDevice, pool: Pool) -> DeviceVerdict:
        """What keeps the device from the request, if anything."""
        obstacle = self._before_search(device) or self._in_search(Candidate(device, pool, None, by_class=False))
        return DeviceVerdict(device.id, obstacle)

    def _before_search(self, device: SliceDevice) -> Obstacle | None:
        if device.excluded:
            text = "has binding conditions, and their feature gate is off"
            return Obstacle(rule="binding-conditions-gate", text=text)
        plan = self._plan
        class_ = plan.class_
        assert class_ is not None, "a request without class is not judged"
        for owner, selectors in (
            (f"class {class_.name}", class_.selectors),
            (f"claim {self._plans[self._claim].label}", plan.selectors),
        ):
            for index, text in enumerate(selectors):
                obstacle = self._selector(device, owner, index, text)
                if obstacle is not None:
                    return obstacle
        return self._node(device)

    def _selector(self, device: SliceDevice, owner: str, index: int, text: str) -> Obstacle | None:
        verdict = device.satisfies((text,))
        if verdict is True:
            return None
        if isinstance(verdict, SelectorFailure):
            return Obstacle(
                rule="selector-error",
                text=f"selector #{index} of {owner} fails: {verdict.message}",
                owner=owner,
                index=index,
                expression=text,
            )
        parts: tuple[DecidingPart, ...] = ()
        if isinstance(self._expressions, ExplainingExpressions):
            parts = self._expressions.deciding_parts(text, device.prepared())
        because = "".join(
            (f", because of `{part}`" if part != text else "") + (f" ({', '.join(found)})" if found else "")
            for part, found in parts
        )
        return Obstacle(
            rule="selector",
            text=f"selector #{index} of {owner} is false: `{text}`{because}",
            owner=owner,
            index=index,
            expression=text,
            parts=tuple(part for part, _ in parts),
            found=tuple(each for _, found in parts for each in found),
        )

    def _node(self, device: SliceDevice) -> Obstacle | None:
        if not device.home.api.spec.per_device_node_selection:
            return None
        api = device.api
        try:
            if node_matches(self._view.node, api.node_name, api.node_selector, all_nodes=api.all_nodes):
                return None
        except NodeSelectorError as error:
            return Obstacle(rule="node", text=f"its node selector cannot be used: {error}")
        return Obstacle(rule="node", text=f"is not available on node `{self._view.node.metadata.name}`")

    def _in_search(self, candidate: Candidate) -> Obstacle | None:
        plan = self._plan
        if self._attempt.leaky:
            # Each device is judged as if the request were alone, whatever earlier refusals have kept.
            self._attempt = AttemptState(self._inventory, self._state, self._view.node, self._plans)
        attempt = self._attempt
        if self._profile.features.consumable_capacity and (plan.takes_all or plan.capacity):
            early = self._capacity(candidate)
            if early is not None and (not plan.takes_all or early.rule in _EARLY):
                return self._first_of(candidate, early)
        try:
            placement = attempt.place(self._slot, self._claim, candidate, 0, 0)
        except AttemptError as error:
            # An error leaves the state as it was in the middle.
            self._attempt = AttemptState(self._inventory, self._state, self._view.node, self._plans)
            self._attempt.constraint = attempt.constraint
            if error.quirk == "all-constraint-is-fatal":
                return self._constraint(candidate)
            rule: Rule = "capacity-error" if "capacity for device" in error.message else "attribute-error"
            return Obstacle(rule=rule, text=error.message)
        if placement is not None:
            attempt.undo(placement)
            return None
        return self._refused(candidate)

    def _first_of(self, candidate: Candidate, capacity: Obstacle) -> Obstacle:
        """Being in use is looked at before capacity."""
        allocations = self._attempt.allocations(candidate.pool)
        if not self._plan.admin and candidate.device.id[2] in allocations.dedicated:
            return _in_use(candidate, allocations)
        return capacity

    def _refused(self, candidate: Candidate) -> Obstacle:
        allocations = self._attempt.allocations(candidate.pool)
        name = candidate.device.id[2]
        match self._attempt.refusal:
            case "in use" | "taken":
                return _in_use(candidate, allocations)
            case "shares":
                holders = _share_holders(allocations, name)
                return Obstacle(
                    rule="shares",
                    text=f"is no longer shared, but shares of it are still held by {_listed(holders)}",
                    holders=holders,
                )
            case "capacity":
                return self._capacity(candidate) or Obstacle(rule="capacity-error", text="its capacity does not fit")
            case "operations":
                return self._operations()
            case "partitions":
                text = "consumes counters, and feature gate DRAPartitionableDevices is off"
                return Obstacle(rule="partitions-gate", text=text)
            case "groups":
                return self._groups(candidate)
            case "blocked" | "counters":
                return self._counters(candidate)
            case "taint":
                return self._taint(candidate)
            case _:
                return self._constraint(candidate)

    def _capacity(self, candidate: Candidate) -> Obstacle | None:
        device = candidate.device
        amounts = amounts_for(device, self._plan.capacity, self._profile)
        if amounts.error:
            return Obstacle(rule="capacity-error", text=amounts.error)
        if amounts.kind == "missing":
            return Obstacle(rule="capacity-missing", text=amounts.refusal, name=amounts.capacity)
        if amounts.kind == "policy":
            text = f"the policy of capacity `{amounts.capacity}` refuses the request: {amounts.refusal}"
            return Obstacle(rule="capacity-policy", text=text, name=amounts.capacity)
        allocations = self._attempt.allocations(candidate.pool)
        persisted = allocations.consumed.get(device.id[2], {})
        name = exhausted(device, amounts, persisted, {})
        if name is None:
            return None
        needs = next(quantity for key, _, quantity in amounts.taken if key == name)
        total = device.api.capacity[name].value
        free = shown_amount(total.nano - persisted.get(name, 0))
        holders = _share_holders(allocations, device.id[2])
        used = f", the rest is consumed by {_listed(holders)}" if holders else ""
        why = " (all of it, because the request names no amount)" if needs == total and not self._plan.capacity else ""
        return Obstacle(
            rule="capacity-short",
            text=f"has {free} of {total} of capacity `{name}` left, {needs} is needed{why}{used}",
            name=name,
            needs=needs,
            free=free,
            holders=holders,
        )

    def _operations(self) -> Obstacle:
        if not self._profile.features.optional_node_operations:
            text = "its slice has skipNodeOperations, and feature gate DRAOptionalNodeOperations is off"
        else:
            text = "its slice has skipNodeOperations, and the node does not declare DRAOptionalNodeOperations"
        return Obstacle(rule="node-operations", text=text)

    def _groups(self, candidate: Candidate) -> Obstacle:
        account = self._attempt.account(candidate)
        for consumption in candidate.device.consumes:
            state = account.groups.get(consumption.counter_set)
            if state is not None and not state.admits(consumption.groups):
                mine = _listed(sorted(consumption.groups)) if consumption.groups else "no group"
                theirs = _listed(sorted(state.common)) if state.common else "no group"
                return Obstacle(
                    rule="groups",
                    text=f"its compatibility groups ({mine}) on counter set `{consumption.counter_set}` do not fit "
                    f"those of the devices in use ({theirs})",
                    counter_set=consumption.counter_set,
                    holders=self._counter_users(candidate, consumption.counter_set),
                )
        raise AssertionError("some counter set refused the groups")

    def _counters(self, candidate: Candidate) -> Obstacle:
        free = self._attempt.account(candidate).baseline
        wanted: dict[tuple[str, str], int] = {}
        for counter, amount in charges(candidate.device):
            wanted[counter] = wanted.get(counter, 0) + amount
        for (counter_set, name), amount in wanted.items():
            left = free.free.get((counter_set, name))
            if left is not None and amount > left:
                needs, rest = shown_amount(amount), shown_amount(left)
                users = self._counter_users(candidate, counter_set)
                used = f", the rest is used through {_listed(users)}" if users else ""
                return Obstacle(
                    rule="counter-short",
                    text=f"needs {needs} of counter `{name}` of set `{counter_set}`, {rest} is left{used}",
                    counter_set=counter_set,
                    name=name,
                    needs=needs,
                    free=rest,
                    holders=users,
                )
        counter_set, name = free.blocked[0]
        rest = shown_amount(free.free[free.blocked[0]])
        return Obstacle(
            rule="counter-overcommitted",
            text=f"counter `{name}` of set `{counter_set}` is over-committed ({rest}), "
            "which blocks every device of the pool that consumes counters",
            counter_set=counter_set,
            name=name,
            free=rest,
            holders=self._counter_users(candidate, counter_set),
        )

    def _counter_users(self, candidate: Candidate, counter_set: str) -> tuple[str, ...]:
        """The claims that hold devices on the counter set."""
        allocations = self._attempt.allocations(candidate.pool)
        users: set[str] = set()
        for device in (*candidate.pool.devices, *candidate.pool.elsewhere):
            name = device.id[2]
            if any(consumption.counter_set == counter_set for consumption in device.consumes):
                if name in allocations.dedicated:
                    users.add(allocations.dedicated[name])
                users.update(_share_holders(allocations, name))
        return tuple(sorted(users))

    def _taint(self, candidate: Candidate) -> Obstacle:
        taint = untolerated(candidate.device, self._plan.tolerations)
        assert taint is not None, "some taint refused the device"
        value = f"={taint.value}" if taint.value else ""
        return Obstacle(
            rule="taint",
            text=f"has taint `{taint.key}{value}:{taint.effect}`, which the request does not tolerate",
            name=taint.key,
            value=taint.value,
            effect=taint.effect,
        )

    def _constraint(self, candidate: Candidate) -> Obstacle:
        """Alone, a device can only fail a constraint for want of the attribute."""
        index = self._attempt.constraint
        constraint = self._plans[self._claim].api.spec.devices.constraints[index]
        name = constraint.match_attribute or constraint.distinct_attribute or ""
        return Obstacle(
            rule="attribute-missing",
            text=f"has no usable attribute `{name}`, which constraint #{index} of the claim compares",
            index=index,
            name=name,
        )


def _in_use(candidate: Candidate, allocations: PoolAllocations) -> Obstacle:
    holder = allocations.dedicated.get(candidate.device.id[2], "")
    return Obstacle(rule="in-use", text=f"is in use by {_listed((holder,))}", holders=(holder,))


def _share_holders(allocations: PoolAllocations, name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(share.holder for share in allocations.shares.get(name, ())))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _pool_notes(inventory: Inventory, view: NodeView) -> tuple[PoolNote, ...]:
    notes = [
        PoolNote(*pool.id, "incomplete" if pool.state == "incomplete" else "invalid", pool.reason)
        for pool in view.bad_pools
    ]
    seen = {pool.id for pool in view.pools}
    for group in inventory.groups_for(view.node):
        if group.id in seen:
            continue
        try:
            relevant = group.relevant(view.node)
        except GatherError:
            continue
        if relevant:
            newest = max(slice_.generation for _, slice_ in group.placed)
            text = f"generation {relevant[0][1].generation} is replaced by {newest}, which has nothing for this node"
            notes.append(PoolNote(*group.id, "obsolete", text))
        elif any(group.ignores(slice_) for _, slice_ in group.placed):
            text = "its slices use a feature whose gate is off"
            notes.append(PoolNote(*group.id, "hidden", text))
    return tuple(notes)


def _quirk_effects(
    inventory: Inventory,
    state: AllocatedState,
    node: Node,
    claims: Sequence[ResourceClaim],
    outcome: Outcome,
    budget: int,
) -> tuple[QuirkEffect, ...]:
    """The quirks without each of which the outcome were another."""
    effects: list[QuirkEffect] = []
    if isinstance(outcome, GaveUp):
        return ()
    profile = inventory.profile
    for name in sorted(profile.quirks):
        without = inventory.with_profile(replace(profile, quirks=profile.quirks - {name}), node)
        other = allocate(without, state, node, claims, budget)
        if not isinstance(other, GaveUp) and not _is_same(outcome, other):
            quirk = QUIRKS[name]
            effects.append(QuirkEffect(name, quirk.effect, quirk.source, other))
    return tuple(effects)


def _is_same(outcome: Outcome, other: Outcome) -> bool:
    if isinstance(outcome, Allocated) and isinstance(other, Allocated):
        return outcome.results == other.results
    return type(outcome) is type(other)
