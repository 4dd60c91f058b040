"""The number of slices of a pool, where a spec leaves it out: as many as are declared for that driver and pool."""

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from dralang.api.resourceslice import ResourceSlice
from dralang.scenario.keys import ObjectKey
from dralang.scenario.model import Declared


def with_slice_counts(declared: Iterable[Declared]) -> dict[ObjectKey, Declared]:
    """The slices whose count had to be filled in, with it."""
    slices = [(item, item.object) for item in declared if isinstance(item.object, ResourceSlice)]
    counts = Counter((obj.spec.driver, obj.spec.pool.name, obj.spec.pool.generation) for _, obj in slices)
    changed: dict[ObjectKey, Declared] = {}
    for item, obj in slices:
        pool = obj.spec.pool
        count = counts[(obj.spec.driver, pool.name, pool.generation)]
        if _left_out(item) and pool.resource_slice_count != count:
            spec = replace(obj.spec, pool=replace(pool, resource_slice_count=count))
            changed[item.key] = replace(item, object=replace(obj, spec=spec))
    return changed


def _left_out(item: Declared) -> bool:
    pool = item.located.at(("spec", "pool")).value
    return isinstance(pool, Mapping) and "resourceSliceCount" not in pool
