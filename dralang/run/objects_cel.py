"""CEL expectations: API-shaped objects by name, as JSON."""

from typing import Any

from dralang.api.encode import to_json
from dralang.cel.object_expressions import ObjectExpressionError, cel_value, compile_object_expression
from dralang.run.simulation import Simulation
from dralang.run.view import stored_type
from dralang.scenario.variables import NAMES, VARIABLES


def evaluate_cel(simulation: Simulation, expression: str) -> tuple[bool, str]:
    """Whether an expression is true of the objects as they are, and its value or error for people."""
    try:
        compiled = compile_object_expression(expression, NAMES)
        variables = {name: _objects(simulation, VARIABLES[name]) for name in sorted(compiled.names)}
        value = compiled.evaluate(variables)
    except ObjectExpressionError as error:
        return False, f"it cannot be evaluated: {error}"
    if value is True:
        return True, "it is true"
    if value is not False:
        return False, f"it is {value!r}, not a boolean"
    deciding = compiled.deciding(variables)
    return False, f"it is false: {deciding}" if deciding else "it is false"


def _objects(simulation: Simulation, kind: str) -> dict[str, Any]:
    """The objects of a kind as CEL sees them; an object's form is made once a version of it."""
    made = simulation.cel_forms
    result: dict[str, Any] = {}
    for found in simulation.store.objects(stored_type(kind)):
        meta = found.metadata
        key = (kind, meta.uid, meta.resource_version)
        form = made.get(key)
        if form is None:
            form = made[key] = cel_value(to_json(found))
        result[meta.name if meta.namespace in ("", "default") else f"{meta.namespace}/{meta.name}"] = form
    return result
