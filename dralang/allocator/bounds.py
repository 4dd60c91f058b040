"""Are there devices enough for the requests that are left, whatever they choose?

For every set of devices that some request is confined to: the requests confined to it must not need more than is free
in it. Shared devices serve any number of requests, and admin requests take nothing away, so neither is counted.
"""

from collections.abc import Iterable, Sequence

from dralang.allocator.attempt_state import AttemptState, Placement
from dralang.allocator.prepared import SliceDevice
from dralang.allocator.requests import Slot, Step


class _Confined:
    """Requests that can only be served from a set of devices.

    Attributes:
        devices: the set, as bits.
        needs: how many devices the requests from some request on need at least, by request.
    """

    __slots__ = ("devices", "needs")

    def __init__(self, devices: int, needs: list[int]) -> None:
        self.devices = devices
        self.needs = needs


class Bounds:
    """The counting bounds of one attempt."""

    __slots__ = ("_admin_blocks", "_bits", "_sets")

    def __init__(self, steps: Sequence[Step], state: AttemptState) -> None:
        self._bits: dict[SliceDevice, int] = {}
        self._admin_blocks = state.rules.admin_blocks
        confined = [self._confinement(step, state) for step in steps]
        distinct = {devices for devices, _ in confined if devices is not None}
        union = 0
        for devices in distinct:
            union |= devices
        self._sets = [
            _Confined(devices, _sums(confined, devices)) for devices in sorted({*distinct, union}) if distinct
        ]

    def _confinement(self, step: Step, state: AttemptState) -> tuple[int | None, int]:
        """The devices that can serve a request, None if that does not confine it, and how many it needs."""
        devices = 0
        for slot in step.slots:
            found = self._devices(slot, state)
            if found is None:
                return None, 0
            devices |= found
        return devices, max(0, min(slot.number for slot in step.slots))

    def _devices(self, slot: Slot, state: AttemptState) -> int | None:
        if slot.plan.admin:
            return None
        result = 0
        for candidate in slot.candidates.all() if slot.everything is None else slot.everything:
            if candidate.device.shareable:
                return None
            if not state.is_in_use(candidate):
                result |= self._bits.setdefault(candidate.device, 1 << len(self._bits))
        return result

    def blame(self, step: int, placements: Iterable[Placement]) -> int | None:
        """If the requests from ``step`` on cannot be served any more: the levels to blame; else None."""
        taken = [(self._bits.get(placement.candidate.device, 0), placement) for placement in placements]
        for confined in self._sets:
            needs = confined.needs[step]
            if not needs:
                continue
            gone = 0
            levels = 0
            for bit, placement in taken:
                if bit & confined.devices and (self._admin_blocks or not placement.plan.admin):
                    gone |= bit
                    levels |= 1 << placement.level
            if (confined.devices & ~gone).bit_count() < needs:
                return levels
        return None


def _sums(confined: Sequence[tuple[int | None, int]], devices: int) -> list[int]:
    """For each request: what it and those after it need of the set."""
    total = 0
    sums = [0]
    for own, needs in reversed(confined):
        if own is not None and not own & ~devices:
            total += needs
        sums.append(total)
    return sums[::-1]
