"""The variables of CEL expectations: maps from a name (`namespace/name` outside of `default`) to the object."""

from typing import Final

VARIABLES: Final = {
    "pods": "Pod",
    "claims": "ResourceClaim",
    "nodes": "Node",
    "slices": "ResourceSlice",
    "classes": "DeviceClass",
    "templates": "ResourceClaimTemplate",
    "taintrules": "DeviceTaintRule",
    "priorities": "PriorityClass",
    "podgroups": "PodGroup",
    "pdbs": "PodDisruptionBudget",
    "namespaces": "Namespace",
}
NAMES: Final = tuple(VARIABLES)
