"""What the stories reach: refusal reasons, events and features, each counted once for every time it happens."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from stories.story import Story

from dralang.allocator.explain import explain
from dralang.api.pods import Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.api.workloads import PodGroup
from dralang.cluster.journal import JournalEntry
from dralang.cluster.podclaims import EXTENDED_RESOURCE_ANNOTATION
from dralang.run.simulation import Simulation
from dralang.run.waiting import waiting
from dralang.scheduler.cluster_event import EventKind
from dralang.scheduler.framework import Plugin
from dralang.scheduler.queue import SchedulingQueue

REASONS = {
    name: re.compile(pattern)
    for name, pattern in {
        "no nodes": r"no nodes available to schedule pods",
        "cordoned": r"\d+ node\(s\) were unschedulable",
        "node taint": r"\d+ node\(s\) had untolerated taint\(s\)",
        "node affinity": r"\d+ node\(s\) didn't match Pod's node affinity/selector",
        "other node named": r"\d+ node\(s\) didn't satisfy plugin\(s\) \[NodeAffinity\]",
        "affinity terms conflict": r"pod affinity terms conflict",
        "host port": r"\d+ node\(s\) didn't have free ports for the requested pod ports",
        "too many pods": r"\d+ Too many pods",
        "too little cpu": r"\d+ Insufficient cpu",
        "too few of an extended resource": r"\d+ Insufficient (example\.com|deviceclass\.resource\.kubernetes\.io)/\w+",
        "pod affinity": r"\d+ node\(s\) didn't match pod affinity rules",
        "pod anti-affinity": r"\d+ node\(s\) didn't match pod anti-affinity rules",
        "anti-affinity of others": r"\d+ node\(s\) didn't satisfy existing pods anti-affinity rules",
        "devices": r"\d+ cannot allocate all claims",
        "allocated elsewhere": r"\d+ resourceclaim not available on the node",
        "claim missing": r'could not find ResourceClaim "default/[\w-]+"',
        "claim in deletion": r'resourceclaim "[\w-]+" is being deleted',
        "claim in flight": r"resource claim default/[\w-]+ is in the process of being allocated",
        "class missing": r"request [\w/]+: device class \w+ does not exist",
        "invalid pools": r"\d+ invalid resource pools were encountered",
        "all of a pool in update": r'(running "DynamicResources" filter plugin:|\d+) claim \S+, request \S+: asks for '
        r"all devices, but resource pool \S+ is currently being updated",
        "all of an invalid pool": r'(running "DynamicResources" filter plugin:|\d+) claim \S+, request \S+: asks for '
        r"all devices, but resource pool \S+ is currently invalid",
        "leftover claim for extended resources": r"\d+ cannot schedule extended resource claim",
        "leftover claim deleted": r"deletion of ResourceClaim completed",
        "preemption: claims not free": r"preemption: not eligible due to ResourceClaims of preempted pods that are .*",
        "write conflict": r"Operation cannot be fulfilled on \S+ \S+: the object has been modified; .*",
        "write refused": r"update of \S+ \S+ failed as the scenario demands",
        "group: other member failed": r"failed to schedule other pod from a pod group:.*",
        "mapped device shared": r"\d+ node allocatable resource claim \S+ has a mapped device and cannot be shared "
        r"across pods",
        "pod level request": r"\d+ pod level request for cpu is insufficient to cover the aggregated container and "
        r"node-allocatable DRA requests",
        "preemption: not helpful": r"\d+ Preemption is not helpful for scheduling",
        "preemption: no victims": r"\d+ No preemption victims found for incoming pod",
        "preemption: forbidden": r"preemption: not eligible due to preemptionPolicy=Never",
        "preemption: under way": r"preemption: not eligible due to a terminating pod on the nominated node",
        "preemption: found": r"preemption: found a potential placement for pod on node \S+, preempting \d+ victims",
        "claim deallocated": r"deallocation of ResourceClaim completed",
        "group: too few members": r"minCount \(\d+\) cannot be satisfied: \d+ scheduled, "
        r"\d+ remaining",
        "group: not placed": r"pod group is unschedulable",
        "group: no victims": r"pod group preemption: No preemption victims found for incoming preemptor",
        "group: members differ": r"all pods in a single pod group should have the same priority as the pod group's "
        r"priority, got \d+ and \d+",
        "selector fails": r'running "DynamicResources" filter plugin: (class|claim) \S+: selector #\d+.*no such key.*',
        "more than the limit of devices": r'(running "DynamicResources" filter plugin:|\d+) claim \S+, request \S+: '
        r"adding \d+ devices exceeds the claim limit of 32, with \d+ already accounted for",
        "all against a constraint": r'running "DynamicResources" filter plugin: claim \S+, request \S+: cannot add .*',
        "device twice in a pool": r'running "DynamicResources" filter plugin: pool \S+ is invalid: duplicate device .*',
        "crash in upstream": r'running "DynamicResources" filter plugin: the allocator crashed: .*',
        "binding: device failed": r'running PreBind plugin "DynamicResources": device binding failed: .*',
        "binding: timeout": r'running PreBind plugin "DynamicResources": device binding timeout: .*',
        "binding: preempted": r'running PreBind plugin "DynamicResources": preempted by DefaultPreemption',
        "binding: claim gone": r'running PreBind plugin "DynamicResources": could not find ResourceClaim .*',
        "binding: claim in deletion": r'running PreBind plugin "DynamicResources": claim \S+ got deleted in the .*',
        "binding: claim allocated": r'running PreBind plugin "DynamicResources": claim \S+ got (de)?allocated else.*',
        "binding: write refused": r'running (PreBind|Bind) plugin "\w+": .*failed as the scenario demands',
        "binding: too late": r'running Bind plugin "DefaultBinder": pod \S+ is (being deleted|already assigned).*',
        "preemption: failed": r'running "\w+" filter plugin: .*',
    }.items()
}
"""The parts of which FailedScheduling messages are made."""

RARE = {
    "crash in upstream",
    "preemption: failed",
    "write conflict",
}
"""A fault of one old version; an error that shows only once a victim is gone; two writes of one instant. Counted, but
left to chance."""

_FRAME = re.compile(r"(preemption: )?\d+/\d+ nodes are available: ")

GATES = {
    "claim not made yet": "ResourceClaim not created yet",
    "claim not there": "could not find ResourceClaim",
    "claim being deleted": "is being deleted",
    "scheduling gate": "waiting for scheduling gates",
    "group not there": "to appear in scheduling queue",
    "preemption not told": "waiting for the preemption for this pod to be finished",
}
"""What PreEnqueue says."""

RULES = (
    "attribute-missing", "capacity-missing", "capacity-policy", "capacity-short", "counter-short", "groups", "in-use",
    "node", "node-operations", "selector", "selector-error", "taint",
)  # fmt: skip
"""Why a device does not serve a request, as the explanation of the allocator names it."""

EVENTS = tuple(f"event {kind.value}" for kind in EventKind)
"""What may wake a pod that waits."""

HAPPENED = (
    "Allocated", "BindingConditionsPending", "Complete", "Deallocated", "Deleted", "DeletionByPodGC",
    "DeviceTaintManagerEviction", "EvictionCancelled", "EvictionInProgress", "Failed", "FailedResourceClaimCreation",
    "Generated", "Nominated", "Preempted", "Reserved", "Running", "Scheduled", "Succeeded", "Terminating", "Unreserved",
)  # fmt: skip
"""Entries of the journal, by their reason."""

FEATURES = (
    "admin access", "all devices", "alternatives", "binding conditions", "capacity of a class", "compatibility groups",
    "counters", "derived attributes", "devices of two drivers", "explicit extended resource",
    "implicit extended resource", "gang", "claim of a group", "constraint", "list attribute", "node resources",
    "operations skipped", "pool of several nodes", "share of a device", "claim of several pods", "tolerated taint",
    "two claims at once",
)  # fmt: skip
"""What allocations and running pods use."""

FAULTS = (
    "restart scheduler", "restart resourceclaim-controller", "restart kubelet", "restart garbage-collector",
    "restart device-taint-eviction-controller", "restart pod-garbage-collector", "late or lost",
)  # fmt: skip

EXPECTED = tuple(
    [f"reason {name}" for name in REASONS if name not in RARE]
    + [f"gate {name}" for name in GATES]
    + [f"rule {name}" for name in RULES]
    + list(EVENTS)
    + [f"happened {name}" for name in HAPPENED]
    + [f"feature {name}" for name in FEATURES]
    + [f"fault {name}" for name in FAULTS]
)


class Reached:
    """Counts over many stories."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.unknown: Counter[str] = Counter()
        """Parts of messages that no reason explains."""

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Hear of the events of all queues and of what holds pods back before they are tried."""
        move, consider = SchedulingQueue.move, SchedulingQueue._consider
        gates = {plugin: plugin.pre_enqueue for plugin in Plugin.__subclasses__() if "pre_enqueue" in vars(plugin)}
        counts = self.counts

        def moving(queue: SchedulingQueue, event: Any, *others: Any) -> None:
            counts[f"event {event.kind.value}"] += 1
            move(queue, event, *others)

        def considering(queue: SchedulingQueue, queued: Any, event: Any) -> None:
            if event.kind in (EventKind.WILDCARD, EventKind.TARGET_POD_UPDATED):
                counts[f"event {event.kind.value}"] += 1
            consider(queue, queued, event)

        def asking(asked: Any) -> Any:
            def ask(plugin: Plugin, pod: Pod) -> Any:
                status = asked(plugin, pod)
                if not status.is_success:
                    self._gate(status.message)
                return status

            return ask

        queues: Any = SchedulingQueue
        queues.move, queues._consider = moving, considering
        for plugin, asked in gates.items():
            plugin.pre_enqueue = asking(asked)  # type: ignore[method-assign]
        try:
            yield
        finally:
            queues.move, queues._consider = move, consider
            for plugin, asked in gates.items():
                plugin.pre_enqueue = asked  # type: ignore[method-assign]

    def _gate(self, message: str) -> None:
        names = [name for name, text in GATES.items() if text in message]
        self.counts.update(f"gate {name}" for name in names)
        if not names:
            self.unknown[message] += 1

    def watch(self, story: Story) -> None:
        """Hear of the writes of a story."""
        store = story.simulation.store

        def wrote(kind: type[Any], old: Any, new: Any) -> None:
            if new is None:
                return
            if kind is ResourceClaim:
                self._claim(story, old, new)
            elif kind is Pod and old is not None and new.spec.node_name and not old.spec.node_name:
                self._bound(new)
            elif kind is PodGroup:
                scheduled = any(each.status == "True" for each in new.status.conditions)
                self._feature("gang", when=scheduled and new.spec.scheduling_policy.gang is not None)

        store.on_write = wrote

    def _feature(self, name: str, *, when: bool) -> None:
        if when:
            self.counts[f"feature {name}"] += 1

    def _bound(self, pod: Pod) -> None:
        asked = [name for container in pod.spec.containers for name in container.resources.requests]
        self._feature("explicit extended resource", when="example.com/gpu" in asked)
        self._feature("implicit extended resource", when=any(name.startswith("deviceclass.") for name in asked))
        self._feature("node resources", when=bool(pod.status.node_allocatable_resource_claim_statuses))
        self._feature("two claims at once", when=len(pod.spec.resource_claims) > 1)

    def _claim(self, story: Story, old: ResourceClaim | None, new: ResourceClaim) -> None:
        users = new.status.reserved_for
        if old is not None and len(users) > len(old.status.reserved_for):
            self._feature("claim of several pods", when=len(users) > 1)
            self._feature("claim of a group", when=users[-1].resource == "podgroups")
        allocation = new.status.allocation
        if allocation is None or (old is not None and old.status.allocation is not None):
            return
        results = allocation.devices.results
        used = {(each.driver, each.pool, each.device) for each in results}
        slices = story.simulation.store.objects(ResourceSlice)
        devices = [
            device
            for slice_ in slices
            for device in slice_.spec.devices
            if (slice_.spec.driver, slice_.spec.pool.name, device.name) in used
        ]
        spec = new.spec.devices
        exact = [request.exactly for request in spec.requests if request.exactly is not None]
        feature = self._feature
        feature("admin access", when=any(each.admin_access for each in results))
        feature("all devices", when=any(each.allocation_mode == "All" for each in exact))
        feature("alternatives", when=any("/" in each.request for each in results))
        feature("binding conditions", when=any(each.binding_conditions for each in results))
        feature("share of a device", when=any(each.share_id for each in results))
        feature("operations skipped", when=any(each.skip_node_operations for each in results))
        feature("devices of two drivers", when=len({each.driver for each in results}) > 1)
        feature("counters", when=any(each.consumes_counters for each in devices))
        feature(
            "compatibility groups",
            when=any(one.compatibility_groups for each in devices for one in each.consumes_counters),
        )
        feature("tolerated taint", when=any(each.taints for each in devices))
        feature("constraint", when=bool(spec.constraints))
        feature(
            "list attribute", when=any((each.match_attribute or "").endswith("/groups") for each in spec.constraints)
        )
        feature("derived attributes", when=any(each.derived_attributes for each in exact))
        special = new.metadata.annotations.get(EXTENDED_RESOURCE_ANNOTATION) == "true"
        feature("capacity of a class", when=special and any(each.capacity is not None for each in exact))
        feature(
            "pool of several nodes",
            when=any(
                slice_.spec.node_name is None
                and (slice_.spec.driver, slice_.spec.pool.name) in {key[:2] for key in used}
                for slice_ in slices
            ),
        )

    def story_told(self, story: Story) -> None:
        """Count what a story that has come to rest has left behind."""
        simulation = story.simulation
        for entry in simulation.trace:
            self._entry(entry)
        for component, restarts in story.restarts.items():
            self.counts[f"fault restart {component}"] += restarts
        self.counts["fault late or lost"] += not story.punctual
        self._explain(simulation)

    def _entry(self, entry: JournalEntry) -> None:
        if entry.reason in HAPPENED:
            self.counts[f"happened {entry.reason}"] += 1
        if entry.reason == "FailedScheduling":
            for part in parts(entry.message):
                names = [name for name, pattern in REASONS.items() if pattern.fullmatch(part)][:1]
                self.counts.update(f"reason {name}" for name in names)
                if not names:
                    self.unknown[part] += 1

    def _explain(self, simulation: Simulation) -> None:
        """Ask the allocator about the pods that wait."""
        for pod in simulation.pods():
            if pod.spec.node_name or pod.status.phase != "Pending" or pod.spec.scheduling_group is not None:
                continue
            why = waiting(simulation, "default", pod.metadata.name)
            for refusal in why.refusals[:2] if why is not None else ():
                if refusal.question is not None:
                    found = explain(*refusal.question)
                    self.counts.update(
                        f"rule {verdict.obstacle.rule}"
                        for claim in found.claims
                        for request in claim.requests
                        for verdict in request.devices
                        if verdict.obstacle is not None
                    )

    def lines(self) -> list[str]:
        """A table of all counts."""
        shown = sorted({*EXPECTED, *self.counts, *(f"reason {name}" for name in RARE)})
        return [f"{self.counts[name]:8} {name}" for name in shown]


def parts(message: str) -> list[str]:
    """The reasons of a message, one by one."""
    first, running, error = message.partition('running "')
    if running:
        return [*parts(first), running + error]
    message = _FRAME.sub(lambda found: (found[1] and " | ") or "", message.rstrip("."))
    return [
        part.strip(" .|,")
        for part in re.split(r", (?=\d+ (?!remaining)|minCount|pod group preemption|preemption:)|\. | \| ", message)
        if part.strip(" .|,") not in ("", "preemption:")
    ]
