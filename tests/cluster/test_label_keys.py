"""`matchLabelKeys` and `mismatchLabelKeys`: the pod's own labels go into the selectors when it is created.

Source: kubernetes pkg/registry/core/pod/strategy.go.
"""

import pytest
from builders import cluster, create, node, pod
from msgspec.structs import replace

from dralang.api.admission import Accepted, AdmissionContext, Refused, WriteRequest, admit
from dralang.api.affinity import (
    Affinity,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from dralang.api.meta import LabelSelector, LabelSelectorRequirement
from dralang.api.pods import Pod
from dralang.api.podtemplates import check_pod_template
from dralang.cel.admission import admission_checker
from dralang.features import FeatureGates

ZONE = "topology.kubernetes.io/zone"
APP = LabelSelector(match_labels={"app": "web"})


def term(matching=(), differing=(), selector=APP):
    return PodAffinityTerm(
        label_selector=selector, topology_key=ZONE, match_label_keys=matching, mismatch_label_keys=differing
    )


def spread(matching=(), selector=APP):
    return TopologySpreadConstraint(
        max_skew=1,
        topology_key=ZONE,
        when_unsatisfiable="DoNotSchedule",
        label_selector=selector,
        match_label_keys=matching,
    )


def required(term, kind=PodAffinity):
    return kind(required_during_scheduling_ignored_during_execution=(term,))


def preferred(term, kind=PodAffinity):
    weighted = WeightedPodAffinityTerm(weight=1, pod_affinity_term=term)
    return kind(preferred_during_scheduling_ignored_during_execution=(weighted,))


def labelled(name, labels, **spec):
    made = pod(name, **spec)
    return replace(made, metadata=replace(made.metadata, labels=labels))


def stored(spec, labels):
    simulation = cluster(node("worker-1", labels={ZONE: "a"}))
    create(simulation, labelled("p", labels, **spec))
    return simulation.pod("default", "p").spec


def asked(selector):
    return [(each.operator, each.key, each.values) for each in selector.match_expressions]


LABELS = {"app": "web", "rev": "7"}
MERGED = {
    "a key that is a label": (("rev",), (), [("In", "rev", ("7",))]),
    "a key that is none": (("tier",), (), []),
    "a key whose value must differ": ((), ("app",), [("NotIn", "app", ("web",))]),
    "both": (("rev",), ("app",), [("In", "rev", ("7",)), ("NotIn", "app", ("web",))]),
    "none": ((), (), []),
}


@pytest.mark.parametrize(("matching", "differing", "want"), MERGED.values(), ids=MERGED)
def test_every_term_between_pods_gets_them(matching, differing, want):
    given = term(matching, differing)
    for kind, field in ((PodAffinity, "pod_affinity"), (PodAntiAffinity, "pod_anti_affinity")):
        spec = {"affinity": Affinity(**{field: required(given, kind)})}
        found = getattr(stored(spec, LABELS).affinity, field)
        assert asked(found.required_during_scheduling_ignored_during_execution[0].label_selector) == want
        spec = {"affinity": Affinity(**{field: preferred(given, kind)})}
        found = getattr(stored(spec, LABELS).affinity, field)
        weighted = found.preferred_during_scheduling_ignored_during_execution[0]
        assert asked(weighted.pod_affinity_term.label_selector) == want


def test_a_spread_constraint_gets_them():
    found = stored({"topology_spread_constraints": (spread(("rev", "tier")),)}, LABELS)
    assert asked(found.topology_spread_constraints[0].label_selector) == [("In", "rev", ("7",))]


def test_a_pod_that_was_read_from_a_cluster_has_them_already():
    selector = replace(APP, match_expressions=(LabelSelectorRequirement(key="rev", operator="In", values=("7",)),))
    simulation = cluster(labelled("p", LABELS, topology_spread_constraints=(spread(("rev",), selector),)))
    found = simulation.pod("default", "p").spec.topology_spread_constraints[0]
    assert found.label_selector == selector


def test_nobody_stands_beside_pods_of_the_same_revision_alone():
    simulation = cluster(node("worker-1", labels={ZONE: "a"}))
    alone = {"affinity": Affinity(pod_anti_affinity=required(term(("rev",)), PodAntiAffinity))}
    create(simulation, labelled("old", {"app": "web", "rev": "1"}, **alone))
    create(simulation, labelled("new", {"app": "web", "rev": "2"}, **alone))
    create(simulation, labelled("twin", {"app": "web", "rev": "2"}, **alone))
    assert [each.spec.node_name for each in simulation.pods()] == ["worker-1", "worker-1", ""]


def manifest(**selector):
    """A pod whose constraint asks for its own revision."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        "matchLabelKeys": ["rev"],
    }
    spec = {"containers": [{"name": "c", "image": "x"}], "topologySpreadConstraints": [constraint]}
    return {"metadata": {"labels": LABELS}, "spec": spec}


def create_request(value):
    gates = FeatureGates.resolve("1.37", {})
    context = AdmissionContext(gates, admission_checker(gates), "2026-01-31T12:00:00Z")
    value["metadata"] |= {"name": "p", "namespace": "default"}
    return admit(WriteRequest("create", {"apiVersion": "v1", "kind": "Pod", **value}), context)


REVISION = [{"key": "rev", "operator": "In", "values": ["7"]}]
TWICE = {"the key in its labels": {"matchLabels": {"rev": "7"}}, "its own words again": {"matchExpressions": REVISION}}


@pytest.mark.parametrize("selector", TWICE.values(), ids=TWICE)
def test_a_pod_must_not_ask_for_the_key_itself_but_a_template_may(selector):
    answer = create_request(manifest(**selector))
    assert isinstance(answer, Refused)
    assert [(each.field, each.message) for each in answer.causes] == [
        (
            "spec.topologySpreadConstraints[0][0]",
            'Invalid value: "rev": exists in both matchLabelKeys and labelSelector',
        )
    ]
    # Nothing is put into the selectors of a template: its pods are refused one by one.
    template = manifest(**selector)
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": template}}
    assert check_pod_template(deployment) is None


def test_the_answer_of_the_server_shows_what_it_put_in():
    answer = create_request(manifest(matchLabels={"app": "web"}))
    assert isinstance(answer, Accepted)
    assert isinstance(answer.object, Pod)
    assert asked(answer.object.spec.topology_spread_constraints[0].label_selector) == [("In", "rev", ("7",))]
