"""Manifests of declared objects, and of the objects of a scenario at some time."""

from pathlib import Path

import pytest
from reading import elaborated, imported

from dralang.check.analysis import Analyzer
from dralang.interop.exporting import declared_objects, export, objects_at
from dralang.run.workshop import Workshop

CLUSTER = """node w
slice gpus { driver: d; nodeName: w; device gpu-0 }
class gpu { where `device.driver == "d"` }
template one { request gpu: 1 of gpu }
pod a { claim gpu from one; terminationGracePeriodSeconds: 0 }
pod b { claim gpu from one }

"""
STORY = """scenario "a, then b" {
  create a
  expect a runs on w
  at 10s create b
  within 1m expect b is pending
  at 20s delete a
  expect b runs on w
  at 5m label pod b k=v
}
"""


def analysed(text):
    analysis = Analyzer().text(Path("spec.dra"), "spec.dra", text.encode())
    assert not analysis.has_errors, analysis.diagnostics
    return analysis


def at(text, instant):
    (scenario,) = analysed(text).scenarios
    objects, failure = objects_at(scenario, Workshop(), instant)
    assert failure is None, failure
    return {(type(value).__name__, value.metadata.name): value for value in objects}


PHASES = {
    "what happens at the instant has happened": (0, {"a": "Running"}),
    "what is later has not": (9_999, {"a": "Running"}),
    "a statement at the instant is part of it": (10_000, {"a": "Running", "b": "Pending"}),
    "and so are its consequences": (20_000, {"b": "Running"}),
    "time goes on after the last statement": (3_600_000, {"b": "Running"}),
    "without a time it is the end": (None, {"b": "Running"}),
}


@pytest.mark.parametrize(("instant", "phases"), PHASES.values(), ids=PHASES)
def test_the_pods_of_a_scenario_at_a_time(instant, phases):
    found = at(CLUSTER + STORY, instant)
    assert {name: value.status.phase for (kind, name), value in found.items() if kind == "Pod"} == phases


def test_before_the_first_statement_only_what_is_declared_exists():
    kinds = {kind for kind, _ in at(CLUSTER + STORY.replace("create a", "at 1s create a"), 999)}
    assert kinds == {"Node", "ResourceSlice", "DeviceClass", "ResourceClaimTemplate"}


def test_time_stops_inside_of_what_waits():
    story = 'scenario "x" {\n  create a\n  settle\n  within 1h expect a was evicted\n  create b\n}\n'
    found = at(CLUSTER + story, 60_000)
    assert ("Pod", "a") in found
    assert ("Pod", "b") not in found


def test_the_label_of_the_last_statement_is_there_only_from_then_on():
    assert "k" not in at(CLUSTER + STORY, 299_999)["Pod", "b"].metadata.labels
    assert at(CLUSTER + STORY, 300_000)["Pod", "b"].metadata.labels["k"] == "v"


def test_an_expectation_that_fails_does_not_end_the_run():
    story = STORY.replace("expect a runs on w", "expect a runs on nowhere")
    assert ("Pod", "b") in at(CLUSTER + story.replace("nowhere", "w with gpu-0"), 10_000)


def test_a_statement_that_fails_is_returned():
    story = 'scenario "x" {\n  create a\n  finish b\n  expect a runs\n}\n'
    (scenario,) = analysed(CLUSTER + story.replace("finish b", "at 1s create a")).scenarios
    objects, failure = objects_at(scenario, Workshop(), None)
    assert failure is not None
    assert "already exists" in failure.actual
    assert objects
    assert objects_at(scenario, Workshop(), 500)[1] is None


def test_what_a_run_shows_can_be_declared_again():
    found = at(CLUSTER + STORY, 20_000)
    text, lost = export(list(found.values()))
    assert not lost
    assert "resourceVersion" not in text
    again = elaborated(imported(text).text)
    assert {(type(value).__name__, value.metadata.name) for value in again} == set(found)


def test_slices_get_the_count_of_their_pool():
    text = "".join([f"slice {name} {{ driver: d; allNodes: true; pool {{ name: p }} }}\n" for name in ("a", "b")])
    yaml, _ = export(declared_objects(analysed(text).objects))
    assert yaml.count("resourceSliceCount: 2") == 2


def test_empty_structs_that_mean_nothing_are_left_out():
    yaml, _ = export(declared_objects(analysed("node w\npod p\n").objects))
    assert "nodeInfo" not in yaml
    assert "resources" not in yaml
    assert "null" not in yaml
    assert "{}" not in yaml


def test_an_older_version_of_the_resource_api():
    objects = declared_objects(analysed(CLUSTER).objects)
    yaml, lost = export(objects, "v1beta1")
    assert lost == []
    assert "resource.k8s.io/v1beta1" in yaml
    assert "exactly" not in yaml
    assert "    basic" not in yaml.partition("kind: ResourceSlice")[0]


def test_what_an_older_version_cannot_carry_is_said():
    text = 'slice s { driver: d; nodeName: ""; pool { name: p } }\n'
    _, lost = export(elaborated(text), "v1beta1")
    assert lost == [("ResourceSlice s", ("spec.nodeName",))]
