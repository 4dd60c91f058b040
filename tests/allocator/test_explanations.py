"""An explanation is right when removing what it names removes the obstacle."""

import copy
import gzip
import json
from pathlib import Path

import pytest
from oracle.allocation_problems import random_problem, tight_problem

from dralang.allocator.explain import explain
from dralang.allocator.inventory import Inventory
from dralang.allocator.outcome import Allocated, Unallocatable
from dralang.allocator.profiles import allocator_profile
from dralang.allocator.render import render_explanation
from dralang.allocator.replay import CaseObjects
from dralang.allocator.state import AllocatedState
from dralang.cel.expressions import CelExpressions
from dralang.values.quantity import parse_quantity

CORNER = Path(__file__).parent.parent / "conformance" / "allocation-corner.jsonl.gz"
EXPRESSIONS = CelExpressions()


class Attempt:
    """One step of a case, whose inputs can be changed."""

    def __init__(self, case, allocations, step):
        self.gates = dict(case["featureGates"])
        self.json = copy.deepcopy(case["objects"])
        self.allocations = dict(allocations)
        self.step = step

    def copy(self):
        return copy.deepcopy(self)

    def explain(self):
        objects = CaseObjects(self.json)
        profile = allocator_profile("1.37", self.gates)
        inventory = Inventory.of(objects.slices, objects.classes, profile, EXPRESSIONS)
        state = AllocatedState.of(sorted(self.allocations.items()), profile.features)
        claims = [objects.claims[label] for label in self.step["allocate"]]
        return explain(inventory, state, objects.nodes[self.step["node"]], claims)

    def of_kind(self, kind):
        return [json_ for json_ in self.json if json_["kind"] == kind]

    def claim(self, name):
        return next(
            c for c in self.of_kind("ResourceClaim") if f"{c['metadata']['namespace']}/{c['metadata']['name']}" == name
        )

    def device(self, id_):
        for slice_ in self.pool_slices(id_):
            for device in slice_["spec"].get("devices", ()):
                if device["name"] == id_[2]:
                    return device
        raise AssertionError(f"no device {id_}")

    def pool_slices(self, id_):
        return [
            slice_
            for slice_ in self.of_kind("ResourceSlice")
            if (slice_["spec"]["driver"], slice_["spec"]["pool"]["name"]) == id_[:2]
        ]


def steps(status):
    """The steps of the corner cases with this recorded status, each with what is allocated before."""
    for line in gzip.decompress(CORNER.read_bytes()).decode().splitlines():
        case = json.loads(line)
        objects = CaseObjects(case["objects"])
        allocations = dict(objects.allocations)
        for number, (step, want) in enumerate(zip(case["steps"], case["want"], strict=True)):
            for label in step.get("deallocate", ()):
                allocations.pop(label, None)
            if want["status"] == status:
                yield f"{case['id']}-{number}", Attempt(case, allocations, step)
            if want["status"] == "allocated":
                outcome = Attempt(case, allocations, step).explain().outcome
                allocations.update(zip(step["allocate"], outcome.results, strict=True))


UNALLOCATABLE = dict(steps("unallocatable"))


def raise_quantity(holder, amount):
    holder["value"] = str(parse_quantity(holder["value"]) + amount)


def remove(attempt, claim, request, device, obstacle):
    """Remove exactly what the obstacle names."""
    match obstacle.rule:
        case "selector" | "selector-error":
            owner, name = obstacle.owner.split(" ")
            spec = find_request(attempt.claim(claim), request)
            if owner == "class":
                spec = next(c for c in attempt.of_kind("DeviceClass") if c["metadata"]["name"] == name)["spec"]
            assert spec["selectors"].pop(obstacle.index)["cel"]["expression"] == obstacle.expression
        case "in-use" | "shares" | "groups":
            assert obstacle.holders
            for holder in obstacle.holders:
                del attempt.allocations[holder]
        case "counter-short" | "counter-overcommitted":
            missing = (obstacle.needs - obstacle.free) if obstacle.needs is not None else -obstacle.free
            raise_quantity(counter(attempt, device, obstacle), missing)
        case "attribute-missing":
            constraint = attempt.claim(claim)["spec"]["devices"]["constraints"].pop(obstacle.index)
            assert obstacle.name in constraint.values()
        case "binding-conditions-gate":
            attempt.gates["DRADeviceBindingConditions"] = True
        case "node-operations":
            for slice_ in attempt.pool_slices(device):
                slice_["spec"].pop("skipNodeOperations", None)
        case _:
            remove_from_device(attempt.device(device), obstacle)


