"""Small cases of every kind, as a recording would write them."""

from typing import Any

CEL: dict[str, Any] = {
    "kind": "cel",
    "id": "driver-name",
    "expression": 'device.driver == "dra.example.com"',
    "purpose": "selector",
    "driver": "dra.example.com",
    "device": {"name": "gpu-0"},
    "kubernetes": "1.37",
    "want": {"cost": 4, "result": True},
}
VALIDATION: dict[str, Any] = {
    "kind": "validation",
    "id": "class-without-name",
    "kubernetes": "1.37",
    "operation": "create",
    "object": {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {}, "spec": {}},
    "want": {
        "accepted": False,
        "reason": "Invalid",
        "causes": [{"field": "metadata.name", "type": "FieldValueRequired", "message": "name is required"}],
    },
}
NODE: dict[str, Any] = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}
CLAIM: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "one", "namespace": "default"},
    "spec": {
        "devices": {
            "requests": [
                {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
            ]
        }
    },
}
CLASS: dict[str, Any] = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}}
ALLOCATION: dict[str, Any] = {
    "kind": "allocation",
    "id": "no-devices",
    "kubernetes": "1.37",
    "featureGates": {},
    "objects": [NODE, CLASS, CLAIM],
    "steps": [{"node": "node-1", "allocate": ["default/one"]}],
    "want": [{"status": "unallocatable"}],
}
SCHEDULING: dict[str, Any] = {
    "kind": "scheduling",
    "id": "nothing-happens",
    "kubernetes": "1.37",
    "featureGates": {},
    "objects": [NODE],
    "steps": [{"wait": "1s"}],
    "want": [{"pods": {}, "claims": {}}],
}
CASES: dict[str, dict[str, Any]] = {
    "validation": VALIDATION,
    "cel": CEL,
    "allocation": ALLOCATION,
    "scheduling": SCHEDULING,
}
