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


def story(seed: int, arguments: PluginArguments, *, remembers: bool) -> dict[str, str]:
    """Where the pods of a random story end up."""
    chance = random.Random(seed)
    settings = SchedulerSettings(arguments=arguments)
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


def test_the_strategies_differ():
    ends = [story(1, ARGUMENTS[name], remembers=True) for name in ("packed", "spread")]
    assert ends[0] != ends[1]
