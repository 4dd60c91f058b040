"""Statements that change the cluster, carried out."""

from typing import Any, assert_never

from msgspec.structs import replace

from dralang.api.affinity import Taint
from dralang.api.allocation import AllocatedDeviceStatus
from dralang.api.decode import DecodeError, from_json
from dralang.api.encode import to_json
from dralang.api.kinds import KINDS
from dralang.api.meta import Condition
from dralang.api.resourceslice import ResourceSlice
from dralang.cluster.errors import ApiError
from dralang.cluster.timestamps import format_time
from dralang.run import view
from dralang.run.simulation import Simulation
from dralang.run.states import describe_pod
from dralang.scenario import steps as s
from dralang.scenario.entries import entry_index
from dralang.scenario.keys import ObjectKey
from dralang.scheduler.dynamicresources.search import SEARCH

ChangeStep = (
    s.Create | s.Act | s.SetField | s.SetLabels | s.TaintNode | s.TaintDevice | s.UntaintDevice
    | s.Publish | s.SetCondition | s.Component | s.FailNext
)  # fmt: skip


def carry_out(simulation: Simulation, step: ChangeStep) -> ApiError | str | None:
    """Carry out a statement; what went wrong, or None."""
    match step:
        case s.Create():
            return _error(simulation.create(step.object))  # type: ignore[type-var]  # kinds of the API have metadata
        case s.Act():
            return _act(simulation, step)
        case s.SetField():
            return _set_field(simulation, step)
        case s.SetLabels():
            return _set_labels(simulation, step)
        case s.TaintNode():
            return _taint_node(simulation, step)
        case s.TaintDevice():
            return _taint_device(simulation, step)
        case s.UntaintDevice():
            return _untaint_device(simulation, step)
        case s.Publish():
            return _publish(simulation, step)
        case s.SetCondition():
            return _set_condition(simulation, step)
        case s.Component():
            return _component(simulation, step)
        case s.FailNext():
            key = step.key
            simulation.store.fail_next(step.operation, view.stored_type(key.kind), key.namespace, key.name, step.count)
            return None
        case _:
            assert_never(step)


def _component(simulation: Simulation, step: s.Component) -> str | None:
    if step.component != SEARCH and step.component not in simulation.components():
        return f"{step.component} does not run with these feature gates"
    match step.action:
        case "pause":
            simulation.pause(step.component)
        case "resume":
            simulation.resume(step.component)
        case "restart":
            simulation.restart(step.component)
        case "delay":
            simulation.delay(step.component, step.milliseconds)
    return None


def _error(result: object) -> ApiError | None:
    return result if isinstance(result, ApiError) else None


def _missing(key: ObjectKey) -> str:
    return f"there is no {KINDS[key.kind].keyword or key.kind} {key.spoken}"


def _act(simulation: Simulation, step: s.Act) -> ApiError | str | None:
    key = step.key
    if "*" in key.name:
        found = view.matching(simulation, key.kind, key.namespace, key.name)
        if not found:
            return f"no {KINDS[key.kind].keyword or key.kind} matches `{key.name}`"
        for each in found:
            error = _act_on(simulation, step.action, ObjectKey(key.kind, key.namespace, each.metadata.name))
            if error is not None:
                return error
        return None
    return _act_on(simulation, step.action, key)


def _act_on(simulation: Simulation, action: str, key: ObjectKey) -> ApiError | str | None:
    found = view.find(simulation, key)
    if found is None:
        return _missing(key)
    match action:
        case "delete":
            return simulation.delete(view.stored_type(key.kind), key.namespace, key.name)
        case "finish" | "fail":
            if not found.spec.node_name:
                return f"{describe_pod(simulation, key.name, found)}; only a pod on a node can {action}"
            end = simulation.finish if action == "finish" else simulation.fail
            return end(key.namespace, key.name)
        case "cordon":
            return simulation.cordon(key.name)
        case "uncordon":
            return simulation.uncordon(key.name)
        case _:
            raise AssertionError(action)


def _replace(simulation: Simulation, key: ObjectKey, old: Any, json: dict[str, Any]) -> ApiError | str | None:
    """Write an object's changed JSON back: metadata and spec, then the status if it changed."""
    try:
        new: Any = from_json(type(old), json)
    except (DecodeError, ValueError) as error:
        return str(error)
    result = simulation.update(new)
    if isinstance(result, ApiError):
        return result
    if getattr(old, "status", None) != getattr(new, "status", None):
        current: Any = view.find(simulation, key)
        return _error(simulation.update_status(replace(current, status=new.status)))
    return None


def _set_field(simulation: Simulation, step: s.SetField) -> ApiError | str | None:
    old = view.find(simulation, step.key)
    if old is None:
        return _missing(step.key)
    json = to_json(old)
    if not _put(json, step.path, step.value):
        return f"`{'.'.join(str(part) for part in step.path)}` leads nowhere in {step.key}"
    return _replace(simulation, step.key, old, _bare(json))


def _bare(json: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in json.items() if name not in ("kind", "apiVersion")}


