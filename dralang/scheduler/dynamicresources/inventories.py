"""Prepared slices and classes, shared by all simulations that start with the same objects."""

from collections.abc import Iterable

from dralang.allocator.inventory import Inventory
from dralang.allocator.profiles import AllocatorProfile
from dralang.api.deviceclass import DeviceClass, DeviceClassSpec
from dralang.api.expressions import DeviceExpressions, ExpressionError
from dralang.api.resourceslice import Device, ResourceSlice, ResourceSliceSpec


class Inventories:
    """Inventories made so far, by the very slices and classes they were made of.

    Preparing a slice costs far more than a small scenario; the specs of a file are the same objects in all of its
    scenarios, so they are recognised by identity.
    """

    MOST = 64

    def __init__(self, profile: AllocatorProfile, expressions: DeviceExpressions) -> None:
        self.profile = profile
        self.expressions = expressions
        self.selected: dict[tuple[str, int, str], tuple[Device, bool | ExpressionError]] = {}
        """Whether a selector is true of a device of a driver, for those who judge allocations; they keep the device."""
        self._made: dict[
            tuple[tuple[str, int], ...], tuple[Inventory, list[ResourceSliceSpec], list[DeviceClassSpec]]
        ] = {}

    def of(self, slices: Iterable[ResourceSlice], classes: Iterable[DeviceClass]) -> Inventory:
        """The inventory of these slices (in listing order) and classes."""
        slices, classes = list(slices), list(classes)
        slice_keys = [(each.metadata.name, id(each.spec)) for each in slices]
        class_keys = [(each.metadata.name, id(each.spec)) for each in classes]
        key = (*slice_keys, *class_keys)
        known = self._made.get(key)
        if known is not None:
            return known[0]
        inventory = Inventory.of(slices, classes, self.profile, self.expressions)
        if len(self._made) >= self.MOST:
            self._made.clear()
        # The specs are kept alive so that their identities stay theirs.
        self._made[key] = (inventory, [each.spec for each in slices], [each.spec for each in classes])
        return inventory
