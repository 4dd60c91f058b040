"""Who was where when: the intervals of pods on nodes, of claims on devices, of taints and cordons in one run."""

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from msgspec import Struct

from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.run.simulation import Simulation
from dralang.run.view import PublishedDevice, effective_taints, full_device_name, results_of, scheduling_message
from dralang.scenario.keys import ObjectKey

T = TypeVar("T")


class Span(Struct, Generic[T], frozen=True):
    """Something that was the case from one instant to another, in milliseconds; None is the end of the run."""

    what: T
    start: int
    end: int | None


class PodState(Struct, frozen=True):
    """How a pod was.

    Attributes:
        state: waiting, bound, running, ending, finished or failed.
        node: where, empty while it waits.
        message: why it waits.
    """

    state: str
    node: str
    message: str = ""


class Holding(Struct, frozen=True):
    """That a claim holds a device, and the pods it is reserved for."""

    claim: str
    request: str
    users: tuple[str, ...]


class PodLane(Struct, frozen=True):
    """One pod's life."""

    name: str
    states: tuple[Span[PodState], ...]


class DeviceLane(Struct, frozen=True):
    """One device.

    Attributes:
        name: driver/pool/device.
        node: the only node that has it, empty if several do.
        taints: as text, while there are any.
        holdings: the claims that hold it.
    """

    name: str
    node: str
    taints: tuple[Span[str], ...]
    holdings: tuple[Span[Holding], ...]


class NodeLane(Struct, frozen=True):
    """One node, and when it was cordoned or did not exist."""

    name: str
    marks: tuple[Span[str], ...]


class Lanes(Struct, frozen=True):
    """All lanes of a run, in the order in which their objects appeared."""

    nodes: tuple[NodeLane, ...]
    devices: tuple[DeviceLane, ...]
    pods: tuple[PodLane, ...]


class LaneRecorder:
    """Notes every change while a simulation runs; attach it before the first one."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Track[str]] = {}
        self._pods: dict[str, tuple[str, _Track[PodState]]] = {}
        self._devices: dict[str, tuple[str, _Track[str]]] = {}
        self._holdings: dict[tuple[str, str], _Track[Holding]] = {}

    def attach(self, simulation: Simulation) -> None:
        """Watch a simulation from now on, beside whoever does so already."""
        others = simulation.store.on_write

        def written(kind: type[Any], old: Any, new: Any) -> None:
            if others is not None:
                others(kind, old, new)
            self._note(simulation, kind, old, new)

        simulation.store.on_write = written

    def lanes(self) -> Lanes:
        """What was noted so far."""
        holdings: dict[str, list[Span[Holding]]] = {}
        for (_, device), track in self._holdings.items():
            holdings.setdefault(device, []).extend(track.spans())
        for device in holdings:
            self._devices.setdefault(device, ("", _Track()))
        return Lanes(
            tuple([NodeLane(name, tuple(track.spans())) for name, track in self._nodes.items()]),
            tuple(
                [
                    DeviceLane(name, node, tuple(track.spans()), tuple(_by_start(holdings.get(name, ()))))
                    for name, (node, track) in self._devices.items()
                ]
            ),
            tuple([PodLane(name, tuple(track.spans())) for name, track in self._pods.values()]),
        )

    # ---- noting -----------------------------------------------------------------------------------------------------

    def _note(self, simulation: Simulation, kind: type[Any], old: Any, new: Any) -> None:
        now = simulation.now
        if kind is Pod:
            self._pod(old, new, now)
        elif kind is ResourceClaim:
            self._claim(old, new, now)
        elif kind is Node:
            name = (old if new is None else new).metadata.name
            mark = "gone" if new is None else "cordoned" if new.spec.unschedulable else None
            self._nodes.setdefault(name, _Track()).become(mark, now)
        elif kind is ResourceSlice or kind is DeviceTaintRule:
            self._slices(simulation, old if kind is ResourceSlice else None, now)

    def _pod(self, old: Pod | None, new: Pod | None, now: int) -> None:
        pod = old if new is None else new
        assert pod is not None
        meta = pod.metadata
        name = ObjectKey("Pod", meta.namespace, meta.name).spoken
        track = self._pods.setdefault(meta.uid, (name, _Track()))[1]
        track.become(None if new is None else _pod_state(new), now)

    def _claim(self, old: ResourceClaim | None, new: ResourceClaim | None, now: int) -> None:
        before = set() if old is None else {full_device_name(each) for each in results_of(old)}
        claim = old if new is None else new
        assert claim is not None
        uid = claim.metadata.uid
        held: dict[str, Holding] = {}
        if new is not None:
            name = ObjectKey("ResourceClaim", new.metadata.namespace, new.metadata.name).spoken
            users = tuple([consumer.name for consumer in new.status.reserved_for])
            for each in results_of(new):
                held[full_device_name(each)] = Holding(name, each.request, users)
        for device in sorted(before - held.keys()):
            self._holdings.setdefault((uid, device), _Track()).become(None, now)
        for device, holding in held.items():
            self._holdings.setdefault((uid, device), _Track()).become(holding, now)

    def _slices(self, simulation: Simulation, old: ResourceSlice | None, now: int) -> None:
        seen: set[str] = set()
        for each in simulation.store.objects(ResourceSlice):
            for device in each.spec.devices:
                published = PublishedDevice(each, device)
                name = published.full_name
                seen.add(name)
                node = each.spec.node_name or device.node_name or ""
                found = effective_taints(simulation, published)
                taints = ", ".join([f"{taint.key}={taint.value or ''}:{taint.effect}" for taint in found])
                self._devices.setdefault(name, (node, _Track()))[1].become(taints or None, now)
        if old is not None:
            for device in old.spec.devices:
                name = f"{old.spec.driver}/{old.spec.pool.name}/{device.name}"
                if name not in seen and name in self._devices:
                    self._devices[name][1].become("not published", now)


class _Track(Generic[T]):
    """What one thing was over time; private to this module."""

    __slots__ = ("_since", "_spans", "_value")

    def __init__(self) -> None:
        self._spans: list[Span[T]] = []
        self._value: T | None = None
        self._since = 0

    def become(self, value: T | None, now: int) -> None:
        if value == self._value:
            return
        if self._value is not None and self._since < now:
            self._spans.append(Span(self._value, self._since, now))
        self._value, self._since = value, now

    def spans(self) -> list[Span[T]]:
        return self._spans if self._value is None else [*self._spans, Span(self._value, self._since, None)]


def _pod_state(pod: Pod) -> PodState:
    node = pod.spec.node_name
    if pod.metadata.deletion_timestamp is not None:
        return PodState("ending", node)
    match pod.status.phase:
        case "Running":
            return PodState("running", node)
        case "Succeeded":
            return PodState("finished", node)
        case "Failed":
            return PodState("failed", node)
        case _:
            return PodState("bound", node) if node else PodState("waiting", "", scheduling_message(pod))


def _by_start(spans: Iterable[Span[Holding]]) -> list[Span[Holding]]:
    return sorted(spans, key=lambda span: span.start)
