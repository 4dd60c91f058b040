"""Random stories of many alike pods: what is remembered from one scheduling cycle to the next must change nothing.

Other than the general stories these repeat themselves: few templates, classes that select alike, extended resources
by several names, claims that pods share, and changes in between of everything that the answers depend on.
"""

import random

from dralang.api.decode import from_json
from dralang.api.deviceclass import DeviceClass
from dralang.api.nodes import Node
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimTemplate
from dralang.api.resourceslice import ResourceSlice
from dralang.check.scheduler_plugins import MODELLED
from dralang.run.simulation import Environment, Simulation
from dralang.run.workshop import Workshop
from dralang.scenario.model import Settings
from dralang.scenario.scheduler_config import FitScoring, PluginArguments, SchedulerConfig

DRIVER = "gpu.example.com"
ANY = f'device.driver == "{DRIVER}"'
SMALL = f'device.attributes["{DRIVER}"].size == "small"'
CLASSES = {
    "any": (ANY, None, ()),
    "twin": (ANY, "example.com/twin", ()),
    "small": (SMALL, "example.com/small", ()),
    "set-up": (ANY, "example.com/set-up", ({"opaque": {"driver": DRIVER, "parameters": {"mode": 1}}},)),
}
RESOURCES = (
    "example.com/twin", "example.com/small", "example.com/set-up", "example.com/nobody",
    "deviceclass.resource.kubernetes.io/any", "deviceclass.resource.kubernetes.io/small",
)  # fmt: skip
GATES = {"DRAExtendedResource": True}
NETWORK = "network"
"""A pool of devices that all nodes with a fast disk can use."""
SSD = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]}
SIZES = {"cpu": "4", "memory": "8Gi", "pods": "110"}

_WORKSHOP = Workshop()


