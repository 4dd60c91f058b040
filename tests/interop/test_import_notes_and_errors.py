"""What import says about what it leaves out, and what it refuses, where."""

import json

import pytest
from reading import elaborated, imported, refused

DUMP = """apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata:
    name: w
    annotations:
      kubectl.kubernetes.io/last-applied-configuration: '{"kind":"Node"}'
      note: kept
    managedFields:
    - {manager: kubelet, operation: Update, fieldsType: FieldsV1, fieldsV1: {"f:status": {}}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: x}
- apiVersion: apps/v1
  kind: Deployment
  metadata: {name: x}
- apiVersion: resource.k8s.io/v1beta2
  kind: DeviceClass
  metadata: {name: c}
"""


def test_what_is_left_out_is_counted_and_named():
    found = imported(DUMP)
    assert found.count == 2
    assert found.notes == (
        "converted to the current version: 1 resource.k8s.io/v1beta2 DeviceClass",
        "not modelled and left out: 1 ConfigMap, 1 Deployment (nothing makes pods of a Deployment here: declare them)",
        "left out: the `managedFields` of 1 object",
        "left out: the annotation `kubectl.kubernetes.io/last-applied-configuration` of 1 object",
    )
    assert found.text.startswith("# imported from dump.yaml\n# converted to the current version: 1 ")
    (node, _) = elaborated(found.text)
    assert node.metadata.annotations == {"note": "kept"}
    assert node.metadata.managed_fields == ()


def test_managed_fields_can_be_kept():
    found = imported(DUMP, keep_managed_fields=True)
    (node, _) = elaborated(found.text)
    assert node.metadata.managed_fields[0].fields_v1 == {"f:status": {}}
    assert not any("managedFields" in note for note in found.notes)


def test_a_kind_of_another_group_is_foreign():
    found = imported("apiVersion: batch.example.com/v1\nkind: Pod\nmetadata: {name: x}\n")
    assert found.count == 0
    assert found.notes == ("not modelled and left out: 1 Pod of batch.example.com",)
    assert elaborated(found.text) == []


def test_what_is_named_but_missing_is_said():
    claim = (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: c, namespace: a}\nspec: {devices: "
    )
    text = claim + "{requests: [{name: r, deviceClassName: gpu}]}}\n"
    assert "named but not imported: class gpu" in imported(text).notes


def test_json_reads_like_yaml():
    value = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [value, value]}, indent=1)
    assert imported(text, "dump.json").text == "# imported from dump.json\n\nnamespace a\n"


def test_a_comment_cannot_be_broken_out_of():
    text = imported('apiVersion: x/v1\nkind: "a\\nnode w"\n', "a\nnode b.yaml").text
    assert elaborated(text) == []


OLD_REQUEST = "spec:\n  devices:\n    requests:\n    - name: a\n      exactly: {}\n"
CLASS = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: c}\n"
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
WRONG = {
    "an unknown field, with what was probably meant": (
        POD + "spec: {containers: [{name: a, imagee: b}]}\n",
        "DRA0301", "Container has no field `imagee`", "4:31", ("image",),
    ),
    "an unknown field inside of a list": (
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata:\n    nam: x\n",
        "DRA0301", "ObjectMeta has no field `nam`", "7:5", ("name",),
    ),
    "an unknown field of an older version": (
        "apiVersion: resource.k8s.io/v1beta1\nkind: ResourceClaim\nmetadata: {name: c}\n" + OLD_REQUEST,
        "DRA0301", "DeviceRequestV1beta1 has no field `exactly`", "8:7", (),
    ),
    "a value of another type": (
        POD + "spec: {priority: high}\n", "DRA0302", "an integer is needed here, not text `high`", "4:18", (),
    ),
    "a list whose items are a number": (
        "apiVersion: v1\nkind: List\nitems: 7\n",
        "DRA0302", "a list is needed here, not an integer `7`", "3:8", (),
    ),
    "a list whose items are one object": (
        "apiVersion: v1\nkind: List\nitems:\n  " + POD.replace("\n", "\n  ").rstrip() + "\n",
        "DRA0302", "a list is needed here, not a map", "4:3", (),
    ),
    "a list of one kind whose items are text": (
        "apiVersion: v1\nkind: PodList\nitems: none\n",
        "DRA0302", "a list is needed here, not text `none`", "3:8", (),
    ),
    "an object without a name": (
        "apiVersion: v1\nkind: Pod\nmetadata: {generateName: p-}\n",
        "DRA0405", "this Pod has no `metadata.name`", "1:1", (),
    ),
    "a kind in other letters": (
        "apiVersion: resource.k8s.io/v1\nkind: resourceclaim\nmetadata: {name: c}\n",
        "DRA0405", "`resource.k8s.io/v1` has no kind `resourceclaim`", "2:7", (),
    ),
    "a version that no server has": (
        "apiVersion: resource.k8s.io/v2\nkind: DeviceClass\nmetadata: {name: c}\n",
        "DRA0406", "kind DeviceClass has no version `resource.k8s.io/v2`", "1:13",
        ("resource.k8s.io/v1", "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"),
    ),
    "two different objects of one name": (
        POD + "---\n" + POD + "spec: {priority: 1}\n",
        "DRA0202", "pod `p` is declared twice", "7:18", (),
    ),
    "a number that JSON does not have": (
        CLASS + "spec: {config: [{opaque: {driver: d, parameters: {a: [1, .inf]}}}]}\n",
        "DRA0410", "`spec.config[0].opaque.parameters.a[1]` cannot be written: `inf` is no number of JSON", "4:58", (),
    ),
    "a name with a slash": (
        "apiVersion: v1\nkind: Node\nmetadata: {name: a/b}\n",
        "DRA0410", "`metadata.name` cannot be written: a declaration cannot have `a/b`, which is no name", "3:18", (),
    ),
    "values nested too deeply": (
        CLASS + "spec: {config: [{opaque: {driver: d, parameters: {a: " + "[" * 80 + "]" * 80 + "}}}]}\n",
        "DRA0410", "this is nested more than 63 levels deep", "4:112", (),
    ),
    "a Helm template that is no YAML": (
        "metadata:\n  {{- include \"x.labels\" . | nindent 4 }}\n",
        "DRA0409", "`dump.yaml` is a template (Helm), not a manifest", "2:3", (),
    ),
    "a Helm template that happens to be YAML": (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: \"{{ .Values.name }}\"\n",
        "DRA0409", "`dump.yaml` is a template (Helm), not a manifest", "4:10", (),
    ),
    "another template": (
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ namespace }}\n",
        "DRA0409", "`dump.yaml` is a template (Helm), not a manifest", "4:9", (),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "code", "message", "place", "expected"), WRONG.values(), ids=WRONG)
def test_it_is_refused_where_it_is_wrong(text, code, message, place, expected):
    (found,) = refused(text)
    assert found.code == code
    assert found.message.endswith(message)
    assert str(found.span) == f"dump.yaml:{place}"
    assert found.expected == expected
    if code == "DRA0409":
        assert found.help == "render it first: `helm template RELEASE CHART | dralang import -`"


def test_what_a_shell_or_go_template_says_is_no_helm_template():
    text = POD + "spec: {containers: [{name: a, image: pause, args: ['docker inspect -f \"{{.State}}\" x']}]}\n"
    assert imported(text).count == 1
    (found,) = refused(text.replace("v1", "v9", 1))
    assert found.code == "DRA0406"
