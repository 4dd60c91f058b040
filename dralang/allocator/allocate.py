"""Allocation of a pod's claims on a node.

``allocate`` answers one question; ``Attempt`` prepares the claims of a pod once and answers it for many nodes.

Source: k8s.io/dynamic-resource-allocation structured/allocator.go.
"""

from collections.abc import Iterable, Sequence

from dralang.allocator.attempt_state import AttemptState
from dralang.allocator.inventory import Inventory, NodeView
from dralang.allocator.outcome import Allocated, FatalError, GaveUp, NodeError, Outcome, Unallocatable
from dralang.allocator.prepared import PoolId
from dralang.allocator.requests import AttemptError, ClaimPlan, bind, plan_claims, signature_number
from dralang.allocator.results import build_result
from dralang.allocator.search import BudgetError, Search
from dralang.allocator.state import AllocatedState
from dralang.api.nodes import Node
from dralang.api.resourceclaim import ResourceClaim

DEFAULT_BUDGET = 100_000
"""Steps of the search before it gives up."""
_MANY_POOLS = 8
_REMEMBERED = 64
"""Outcomes that a node remembers."""


def share_id(number: int) -> str:
    """The ID of the share with that number; real ones are random."""
    return f"00000000-0000-4000-8000-{number:012d}"


class Attempt:
    """The claims of one pod, to be allocated together on some node.

    Attributes:
        inventory: slices and classes.
        state: what is in use.
        claims: those that are to be allocated.
    """

    __slots__ = ("_budget", "_key", "_plans", "_used", "claims", "inventory", "state")

    def __init__(
        self,
        inventory: Inventory,
        state: AllocatedState,
        claims: Iterable[ResourceClaim],
        budget: int = DEFAULT_BUDGET,
    ) -> None:
        """Read the claims.

        Args:
            inventory: slices and classes.
            state: what is in use.
            claims: those that have no allocation yet, in the order of the pod.
            budget: steps of the search on one node before it gives up.
        """
        self.inventory = inventory
        self.state = state
        self.claims = tuple(claims)
        self._plans: tuple[ClaimPlan, ...] | None = None
        self._used: dict[tuple[PoolId, ...], tuple[object, ...]] = {}
        self._budget = budget
        numbers = tuple([signature_number(inventory, claim) for claim in self.claims])
        self._key: object = None if None in numbers else (budget, numbers)

    @property
    def plans(self) -> tuple[ClaimPlan, ...]:
        """The claims as the search reads them."""
        if self._plans is None:
            self._plans = plan_claims(self.claims, self.inventory)
        return self._plans

    def on(self, node: Node, first_share: int = 1) -> Outcome:
        """The outcome on one node.

        Args:
            node: the node.
            first_share: number of the first share, see ``share_id``.
        """
        view = self.inventory.view(node)
        if view.error is not None:
            return FatalError(f"gather pool information: {view.error.message}")
        if self._key is None:
            return self._search(node, view, first_share)
        # The answer depends on the claims' specifications, the pools that the node sees, what is in use in them, and
        # what the node declares; attempts that agree in all of them need not search again.
        key = (self._key, node.status.declared_features, self._contents(view))
        known = view.memo.get(key)
        if known is not None:
            assert isinstance(known, Allocated | Unallocatable), "nothing else is remembered"
            return known
        outcome = self._search(node, view, first_share)
        if isinstance(outcome, Unallocatable) or (isinstance(outcome, Allocated) and not outcome.shares):
            if len(view.memo) >= _REMEMBERED:
                view.memo.clear()
            view.memo[key] = outcome
        return outcome

    def _contents(self, view: NodeView) -> tuple[object, ...]:
        """What is in use in the pools of a node; looked up once for nodes that see the same many pools."""
        pool, ids = self.state.pool, view.pool_ids
        if len(ids) < _MANY_POOLS:
            return tuple([pool(each).content for each in ids])
        known = self._used.get(ids)
        if known is None:
            known = self._used[ids] = tuple([pool(each).content for each in ids])
        return known

    def _search(self, node: Node, view: NodeView, first_share: int) -> Outcome:
        profile = self.inventory.profile
        plans = self.plans
        try:
            steps = bind(plans, view, profile, self.state)
            state = AttemptState(self.inventory, self.state, node, plans)
            search = Search(steps, state, self._budget)
            if search.run():
                return self._allocated(search, plans, node, first_share)
        except AttemptError as error:
            if error.node_only:
                return NodeError(error.message)
            return FatalError(error.message, error.quirk if profile.has(error.quirk) else "")
        except BudgetError:
            return GaveUp(self._budget)
        if any(pool.invalid for pool in view.bad_pools) and "skipped bad pools" not in profile.lacks:
            return NodeError("invalid resource pools were encountered")
        return Unallocatable()

    def _allocated(self, search: Search, claims: Sequence[ClaimPlan], node: Node, first_share: int) -> Allocated:
        number = first_share

        def next_share() -> str:
            nonlocal number
            number += 1
            return share_id(number - 1)

        chosen = search.chosen()
        results = []
        start = 0
        for plan, picks in zip(claims, search.picks(), strict=True):
            end = start + len(plan.requests)
            plans = [slot.plan for slot in chosen[start:end]]
            results.append(build_result(plan, plans, picks, node, self.inventory.profile, next_share))
            start = end
        return Allocated(tuple(results), shares=number - first_share)


def allocate(
    inventory: Inventory,
    state: AllocatedState,
    node: Node,
    claims: Iterable[ResourceClaim],
    budget: int = DEFAULT_BUDGET,
    first_share: int = 1,
) -> Outcome:
    """Allocate claims together on a node: a result for each, or nothing.

    Args:
        inventory: slices and classes, prepared for a version and its gates.
        state: what is in use; see ``AllocatedState.of``.
        node: the node to try.
        claims: those that have no allocation yet, in the order of the pod.
        budget: steps of the search before it gives up.
        first_share: number of the first share, see ``share_id``.
    """
    return Attempt(inventory, state, claims, budget).on(node, first_share)
