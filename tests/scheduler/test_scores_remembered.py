"""Scores of devices behind extended resources are kept per node, and are those that would be computed anew."""

import random

import pytest
from builders import DriverExpressions, features, gpu_class, gpu_slice, node, pod
from counts import count

from dralang.run.simulation import Environment, Simulation
from dralang.scenario.scheduler_config import FitScoring, PluginArguments
from dralang.scheduler.settings import SchedulerSettings

NODES = 30
GPU = "example.com/gpu"
SCORED = (("cpu", 1), (GPU, 3))
ARGUMENTS = {
    "packed": PluginArguments(fit=FitScoring(type="MostAllocated", resources=SCORED)),
    "spread": PluginArguments(fit=FitScoring(resources=SCORED)),
    "balanced": PluginArguments(balanced_resources=("cpu", GPU)),
    "not scored": PluginArguments(),
}


def story(seed: int, arguments: PluginArguments, *, remembers: bool, ties: int = 0) -> dict[str, str]:
    """Where the pods of a random story end up."""
    chance = random.Random(seed)
    settings = SchedulerSettings(arguments=arguments, ties=ties)
    simulation = Simulation(Environment(features(), DriverExpressions(), None, settings))
    nodes = [f"n{number}" for number in range(NODES)]
    slices = [gpu_slice(name, chance.randint(1, 5)) for name in nodes]
    assert (
        simulation.load([*[node(name, cpu="8", memory="32Gi") for name in nodes], *slices, gpu_class(extended=GPU)])
        == []
    )
    if not remembers:
        simulation.scheduler.algorithm.remembers_from = NODES + 1
    for number in range(50):
        requests = {"cpu": chance.choice(["1", "1", "2"])}
        if chance.random() < 0.7:
            requests[GPU] = chance.choice(["1", "1", "2"])
        simulation.create(pod(f"p{number}", requests=requests))
        match chance.randrange(6):
            case 0:
                assert simulation.settle()
                simulation.finish("default", f"p{chance.randrange(number + 1)}")
            case 1:
                simulation.cordon(chance.choice(nodes), on=chance.random() < 0.5)
            case 2:
                name = chance.choice(nodes)
                changed = gpu_slice(name, chance.randint(1, 5), generation=number + 2)
                simulation.update(changed)
            case _:
                assert simulation.settle()
    assert simulation.settle()
    return {each.metadata.name: each.spec.node_name for each in simulation.pods()}


@pytest.mark.parametrize("arguments", ARGUMENTS.values(), ids=ARGUMENTS.keys())
def test_what_is_remembered_is_what_would_be_found(arguments: PluginArguments):
    for seed in range(count(10, 200)):
        kept, anew = (story(seed, arguments, remembers=remembers) for remembers in (True, False))
        assert kept == anew, seed
        assert sum(map(bool, kept.values())) > 20


def test_the_choice_among_equals_is_the_same_with_and_without_memory():
    arguments, usual = PluginArguments(), []
    for ties in (0, 1, 7):
        for seed in range(count(3, 60)):
            kept, anew = (story(seed, arguments, remembers=remembers, ties=ties) for remembers in (True, False))
            assert kept == anew, (seed, ties)
            usual.append(kept)
    assert len({tuple(sorted(each.items())) for each in usual}) > len(usual) // 3, "another choice is another course"


def test_without_the_filter_that_tells_pods_apart_nothing_is_remembered():
    off = (("filter", "NodeResourcesFit"), ("preFilter", "NodeResourcesFit"))
    simulation = Simulation(Environment(features(), DriverExpressions(), None, SchedulerSettings(off_at=off)))
    sizes = [{"cpu": "8", "memory": "64Gi"}, {"cpu": "64", "memory": "8Gi"}]
    assert simulation.load([node(f"n{number}", **sizes[number % 2]) for number in range(NODES)]) == []
    for name, requests in (("wide", {"cpu": "6", "memory": "1Gi"}), ("tall", {"cpu": "1", "memory": "6Gi"})):
        simulation.create(pod(name, requests=requests))
        assert simulation.settle()
    ends = [int(each.spec.node_name[1:]) % 2 for each in simulation.pods()]
    assert ends == [1, 0]


def test_the_strategies_differ():
    ends = [story(1, ARGUMENTS[name], remembers=True) for name in ("packed", "spread")]
    assert ends[0] != ends[1]