class LargeStory:
    """One random story, told with ``tell``."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        scheduler = self.scoring() if self.chance.random() < 0.4 else None
        environment = _WORKSHOP.environment(Settings("1.37", GATES, {}, scheduler))
        assert isinstance(environment, Environment)
        self.simulation = Simulation(environment, manual_kubelet=self.chance.random() < 0.5)
        self.store = self.simulation.store
        self.made = 0
        changes = [self.cordon, self.taint, self.republish, self.unpublish, self.change_class, self.add_node]
        changes += [self.remove_node, self.size_node, self.delete_claim, self.restart]
        self.acts = [self.add_pod] * 24 + [self.delete_pod] * 6 + changes

    def scoring(self):
        """A scheduler that scores resources which devices serve."""
        names = ("cpu", "memory", *self.chance.sample(RESOURCES, 2))
        fit = FitScoring(type=self.chance.choice(("LeastAllocated", "MostAllocated")), resources=weighted(names))
        balanced = ("cpu", self.chance.choice(RESOURCES))
        return SchedulerConfig(
            name="default-scheduler", initial_backoff=1000, max_backoff=10_000, percentage_of_nodes_to_score=0,
            plugins=MODELLED, off_at=(), weights=(),
            arguments=PluginArguments(fit=fit, balanced_resources=balanced),
        )  # fmt: skip

    def tell(self):
        """From the first object to rest."""
        for name in CLASSES:
            self.add_class(name)
            for count in (1, 2):
                spec = {"spec": requests(name, count)}
                self.store.create(new(ResourceClaimTemplate, f"{name}-{count}", spec=spec))
        for _ in range(self.chance.randint(6, 14)):
            self.add_node()
        if self.chance.random() < 0.4:
            self.publish(NETWORK, 1)
        for _ in range(self.chance.randint(40, 80)):
            self.chance.choice(self.acts)()
            if self.chance.random() < 0.6:
                self.simulation.settle(self.simulation.now + self.chance.choice((0, 0, 1_000, 15_000)))
        self.simulation.settle(self.simulation.now + 400_000)

    def put(self, made):
        meta = made.metadata
        namespace = "" if isinstance(made, Node | ResourceSlice) else meta.namespace
        return self.store.create(made) if self.store.get(type(made), namespace, meta.name) is None else (
            self.store.update(made)
        )  # fmt: skip

    def some(self, kind):
        found = self.store.objects(kind)
        return self.chance.choice(found) if found else None

    def number(self):
        self.made += 1
        return self.made

    # Nodes and devices.

    def add_node(self):
        name = f"node-{self.number()}"
        labels = {"disk": self.chance.choice(("ssd", "hdd"))}
        pods = {"pods": self.chance.choice(("3", "110"))}
        self.put(new(Node, name, labels=labels, status={"allocatable": {**SIZES, **pods, **self.own_resources(0.2)}}))
        self.publish(name, 1)

    def own_resources(self, probability):
        if self.chance.random() >= probability:
            return {}
        return {self.chance.choice(RESOURCES): str(self.chance.randint(0, 2))}

    def publish(self, node, generation):
        devices = [
            {"name": f"gpu-{index}", "attributes": {"size": {"string": self.chance.choice(("small", "large"))}}}
            for index in range(self.chance.randint(0, 6))
        ]
        pool = {"name": node, "generation": generation, "resourceSliceCount": 1}
        where = {"nodeSelector": SSD} if node == NETWORK else {"nodeName": node}
        spec = {"driver": DRIVER, "pool": pool, "devices": devices, **where}
        self.put(new(ResourceSlice, f"{node}-gpus", spec=spec))

    def republish(self):
        if found := self.some(ResourceSlice):
            self.publish(found.spec.pool.name, found.spec.pool.generation + 1)

    def unpublish(self):
        if found := self.some(ResourceSlice):
            self.store.delete(ResourceSlice, "", found.metadata.name)

    def remove_node(self):
        if (found := self.some(Node)) and self.chance.random() < 0.5:
            self.store.delete(Node, "", found.metadata.name)

    def size_node(self):
        if found := self.some(Node):
            status = new(Node, "any", status={"allocatable": {**SIZES, **self.own_resources(0.5)}}).status
            self.store.patch_status(Node, "", found.metadata.name, allocatable=status.allocatable)

    def cordon(self):
        if found := self.some(Node):
            self.simulation.cordon(found.metadata.name, on=not found.spec.unschedulable)

    def taint(self):
        if found := self.some(Node):
            effect = self.chance.choice(("NoSchedule", "PreferNoSchedule"))
            taints = [] if found.spec.taints else [{"key": "busy", "effect": effect}]
            self.put(new(Node, found.metadata.name, labels=dict(found.metadata.labels), spec={"taints": taints}))

    # Classes and claims.

    def add_class(self, name):
        text, resource, config = CLASSES[name]
        spec = {"selectors": [{"cel": {"expression": text}}], "config": list(config)}
        if resource:
            spec["extendedResourceName"] = resource
        self.store.create(new(DeviceClass, name, spec=spec))

    def change_class(self):
        name = self.chance.choice(list(CLASSES))
        if self.store.delete(DeviceClass, "", name) is not None or self.chance.random() < 0.5:
            self.add_class(name)

    def delete_claim(self):
        if found := self.some(ResourceClaim):
            self.store.delete(ResourceClaim, "default", found.metadata.name)

    def restart(self):
        self.simulation.restart("scheduler")

    # Pods.

    def add_pod(self):
        resources = {}
        spec: dict[str, object] = {
            "containers": [{"name": self.chance.choice(("main", "other")), "resources": resources}]
        }
        draw = self.chance.random()
        if draw < 0.4:
            template = f"{self.chance.choice(list(CLASSES))}-{self.chance.choice((1, 1, 2))}"
            spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": template}]
        elif draw < 0.7:
            shared = f"shared-{self.chance.randint(1, 8)}"
            if self.store.get(ResourceClaim, "default", shared) is None:
                self.put(new(ResourceClaim, shared, spec=requests("any", 1)))
            spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": shared}]
        if draw > 0.65:
            wanted = {self.chance.choice(RESOURCES): self.chance.choice(("1", "1", "2"))}
            resources |= {"requests": dict(wanted), "limits": wanted}
        if self.chance.random() < 0.3:
            resources.setdefault("requests", {})["cpu"] = "2"
        if self.chance.random() < 0.2:
            spec["nodeSelector"] = {"disk": "ssd"}
        if self.chance.random() < 0.2:
            spec["tolerations"] = [{"operator": "Exists"}]
        self.put(new(Pod, f"pod-{self.number()}", spec=spec))

    def delete_pod(self):
        if found := self.some(Pod):
            self.store.delete(Pod, "default", found.metadata.name, grace_seconds=0)


def weighted(names):
    """Resources of equal weight."""
    return tuple((name, 1) for name in names)


def new(kind, name, *, labels=None, **body):
    """An object from its fields."""
    return from_json(kind, {"metadata": {"name": name, "namespace": "default", "labels": labels or {}}, **body})


def requests(class_, count):
    """What a claim asks for."""
    exactly = {"deviceClassName": class_, "count": count}
    same = [{"matchAttribute": f"{DRIVER}/size"}] if count > 1 and class_ == "twin" else []
    return {"devices": {"requests": [{"name": "gpu", "exactly": exactly}], "constraints": same}}
