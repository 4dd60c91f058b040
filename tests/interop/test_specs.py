"""The objects of all specs of this repository, as YAML and back."""

from pathlib import Path

import pytest
import yaml
from counts import LONG
from reading import elaborated, imported, meanings

from dralang.api.admission import Accepted, AdmissionContext, WriteRequest, admit
from dralang.api.namespaces import Namespace
from dralang.api.nodes import Node
from dralang.cel.admission import admission_checker
from dralang.check.analysis import Analysis, Analyzer
from dralang.features import FeatureGates
from dralang.interop.exporting import declared_objects, export, objects_at
from dralang.run.workshop import Workshop

ROOT = Path(__file__).parent.parent.parent
SPECS = {str(path.relative_to(ROOT)): path for folder in ("specs", "stdlib") for path in (ROOT / folder).rglob("*.dra")}


@pytest.mark.parametrize("name", sorted(SPECS))
def test_what_a_spec_declares_means_the_same_after_export_and_import(name):
    analysis = Analyzer().path(SPECS[name])
    assert isinstance(analysis, Analysis)
    objects = declared_objects(analysis.objects)
    if not objects:
        return
    again = elaborated(imported(export(objects)[0]).text)
    assert meanings(again) == meanings(objects)


def server(scenario, objects):
    """The server of a scenario, with its namespaces and nodes."""
    gates = FeatureGates.resolve(scenario.settings.version, scenario.settings.gates)
    labels = {value.metadata.name: value.metadata.labels for value in objects if isinstance(value, Namespace)}
    # The model keeps objects in namespaces that nobody has declared.
    found = {value.metadata.namespace: labels.get(value.metadata.namespace, {}) for value in objects}
    nodes = tuple(value for value in objects if isinstance(value, Node))
    return AdmissionContext(gates, admission_checker(gates), "2026-01-31T12:00:00Z", {**labels, **found}, nodes)


# It uses a manifest that a driver's project has published with an owner that has no `uid`; no server takes that either.
NO_SERVER = {"specs/drivers/dranet/gpu-and-efa-of-one-pcie-root.dra"}
ALL = sorted(SPECS.keys() - NO_SERVER)


# Whole runs take their time: every fourth spec, other ones with each spec that is added.
@pytest.mark.parametrize("name", ALL if LONG else ALL[::4])
def test_a_server_takes_what_a_scenario_shows_at_its_end(name):
    analysis = Analyzer().path(SPECS[name])
    for scenario in analysis.scenarios if LONG else analysis.scenarios[:2]:
        if scenario.missing or scenario.fuzz:
            continue
        objects, failure = objects_at(scenario, Workshop(), None)
        assert failure is None
        context = server(scenario, objects)
        for document in yaml.safe_load_all(export(objects)[0]):
            answer = admit(WriteRequest("create", document), context)
            assert isinstance(answer, Accepted), (document["kind"], document["metadata"]["name"], answer)
