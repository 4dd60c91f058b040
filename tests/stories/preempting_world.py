"""Small random clusters for stories of preemption for devices (KEP-5690): hardware of every kind that the KEP names."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from builders import claim_spec, features, node, priority
from msgspec.structs import replace
from stories.world import Draw

from dralang.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dralang.api.device import CapacityRequirements, CELDeviceSelector, DeviceSelector
from dralang.api.deviceclass import DeviceClass, DeviceClassSpec
from dralang.api.meta import ObjectMeta
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import Counter as DeviceCounter
from dralang.api.resourceslice import (
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceCounterConsumption,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from dralang.features import FeatureGates
from dralang.values.quantity import parse_quantity

GPU, SHARE, CARD = "gpu.example.com", "share.example.com", "card.example.com"
NET, PORT = "net.example.com", "port.example.com"
EXTENDED = "example.com/gpu"

LOCAL_KINDS = ("gpu", "gpu", "pair", "pair", "first", "share", "share", "half", "whole", "common")
"""What pods want of every world; `first` is the first GPU of a node, `common` a claim that several pods share."""
THEMES = ("network", "binding", "groups", "extended", "foreign", "failures", "slices", "nodes", "long")
"""What else a world may be about."""


class NamedExpressions:
    """Device expressions for these tests: driver, and the beginning of the device's name."""

    def prepare(self, driver: str, device: Device) -> tuple[str, str]:
        return driver, device.name

    def selector(self, expression: str) -> Any:
        driver, _, prefix = expression.partition(" ")
        return lambda device: device[0] == driver and device[1].startswith(prefix)

    def derived(self, expression: str) -> Any:
        raise NotImplementedError


class World(NamedTuple):
    """What a story begins with, and what it may be about."""

    features: FeatureGates
    themes: frozenset[str]
    nodes: tuple[str, ...]
    objects: tuple[Any, ...]
    kinds: tuple[str, ...]

    @property
    def preempts(self) -> bool:
        return self.features.enabled("DRAPreemption")


def draw_world(draw: Draw) -> World:
    themes = frozenset(draw.some(THEMES, draw.pick([0, 1, 1, 2, 2])))
    gates = {"DRAPreemption": draw.chance(96), "SchedulerPopFromBackoffQ": draw.chance(40)}
    if "groups" in themes:
        gates |= {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}
    nodes = tuple(f"n{index}" for index in range(draw.pick([1, 1, 2, 2, 2, 3])))
    objects: list[Any] = [
        node(each, cpu=str(draw.number(2, 4)), labels={"zone": draw.pick("ab"), "kubernetes.io/hostname": each})
        for each in nodes
    ]
    for each in nodes:
        objects += _hardware(each, draw, themes)
    kinds = list(LOCAL_KINDS)
    if "network" in themes:
        objects.append(_network(draw))
        kinds += ["net", "net", "net", "mixed", "mixed"]
    if "binding" in themes:
        kinds += ["port", "port", "port", "port"]
    objects += [
        _class("gpu", f"{GPU} ", extended=EXTENDED if "extended" in themes else None),
        _class("first", f"{GPU} gpu-0"),
        _class("share", f"{SHARE} "),
        _class("half", f"{CARD} half"),
        _class("whole", f"{CARD} whole"),
        _class("net", f"{NET} "),
        _class("port", f"{PORT} "),
        priority("low", 10),
        priority("middle", 100),
        priority("high", 1000),
        priority("highest", 2000),
        claim("common-1", "gpu", draw),
        claim("common-2", "pair", draw),
    ]
    return World(features("1.38", **gates), themes, nodes, tuple(objects), tuple(kinds))


def _class(name: str, expression: str, extended: str | None = None) -> DeviceClass:
    selectors = (DeviceSelector(cel=CELDeviceSelector(expression=expression)),)
    spec = DeviceClassSpec(selectors=selectors, extended_resource_name=extended)
    return DeviceClass(metadata=ObjectMeta(name=name), spec=spec)


def news(number: int) -> DeviceClass:
    """A class that serves nobody, and makes pods that lack devices be tried again."""
    return _class(f"news-{number}", "other.example.com ")


def claim(name: str, kind: str, draw: Draw) -> ResourceClaim:
    """A claim of one kind."""
    spec = claim_spec(2 if kind == "pair" else 1, {"pair": "gpu", "mixed": "gpu"}.get(kind, kind))
    if kind == "mixed":
        (request,) = claim_spec(1, "net").devices.requests
        requests = (*spec.devices.requests, replace(request, name="net"))
        spec = replace(spec, devices=replace(spec.devices, requests=requests))
    if kind == "share":
        (request,) = spec.devices.requests
        wanted = CapacityRequirements(requests={"units": parse_quantity(str(draw.pick([1, 1, 2])))})
        request = replace(request, exactly=replace(request.exactly, capacity=wanted))
        spec = replace(spec, devices=replace(spec.devices, requests=(request,)))
    return ResourceClaim(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


def _slice(
    name: str, where: str | None, driver: str, slices: int = 1, pool: str | None = None, **spec: Any
) -> ResourceSlice:
    known = ResourcePool(name=pool or name, generation=1, resource_slice_count=slices)
    whole = ResourceSliceSpec(driver=driver, node_name=where, pool=known, **spec)
    return ResourceSlice(metadata=ObjectMeta(name=name), spec=whole)


def _amount(text: str) -> DeviceCounter:
    return DeviceCounter(value=parse_quantity(text))


def _hardware(where: str, draw: Draw, themes: frozenset[str]) -> Iterator[ResourceSlice]:
    """Some GPUs, a device to be shared, a card in two halves or as a whole, and ports that are slow to come."""
    devices = tuple(Device(name=f"gpu-{index}") for index in range(draw.pick([0, 1, 2, 2, 3, 4])))
    if devices:
        yield _slice(f"{where}-gpus", where, GPU, devices=devices)
    capacity = {"units": DeviceCapacity(value=parse_quantity(str(draw.number(2, 4))))}
    shared = Device(name="shared", allow_multiple_allocations=True, capacity=capacity)
    yield _slice(f"{where}-shares", where, SHARE, devices=(shared,))
    pool = f"{where}-card"
    counters = (CounterSet(name="card", counters={"memory": _amount("2")}),)
    yield _slice(f"{pool}-counters", where, CARD, 2, pool, shared_counters=counters)
    sizes = {"half-0": "1", "half-1": "1", "whole": "2"}
    parts = tuple(
        Device(
            name=name,
            consumes_counters=(DeviceCounterConsumption(counter_set="card", counters={"memory": _amount(size)}),),
        )
        for name, size in sizes.items()
    )
    yield _slice(pool, where, CARD, 2, pool, devices=parts)
    if "binding" in themes:
        port = Device(name="port-0", binding_conditions=("Attached",), binding_failure_conditions=("Broken",))
        yield _slice(f"{where}-ports", where, PORT, devices=(port,))


def _network(draw: Draw) -> ResourceSlice:
    """Devices that several nodes reach: all of them, or those of a zone."""
    devices = tuple(Device(name=f"net-{index}") for index in range(draw.pick([1, 1, 2])))
    if draw.chance(50):
        return _slice("fabric", None, NET, devices=devices, all_nodes=True)
    zone = NodeSelectorRequirement(key="zone", operator="In", values=("a", "b"))
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_expressions=(zone,)),))
    return _slice("fabric", None, NET, devices=devices, node_selector=selector)
