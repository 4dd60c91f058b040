"""Stories and clusters for tests in Python."""

import pytest
from hypothesis import HealthCheck, given, settings

from dralang.api.nodes import Node
from dralang.api.resourceslice import ResourceSlice
from dralang.fuzz import clusters, scenarios
from dralang.run.player import play
from dralang.run.workshop import Workshop

WORKSHOP = Workshop()
FEW = settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@FEW
@given(scenarios(pods=3, events=3))
def test_stories_that_are_drawn_hold(story):
    assert play(story, WORKSHOP).failures == ()


@FEW
@given(scenarios('node n\npod a\nfuzz "f" { at any 0s..9s create a; expect a runs on n }'))
def test_stories_of_a_text_hold(story):
    assert play(story, WORKSHOP).verdict == "passed"


@FEW
@given(clusters(nodes=3))
def test_clusters_have_nodes_and_slices(objects):
    kinds = {type(each) for each in objects}
    assert {Node, ResourceSlice} <= kinds
    assert 1 <= sum(isinstance(each, Node) for each in objects) <= 3


@pytest.mark.parametrize("text", ["pod {", "node n\n", 'node n\nfuzz "a" { }\nfuzz "b" { }'])
def test_a_text_needs_one_fuzz(text):
    with pytest.raises(ValueError, match=r"fuzz|name"):
        scenarios(text)


def test_sizes_exist():
    with pytest.raises(ValueError, match="takes no `gpus`"):
        scenarios(gpus=3)
