"""What the scheduler remembers from one cycle to the next, in stories of many alike pods."""

from collections import Counter

import pytest
from builders import claim, cluster, create, gpu_class, gpu_slice, node, pod, where
from counts import count
from msgspec.structs import replace
from stories.digest import course_of
from stories.large import LargeStory

from dralang.api.affinity import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dralang.api.allocation import AllocationResult
from dralang.api.resourceclaim import ResourceClaimStatus
from dralang.scheduler import cycle
from dralang.scheduler.cycle import Found, SchedulingAlgorithm
from dralang.scheduler.dynamicresources.cycle_data import STATE
from dralang.scheduler.dynamicresources.plugin import DynamicResources
from dralang.scheduler.verdicts import Verdicts, Walk


@pytest.fixture
def few_are_enough(monkeypatch):
    """A search ends when half of the nodes fit, as in large clusters."""
    monkeypatch.setattr(cycle, "MIN_FEASIBLE_NODES", 2)


@pytest.mark.parametrize("seed", range(count(100, 2_000)))
@pytest.mark.usefixtures("few_are_enough")
def test_what_is_remembered_changes_nothing(seed, monkeypatch):
    monkeypatch.setattr(cycle, "REMEMBERS_FROM", 10**6)
    expected = course_of(LargeStory(seed))
    monkeypatch.setattr(cycle, "REMEMBERS_FROM", 1)
    assert course_of(LargeStory(seed)) == expected


@pytest.mark.usefixtures("few_are_enough")
def test_these_stories_reach_what_is_remembered(monkeypatch):
    reached = Counter()
    sign, only, walk = DynamicResources.sign, SchedulingAlgorithm._look_at_only_node, Verdicts.walk

    def signed(self, state, info):
        signature = sign(self, state, info)
        data = state.read(STATE)
        kind = "extended" if data is not None and data.special else "claims"
        if isinstance(signature, tuple) and signature:
            reached[f"{kind} with a signature"] += 1
            reached["allocated claims with a signature"] += any(
                isinstance(part, tuple) and part[0] == "allocated" for part in signature
            )
        return signature

    def looked(self, state, info):
        answer = only(self, state, info)
        reached["the only node"] += isinstance(answer, Found)
        return answer

    def walked(self, *arguments):
        unknown = len(self._unknown)
        found = walk(self, *arguments)
        if isinstance(found, Walk) and unknown < len(self.nodes):
            reached["found with what was known" if found.fitting else "refused with what was known"] += 1
            reached["ended early"] += found.visited < len(self.nodes)
        return found

    monkeypatch.setattr(cycle, "REMEMBERS_FROM", 1)
    monkeypatch.setattr(DynamicResources, "sign", signed)
    monkeypatch.setattr(SchedulingAlgorithm, "_look_at_only_node", looked)
    monkeypatch.setattr(Verdicts, "walk", walked)
    for seed in range(20):
        course_of(LargeStory(seed))
    assert len(reached) == 7
    assert min(reached.values()) >= 20, reached


def test_every_pod_gives_up_its_own_claim_that_no_node_accepts(monkeypatch):
    monkeypatch.setattr(cycle, "REMEMBERS_FROM", 1)
    elsewhere = NodeSelector(
        node_selector_terms=(
            NodeSelectorTerm(
                match_expressions=(NodeSelectorRequirement(key="rack", operator="In", values=("gone",)),),
            ),
        )
    )
    allocated = ResourceClaimStatus(allocation=AllocationResult(node_selector=elsewhere))
    simulation = cluster(node("n1"), node("n2"), gpu_slice("n1", 2), gpu_class())
    for name in ("a", "b"):
        create(simulation, replace(claim(f"claim-{name}"), status=allocated))
    create(simulation, *(pod(f"pod-{name}", uses=[f"claim-{name}"]) for name in ("a", "b")))
    simulation.settle()
    assert where(simulation, "pod-a", "pod-b") == {"pod-a": "n1", "pod-b": "n1"}
