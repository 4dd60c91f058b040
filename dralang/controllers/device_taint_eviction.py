"""The device taint eviction controller: pods leave devices with a NoExecute taint that they do not tolerate.

Source: kubernetes pkg/controller/devicetainteviction/device_taint_eviction.go.
"""

from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from dralang.allocator.taints import tolerates
from dralang.api.allocation import DeviceRequestAllocationResult
from dralang.api.device import DeviceTaint
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.meta import Condition
from dralang.api.pods import Pod, PodCondition
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import Device, ResourceSlice
from dralang.cluster.errors import ApiError
from dralang.cluster.podclaims import SCHEDULING_GROUP, claim_name, is_reserved_for, ownership_problem
from dralang.cluster.store import ObjectStore, WatchEvent, with_condition
from dralang.cluster.taint_rules import selects
from dralang.cluster.timestamps import format_time, parse_time
from dralang.controllers.controller import Controller
from dralang.features import FeatureGates

STATUS_PERIOD = 10_000
"""Least time between two updates of the status of a rule, in milliseconds."""

IN_PROGRESS = "EvictionInProgress"
NO_EXECUTE = "NoExecute"

Item: TypeAlias = tuple[Literal["pod", "rule"], str, str]
Key: TypeAlias = tuple[str, str]


class Eviction(NamedTuple):
    """That pods using something have to go.

    Attributes:
        when: the instant in milliseconds.
        reasons: the taints: the UID of the rule and an empty text, or an empty text and the place in a slice.
    """

    when: int
    reasons: tuple[tuple[str, str], ...]

    def joined(self, other: "Eviction") -> "Eviction":
        """Both at once: the earlier time, all reasons."""
        return Eviction(min(self.when, other.when), tuple(sorted({*self.reasons, *other.reasons})))


