"""Allocation cases written by hand, in few words."""

from functools import cache

from dralang.allocator.replay import replay_allocation
from dralang.cel.environment import Environment, parse_minor
from dralang.cel.expressions import CelExpressions

DRIVER = "drv.example.com"
GATES = {
    "DRAAdminAccess": True,
    "DRAPrioritizedList": True,
    "DRAPartitionableDevices": True,
    "DRADeviceTaints": True,
    "DRADeviceBindingConditions": True,
    "DRAConsumableCapacity": True,
}
ALPHA = {
    "DRAListTypeAttributes": True,
    "DRAOptionalNodeOperations": True,
    "DRADerivedAttributes": True,
    "DRADeviceCompatibilityGroups": True,
}


def node(name="n", *, declares=(), **labels):
    status = {"declaredFeatures": list(declares)} if declares else {}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def slice_(name, *devices, pool="p", node="n", count=1, generation=1, driver=DRIVER, **spec):
    place = {"nodeName": node} if node is not None else {}
    return {
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "pool": {"name": pool, "generation": generation, "resourceSliceCount": count},
            **place,
            "devices": [device(each) if isinstance(each, str) else each for each in devices],
            **spec,
        },
    }


def device(name, *, attributes=None, capacity=None, counters=None, groups=None, shared=False, **fields):
    result = {"name": name, **fields}
    if attributes:
        result["attributes"] = attributes
    if capacity:
        result["capacity"] = {
            key: value if isinstance(value, dict) else {"value": value} for key, value in capacity.items()
        }
    if counters:
        consumption = {"counterSet": "cs", "counters": {key: {"value": value} for key, value in counters.items()}}
        if groups:
            consumption["compatibilityGroups"] = groups
        result["consumesCounters"] = [consumption]
    if shared:
        result["allowMultipleAllocations"] = True
    return result


def counter_slice(name, *, pool="p", count=2, **counters):
    amounts = {key: {"value": value} for key, value in counters.items()}
    return slice_(name, pool=pool, count=count, sharedCounters=[{"name": "cs", "counters": amounts}])


def class_(name="any", *selectors):
    return {
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": text}} for text in selectors]},
    }


def request(name="r", *, count=1, every=False, capacity=None, selectors=(), first=None, **fields):
    if first is not None:
        return {"name": name, "firstAvailable": [{"name": key, **each["exactly"]} for key, each in first.items()]}
    wish = {"deviceClassName": "any", "allocationMode": "All" if every else "ExactCount", **fields}
    if not every:
        wish["count"] = count
    if capacity is not None:
        wish["capacity"] = {"requests": capacity}
    if selectors:
        wish["selectors"] = [{"cel": {"expression": text}} for text in selectors]
    return {"name": name, "exactly": wish}


def claim(name, *requests, results=None, **devices):
    result = {
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"devices": {"requests": list(requests), **devices}},
    }
    if results is not None:
        result["status"] = {"allocation": {"devices": {"results": results}}}
    return result


def held(device_name, **fields):
    return {"request": "r", "driver": DRIVER, "pool": "p", "device": device_name, **fields}


def case(*objects, steps, gates=None, alpha=False):
    """A case; a step is the names of the claims to allocate on node ``n``."""
    gates = {**GATES, **(ALPHA if alpha else {}), **(gates or {})}
    if not any(each["kind"] == "DeviceClass" for each in objects):
        objects = (*objects, class_())
    if not any(each["kind"] == "Node" for each in objects):
        objects = (*objects, node())
    return {
        "kind": "allocation",
        "id": "by-hand",
        "kubernetes": "1.37",
        "featureGates": gates,
        "objects": list(objects),
        "steps": [{"node": "n", "allocate": [f"ns/{name}" for name in step]} for step in steps],
    }


@cache
def environment_expressions(version, lists):
    return CelExpressions(Environment(minor=parse_minor(version), lists=lists))


def expressions(profile):
    return environment_expressions(profile.version, profile.features.list_type_attributes)


def answers(problem, **options):
    """For each step the devices, or the status if there are none."""
    return [short(step) for step in replay_allocation(problem, expressions, **options)]


def short(step):
    if step["status"] != "allocated":
        return step["status"]
    return [
        result["device"]
        for allocation in step["allocations"].values()
        for result in allocation["devices"].get("results", ())
    ]
