"""Objects for tests, in as few words as possible."""

from dralang.api.containers import Container, ResourceRequirements
from dralang.api.device import CELDeviceSelector, DeviceSelector, DeviceToleration
from dralang.api.deviceclass import DeviceClass, DeviceClassSpec
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import Node, NodeSpec, NodeStatus
from dralang.api.pods import Pod, PodResourceClaim, PodSpec
from dralang.api.priority import PriorityClass
from dralang.api.resourceclaim import (
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimSpec,
    ResourceClaimTemplate,
    ResourceClaimTemplateSpec,
)
from dralang.api.resourceslice import Device, ResourcePool, ResourceSlice, ResourceSliceSpec
from dralang.features import FeatureGates
from dralang.run.simulation import Environment, Simulation
from dralang.values.quantity import parse_quantity

DRIVER = "gpu.example.com"


class DriverExpressions:
    """Device expressions for tests: the text of a selector is the name of the driver it selects."""

    def prepare(self, driver, device):
        return driver

    def selector(self, expression):
        return lambda driver: driver == expression

    def derived(self, expression):
        raise NotImplementedError


def quantities(**amounts):
    return {name: parse_quantity(text) for name, text in amounts.items()}


def node(name, *, labels=None, taints=(), **allocatable):
    return Node(
        metadata=ObjectMeta(name=name, labels=labels or {}),
        spec=NodeSpec(taints=taints),
        status=NodeStatus(allocatable=quantities(**allocatable)),
    )


def gpu_slice(node_name, count=1, *, generation=1, taints=()):
    devices = tuple(Device(name=f"gpu-{index}", taints=taints) for index in range(count))
    pool = ResourcePool(name=node_name, generation=generation, resource_slice_count=1)
    spec = ResourceSliceSpec(driver=DRIVER, node_name=node_name, pool=pool, devices=devices)
    return ResourceSlice(metadata=ObjectMeta(name=f"{node_name}-gpus"), spec=spec)


def gpu_class(name="gpu", *, extended=None):
    selectors = (DeviceSelector(cel=CELDeviceSelector(expression=DRIVER)),)
    spec = DeviceClassSpec(selectors=selectors, extended_resource_name=extended)
    return DeviceClass(metadata=ObjectMeta(name=name), spec=spec)


def claim_spec(count=1, class_name="gpu", tolerations=()):
    exactly = ExactDeviceRequest(
        device_class_name=class_name, allocation_mode="ExactCount", count=count, tolerations=tolerations
    )
    return ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name="gpu", exactly=exactly),)))


def tolerate_forever(effect="NoExecute"):
    return DeviceToleration(operator="Exists", effect=effect)


def claim(name, count=1, class_name="gpu"):
    return ResourceClaim(metadata=ObjectMeta(name=name), spec=claim_spec(count, class_name))


def template(name="one-gpu", count=1, class_name="gpu", tolerations=()):
    spec = ResourceClaimTemplateSpec(spec=claim_spec(count, class_name, tolerations))
    return ResourceClaimTemplate(metadata=ObjectMeta(name=name), spec=spec)


def priority(name, value):
    return PriorityClass(metadata=ObjectMeta(name=name), value=value)


def pod(name, *, from_template=None, uses=None, requests=None, grace=0, **spec):
    """A pod with one container.

    Args:
        name: its name.
        from_template: template of its claim `gpu`.
        uses: names of claims.
        requests: resources of the container.
        grace: seconds it takes to end.
        spec: further fields of the spec.
    """
    entries = [PodResourceClaim(name=each, resource_claim_name=each) for each in uses or ()]
    if from_template is not None:
        entries.append(PodResourceClaim(name="gpu", resource_claim_template_name=from_template))
    resources = ResourceRequirements(requests={key: parse_quantity(text) for key, text in (requests or {}).items()})
    return Pod(
        metadata=ObjectMeta(name=name),
        spec=PodSpec(
            containers=(Container(name="main", image="app", resources=resources),),
            resource_claims=tuple(entries),
            termination_grace_period_seconds=grace,
            **spec,
        ),
    )


def features(version="1.37", **gates):
    resolved = FeatureGates.resolve(version, gates)
    assert isinstance(resolved, FeatureGates), resolved
    return resolved


def cluster(*objects, version="1.37", gates=None, quirks=None, **options):
    """A simulation with these objects, at rest."""
    environment = Environment(features(version, **(gates or {})), DriverExpressions(), quirks)
    simulation = Simulation(environment, **options)
    assert simulation.load(objects) == []
    assert simulation.settle()
    return simulation


def gpu_cluster(gpus=1, *more, **options):
    """One node with some GPUs, the class `gpu` and the template `one-gpu`."""
    return cluster(node("worker-1"), gpu_slice("worker-1", gpus), gpu_class(), template(), *more, **options)


def create(simulation, *objects):
    """Create the objects at this instant, one after the other, and let things settle."""
    for each in objects:
        created = simulation.create(each)
        assert isinstance(created, type(each)), created
    assert simulation.settle()


def message(simulation, name):
    """Why the scheduler says a pod waits."""
    found = simulation.pod("default", name)
    return next((each.message for each in found.status.conditions if each.type == "PodScheduled"), None)


def where(simulation, *names):
    """The nodes of the pods, None for those that wait, `gone` for those that do not exist."""
    result = {}
    for name in names:
        found = simulation.pod("default", name)
        result[name] = "gone" if found is None else found.spec.node_name or None
    return result


def devices(simulation, name):
    """The devices of the claim with this name, or None if it is not allocated."""
    found = simulation.claim("default", name)
    if found is None or found.status.allocation is None:
        return None
    return [each.device for each in found.status.allocation.devices.results]
