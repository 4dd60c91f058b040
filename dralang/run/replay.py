"""Recorded scheduling cases: the steps of one played, and the state after each in the form of the recordings.

The form is described where the recordings are: names of generated claims are replaced by what they were made for, and
what differs from run to run (UIDs, share IDs, times) is left out.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from dralang.api.base import ApiType
from dralang.api.decode import from_json
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.disruption import PodDisruptionBudget
from dralang.api.encode import to_json
from dralang.api.kinds import KINDS
from dralang.api.meta import Condition
from dralang.api.pods import Pod, PodCondition, PodSpec
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourcepoolstatusrequest import ResourcePoolStatusRequest
from dralang.api.workloads import PodGroup
from dralang.cluster.clock import Phase
from dralang.cluster.podclaims import EXTENDED_RESOURCE_ANNOTATION, POD_CLAIM_ANNOTATION, controller_of
from dralang.cluster.store import WatchEvent
from dralang.cluster.timestamps import format_time
from dralang.features import FeatureGates
from dralang.run.expressions import expressions_for
from dralang.run.simulation import Environment, Simulation

QUIET = 1_500
"""The state of a step is taken when nothing has changed for so long, in milliseconds."""

START = 500
"""When the first step begins. Backoff goes by whole seconds, and at which fraction of one a recording began is not
known; half of one is closest to all of them."""

_USUAL_CONDITIONS = frozenset({"PodScheduled", "Ready", "ContainersReady", "Initialized"})
_GENERATED = re.compile(r"-[a-z0-9]{5}$")
_UID = re.compile(r"\b(?:pod|resourceclaim|podgroup)-[0-9]+\b")

Json = dict[str, Any]


class ReplayError(Exception):
    """A case that cannot be played; the message says why."""


def replay_scheduling(case: Json) -> list[Json]:
    """Play a case and return one state per step.

    Args:
        case: as recorded.

    Raises:
        ReplayError: the case names gates, objects or actions that do not exist.
    """
    features = FeatureGates.resolve(case["kubernetes"], case.get("featureGates", {}))
    if not isinstance(features, FeatureGates):
        raise ReplayError("; ".join(problem.message for problem in features))
    manual = case.get("kubelet") == "manual"
    simulation = Simulation(
        Environment(features, expressions_for(features)), manual_kubelet=manual, waits_for_claims=False
    )
    simulation.advance_to(START)
    player = _Player(simulation)
    for each in case["objects"]:
        player.create(each)
    # The recordings began with a cluster at rest.
    simulation.settle()
    times = case.get("times", [])
    states = []
    for number, step in enumerate(case["steps"]):
        begin = START + round(times[number] * 1000) if number < len(times) else simulation.now
        simulation.advance_before(max(simulation.now, begin))
        started = simulation.now
        player.act(step)
        if "wait" in step:
            simulation.advance_to(started + _milliseconds(step["wait"]))
        else:
            player.wait_for_quiet()
        states.append(player.state())
    return states


def _milliseconds(text: str) -> int:
    found = re.fullmatch(r"([0-9.]+)(ms|s|m)", text)
    if found is None:
        raise ReplayError(f"`{text}` is no duration")
    return round(float(found[1]) * {"ms": 1, "s": 1000, "m": 60_000}[found[2]])


class _Player:
    """Applies steps and describes states."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._store = simulation.store
        self._claim_names: dict[str, str] = {}
        self._by_label: dict[str, tuple[str, str]] = {}
        self._store.subscribe("recorder", Phase.API_SERVER, (ResourceClaim,), self._on_claim)

    # Names.

    def _on_claim(self, event: WatchEvent) -> None:
        claim: ResourceClaim = event.new
        if event.old is None:
            self._name(claim)

    def _name(self, claim: ResourceClaim) -> str:
        meta = claim.metadata
        known = self._claim_names.get(meta.uid)
        if known is not None:
            return known
        owner = controller_of(claim)
        label = f"{meta.namespace}/{meta.name}"
        if owner is not None:
            prefix = "PodGroup:" if owner.kind == "PodGroup" else ""
            if meta.annotations.get(EXTENDED_RESOURCE_ANNOTATION) == "true":
                label = f"{meta.namespace}/{owner.name}/<extended-resources>"
            elif POD_CLAIM_ANNOTATION in meta.annotations:
                label = f"{meta.namespace}/{prefix}{owner.name}/{meta.annotations[POD_CLAIM_ANNOTATION]}"
        plain, count = label, 1
        while self._is_taken(label, claim):
            count += 1
            label = f"{plain}#{count}"
        self._claim_names[meta.uid] = label
        self._by_label[label] = (meta.namespace, meta.name)
        return label

    def _is_taken(self, label: str, claim: ResourceClaim) -> bool:
        """Whether another claim that still exists has the label."""
        held = self._by_label.get(label)
        found = self._store.get(ResourceClaim, *held) if held is not None else None
        return found is not None and found.metadata.uid != claim.metadata.uid

    def _label_of(self, namespace: str, name: str) -> str:
        claim = self._store.get(ResourceClaim, namespace, name)
        if claim is not None:
            return self._name(claim)
        for label, key in self._by_label.items():
            if key == (namespace, name):
                return f"{label} (gone)"
        return f"{namespace}/{name} (gone)"

    def _shown(self, namespace: str, name: str) -> str:
        """As `_label_of`, but of a generated claim that is gone nothing is told."""
        if self._store.get(ResourceClaim, namespace, name) is None and _GENERATED.search(name):
            return f"{namespace}/(gone)"
        return self._label_of(namespace, name)

    def _in_message(self, text: str) -> str:
        for label, (namespace, name) in self._by_label.items():
            shown = label.removeprefix(f"{namespace}/")
            if name != shown:
                text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", shown.replace("\\", r"\\"), text)
        return _UID.sub("UID", text)

    # Steps.

    def create(self, value: Json) -> None:
        """Create one object."""
        self._simulation.create(_decode(self._resolved(value)))

    def _resolved(self, value: Json) -> Json:
        """`@pod/entry` as the name of a claim is the claim generated for it."""
        spec = value.get("spec")
        given = spec.get("resourceClaims") if value["kind"] == "Pod" and isinstance(spec, dict) else None
        if not isinstance(spec, dict) or not isinstance(given, list):
            return value
        namespace = value["metadata"].get("namespace", "default")
        entries = []
        for entry in given:
            name = entry.get("resourceClaimName") if isinstance(entry, dict) else None
            if isinstance(name, str) and name.startswith("@"):
                found = self._by_label.get(f"{namespace}/{name[1:]}")
                if found is None:
                    raise ReplayError(f"there is no claim `{name}`")
                entry = {**entry, "resourceClaimName": found[1]}
            entries.append(entry)
        return {**value, "spec": {**spec, "resourceClaims": entries}}

    def act(self, step: Json) -> None:
        """Do what a step says, without waiting in between."""
        for verb, work in step.items():
            if verb == "wait":
                continue
            for each in work:
                match verb:
                    case "create":
                        self.create(each)
                    case "delete":
                        self._delete(each, None)
                    case "remove":
                        self._delete(each, 0)
                    case "start":
                        self._simulation.start_pod(*each.split("/"))
                    case "finish":
                        self._simulation.finish(*each.split("/"))
                    case "fail":
                        self._simulation.fail(*each.split("/"))
                    case "update":
                        self._update(each)
                    case "status":
                        self._patch_status(each)
                    case _:
                        raise ReplayError(f"no step `{verb}`")

    def _find(self, reference: str) -> tuple[type[Any], str, str]:
        kind_name, _, rest = reference.partition("/")
        info = KINDS.get(kind_name)
        if info is None:
            raise ReplayError(f"no kind `{kind_name}`")
        if not info.namespaced:
            return info.type, "", rest
        if rest in self._by_label and info.type is ResourceClaim:
            return (info.type, *self._by_label[rest])
        namespace, _, name = rest.partition("/")
        return info.type, namespace, name

    def _delete(self, reference: str, grace: int | None) -> None:
        kind, namespace, name = self._find(reference)
        self._simulation.delete(kind, namespace, name, grace_seconds=grace)

    def _update(self, value: Json) -> None:
        new: Any = _decode(value)
        meta = new.metadata
        old: Any = self._store.get(type(new), meta.namespace, meta.name)
        if old is None:
            raise ReplayError(f"there is no {value['kind']} `{meta.name}`")
        given = value.get("metadata", {})
        changed = {field: getattr(meta, field) for field in ("labels", "annotations") if field in given}
        draft: Any = replace(old, metadata=replace(old.metadata, **changed))
        if "spec" in value:
            spec = new.spec
            if isinstance(old, Pod):
                names = dict(zip(PodSpec.__struct_encode_fields__, PodSpec.__struct_fields__, strict=True))
                spec = replace(old.spec, **{names[key]: getattr(new.spec, names[key]) for key in value["spec"]})
            draft = replace(draft, spec=spec)
        self._simulation.update(draft)

    def _patch_status(self, change: Json) -> None:
        kind, namespace, name = self._find(change["object"])
        found: Any = self._store.get(kind, namespace, name)
        if found is None:
            raise ReplayError(f"there is no {change['object']}")
        old = to_json(found)
        status = _merged(old.get("status", {}), change["patch"])
        usual = {"lastTransitionTime": format_time(self._simulation.now), "reason": "Case", "message": ""}
        status = _with_usual_conditions(status, usual)
        self._simulation.update_status(from_json(kind, {**old, "status": status}))

    def wait_for_quiet(self) -> None:
        """Let time pass until nothing has changed for a while."""
        simulation = self._simulation
        revision, changed = self._store.revision, simulation.now
        for _ in range(_MOST_EVENTS):
            due = simulation.events.next_time()
            if due is None or due > changed + QUIET:
                simulation.advance_before(changed + QUIET)
                return
            simulation.step()
            if self._store.revision != revision:
                revision, changed = self._store.revision, simulation.now
        raise ReplayError("the cluster never comes to rest")

    # States.

    def state(self) -> Json:
        """Everything that is compared."""
        store = self._store
        result: Json = {
            "pods": {_key(pod): self._pod(pod) for pod in store.objects(Pod)},
            "claims": {self._name(claim): self._claim(claim) for claim in store.objects(ResourceClaim)},
        }
        rules = store.objects(DeviceTaintRule)
        if rules:
            result["taintRules"] = {
                rule.metadata.name: {"conditions": self._conditions(rule.status.conditions)} for rule in rules
            }
        groups = store.objects(PodGroup)
        if groups:
            result["podGroups"] = {_key(group): self._group(group) for group in groups}
        requests = store.objects(ResourcePoolStatusRequest)
        if requests:
            result["resourcePoolStatusRequests"] = {each.metadata.name: self._pool_request(each) for each in requests}
        budgets = store.objects(PodDisruptionBudget)
        if budgets:
            result["disruptionBudgets"] = {
                _key(budget): {"disruptionsAllowed": budget.status.disruptions_allowed} for budget in budgets
            }
        return result

    def _pod(self, pod: Pod) -> Json:
        status = pod.status
        result: Json = {
            "phase": status.phase,
            "node": pod.spec.node_name or None,
            "nominatedNode": status.nominated_node_name or None,
            "deleting": pod.metadata.deletion_timestamp is not None,
        }
        for condition in status.conditions:
            if condition.type == "PodScheduled" and condition.status == "False":
                result |= {"reason": condition.reason, "message": self._in_message(condition.message)}
        if pod.spec.scheduling_gates:
            result["schedulingGated"] = True
        others = self._conditions(tuple(each for each in status.conditions if each.type not in _USUAL_CONDITIONS))
        if others:
            result["conditions"] = others
        namespace = pod.metadata.namespace
        if status.resource_claim_statuses:
            result["resourceClaimStatuses"] = {
                each.name: None
                if each.resource_claim_name is None
                else self._label_of(namespace, each.resource_claim_name)
                for each in status.resource_claim_statuses
            }
        extended = status.extended_resource_claim_status
        if extended is not None:
            shown = to_json(extended)
            shown.pop("resourceClaimName")
            result["extendedResourceClaimStatus"] = shown
        if status.node_allocatable_resource_claim_statuses:
            amounts = [to_json(each) for each in status.node_allocatable_resource_claim_statuses]
            for each in amounts:
                each["resourceClaimName"] = self._shown(namespace, each["resourceClaimName"])
            result["nodeAllocatableResourceClaimStatuses"] = amounts
        return result

    def _claim(self, claim: ResourceClaim) -> Json:
        status = claim.status
        allocation = None
        if status.allocation is not None:
            allocation = to_json(status.allocation)
            allocation.pop("allocationTimestamp", None)
            for each in allocation.get("devices", {}).get("results", ()):
                each.pop("shareID", None)
        result: Json = {
            "allocation": allocation,
            "reservedFor": sorted(
                self._consumer(claim, each.resource, each.name, each.uid) for each in status.reserved_for
            ),
            "deleting": claim.metadata.deletion_timestamp is not None,
        }
        if claim.metadata.finalizers:
            result["finalizers"] = list(claim.metadata.finalizers)
        if status.devices:
            devices = []
            for device in status.devices:
                shown = to_json(device)
                shown.pop("shareID", None)
                shown["conditions"] = self._conditions(device.conditions)
                devices.append(shown)
            result["devices"] = devices
        if claim.metadata.annotations.get(EXTENDED_RESOURCE_ANNOTATION) == "true":
            result["spec"] = to_json(claim.spec)
        return result

    def _consumer(self, claim: ResourceClaim, resource: str, name: str, uid: str) -> str:
        kind: type[Pod] | type[PodGroup] = PodGroup if resource == "podgroups" else Pod
        found = self._store.get(kind, claim.metadata.namespace, name)
        label = f"{kind.__name__}/{claim.metadata.namespace}/{name}"
        return label if found is not None and found.metadata.uid == uid else f"{label} (gone)"

    def _group(self, group: PodGroup) -> Json:
        result: Json = {
            "conditions": self._conditions(group.status.conditions),
            "deleting": group.metadata.deletion_timestamp is not None,
        }
        if group.metadata.finalizers:
            result["finalizers"] = list(group.metadata.finalizers)
        if group.status.resource_claim_statuses:
            result["resourceClaimStatuses"] = {
                each.name: self._shown(group.metadata.namespace, each.resource_claim_name)
                if each.resource_claim_name
                else None
                for each in group.status.resource_claim_statuses
            }
        return result

    def _pool_request(self, request: ResourcePoolStatusRequest) -> Json | None:
        if request.status is None:
            return None
        result = to_json(request.status)
        result["conditions"] = self._conditions(request.status.conditions)
        return result

    def _conditions(self, conditions: tuple[Condition, ...] | tuple[PodCondition, ...]) -> Json:
        return {
            each.type: {"status": each.status, "reason": each.reason, "message": self._in_message(each.message)}
            for each in conditions
        }


_MOST_EVENTS = 200_000


def _key(found: Pod | PodGroup | PodDisruptionBudget) -> str:
    return f"{found.metadata.namespace}/{found.metadata.name}"


def _decode(value: Json) -> Any:
    info = KINDS.get(value["kind"])
    if info is None:
        raise ReplayError(f"no kind `{value['kind']}`")
    decoded: ApiType = from_json(info.type, value)
    return decoded


def _with_usual_conditions(status: Json, usual: Json) -> Json:
    """The status whose devices' conditions have what a case leaves out; what is malformed stays for decoding."""
    devices = status.get("devices")
    if not isinstance(devices, list):
        return status
    changed = []
    for device in devices:
        conditions = device.get("conditions") if isinstance(device, dict) else None
        if isinstance(conditions, list):
            filled = [{**usual, **each} if isinstance(each, dict) else each for each in conditions]
            device = {**device, "conditions": filled}
        changed.append(device)
    return {**status, "devices": changed}


def _merged(old: Any, patch: Any) -> Any:
    """A JSON merge patch."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(old) if isinstance(old, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result
