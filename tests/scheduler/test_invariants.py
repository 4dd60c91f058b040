"""Random clusters and stories: what must hold after every single event, and once everything has come to rest."""

import random
from collections import Counter

import pytest
from builders import (
    DRIVER,
    claim,
    cluster,
    gpu_class,
    gpu_slice,
    node,
    pod,
    priority,
    template,
    tolerate_forever,
)

from dralang.api.device import DeviceTaint
from dralang.api.devicetaintrule import DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector
from dralang.api.meta import ObjectMeta
from dralang.api.pods import Pod, PodSchedulingGroup
from dralang.api.workloads import (
    GangSchedulingPolicy,
    PodGroup,
    PodGroupResourceClaim,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
)
from dralang.run.waiting import waiting
from dralang.scheduler import cycle
from dralang.scheduler.resources import amounts

SEEDS = range(150)
COMPONENTS = ("scheduler", "resourceclaim-controller", "kubelet", "garbage-collector")


def devices_in_use(simulation):
    """How many claims hold each device."""
    return Counter(
        (each.driver, each.pool, each.device)
        for found in simulation.claims()
        if found.status.allocation is not None
        for each in found.status.allocation.devices.results
    )


def check_always(simulation):
    """No device has two owners, no node is overcommitted, reservations and allocations go together."""
    assert all(count == 1 for count in devices_in_use(simulation).values())
    used = Counter()
    for each in simulation.pods():
        if each.spec.node_name and each.status.phase not in ("Succeeded", "Failed"):
            for name, value in amounts(each.spec.containers[0].resources.requests).items():
                used[each.spec.node_name, name] += value
    for each in simulation.nodes():
        cpu = amounts(each.status.allocatable)["cpu"]
        assert used[each.metadata.name, "cpu"] <= cpu
    for each in simulation.claims():
        if each.status.reserved_for:
            assert each.status.allocation is not None


def check_at_rest(simulation):
    """The scheduler's memory is what the store says, nothing is held for nobody, and who waits has to wait."""
    manager = simulation.scheduler.manager
    allocated = {found.metadata.uid for found in simulation.claims() if found.status.allocation is not None}
    held = {
        device
        for found in simulation.claims()
        if found.status.allocation is not None
        for device in ((each.driver, each.pool, each.device) for each in found.status.allocation.devices.results)
    }
    pools = {(driver, pool) for driver, pool, _ in held}
    counted = {
        (driver, pool, device) for driver, pool in pools for device in manager.state.pool((driver, pool)).devices()
    }
    assert counted == held
    assert not any(manager.pending(uid) for uid in allocated)
    for each in simulation.pods():
        uid, ended = each.metadata.uid, each.status.phase in ("Succeeded", "Failed")
        placed = each.spec.node_name if not ended else ""
        assert simulation.scheduler.cache.node_of(uid) == placed, each.metadata.name
    alive = {each.metadata.uid for each in simulation.pods() if each.status.phase not in ("Succeeded", "Failed")}
    alive |= {each.metadata.uid for each in simulation.store.objects(PodGroup)}
    for found in simulation.claims():
        assert all(user.uid in alive for user in found.status.reserved_for), found.metadata.name
        if found.metadata.owner_references:
            assert found.metadata.owner_references[0].uid in alive, found.metadata.name
    for each in simulation.pods():
        if not each.spec.node_name and each.status.phase == "Pending":
            why = waiting(simulation, "default", each.metadata.name)
            if each.spec.scheduling_group is None:
                assert why.gate[0] or why.before_nodes[1] or len(why.refusals) == len(simulation.nodes()), why


