"""Recorded allocation cases answered: objects and steps in, one answer per step out.

A case is a JSON object: ``kubernetes``, ``featureGates``, ``objects`` and ``steps``; each step names a node, the
claims to allocate together and the claims whose allocation goes first. A success is kept for the next step.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec.structs import replace

from dralang.allocator.allocate import DEFAULT_BUDGET, allocate
from dralang.allocator.inventory import Inventory
from dralang.allocator.outcome import Allocated, FatalError, GaveUp, NodeError, Unallocatable
from dralang.allocator.profiles import AllocatorProfile, allocator_profile
from dralang.allocator.state import AllocatedState
from dralang.api.allocation import AllocationResult
from dralang.api.decode import from_json
from dralang.api.deviceclass import DeviceClass
from dralang.api.encode import to_json
from dralang.api.expressions import DeviceExpressions
from dralang.api.nodes import Node
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import ResourceSlice

Case = Mapping[str, Any]
ExpressionsFactory = Callable[[AllocatorProfile], DeviceExpressions]


class CaseObjects:
    """The objects of a case, read.

    Attributes:
        nodes: by name.
        classes: in order.
        slices: in order.
        claims: by ``namespace/name``.
        allocations: the allocations that the claims have from the start, by claim.
    """

    def __init__(self, objects: list[Mapping[str, Any]]) -> None:
        self.nodes: dict[str, Node] = {}
        self.classes: list[DeviceClass] = []
        self.slices: list[ResourceSlice] = []
        self.claims: dict[str, ResourceClaim] = {}
        self.allocations: dict[str, AllocationResult] = {}
        for json in objects:
            match json.get("kind"):
                case "Node":
                    node = from_json(Node, json)
                    self.nodes[node.metadata.name] = node
                case "DeviceClass":
                    self.classes.append(from_json(DeviceClass, json))
                case "ResourceSlice":
                    self.slices.append(from_json(ResourceSlice, json))
                case "ResourceClaim":
                    claim = from_json(ResourceClaim, json)
                    label = f"{claim.metadata.namespace}/{claim.metadata.name}"
                    self.claims[label] = claim
                    if claim.status.allocation is not None:
                        self.allocations[label] = claim.status.allocation
                case _:
                    continue


def replay_allocation(
    case: Case,
    expressions: ExpressionsFactory,
    version: str | None = None,
    quirks: Mapping[str, bool] | None = None,
    budget: int = DEFAULT_BUDGET,
    rotation: int = 0,
    uncommitted: Collection[int] = (),
) -> list[dict[str, Any]]:
    """Answer an allocation case.

    Args:
        case: the case, as JSON.
        expressions: makes the expressions for a profile.
        version: answer for this version instead of the case's own.
        quirks: quirks to switch, see ``allocator_profile``.
        budget: steps of each search.
        rotation: see ``AllocatorProfile``.
        uncommitted: steps whose success is not kept, from 0: those in which the real allocator gave up.

    Returns:
        One answer per step, in the form of the recorded ones: ``status``, ``message``, ``allocations``.
    """
    objects = CaseObjects(case["objects"])
    profile = allocator_profile(version or case.get("kubernetes", "1.37"), case["featureGates"], quirks)
    if rotation:
        profile = replace(profile, rotation=rotation)
    inventory = Inventory.of(objects.slices, objects.classes, profile, expressions(profile))
    allocations = dict(objects.allocations)
    share = 1
    answers: list[dict[str, Any]] = []
    for number, step in enumerate(case["steps"]):
        for label in step.get("deallocate", ()):
            allocations.pop(label, None)
        state = AllocatedState.of(sorted(allocations.items()), profile.features)
        labels = step["allocate"]
        claims = [objects.claims[label] for label in labels]
        outcome = allocate(inventory, state, objects.nodes[step["node"]], claims, budget, share)
        match outcome:
            case Allocated(results=results):
                if number not in uncommitted:
                    share += outcome.shares
                    allocations.update(zip(labels, results, strict=True))
                written = {label: to_json(result) for label, result in zip(labels, results, strict=True)}
                answers.append({"status": "allocated", "allocations": written})
            case Unallocatable():
                answers.append({"status": "unallocatable"})
            case NodeError(message=message):
                answers.append({"status": "node-error", "message": message})
            case FatalError(message=message):
                answers.append({"status": "error", "message": message})
            case GaveUp():
                answers.append({"status": "timeout"})
    return answers
