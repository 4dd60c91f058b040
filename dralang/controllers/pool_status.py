"""The pool status controller: answers requests about what drivers publish and what of it is in use.

Source: kubernetes pkg/controller/resourcepoolstatusrequest/controller.go.
"""

from collections.abc import Sequence
from typing import Literal, TypeAlias

from msgspec.structs import replace

from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.meta import Condition
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourcepoolstatusrequest import (
    PoolStatus,
    ResourcePoolStatusRequest,
    ResourcePoolStatusRequestStatus,
)
from dralang.api.resourceslice import Device, ResourceSlice
from dralang.cluster.errors import ApiError
from dralang.cluster.store import ObjectStore, WatchEvent
from dralang.cluster.taint_rules import selects
from dralang.cluster.timestamps import format_time, parse_time
from dralang.controllers.controller import Controller
from dralang.controllers.pool_views import PoolInput, pool_views
from dralang.features import FeatureGates
from dralang.values.quantity import Quantity

Item: TypeAlias = tuple[Literal["answer", "sweep"], str]

DEFAULT_LIMIT = 100
MOST_RETRIES = 5
FIRST_RETRY = 5
SWEEP = 10 * 60_000
ANSWER_LIFETIME = 60 * 60_000
QUESTION_LIFETIME = 24 * 60 * 60_000
_MOST_BYTES = 256
_INCOMPLETE = "PoolIncomplete:"