class Story:
    """One random story."""

    def __init__(self, seed, most_nodes=3):
        self.random = random.Random(seed)
        self.grouped = self.random.random() < 0.3
        self.groups = 0
        count = self.random.randint(1, most_nodes)
        nodes = [node(f"n{index}", cpu=str(self.random.randint(2, 6))) for index in range(count)]
        slices = [gpu_slice(f"n{index}", self.random.randint(0, 3)) for index in range(count)]
        self.simulation = cluster(
            *nodes,
            *slices,
            gpu_class(extended="example.com/gpu"),
            template(),
            template("two", 2),
            template("brave", tolerations=(tolerate_forever(),)),
            claim("shared-1"),
            claim("shared-2", 2),
            priority("low", 10),
            priority("high", 1000),
            gates={"GenericWorkload": True, "DRAWorkloadResourceClaims": True} if self.grouped else None,
        )
        self.simulation.on_event = check_always
        self.pods = 0
        self.paused = set()

    def step(self):
        actions = (
            [self.create] * 6
            + [self.create_group, self.create_member, self.create_member, self.create_member, self.delete_group]
            + [self.delete, self.finish] * 3
            + [self.cordon, self.rule, self.restart, self.pause, self.resume, self.delay, self.fail_next]
        )
        self.random.choice(actions)()
        match self.random.randint(0, 3):
            case 0:
                self.simulation.advance_to(self.simulation.now + self.random.choice([0, 1, 700, 3_000]))
            case 1 if not self.paused:
                assert self.simulation.settle()
            case _:
                for _ in range(self.random.randint(0, 6)):
                    if self.simulation.events.next_time() == self.simulation.now:
                        self.simulation.step()

    def create(self):
        self.pods += 1
        kind = self.random.randint(0, 5)
        options = {"grace": self.random.choice([0, 0, 2])}
        if kind <= 2:
            options["from_template"] = self.random.choice(["one-gpu", "one-gpu", "two", "brave"])
        elif kind == 3:
            options["uses"] = [self.random.choice(["shared-1", "shared-2"])]
        requests = {"cpu": self.random.choice(["100m", "1", "2"])}
        if kind == 4:
            requests["example.com/gpu"] = "1"
        if self.random.random() < 0.4:
            options["priority_class_name"] = self.random.choice(["low", "high"])
        self.simulation.create(pod(f"p{self.pods}", requests=requests, **options))

    def create_group(self):
        if not self.grouped:
            return
        self.groups += 1
        gang = GangSchedulingPolicy(min_count=self.random.randint(1, 3))
        policy = PodGroupSchedulingPolicy(gang=gang) if self.random.random() < 0.7 else PodGroupSchedulingPolicy()
        entries = (PodGroupResourceClaim(name="gpu", resource_claim_template_name="one-gpu"),)
        shared = self.random.random() < 0.4
        spec = PodGroupSpec(scheduling_policy=policy, resource_claims=entries if shared else ())
        self.simulation.create(PodGroup(metadata=ObjectMeta(name=f"g{self.groups}"), spec=spec))

    def create_member(self):
        if not self.groups:
            return
        self.pods += 1
        group = PodSchedulingGroup(pod_group_name=f"g{self.random.randint(1, self.groups)}")
        source = self.random.choice([None, "one-gpu", "one-gpu"])
        made = pod(f"p{self.pods}", from_template=source, requests={"cpu": "1"}, scheduling_group=group)
        self.simulation.create(made)

    def delete_group(self):
        if self.groups:
            self.simulation.delete(PodGroup, "default", f"g{self.random.randint(1, self.groups)}")

    def some_pod(self):
        found = self.simulation.pods()
        return self.random.choice(found).metadata.name if found else None

    def delete(self):
        name = self.some_pod()
        if name:
            self.simulation.delete(Pod, "default", name)

    def finish(self):
        name = self.some_pod()
        if name and self.simulation.pod("default", name).status.phase == "Running":
            self.random.choice([self.simulation.finish, self.simulation.fail])("default", name)

    def cordon(self):
        self.simulation.cordon(self.random.choice(self.simulation.nodes()).metadata.name, on=self.random.random() < 0.5)

    def rule(self):
        if self.simulation.store.get(DeviceTaintRule, "", "broken") is not None:
            self.simulation.delete(DeviceTaintRule, "", "broken")
            return
        selector = DeviceTaintSelector(driver=DRIVER, device=f"gpu-{self.random.randint(0, 2)}")
        taint = DeviceTaint(key="x", effect=self.random.choice(["NoSchedule", "NoExecute", "None"]))
        spec = DeviceTaintRuleSpec(device_selector=selector, taint=taint)
        self.simulation.create(DeviceTaintRule(metadata=ObjectMeta(name="broken"), spec=spec))

    def restart(self):
        self.simulation.restart(self.random.choice(COMPONENTS))

    def pause(self):
        component = self.random.choice(COMPONENTS)
        self.paused.add(component)
        self.simulation.pause(component)

    def resume(self):
        for component in sorted(self.paused):
            self.simulation.resume(component)
        self.paused.clear()

    def delay(self):
        self.simulation.delay(self.random.choice(COMPONENTS), self.random.choice([0, 0, 1, 1_500]))

    def fail_next(self):
        name = self.some_pod()
        if name:
            self.simulation.store.fail_next(self.random.choice(["bind", "update"]), Pod, "default", name)


def told(story):
    """Tell a story to its end; return its trace."""
    for _ in range(25):
        story.step()
    story.resume()
    for component in COMPONENTS:
        story.simulation.delay(component, 0)
    assert story.simulation.settle()
    return list(story.simulation.trace)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_lost_or_given_away_twice(seed):
    story = Story(seed)
    told(story)
    story.simulation.advance_to(story.simulation.now + 400_000)
    assert story.simulation.settle()
    check_always(story.simulation)
    check_at_rest(story.simulation)


@pytest.mark.parametrize("seed", range(1000, 1040))
def test_verdicts_kept_from_earlier_cycles_change_nothing(seed, monkeypatch):
    monkeypatch.setattr(cycle, "REMEMBERS_FROM", 10**6)
    expected = told(Story(seed, 8))
    monkeypatch.setattr(cycle, "REMEMBERS_FROM", 1)
    assert told(Story(seed, 8)) == expected
