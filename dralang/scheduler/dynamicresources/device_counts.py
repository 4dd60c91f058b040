"""How many devices of a class a node can use, and how many of them are allocated: for scoring extended resources.

Unlike the allocator this looks at every slice that names the node, whatever its pool's generation and completeness.

Source: kubernetes pkg/scheduler/framework/plugins/noderesources/resource_allocation.go.
"""

from dralang.allocator.inventory import Inventory
from dralang.allocator.node_selection import NodeSelectorError, node_matches
from dralang.allocator.prepared import PoolId, PreparedSlice, SliceDevice
from dralang.api.deviceclass import DeviceClass
from dralang.api.nodes import Node
from dralang.scheduler.dynamicresources.manager import DRAManager


class ManagedDeviceCounts:
    """Counts what the scheduler's view of slices and allocations holds.

    What belongs to a node and class is remembered as long as no slice and no class changes.
    """

    def __init__(self, manager: DRAManager) -> None:
        self._manager = manager
        self._inventory: Inventory | None = None
        self._found: dict[tuple[str, str], tuple[Node, list[tuple[PoolId, list[str]]]]] = {}

    def class_for(self, resource: str) -> DeviceClass | None:
        """The class that serves a resource name, or None."""
        return self._manager.names.class_for(resource)

    def count(self, node: Node, device_class: DeviceClass) -> tuple[int, int]:
        """How many devices of the class the node can use, and how many of them are allocated, shared ones included."""
        state = self._manager.state
        total = allocated = 0
        for id_, names in self._devices(node, device_class):
            pool = state.pool(id_)
            total += len(names)
            allocated += sum([name in pool.dedicated or name in pool.consumed for name in names])
        return total, allocated

    def _devices(self, node: Node, device_class: DeviceClass) -> list[tuple[PoolId, list[str]]]:
        inventory = self._manager.inventory
        if inventory is not self._inventory:
            self._inventory = inventory
            self._found = {}
        key = (node.metadata.name, device_class.metadata.name)
        known = self._found.get(key)
        if known is not None and (known[0] is node or known[0].metadata.labels == node.metadata.labels):
            return known[1]
        selectors = tuple([each.cel.expression for each in device_class.spec.selectors if each.cel is not None])
        try:
            found = _matching(inventory, node, selectors)
        except (NodeSelectorError, _UndecidedError):
            # What cannot be decided counts for nothing; the scheduler only logs it.
            found = []
        self._found[key] = (node, found)
        return found


class _UndecidedError(Exception):
    """A selector of the class fails on a device."""


def _matching(inventory: Inventory, node: Node, selectors: tuple[str, ...]) -> list[tuple[PoolId, list[str]]]:
    result: list[tuple[PoolId, list[str]]] = []
    for group in inventory.groups_for(node):
        for _, slice_ in group.placed:
            names = [device.id[2] for device in _usable(slice_, node) if _satisfies(device, selectors)]
            if names:
                result.append((slice_.pool, names))
    return result


def _usable(slice_: PreparedSlice, node: Node) -> list[SliceDevice]:
    spec = slice_.api.spec
    if spec.per_device_node_selection:
        return [
            device
            for device in slice_.devices
            if node_matches(node, device.api.node_name, device.api.node_selector, all_nodes=device.api.all_nodes)
        ]
    named = node_matches(node, spec.node_name, spec.node_selector, all_nodes=spec.all_nodes)
    return list(slice_.devices) if named else []


def _satisfies(device: SliceDevice, selectors: tuple[str, ...]) -> bool:
    verdict = device.satisfies(selectors)
    if not isinstance(verdict, bool):
        raise _UndecidedError
    return verdict
