"""What the API server does to an object before it stores it: defaults, priorities, the rules that others run into.

Rules about the shape of objects belong to `api`; here are those that depend on other objects or on the stored state, as
far as a running cluster can break them.
"""

import json
from typing import Protocol, TypeVar

from msgspec.structs import replace

from dralang.api.allocation import ResourceClaimConsumerReference
from dralang.api.containers import Container, ResourceRequirements
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.encode import to_json
from dralang.api.label_keys import with_label_keys
from dralang.api.meta import ObjectMeta
from dralang.api.namespaces import Namespace
from dralang.api.nodes import Node, NodeCondition
from dralang.api.pods import Pod, PodCondition
from dralang.api.priority import PriorityClass
from dralang.api.resourceclaim import ResourceClaim, ResourceClaimStatus, ResourceClaimTemplate
from dralang.api.resourceslice import ResourceSlice
from dralang.cluster.errors import ApiError
from dralang.values.quantity import parse_quantity


class KubernetesObject(Protocol):
    """What all stored objects have."""

    @property
    def metadata(self) -> ObjectMeta:
        """Its metadata."""


T = TypeVar("T", bound=KubernetesObject)


class Reader(Protocol):
    """The read side of the object store."""

    def get(self, kind: type[T], namespace: str, name: str) -> T | None:
        """The stored object, or None."""

    def objects(self, kind: type[T]) -> list[T]:
        """All objects of a kind in the order of their creation."""


MAX_RESERVED_FOR = 256
DEFAULT_GRACE_SECONDS = 30
PREEMPTS = "PreemptLowerPriority"
"""What a PriorityClass says about preemption if it says nothing."""
HOSTNAME_LABEL = "kubernetes.io/hostname"
SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
GATED_MESSAGE = "Scheduling is blocked due to non-empty scheduling gates"

_NODE_SIZE = {"cpu": parse_quantity("64"), "memory": parse_quantity("256Gi"), "pods": parse_quantity("110")}
"""What a node offers where its object says nothing else."""

_READY = (NodeCondition(type="Ready", status="True", reason="KubeletReady", message="kubelet is posting ready status"),)


def admit_pod(pod: Pod, store: Reader) -> Pod | ApiError:
    """Defaults and priority of a new pod.

    Source: kubernetes plugin/pkg/admission/priority, pkg/apis/core/v1/defaults.go, pkg/registry/core/pod.
    """
    spec = with_label_keys(pod, captured=True)
    changes: dict[str, object] = {}
    found = _priority_class(spec.priority_class_name, store)
    if isinstance(found, ApiError):
        return found
    if spec.priority is None:
        changes["priority"] = found.value if found is not None else 0
    if spec.preemption_policy is None and found is not None and found.preemption_policy is not None:
        changes["preemption_policy"] = found.preemption_policy
    if not spec.priority_class_name and found is not None:
        changes["priority_class_name"] = found.metadata.name
    if spec.termination_grace_period_seconds is None:
        changes["termination_grace_period_seconds"] = DEFAULT_GRACE_SECONDS
    if not spec.scheduler_name:
        changes["scheduler_name"] = "default-scheduler"
    if not spec.restart_policy:
        changes["restart_policy"] = "Always"
    for field in ("containers", "init_containers"):
        containers = getattr(spec, field)
        if any(map(_limits_without_requests, containers)):
            changes[field] = containers = tuple(map(_default_requests, containers))
        if spec.host_network and any(container.ports for container in containers):
            changes[field] = tuple(map(_on_host_network, containers))
    status = pod.status
    if not status.phase:
        status = replace(status, phase="Pending")
    if spec.scheduling_gates and not spec.node_name:
        gated = PodCondition(type="PodScheduled", status="False", reason="SchedulingGated", message=GATED_MESSAGE)
        status = replace(status, conditions=(*status.conditions, gated))
    return replace(pod, spec=replace(spec, **changes) if changes else spec, status=status)


def _priority_class(name: str, store: Reader) -> PriorityClass | ApiError | None:
    if name in SYSTEM_PRIORITIES:
        return PriorityClass(metadata=ObjectMeta(name=name), value=SYSTEM_PRIORITIES[name])
    if name:
        found = store.get(PriorityClass, "", name)
        return found if found is not None else ApiError("Forbidden", f"no PriorityClass with name {name} was found")
    defaults = [each for each in store.objects(PriorityClass) if each.global_default]
    return min(defaults, key=lambda each: (each.value, each.metadata.name)) if defaults else None


def _limits_without_requests(container: Container) -> bool:
    resources = container.resources
    return bool(resources.limits) and not resources.limits.keys() <= resources.requests.keys()


def _default_requests(container: Container) -> Container:
    """A limit without a request is also the request."""
    resources: ResourceRequirements = container.resources
    requests = {**resources.limits, **resources.requests}
    return replace(container, resources=replace(resources, requests=requests))


def _on_host_network(container: Container) -> Container:
    """What listens on the network of the node takes the port there."""
    ports = tuple(port if port.host_port else replace(port, host_port=port.container_port) for port in container.ports)
    return replace(container, ports=ports)


