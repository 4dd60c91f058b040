"""One random story of pods that preempt each other for devices: what happens, and what must hold after every event."""

from collections.abc import Callable

from builders import pod
from msgspec.structs import replace
from stories.preempting_rows import Rows
from stories.preempting_world import EXTENDED, GPU, NamedExpressions, claim, draw_world, news
from stories.world import Draw

from dralang.api.allocation import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceAllocationResult,
    ResourceClaimConsumerReference,
)
from dralang.api.meta import Condition, ObjectMeta
from dralang.api.pods import Pod, PodSchedulingGroup
from dralang.api.resourceclaim import ResourceClaim
from dralang.api.resourceslice import ResourceSlice
from dralang.api.workloads import GangSchedulingPolicy, PodGroup, PodGroupSchedulingPolicy, PodGroupSpec
from dralang.cluster.podclaims import FINALIZER
from dralang.cluster.timestamps import format_time
from dralang.run.invariants.watch import Watch
from dralang.run.preempting import chance_of
from dralang.run.simulation import Environment, Simulation

CONTROLLER = "resourceclaim-controller"
PAUSED = (CONTROLLER, CONTROLLER, "kubelet", "scheduler")
PATIENCE = 700_000
"""Longer than every timer that brings somebody back: flush, backoff, binding timeout."""
HOUR = 3_700_000
"""A little more, so that there was time to be deferred for an hour."""


