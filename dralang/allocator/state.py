"""What is allocated already: dedicated devices, shares, and consumed capacity.

The state is a value; adding or removing one allocation makes a new one that shares all pools it does not touch.

Source: k8s.io/dynamic-resource-allocation structured/schedulerapi/types.go, kube-scheduler
dynamicresources/allocateddevices.go foreachAllocatedDevice.
"""

from collections.abc import Hashable, Iterable, Mapping

from dralang.allocator.prepared import PoolId
from dralang.allocator.profiles import AllocatorFeatures
from dralang.api.allocation import AllocationResult, DeviceRequestAllocationResult

ClaimName = str
"""``namespace/name``, or any other name under which the holder shall appear in explanations."""


class Share:
    """One claim's share of a device.

    Attributes:
        id: the share's ID.
        holder: whose it is.
        consumed: amounts in billionths by capacity.
    """

    __slots__ = ("consumed", "holder", "id")

    def __init__(self, id_: str, holder: ClaimName, consumed: Mapping[str, int]) -> None:
        self.id = id_
        self.holder = holder
        self.consumed = consumed


class PoolAllocations:
    """The allocations in one pool; INVARIANT: immutable but for what is remembered.

    Attributes:
        dedicated: holder by device name.
        shares: the shares of each shared device.
        consumed: sum of the consumed capacity by device and capacity; a device whose sum is zero is not in it.
        memo: results that depend on these allocations and a pool, remembered by whoever computes them.
    """

    __slots__ = ("_content", "consumed", "dedicated", "memo", "shares")

    def __init__(
        self,
        dedicated: Mapping[str, ClaimName],
        shares: Mapping[str, tuple[Share, ...]],
        consumed: Mapping[str, Mapping[str, int]],
    ) -> None:
        self.dedicated = dedicated
        self.shares = shares
        self.consumed = consumed
        self.memo: dict[object, object] = {}
        self._content: Hashable = None

    @property
    def content(self) -> Hashable:
        """Equal for allocations that leave the same to others; those with shares equal only themselves."""
        if self._content is None:
            self._content = self if self.shares or self.consumed else frozenset(self.dedicated)
        return self._content

    def devices(self) -> set[str]:
        """The names of all devices in use."""
        return {*self.dedicated, *self.shares, *self.consumed}


NOTHING = PoolAllocations({}, {}, {})
"""The allocations of a pool nobody uses. INVARIANT: its memo stays empty, see ``counters``."""


_LEAST_CHANGES = 16


class AllocatedState:
    """All allocations of a cluster.

    A state differs from the one before in a pool or two, and a cluster has thousands of pools. So each keeps what it
    shares with the earlier ones (`_settled`) apart from what changed since (`_changes`), and copies only the latter;
    when that has grown to the square root of all pools, it becomes what the next ones share.
    """

    __slots__ = ("_changes", "_settled", "features")

    def __init__(
        self,
        features: AllocatorFeatures,
        settled: Mapping[PoolId, PoolAllocations],
        changes: Mapping[PoolId, PoolAllocations],
    ) -> None:
        self.features = features
        self._settled = settled
        self._changes = changes

    @staticmethod
    def of(allocations: Iterable[tuple[ClaimName, AllocationResult]], features: AllocatorFeatures) -> "AllocatedState":
        """The state after these allocations, whose results may be written already or only assumed."""
        state = AllocatedState(features, {}, {})
        for holder, allocation in allocations:
            state = state.with_allocation(holder, allocation)
        return state

    def with_allocation(self, holder: ClaimName, allocation: AllocationResult) -> "AllocatedState":
        """The state with one more allocation."""
        changes = dict(self._changes)
        for id_, results in _by_pool(allocation).items():
            changes[id_] = self._added(self.pool(id_), holder, results)
        return self._with(changes)

    def without_allocation(self, allocation: AllocationResult) -> "AllocatedState":
        """The state with one allocation less.

        A device that two claims hold alone, which no scheduler writes, is free when the first one goes.
        """
        changes = dict(self._changes)
        for id_, results in _by_pool(allocation).items():
            if id_ in changes or id_ in self._settled:
                changes[id_] = self._removed(self.pool(id_), results)
        return self._with(changes)

    def _with(self, changes: dict[PoolId, PoolAllocations]) -> "AllocatedState":
        settled = self._settled
        count = len(changes)
        if count > _LEAST_CHANGES and count * count > len(settled):
            return AllocatedState(self.features, {**settled, **changes}, {})
        return AllocatedState(self.features, settled, changes)

    def pool(self, id_: PoolId) -> PoolAllocations:
        """The allocations in one pool."""
        found = self._changes.get(id_)
        return self._settled.get(id_, NOTHING) if found is None else found

    def pools(self) -> list[tuple[PoolId, PoolAllocations]]:
        """All pools in which something is or was in use, by driver and name."""
        return sorted({**self._settled, **self._changes}.items(), key=lambda entry: entry[0])

    def _is_share(self, result: DeviceRequestAllocationResult) -> bool:
        return result.share_id is not None and self.features.consumable_capacity

    def _added(
        self, pool: PoolAllocations, holder: ClaimName, results: Iterable[DeviceRequestAllocationResult]
    ) -> PoolAllocations:
        dedicated = dict(pool.dedicated)
        shares = dict(pool.shares)
        consumed = dict(pool.consumed)
        for result in results:
            name = result.device
            if not self._is_share(result):
                dedicated[name] = holder
                continue
            amounts = _amounts(result)
            shares[name] = (*shares.get(name, ()), Share(result.share_id or "", holder, amounts))
            if result.consumed_capacity is not None:
                total = dict(consumed.get(name, {}))
                for key, amount in amounts.items():
                    total[key] = total.get(key, 0) + amount
                consumed[name] = total
        return PoolAllocations(dedicated, shares, consumed)

    def _removed(self, pool: PoolAllocations, results: Iterable[DeviceRequestAllocationResult]) -> PoolAllocations:
        dedicated = dict(pool.dedicated)
        shares = dict(pool.shares)
        consumed = dict(pool.consumed)
        for result in results:
            name = result.device
            if not self._is_share(result):
                dedicated.pop(name, None)
                continue
            left = tuple(share for share in shares.get(name, ()) if share.id != result.share_id)
            shares[name] = left
            if not left:
                del shares[name]
            if name in consumed and result.consumed_capacity is not None:
                amounts = _amounts(result)
                total = {key: amount - amounts.get(key, 0) for key, amount in consumed[name].items()}
                consumed[name] = total
                if not any(total.values()):
                    del consumed[name]
        return PoolAllocations(dedicated, shares, consumed)


def _by_pool(allocation: AllocationResult) -> dict[PoolId, list[DeviceRequestAllocationResult]]:
    """The results that count, by pool; those with admin access do not."""
    pools: dict[PoolId, list[DeviceRequestAllocationResult]] = {}
    for result in allocation.devices.results:
        if not result.admin_access:
            pools.setdefault((result.driver, result.pool), []).append(result)
    return pools


def _amounts(result: DeviceRequestAllocationResult) -> dict[str, int]:
    return {key: quantity.nano for key, quantity in (result.consumed_capacity or {}).items()}
