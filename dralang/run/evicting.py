"""Whom a taint rule would evict, and when, before anybody applies it."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.pods import TERMINAL
from dralang.api.resourceslice import ResourceSlice
from dralang.cluster.admission import KubernetesObject
from dralang.cluster.taint_rules import selects
from dralang.controllers.device_taint_eviction import NO_EXECUTE, DeviceTaintEvictionController
from dralang.run.dump import open_cluster
from dralang.run.history import happened
from dralang.run.simulation import Environment, Simulation
from dralang.run.view import full_device_name, pod_devices
from dralang.scenario.keys import ObjectKey

HORIZON: Final = 366 * 24 * 3_600_000
"""How far the preview looks ahead, in milliseconds."""


class Leaving(Struct, frozen=True):
    """A pod that uses a tainted device.

    Attributes:
        pod: which.
        node: where it is.
        devices: those of its devices that the rule selects, driver/pool/device.
        after: when it is evicted, in milliseconds from the rule on; None if it stays.
    """

    pod: ObjectKey
    node: str
    devices: tuple[str, ...]
    after: int | None


class Preview(Struct, frozen=True):
    """What a rule would do.

    Attributes:
        selected: the published devices that it taints, driver/pool/device.
        users: the pods that use one of them, those that leave first in the order of their leaving.
        before: pods that are evicted whether there is the rule or not.
        notes: what could not be loaded.
    """

    selected: tuple[str, ...]
    users: tuple[Leaving, ...]
    before: tuple[ObjectKey, ...]
    notes: tuple[str, ...]


def preview_eviction(environment: Environment, objects: Iterable[KubernetesObject], rule: DeviceTaintRule) -> Preview:
    """Apply a rule to a cluster in which nothing else moves; an effect other than NoExecute is taken for it.

    Args:
        environment: version and gates; device taints and taint rules must be on.
        objects: the cluster; a rule of the same name in it is left out.
        rule: its own time counts from now on.
    """
    name = rule.metadata.name
    others = [each for each in objects if not (isinstance(each, DeviceTaintRule) and each.metadata.name == name)]
    simulation, notes = open_cluster(environment, others)
    for component in simulation.components():
        simulation.pause(component)
    simulation.restart(DeviceTaintEvictionController.name)
    simulation.resume(DeviceTaintEvictionController.name)
    simulation.advance_to(simulation.now)
    before = [ObjectKey("Pod", *pod) for pod in happened(simulation, "evicted")]
    taint = replace(rule.spec.taint, effect=NO_EXECUTE, time_added=None)
    refused = simulation.load([replace(rule, spec=replace(rule.spec, taint=taint))])
    notes += [error.message for error in refused]
    selected = _selected(simulation, rule)
    users = _users(simulation, set(selected))
    start, seen = simulation.now, len(simulation.trace)
    simulation.advance_to(start + HORIZON)
    evicted = happened(simulation, "evicted")
    times = {
        (entry.namespace, entry.name): entry.time - start
        for entry in simulation.trace[seen:]
        if entry.kind == "Pod" and (entry.namespace, entry.name) in evicted
    }
    judged = [replace(user, after=times.get((user.pod.namespace, user.pod.name))) for user in users]
    judged.sort(key=lambda user: HORIZON + 1 if user.after is None else user.after)
    gone = set(before)
    return Preview(
        tuple(selected), tuple([user for user in judged if user.pod not in gone]), tuple(before), tuple(notes)
    )


def _selected(simulation: Simulation, rule: DeviceTaintRule) -> list[str]:
    return [
        f"{each.spec.driver}/{each.spec.pool.name}/{device.name}"
        for each in simulation.store.objects(ResourceSlice)
        for device in each.spec.devices
        if selects(rule.spec.device_selector, each.spec.driver, each.spec.pool.name, device.name)
    ]


def _users(simulation: Simulation, selected: set[str]) -> list[Leaving]:
    result = []
    for pod in simulation.pods():
        if not pod.spec.node_name or pod.status.phase in TERMINAL:
            continue
        used = [full_device_name(each) for each in pod_devices(simulation, pod)]
        tainted = tuple(dict.fromkeys([device for device in used if device in selected]))
        if tainted:
            key = ObjectKey("Pod", pod.metadata.namespace, pod.metadata.name)
            result.append(Leaving(key, pod.spec.node_name, tainted, None))
    return result