class Story:
    """One story, told step by step.

    Args:
        seed: of its choices.
        rows: told what the story reaches.
    """

    def __init__(self, seed: int, rows: Rows) -> None:
        self.draw = Draw(seed)
        self.rows = rows
        self.world = draw_world(self.draw)
        # A fault that has nothing to do with preemption gives devices away twice.
        quirks = {"failed-binding-forgets-devices": False}
        environment = Environment(self.world.features, NamedExpressions(), quirks)
        self.simulation = Simulation(environment)
        self.watch = Watch(self.simulation, environment, thorough=False)
        rows.begin(self.simulation)
        assert self.simulation.load(self.world.objects) == []
        assert self.simulation.settle()
        self.watch.begin()
        self.simulation.look_on(self._look)
        self._pods = self._others = 0

    def tell(self) -> None:
        """Tell the story to its end, and let time pass until nothing is left to happen."""
        steps = self._steps()
        for _ in range(self.draw.number(3, 11)):
            self.draw.pick(steps)()
            self._let_time_pass()
        self._end()

    # What must hold.

    def _look(self, _: Simulation) -> None:
        self.watch.look_back()
        assert self.watch.violations == []
        assert self.rows.cascades == []

    def _end(self) -> None:
        simulation = self.simulation
        self._resume()
        for component in set(PAUSED):
            simulation.delay(component, 0)
        assert simulation.settle()
        simulation.advance_to(simulation.now + PATIENCE)
        assert simulation.settle(), "everything settles"
        while simulation.scheduler.binder.waiting:
            self._attach_all()
            self._pass(PATIENCE)
            assert simulation.settle(), "everything settles"
        self.watch.look_at_rest()
        # A pod that goes while it is bound leaves its shared claim allocated: not a matter of preemption.
        assert [each for each in self.watch.violations if each.invariant != "unused-claims-are-free"] == []
        nominations = simulation.scheduler.manager.nominations
        # Only a claim that somebody else has reserved meanwhile (docs/findings.md) keeps a preemptor waiting.
        late = {each.metadata.uid for each in simulation.claims() if each.metadata.name.startswith("common")}
        for uid, held in nominations.all().items():
            assert late & set(nominations.victims_on(held.node)), uid
        self.rows.end()
        for each in simulation.pods():
            chance = chance_of(simulation, each)
            assert not chance.holds, chance.text
        if not self.world.preempts:
            assert not nominations.all()

    # What happens.

    def _steps(self) -> list[Callable[[], None]]:
        themes = self.world.themes
        steps: list[Callable[[], None]] = [self._create] * 5 + [self._episode] * 5 + [self._delete, self._finish] * 2
        steps += [self._sharing]
        steps += [self._restart, self._pause, self._resume, self._resume, self._delay, self._news, self._nominate]
        if "binding" in themes:
            steps += [self._set_condition] * 2
        if "groups" in themes:
            steps += [self._create_group] * 3
        if "slices" in themes:
            steps += [self._republish] * 2
        if "nodes" in themes:
            steps += [self._cordon, self._uncordon]
        return steps

    def _let_time_pass(self) -> None:
        if self.draw.chance(60):
            self._pass(self.draw.pick([0, 0, 1, 1_000, 5_000]))
        else:
            for _ in range(self.draw.number(0, 8)):
                if self.simulation.events.next_time() == self.simulation.now:
                    self.simulation.step()

    def _pass(self, milliseconds: int) -> None:
        assert self.simulation.advance_to(self.simulation.now + milliseconds), "everything settles"

    def _episode(self) -> None:
        """Victims come, a preemptor, and something else at some instant of its waiting."""
        draw, themes = self.draw, self.world.themes
        kind = draw.pick(self.world.kinds)
        for _ in range(draw.number(1, 4)):
            self._add(draw.pick(["low", "low", "middle"]), draw.pick([kind, kind, draw.pick(self.world.kinds)]))
        self._pass(draw.pick([0, 0, 1_000]))
        if draw.chance(50):
            self.simulation.pause(CONTROLLER)
        if "failures" in themes and draw.chance(70) and (victims := self.simulation.pods()):
            for _ in range(2):
                self.simulation.store.fail_next("delete", Pod, "default", draw.pick(victims).metadata.name)
        other = {"half": "whole", "pair": "gpu"}.get(kind, kind)
        wanted = draw.pick([kind, kind, other, other, draw.pick(self.world.kinds)])
        self._add(draw.pick(["middle", "high", "high"]), wanted)
        self._pass(draw.pick([0, 0, 500, 3_000]))
        for _ in range(draw.pick([0, 0, 1, 3, 5])):
            self._news()
            self._pass(draw.pick([1_000, 3_000, 8_000]))
        if "long" in themes and draw.chance(50):
            self._pass(draw.pick([HOUR, HOUR, 3 * HOUR]))
            self._news()
        self._pass(draw.pick([0, 0, 5_000, 31_000]))
        if draw.chance(35):
            self._window(wanted)
        for _ in range(draw.number(1, 3)):
            self._incident(wanted)
            self._pass(draw.pick([0, 1, 1_000, 4_000]))
        if draw.chance(60):
            self._resume()
            self._incident(wanted) if draw.chance(40) else None
            self._pass(draw.pick([0, 1_000, 5_000]))

    def _window(self, kind: str) -> None:
        """The victims' claims are deallocated, and the scheduler has not heard of it yet."""
        self.simulation.pause("scheduler")
        self.simulation.resume(CONTROLLER)
        self._pass(self.draw.pick([0, 5_000, 31_000, 31_000]))
        for _ in range(self.draw.number(1, 2)):
            self._incident(kind)
        if self.draw.chance(40):
            self.draw.pick([self._finish_neighbours] + [self._move_devices] * 3)()
            self._pass(0)
        self.simulation.resume("scheduler")
        self._pass(0)

    def _sharing(self) -> None:
        """A victim shares a claim with a pod that outlives it, or is about to end."""
        draw = self.draw
        shared = draw.pick(["common-1", "common-2"])
        kind = draw.pick(["gpu", "gpu", "half", "share"])
        survivor = self._put("high", [shared], cpu="100m", grace=30)
        self._put("low", [shared, self._claim(f"p{self._pods + 1}", 0, kind)], cpu="1", grace=30)
        self._pass(draw.pick([0, 1_000]))
        if draw.chance(50):
            self.simulation.delete(Pod, "default", survivor)
        self._put(draw.pick(["middle", "high"]), [self._claim(f"p{self._pods + 1}", 0, kind)], cpu="2", grace=0)

    def _inherit(self) -> None:
        """A nominated pod goes, and somebody nominates another one to its node."""
        found = self._nominated()
        if not found:
            return
        gone = self.draw.pick(found)
        self.simulation.delete(Pod, "default", gone.metadata.name)
        self._pass(0)
        name = self._add("high", self.draw.pick(self.world.kinds))
        self._pass(0)
        heir = self.simulation.pod("default", name)
        if heir is not None and not heir.spec.node_name:
            self._set_nominated(heir, gone.status.nominated_node_name)
            self._pass(1_000)
            self._news()

    def _incident(self, kind: str) -> None:
        """Something that concerns a pod that waits for its victims."""
        draw, themes = self.draw, self.world.themes
        possible: list[Callable[[], object]] = [lambda: self._rival(kind)] * 6
        possible += [self._delete_nominated, self._delete_nominated, self._clear, self._news, self._inherit]
        possible += [self._finish_neighbours]
        if "slices" in themes:
            possible += [self._republish, self._republish, self._move_devices, self._move_devices]
        if "nodes" in themes:
            possible += [self._cordon] * 3
        if "foreign" in themes:
            possible += [self._take_from_outside] * 16
        if "binding" in themes:
            possible += [self._set_condition] * 3
        if draw.chance(12):
            possible = [self._restart]
        draw.pick(possible)()

    # Pods.

    def _rival(self, kind: str) -> None:
        """A pod that wants what others wait for."""
        wanted = self.draw.pick(["half", "whole"]) if kind in ("half", "whole") else kind
        self._add(self.draw.pick(["low", "middle", "high", "high", "highest"]), wanted)

    def _create(self) -> None:
        early = self._pods <= 6
        priorities = ["low", "low", "low", "middle", "high"] if early else ["low", "middle", "high", "high"]
        self._add(self.draw.pick(priorities), self.draw.pick(self.world.kinds))

    def _add(self, importance: str, kind: str) -> str:
        draw = self.draw
        name = f"p{self._pods + 1}"
        uses = [self._claim(name, number, each) for number, each in enumerate([kind, *self._more_kinds()])]
        extended = "extended" in self.world.themes and draw.chance(40)
        if extended:
            uses = uses[: draw.number(0, 1)]
        cpu = draw.pick(["100m", "100m", "100m", "1"])
        return self._put(importance, uses, cpu=cpu, grace=draw.pick([0, 0, 2, 30, 30]), extended=extended)

    def _put(self, importance: str, uses: list[str], *, cpu: str, grace: int, extended: bool = False) -> str:
        """Create the next pod; return its name."""
        self._pods += 1
        name = f"p{self._pods}"
        requests = {"cpu": cpu} | ({EXTENDED: "1"} if extended else {})
        known = list(dict.fromkeys(uses))
        self.simulation.create(pod(name, uses=known, requests=requests, grace=grace, priority_class_name=importance))
        return name

    def _more_kinds(self) -> list[str]:
        return [self.draw.pick(self.world.kinds)] if self.draw.chance(20) else []

    def _claim(self, pod: str, number: int, kind: str) -> str:
        """The name of a claim for a pod; unless it is a common one, it is made."""
        if kind == "common":
            return self.draw.pick(["common-1", "common-2"])
        name = f"{pod}-{number}"
        self.simulation.create(claim(name, kind, self.draw))
        return name

    def _some_pod(self) -> Pod | None:
        found = self.simulation.pods()
        return self.draw.pick(found) if found else None

    def _delete(self) -> None:
        if (found := self._some_pod()) is not None:
            self.simulation.delete(Pod, "default", found.metadata.name)

    def _finish(self) -> None:
        found = self._some_pod()
        if found is not None and found.status.phase == "Running":
            self.simulation.finish("default", found.metadata.name)

    def _finish_neighbours(self) -> None:
        """Some pods on the node of a nominated pod end."""
        nodes = {each.status.nominated_node_name for each in self._nominated()}
        running = [each for each in self.simulation.pods() if each.spec.node_name in nodes]
        for each in self.draw.some(running, self.draw.number(1, 4)):
            self.simulation.finish("default", each.metadata.name)

    def _nominated(self) -> list[Pod]:
        return [each for each in self.simulation.pods() if each.status.nominated_node_name and not each.spec.node_name]

    def _delete_nominated(self) -> None:
        if found := self._nominated():
            self.simulation.delete(Pod, "default", self.draw.pick(found).metadata.name)

    def _clear(self) -> None:
        """Somebody else takes a pod's nominated node away."""
        if found := self._nominated():
            self._set_nominated(self.draw.pick(found), "")

    def _nominate(self) -> None:
        """Somebody else writes a nominated node."""
        waiting = [each for each in self.simulation.pods() if not each.spec.node_name]
        if waiting:
            self._set_nominated(self.draw.pick(waiting), self.draw.pick(self.world.nodes))

    def _set_nominated(self, found: Pod, node: str) -> None:
        self.simulation.update_status(replace(found, status=replace(found.status, nominated_node_name=node)))

    def _create_group(self) -> None:
        """A gang of pods whose claims are their own or the group's."""
        draw = self.draw
        self._others += 1
        name = f"g{self._others}"
        policy = PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=1))
        importance = draw.pick([10, 10, 1000])
        spec = PodGroupSpec(scheduling_policy=policy, priority=importance)
        self.simulation.create(PodGroup(metadata=ObjectMeta(name=name, namespace="default"), spec=spec))
        for _ in range(draw.number(1, 2)):
            self._pods += 1
            member = f"p{self._pods}"
            uses = [self._claim(member, 0, draw.pick(["gpu", "gpu", "half", "share"]))]
            self.simulation.create(
                pod(
                    member,
                    uses=uses,
                    requests={"cpu": "100m"},
                    priority_class_name="low" if importance == 10 else "high",
                    scheduling_group=PodSchedulingGroup(pod_group_name=name),
                )
            )

    # Devices, nodes and other schedulers.

    def _republish(self, percent: int = 60) -> None:
        """A driver publishes its devices anew, all of them or with one less: often one that is promised to somebody."""
        slices = [each for each in self.simulation.store.objects(ResourceSlice) if each.spec.devices]
        nominations = self.simulation.scheduler.manager.nominations.all().values()
        promised = [each for held in nominations for _, result in held.results for each in result.devices.results]
        if promised and self.draw.chance(percent):
            lost = self.draw.pick(promised)
            slices = [each for each in slices if (each.spec.driver, each.spec.pool.name) == (lost.driver, lost.pool)]
        else:
            lost = None
        if not slices:
            return
        chosen = self.draw.pick(slices)
        whole = next(each for each in self.world.objects if each.metadata.name == chosen.metadata.name)
        kept = whole.spec.devices
        if lost is not None:
            kept = tuple(each for each in kept if each.name != lost.device)
        elif self.draw.chance(60):
            kept = tuple(self.draw.some(kept, len(kept) - 1))
        self.simulation.update(replace(chosen, spec=replace(chosen.spec, devices=kept)))

    def _move_devices(self) -> None:
        """What is promised vanishes, and pods of other nodes end."""
        self._republish(100)
        nodes = {each.status.nominated_node_name for each in self._nominated()}
        running = [each for each in self.simulation.pods() if each.spec.node_name and each.spec.node_name not in nodes]
        for each in self.draw.some(running, 6):
            self.simulation.finish("default", each.metadata.name)

    def _cordon(self) -> None:
        nominated = [each.status.nominated_node_name for each in self._nominated()]
        self.simulation.cordon(self.draw.pick(nominated or self.world.nodes))

    def _uncordon(self) -> None:
        self.simulation.uncordon(self.draw.pick(self.world.nodes))

    def _set_condition(self) -> None:
        """A driver says of a claim's devices that they are ready, or broken."""
        if waiting := self._slow_claims():
            self._say(self.draw.pick(waiting), self.draw.pick(["Attached", "Attached", "Attached", "Broken"]))

    def _attach_all(self) -> None:
        for each in self._slow_claims():
            self._say(each, "Attached")

    def _slow_claims(self) -> list[ResourceClaim]:
        """The claims whose devices have to be got ready."""
        return [
            each
            for each in self.simulation.claims()
            if each.status.allocation is not None
            and any(result.binding_conditions for result in each.status.allocation.devices.results)
        ]

    def _say(self, chosen: ResourceClaim, what: str) -> None:
        assert chosen.status.allocation is not None
        now = format_time(self.simulation.now)
        condition = Condition(type=what, status="True", reason="Driver", last_transition_time=now)
        devices = tuple(
            AllocatedDeviceStatus(driver=each.driver, pool=each.pool, device=each.device, conditions=(condition,))
            for each in chosen.status.allocation.devices.results
        )
        self.simulation.update_status(replace(chosen, status=replace(chosen.status, devices=devices)))

    def _take_from_outside(self) -> None:
        """Another scheduler gives a held GPU that nobody has to a pod of its own."""
        simulation = self.simulation
        scheduler = simulation.scheduler
        if simulation.events.lag("scheduler"):
            return  # it would give the device to somebody else before it hears of this
        if scheduler.binder.waiting:
            return  # what is being bound is not written yet
        published = {
            (each.spec.driver, each.spec.pool.name, device.name)
            for each in simulation.store.objects(ResourceSlice)
            for device in each.spec.devices
        }
        used = {
            (result.driver, result.pool, result.device)
            for each in simulation.claims()
            if each.status.allocation is not None
            for result in each.status.allocation.devices.results
        }
        for held in scheduler.manager.nominations.all().values():
            for _, promised in held.results:
                for result in promised.devices.results:
                    if result.driver == GPU and (result.driver, result.pool, result.device) in published - used:
                        self._bind_from_outside(held.node, promised, result.device)
                        return

    def _bind_from_outside(self, node: str, promised: AllocationResult, device: str) -> None:
        simulation = self.simulation
        self._pods += 1
        name = f"p{self._pods}"
        new = claim(f"{name}-0", "gpu", self.draw)
        made = simulation.create(replace(new, metadata=replace(new.metadata, finalizers=(FINALIZER,))))
        bound = simulation.create(
            pod(name, uses=[f"{name}-0"], scheduler_name="other-scheduler", priority_class_name="low")
        )
        assert isinstance(made, ResourceClaim)
        assert isinstance(bound, Pod)
        results = tuple(
            replace(each, request="gpu")
            for each in promised.devices.results
            if each.driver == GPU and each.device == device
        )
        allocation = replace(promised, devices=DeviceAllocationResult(results=results))
        user = ResourceClaimConsumerReference(resource="pods", name=name, uid=bound.metadata.uid)
        written = simulation.update_status(
            replace(made, status=replace(made.status, allocation=allocation, reserved_for=(user,)))
        )
        assert isinstance(written, ResourceClaim), written
        simulation.store.bind("default", name, bound.metadata.uid, node)
        self.rows.taken_from_outside(written)
        self._pass(0)

    # Faults and news.

    def _news(self) -> None:
        self._others += 1
        self.simulation.create(news(self._others))

    def _restart(self) -> None:
        if self.draw.chance(60):
            self.simulation.restart("scheduler")

    def _pause(self) -> None:
        self.simulation.pause(self.draw.pick(PAUSED))

    def _resume(self) -> None:
        for component in sorted(set(PAUSED)):
            self.simulation.resume(component)

    def _delay(self) -> None:
        self.simulation.delay(self.draw.pick(PAUSED), self.draw.pick([0, 0, 1, 1_500, 20_000]))
        self.watch.slowed_down()
