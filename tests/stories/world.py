"""Small random clusters for stories: exact fits, names that collide across drivers, always several features at once."""

import random
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

from builders import priority, quantities
from msgspec.structs import replace

from dralang.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Taint
from dralang.api.device import CapacityRequirements, CELDeviceSelector, DeviceSelector, DeviceTaint, DeviceToleration
from dralang.api.deviceclass import DeviceClass, DeviceClassSpec
from dralang.api.meta import ObjectMeta
from dralang.api.namespaces import Namespace
from dralang.api.nodes import Node, NodeSpec, NodeStatus
from dralang.api.priority import PriorityClass
from dralang.api.resourceclaim import (
    DeviceClaim,
    DeviceConstraint,
    DeviceDerivedAttribute,
    DeviceRequest,
    DeviceSubRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from dralang.api.resourceslice import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    NodeAllocatableMapping,
    NodeAllocatableOverhead,
    NodeAllocatableResource,
    ResourcePool,
    ResourceSlice,
    ResourceSliceSpec,
)
from dralang.cluster.admission import ADMIN_ACCESS_LABEL
from dralang.features import VERSIONS, FeatureGates
from dralang.values.quantity import parse_quantity

T = TypeVar("T")
Existing: TypeAlias = (
    Namespace | Node | ResourceSlice | DeviceClass | ResourceClaimTemplate | ResourceClaim | PriorityClass
)

GPU = "gpu.example.com"
NET = "net.example.com"
EXTENDED = "example.com/gpu"
NEITHER = "example.com/nobody"

NEEDS: Mapping[str, tuple[str, ...]] = {
    "admin": ("DRAAdminAccess",),
    "all": (),
    "alternatives": ("DRAPrioritizedList",),
    "binding": ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
    "budgets": (),
    "class-capacity": ("DRAExtendedResourceCapacity",),
    "claim-preemption": ("DRAPreemption",),
    "compatibility": ("DRAPartitionableDevices", "DRADeviceCompatibilityGroups"),
    "constraints": (),
    "derived": ("DRADerivedAttributes",),
    "extended": ("DRAExtendedResource",),
    "friends": (),
    "gates": (),
    "group-claims": ("GenericWorkload", "DRAWorkloadResourceClaims"),
    "groups": ("GenericWorkload",),
    "late": (),
    "lists": ("DRAListTypeAttributes",),
    "node-resources": ("DRANodeAllocatableResources",),
    "nodes": (),
    "partitions": ("DRAPartitionableDevices",),
    "pool-status": ("DRAResourcePoolStatus",),
    "pools": (),
    "ports": (),
    "priorities": (),
    "rules": ("DRADeviceTaints", "DRADeviceTaintRules"),
    "selectors": (),
    "shares": ("DRAConsumableCapacity",),
    "skipping": ("DRAOptionalNodeOperations",),
    "taints": ("DRADeviceTaints",),
}
"""Themes, and the feature gates without which they mean nothing."""


