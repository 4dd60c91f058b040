"""Which rows of docs/kep-5690.md the stories of preemption reach: watched in the scheduler while it works.

Nothing here changes what happens. Where a row says that a pod is refused *because* of what is held, the allocator is
asked once more what it would answer otherwise.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from stories.preempting_devices import OfDevices
from stories.preempting_nominations import OfNominations
from stories.preempting_preemption import OfPreemption

from dralang.scheduler.cycle import SchedulingAlgorithm
from dralang.scheduler.dynamicresources import plugin as plugin_module
from dralang.scheduler.dynamicresources.holding import CapacityHolder
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.dynamicresources.nominations import Nominations
from dralang.scheduler.dynamicresources.plugin import DynamicResources
from dralang.scheduler.dynamicresources.simulate import Simulator
from dralang.scheduler.nominator import PodNominator
from dralang.scheduler.preemption import DefaultPreemption
from dralang.scheduler.scheduler import Scheduler


class Rows(OfPreemption, OfNominations, OfDevices):
    """Counts over many stories."""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Watch all schedulers."""
        kept: list[tuple[Any, str, Any]] = []

        def around(owner: Any, name: str, see: Callable[..., Any]) -> None:
            original = getattr(owner, name)
            kept.append((owner, name, original))

            def wrapped(*arguments: Any, **options: Any) -> Any:
                if not self._watching:
                    return original(*arguments, **options)
                return see(original, *arguments, **options)

            setattr(owner, name, wrapped)

        hooks: tuple[tuple[Any, str, Callable[..., Any]], ...] = (
            (DefaultPreemption, "post_filter", self._post_filter),
            (DefaultPreemption, "_nominate", self._nominate),
            (DefaultPreemption, "_dry_run", self._dry_run),
            (DefaultPreemption, "_obstacle", self._obstacle),
            (DefaultPreemption, "_execute", self._execute),
            (DefaultPreemption, "_preempt", self._preempt),
            (CapacityHolder, "add", self._add),
            (CapacityHolder, "remove", self._remove),
            (CapacityHolder, "wakes", self._wakes),
            (Nominations, "track", self._track),
            (Nominations, "deallocated", self._deallocated),
            (PodNominator, "add", self._nominator_add),
            (SchedulingAlgorithm, "filter", self._filter),
            (DynamicResources, "_given", self._given),
            (plugin_module, "drop_reservation", self._drop_reservation),
            (Simulator, "remove", self._simulated_removal),
            (Simulator, "is_releasable", self._is_releasable),
            (Simulator, "add_nominated", self._add_nominated),
            (DRAManager, "reserve", self._reserve),
            (Scheduler, "_capacity_freed", self._capacity_freed),
            (Scheduler, "restart", self._restart),
            (Scheduler, "report_member", self._report_member),
        )
        for hook in hooks:
            around(*hook)
        try:
            yield
        finally:
            for owner, name, original in kept:
                setattr(owner, name, original)