def _put(here: Any, path: tuple[str | int, ...], value: object) -> bool:
    """Put a value at a path of JSON; whether the path leads there."""
    step, rest = path[0], path[1:]
    if isinstance(here, list):
        index = entry_index(here, step)
        if index is None:
            return False
        if not rest:
            here[index] = value
            return True
        return _put(here[index], rest, value)
    if not isinstance(here, dict) or not isinstance(step, str):
        return False
    if not rest:
        if value is None:
            here.pop(step, None)
        else:
            here[step] = value
        return True
    if step not in here:
        here[step] = {}
    return _put(here[step], rest, value)


def _set_labels(simulation: Simulation, step: s.SetLabels) -> ApiError | str | None:
    old = view.find(simulation, step.key)
    if old is None:
        return _missing(step.key)
    labels = dict(old.metadata.labels)
    for name, value in step.labels:
        if value is None:
            labels.pop(name, None)
        else:
            labels[name] = value
    return _error(simulation.update(replace(old, metadata=replace(old.metadata, labels=labels))))


def _taint_node(simulation: Simulation, step: s.TaintNode) -> ApiError | str | None:
    node = view.find(simulation, step.key)
    if node is None:
        return _missing(step.key)
    others = tuple(
        taint
        for taint in node.spec.taints
        if taint.key != step.taint_key or (step.effect is not None and taint.effect != step.effect)
    )
    if step.value is None:
        if len(others) == len(node.spec.taints):
            return f"{step.key} has no taint {step.taint_key}"
        taints = others
    else:
        taints = (*others, Taint(key=step.taint_key, value=step.value, effect=step.effect or ""))
    return _error(simulation.update(replace(node, spec=replace(node.spec, taints=taints))))


def _published(simulation: Simulation, name: str) -> view.PublishedDevice | str:
    found = view.published(simulation, name)
    if len(found) == 1:
        return found[0]
    if not found:
        return f"no slice has a device {name}"
    return f"{name} means several devices: {', '.join(each.full_name for each in found)}"


def _taint_device(simulation: Simulation, step: s.TaintDevice) -> ApiError | str | None:
    found = _published(simulation, step.device)
    if isinstance(found, str):
        return found
    others = tuple(t for t in found.device.taints if (t.key, t.effect) != (step.taint.key, step.taint.effect))
    return _write_taints(simulation, found, (*others, step.taint))


def _untaint_device(simulation: Simulation, step: s.UntaintDevice) -> ApiError | str | None:
    found = _published(simulation, step.device)
    if isinstance(found, str):
        return found
    left = tuple(
        taint
        for taint in found.device.taints
        if taint.key != step.taint_key or (step.effect is not None and taint.effect != step.effect)
    )
    if len(left) == len(found.device.taints):
        return f"{found.full_name} has no taint {step.taint_key}"
    return _write_taints(simulation, found, left)


def _write_taints(simulation: Simulation, found: view.PublishedDevice, taints: tuple[Any, ...]) -> ApiError | None:
    """The driver publishes the device with other taints, in the same slice."""
    spec = found.slice.spec
    devices = tuple(replace(d, taints=taints) if d.name == found.device.name else d for d in spec.devices)
    changed: ResourceSlice = replace(found.slice, spec=replace(spec, devices=devices))
    return _error(simulation.update(changed))


def _publish(simulation: Simulation, step: s.Publish) -> ApiError | None:
    """A new generation begins with the first slice published again; the others of the pool follow into it."""
    new = step.object
    pool = new.spec.pool
    in_pool = [
        each
        for each in simulation.store.objects(ResourceSlice)
        if (each.spec.driver, each.spec.pool.name) == (new.spec.driver, pool.name)
    ]
    newest = max((each.spec.pool.generation for each in in_pool), default=0)
    old = next((each for each in in_pool if each.metadata.name == new.metadata.name), None)
    begun = old is not None and old.spec.pool.generation < newest
    generation = newest if begun else newest + 1
    count = pool.resource_slice_count or len({each.metadata.name for each in in_pool} | {new.metadata.name})
    spec = replace(new.spec, pool=replace(pool, generation=generation, resource_slice_count=count))
    existing = view.find(simulation, step.key)
    if existing is None:
        return _error(simulation.create(replace(new, spec=spec)))
    return _error(simulation.update(replace(existing, spec=spec)))


def _set_condition(simulation: Simulation, step: s.SetCondition) -> ApiError | str | None:
    """What a driver reports of a device that the claim has."""
    claim = simulation.claim(step.key.namespace, step.key.name)
    if claim is None:
        return _missing(step.key)
    result = next(
        (each for each in view.results_of(claim) if view.is_suffix(step.device, view.full_device_name(each))), None
    )
    if result is None:
        return f"{step.key} does not have device {step.device}"
    condition = Condition(
        type=step.condition,
        status=step.status,
        reason="SetByScenario",
        message=step.message,
        last_transition_time=format_time(simulation.now),
    )
    devices = list(claim.status.devices)
    own = (result.driver, result.pool, result.device, result.share_id)
    at = next(
        (i for i, each in enumerate(devices) if (each.driver, each.pool, each.device, each.share_id) == own), None
    )
    if at is None:
        devices.append(
            AllocatedDeviceStatus(
                driver=result.driver, pool=result.pool, device=result.device, share_id=result.share_id
            )
        )
        at = len(devices) - 1
    others = tuple(each for each in devices[at].conditions if each.type != step.condition)
    devices[at] = replace(devices[at], conditions=(*others, condition))
    status = replace(claim.status, devices=tuple(devices))
    return _error(simulation.update_status(replace(claim, status=status)))
