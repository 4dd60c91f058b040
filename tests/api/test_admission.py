"""What an API server makes of a write, beyond the recorded cases: other versions, rare kinds, any input."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dralang.api.admission import Accepted, AdmissionContext, Refused, WriteRequest, admit, admit_object
from dralang.api.decode import from_json
from dralang.api.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from dralang.api.nodes import Node
from dralang.api.podresources import aggregate
from dralang.api.pods import Pod
from dralang.api.podtemplates import check_pod_template
from dralang.api.resourceslice import ResourceSlice
from dralang.api.selectors import matches_labels, matches_node
from dralang.api.validation.context import CelVerdict
from dralang.features import VERSIONS, FeatureGates

NOW = "2026-01-31T12:00:00Z"
RECORDED = Path(__file__).parent.parent / "conformance" / "validation.jsonl.gz"


class AnyExpression:
    """Takes every expression but `bad`, at a cost of one."""

    def check_selector(self, expression):
        return CelVerdict(error="no good") if expression == "bad" else CelVerdict(cost=1)

    check_derived = check_selector


def server(version="1.37", **gates):
    resolved = FeatureGates.resolve(version, gates)
    assert isinstance(resolved, FeatureGates), resolved
    return AdmissionContext(resolved, AnyExpression(), NOW)


def claim(**exactly):
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "x"},
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "c", **exactly}}]}},
    }


def device_class(**spec):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "c"}, "spec": spec}


def rule(api_version="resource.k8s.io/v1"):
    spec = {"taint": {"key": "example.com/sick", "effect": "NoExecute"}}
    return {"apiVersion": api_version, "kind": "DeviceTaintRule", "metadata": {"name": "r"}, "spec": spec}


def slice_(**spec):
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "s"},
        "spec": {"driver": "d.example.com", "pool": pool, "allNodes": True, **spec},
    }


def created(value, context=None):
    answer = admit(WriteRequest("create", value), context or server())
    assert isinstance(answer, Accepted), answer
    return answer.object


def refused(value, context=None, old=None, operation="create"):
    answer = admit(WriteRequest(operation, value, old), context or server())
    assert isinstance(answer, Refused), answer
    return answer


def causes(answer):
    return {(cause.field, cause.type.removeprefix("FieldValue")) for cause in answer.causes}


BEFORE_ITS_TIME = {
    "taint rules were alpha in 1.36": ("1.36", rule()),
    "and had no beta version in 1.35": ("1.35", rule("resource.k8s.io/v1beta2")),
    "v1beta1 is gone in 1.38": ("1.38", {**claim(), "apiVersion": "resource.k8s.io/v1beta1"}),
    "no group of that name": ("1.37", {**claim(), "apiVersion": "resources.k8s.io/v1"}),
    "pod groups need their gate": (
        "1.37",
        {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "g"}},
    ),
}


@pytest.mark.parametrize(("version", "value"), BEFORE_ITS_TIME.values(), ids=BEFORE_ITS_TIME)
def test_kinds_that_a_version_does_not_serve(version, value):
    assert refused(value, server(version)).reason == "NotFound"


def test_kinds_that_a_version_does_serve():
    created(rule("resource.k8s.io/v1alpha3"), server("1.34"))
    created(rule("resource.k8s.io/v1beta2"), server("1.36"))


NEWER_FIELDS = {
    "derived attributes came in 1.37": ("1.36", claim(derivedAttributes=[{"name": "a.io/b", "expression": "1"}])),
    "lists came in 1.36": ("1.35", slice_(devices=[{"name": "a", "attributes": {"x": {"strings": ["a"]}}}])),
    "capacity of extended resources is of 1.38": ("1.37", device_class(extendedResourceCapacityRequests={})),
}


@pytest.mark.parametrize(("version", "value"), NEWER_FIELDS.values(), ids=NEWER_FIELDS)
def test_fields_that_a_version_does_not_know(version, value):
    answer = refused(value, server(version))
    assert answer.reason == "BadRequest"
    assert "unknown field" in answer.message


def test_capacity_requests_of_a_class_are_dropped_without_their_gate():
    value = device_class(extendedResourceCapacityRequests={"requests": {"memory": "1Gi"}})
    assert created(value, server("1.38")).spec.extended_resource_capacity_requests is None
    kept = created(value, server("1.38", DRAExtendedResourceCapacity=True))
    assert str(kept.spec.extended_resource_capacity_requests.requests["memory"]) == "1Gi"


def test_capacity_requests_of_a_class_are_checked():
    value = device_class(extendedResourceCapacityRequests={"requests": {"no good": "1", "memory": "0"}})
    answer = refused(value, server("1.38", DRAExtendedResourceCapacity=True))
    path = "spec.extendedResourceCapacityRequests.requests"
    assert causes(answer) == {(path, "Invalid"), (f"{path}[memory]", "Invalid")}


def stored(value, context=None, **metadata):
    """An object as it lies in the server, with what the store adds."""
    made = created(value, context)
    fields = {name: getattr(made.metadata, name) for name in ObjectMeta.__struct_fields__}
    return type(made)(
        **{
            **{name: getattr(made, name) for name in type(made).__struct_fields__},
            "metadata": ObjectMeta(**{**fields, "uid": "u-1", "resource_version": "7", **metadata}),
        }
    )


def updated(value, old, context=None):
    answer = admit(WriteRequest("update", value, old), context or server())
    assert isinstance(answer, Accepted), answer
    return answer.object


def test_generations_count_changes_of_the_spec():
    old = stored(slice_())
    assert old.metadata.generation == 1
    assert updated(slice_(), old).metadata.generation == 1
    assert updated(slice_(devices=[{"name": "a"}]), old).metadata.generation == 2


def test_an_update_about_another_object_is_a_conflict():
    old = stored(slice_())
    value = slice_()
    value["metadata"]["uid"] = "u-2"
    assert refused(value, old=old, operation="update").reason == "Conflict"


def test_an_update_keeps_what_only_the_server_says():
    old = stored(slice_(), creation_timestamp="2020-01-01T00:00:00Z")
    value = slice_()
    value["metadata"] |= {"creationTimestamp": "2000-01-01T00:00:00Z", "generation": 99}
    kept = updated(value, old).metadata
    assert (kept.creation_timestamp, kept.generation, kept.uid) == ("2020-01-01T00:00:00Z", 1, "u-1")


def test_no_finalizer_is_added_to_what_is_being_deleted():
    old = stored(slice_(), deletion_timestamp=NOW)
    value = slice_()
    value["metadata"]["finalizers"] = ["a.io/b"]
    assert causes(refused(value, old=old, operation="update")) == {("metadata.finalizers", "Forbidden")}


def test_a_taint_rule_notes_when_its_effect_changed():
    old = stored(rule())
    value = rule()
    value["metadata"]["resourceVersion"] = "7"
    value["spec"]["taint"] |= {"effect": "NoSchedule", "timeAdded": NOW}
    later = AdmissionContext(server().gates, AnyExpression(), "2026-02-01T00:00:00Z")
    assert updated(value, old, later).spec.taint.time_added == "2026-02-01T00:00:00Z"


def test_admin_access_counts_on_the_namespace():
    value = claim(adminAccess=True)
    gates = server().gates
    label = {"resource.kubernetes.io/admin-access": "true"}
    allowed = AdmissionContext(gates, AnyExpression(), NOW, {"default": label})
    created(value, allowed)
    answer = refused(value, AdmissionContext(gates, AnyExpression(), NOW, {"default": {}}))
    assert causes(answer) == {("spec.devices.requests[0].adminAccess", "Forbidden")}
    nowhere = AdmissionContext(gates, AnyExpression(), NOW, {"other": {}})
    assert refused(value, nowhere).reason == "NotFound"


def test_decoded_objects_are_admitted_the_same_way():
    value = from_json(ResourceSlice, slice_(devices=[{"name": "A"}]))
    answer = admit_object("create", value, None, server())
    assert isinstance(answer, Refused)
    assert causes(answer) == {("spec.devices[0].name", "Invalid")}


@pytest.mark.parametrize("depth", [10, 200, 700, 5000])
def test_deep_parameters_are_taken_or_refused(depth):
    deep: dict[str, object] = {}
    for _ in range(depth):
        deep = {"a": deep}
    answer = admit(
        WriteRequest("create", device_class(config=[{"opaque": {"driver": "d.io", "parameters": deep}}])), server()
    )
    assert isinstance(answer, Accepted) == (depth <= 700), answer


def workload(*templates):
    spec = {"compositePodGroupTemplates": list(templates)}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "w"}, "spec": spec}


def composite(name, *children, **fields):
    policy: dict[str, object] = {"schedulingPolicy": {"basic": {}}}
    below = {"compositePodGroupTemplates": list(children)} if children else {}
    leaf = {} if children else {"podGroupTemplates": [{"name": f"{name}-leaf", **policy}]}
    return {"name": name, **policy, **below, **leaf, **fields}


COMPOSITES = server("1.37", AllAlpha=True, AllBeta=True)


def test_workloads():
    created(workload(composite("a", composite("b"))), COMPOSITES)
    top = "spec.compositePodGroupTemplates[0]"
    deep = workload(composite("a", composite("b", composite("c", composite("d")))))
    assert (top, "Invalid") in causes(refused(deep, COMPOSITES))
    twice = workload(composite("a", composite("a")))
    assert causes(refused(twice, COMPOSITES)) == {(f"{top}.compositePodGroupTemplates[0].name", "Duplicate")}
    mixed = workload(composite("a", composite("b", priority=5)))
    assert ("spec", "Invalid") in causes(refused(mixed, COMPOSITES))
    childless = workload({"name": "a", "schedulingPolicy": {"basic": {}}})
    assert causes(refused(childless, COMPOSITES)) == {(top, "Invalid")}
    assert causes(refused(workload(composite("a")), server("1.37", GenericWorkload=True))) == {
        ("spec.compositePodGroupTemplates", "Forbidden")
    }


def priority(value, **fields):
    name = fields.pop("name", "p")
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        **fields,
    }


def test_priority_classes():
    assert created(priority(5)).preemption_policy == "PreemptLowerPriority"
    assert causes(refused(priority(2_000_000_000))) == {("value", "Forbidden")}
    assert causes(refused(priority(5, name="system-x"))) == {("metadata.name", "Forbidden")}
    assert causes(refused(priority(5, preemptionPolicy="Sometimes"))) == {("preemptionPolicy", "NotSupported")}


def test_pod_templates_inside_other_kinds():
    pod = {"containers": [{"name": "m", "image": "i", "resources": {"claims": [{"name": "a"}]}}]}
    job = {"apiVersion": "batch/v1", "kind": "CronJob", "spec": {"jobTemplate": {"spec": {"template": {"spec": pod}}}}}
    answer = check_pod_template(job)
    assert answer is not None
    path = "spec.jobTemplate.spec.template.spec.containers[0].resources.claims[0]"
    assert causes(answer) == {(path, "NotFound")}
    assert check_pod_template({"apiVersion": "v1", "kind": "ConfigMap"}) is None
    assert check_pod_template({"apiVersion": "apps/v1", "kind": "Deployment", "spec": 5}) is None
    wrong = {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": {"container": []}}}}
    answer = check_pod_template(wrong)
    assert answer is not None
    assert (answer.reason, answer.path) == ("BadRequest", ("spec", "template", "spec", "container"))


def test_containers_add_up():
    containers = [{"name": "a", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}, {"name": "b"}]
    init = [
        {"name": "side", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
        {"name": "setup", "resources": {"requests": {"cpu": "4"}}},
    ]
    pod = from_json(Pod, {"spec": {"containers": containers, "initContainers": init}})
    total = {name: str(amount) for name, amount in aggregate(pod.spec, "requests").items()}
    assert total == {"cpu": "4500m", "memory": "1Gi"}


def test_label_selectors():
    labels = {"app": "x", "size": "5"}

    def matches(key, operator, *values):
        requirement = LabelSelectorRequirement(key, operator, values)
        return matches_labels(LabelSelector(match_expressions=(requirement,)), labels)

    assert matches_labels(LabelSelector(), labels)
    assert not matches_labels(None, labels)
    assert matches_labels(LabelSelector(match_labels={"app": "x"}), labels)
    assert not matches_labels(LabelSelector(match_labels={"app": "y"}), labels)
    assert matches("app", "In", "x", "y")
    assert not matches("none", "In", "x")
    assert matches("none", "NotIn", "x")
    assert matches("app", "Exists")
    assert matches("none", "DoesNotExist")
    assert matches("size", "Gt", "4")
    assert not matches("app", "Gt", "4")
    assert not matches("app", "Unknown")


def node_selector(*terms):
    value = from_json(ResourceSlice, {"spec": {"nodeSelector": {"nodeSelectorTerms": list(terms)}}})
    assert value.spec.node_selector is not None
    return value.spec.node_selector


def test_node_selectors():
    node = Node(ObjectMeta(name="n1", labels={"zone": "a"}))
    zone = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}
    other = {"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}
    assert matches_node(node_selector(zone), node)
    assert matches_node(node_selector(other, name), node)
    assert not matches_node(node_selector(other), node)
    assert not matches_node(node_selector({**zone, **other}), node)
    assert not matches_node(node_selector({}), node)
    assert not matches_node(node_selector(), node)


CASES = [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).decode().splitlines()[::40]]
PARTS: list[object] = [
    None,
    True,
    0,
    -1,
    1.5,
    2**63,
    10**40,
    "",
    "x",
    "A" * 70,
    "é",
    "\udc80",
    "a/b/c",
    [],
    {},
    [None],
    [[]],
    {"a": None},
]


def changed(draw, value):
    """A value with one part replaced, removed, doubled or put in."""
    if isinstance(value, dict) and value and draw(st.integers(0, 4)):
        name = draw(st.sampled_from(sorted(value)))
        if not draw(st.integers(0, 9)):
            return {key: entry for key, entry in value.items() if key != name}
        return {**value, name: changed(draw, value[name])}
    if isinstance(value, list) and value and draw(st.integers(0, 4)):
        index = draw(st.integers(0, len(value) - 1))
        if not draw(st.integers(0, 9)):
            return value * draw(st.sampled_from([0, 2, 40]))
        return [*value[:index], changed(draw, value[index]), *value[index + 1 :]]
    return draw(st.sampled_from(PARTS))


@settings(derandomize=True, max_examples=1500, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_any_object_is_taken_or_refused(data):
    case = data.draw(st.sampled_from(CASES))
    context = server(data.draw(st.sampled_from(VERSIONS)), **data.draw(st.sampled_from([{}, {"AllAlpha": True}])))
    value = changed(data.draw, case["object"])
    if not isinstance(value, dict):
        value = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "spec": value}
    answer = admit(WriteRequest("create", value), context)
    if isinstance(answer, Refused):
        assert answer.causes or answer.message
        assert all(cause.message for cause in answer.causes)
        return
    # What was taken once is taken again, and comes out the same.
    again = admit_object("create", answer.object, None, context)
    assert isinstance(again, Accepted)
    assert again.object == answer.object
    for operation in ("update", "update-status"):
        another = changed(data.draw, value)
        if isinstance(another, dict):
            admit(WriteRequest(operation, another, answer.object), context)
