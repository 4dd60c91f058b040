"""What each kind does with a write: fields that are reset, checks, and the objections of admission plug-ins.

Source: the strategies under pkg/registry and the admission plug-ins under plugin/pkg/admission (1.37).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import Struct, structs

from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule, DeviceTaintRuleStatus
from dralang.api.disruption import PodDisruptionBudget
from dralang.api.gated import without_gated
from dralang.api.gated_status import gated_claim_status, gated_pod_group_status
from dralang.api.label_keys import with_label_keys
from dralang.api.meta import ObjectMeta
from dralang.api.nodes import Node
from dralang.api.podresources import with_pod_level_defaults
from dralang.api.pods import Pod, PodSpec, PodStatus
from dralang.api.priority import PriorityClass
from dralang.api.resourceclaim import DeviceRequest, ResourceClaim, ResourceClaimStatus, ResourceClaimTemplate
from dralang.api.resourcepoolstatusrequest import ResourcePoolStatusRequest
from dralang.api.resourceslice import Device, ResourceSlice
from dralang.api.selectors import matches_node
from dralang.api.validation import allocation, claims, classes, groups, limits, pods, slices, taints
from dralang.api.validation.context import ValidationContext
from dralang.api.validation.disruption import disruption_budget
from dralang.api.validation.equality import semantically_equal
from dralang.api.validation.errors import IMMUTABLE_TEXT, Errors, forbidden, invalid
from dralang.api.validation.metadata import object_meta, template_meta
from dralang.api.validation.nodes import declared_features, node_taints
from dralang.api.validation.scheduling import preemption_policy
from dralang.api.workloads import PodGroup, PodGroupStatus, Workload
from dralang.values.names import dns_label_errors, dns_subdomain_errors

Operation = Literal["create", "update", "update-status"]
Kind: TypeAlias = Any
"""An object of the kind that a strategy is for."""

_NODE_FEATURE = "DRANodeAllocatableResources"
_GROUP_FINALIZER = "scheduling.k8s.io/podgroup-protection"


class Situation(Struct, frozen=True):
    """What a strategy must know beside the objects.

    Attributes:
        context: the server that validates.
        now: the time, as objects show times.
        version: the API version that was sent.
        namespace_labels: labels of the namespace of the object.
        nodes: the nodes that exist.
        lists_given: the lists of the spec that were sent, be they empty; only known for objects sent as JSON.
    """

    context: ValidationContext
    now: str
    version: str
    namespace_labels: Mapping[str, str]
    nodes: tuple[Node, ...]
    lists_given: frozenset[str] = frozenset()


class Strategy:
    """What holds for kinds of which only the metadata is checked."""

    namespaced: ClassVar[bool] = False
    covered_name: ClassVar[bool] = False

    def needs_resource_version(self, version: str) -> bool:
        """Whether an update must say which state of the object it is about."""
        return False

    def on_create(self, new: Kind, situation: Situation) -> Kind:
        """A new object as it will be checked and stored."""
        return new

    def on_update(self, new: Kind, old: Kind, situation: Situation) -> Kind:
        """A changed object as it will be checked and stored."""
        return new

    def on_status(self, new: Kind, old: Kind, situation: Situation) -> Kind:
        """An object with a new status as it will be checked and stored."""
        return new

    def check_create(self, new: Kind, situation: Situation, out: Errors) -> None:
        """The handwritten rules for a new object."""
        self.check_meta(new.metadata, out)

    def check_update(self, new: Kind, old: Kind, situation: Situation, out: Errors) -> None:
        """The handwritten rules for a changed object."""

    def check_status(self, new: Kind, old: Kind, situation: Situation, out: Errors) -> None:
        """The handwritten rules for a new status."""

    def name_errors(self, name: str) -> tuple[str, ...]:
        """What is wrong with a name."""
        return dns_subdomain_errors(name)

    def check_meta(self, meta: ObjectMeta, out: Errors) -> None:
        """The metadata of a new object."""
        object_meta(
            meta,
            "metadata",
            out,
            namespaced=self.namespaced,
            name_errors=self.name_errors,
            covered_name=self.covered_name,
        )

    def objection(self, new: Kind, situation: Situation) -> str:
        """What an admission plug-in has against a valid object; empty if nothing."""
        return ""

    def warnings(self, new: Kind) -> tuple[str, ...]:
        """What the server remarks about an object that it takes."""
        return ()


class _WithGeneration(Strategy):
    """A kind whose spec is counted: 1 when it is created, one more with each change."""

    def on_create(self, new: Kind, situation: Situation) -> Kind:
        return structs.replace(new, metadata=structs.replace(new.metadata, generation=1))

    def on_update(self, new: Kind, old: Kind, situation: Situation) -> Kind:
        if semantically_equal(new.spec, old.spec):
            return new
        return structs.replace(new, metadata=structs.replace(new.metadata, generation=old.metadata.generation + 1))


class _Slice(_WithGeneration):
    def on_create(self, new: ResourceSlice, situation: Situation) -> Kind:
        return super().on_create(without_gated(new, None, situation.context.gates), situation)

    def on_update(self, new: ResourceSlice, old: ResourceSlice, situation: Situation) -> Kind:
        return without_gated(super().on_update(new, old, situation), old, situation.context.gates)

    def check_create(self, new: ResourceSlice, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        self._check_spec(new, None, situation, out)

    def check_update(self, new: ResourceSlice, old: ResourceSlice, situation: Situation, out: Errors) -> None:
        self._check_spec(new, old, situation, out)

    def _check_spec(self, new: ResourceSlice, old: ResourceSlice | None, situation: Situation, out: Errors) -> None:
        slices.resource_slice(new.spec, None if old is None else old.spec, situation.context, out)
        # Here an empty list is not the same as none, unless the field was dropped.
        has_devices = bool(new.spec.devices) or "devices" in situation.lists_given
        has_counters = bool(new.spec.shared_counters) or (
            "sharedCounters" in situation.lists_given and situation.context.gates.enabled("DRAPartitionableDevices")
        )
        if has_devices and has_counters:
            out.append(invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))

    def objection(self, new: ResourceSlice, situation: Situation) -> str:
        gates = situation.context.gates
        if not (gates.enabled(_NODE_FEATURE) and gates.enabled("NodeDeclaredFeatures")):
            return ""
        for device in new.spec.devices:
            if device.node_allocatable_resources:
                objection = _node_objection(new, device, situation.nodes)
                if objection:
                    return objection
        return ""

    def warnings(self, new: ResourceSlice) -> tuple[str, ...]:
        driver = new.spec.driver
        if driver == driver.lower():
            return ()
        return (f'spec.driver: driver names should be lowercase; "{driver}" contains uppercase characters',)


def _node_objection(new: ResourceSlice, device: Device, nodes: tuple[Node, ...]) -> str:
    """A device that stands for resources of its node must be on nodes that know of that."""
    place = device if new.spec.per_device_node_selection else new.spec
    if place.node_name:
        chosen = [node for node in nodes if node.metadata.name == place.node_name]
        if not chosen:
            return f'node "{place.node_name}" not found for device "{device.name}"'
    elif place.node_selector is not None:
        chosen = [node for node in nodes if matches_node(place.node_selector, node)]
    elif place.all_nodes:
        chosen = list(nodes)
    else:
        return f'device "{device.name}" in ResourceSlice has NodeAllocatableResources but does not map to any nodes'
    for node in chosen:
        if _NODE_FEATURE not in node.status.declared_features:
            return f'node "{node.metadata.name}" does not support {_NODE_FEATURE} feature'
    return ""


class _Class(_WithGeneration):
    covered_name = True

    def name_errors(self, name: str) -> tuple[str, ...]:
        return dns_subdomain_errors(name, "bytes")

    def on_create(self, new: DeviceClass, situation: Situation) -> Kind:
        return super().on_create(without_gated(new, None, situation.context.gates), situation)

    def on_update(self, new: DeviceClass, old: DeviceClass, situation: Situation) -> Kind:
        return super().on_update(without_gated(new, old, situation.context.gates), old, situation)

    def check_create(self, new: DeviceClass, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        classes.device_class(new.spec, None, situation.context, out)

    def check_update(self, new: DeviceClass, old: DeviceClass, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        classes.device_class(new.spec, old.spec, situation.context, out)


def _check_admin_access(requests: tuple[DeviceRequest, ...], situation: Situation, out: Errors) -> None:
    """The first request for admin access stands for all of them, and its path is that of a claim without `exactly`."""
    for index, request in enumerate(requests):
        if request.exactly is not None and request.exactly.admin_access:
            _require_admin_namespace(f"spec.devices.requests[{index}].adminAccess", situation, out)
            return


def _require_admin_namespace(path: str, situation: Situation, out: Errors) -> None:
    if situation.namespace_labels.get(limits.ADMIN_ACCESS_LABEL) != "true":
        label = f"{limits.ADMIN_ACCESS_LABEL}: true"
        text = f"admin access to devices requires the `{label}` label on the containing namespace"
        out.append(forbidden(path, text))


class _Claim(Strategy):
    namespaced = True

    def on_create(self, new: ResourceClaim, situation: Situation) -> Kind:
        new = structs.replace(new, status=ResourceClaimStatus())
        return without_gated(new, None, situation.context.gates)

    def on_update(self, new: ResourceClaim, old: ResourceClaim, situation: Situation) -> Kind:
        return without_gated(structs.replace(new, status=old.status), old, situation.context.gates)

    def on_status(self, new: ResourceClaim, old: ResourceClaim, situation: Situation) -> Kind:
        new = structs.replace(new, spec=old.spec)
        return structs.replace(new, status=gated_claim_status(new, old, situation.context.gates))

    def check_create(self, new: ResourceClaim, situation: Situation, out: Errors) -> None:
        _check_admin_access(new.spec.devices.requests, situation, out)
        self.check_meta(new.metadata, out)
        claims.device_claim(new.spec.devices, "spec.devices", situation.context, out)

    def check_update(self, new: ResourceClaim, old: ResourceClaim, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        if not semantically_equal(new.spec, old.spec):
            out.append(invalid("spec", new.spec, IMMUTABLE_TEXT, covered=True))

    def check_status(self, new: ResourceClaim, old: ResourceClaim, situation: Situation, out: Errors) -> None:
        granted = _admin_result(old)
        asked = _admin_result(new)
        if granted is None and asked is not None:
            _require_admin_namespace(f"status.allocation.devices.results[{asked}].adminAccess", situation, out)
        allocation.claim_status(new, old, out)


def _admin_result(claim: ResourceClaim) -> int | None:
    """The first result with admin access."""
    results = () if claim.status.allocation is None else claim.status.allocation.devices.results
    return next((index for index, result in enumerate(results) if result.admin_access), None)


class _Template(Strategy):
    namespaced = True

    def on_create(self, new: ResourceClaimTemplate, situation: Situation) -> Kind:
        return without_gated(new, None, situation.context.gates)

    def on_update(self, new: ResourceClaimTemplate, old: ResourceClaimTemplate, situation: Situation) -> Kind:
        return without_gated(new, old, situation.context.gates)

    def check_create(self, new: ResourceClaimTemplate, situation: Situation, out: Errors) -> None:
        _check_admin_access(new.spec.spec.devices.requests, situation, out)
        self._check(new, situation, out)

    def check_update(
        self, new: ResourceClaimTemplate, old: ResourceClaimTemplate, situation: Situation, out: Errors
    ) -> None:
        # Unlike that of a claim, the spec is checked again although it must not change.
        self._check(new, situation, out)
        if not semantically_equal(new.spec, old.spec):
            out.append(invalid("spec", new.spec, IMMUTABLE_TEXT))

    def _check(self, new: ResourceClaimTemplate, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        template_meta(new.spec.metadata, "spec.metadata", out)
        claims.device_claim(new.spec.spec.devices, "spec.spec.devices", situation.context, out)


class _TaintRule(_WithGeneration):
    def needs_resource_version(self, version: str) -> bool:
        return version not in {"v1beta2", "v1alpha3"}

    def on_create(self, new: DeviceTaintRule, situation: Situation) -> Kind:
        return super().on_create(structs.replace(new, status=DeviceTaintRuleStatus()), situation)

    def on_update(self, new: DeviceTaintRule, old: DeviceTaintRule, situation: Situation) -> Kind:
        new = structs.replace(new, status=old.status)
        taint, before = new.spec.taint, old.spec.taint
        if taint.effect != before.effect and taint.time_added == before.time_added:
            # The time is that of the effect, and a client that changed only the effect left it as it was.
            taint = structs.replace(taint, time_added=situation.now)
            new = structs.replace(new, spec=structs.replace(new.spec, taint=taint))
        return super().on_update(new, old, situation)

    def on_status(self, new: DeviceTaintRule, old: DeviceTaintRule, situation: Situation) -> Kind:
        return structs.replace(new, spec=old.spec)

    def check_create(self, new: DeviceTaintRule, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        taints.taint_rule(new, None, out)

    def check_update(self, new: DeviceTaintRule, old: DeviceTaintRule, situation: Situation, out: Errors) -> None:
        taints.taint_rule(new, old, out)

    def check_status(self, new: DeviceTaintRule, old: DeviceTaintRule, situation: Situation, out: Errors) -> None:
        taints.taint_rule_status(new, out)


class _PoolRequest(Strategy):
    def needs_resource_version(self, version: str) -> bool:
        return True

    def on_create(self, new: ResourcePoolStatusRequest, situation: Situation) -> Kind:
        return without_gated(structs.replace(new, status=None), None, situation.context.gates)

    def on_update(self, new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest, situation: Situation) -> Kind:
        return without_gated(structs.replace(new, status=old.status), old, situation.context.gates)

    def on_status(self, new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest, situation: Situation) -> Kind:
        return structs.replace(new, spec=old.spec)

    def check_status(
        self,
        new: ResourcePoolStatusRequest,
        old: ResourcePoolStatusRequest,
        situation: Situation,
        out: Errors,
    ) -> None:
        groups.pool_request_status(new, old, out)


class _Pod(Strategy):
    namespaced = True

    def on_create(self, new: Pod, situation: Situation) -> Kind:
        new = without_gated(new, None, situation.context.gates)
        return structs.replace(
            new,
            metadata=structs.replace(new.metadata, generation=1),
            spec=self._with_resources(with_label_keys(new), situation),
            status=PodStatus(phase="Pending"),
        )

    def _with_resources(self, spec: PodSpec, situation: Situation) -> PodSpec:
        gates = situation.context.gates
        return with_pod_level_defaults(spec) if gates.enabled("PodLevelResources") else spec

    def on_update(self, new: Pod, old: Pod, situation: Situation) -> Kind:
        new = without_gated(new, old, situation.context.gates)
        return structs.replace(new, spec=self._with_resources(new.spec, situation), status=old.status)

    def on_status(self, new: Pod, old: Pod, situation: Situation) -> Kind:
        status, before, gates = new.status, old.status, situation.context.gates
        extended = status.extended_resource_claim_status or before.extended_resource_claim_status
        if not gates.enabled("DRAExtendedResource") and before.extended_resource_claim_status is None:
            extended = None
        allocatable = status.node_allocatable_resource_claim_statuses or before.node_allocatable_resource_claim_statuses
        if not gates.enabled(_NODE_FEATURE) and not before.node_allocatable_resource_claim_statuses:
            allocatable = ()
        status = structs.replace(
            status,
            resource_claim_statuses=status.resource_claim_statuses or before.resource_claim_statuses,
            extended_resource_claim_status=extended,
            node_allocatable_resource_claim_statuses=allocatable,
            qos_class=status.qos_class or before.qos_class,
        )
        return structs.replace(new, spec=old.spec, status=status)

    def check_create(self, new: Pod, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        pods.pod_spec(new.metadata, new.spec, "spec", out)
        if new.spec.node_name and new.spec.scheduling_gates:
            out.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))

    def check_update(self, new: Pod, old: Pod, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        pods.pod_update(new, old, out)

    def check_status(self, new: Pod, old: Pod, situation: Situation, out: Errors) -> None:
        pods.pod_status(new, situation.context.gates.version, out)


class _PodGroup(Strategy):
    namespaced = True

    def needs_resource_version(self, version: str) -> bool:
        return True

    def on_create(self, new: PodGroup, situation: Situation) -> Kind:
        gates = situation.context.gates
        finalizers = new.metadata.finalizers
        if _GROUP_FINALIZER not in finalizers:
            finalizers = (*finalizers, _GROUP_FINALIZER)
        spec = new.spec
        if spec.priority is None and not spec.priority_class_name:
            spec = structs.replace(spec, priority=0)
        if gates.enabled("PodGroupPreemptionPolicy") and spec.preemption_policy is None:
            spec = structs.replace(spec, preemption_policy="PreemptLowerPriority")
        metadata = structs.replace(new.metadata, finalizers=finalizers)
        new = structs.replace(new, metadata=metadata, spec=spec, status=PodGroupStatus())
        return without_gated(new, None, gates)

    def on_update(self, new: PodGroup, old: PodGroup, situation: Situation) -> Kind:
        return without_gated(structs.replace(new, status=old.status), old, situation.context.gates)

    def on_status(self, new: PodGroup, old: PodGroup, situation: Situation) -> Kind:
        return gated_pod_group_status(structs.replace(new, spec=old.spec), old, situation.context.gates)

    def check_create(self, new: PodGroup, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        groups.pod_group(new, out)

    def check_status(self, new: PodGroup, old: PodGroup, situation: Situation, out: Errors) -> None:
        groups.pod_group_status(new, out)


class _Workload(Strategy):
    namespaced = True

    def needs_resource_version(self, version: str) -> bool:
        return True

    def check_create(self, new: Workload, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        groups.workload(new.spec, out)

    def check_update(self, new: Workload, old: Workload, situation: Situation, out: Errors) -> None:
        groups.workload(new.spec, out)


_SYSTEM_CLASSES = frozenset({("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)})


class _PriorityClass(Strategy):
    def on_create(self, new: PriorityClass, situation: Situation) -> Kind:
        if new.preemption_policy is not None:
            return new
        return structs.replace(new, preemption_policy="PreemptLowerPriority")

    def on_update(self, new: PriorityClass, old: PriorityClass, situation: Situation) -> Kind:
        return self.on_create(new, situation)

    def check_create(self, new: PriorityClass, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        name = new.metadata.name
        if name.startswith("system-"):
            if (name, new.value) not in _SYSTEM_CLASSES or new.global_default:
                text = "priority class names with 'system-' prefix are reserved for system use only"
                out.append(forbidden("metadata.name", text))
        elif new.value > limits.HIGHEST_USER_PRIORITY:
            text = f"maximum allowed value of a user defined priority is {limits.HIGHEST_USER_PRIORITY}"
            out.append(forbidden("value", text))
        preemption_policy(new.preemption_policy, "preemptionPolicy", out)

    def check_update(self, new: PriorityClass, old: PriorityClass, situation: Situation, out: Errors) -> None:
        if new.value != old.value:
            out.append(forbidden("value", "may not be changed in an update."))
        if new.preemption_policy != old.preemption_policy:
            out.append(invalid("preemptionPolicy", new.preemption_policy, IMMUTABLE_TEXT))


class _Node(Strategy):
    """Of a node, metadata, taints (which the server looks for in the metadata) and declared features are checked."""

    def on_create(self, new: Node, situation: Situation) -> Kind:
        return without_gated(new, None, situation.context.gates)

    def on_update(self, new: Node, old: Node, situation: Situation) -> Kind:
        return structs.replace(new, status=old.status)

    def on_status(self, new: Node, old: Node, situation: Situation) -> Kind:
        return without_gated(structs.replace(new, spec=old.spec), old, situation.context.gates)

    def check_create(self, new: Node, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        node_taints(new.spec.taints, "metadata.taints", out)
        declared_features(new.status.declared_features, "status.declaredFeatures", out)

    def check_update(self, new: Node, old: Node, situation: Situation, out: Errors) -> None:
        node_taints(new.spec.taints, "metadata.taints", out)

    def check_status(self, new: Node, old: Node, situation: Situation, out: Errors) -> None:
        declared_features(new.status.declared_features, "status.declaredFeatures", out)


class _Namespace(Strategy):
    def name_errors(self, name: str) -> tuple[str, ...]:
        return dns_label_errors(name)


class _DisruptionBudget(Strategy):
    namespaced = True

    def check_create(self, new: PodDisruptionBudget, situation: Situation, out: Errors) -> None:
        self.check_meta(new.metadata, out)
        disruption_budget(new.spec, "spec", out)

    def check_update(
        self, new: PodDisruptionBudget, old: PodDisruptionBudget, situation: Situation, out: Errors
    ) -> None:
        disruption_budget(new.spec, "spec", out)

    def needs_resource_version(self, version: str) -> bool:
        return True


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "ResourceSlice": _Slice(),
        "DeviceClass": _Class(),
        "ResourceClaim": _Claim(),
        "ResourceClaimTemplate": _Template(),
        "DeviceTaintRule": _TaintRule(),
        "ResourcePoolStatusRequest": _PoolRequest(),
        "Pod": _Pod(),
        "PodGroup": _PodGroup(),
        "Workload": _Workload(),
        "PriorityClass": _PriorityClass(),
        "Namespace": _Namespace(),
        "Node": _Node(),
        "PodDisruptionBudget": _DisruptionBudget(),
    }
)
"""By kind."""
