"""The scheduler as a component of the cluster: its informers, its queue, its cycles and its bindings.

Source: kubernetes pkg/scheduler/eventhandlers.go, schedule_one.go.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule
from dralang.api.namespaces import Namespace
from dralang.api.nodes import Node
from dralang.api.pods import TERMINAL, Pod
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.api.workloads import PodGroup
from dralang.cluster.clock import Phase
from dralang.cluster.store import ObjectStore, WatchEvent
from dralang.features import FeatureGates
from dralang.readings import STATUS_NOMINATES
from dralang.scheduler.binding import Binder, Binding
from dralang.scheduler.cluster_event import ClusterEvent, EventKind, node_aspects
from dralang.scheduler.cycle import Failed, Found, NotFound, SchedulingAlgorithm
from dralang.scheduler.dynamicresources.attentive import kind_of
from dralang.scheduler.dynamicresources.binding import ClaimBinder
from dralang.scheduler.dynamicresources.inventories import Inventories
from dralang.scheduler.dynamicresources.manager import DRAManager
from dralang.scheduler.dynamicresources.plugin import DynamicResources
from dralang.scheduler.framework import SUCCESS, CycleState, NominationEnd, Plugin, Status
from dralang.scheduler.node_info import NodeCache, NodeInfo, PodInfo
from dralang.scheduler.nominator import PodNominator
from dralang.scheduler.pod_group_cycle import PodGroupCycle
from dralang.scheduler.pod_groups import GangScheduling, PodGroups, QueuedGroup, group_key
from dralang.scheduler.pod_status import PodReports, is_assigned, is_queued
from dralang.scheduler.preemption import DefaultPreemption
from dralang.scheduler.profile import Parts, plugins_of
from dralang.scheduler.queue import QueuedEntity, QueuedPod, QueueSettings, SchedulingQueue
from dralang.scheduler.settings import DEFAULT_SETTINGS, SchedulerSettings
from dralang.scheduler.verdicts import VerdictCache

# Looked up once: before Python 3.12 a member of an enumeration costs as much as a call.
_CLAIM_CHANGED, _TARGET_POD_UPDATED = EventKind.CLAIM_CHANGED, EventKind.TARGET_POD_UPDATED


class Scheduler:
    """kube-scheduler with its default profile. Only its entries of the event queue change its state."""

    name = "scheduler"

    def __init__(
        self,
        store: ObjectStore,
        features: FeatureGates,
        inventories: Inventories,
        settings: SchedulerSettings = DEFAULT_SETTINGS,
        readings: frozenset[str] = frozenset(),
    ) -> None:
        self.store = store
        self.events = store.events
        self.features = features
        self.settings = settings
        self.readings = readings
        self._reports = PodReports(store, self.name)
        self._inventories = inventories
        self.on_taken: Callable[[Pod, CycleState, str], None] | None = None
        """Told of every pod that has got a node and its devices, before anything is written."""
        self.on_preempting: Callable[[Pod, str, tuple[Pod, ...]], None] | None = None
        """Told of every preemption that was chosen, before anything is done: preemptor, node, victims."""
        self.on_gated: Callable[[str], None] | None = None
        """Called with the reason when a pod may not be tried yet, of which nothing is recorded."""
        self._reset()
        handlers = (
            (Pod, self._on_pod),
            (Node, self._on_node),
            (ResourceClaim, self._on_claim),
            (ResourceSlice, self._on_slice),
            (DeviceClass, self._on_class),
            (DeviceTaintRule, self._on_rule),
            (PodGroup, self._on_group),
        )
        for kind, handler in handlers:
            store.subscribe(self.name, Phase.SCHEDULER_EVENT, (kind,), handler)

    def _reset(self) -> None:
        """Everything that is only in memory."""
        settings, features = self.settings, self.features
        self.verdicts = VerdictCache()
        self.cache = NodeCache(self.verdicts.forget_node)
        self.nominator = PodNominator(self._nomination_ended)
        self.manager = DRAManager(
            self._inventories,
            taint_rules=features.enabled("DRADeviceTaintRules") and features.enabled("DRADeviceTaints"),
            recomputes_names=features.version not in ("1.34", "1.35", "1.36", "1.37"),
            changed=self._claim_changed,
            touched=self._nodes_touched,
            forgets=settings.memory == "none",
        )
        self.dynamic_resources: DynamicResources = kind_of(self._inventories.profile, features)(
            self.store,
            self.manager,
            features,
            binding_timeout=settings.arguments.binding_timeout,
            filter_timeout=settings.arguments.filter_timeout,
            freed=self._capacity_freed,
            is_offered=self.cache.is_offered,
            readings=self.readings,
        )
        self._serves_extended = features.enabled("DRAExtendedResource")
        self.preemption = DefaultPreemption(self)
        self.plugins = plugins_of(
            settings,
            features,
            Parts(
                self.cache,
                self.manager,
                self.dynamic_resources,
                self.preemption,
                self._delegates,
                self._namespace_labels,
            ),
        )
        self._by_name = {plugin.name: plugin for plugin in self.plugins}
        self.algorithm = SchedulingAlgorithm(
            self.plugins,
            self.cache,
            self.nominator,
            self.verdicts,
            percentage=settings.percentage_of_nodes_to_score,
            ties=settings.ties,
            nominates_by_status=STATUS_NOMINATES in self.readings,
            memory=settings.memory,
        )
        self._gates = [plugin for plugin in self.plugins if type(plugin).pre_enqueue is not Plugin.pre_enqueue]
        self.queue = SchedulingQueue(
            self.events,
            self.name,
            QueueSettings.of(settings, pop_from_backoff=features.enabled("SchedulerPopFromBackoffQ")),
            self._pre_enqueue,
            self._helps,
            self._wake,
            self._listeners,
        )
        self._by_event: dict[EventKind, tuple[str, ...]] = {}
        self.groups = PodGroups(self.queue, self.events, enabled=features.enabled("GenericWorkload"))
        if self.groups.enabled and (settings.plugins is None or GangScheduling.name in settings.plugins):
            gang = GangScheduling(self.groups)
            self.plugins.append(gang)
            self._by_name[gang.name] = gang
            self._gates.append(gang)
        waits = self.dynamic_resources.waits_for_devices
        claims = ClaimBinder(
            self.store,
            self.manager,
            group_claims=self.dynamic_resources.group_claims,
            sets_timestamp=waits,
            settles_each=features.version in ("1.34", "1.35"),
            names_special=not self._inventories.profile.has("special-claim-has-no-node-resources"),
            dates_old=self._inventories.profile.has("undated-allocation-blocks-claim"),
        )
        self.binder = Binder(
            self.store,
            self.name,
            claims,
            timeout=settings.arguments.binding_timeout if waits else 0,
            done=self._bound,
            failed=self._binding_failed,
        )
        self._group_cycle = PodGroupCycle(self)
        self._cycle_planned = False

    def _delegates(self, resource: str, node: NodeInfo | None) -> bool:
        """Whether devices serve a resource name instead of the node.

        Source: kubernetes noderesources/fit.go shouldDelegateResourceToDRA.
        """
        if not self._serves_extended or (node is not None and node.allocatable.get(resource, 0) > 0):
            return False
        return self.manager.names.class_for(resource) is not None

    def _nomination_ended(self, info: PodInfo, node: str, cause: NominationEnd) -> None:
        self.algorithm.remove_nominated_pod(info, node, cause)

    def _capacity_freed(self, info: PodInfo, old: ResourceClaim, new: ResourceClaim) -> None:
        """What was held for a pod is free; nothing in the API server says so."""
        self.queue.move(
            ClusterEvent(EventKind.CLAIM_CHANGED, old, new),
            lambda other: other.priority <= info.priority and other.uid != info.uid,
        )

    def _nodes_touched(self, nodes: Iterable[str] | None) -> None:
        if nodes is None:
            self.verdicts.forget_all()
        else:
            for node in nodes:
                self.verdicts.forget_node(node)

    def _namespace_labels(self, name: str) -> Mapping[str, str]:
        found = self.store.get(Namespace, "", name)
        return {"kubernetes.io/metadata.name": name, **(found.metadata.labels if found is not None else {})}

    # Life of the process.

    def start(self) -> None:
        """Read everything that exists."""
        for kind, handler in (
            (Node, self._on_node),
            (DeviceClass, self._on_class),
            (ResourceSlice, self._on_slice),
            (DeviceTaintRule, self._on_rule),
            (PodGroup, self._on_group),
            (ResourceClaim, self._on_claim),
            (Pod, self._on_pod),
        ):
            listed: list[Any] = self.store.objects(kind)
            for each in listed:
                handler(WatchEvent(kind, None, each))

    def restart(self) -> None:
        """Lose everything that is only in memory and start again."""
        self.events.drop(self.name)
        before = self.manager
        self._reset()
        # The IDs of shares stand for random ones, which never come again.
        self.manager.shares = before.shares
        self.manager.on_asked = before.on_asked
        self.start()

    # Informers.

    def _on_node(self, event: WatchEvent) -> None:
        old, new = event.old, event.new
        if new is None:
            self.cache.remove_node(old.metadata.name)
            self.queue.move(ClusterEvent(EventKind.NODE_DELETED, old, None))
            return
        self.cache.set_node(new)
        if old is None:
            self.queue.move(ClusterEvent(EventKind.NODE_ADDED, None, new))
        else:
            aspects = node_aspects(old, new)
            if aspects:
                self.queue.move(ClusterEvent(EventKind.NODE_UPDATED, old, new, aspects))

    def _on_class(self, event: WatchEvent) -> None:
        self.manager.inform_class(event.old, event.new)
        if event.new is not None and (event.old is None or event.old.spec != event.new.spec):
            self.queue.move(ClusterEvent(EventKind.CLASS_CHANGED, event.old, event.new))

    def _on_slice(self, event: WatchEvent) -> None:
        self.manager.inform_slice(event.old, event.new)
        if event.new is not None:
            self.queue.move(ClusterEvent(EventKind.SLICE_CHANGED, event.old, event.new))

    def _on_rule(self, event: WatchEvent) -> None:
        for slice_ in self.manager.inform_rule(event.old, event.new):
            self.queue.move(ClusterEvent(EventKind.SLICE_CHANGED, slice_, slice_))

    def _on_group(self, event: WatchEvent) -> None:
        if self.groups.enabled:
            self.groups.set_group(event.old, event.new)

    def _on_claim(self, event: WatchEvent) -> None:
        self.manager.inform(event.old, event.new)
        if event.new is not None:
            self.binder.watch(event.old, event.new)

    def _claim_changed(self, old: ResourceClaim | None, new: ResourceClaim | None) -> None:
        self.queue.move(ClusterEvent(_CLAIM_CHANGED, old, new))

    def _on_pod(self, event: WatchEvent) -> None:
        old, new = event.old, event.new
        if old is not None and new is not None and old.metadata.uid != new.metadata.uid:
            self._on_pod(WatchEvent(Pod, old, None))
            old = None
        if self.groups.enabled:
            self._observe_member(old, new)
        was = is_assigned(old)
        is_ = is_assigned(new)
        if is_ or was:
            self._on_assigned(old if was else None, new if is_ else None)
        if is_queued(old, self.settings.name) or is_queued(new, self.settings.name):
            self._on_unassigned(old, new)

    def _observe_member(self, old: Pod | None, new: Pod | None) -> None:
        pod = new if new is not None else old
        key = group_key(pod) if pod is not None else None
        if pod is not None and key is not None:
            self.groups.observe(new, pod.metadata.uid, key)

    def _entry(self, pod: Pod) -> QueuedPod | None:
        """The entry of a pod that has no node, whether it is tried alone or with its group."""
        uid = pod.metadata.uid
        binding = self.binder.waiting.get(uid)
        if binding is not None:
            return binding.queued
        return self.groups.get(uid, pod) if self.groups.is_member(pod) else self.queue.get(uid)

    def _on_assigned(self, old: Pod | None, new: Pod | None) -> None:
        if new is None:
            assert old is not None
            self.cache.remove_pod(old.metadata.uid)
            self.queue.move(ClusterEvent(EventKind.ASSIGNED_POD_DELETED, old, None))
            return
        known = self.cache.pod(new.metadata.uid)
        info = known.updated(new) if known is not None else PodInfo(new)
        if info is not known or self.cache.node_of(new.metadata.uid) != new.spec.node_name:
            self.cache.add_pod(info, new.spec.node_name)
        if old is None:
            self.queue.move(ClusterEvent(EventKind.ASSIGNED_POD_ADDED, None, new))
        elif old.spec is not new.spec or old.metadata.labels is not new.metadata.labels:
            self.queue.move(ClusterEvent(EventKind.ASSIGNED_POD_UPDATED, old, new))

    def _on_unassigned(self, old: Pod | None, new: Pod | None) -> None:
        ours = self.settings.name
        if not is_queued(new, ours):
            assert old is not None
            self._leaves_queue(old, new)
            return
        assert new is not None
        uid = new.metadata.uid
        queued = self._entry(new)
        if queued is None:
            if self.cache.node_of(uid):
                return  # an old version of a pod that is bound: news of that is on its way
            self._add_to_queue(PodInfo(new))
            self._nominate_from_status(new)
            return
        info = queued.info.updated(new)
        if old is not None and old.metadata.deletion_timestamp is None and new.metadata.deletion_timestamp is not None:
            self._starts_to_end(new)
        key = group_key(new) if self.groups.enabled else None
        if key is not None:
            queued.info = info
            self.groups.update(info, key)
        else:
            self.queue.update(info, ClusterEvent(_TARGET_POD_UPDATED, old, new))
        if old is not None and old.status.nominated_node_name != new.status.nominated_node_name:
            if uid not in self.binder.waiting:
                self._nominate_from_status(new)
            if old.status.nominated_node_name:
                self._nomination_ends(new, old)

    def _add_to_queue(self, info: PodInfo) -> None:
        key = group_key(info.pod) if self.groups.enabled else None
        if key is not None:
            self.groups.add(info, key)
        else:
            self.queue.add(info)

    def _nominate_from_status(self, pod: Pod) -> None:
        if pod.status.nominated_node_name:
            queued = self._entry(pod)
            if queued is not None:
                self.nominator.add(queued.info, pod.status.nominated_node_name)
        else:
            self.nominator.delete(pod.metadata.uid)

    def _nomination_ends(self, pod: Pod, before: Pod) -> None:
        """Whoever is not more important may use the room that was held for the pod."""
        priority = pod.spec.priority or 0
        self.queue.move(
            ClusterEvent(EventKind.ASSIGNED_POD_DELETED, before, None),
            lambda other: other.priority <= priority and other.uid != pod.metadata.uid,
        )

    def _starts_to_end(self, pod: Pod) -> None:
        """A pod that is being bound is being deleted: its place on the node is free at once."""
        uid = pod.metadata.uid
        if uid in self.binder.waiting and self.cache.node_of(uid):
            self.cache.remove_pod(uid)
            self.queue.move(ClusterEvent(EventKind.ASSIGNED_POD_DELETED, pod, None))

    def _leaves_queue(self, old: Pod, new: Pod | None) -> None:
        uid = old.metadata.uid
        self._drop_from_queue(old)
        self.nominator.delete(uid)
        if new is None or new.status.phase in TERMINAL:
            if self.cache.node_of(uid):
                self.cache.remove_pod(uid)
                self.queue.move(ClusterEvent(EventKind.ASSIGNED_POD_DELETED, old, None))
            elif old.status.nominated_node_name:
                self._nomination_ends(old, old)

    def _drop_from_queue(self, pod: Pod) -> None:
        uid = pod.metadata.uid
        key = group_key(pod) if self.groups.enabled else None
        if key is None:
            self.queue.delete(uid)
            return
        self.groups.delete(uid, key)
        if uid in self.binder.waiting:
            self.binder.waiting[uid].queued.place = "gone"

    # Queue.

    def gate_of(self, pod: Pod) -> Status:
        """What keeps a pod from being tried at all, as it is now."""
        for plugin in self._gates:
            status = plugin.pre_enqueue(pod)
            if not status.is_success:
                return status.by(plugin.name)
        return SUCCESS

    def _pre_enqueue(self, queued: QueuedEntity) -> Status:
        pods = [each.pod for each in queued.ordered()] if isinstance(queued, QueuedGroup) else []
        if isinstance(queued, QueuedPod):
            pods = [queued.pod]
        gates = self._gates
        if queued.gated_by:
            gates = sorted(gates, key=lambda plugin: plugin.name != queued.gated_by)
        for pod in pods:
            for plugin in gates:
                status = plugin.pre_enqueue(pod)
                if not status.is_success:
                    if self.on_gated is not None:
                        self.on_gated(status.message)
                    return status.by(plugin.name)
        return SUCCESS

    def _helps(self, plugin: str, event: ClusterEvent, queued: QueuedEntity) -> bool:
        found = self._by_name.get(plugin)
        if found is None:
            return False
        if isinstance(queued, QueuedGroup):
            return any(found.helps(event, member.info) for member in queued.ordered())
        assert isinstance(queued, QueuedPod)
        if event.kind is _TARGET_POD_UPDATED and event.new.metadata.uid != queued.uid:
            return False
        return found.helps(event, queued.info)

    def _listeners(self, kind: EventKind) -> tuple[str, ...]:
        """The plugins that a kind of event can make change their mind."""
        found = self._by_event.get(kind)
        if found is None:
            found = self._by_event[kind] = _listeners(kind, tuple([type(plugin) for plugin in self.plugins]))
        return found

    def _wake(self) -> None:
        if not self._cycle_planned:
            self._cycle_planned = True
            self.events.schedule(Phase.SCHEDULING, self.name, self._schedule_one)

    # The scheduling cycle.

    def _schedule_one(self, _: object) -> None:
        self._cycle_planned = False
        queued = self.queue.pop()
        if queued is None:
            return
        searching = self._search_time(queued)
        if searching:
            # Nobody else is tried meanwhile.
            self._cycle_planned = True
            self.events.schedule(Phase.SCHEDULING, self.name, self._try, queued, delay=searching)
        else:
            self._try(queued)

    def _search_time(self, queued: QueuedEntity) -> int:
        """How long the cycle looks for devices."""
        if not self.dynamic_resources.search.is_slow:
            return 0
        members = queued.ordered() if isinstance(queued, QueuedGroup) else [queued]
        infos = [each.info for each in members if isinstance(each, QueuedPod)]
        return max([self.dynamic_resources.search_time(info) for info in infos], default=0)

    def _try(self, queued: QueuedEntity) -> None:
        self._cycle_planned = False
        if self.queue.has_work():
            self._wake()
        if queued.place == "gone":
            return
        if isinstance(queued, QueuedGroup):
            self._group_cycle.run(queued)
            return
        assert isinstance(queued, QueuedPod)
        if self.is_out(queued):
            return
        state = CycleState()
        answer = self.algorithm.schedule(state, queued.info)
        match answer:
            case Found():
                self._place(queued, state, answer.node)
            case NotFound(diagnosis=diagnosis, nominated=nominated):
                self._reject(queued, diagnosis.message(), diagnosis.rejectors, nominated)
            case Failed(message=message, rejected=rejected):
                self._fail(queued, message, rejected=rejected)

    def is_out(self, queued: QueuedPod) -> bool:
        """Whether a pod is not to be tried: it is being deleted or bound."""
        return queued.pod.metadata.deletion_timestamp is not None or queued.uid in self.binder.waiting

    def _place(self, queued: QueuedPod, state: CycleState, node: str) -> None:
        problem = self.take(queued, state, node)
        if problem:
            self._fail(queued, problem, rejected=False)
        else:
            self.start_binding(queued, state, node)

    def start_binding(self, queued: QueuedPod, state: CycleState, node: str) -> None:
        """Let a pod that was taken be bound."""
        self.binder.start(Binding(queued, state, node))

    def take(self, queued: QueuedPod, state: CycleState, node: str) -> str:
        """Assume the pod on the node and reserve what it needs; return what went wrong, with everything undone."""
        info = queued.info
        if self.groups.enabled:
            self.groups.assume(info.pod)
        self.cache.add_pod(self._with_devices(info, state, node), node)
        self.nominator.delete(info.uid, "scheduled")
        for plugin in self.plugins:
            if plugin.has_reserve:
                status = plugin.reserve(state, info, node)
                if not status.is_success:
                    self.give_up(queued, state, node)
                    return f'running Reserve plugin "{plugin.name}": {status.message}'
        if self.on_taken is not None:
            self.on_taken(info.pod, state, node)
        return ""

    def _with_devices(self, info: PodInfo, state: CycleState, node: str) -> PodInfo:
        """The pod with what its devices take of the node."""
        amounts = self.dynamic_resources.footprint_on(state, node)
        if not amounts:
            return info
        status = replace(info.pod.status, node_allocatable_resource_claim_statuses=amounts)
        return PodInfo(replace(info.pod, status=status))

    def give_up(self, queued: QueuedPod, state: CycleState, node: str) -> None:
        """Undo what `take` did."""
        if self.groups.enabled:
            self.groups.forget(queued.pod)
        for plugin in reversed(self.plugins):
            if plugin.has_reserve:
                plugin.unreserve(state, queued.info, node)
        self.cache.remove_pod(queued.info.uid)

    def _bound(self, binding: Binding) -> None:
        pod = binding.queued.pod
        self._drop_from_queue(pod)
        self._reports.note_pod(pod, "Scheduled", f"assigned to {binding.node}", binding.node)

    def _binding_failed(self, binding: Binding, message: str) -> None:
        queued = binding.queued
        pod = queued.pod
        self.give_up(queued, binding.state, binding.node)
        gone = replace(pod, spec=replace(pod.spec, node_name=binding.node))
        self.queue.move(ClusterEvent(EventKind.ASSIGNED_POD_DELETED, gone, None))
        current = self.store.get(Pod, pod.metadata.namespace, pod.metadata.name)
        # Of a pod that has ended nothing is heard: what the attempt began with is cleared, not what it wrote itself.
        ended = current is not None and current.status.phase in TERMINAL
        self._fail(queued, message, rejected=False, nominated=None if ended and not binding.nominated else "")

    # Failure.

    def _reject(self, queued: QueuedPod, message: str, rejectors: frozenset[str], nominated: str | None) -> None:
        self.queue.put_back(queued, rejectors)
        self._report(queued, "Unschedulable", message, nominated)

    def _fail(self, queued: QueuedPod, message: str, *, rejected: bool, nominated: str | None = "") -> None:
        key = group_key(queued.pod) if self.groups.enabled else None
        if key is not None and queued.place != "gone":
            self.groups.put_back(queued, key)
        else:
            self.queue.put_back(queued, frozenset())
        self._report(queued, "Unschedulable" if rejected else "SchedulerError", message, nominated)

    def report_member(self, queued: QueuedPod, message: str, *, failed: bool) -> None:
        """A member of a group was not placed: put it back and say why."""
        self._fail(queued, message, rejected=not failed)

    def _report(self, queued: QueuedPod, reason: str, message: str, nominated: str | None) -> None:
        """Write why the pod waits to its status, and to the journal."""
        meta = queued.pod.metadata
        current = self.store.get(Pod, meta.namespace, meta.name)
        if current is None or current.metadata.uid != meta.uid or current.spec.node_name:
            self._drop_from_queue(queued.pod)
            if nominated:
                # The pod went while its victims were chosen: it is not nominated, and nothing is held for it.
                self.algorithm.remove_nominated_pod(queued.info, nominated, "ended")
            return
        if nominated:
            self.nominator.add(queued.info, nominated)
        elif nominated is not None:
            self.nominator.delete(meta.uid)
        self._reports.write_waiting(current, reason, message, nominated)


@lru_cache(maxsize=1024)
def _listeners(kind: EventKind, plugins: tuple[type[Plugin], ...]) -> tuple[str, ...]:
    return tuple([plugin.name for plugin in plugins if kind in plugin.wakes_on])
