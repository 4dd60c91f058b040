"""Fields of features that are off: every rule forgets its fields, says where they were, and keeps what is in use."""

from typing import Any

import pytest
from builders import features

from dralang.api.decode import from_json
from dralang.api.encode import to_json
from dralang.api.gated import _GATED, dropped_fields, without_gated
from dralang.api.kinds import KINDS
from dralang.features import FeatureGates

ALPHA = {"AllAlpha": True, "AllBeta": True}


def slice_of(device=None, **spec):
    return {
        "kind": "ResourceSlice",
        "spec": {"driver": "d", "pool": {"name": "p"}, "devices": [{"name": "x", **(device or {})}], **spec},
    }


def claim_of(request=None, kind="ResourceClaim", alternatives=None, **devices):
    body = {"name": "r", "exactly": {"deviceClassName": "c", **(request or {})}}
    if alternatives is not None:
        body = {"name": "r", "firstAvailable": alternatives}
    spec = {"devices": {"requests": [body], **devices}}
    return {"kind": kind, "spec": spec if kind == "ResourceClaim" else {"spec": spec}}


def pod_of(container=None, **spec):
    return {"kind": "Pod", "spec": {"containers": [{"name": "c", **(container or {})}], **spec}}


def group_of(**spec):
    return {"kind": "PodGroup", "spec": spec}


PLAIN = {
    "ResourceSlice": slice_of(),
    "ResourceClaim": claim_of(),
    "ResourceClaimTemplate": claim_of(kind="ResourceClaimTemplate"),
    "DeviceClass": {"kind": "DeviceClass"},
    "ResourcePoolStatusRequest": {"kind": "ResourcePoolStatusRequest", "spec": {"driver": "d"}},
    "PodGroup": {"kind": "PodGroup"},
    "Pod": pod_of(),
    "Node": {"kind": "Node"},
}
DEVICE = "spec.devices.0"
REQUEST = "spec.devices.requests.0.exactly"
TAINT = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
POLICY = {"value": "1", "requestPolicy": {"default": "1"}}
TOLERATIONS = {"tolerations": [{"operator": "Exists"}]}
CASES = [
    ("1.35", slice_of(TAINT), "DRADeviceTaints", {f"{DEVICE}.taints"}),
    (
        "1.35",
        slice_of({"nodeName": "n", "consumesCounters": [{"counterSet": "s"}]}, perDeviceNodeSelection=True),
        "DRAPartitionableDevices",
        {"spec.perDeviceNodeSelection", f"{DEVICE}.consumesCounters", f"{DEVICE}.nodeName"},
    ),
    ("1.35", slice_of(sharedCounters=[{"name": "s"}]), "DRAPartitionableDevices", {"spec.sharedCounters"}),
    (
        "1.35",
        slice_of({"bindsToNode": True, "bindingConditions": ["a"], "bindingFailureConditions": ["b"]}),
        "DRADeviceBindingConditions",
        {f"{DEVICE}.{name}" for name in ("bindsToNode", "bindingConditions", "bindingFailureConditions")},
    ),
    (
        "1.35",
        slice_of({"allowMultipleAllocations": True, "capacity": {"m": POLICY}}),
        "DRAConsumableCapacity",
        {f"{DEVICE}.allowMultipleAllocations", f"{DEVICE}.capacity.m.requestPolicy"},
    ),
    (
        "1.37",
        slice_of({"consumesCounters": [{"counterSet": "s", "compatibilityGroups": ["g"]}]}),
        "DRADeviceCompatibilityGroups",
        {f"{DEVICE}.consumesCounters.0.compatibilityGroups"},
    ),
    (
        "1.37",
        slice_of({"nodeAllocatableResources": {"cpu": {"mapping": {"deviceMultiplier": "1"}}}}),
        "DRANodeAllocatableResources",
        {f"{DEVICE}.nodeAllocatableResources"},
    ),
    ("1.37", slice_of({"attributes": {"a": {"ints": [1]}}}), "DRAListTypeAttributes", {f"{DEVICE}.attributes.a.ints"}),
    ("1.37", slice_of(partitionTypeAttribute="d/x"), "DRAPartitionableDevicesType", {"spec.partitionTypeAttribute"}),
    ("1.37", slice_of(skipNodeOperations=["*"]), "DRAOptionalNodeOperations", {"spec.skipNodeOperations"}),
    ("1.35", claim_of(TOLERATIONS), "DRADeviceTaints", {f"{REQUEST}.tolerations"}),
    (
        "1.34",
        claim_of(alternatives=[{"name": "a", "deviceClassName": "c"}]),
        "DRAPrioritizedList",
        {"spec.devices.requests.0.firstAvailable"},
    ),
    ("1.34", claim_of({"adminAccess": False}), "DRAAdminAccess", {f"{REQUEST}.adminAccess"}),
    (
        "1.35",
        claim_of({"capacity": {"requests": {"m": "1"}}}, constraints=[{"distinctAttribute": "d/x"}]),
        "DRAConsumableCapacity",
        {f"{REQUEST}.capacity", "spec.devices.constraints.0.distinctAttribute"},
    ),
    (
        "1.37",
        claim_of({"derivedAttributes": [{"name": "d/x", "expression": "1"}]}),
        "DRADerivedAttributes",
        {f"{REQUEST}.derivedAttributes"},
    ),
    (
        "1.35",
        claim_of(TOLERATIONS, kind="ResourceClaimTemplate"),
        "DRADeviceTaints",
        {"spec.spec.devices.requests.0.exactly.tolerations"},
    ),
    (
        "1.35",
        {"kind": "DeviceClass", "spec": {"extendedResourceName": "a.b/c"}},
        "DRAExtendedResource",
        {"spec.extendedResourceName"},
    ),
    (
        "1.38",
        {"kind": "DeviceClass", "spec": {"extendedResourceCapacityRequests": {"requests": {"m": "1"}}}},
        "DRAExtendedResourceCapacity",
        {"spec.extendedResourceCapacityRequests"},
    ),
    (
        "1.37",
        {"kind": "ResourcePoolStatusRequest", "spec": {"driver": "d", "defaultPartitionTypeAttribute": "d/x"}},
        "DRAPartitionableDevicesType",
        {"spec.defaultPartitionTypeAttribute"},
    ),
    ("1.37", group_of(resourceClaims=[{"name": "c"}]), "DRAWorkloadResourceClaims", {"spec.resourceClaims"}),
    ("1.37", group_of(schedulingConstraints={}), "TopologyAwareWorkloadScheduling", {"spec.schedulingConstraints"}),
    ("1.37", group_of(preemptionPolicy="Never"), "PodGroupPreemptionPolicy", {"spec.preemptionPolicy"}),
    ("1.37", group_of(parentCompositePodGroupName="p"), "CompositePodGroup", {"spec.parentCompositePodGroupName"}),
    ("1.37", pod_of(schedulingGroup={"podGroupName": "g"}), "GenericWorkload", {"spec.schedulingGroup"}),
    (
        "1.34",
        pod_of({"resources": {"claims": [{"name": "x"}]}}, resourceClaims=[{"name": "x", "resourceClaimName": "y"}]),
        "DynamicResourceAllocation",
        {"spec.resourceClaims", "spec.containers.0.resources.claims"},
    ),
    ("1.37", pod_of(resources={"requests": {"cpu": "1"}}), "PodLevelResources", {"spec.resources"}),
    (
        "1.34",
        pod_of(securityContext={"supplementalGroupsPolicy": "Strict"}),
        "SupplementalGroupsPolicy",
        {"spec.securityContext.supplementalGroupsPolicy"},
    ),
    (
        "1.37",
        pod_of({"volumeMounts": [{"name": "v", "mountPath": "/v", "bindMountOptions": ["noexec"]}]}),
        "VolumeBindMountOptions",
        {"spec.containers.0.volumeMounts.0.bindMountOptions"},
    ),
    (
        "1.35",
        {"kind": "Node", "status": {"declaredFeatures": ["A"]}},
        "NodeDeclaredFeatures",
        {"status.declaredFeatures"},
    ),
]  # fmt: skip


