"""A small cluster, and somebody who writes what the scheduler and the controllers would not."""

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from dralang.api.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimConsumerReference,
)
from dralang.api.pods import Pod
from dralang.check.analysis import Analyzer
from dralang.run.invariants.watch import Watch
from dralang.run.simulation import Simulation
from dralang.run.workshop import Workshop

CLUSTER = """
kubernetes 1.37
node w-1
node w-2
slice gpus {
  driver: gpu.example.com
  nodeName: w-1
  device gpu-[0..2] { attributes { numa: 0; index: 1 } }
  device bad { attributes { numa: 1 }; taint broken:NoSchedule }
}
slice cards {
  driver: card.example.com
  nodeName: w-1
  pool { name: cards, generation: 1, resourceSliceCount: 2 }
  counters card { memory: 30Gi }
}
slice parts {
  driver: card.example.com
  nodeName: w-1
  pool { name: cards, generation: 1, resourceSliceCount: 2 }
  device part-[0..1] { consumes card { memory: 20Gi } }
}
slice links {
  driver: net.example.com
  nodeName: w-1
  device eth { allowMultipleAllocations: true; capacity { bandwidth: 10Gi } }
}
class gpu { where `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].numa == 0` }
class card { where `device.driver == "card.example.com"` }
class net { where `device.driver == "net.example.com"` }
claim a { request r: 1 of gpu }
claim b { request r: 1 of gpu }
claim two { request r: 2 of gpu; match gpu.example.com/numa }
claim apart { request r: 2 of gpu; distinct gpu.example.com/index }
claim part-a { request r: 1 of card }
claim part-b { request r: 1 of card }
claim link-a { request r: 1 of net }
claim link-b { request r: 1 of net }
priority high: 10
pod p { claim r is a; priorityClassName: high }
pod q { claim r is b }
pod lonely
scenario "s" { create p, q; expect all pods are settled }
"""


def parsed():
    analysis = Analyzer().text(Path("s.dra"), "s.dra", CLUSTER.encode())
    assert not analysis.has_errors, analysis.diagnostics
    return analysis.scenarios[0]


class World:
    """A small cluster, watched, and somebody who writes to it."""

    def __init__(self, scenario=None, workshop=None):
        scenario = scenario or parsed()
        environment: Any = (workshop or Workshop()).environment(scenario.settings)
        self.simulation = Simulation(environment)
        self.watch = Watch(self.simulation, environment, thorough=True)
        self.pods: dict[str, Any] = {
            each.key.name: each.object for each in scenario.declared.values() if each.key.kind == "Pod"
        }
        initial: list[Any] = [each.object for each in scenario.initial]
        assert self.simulation.load(initial) == []
        self.simulation.advance_to(0)
        self.watch.begin()

    def create(self, *names):
        for name in names:
            self.simulation.create(self.pods[name])

    def result(self, device, request="r", **more):
        driver = {"g": "gpu.example.com", "b": "gpu.example.com", "p": "card.example.com", "e": "net.example.com"}
        pool = {"g": "w-1", "b": "w-1", "p": "cards", "e": "w-1"}
        return DeviceRequestAllocationResult(
            request=request, driver=driver[device[0]], pool=pool[device[0]], device=device, **more
        )

    def claim(self, name) -> Any:
        return self.simulation.claim("default", name)

    def allocate(self, claim, *results, reserved=()):
        found = self.claim(claim)
        devices = DeviceAllocationResult(results=tuple(results))
        users = tuple(
            ResourceClaimConsumerReference(resource="pods", name=name, uid=f"{name}-uid") for name in reserved
        )
        status = replace(found.status, allocation=AllocationResult(devices=devices), reserved_for=users)
        self.simulation.store.update_status(replace(found, status=status))

    def patch_claim(self, claim, **fields):
        found = self.claim(claim)
        # Past the API server, which would refuse most of this.
        self.simulation.store._put(type(found), found, replace(found, status=replace(found.status, **fields)))

    def put_silently(self, claim, **fields):
        """So that nobody hears of it, and nobody puts it right."""
        found = self.claim(claim)
        changed = replace(found, status=replace(found.status, **fields))
        self.simulation.store._objects[type(found)]["default", claim] = changed

    def bind(self, pod, node):
        found: Any = self.simulation.pod("default", pod)
        self.simulation.store._put(Pod, found, replace(found, spec=replace(found.spec, node_name=node)))

    def broken(self):
        self.watch.look_back()
        return {violation.invariant for violation in self.watch.violations}
