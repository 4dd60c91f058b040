"""KEP-6406 where a scenario cannot look: servers and schedulers with different gates."""

from pathlib import Path

from builders import cluster, features, message, node, pod, quantities, where
from msgspec.structs import replace

from dralang.api.device import CapacityRequirements
from dralang.api.deviceclass import DeviceClass, DeviceClassSpec
from dralang.api.meta import ObjectMeta
from dralang.api.resourceslice import Device, DeviceCapacity, ResourcePool, ResourceSlice, ResourceSliceSpec
from dralang.check.analysis import Analyzer
from dralang.features import FeatureGates
from dralang.values.quantity import parse_quantity

GATE = "DRAExtendedResourceCapacity"
SHARED = DeviceClass(
    metadata=ObjectMeta(name="shared"),
    spec=DeviceClassSpec(
        extended_resource_name="example.com/share",
        extended_resource_capacity_requests=CapacityRequirements(requests=quantities(shares="1")),
    ),
)
DEVICE = Device(
    name="gpu-0", allow_multiple_allocations=True, capacity={"shares": DeviceCapacity(value=parse_quantity("4"))}
)
SLICE = ResourceSlice(
    metadata=ObjectMeta(name="gpus"),
    spec=ResourceSliceSpec(
        driver="gpu.example.com",
        node_name="n1",
        pool=ResourcePool(name="n1", generation=1, resource_slice_count=1),
        devices=(DEVICE,),
    ),
)


def user(name="user"):
    made = pod(name, requests={"example.com/share": "1"})
    container = made.spec.containers[0]
    resources = replace(container.resources, limits=container.resources.requests)
    return replace(made, spec=replace(made.spec, containers=(replace(container, resources=resources),)))


def test_a_scheduler_without_the_gate_never_turns_a_slice_into_a_whole_device():
    simulation = cluster(node("n1"), SLICE, version="1.38")
    simulation.store.features = features("1.38", **{GATE: True})
    simulation.store.create(SHARED)
    simulation.create(user())
    assert simulation.settle()
    assert where(simulation, "user") == {"user": None}
    assert f"1 device class shared requests capacity, but the {GATE} feature is disabled" in message(simulation, "user")
    assert simulation.claims() == []


def test_a_server_without_the_gate_drops_the_field():
    simulation = cluster(node("n1"), SLICE, SHARED, version="1.38")
    stored = simulation.store.get(DeviceClass, "", "shared")
    assert stored.spec.extended_resource_capacity_requests is None


def test_a_server_without_the_gate_keeps_what_is_stored():
    simulation = cluster(node("n1"), SLICE, version="1.38")
    simulation.store.features = features("1.38", **{GATE: True})
    simulation.store.create(SHARED)
    simulation.store.features = features("1.38")
    stored = simulation.store.get(DeviceClass, "", "shared")
    simulation.update(replace(stored, metadata=replace(stored.metadata, labels={"team": "a"})))
    stored = simulation.store.get(DeviceClass, "", "shared")
    assert stored.spec.extended_resource_capacity_requests is not None


def test_the_synthesized_request_has_the_amounts_of_its_class():
    simulation = cluster(node("n1"), SLICE, SHARED, version="1.38", gates={GATE: True})
    simulation.create(user())
    assert simulation.settle()
    (claim,) = simulation.claims()
    (request,) = claim.spec.devices.requests
    assert request.exactly.capacity == SHARED.spec.extended_resource_capacity_requests
    (result,) = claim.status.allocation.devices.results
    assert result.share_id
    assert {name: str(amount) for name, amount in result.consumed_capacity.items()} == {"shares": "1"}


def test_the_gate_needs_consumable_capacity():
    problems = FeatureGates.resolve("1.38", {GATE: True, "DRAConsumableCapacity": False})
    assert not isinstance(problems, FeatureGates)
    assert ("needs", GATE) in [(each.kind, each.gate) for each in problems]
    assert features("1.38", **{GATE: True}).enabled(GATE)


def test_the_selector_of_the_kep_is_refused():
    text = """kubernetes 1.38
gates { DRAExtendedResourceCapacity: true }
class gpu.nvidia.com-shared-1 {
  where `device.driver == "gpu.nvidia.com" && device.capacity["shares"].isGreaterThan(quantity("0"))`
}
"""
    analysis = Analyzer().text(Path("story.dra"), "story.dra", text.encode())
    (found,) = [each for each in analysis.diagnostics if each.severity == "error"]
    assert "found no matching overload for 'isGreaterThan'" in found.message