class Draw:
    """Choices of a seeded generator."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def number(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def pick(self, options: Sequence[T]) -> T:
        return options[self._random.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self._random.randrange(100) < percent

    def some(self, options: Sequence[T], count: int) -> list[T]:
        return self._random.sample(options, min(count, len(options)))


class World(NamedTuple):
    """What a story begins with, and what it may be about."""

    features: FeatureGates
    themes: frozenset[str]
    objects: tuple[Existing, ...]
    late: tuple[DeviceClass | ResourceClaimTemplate | ResourceClaim | ResourceSlice, ...]
    """What comes into being only during the story."""
    nodes: int
    templates: tuple[str, ...]
    claims: tuple[str, ...]


def draw_world(draw: Draw) -> World:
    version = draw.pick(["1.37", "1.37", "1.37", "1.37", "1.37", "1.38", *VERSIONS])
    gates = {"AllAlpha": True, "AllBeta": True} if draw.chance(70) else {}
    features = FeatureGates.resolve(version, gates)
    assert isinstance(features, FeatureGates), features
    possible = [name for name, needs in NEEDS.items() if all(map(features.enabled, needs))]
    chosen = draw.some(possible, draw.number(2, 5))
    if draw.chance(25):
        chosen += ["priorities", "selectors"] if draw.chance(30) else ["priorities"]
    if "claim-preemption" in possible and draw.chance(70):
        if "binding" in possible and draw.chance(40):
            chosen.append("binding")
        if draw.chance(40):
            chosen.append("selectors")
        chosen += [
            "claim-preemption",
            "priorities",
            *(["binding"] if "binding" in possible and draw.chance(40) else []),
        ]
    if "group-claims" in possible and draw.chance(18):
        chosen += ["groups", "group-claims"]
    for rare, percent in (("compatibility", 10), ("extended", 15)):
        if rare in possible and draw.chance(percent):
            chosen.append(rare)
    themes = frozenset(chosen)
    maker = _Maker(draw, version, themes)
    count = draw.number(1, 3)
    nodes = [maker.node(f"n{index}") for index in range(count)]
    slices = [each for node in nodes for each in maker.node_slices(node)]
    if draw.chance(50) or "partitions" in themes:
        slices.append(maker.shared_slice())
    classes = maker.classes()
    templates = [maker.template(f"t{index}") for index in range(draw.number(1, 3))]
    claims = [maker.claim(f"c{index}") for index in range(draw.number(1, 2))]
    late: list[DeviceClass | ResourceClaimTemplate | ResourceClaim | ResourceSlice] = []
    if "late" in themes:
        late = draw.some([*classes, *templates, *claims, *slices], draw.number(1, 3))
    label = {ADMIN_ACCESS_LABEL: "true"}
    always: list[Existing] = [
        Namespace(metadata=ObjectMeta(name="default", labels=label)),
        priority("low", 10),
        priority("high", 1000),
        PriorityClass(metadata=ObjectMeta(name="never"), value=500, preemption_policy="Never"),
        *nodes,
    ]
    soon = [each for each in (*slices, *classes, *templates, *claims) if each not in late]
    return World(
        features,
        themes,
        (*always, *soon),
        tuple(late),
        count,
        tuple(each.metadata.name for each in templates),
        tuple(each.metadata.name for each in claims),
    )


def selector(expression: str) -> DeviceSelector:
    return DeviceSelector(cel=CELDeviceSelector(expression=expression))


class _Maker:
    """Draws the objects of one world."""

    def __init__(self, draw: Draw, version: str, themes: frozenset[str]) -> None:
        self.draw = draw
        self.version = version
        self.themes = themes

    # Nodes and their devices.

    def node(self, name: str) -> Node:
        draw = self.draw
        allocatable = {"cpu": str(draw.number(2, 6)), "memory": "8Gi"}
        taints: tuple[Taint, ...] = ()
        if "nodes" in self.themes:
            allocatable["pods"] = draw.pick(["2", "3", "110"])
            if draw.chance(30):
                taints = (Taint(key="k", value="v", effect=draw.pick(["NoSchedule", "NoExecute", "PreferNoSchedule"])),)
        sizes = quantities(**allocatable)
        if "extended" in self.themes and draw.chance(20):
            sizes[EXTENDED] = parse_quantity("1")
        declared = ("DRAOptionalNodeOperations",) if "skipping" in self.themes and draw.chance(60) else ()
        return Node(
            metadata=ObjectMeta(name=name, labels={"zone": draw.pick(["a", "b"])}),
            spec=NodeSpec(taints=taints),
            status=NodeStatus(allocatable=sizes, declared_features=declared),
        )

    def node_slices(self, node: Node) -> list[ResourceSlice]:
        draw, name = self.draw, node.metadata.name
        devices = tuple(self.device(index) for index in range(draw.number(0, 3)))
        counted = any(device.consumes_counters for device in devices)
        separate = counted and self.version != "1.34"
        slices = 1 + separate
        if "pools" in self.themes and draw.chance(30):
            if draw.chance(50):
                slices += 1
            else:
                devices = (*devices, Device(name="d0"), Device(name="d0"))
        pool = ResourcePool(name=name, generation=1, resource_slice_count=slices)
        counters = (CounterSet(name="parts", counters={"memory": Counter(value=parse_quantity("4"))}),)
        skips = "skipping" in self.themes and draw.chance(50)
        skipping = ("NodePrepareResources", "NodeUnprepareResources") if skips else ()
        spec = ResourceSliceSpec(driver=GPU, pool=pool, node_name=name, devices=devices, skip_node_operations=skipping)
        if not separate:
            whole = ResourceSliceSpec(
                driver=GPU, pool=pool, node_name=name, devices=devices, shared_counters=counters if counted else ()
            )
            return [ResourceSlice(metadata=ObjectMeta(name=f"{name}-gpus"), spec=whole if counted else spec)]
        counting = ResourceSliceSpec(driver=GPU, pool=pool, node_name=name, shared_counters=counters)
        return [
            ResourceSlice(metadata=ObjectMeta(name=f"{name}-counters"), spec=counting),
            ResourceSlice(metadata=ObjectMeta(name=f"{name}-gpus"), spec=spec),
        ]

    def shared_slice(self) -> ResourceSlice:
        """Devices of a second driver that several nodes reach, with the names of those of the first node."""
        draw = self.draw
        devices = tuple(Device(name=f"d{index}") for index in range(draw.number(1, 2)))
        apart = "partitions" in self.themes and draw.chance(90)
        if apart:
            devices = tuple(Device(name=f"d{index}") for index in range(3))
            devices = tuple(replace(each, node_name=draw.pick(["n0", "n1"])) for each in devices)
        pool = ResourcePool(name="n0", generation=1, resource_slice_count=1)
        zone = NodeSelectorRequirement(key="zone", operator="In", values=(draw.pick(["a", "b"]),))
        term = NodeSelectorTerm(match_expressions=(zone,))
        everywhere = draw.chance(50) and not apart
        spec = ResourceSliceSpec(
            driver=NET,
            pool=pool,
            devices=devices,
            all_nodes=True if everywhere else None,
            per_device_node_selection=True if apart else None,
            node_selector=None if everywhere or apart else NodeSelector(node_selector_terms=(term,)),
        )
        return ResourceSlice(metadata=ObjectMeta(name="net"), spec=spec)

    def device(self, index: int) -> Device:
        draw, themes = self.draw, self.themes
        attributes = {"model": DeviceAttribute(string=draw.pick("ab")), "index": DeviceAttribute(int_=index)}
        if "lists" in themes:
            attributes["groups"] = DeviceAttribute(strings=(draw.pick("xy"), "z"))
        if "selectors" in themes and draw.chance(70):
            attributes["rare"] = DeviceAttribute(bool_=True)
        fields: dict[str, Any] = {}
        if "shares" in themes and draw.chance(75):
            fields["allow_multiple_allocations"] = True
        if "shares" in themes or "class-capacity" in themes:
            fields["allow_multiple_allocations"] = True if draw.chance(75) else None
            fields["capacity"] = {"memory": self.capacity()}
        if "partitions" in themes or "compatibility" in themes:
            fields["consumes_counters"] = (self.consumption(),)
        if "taints" in themes and draw.chance(40):
            fields["taints"] = (self.taint(),)
        if "binding" in themes and draw.chance(60):
            fields |= {"binding_conditions": ("Attached",), "binding_failure_conditions": ("Broken",)}
            if draw.chance(50):
                fields["binds_to_node"] = True
        if "node-resources" in themes and self.version not in ("1.34", "1.35", "1.36"):
            overhead = NodeAllocatableOverhead(per_pod=parse_quantity("500m")) if draw.chance(40) else None
            mapping = NodeAllocatableMapping(device_multiplier=parse_quantity(draw.pick(["1", "2"])))
            resource = NodeAllocatableResource(mapping=mapping, overhead=overhead)
            fields["node_allocatable_resources"] = {"cpu": resource}
        return Device(name=f"d{index}", attributes=attributes, **fields)

    def capacity(self) -> DeviceCapacity:
        draw = self.draw
        policy = None
        if draw.chance(70):
            values = tuple(map(parse_quantity, ("1", "3", "4")))
            step = CapacityRequestPolicyRange(
                min=parse_quantity("1"), max=parse_quantity("4"), step=parse_quantity("1")
            )
            policy = (
                CapacityRequestPolicy(default=parse_quantity("1"), valid_values=values)
                if draw.chance(50)
                else CapacityRequestPolicy(default=parse_quantity("2"), valid_range=step)
            )
        return DeviceCapacity(value=parse_quantity("4"), request_policy=policy)

    def consumption(self) -> DeviceCounterConsumption:
        groups = (self.draw.pick("xy"),) if "compatibility" in self.themes and self.draw.chance(80) else ()
        amount = Counter(value=parse_quantity("1" if groups else self.draw.pick(["1", "2", "2", "3", "4"])))
        return DeviceCounterConsumption(counter_set="parts", counters={"memory": amount}, compatibility_groups=groups)

    def taint(self) -> DeviceTaint:
        effects = (
            ["NoSchedule", "NoExecute"] if self.version in ("1.34", "1.35") else ["NoSchedule", "NoExecute", "None"]
        )
        return DeviceTaint(key="t", value="v", effect=self.draw.pick(effects))

    # Classes and claims.

    def classes(self) -> list[DeviceClass]:
        draw = self.draw
        extended = EXTENDED if "extended" in self.themes or "class-capacity" in self.themes else None
        capacity = None
        if "class-capacity" in self.themes:
            capacity = CapacityRequirements(requests=quantities(memory="2"))
        gpu = DeviceClassSpec(
            selectors=(selector(f'device.driver == "{GPU}"'),),
            extended_resource_name=extended,
            extended_resource_capacity_requests=capacity,
        )
        picky = DeviceClassSpec(
            selectors=(selector(f'device.driver == "{GPU}" && device.attributes["{GPU}"].model == "a"'),)
        )
        result = [
            DeviceClass(metadata=ObjectMeta(name="gpu"), spec=gpu),
            DeviceClass(metadata=ObjectMeta(name="picky"), spec=picky),
            DeviceClass(metadata=ObjectMeta(name="any")),
        ]
        if "selectors" in self.themes:
            rare = selector(f'device.attributes["{GPU}"].rare')
            result.append(DeviceClass(metadata=ObjectMeta(name="rare"), spec=DeviceClassSpec(selectors=(rare,))))
        return result if draw.chance(97) else result[:1]

    def class_name(self) -> str:
        names = ["gpu", "gpu", "gpu", "gpu", "picky", "any"]
        if "selectors" in self.themes:
            names += ["rare", "rare"]
        return self.draw.pick(names)

    def claim(self, name: str) -> ResourceClaim:
        return ResourceClaim(metadata=ObjectMeta(name=name, namespace="default"), spec=self.claim_spec())

    def template(self, name: str) -> ResourceClaimTemplate:
        spec = ResourceClaimTemplateSpec(spec=self.claim_spec())
        return ResourceClaimTemplate(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)

    def claim_spec(self) -> ResourceClaimSpec:
        draw = self.draw
        requests = [self.request(f"r{index}") for index in range(1 if draw.chance(70) else 2)]
        constraints: list[DeviceConstraint] = []
        if "constraints" in self.themes and draw.chance(60):
            if "shares" in self.themes and draw.chance(40):
                constraints.append(DeviceConstraint(distinct_attribute=f"{GPU}/{draw.pick(['model', 'index'])}"))
            else:
                constraints.append(DeviceConstraint(match_attribute=f"{GPU}/{draw.pick(['model', 'index'])}"))
        if "lists" in self.themes and draw.chance(50):
            constraints.append(DeviceConstraint(match_attribute=f"{GPU}/groups"))
        if "derived" in self.themes:
            constraints.append(DeviceConstraint(match_attribute="derived/half"))
        return ResourceClaimSpec(devices=DeviceClaim(requests=tuple(requests), constraints=tuple(constraints)))

    def request(self, name: str) -> DeviceRequest:
        draw = self.draw
        if "alternatives" in self.themes and draw.chance(60):
            return DeviceRequest(
                name=name,
                first_available=tuple(
                    DeviceSubRequest(name=f"s{index}", **self.body()) for index in range(draw.number(1, 3))
                ),
            )
        body = self.body()
        if "admin" in self.themes and draw.chance(50):
            body["admin_access"] = True
        return DeviceRequest(name=name, exactly=ExactDeviceRequest(**body))

    def body(self) -> dict[str, Any]:
        """What requests and their alternatives have in common."""
        draw, themes = self.draw, self.themes
        body: dict[str, Any] = {"device_class_name": self.class_name()}
        if "all" in themes and draw.chance(50):
            body["allocation_mode"] = "All"
        else:
            count = 33 if "all" in themes and draw.chance(10) else draw.pick([1, 1, 1, 2])
            body |= {"allocation_mode": "ExactCount", "count": count}
        if draw.chance(30):
            tests = [f'device.attributes["{GPU}"].?model.orValue("") == "a"', f'device.attributes["{GPU}"].index < 2']
            body["selectors"] = (selector(draw.pick(tests)),)
        if themes & {"taints", "rules"} and draw.chance(90 if "rules" in themes else 60):
            body["tolerations"] = (self.toleration(),)
        if "shares" in themes and draw.chance(70):
            amount = draw.pick(["1", "2", "3", "5"])
            body["capacity"] = CapacityRequirements(requests=quantities(memory=amount))
        if "derived" in themes:
            half = f'device.attributes["{GPU}"].?index.orValue(0) / 2'
            body["derived_attributes"] = (DeviceDerivedAttribute(name="derived/half", expression=half),)
        return body

    def toleration(self) -> DeviceToleration:
        draw = self.draw
        effect = "NoExecute" if "rules" in self.themes else draw.pick(["NoSchedule", "NoExecute"])
        seconds = draw.pick([None, 0, 30, 60, 60]) if effect == "NoExecute" else None
        return DeviceToleration(key="t", operator="Exists", effect=effect, toleration_seconds=seconds)
