"""Extended resources that devices serve: the special claim, its requests on one node, and who gets what.

Source: kubernetes pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources.go.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from dralang.api.containers import Container
from dralang.api.device import CapacityRequirements
from dralang.api.deviceclass import DeviceClass
from dralang.api.meta import ObjectMeta, OwnerReference
from dralang.api.pods import ContainerExtendedResourceRequest, Pod
from dralang.api.resourceclaim import DeviceRequest, ExactDeviceRequest, ResourceClaim
from dralang.cluster.errors import ApiError
from dralang.cluster.podclaims import EXTENDED_RESOURCE_ANNOTATION
from dralang.cluster.store import ObjectStore
from dralang.scheduler.dynamicresources.class_names import IMPLICIT_PREFIX, ClassNames
from dralang.scheduler.node_info import PodInfo
from dralang.scheduler.resources import is_sidecar

SPECIAL_NAME = "<extended-resources>"
"""The name of the special claim as long as it exists only in memory."""


def is_extended(name: str) -> bool:
    """Whether a resource name can be one that devices serve."""
    if name.startswith(IMPLICIT_PREFIX):
        return True
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def mapped_requests(info: PodInfo, names: ClassNames) -> dict[str, int]:
    """The extended resources of a pod if a class serves at least one of them, else nothing."""
    wanted = {name: value for name, value in info.requests.items() if value and is_extended(name)}
    return wanted if any(names.class_for(name) is not None for name in wanted) else {}


def extended_owner(claim: ResourceClaim) -> str | None:
    """The UID of the pod for whose extended resources a claim was made; None for other claims."""
    if claim.metadata.annotations.get(EXTENDED_RESOURCE_ANNOTATION) != "true":
        return None
    return next((owner.uid for owner in claim.metadata.owner_references if owner.controller), None)


def special_uid(pod: Pod) -> str:
    """The UID of that claim."""
    return f"extended-resources-of-{pod.metadata.uid}"


def special_claim(pod: Pod) -> ResourceClaim:
    """The claim in memory from which each node gets its own."""
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid, controller=True)
    return ResourceClaim(
        metadata=ObjectMeta(
            name=SPECIAL_NAME,
            generate_name=f"{pod.metadata.name}-extended-resources-",
            namespace=pod.metadata.namespace,
            uid=special_uid(pod),
            annotations={EXTENDED_RESOURCE_ANNOTATION: "true"},
            owner_references=(owner,),
        )
    )


def delete_special_claim(store: ObjectStore, claim: ResourceClaim) -> ApiError | None:
    """Delete the claim for extended resources, whatever holds it."""
    meta = claim.metadata
    current = store.get(ResourceClaim, meta.namespace, meta.name)
    if current is None or current.metadata.uid != meta.uid:
        return None
    if current.metadata.finalizers:
        written = store.update(replace(current, metadata=replace(current.metadata, finalizers=())))
        if isinstance(written, ApiError):
            return written
    refused = store.delete(ResourceClaim, meta.namespace, meta.name, uid=meta.uid)
    return None if refused is None or refused.reason == "NotFound" else refused


def served_by_devices(
    wanted: Mapping[str, int], allocatable: Mapping[str, int], names: ClassNames
) -> dict[str, DeviceClass] | None:
    """The classes that serve these resources on a node that has so much itself; None if nobody serves some of them."""
    result: dict[str, DeviceClass] = {}
    for name in sorted(wanted):
        class_ = names.class_for(name)
        if class_ is not None and not allocatable.get(name, 0):
            result[name] = class_
        elif name not in allocatable:
            return None
    return result


def _capacity(name: str, class_: DeviceClass, *, implicit_plain: bool) -> CapacityRequirements | None:
    """The amounts of a class, for its explicit name only if the KEP is read so."""
    if implicit_plain and name.startswith(IMPLICIT_PREFIX):
        return None
    return class_.spec.extended_resource_capacity_requests


def unserved_capacity(served: Mapping[str, DeviceClass], *, implicit_plain: bool = False) -> str:
    """Why a scheduler that has the capacity requests of classes switched off cannot serve these; empty if it can.

    Source: KEP-6406, Risks and Mitigations: never silently a request for a whole device.
    """
    for name in sorted(served):
        if _capacity(name, served[name], implicit_plain=implicit_plain) is not None:
            class_ = served[name].metadata.name
            return f"device class {class_} requests capacity, but the DRAExtendedResourceCapacity feature is disabled"
    return ""


Mappings = tuple[ContainerExtendedResourceRequest, ...]


def requests_and_mappings(
    pod: Pod, served: Mapping[str, DeviceClass], *, implicit_plain: bool = False
) -> tuple[tuple[DeviceRequest, ...], Mappings]:
    """The requests of the special claim, and which container uses which of them."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    starting = [index for index, each in enumerate(pod.spec.init_containers) if not is_sidecar(each)]
    lasting = [index for index in range(len(containers)) if index not in starting]
    requests: list[DeviceRequest] = []
    mappings: list[ContainerExtendedResourceRequest] = []
    for resource in sorted(served):
        class_ = served[resource]
        capacity = _capacity(resource, class_, implicit_plain=implicit_plain)
        if capacity is not class_.spec.extended_resource_capacity_requests:
            class_ = replace(class_, spec=replace(class_.spec, extended_resource_capacity_requests=capacity))
        own: list[DeviceRequest | None] = [None] * len(containers)
        for index in lasting:
            own[index], used = _container_request(index, containers[index], resource, class_, ())
            mappings += used
        largest: DeviceRequest | None = None
        names: set[str] = set()
        later: list[ContainerExtendedResourceRequest] = []
        for index in starting:
            request, used = _container_request(index, containers[index], resource, class_, own[index:])
            later += used
            if request is not None:
                names.add(request.name)
                if largest is None or _count(largest) < _count(request):
                    largest = request
        if largest is not None:
            later = [replace(each, request_name=largest.name) if each.request_name in names else each for each in later]
            requests.append(largest)
        requests += [request for request in own if request is not None]
        mappings += later
    return tuple(sorted(requests, key=lambda each: each.name)), tuple(mappings)


def _count(request: DeviceRequest) -> int:
    assert request.exactly is not None
    return request.exactly.count


def _container_request(
    index: int, container: Container, resource: str, class_: DeviceClass, reusable: Sequence[DeviceRequest | None]
) -> tuple[DeviceRequest | None, list[ContainerExtendedResourceRequest]]:
    """What one container adds after it has used what others have requested."""
    requested = container.resources.requests
    quantity = requested.get(resource)
    wanted = quantity.stored_int64() if quantity is not None else None
    if not wanted:
        return None, []

    def mapping(request: str) -> ContainerExtendedResourceRequest:
        return ContainerExtendedResourceRequest(
            container_name=container.name, resource_name=resource, request_name=request
        )

    used: list[ContainerExtendedResourceRequest] = []
    have = 0
    for request in reusable:
        if request is not None:
            have += _count(request)
            used.append(mapping(request.name))
            if have >= wanted:
                return None, used
    name = f"container-{index}-request-{sorted(requested).index(resource)}"
    exactly = ExactDeviceRequest(
        device_class_name=class_.metadata.name,
        allocation_mode="ExactCount",
        count=wanted - have,
        # Applies to each device: three units are three allocations of this amount (KEP-6406).
        capacity=class_.spec.extended_resource_capacity_requests,
    )
    used.append(mapping(name))
    return DeviceRequest(name=name, exactly=exactly), used
