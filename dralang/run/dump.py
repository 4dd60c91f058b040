"""A cluster as it stands in files: a dump of a live one, or manifests that nobody has applied yet.

A dump is taken as it is. Nothing acts on it (a controller would tidy up what the dump leaves out), the scheduler alone
has read everything, so that it can be asked. Manifests that no server has seen are applied, and the cluster settles.
"""

from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from dralang.api.meta import ObjectMeta
from dralang.api.namespaces import Namespace
from dralang.api.pods import Pod
from dralang.api.priority import PriorityClass
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimTemplate
from dralang.cluster.admission import SYSTEM_PRIORITIES, KubernetesObject
from dralang.controllers.pod_garbage import PodGarbageCollector
from dralang.run.simulation import Environment, Simulation

ADMIN_ACCESS_LABEL: Final = "resource.kubernetes.io/admin-access"
_LATE: Final = (Pod,)
_MOST_NAMES: Final = 5


def is_dump(objects: Iterable[KubernetesObject]) -> bool:
    """Whether a server has stored the objects: then one of them has a UID."""
    return any(each.metadata.uid for each in objects)


def open_cluster(
    environment: Environment, objects: Iterable[KubernetesObject], *, runs: bool = False
) -> tuple[Simulation, list[str]]:
    """The cluster of a dump, or of manifests after they were applied.

    Args:
        environment: version and gates.
        objects: of all kinds; what pods need may stand after them.
        runs: whether a dump goes on living, too; then the caller lets time pass.

    Returns:
        The cluster, and what could not be stored or is missing.
    """
    listed = list(objects)
    dump = is_dump(listed)
    simulation = Simulation(environment)
    if dump:
        for component in simulation.components():
            simulation.pause(component)
    refused: list[str] = []
    for each in _in_order(_with_what_is_left_out(listed) if dump else listed):
        for error in simulation.load([each]):
            refused.append(f"{type(each).__name__} {each.metadata.name}: {error.message}")
    missing = _missing_nodes(simulation)
    if missing:
        refused.append(_without_nodes(missing))
        # A node that is not in the files is left out, not gone: its pods stay.
        simulation.pause(PodGarbageCollector.name)
    if not dump:
        simulation.settle()
        return simulation, refused
    # INVARIANT: a paused component has heard of nothing; the scheduler reads everything at its start.
    simulation.scheduler.restart()
    if runs:
        for component in simulation.components():
            if component != PodGarbageCollector.name or not missing:
                simulation.resume(component)
    return simulation, refused


def _missing_nodes(simulation: Simulation) -> list[str]:
    """The nodes of pods that are in no file."""
    known = {each.metadata.name for each in simulation.nodes()}
    return sorted({each.spec.node_name for each in simulation.pods() if each.spec.node_name} - known)


def _without_nodes(missing: list[str]) -> str:
    names = ", ".join(missing[:_MOST_NAMES]) + (
        f" and {len(missing) - _MOST_NAMES} more" * (len(missing) > _MOST_NAMES)
    )
    return f"in no file: node{'s' * (len(missing) > 1)} {names}; pods there are taken to stay"


def _in_order(objects: list[Any]) -> list[Any]:
    return [each for each in objects if type(each) not in _LATE] + [each for each in objects if type(each) in _LATE]


def _with_what_is_left_out(objects: list[Any]) -> list[Any]:
    """A dump of some kinds only: what the API server once checked holds, whether the proof is in the dump or not."""
    classes = {each.metadata.name for each in objects if isinstance(each, PriorityClass)} | set(SYSTEM_PRIORITIES)
    namespaces = {each.metadata.name for each in objects if isinstance(each, Namespace)}
    labelled: dict[str, None] = {}
    result: list[Any] = []
    for each in objects:
        if isinstance(each, Pod) and each.spec.priority is not None and each.spec.priority_class_name not in classes:
            each = replace(each, spec=replace(each.spec, priority_class_name=""))
        if isinstance(each, ResourceClaim | ResourceClaimTemplate) and each.metadata.namespace not in namespaces:
            labelled[each.metadata.namespace] = None
        result.append(each)
    permitted = [Namespace(metadata=ObjectMeta(name=name, labels={ADMIN_ACCESS_LABEL: "true"})) for name in labelled]
    return permitted + result
