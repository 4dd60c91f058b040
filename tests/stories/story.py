"""Random stories: what users, drivers, nodes and faults do to a small cluster."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from builders import pod
from msgspec.structs import replace
from stories.coincidences import Coincidences
from stories.world import EXTENDED, GPU, NEITHER, NET, Draw, World, draw_world

from dralang.api.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    Toleration,
)
from dralang.api.allocation import AllocatedDeviceStatus
from dralang.api.containers import Container, ContainerPort, ResourceRequirements
from dralang.api.device import DeviceTaint
from dralang.api.deviceclass import DeviceClass
from dralang.api.devicetaintrule import DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector
from dralang.api.disruption import PodDisruptionBudget, PodDisruptionBudgetSpec
from dralang.api.meta import Condition, LabelSelector, ObjectMeta
from dralang.api.nodes import Node
from dralang.api.pods import Pod, PodResourceClaim, PodSchedulingGate, PodSchedulingGroup, PodSpec
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourcepoolstatusrequest import ResourcePoolStatusRequest, ResourcePoolStatusRequestSpec
from dralang.api.resourceslice import ResourceSlice
from dralang.api.workloads import (
    BasicSchedulingPolicy,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupResourceClaim,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
)
from dralang.cel.expressions import CelExpressions
from dralang.cluster.timestamps import format_time
from dralang.run.simulation import Environment, Simulation
from dralang.values.quantity import parse_quantity

STEPS = 16
PATIENCE = 700_000
"""Longer than every timer that brings somebody back: flush, backoff, binding timeout."""

EXPRESSIONS = CelExpressions()
"""Compiled expressions are pure: stories may share them."""


class Story:
    """One story, told step by step.

    Attributes:
        draw: its choices.
        world: what it began with.
        simulation: the cluster.
        punctual: no component was ever late or stopped, and no write was lost.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.draw = Draw(seed)
        self.world: World = draw_world(self.draw)
        # With these faults some pods would be tried for ever, or overlooked, and devices given away twice.
        quirks = {
            "claim-named-twice-counts-twice": False,
            "special-claim-has-no-node-resources": False,
            "failed-binding-forgets-devices": False,
            "remade-claim-keeps-devices": False,
            "mapped-resources-wake-nobody": False,
            "node-operations-wake-nobody": False,
            "undated-allocation-blocks-claim": False,
            "native-resource-blocks-claims": False,
        }
        self.simulation = Simulation(Environment(self.world.features, EXPRESSIONS, quirks))
        refused = self.simulation.load(self.world.objects)
        assert not refused, refused
        self.punctual = True
        self._late = list(self.world.late)
        self._pods = self._groups = self._others = 0
        self._paused: set[str] = set()
        self._restart_at = self.draw.number(1, 60) if self.draw.chance(50) else 0
        self._restarted = self.draw.pick(self._components())
        self._events = 0
        self.late_components: set[str] = set()
        """Who was ever stopped or slowed down."""
        self.restarts: Counter[str] = Counter()
        self.watchers: list[Callable[[Simulation], None]] = []
        """Called after every event."""
        self.simulation.look_on(self._after_event)
        self._coincidences = Coincidences(self.simulation, self.draw, self._create_with, self._is_late)
        self._steps = self._possible_steps()

    def _components(self) -> list[str]:
        return [*self.simulation.components()]

    def _after_event(self, simulation: Simulation) -> None:
        self._events += 1
        for watcher in self.watchers:
            watcher(simulation)
        if self._events == self._restart_at:
            self.restarts[self._restarted] += 1
            simulation.restart(self._restarted)
            for watcher in self.watchers:
                watcher(simulation)

    def tell(self) -> None:
        """Tell the story to its end, and let time pass until nothing is left to happen."""
        simulation = self.simulation
        assert simulation.settle()
        for _ in range(STEPS):
            self.draw.pick(self._steps)()
            self._let_time_pass()
        self._resume()
        self._coincidences.release()
        for each in self._late:
            simulation.create(each)
        for component in self._components():
            simulation.delay(component, 0)
        assert simulation.settle(), "the cluster never comes to rest"
        simulation.advance_to(simulation.now + PATIENCE)
        assert simulation.settle(), "the cluster never comes to rest"

    def _let_time_pass(self) -> None:
        simulation, draw = self.simulation, self.draw
        match draw.number(0, 4):
            case 0:
                simulation.advance_to(simulation.now + draw.pick([0, 1, 700, 3_000, 20_000]))
            case 1 | 2 if not self._paused:
                assert simulation.settle(), "the cluster never comes to rest"
            case _:
                for _ in range(draw.number(0, 8)):
                    if simulation.events.next_time() == simulation.now:
                        simulation.step()

    def _possible_steps(self) -> list[Callable[[], None]]:
        themes = self.world.themes
        steps: list[Callable[[], None]] = [self._create] * 6 + [self._delete, self._finish] * 2
        steps += [self._cordon, self._restart, self._pause, self._resume, self._delay, self._fail_next]
        steps += [self._change_slice, self._delete_claim]
        if self.draw.chance(50):
            steps += self._coincidences.steps(themes)
        if themes & {"rules", "taints"}:
            steps += [self._rule] * (6 if "rules" in themes else 0) + [self._taint_device] * 2
        if "binding" in themes:
            steps += [self._set_conditions] * 5
        if themes & {"groups", "group-claims"}:
            steps += [self._create_group] + [self._create_member] * 6 + [self._delete_group]
        if "gates" in themes:
            steps += [self._open_gate] * 2
        if "late" in themes:
            steps += [self._come_late] * 3
        if "friends" in themes:
            steps += [self._relabel] * 2
        if "priorities" in themes:
            steps += [self._create] * 4 + [self._outrank] * 4
        if "budgets" in themes:
            steps += [self._budget]
        if "pool-status" in themes:
            steps += [self._ask_for_pools] * 2
        if "nodes" in themes:
            steps += [self._change_node, self._delete_node]
        if themes & {"extended", "selectors", "late"}:
            steps += [self._change_class]
        return steps

    def _is_late(self, component: str) -> None:
        """A component is late, or, without a name, a write is lost."""
        self.punctual = False
        if component:
            self.late_components.add(component)

    # Pods.

    def _create_with(self, finalizers: tuple[str, ...] = (), **spec: Any) -> Pod | None:
        """A pod of which some is given; None if the API server refuses it."""
        self._pods += 1
        made = self._pod(f"p{self._pods}", **spec)
        created = self.simulation.create(replace(made, metadata=replace(made.metadata, finalizers=finalizers)))
        return created if isinstance(created, Pod) else None

    def _create(self) -> None:
        self._pods += 1
        self.simulation.create(self._pod(f"p{self._pods}"))

    def _outrank(self) -> None:
        """A more important pod comes, and more happens while its victims are told and end."""
        simulation, draw = self.simulation, self.draw
        for _ in range(draw.number(2, 6)):
            self._pods += 1
            simulation.create(
                pod(f"p{self._pods}", requests={"cpu": "1"}, grace=30, priority_class_name=draw.pick(["low", "never"]))
            )
        simulation.advance_to(simulation.now)
        self._pods += 1
        simulation.create(
            pod(f"p{self._pods}", requests={"cpu": draw.pick(["1", "2"])}, priority_class_name="high", grace=30)
        )
        for _ in range(draw.number(2, 8)):
            if simulation.events.next_time() == simulation.now:
                simulation.step()
        draw.pick([self._delete, self._cordon, self._finish])()
        simulation.advance_to(simulation.now + 1_500)
        draw.pick([self._delete, self._cordon, self._finish])()
        simulation.advance_to(simulation.now + 2_500)

    def _pod(self, name: str, **spec: Any) -> Pod:
        draw, themes = self.draw, self.world.themes
        requests = {"cpu": draw.pick(["2", "2", "1"] if "priorities" in themes else ["100m", "100m", "1", "2"])}
        entries: list[PodResourceClaim] = []
        if spec.pop("only_extended", False):
            requests[draw.pick([EXTENDED, "deviceclass.resource.kubernetes.io/gpu"])] = "1"
        elif "scheduling_group" not in spec:
            entries, extended = self._devices()
            requests |= extended
            if "priority_class_name" not in spec and draw.chance(70 if "priorities" in themes else 30):
                spec["priority_class_name"] = draw.pick(["low", "high", "never"])
        ports = (ContainerPort(container_port=80, host_port=draw.pick([80, 81])),) if self._about("ports", 50) else ()
        if "node-resources" in themes and draw.chance(25):
            limits = {"cpu": parse_quantity("2")}
            requests["cpu"] = "1"
            spec["resources"] = ResourceRequirements(limits=limits, requests={"cpu": parse_quantity("1")})
        labels = {"app": draw.pick("xy")}
        if "nodes" in themes:
            spec |= self._wishes()
        if self._about("friends", 60):
            spec["affinity"] = self._friends()
        if self._about("gates", 40):
            spec["scheduling_gates"] = (PodSchedulingGate(name="example.com/wait"),)
        if draw.chance(40):
            spec["tolerations"] = (Toleration(key="k", operator="Exists"),)
        amounts = {key: parse_quantity(text) for key, text in requests.items()}
        # The API server insists on limits of extended resources.
        limited = {key for key in amounts if "/" in key} | ({"cpu"} if "resources" in spec else set())
        resources = ResourceRequirements(requests=amounts, limits={key: amounts[key] for key in sorted(limited)})
        container = Container(name="main", image="app", resources=resources, ports=ports)
        claims = tuple(entries) + spec.pop("resource_claims", ())
        grace = draw.pick([0, 5, 30] if "priorities" in themes else [0, 0, 2])
        return Pod(
            metadata=ObjectMeta(name=name, namespace="default", labels=labels),
            spec=PodSpec(
                containers=(container,), resource_claims=claims, termination_grace_period_seconds=grace, **spec
            ),
        )

    def _about(self, theme: str, percent: int) -> bool:
        return theme in self.world.themes and self.draw.chance(percent)

    def _devices(self) -> tuple[list[PodResourceClaim], dict[str, str]]:
        """Claims and extended resources of a pod."""
        draw = self.draw
        entries: list[PodResourceClaim] = []
        requests: dict[str, str] = {}
        kind = draw.number(4 if "node-resources" in self.world.themes else 0, 9)
        if kind <= 4:
            entries.append(PodResourceClaim(name="own", resource_claim_template_name=draw.pick(self.world.templates)))
        if kind in (4, 5, 6):
            name = "missing" if draw.chance(8) else draw.pick(self.world.claims)
            entries.append(PodResourceClaim(name="shared", resource_claim_name=name))
        if self.world.themes & {"extended", "class-capacity"} and draw.chance(60):
            names = [EXTENDED, EXTENDED, "deviceclass.resource.kubernetes.io/gpu"]
            requests[draw.pick(names)] = draw.pick(["1", "1", "2"])
            if draw.chance(15):
                requests[NEITHER] = "1"
        return entries, requests

    def _wishes(self) -> dict[str, Any]:
        draw = self.draw
        wishes: dict[str, Any] = {}
        if draw.chance(30):
            wishes["node_selector"] = {"zone": draw.pick("ab")}
        if draw.chance(30):
            names = tuple(draw.some(["n0", "n1", "n2"], draw.number(1, 2)))
            field = NodeSelectorRequirement(key="metadata.name", operator="In", values=names[:1])
            fields: tuple[NodeSelectorRequirement, ...] = (field,)
            if draw.chance(25):
                fields = (field, NodeSelectorRequirement(key="metadata.name", operator="In", values=("n9",)))
            required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=fields),))
            wishes["affinity"] = Affinity(
                node_affinity=NodeAffinity(required_during_scheduling_ignored_during_execution=required)
            )
        return wishes

    def _friends(self) -> Affinity:
        draw = self.draw
        term = PodAffinityTerm(
            label_selector=LabelSelector(match_labels={"app": draw.pick("xy")}),
            topology_key=draw.pick(["zone", "kubernetes.io/hostname"]),
        )
        if draw.chance(50):
            return Affinity(pod_affinity=PodAffinity(required_during_scheduling_ignored_during_execution=(term,)))
        return Affinity(pod_anti_affinity=PodAntiAffinity(required_during_scheduling_ignored_during_execution=(term,)))

    def _some_pod(self) -> str:
        found = self.simulation.pods()
        return self.draw.pick(found).metadata.name if found else ""

    def _delete(self) -> None:
        if name := self._some_pod():
            self.simulation.delete(Pod, "default", name)

    def _finish(self) -> None:
        running = [each.metadata.name for each in self.simulation.pods() if each.status.phase == "Running"]
        if running:
            end = self.draw.pick([self.simulation.finish, self.simulation.fail])
            end("default", self.draw.pick(running))

    def _relabel(self) -> None:
        if name := self._some_pod():
            found = self.simulation.pod("default", name)
            assert found is not None
            labels = {"app": self.draw.pick("xy"), "moved": "yes"}
            self.simulation.update(replace(found, metadata=replace(found.metadata, labels=labels)))

    def _open_gate(self) -> None:
        for each in self.simulation.pods():
            if each.spec.scheduling_gates:
                self.simulation.update(replace(each, spec=replace(each.spec, scheduling_gates=())))
                return

    def _budget(self) -> None:
        self._others += 1
        spec = PodDisruptionBudgetSpec(
            min_available=1, selector=LabelSelector(match_labels={"app": self.draw.pick("xy")})
        )
        self.simulation.create(
            PodDisruptionBudget(metadata=ObjectMeta(name=f"b{self._others}", namespace="default"), spec=spec)
        )

    # Groups.

    def _create_group(self) -> None:
        draw = self.draw
        self._groups += 1
        policy = PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
        if draw.chance(70):
            policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=draw.number(1, 3)))
        entries: tuple[PodGroupResourceClaim, ...] = ()
        if self._about("group-claims", 70):
            entries = (PodGroupResourceClaim(name="own", resource_claim_template_name=self.world.templates[0]),)
        spec = PodGroupSpec(scheduling_policy=policy, resource_claims=entries)
        self.simulation.create(PodGroup(metadata=ObjectMeta(name=f"g{self._groups}", namespace="default"), spec=spec))

    def _create_member(self) -> None:
        self._pods += 1
        group = PodSchedulingGroup(pod_group_name=f"g{self.draw.number(1, max(1, self._groups))}")
        entries: tuple[PodResourceClaim, ...] = ()
        if self.draw.chance(85):
            entries = (PodResourceClaim(name="own", resource_claim_template_name=self.world.templates[0]),)
        different = {"priority": 7} if self.draw.chance(5) else {}
        self.simulation.create(
            self._pod(f"p{self._pods}", scheduling_group=group, resource_claims=entries, **different)
        )

    def _delete_group(self) -> None:
        if self._groups:
            self.simulation.delete(PodGroup, "default", f"g{self.draw.number(1, self._groups)}")

    # Devices.

    def _change_slice(self) -> None:
        """A driver publishes its slice anew: with a device more or less, or of a newer generation, or not at all."""
        found = self.simulation.store.objects(ResourceSlice)
        if not found:
            return
        slice_ = self.draw.pick(found)
        spec, devices = slice_.spec, slice_.spec.devices
        match self.draw.number(0, 4):
            case 0 if devices:
                spec = replace(spec, devices=devices[1:])
            case 1 if devices:
                spec = replace(spec, devices=(*devices[1:], devices[0]))
            case 2:
                spec = replace(spec, pool=replace(spec.pool, generation=spec.pool.generation + 1))
            case 3 if devices:
                extra = replace(devices[0], name=f"e{len(devices)}")
                if all(each.name != extra.name for each in devices):
                    spec = replace(spec, devices=(*devices, extra))
            case _ if self.draw.chance(30):
                self.simulation.delete(ResourceSlice, "", slice_.metadata.name)
                self._late.append(ResourceSlice(metadata=ObjectMeta(name=slice_.metadata.name), spec=slice_.spec))
                return
        self.simulation.update(replace(slice_, spec=spec))

    def _taint_device(self) -> None:
        found = [each for each in self.simulation.store.objects(ResourceSlice) if each.spec.devices]
        if not found:
            return
        slice_ = self.draw.pick(found)
        first, *others = slice_.spec.devices
        taint = DeviceTaint(key="t", value="w", effect=self.draw.pick(["NoSchedule", "NoExecute"]))
        first = replace(first, taints=() if first.taints else (taint,))
        self.simulation.update(replace(slice_, spec=replace(slice_.spec, devices=(first, *others))))

    def _rule(self) -> None:
        draw, store = self.draw, self.simulation.store
        name = draw.pick(["rule-a", "rule-a", "rule-b"])
        if store.get(DeviceTaintRule, "", name) is not None:
            self.simulation.delete(DeviceTaintRule, "", name)
            return
        chosen = DeviceTaintSelector(
            driver=draw.pick([None, GPU, NET]),
            pool=draw.pick([None, None, "n0"]),
            device=draw.pick([None, "d0", "d1"]),
        )
        taint = DeviceTaint(key="t", effect=draw.pick(["NoSchedule", "NoExecute", "NoExecute", "NoExecute", "None"]))
        spec = DeviceTaintRuleSpec(device_selector=None if draw.chance(10) else chosen, taint=taint)
        self.simulation.create(DeviceTaintRule(metadata=ObjectMeta(name=name), spec=spec))

    def _set_conditions(self) -> None:
        """A driver says of all devices of a claim that they are ready, or broken."""
        waiting = [
            each
            for each in self.simulation.claims()
            if each.status.allocation is not None
            and any(result.binding_conditions for result in each.status.allocation.devices.results)
        ]
        if not waiting:
            return
        claim = self.draw.pick(waiting)
        assert claim.status.allocation is not None
        condition = Condition(
            type=self.draw.pick(["Attached", "Attached", "Attached", "Broken"]),
            status="True",
            reason="Driver",
            last_transition_time=format_time(self.simulation.now),
        )
        devices = tuple(
            AllocatedDeviceStatus(
                driver=each.driver, pool=each.pool, device=each.device, share_id=each.share_id, conditions=(condition,)
            )
            for each in claim.status.allocation.devices.results
        )
        self.simulation.update_status(replace(claim, status=replace(claim.status, devices=devices)))

    def _delete_claim(self) -> None:
        found = self.simulation.claims()
        if not found:
            return
        claim = self.draw.pick(found)
        self.simulation.delete(ResourceClaim, "default", claim.metadata.name)
        if self.draw.chance(30):
            self._pods += 1
            entry = PodResourceClaim(name="gone", resource_claim_name=claim.metadata.name)
            self.simulation.create(self._pod(f"p{self._pods}", resource_claims=(entry,)))
        if not claim.metadata.owner_references:
            meta = ObjectMeta(name=claim.metadata.name, namespace="default")
            self._late.append(ResourceClaim(metadata=meta, spec=claim.spec))

    def _change_class(self) -> None:
        found = self.simulation.store.objects(DeviceClass)
        if not found:
            return
        class_ = self.draw.pick(found)
        if self.draw.chance(40):
            self.simulation.delete(DeviceClass, "", class_.metadata.name)
            self._late.append(DeviceClass(metadata=ObjectMeta(name=class_.metadata.name), spec=class_.spec))
            return
        name = None if class_.spec.extended_resource_name else EXTENDED
        self.simulation.update(replace(class_, spec=replace(class_.spec, extended_resource_name=name)))

    def _come_late(self) -> None:
        if self._late:
            self.simulation.create(self._late.pop(0))

    def _ask_for_pools(self) -> None:
        self._others += 1
        spec = ResourcePoolStatusRequestSpec(driver=self.draw.pick([GPU, NET]))
        self.simulation.create(ResourcePoolStatusRequest(metadata=ObjectMeta(name=f"q{self._others}"), spec=spec))

    # Nodes.

    def _cordon(self) -> None:
        if nodes := self.simulation.nodes():
            self.simulation.cordon(self.draw.pick(nodes).metadata.name, on=self.draw.chance(60))

    def _change_node(self) -> None:
        if nodes := self.simulation.nodes():
            node = self.draw.pick(nodes)
            self.simulation.update(replace(node, spec=replace(node.spec, taints=())))

    def _delete_node(self) -> None:
        """A node goes away, and may come back."""
        nodes = self.simulation.nodes()
        if not nodes:
            return
        node = self.draw.pick(nodes)
        self.simulation.delete(Node, "", node.metadata.name)
        if self.draw.chance(40):
            meta = ObjectMeta(name=node.metadata.name, labels=node.metadata.labels)
            self.simulation.create(replace(node, metadata=meta))

    # Faults.

    def _restart(self) -> None:
        component = self.draw.pick(self._components())
        self.restarts[component] += 1
        self.simulation.restart(component)

    def _pause(self) -> None:
        self.punctual = False
        component = self.draw.pick(self._components())
        self._paused.add(component)
        self.late_components.add(component)
        self.simulation.pause(component)

    def _resume(self) -> None:
        for component in sorted(self._paused):
            self.simulation.resume(component)
        self._paused.clear()

    def _delay(self) -> None:
        self.punctual = False
        component = self.draw.pick(self._components())
        self.late_components.add(component)
        self.simulation.delay(component, self.draw.pick([0, 0, 1, 1_500]))

    def _fail_next(self) -> None:
        self.punctual = False
        store = self.simulation.store
        if self.draw.chance(50) and (claims := self.simulation.claims()):
            store.fail_next("update", ResourceClaim, "default", self.draw.pick(claims).metadata.name)
        elif name := self._some_pod():
            store.fail_next(self.draw.pick(["bind", "update", "delete"]), Pod, "default", name)