def admit_node(node: Node) -> Node:
    """A node as its kubelet reports it: ready, with a size and its host name."""
    meta, status = node.metadata, node.status
    if HOSTNAME_LABEL not in meta.labels:
        meta = replace(meta, labels={**meta.labels, HOSTNAME_LABEL: meta.name})
    capacity = {**_NODE_SIZE, **status.allocatable, **status.capacity}
    allocatable = {**_NODE_SIZE, **status.capacity, **status.allocatable}
    conditions = status.conditions if any(each.type == "Ready" for each in status.conditions) else _READY
    return replace(
        node,
        metadata=meta,
        status=replace(status, capacity=capacity, allocatable=allocatable, conditions=conditions),
    )


def admit_slice(slice_: ResourceSlice, now: str) -> ResourceSlice:
    """Device taints get the time at which they were first seen."""
    devices = slice_.spec.devices
    if all(taint.time_added is not None for device in devices for taint in device.taints):
        return slice_
    stamped = tuple(
        replace(
            device,
            taints=tuple(taint if taint.time_added else replace(taint, time_added=now) for taint in device.taints),
        )
        if device.taints
        else device
        for device in devices
    )
    return replace(slice_, spec=replace(slice_.spec, devices=stamped))


def admit_rule(old: DeviceTaintRule | None, new: DeviceTaintRule, now: str) -> DeviceTaintRule:
    """The taint of a rule gets the time at which it got its effect."""
    taint = new.spec.taint
    changed = (
        old is not None
        and old.spec.taint.effect != taint.effect
        and taint.time_added in (None, old.spec.taint.time_added)
    )
    if taint.time_added is not None and not changed:
        return new
    return replace(new, spec=replace(new.spec, taint=replace(taint, time_added=now)))


def admit_claim_status(old: ResourceClaim, new: ResourceClaimStatus) -> ResourceClaimStatus | ApiError:
    """The rules for the status of a claim: an allocation never changes, consumers are counted.

    Source: kubernetes pkg/apis/resource/validation (ValidateResourceClaimStatusUpdate), pkg/registry/resource.
    """
    prefix = f'ResourceClaim.resource.k8s.io "{old.metadata.name}" is invalid: status'
    if len(new.reserved_for) > MAX_RESERVED_FOR:
        text = f"{prefix}.reservedFor: Too many: {len(new.reserved_for)}: must have at most {MAX_RESERVED_FOR} items"
        return ApiError("Invalid", text)
    if len({each.uid for each in new.reserved_for}) != len(new.reserved_for):
        return ApiError("Invalid", f"{prefix}.{_repeated(new.reserved_for)}")
    if new.reserved_for and new.allocation is None:
        return ApiError(
            "Forbidden", f"{prefix}.reservedFor: Forbidden: may not be specified when `allocated` is not set"
        )
    before, after = old.status.allocation, new.allocation
    if before is not None and after is not None and before != after:
        return ApiError("Invalid", f"{prefix}.allocation: Invalid value: null: field cannot be modified once set")
    if new.devices:
        results = after.devices.results if after is not None else ()
        allocated = {(each.driver, each.pool, each.device, each.share_id) for each in results}
        kept = tuple(each for each in new.devices if (each.driver, each.pool, each.device, each.share_id) in allocated)
        if len(kept) != len(new.devices):
            return replace(new, devices=kept)
    return new


def _repeated(consumers: tuple[ResourceClaimConsumerReference, ...]) -> str:
    index = next(index for index, each in enumerate(consumers) if each.uid in {one.uid for one in consumers[:index]})
    again = json.dumps(to_json(consumers[index]), separators=(",", ":"), ensure_ascii=False)
    return f"reservedFor[{index}]: Duplicate value: {again}"


ADMIN_ACCESS_LABEL = "resource.kubernetes.io/admin-access"


def refuse_admin_access(new: ResourceClaim | ResourceClaimTemplate, namespace: str, store: Reader) -> ApiError | None:
    """Why a claim or template with admin access is refused: its namespace lacks the label.

    Source: kubernetes pkg/registry/resource/resourceclaim/strategy.go, AuthorizedForAdmin.
    """
    is_claim = isinstance(new, ResourceClaim)
    devices = new.spec.devices if isinstance(new, ResourceClaim) else new.spec.spec.devices
    for index, request in enumerate(devices.requests):
        if request.exactly is None or not request.exactly.admin_access:
            continue
        found = store.get(Namespace, "", namespace)
        if found is not None and found.metadata.labels.get(ADMIN_ACCESS_LABEL) == "true":
            return None
        path = (
            f"spec.devices.requests[{index}].adminAccess"
            if is_claim
            else f"spec.spec.devices.requests[{index}].adminAccess"
        )
        return ApiError(
            "Invalid",
            f"{path}: Forbidden: admin access to devices requires the `{ADMIN_ACCESS_LABEL}: true` label on the "
            "containing namespace",
        )
    return None