class DeviceTaintEvictionController(Controller[Item]):
    """Evicts pods, and says in the status of the rules how far that is; items are pods and rules by name.

    Args:
        store: the API server.
        features: `DRADeviceTaints` makes it run, `DRADeviceTaintRules` makes it look at rules.
        empty_effect_protects: a toleration without effect is good for NoExecute too (1.38).
    """

    name = "device-taint-eviction-controller"

    def __init__(self, store: ObjectStore, features: FeatureGates, *, empty_effect_protects: bool) -> None:
        super().__init__(store)
        self._group_claims = features.enabled("DRAWorkloadResourceClaims")
        self._uses_rules = features.enabled("DRADeviceTaintRules")
        self._empty_effect_protects = empty_effect_protects
        self._clear()
        store.subscribe(self.name, self.phase, (Pod,), self._on_pod, _is_placed_anew)
        store.subscribe(self.name, self.phase, (ResourceClaim,), self._on_claim, _is_about_devices)
        store.subscribe(self.name, self.phase, (ResourceSlice,), self._on_slice)
        if self._uses_rules:
            store.subscribe(self.name, self.phase, (DeviceTaintRule,), self._on_rule)

    def _clear(self) -> None:
        self._claims: dict[Key, Eviction | None] = {}
        self._rules: dict[str, DeviceTaintRule] = {}
        self._pools: dict[Key, dict[str, ResourceSlice]] = {}
        self._due: dict[Key, tuple[str, Eviction]] = {}
        self._evicted: set[str] = set()
        self._counts: dict[str, int] = {}

    def forget(self) -> None:
        """Forget everything; evictions so far are counted from zero again."""
        self._clear()

    def start(self) -> None:
        """Read everything that exists."""
        for slice_ in self.store.objects(ResourceSlice):
            self._on_slice(WatchEvent(ResourceSlice, None, slice_))
        if self._uses_rules:
            for rule in self.store.objects(DeviceTaintRule):
                self._on_rule(WatchEvent(DeviceTaintRule, None, rule))
        for claim in self.store.objects(ResourceClaim):
            self._on_claim(WatchEvent(ResourceClaim, None, claim))
        for pod in self.store.objects(Pod):
            self._consider(pod)

    # What changed.

    def _on_pod(self, event: WatchEvent) -> None:
        old, new = event.old, event.new
        if new is None:
            self._due.pop((old.metadata.namespace, old.metadata.name), None)
            return
        if _is_placed_anew(event):
            self._consider(new)

    def _on_claim(self, event: WatchEvent) -> None:
        old, new = event.old, event.new
        claim: ResourceClaim = new if new is not None else old
        key = (claim.metadata.namespace, claim.metadata.name)
        if new is None or new.status.allocation is None:
            if self._claims.pop(key, None) is not None and old is not None:
                self._consider_users(old)
            return
        eviction = self._claim_eviction(new)
        known = self._claims.get(key)
        is_new = key not in self._claims
        self._claims[key] = eviction
        if is_new or eviction != known or old is None or old.status.reserved_for != new.status.reserved_for:
            if eviction is not None or known is not None:
                self._consider_users(new)
            if old is not None and known is not None and old.status.reserved_for != new.status.reserved_for:
                self._consider_users(old)

    def _on_slice(self, event: WatchEvent) -> None:
        for slice_, added in ((event.old, False), (event.new, True)):
            if slice_ is not None:
                pool = self._pools.setdefault((slice_.spec.driver, slice_.spec.pool.name), {})
                if added:
                    pool[slice_.metadata.name] = slice_
                else:
                    pool.pop(slice_.metadata.name, None)
        self._review_claims()

    def _on_rule(self, event: WatchEvent) -> None:
        old, new = event.old, event.new
        if old is not None and new is not None and old.metadata.uid == new.metadata.uid and old.spec == new.spec:
            return
        if new is not None:
            # The status is written at least once before anybody is evicted.
            self.enqueue(("rule", "", new.metadata.name))
        if old is not None:
            self._rules.pop(old.metadata.name, None)
            if new is None:
                self._counts.pop(old.metadata.uid, None)
        if new is not None and new.spec.taint.effect == NO_EXECUTE:
            self._rules[new.metadata.name] = new
        self._review_claims()

    def _review_claims(self) -> None:
        """Taints changed: look at all allocated claims again."""
        for key, known in list(self._claims.items()):
            claim = self.store.get(ResourceClaim, *key)
            if claim is None or claim.status.allocation is None:
                continue
            eviction = self._claim_eviction(claim)
            if eviction != known:
                self._claims[key] = eviction
                self._consider_users(claim)

    def _consider_users(self, claim: ResourceClaim) -> None:
        namespace = claim.metadata.namespace
        for consumer in claim.status.reserved_for:
            if consumer.api_group == "" and consumer.resource == "pods":
                pod = self.store.get(Pod, namespace, consumer.name)
                if pod is not None and pod.metadata.uid == consumer.uid:
                    self._consider(pod)
            elif self._group_claims and consumer.api_group == SCHEDULING_GROUP and consumer.resource == "podgroups":
                for pod in self.store.objects(Pod):
                    group = pod.spec.scheduling_group
                    if (
                        pod.metadata.namespace == namespace
                        and group is not None
                        and group.pod_group_name == consumer.name
                    ):
                        self._consider(pod)

    def _consider(self, pod: Pod) -> None:
        """Plan, change or cancel the eviction of a pod."""
        meta = pod.metadata
        key = (meta.namespace, meta.name)
        eviction = self._pod_eviction(pod)
        if eviction is None:
            if self._due.pop(key, None) is not None:
                self.record("Pod", *key, "EvictionCancelled", "stays after all: the taint is gone or tolerated")
            return
        self._due[key] = (meta.uid, eviction)
        delay = max(0, eviction.when - self.events.now)
        self.enqueue(("pod", *key), delay, far=delay > 0)
        for rule, _ in eviction.reasons:
            self._update_later(rule)

    def _update_later(self, uid: str) -> None:
        for rule in self._rules.values():
            if rule.metadata.uid == uid:
                self.enqueue(("rule", "", rule.metadata.name), STATUS_PERIOD)

    # When somebody has to go.

    def _published(self, result: DeviceRequestAllocationResult) -> Iterator[tuple[str, Device]]:
        """The device of a result in the newest generation of its pool, if it is there."""
        pool = self._pools.get((result.driver, result.pool))
        if not pool:
            return
        newest = max(slice_.spec.pool.generation for slice_ in pool.values())
        for name, slice_ in pool.items():
            if slice_.spec.pool.generation == newest:
                for device in slice_.spec.devices:
                    if device.name == result.device:
                        yield name, device
                        return

    def _taints(self, result: DeviceRequestAllocationResult) -> Iterator[tuple[tuple[str, str], DeviceTaint]]:
        for name, device in self._published(result):
            for index, taint in enumerate(device.taints):
                if taint.effect == NO_EXECUTE:
                    yield ("", f"{name}/{device.name}/{index}"), taint
        for rule in self._rules.values():
            if selects(rule.spec.device_selector, result.driver, result.pool, result.device):
                yield (rule.metadata.uid, ""), rule.spec.taint

    def _claim_eviction(self, claim: ResourceClaim) -> Eviction | None:
        allocation = claim.status.allocation
        assert allocation is not None
        total: Eviction | None = None
        for result in allocation.devices.results:
            for reason, taint in self._taints(result):
                when = self._end_of_toleration(result, taint)
                if when is not None:
                    own = Eviction(when, (reason,))
                    total = own if total is None else total.joined(own)
        return total

    def _end_of_toleration(self, result: DeviceRequestAllocationResult, taint: DeviceTaint) -> int | None:
        """When the taint drives pods off the device, None if never."""
        added = parse_time(taint.time_added) if taint.time_added else self.events.now
        effects = ("", NO_EXECUTE) if self._empty_effect_protects else (NO_EXECUTE,)
        matching = [each for each in result.tolerations if each.effect in effects and tolerates(each, taint)]
        seconds = [each.toleration_seconds for each in matching if each.toleration_seconds is not None]
        if len(seconds) < len(matching):
            return None
        return added + max(0, min(seconds, default=0)) * 1000

    def _pod_eviction(self, pod: Pod) -> Eviction | None:
        if not pod.spec.node_name:
            return None
        names = [claim_name(pod, entry) for entry in pod.spec.resource_claims]
        used = [(each.name, each.generated) for each in names if each.name]
        extended = pod.status.extended_resource_claim_status
        if extended is not None:
            used.append((extended.resource_claim_name, True))
        total: Eviction | None = None
        for name, generated in used:
            eviction = self._claims.get((pod.metadata.namespace, name))
            claim = self.store.get(ResourceClaim, pod.metadata.namespace, name) if eviction is not None else None
            if eviction is None or claim is None:
                continue
            if generated and ownership_problem(pod, claim, group_claims=self._group_claims):
                continue
            if is_reserved_for(pod, claim, group_claims=self._group_claims):
                total = eviction if total is None else total.joined(eviction)
        return total

    # What is done.

    def sync(self, item: Item) -> None:
        """Evict a pod whose time has come, or update the status of a rule."""
        kind, namespace, name = item
        if kind == "pod":
            self._evict(namespace, name)
        else:
            self._update_rule(name)

    def _evict(self, namespace: str, name: str) -> None:
        planned = self._due.get((namespace, name))
        if planned is None or planned[0] in self._evicted:
            return
        uid, eviction = planned
        if eviction.when > self.events.now:
            self.enqueue(("pod", namespace, name), eviction.when - self.events.now, far=True)
            return
        pod = self.store.get(Pod, namespace, name)
        if pod is not None and pod.metadata.uid == uid and pod.metadata.deletion_timestamp is None:
            rules = self._rules_of(eviction)
            why = f"evicted: {_explain(eviction, rules)}"
            self.record("Pod", namespace, name, "DeviceTaintManagerEviction", why, *rules)
            condition = PodCondition(
                type="DisruptionTarget",
                status="True",
                reason="DeletionByDeviceTaintManager",
                message="Device Taint manager: deleting due to NoExecute taint",
            )
            conditions = with_condition(pod.status.conditions, condition)
            self.store.patch_status(Pod, namespace, name, conditions=conditions)
            refused = self.store.delete(Pod, namespace, name, uid=uid)
            if refused is not None and refused.reason != "NotFound":
                self.enqueue(("pod", namespace, name), STATUS_PERIOD)
                return
        self._due.pop((namespace, name), None)
        self._evicted.add(uid)
        for rule, _ in eviction.reasons:
            if rule:
                self._counts[rule] = self._counts.get(rule, 0) + 1
                self._update_later(rule)

    def _rules_of(self, eviction: Eviction) -> list[str]:
        """The names of the rules that drive a pod away."""
        uids = {uid for uid, _ in eviction.reasons}
        return sorted(rule.metadata.name for rule in self._rules.values() if rule.metadata.uid in uids)

    def _update_rule(self, name: str) -> None:
        rule = self.store.get(DeviceTaintRule, "", name)
        if rule is None:
            return
        known = next((each for each in rule.status.conditions if each.type == IN_PROGRESS), None)
        if known is not None and known.observed_generation == rule.metadata.generation and known.last_transition_time:
            since = self.events.now - parse_time(known.last_transition_time)
            if since < STATUS_PERIOD:
                self.enqueue(("rule", "", name), STATUS_PERIOD - since)
                return
        new = self._condition(rule)
        if known is not None and replace(new, last_transition_time=known.last_transition_time) == known:
            return
        others = tuple(each for each in rule.status.conditions if each.type != IN_PROGRESS)
        written = self.store.patch_status(DeviceTaintRule, "", name, conditions=(*others, new))
        if isinstance(written, ApiError):
            self.enqueue(("rule", "", name), STATUS_PERIOD)
        else:
            self.record("DeviceTaintRule", "", name, IN_PROGRESS, f"{new.status} ({new.reason}) {new.message}".rstrip())

    def _condition(self, rule: DeviceTaintRule) -> Condition:
        status: Literal["True", "False"] = "False"
        evicted = self._counts.get(rule.metadata.uid, 0)
        match rule.spec.taint.effect:
            case "NoExecute":
                pods, namespaces = self._pending(rule)
                if pods:
                    status, reason = "True", "PodsPendingEviction"
                    message = f"{_count(pods, 'pod needs', 'pods need')} to be evicted in {_namespaces(namespaces)}."
                else:
                    reason, message = ("Completed" if evicted else "NotStarted"), ""
            case "None":
                reason, message = "NoEffect", self._simulate(rule)
            case _:
                reason, message = "OtherEffect", "Eviction only happens for the NoExecute effect."
        if evicted:
            text = f"{_count(evicted, 'pod', 'pods')} evicted since starting the controller."
            message = f"{message} {text}" if message else text
        return Condition(
            type=IN_PROGRESS,
            status=status,
            reason=reason,
            message=message,
            observed_generation=rule.metadata.generation,
            last_transition_time=format_time(self.events.now),
        )

    def _pending(self, rule: DeviceTaintRule) -> tuple[int, int]:
        """How many pods have to go because of the rule, and in how many namespaces."""
        pods = 0
        namespaces: set[str] = set()
        for pod in self.store.objects(Pod):
            if pod.metadata.deletion_timestamp is not None:
                continue
            eviction = self._pod_eviction(pod)
            if eviction is not None and any(uid == rule.metadata.uid for uid, _ in eviction.reasons):
                pods += 1
                namespaces.add(pod.metadata.namespace)
        return pods, len(namespaces)

    def _simulate(self, rule: DeviceTaintRule) -> str:
        """What would happen if the effect of the rule was NoExecute."""
        evicting = replace(rule, spec=replace(rule.spec, taint=replace(rule.spec.taint, effect=NO_EXECUTE)))
        claims, rules = self._claims, self._rules
        self._rules = {rule.metadata.name: evicting}
        self._claims = {}
        allocated = 0
        for key in claims:
            claim = self.store.get(ResourceClaim, *key)
            if claim is None or claim.status.allocation is None:
                continue
            self._claims[key] = self._claim_eviction(claim)
            allocated += sum(
                selects(rule.spec.device_selector, each.driver, each.pool, each.device)
                for each in claim.status.allocation.devices.results
            )
        pods, namespaces = self._pending(rule)
        self._claims, self._rules = claims, rules
        published = sum(
            selects(rule.spec.device_selector, slice_.spec.driver, slice_.spec.pool.name, device.name)
            for pool in self._pools.values()
            for slice_ in pool.values()
            if slice_.spec.pool.generation == max(each.spec.pool.generation for each in pool.values())
            for device in slice_.spec.devices
        )
        return (
            f"{_count(published, 'published device', 'published devices')} selected. "
            f"{_count(allocated, 'allocated device', 'allocated devices')} selected. "
            f"{_count(pods, 'pod', 'pods')} would be evicted in {_namespaces(namespaces)} "
            "if the effect was NoExecute. This information will not be updated again. "
            "Recreate the DeviceTaintRule to trigger an update."
        )


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _namespaces(number: int) -> str:
    return "1 namespace" if number == 1 else f"{number} different namespaces"


def _is_placed_anew(event: WatchEvent) -> bool:
    """Whether a pod came or went, or got a node or claims."""
    old: Pod | None = event.old
    new: Pod | None = event.new
    return (
        old is None
        or new is None
        or old.spec.node_name != new.spec.node_name
        or old.status.resource_claim_statuses != new.status.resource_claim_statuses
        or old.status.extended_resource_claim_status != new.status.extended_resource_claim_status
    )


def _is_about_devices(event: WatchEvent) -> bool:
    """Whether a claim went, or has or had devices."""
    old: ResourceClaim | None = event.old
    new: ResourceClaim | None = event.new
    return new is None or new.status.allocation is not None or (old is not None and old.status.allocation is not None)


def _explain(eviction: Eviction, rules: list[str]) -> str:
    places = [place.rpartition("/")[0] for _, place in eviction.reasons if place]
    return "NoExecute by " + ", ".join(
        [f"rule `{name}`" for name in rules] + [f"taint of `{place}`" for place in places]
    )