class PoolStatusController(Controller[Item]):
    """Answers each request once; an item is the name of a request to answer, or to delete when it is old."""

    name = "resourcepoolstatusrequest-controller"

    def __init__(self, store: ObjectStore, features: FeatureGates) -> None:
        super().__init__(store)
        self._uses_rules = features.enabled("DRADeviceTaintRules")
        self._retries: dict[str, int] = {}
        store.subscribe(self.name, self.phase, (ResourcePoolStatusRequest,), self._on_request)

    def start(self) -> None:
        """Look at all requests."""
        for request in self.store.objects(ResourcePoolStatusRequest):
            self._on_request(WatchEvent(ResourcePoolStatusRequest, None, request))

    def forget(self) -> None:
        """Forget how often each request was tried."""
        self._retries.clear()

    def _on_request(self, event: WatchEvent) -> None:
        request: ResourcePoolStatusRequest | None = event.new
        if request is None:
            self._retries.pop(event.old.metadata.uid, None)
            return
        if request.status is None:
            self.enqueue(("answer", request.metadata.name))
        self._plan_sweep(request)

    def _sweep_time(self, request: ResourcePoolStatusRequest) -> int:
        """When the sweep that finds the request too old comes by."""
        since = parse_time(request.metadata.creation_timestamp or format_time(0))
        end = since + QUESTION_LIFETIME
        if request.status is not None:
            dates = [each.last_transition_time for each in request.status.conditions if each.last_transition_time]
            end = max((parse_time(each) for each in dates), default=since) + ANSWER_LIFETIME
        return (end // SWEEP + 1) * SWEEP

    def _plan_sweep(self, request: ResourcePoolStatusRequest) -> None:
        delay = max(0, self._sweep_time(request) - self.events.now)
        self.enqueue(("sweep", request.metadata.name), delay, far=True)

    def sync(self, item: Item) -> None:
        """Answer a request, or delete it."""
        what, name = item
        request = self.store.get(ResourcePoolStatusRequest, "", name)
        if request is None:
            return
        if what == "sweep":
            if self._sweep_time(request) > self.events.now:
                self._plan_sweep(request)
                return
            self.store.delete(ResourcePoolStatusRequest, "", name, uid=request.metadata.uid)
            return
        if request.status is not None:
            return
        status = self.answer(request)
        if any((pool.validation_error or "").startswith(_INCOMPLETE) for pool in status.pools):
            # Drivers get a moment to publish the rest; after that the request is left without an answer.
            tried = self._retries[request.metadata.uid] = self._retries.get(request.metadata.uid, 0) + 1
            if tried <= MOST_RETRIES:
                self.enqueue(item, FIRST_RETRY << (tried - 1))
            return
        written = self.store.update_status(replace(request, status=status))
        if isinstance(written, ApiError):
            self.enqueue(item, FIRST_RETRY)
        else:
            self.record("ResourcePoolStatusRequest", "", name, "Complete", status.conditions[0].message)

    def answer(self, request: ResourcePoolStatusRequest) -> ResourcePoolStatusRequestStatus:
        """The status of all pools that the request asks for."""
        wanted = request.spec.pool_name
        pools: dict[str, list[ResourceSlice]] = {}
        for slice_ in self.store.objects(ResourceSlice):
            if slice_.spec.driver == request.spec.driver and (not wanted or slice_.spec.pool.name == wanted):
                pools.setdefault(slice_.spec.pool.name, []).append(slice_)
        statuses = [self._pool(name, pools[name], request) for name in sorted(pools)]
        limit = request.spec.limit if request.spec.limit is not None else DEFAULT_LIMIT
        shown = tuple(statuses[:limit])
        message = f"Calculated status for {len(shown)} pools"
        faulty = sum(pool.validation_error is not None for pool in shown)
        if faulty:
            message += f" ({faulty} incomplete)"
        complete = Condition(
            type="Complete",
            status="True",
            reason="CalculationComplete",
            message=message,
            last_transition_time=format_time(self.events.now),
        )
        return ResourcePoolStatusRequestStatus(pool_count=len(statuses), pools=shown, conditions=(complete,))

    def _pool(self, name: str, slices: Sequence[ResourceSlice], request: ResourcePoolStatusRequest) -> PoolStatus:
        driver = request.spec.driver
        generation = max(slice_.spec.pool.generation for slice_ in slices)
        slices = [slice_ for slice_ in slices if slice_.spec.pool.generation == generation]
        nodes = {slice_.spec.node_name or "" for slice_ in slices}
        node_name = nodes.pop() or None if len(nodes) == 1 else None
        expected = slices[0].spec.pool.resource_slice_count
        if len(slices) < expected:
            text = (
                f"{_INCOMPLETE} pool {driver}/{name} is incomplete: observed {len(slices)}/{expected} slices at "
                f"generation {generation}"
            )
            return PoolStatus(
                driver=driver, pool_name=name, generation=generation, node_name=node_name, validation_error=_cut(text)
            )
        devices = [
            (device, slice_.spec.partition_type_attribute or "") for slice_ in slices for device in slice_.spec.devices
        ]
        in_use, consumed = self._usage(driver, name)
        unavailable = sum(self._is_unavailable(driver, name, device) for device, _ in devices)
        counters = [counters for slice_ in slices for counters in slice_.spec.shared_counters]
        pool = PoolInput(driver, name, devices, counters, in_use, consumed)
        views = pool_views(pool, request.spec.default_partition_type_attribute or "")
        return PoolStatus(
            driver=driver,
            pool_name=name,
            generation=generation,
            node_name=node_name,
            resource_slice_count=len(slices),
            total_devices=len(devices),
            allocated_devices=len(in_use),
            # A device that is both in use and tainted is taken off twice, as in 1.37.
            available_devices=max(0, len(devices) - len(in_use) - unavailable),
            unavailable_devices=unavailable,
            validation_error=_cut(views.error) if views.error else None,
            partition_summary=views.partitions,
            shareable_summary=views.shareable,
        )

    def _usage(self, driver: str, pool: str) -> tuple[frozenset[str], dict[str, Quantity]]:
        """The devices of a pool that are in use, and the capacity that is consumed."""
        in_use: set[str] = set()
        consumed: dict[str, Quantity] = {}
        for claim in self.store.objects(ResourceClaim):
            allocation = claim.status.allocation
            for result in allocation.devices.results if allocation is not None else ():
                if result.admin_access or (result.driver, result.pool) != (driver, pool):
                    continue
                in_use.add(result.device)
                for name, quantity in (result.consumed_capacity or {}).items():
                    consumed[name] = consumed[name] + quantity if name in consumed else quantity
        return frozenset(in_use), consumed

    def _is_unavailable(self, driver: str, pool: str, device: Device) -> bool:
        effects = [taint.effect for taint in device.taints]
        if self._uses_rules:
            effects += [
                rule.spec.taint.effect
                for rule in self.store.objects(DeviceTaintRule)
                if selects(rule.spec.device_selector, driver, pool, device.name)
            ]
        return any(effect in ("NoSchedule", "NoExecute") for effect in effects)


def _cut(text: str) -> str:
    """At most 256 bytes."""
    return text.encode()[:_MOST_BYTES].decode(errors="ignore")
