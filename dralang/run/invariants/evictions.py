"""Who has to leave a device with a NoExecute taint leaves it, and nobody else does."""

from collections.abc import Iterator

from dralang.allocator.taints import tolerates
from dralang.api.allocation import DeviceRequestAllocationResult
from dralang.api.device import DeviceTaint
from dralang.api.pods import TERMINAL, Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.cluster.podclaims import used_claim_names
from dralang.cluster.taint_rules import selects
from dralang.cluster.timestamps import parse_time
from dralang.run.invariants.world import World, device_name
from dralang.run.simulation import Simulation

_BY_TAINT = "DeletionByDeviceTaintManager"
_OLD = ("1.34", "1.35", "1.36", "1.37")
"""Until then a toleration without effect is not good for NoExecute."""


def evictions_have_a_reason(world: World, old: Pod, new: Pod) -> Iterator[str]:
    """Whoever is evicted for a taint uses a device that has had a NoExecute taint which it does not tolerate."""
    if not _is_marked(new) or _is_marked(old):
        return
    for claim in _claims(world, new):
        for result in [] if claim.status.allocation is None else claim.status.allocation.devices.results:
            if any(_end(world, result, taint) is not None for taint in _taints(world, result, world.since(claim))):
                return
    yield f"{new.metadata.name} is evicted, and no device that it uses has a NoExecute taint against it"


def tainted_devices_are_left(simulation: Simulation, world: World) -> Iterator[str]:
    """No pod stays on a device with a NoExecute taint that it does not tolerate, or no longer."""
    if not world.has_taints or not world.features.enabled("DRADeviceTaints"):
        return
    now = simulation.now
    for pod in simulation.pods():
        ended = pod.status.phase in TERMINAL or pod.metadata.deletion_timestamp is not None
        if ended or not pod.spec.node_name:
            continue
        for claim in _claims(world, pod):
            users = {user.uid for user in claim.status.reserved_for}
            if claim.status.allocation is None or pod.metadata.uid not in users:
                continue
            for result in claim.status.allocation.devices.results:
                ends = [_end(world, result, taint) for taint in _taints(world, result, now + 1)]
                if any(end is not None and end <= now for end in ends):
                    yield f"{pod.metadata.name} stays on {device_name(result)} in spite of its NoExecute taint"


def _is_marked(pod: Pod) -> bool:
    return any(each.type == "DisruptionTarget" and each.reason == _BY_TAINT for each in pod.status.conditions)


def _claims(world: World, pod: Pod) -> Iterator[ResourceClaim]:
    """The claims that a pod uses, the one for extended resources included."""
    extended = pod.status.extended_resource_claim_status
    names = [*used_claim_names(pod), *([] if extended is None else [extended.resource_claim_name])]
    for name in names:
        claim = world.store.get(ResourceClaim, pod.metadata.namespace, name)
        if claim is not None:
            yield claim


def _taints(world: World, result: DeviceRequestAllocationResult, since: int) -> Iterator[DeviceTaint]:
    """The NoExecute taints of a device that were current at some time since then."""
    device = (result.driver, result.pool, result.device)
    newest = list(world.pool_slices(device[:2]))
    for found in world.published(device, since):
        if since <= world.events.now or any(found.slice is each for each in newest):
            yield from (taint for taint in found.device.taints if taint.effect == "NoExecute")
    for rules in world.rules_since(since):
        for rule in rules:
            if rule.spec.taint.effect == "NoExecute" and selects(rule.spec.device_selector, *device):
                yield rule.spec.taint


def _end(world: World, result: DeviceRequestAllocationResult, taint: DeviceTaint) -> int | None:
    """When a taint drives away who uses a result; None if never."""
    effects = ("NoExecute",) if world.features.version in _OLD else ("", "NoExecute")
    matching = [each for each in result.tolerations if each.effect in effects and tolerates(each, taint)]
    seconds = [each.toleration_seconds for each in matching if each.toleration_seconds is not None]
    if len(seconds) < len(matching) or (seconds and not taint.time_added):
        return None
    added = parse_time(taint.time_added) if taint.time_added else 0
    return added + max(0, min(seconds, default=0)) * 1000