def built(json):
    info = KINDS[json["kind"]]
    return from_json(info.type, {"metadata": {"name": "x"}, **json})


@pytest.fixture(params=CASES, ids=[f"{json['kind']}-{gate}-{version}" for version, json, gate, _ in CASES])
def case(request):
    version, json, gate, paths = request.param
    on = features(version).on | ({"DRAPartitionableDevices"} if gate == "DRADeviceCompatibilityGroups" else set())
    off = FeatureGates(version, on - {gate})
    return built(json), built(PLAIN[json["kind"]]), gate, paths, off


def test_a_new_object_loses_the_fields_and_nothing_else(case):
    new, _, gate, paths, off = case
    stored = without_gated(new, None, off)
    found = [each for each in dropped_fields(new, off) if gate in each.gates]
    assert [{".".join(map(str, path)) for path in each.paths} for each in found] == [paths]
    assert found[0].gates == (gate,)
    if len(dropped_fields(new, off)) == 1:
        left: Any = to_json(new)
        for path in found[0].paths:
            here = left
            for step in path[:-1]:
                here = here[step]
            del here[path[-1]]
        assert stored == from_json(type(new), left)
    assert dropped_fields(stored, off) == []


def test_a_change_may_not_bring_them_in_and_need_not_take_them_out(case):
    new, plain, _, _, off = case
    assert not dropped_fields(without_gated(new, plain, off), off)
    assert without_gated(new, new, off) is new


def test_with_everything_on_nothing_is_lost(case):
    new, *_ = case
    for version in ("1.37", "1.38"):
        on = features(version, **ALPHA)
        kept = dropped_fields(new, on)
        assert {gate for each in kept for gate in each.gates} <= {
            "DRAExtendedResourceCapacity",
            "PodGroupPreemptionPolicy",
        }
        assert bool(kept) == (without_gated(new, None, on) is not new)


def test_every_rule_has_a_case():
    known = {(kind.__name__, rule.gates[0]) for kind, gated in _GATED.items() for rule in gated.rules}
    seen = {(json["kind"], gate) for _, json, gate, _ in CASES}
    of_claims = {(kind, gate) for kind, gate in known if kind == "ResourceClaimTemplate"}
    assert known - of_claims == seen - of_claims


def test_binding_conditions_need_two_gates():
    new = built(slice_of({"bindingConditions": ["a"]}))
    off = features("1.36", DRADeviceBindingConditions=False, DRAResourceClaimDeviceStatus=False,
                   DRAResourceClaimGranularStatusAuthorization=False)  # fmt: skip
    (dropped,) = dropped_fields(new, off)
    assert dropped.gates == ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus")
