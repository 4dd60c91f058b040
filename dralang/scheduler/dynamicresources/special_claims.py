"""The special claim of a pod with extended resources: on a node, or on all of them alike.

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go.
"""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeAlias

from msgspec.structs import replace

from dralang.api.deviceclass import DeviceClass
from dralang.api.pods import Pod
from dralang.api.resourceclaim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dralang.scheduler.dynamicresources.cycle_data import SpecialOnNode, StateData
from dralang.scheduler.dynamicresources.extended_resources import (
    Mappings,
    mapped_requests,
    requests_and_mappings,
    served_by_devices,
    special_claim,
    unserved_capacity,
)
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.framework import Code, Status
from dralang.scheduler.node_info import NodeInfo, PodInfo

_CANNOT_FIT = Status(Code.UNRESOLVABLE, "cannot fit resource")
_LEFTOVER = Status(Code.UNRESOLVABLE, "cannot schedule extended resource claim")

OnNode: TypeAlias = SpecialOnNode | tuple[None, tuple[()]]
"""The claim as a node needs it; nothing if the node serves all by itself."""


class SpecialClaims:
    """Makes the special claims of pods.

    Args:
        manager: classes, and the claims that exist.
        class_capacity: whether the capacity requests of classes count (DRAExtendedResourceCapacity).
        implicit_plain: whether those do not count for the implicit names (a reading of the KEP).
        is_offered: whether some node has a resource name of its own.
    """

    def __init__(
        self, manager: DRAManager, *, class_capacity: bool, implicit_plain: bool, is_offered: Callable[[str], bool]
    ) -> None:
        self._manager = manager
        self._class_capacity = class_capacity
        self._implicit_plain = implicit_plain
        self._is_offered = is_offered
        self._specs = SpecialSpecs(implicit_plain=implicit_plain)

    def of(self, info: PodInfo, data: StateData) -> ResourceClaim | None:
        """The claim of a pod, without requests unless an earlier attempt left one; None if it needs none."""
        wanted = mapped_requests(info, self._manager.names)
        if not wanted:
            return None
        data.extended = wanted
        leftover = self._manager.extended_claim(info.uid)
        return leftover if leftover is not None else special_claim(info.pod)

    def on(self, data: StateData, info: PodInfo, node: NodeInfo) -> Status | OnNode:
        """The claim as a node needs it, or why the node cannot serve the pod."""
        return self._where(data, info, node.allocatable)

    def everywhere(self, data: StateData, info: PodInfo) -> ResourceClaim | None:
        """The claim if all nodes need the same one."""
        if any(map(self._is_offered, data.extended)):
            return None
        answer = self._where(data, info, {})
        return None if isinstance(answer, Status) else answer[0]

    def _where(self, data: StateData, info: PodInfo, allocatable: Mapping[str, int]) -> Status | OnNode:
        special = data.special_claim
        assert special is not None
        if special.spec.devices.requests:
            return _LEFTOVER
        served = served_by_devices(data.extended, allocatable, self._manager.names)
        if served is None:
            return _CANNOT_FIT
        if not served and not (data.user_claims and self._manager.makes_empty):
            return None, ()
        if special.status.allocation is not None:
            # Left over from a node that has all of it without devices: it stands for none, and stays.
            return None, ()
        key = tuple(served)
        known = data.specials.get(key)
        if known is not None:
            return known
        plain = self._implicit_plain
        if not self._class_capacity and (problem := unserved_capacity(served, implicit_plain=plain)):
            return Status(Code.UNRESOLVABLE, problem)
        spec, mappings = self._specs.of(info.pod, served)
        known = data.specials[key] = (replace(special, spec=spec), mappings)
        return known


class SpecialSpecs:
    """The specifications of special claims, each made once: pods that ask for the same share one.

    It only remembers pure results.
    """

    MOST = 256

    def __init__(self, *, implicit_plain: bool) -> None:
        self._implicit_plain = implicit_plain
        self._known: dict[Hashable, tuple[ResourceClaimSpec, Mappings, Mapping[str, DeviceClass]]] = {}

    def of(self, pod: Pod, served: Mapping[str, DeviceClass]) -> tuple[ResourceClaimSpec, Mappings]:
        """What the special claim of the pod asks for where these classes serve it, and who uses which request."""
        key = (shape(pod), tuple((name, id(class_)) for name, class_ in served.items()))
        known = self._known.get(key)
        if known is None:
            requests, mappings = requests_and_mappings(pod, served, implicit_plain=self._implicit_plain)
            if len(self._known) >= self.MOST:
                self._known.clear()
            # The classes are kept alive so that their identities stay theirs.
            known = self._known[key] = (
                ResourceClaimSpec(devices=DeviceClaim(requests=requests)),
                mappings,
                dict(served),
            )
        return known[0], known[1]


def shape(pod: Pod) -> Hashable:
    """What decides which requests the containers of a pod make."""
    starting = len(pod.spec.init_containers)
    return tuple(
        [
            (
                index < starting,
                each.name,
                each.restart_policy,
                tuple([(name, quantity.stored_int64()) for name, quantity in each.resources.requests.items()]),
            )
            for index, each in enumerate((*pod.spec.init_containers, *pod.spec.containers))
        ]
    )
