"""CEL expectations: API-shaped objects by name, as JSON."""

from typing import Any, Final

from dralang.api.encode import to_json
from dralang.run.simulation import Simulation
from dralang.run.view import stored_type

# Variable -> kind. Maps from name (`namespace/name` outside of `default`) to the object.
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


def evaluate_cel(simulation: Simulation, expression: str) -> tuple[bool, str]:
    """Whether an expression is true of the objects as they are, and its value or error for people."""
    # cel-python takes a third of a second to start: only scenarios that need it pay.
    from dralang.cel.json_expressions import JsonExpressionError, evaluate_json  # noqa: PLC0415

    used = {name: _objects(simulation, kind) for name, kind in VARIABLES.items() if name in expression}
    try:
        value = evaluate_json(expression, used)
    except JsonExpressionError as error:
        return False, f"it cannot be evaluated: {error}"
    if value is True:
        return True, "it is true"
    return False, "it is false" if value is False else f"it is {value!r}, not a boolean"


def _objects(simulation: Simulation, kind: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for found in simulation.store.objects(stored_type(kind)):
        meta = found.metadata
        name = meta.name if meta.namespace in ("", "default") else f"{meta.namespace}/{meta.name}"
        result[name] = to_json(found)
    return result