def remove_from_device(api, obstacle):
    match obstacle.rule:
        case "capacity-missing":
            api.setdefault("capacity", {})[obstacle.name] = {"value": "1000"}
        case "capacity-policy":
            del api["capacity"][obstacle.name]["requestPolicy"]
        case "capacity-short":
            raise_quantity(api["capacity"][obstacle.name], obstacle.needs - obstacle.free)
        case "taint":
            before = len(api["taints"])
            wanted = (obstacle.name, obstacle.value, obstacle.effect)
            api["taints"] = [t for t in api["taints"] if (t["key"], t.get("value", ""), t["effect"]) != wanted]
            assert len(api["taints"]) < before
        case "node":
            for key in ("nodeName", "nodeSelector"):
                api.pop(key, None)
            api["allNodes"] = True
        case "partitions-gate":
            del api["consumesCounters"]
        case _:
            raise AssertionError(f"do not know how to remove {obstacle}")


def find_request(claim, name):
    parent, _, own = name.partition("/")
    request = next(r for r in claim["spec"]["devices"]["requests"] if r["name"] == parent)
    return next(s for s in request["firstAvailable"] if s["name"] == own) if own else request["exactly"]


def counter(attempt, device, obstacle):
    for slice_ in attempt.pool_slices(device):
        for counter_set in slice_["spec"].get("sharedCounters", ()):
            if counter_set["name"] == obstacle.counter_set:
                return counter_set["counters"][obstacle.name]
    raise AssertionError(f"no counter for {obstacle}")


def obstacles(explanation):
    return {
        (claim.name, request.name, verdict.device): verdict.obstacle
        for claim in explanation.claims
        for request in claim.requests
        for verdict in request.devices
        if verdict.obstacle is not None
    }


def test_there_are_corner_cases_to_explain():
    assert len(UNALLOCATABLE) > 60


@pytest.mark.parametrize("name", UNALLOCATABLE)
def test_removing_the_named_obstacles_makes_the_device_selectable(name):
    original = UNALLOCATABLE[name]
    for place in obstacles(original.explain()):
        attempt = original.copy()
        removed = []
        while (obstacle := obstacles(attempt.explain()).get(place)) is not None:
            assert obstacle not in removed, f"{obstacle} is still there"
            assert len(removed) < 6
            removed.append(obstacle)
            claim, request, device = place
            remove(attempt, claim, request, device, obstacle)


@pytest.mark.parametrize("name", UNALLOCATABLE)
def test_a_refusal_has_a_reason(name):
    explanation = UNALLOCATABLE[name].explain()
    assert isinstance(explanation.outcome, Unallocatable)
    assert explanation.conflicts or explanation.pools
    lines = render_explanation(explanation)
    assert lines[0] == f"node `{explanation.node}`: cannot allocate all claims"
    assert all(line == line.rstrip() and "\n" not in line for line in lines)


@pytest.mark.parametrize("name", UNALLOCATABLE)
def test_giving_way_resolves_the_conflict(name):
    original = UNALLOCATABLE[name]
    for conflict in original.explain().conflicts:
        attempt = original.copy()
        if conflict.kind == "constraint":
            claim = conflict.text.split("`")[1]
            del attempt.claim(claim)["spec"]["devices"]["constraints"][conflict.constraint]
        elif conflict.kind in {"counters", "capacity"} and conflict.shortages:
            for shortage in conflict.shortages:
                give(attempt, shortage)
        else:
            continue
        explanation = attempt.explain()
        assert isinstance(explanation.outcome, Allocated) or conflict not in explanation.conflicts


def give(attempt, shortage):
    missing = shortage.needs - shortage.free
    for slice_ in attempt.pool_slices((shortage.driver, shortage.pool)):
        for counter_set in slice_["spec"].get("sharedCounters", ()):
            if shortage.kind == "counter" and counter_set["name"] == shortage.where:
                raise_quantity(counter_set["counters"][shortage.name], missing)
        for device in slice_["spec"].get("devices", ()):
            if shortage.kind == "capacity" and device["name"] == shortage.where:
                raise_quantity(device["capacity"][shortage.name], missing)


@pytest.mark.parametrize("draw", [random_problem, tight_problem], ids=["every feature", "long searches"])
def test_refusals_of_random_problems_have_a_reason(draw):
    refusals = 0
    for seed in range(60):
        problem = draw(seed)
        explanation = Attempt(problem, {}, problem["steps"][0]).explain()
        lines = render_explanation(explanation)
        assert all("\n" not in line for line in lines)
        if isinstance(explanation.outcome, Unallocatable):
            refusals += 1
            assert explanation.conflicts or explanation.pools, problem["id"]
    assert refusals > 10


def test_a_quirk_that_changed_the_answer_is_named():
    explanation = UNALLOCATABLE["K18-capacity-key-qualified-0"].explain()
    assert [effect.name for effect in explanation.quirks] == ["literal-capacity-names"]
    assert isinstance(explanation.quirks[0].without, Allocated)


def test_an_explanation_says_who_has_the_device():
    explanation = UNALLOCATABLE["E12b-chain-1"].explain()
    verdict = explanation.claims[0].requests[0].devices[0]
    assert verdict.obstacle is not None
    assert (verdict.obstacle.rule, verdict.obstacle.holders) == ("in-use", ("default/a",))
