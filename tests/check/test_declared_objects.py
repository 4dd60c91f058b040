"""Declared objects before the API server: what it refuses is an error where it was written."""

from pathlib import Path

import pytest

from dralang.check import admission
from dralang.check.analysis import Analysis, Analyzer
from dralang.diagnostics.codes_api import API_CODES
from dralang.diagnostics.diagnostic import Diagnostic

SERVED = {"DRA0306", "DRA0312"}


def analysed(text: str, folder: Path) -> Analysis:
    (folder / "dralang.toml").touch()
    return Analyzer().text(folder / "a.dra", "a.dra", text.encode())


def said(analysis: Analysis) -> list[Diagnostic]:
    return [item for item in analysis.diagnostics if item.code in SERVED]


def marked(item: Diagnostic) -> str:
    assert item.span is not None
    return item.span.text


@pytest.mark.parametrize("code", sorted(SERVED))
def test_the_example_of_a_code_provokes_it_and_nothing_worse(code: str, tmp_path: Path):
    found = analysed(API_CODES[code].example, tmp_path).diagnostics
    assert [item.code for item in found if item.severity != "note"] == [code]


CLASS = "class gpu { where `true` }\n"
REFUSED = {
    "a value": (
        'node n { labels { good: x; bad: "-x" } }\n',
        '"-x"',
        'the API server refuses `metadata.labels`: Invalid value: "-x"',
    ),
    "a key": (
        "node n { labels { a/b/c: x } }\n",
        "a/b/c",
        'the API server refuses `metadata.labels`: Invalid value: "a/b/c"',
    ),
    "a name": (
        "node Worker\n",
        "Worker",
        "the API server refuses `metadata.name`: Invalid value",
    ),
    "what is missing of the whole object, at its name": (
        "slice s { nodeName: n; device a }\nnode n\n",
        "s",
        "the API server refuses `spec.driver`: Required value",
    ),
    "a device twice": (
        "node n\nslice s {\n  driver: a.example.com\n  nodeName: n\n  device a { allNodes: true; nodeName: n }\n}\n",
        "device a { allNodes: true; nodeName: n }",
        "the API server refuses `spec.devices[0]`",
    ),
    "an attribute": (
        'node n\nslice s { driver: a.example.com; nodeName: n; device a { attributes { model: "'
        + "x" * 65
        + '" } } }\n',
        '"' + "x" * 65 + '"',
        "the API server refuses `spec.devices[0].attributes[model].string`: Too long: may not be more than 64 bytes",
    ),
    "an expression, at the word": (
        'class gpu {\n  where `device.driver == "a" &&\n    device.drivr == "b"`\n}\n',
        ".drivr",
        "the API server refuses `spec.selectors[0].cel.expression`: undefined field 'drivr'",
    ),
    "an expression that ends too early": (
        "class gpu { where `device.driver == ` }\n",
        "=",
        "the API server refuses `spec.selectors[0].cel.expression`: Syntax error",
    ),
    "an expression of the wrong type, as a whole": (
        "class gpu { where `1 + 1` }\n",
        "1 + 1",
        "the API server refuses `spec.selectors[0].cel.expression`: Invalid value",
    ),
    "a field that the version does not have": (
        "kubernetes 1.35\n"
        + CLASS
        + "claim c { request gpu: 1 of gpu { derivedAttributes: [{ name: a, expression: `1` }] } }\n",
        "derivedAttributes",
        "Kubernetes 1.35 has no field `spec.devices.requests[0].exactly.derivedAttributes`",
    ),
    "a kind whose API is off": (
        "gates { GenericWorkload: false }\npodgroup g { schedulingPolicy: { basic: {} } }\n",
        "g",
        "the API of PodGroup is off: feature gate `GenericWorkload`",
    ),
    "a kind that the version does not have": (
        "kubernetes 1.35\npodgroup g { schedulingPolicy: { basic: {} } }\n",
        "g",
        "Kubernetes 1.35 has no PodGroup",
    ),
    "an object of a fixture": (
        'fixture box(name) { node ${name} { labels { a: "-" } } }\nbox(one)\nbox(two)\n',
        '"-"',
        "the API server refuses `metadata.labels`: Invalid value",
    ),
    "an object of a scenario": (
        'pod a\nscenario "own" {\n  node Worker\n  create a\n  expect a is pending\n}\n',
        "Worker",
        "the API server refuses `metadata.name`: Invalid value",
    ),
    "an object like another": (
        CLASS
        + 'pod p { claim gpu is c }\nclaim c { request gpu: 1 of gpu }\nscenario "like" {\n  create p\n'
        + "  create pod Q like p\n  expect p is pending\n}\n",
        "Q",
        "the API server refuses `metadata.name`: Invalid value",
    ),
}


_AFFINITY = "affinity { nodeAffinity { requiredDuringSchedulingIgnoredDuringExecution { nodeSelectorTerms: [%s] } } }"
_EXPRESSION = "{ matchExpressions: [{ key: zone, operator: %s, values: [a] }] }"
_SPREAD = "topologySpreadConstraints: [{ maxSkew: %s, topologyKey: %s, whenUnsatisfiable: %s }]"
# What a pod says, the value that is refused, and at the end of its path why.
SCHEDULING = {
    "when it is done": ("restartPolicy: never", "never", 'restartPolicy`: Unsupported value: "never"'),
    "whom it may preempt": ("preemptionPolicy: never", "never", 'preemptionPolicy`: Unsupported value: "never"'),
    "how it tolerates": (
        "tolerations: [{ key: a, operator: Exist }]",
        "Exist",
        'tolerations[0].operator`: Unsupported value: "Exist": supported values: "Equal", "Exists"',
    ),
    "what it tolerates": (
        "tolerations: [{ key: a, operator: Exists, effect: NoScedule }]",
        "NoScedule",
        'tolerations[0].effect`: Unsupported value: "NoScedule"',
    ),
    "how long it tolerates": (
        "tolerations: [{ key: a, operator: Exists, effect: NoSchedule, tolerationSeconds: 5 }]",
        "NoSchedule",
        "tolerations[0].effect`: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when",
    ),
    "a value of any": (
        "tolerations: [{ key: a, operator: Exists, value: b }]",
        "Exists",
        "tolerations[0].operator`: Invalid value",
    ),
    "everything, by no operator": (
        "tolerations: [{ effect: NoExecute }]",
        "{ effect: NoExecute }",
        'tolerations[0].operator`: Invalid value: "": operator must be Exists when `key` is empty',
    ),
    "labels of nodes": ('nodeSelector { zone: "a b" }', '"a b"', 'nodeSelector`: Invalid value: "a b"'),
    "how labels are compared": (
        _AFFINITY % (_EXPRESSION % "Inn"),
        "Inn",
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]",
    ),
    "how evenly": (
        _SPREAD % (0, "zone", "DoNotSchedule"),
        "0",
        "topologySpreadConstraints[0].maxSkew`: Invalid value: 0",
    ),
    "over what": (
        _SPREAD % (1, '""', "DoNotSchedule"),
        '""',
        "topologySpreadConstraints[0].topologyKey`: Required value: can not be empty",
    ),
    "how strictly": (
        _SPREAD % (1, "zone", "Never"),
        "Never",
        'topologySpreadConstraints[0].whenUnsatisfiable`: Unsupported value: "Never"',
    ),
    "what it waits for, twice": (
        "schedulingGates: [{ name: a }, { name: a }]",
        "a",
        'schedulingGates[1]`: Duplicate value: "a"',
    ),
}


@pytest.mark.parametrize("case", SCHEDULING)
def test_words_that_the_scheduler_does_not_know_are_refused(case: str, tmp_path: Path):
    said_of_it, place, message = SCHEDULING[case]
    found = [item for item in said(analysed(f"pod p {{ {said_of_it} }}\n", tmp_path)) if item.severity == "error"]
    assert [marked(item) for item in found] == [place]
    assert found[0].message.startswith(f"the API server refuses `spec.{message}")


def test_what_the_scheduler_knows_of_pods_is_taken(tmp_path: Path):
    every = [
        "restartPolicy: Never",
        "preemptionPolicy: Never",
        "tolerations: [{ operator: Exists }, { key: a, value: b }, { key: a, effect: NoExecute }]",
        "nodeSelector { example.com/zone: a }",
        _AFFINITY % (_EXPRESSION % "NotIn"),
        _SPREAD % (1, "zone", "ScheduleAnyway"),
        "schedulingGates: [{ name: example.com/a }, { name: b }]",
    ]
    assert said(analysed(f"pod p {{ {'; '.join(every)} }}\n", tmp_path)) == []


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_an_error_at_its_place(case: str, tmp_path: Path):
    text, place, message = REFUSED[case]
    analysis = analysed(text, tmp_path)
    found = [item for item in said(analysis) if item.severity == "error"]
    assert (marked(found[0]), found[0].message[: len(message)]) == (place, message)
    assert len({marked(item) for item in found}) == 1
    assert analysis.scenarios == ()


TAKEN = {
    "a whole cluster": (
        'node n\nslice s { driver: a.example.com; nodeName: n; device a { attributes { model: "x" } } }\n'
        + CLASS
        + "claim c { request gpu: 1 of gpu }\n"
    ),
    "slices whose number is counted": (
        "node n\nslice s-[1..2] { driver: a.example.com; nodeName: n; pool { name: p }; device a }\n"
    ),
    "admin access, which depends on the namespace": CLASS + "claim c { request gpu: 1 of gpu { adminAccess: true } }\n",
    "a kind whose API is on": "gates { GenericWorkload: true }\npodgroup g { schedulingPolicy: { basic: {} } }\n",
    "an error that has been said in better words": (
        CLASS + "claim c { request gpu: 1 of gpu; match example.com/numa across gpus }\n"
    ),
    "holes of a fuzz": CLASS
    + 'fuzz "sizes" {\n  claim c { request gpu: any 0..3 of gpu }\n  expect all pods are settled\n}\n',
}


@pytest.mark.parametrize("case", TAKEN)
def test_what_the_server_takes_or_others_decide_is_no_error(case: str, tmp_path: Path):
    assert said(analysed(TAKEN[case], tmp_path)) == []


MANIFEST = """\
apiVersion: v1
kind: List
items:
- apiVersion: resource.k8s.io/v1beta1
  kind: DeviceClass
  metadata:
    name: gpu
  spec:
    selectors:
    - cel:
        expression: |
          device.driver == "gpu.example.com" &&
          device.attrs == {}
    - cel:
        expression: "device.\\u0064river"
    - cel:
        expression: 'device.drive == 1'
- apiVersion: resource.k8s.io/v1beta1
  kind: ResourceClaim
  metadata:
    name: c
  spec:
    devices:
      requests:
      - name: gpu
        deviceClassName: gpu
        count: -5
"""


def test_manifests_are_refused_where_their_values_stand(tmp_path: Path):
    (tmp_path / "x.yaml").write_text(MANIFEST)
    found = [item for item in said(analysed('use "x.yaml"\n', tmp_path)) if item.severity == "error"]
    assert [(str(item.span), marked(item)) for item in found] == [
        (f"{tmp_path}/x.yaml:13:17", ".attrs"),
        (f"{tmp_path}/x.yaml:15:21", '"device.\\u0064river"'),
        (f"{tmp_path}/x.yaml:17:28", ".drive"),
        (f"{tmp_path}/x.yaml:27:16", "-5"),
    ]


def test_an_older_version_is_refused_where_it_is_gone_and_remarked_on_before(tmp_path: Path):
    (tmp_path / "x.yaml").write_text(
        "apiVersion: resource.k8s.io/v1beta1\nkind: DeviceClass\nmetadata:\n  name: gpu\nspec: {}\n"
    )
    texts = {}
    for version in ("1.34", "1.37", "1.38"):
        found = said(analysed(f'kubernetes {version}\nuse "x.yaml"\n', tmp_path))
        texts[version] = [(item.severity, item.message) for item in found]
    gone = "resource.k8s.io/v1beta1 DeviceClass is deprecated in v1.35+, unavailable in v1.38+"
    assert texts == {
        "1.34": [],
        "1.37": [
            (
                "warning",
                f"the API server remarks: {gone}",
            )
        ],
        "1.38": [("error", "Kubernetes 1.38 does not serve DeviceClass as `resource.k8s.io/v1beta1`")],
    }


def test_an_owner_without_uid_is_only_a_remark_in_a_manifest(tmp_path: Path):
    (tmp_path / "x.yaml").write_text(
        "apiVersion: v1\nkind: Node\nmetadata:\n  name: node-1\n"
        "  ownerReferences:\n  - {apiVersion: v1, kind: Node, name: m}\n"
    )
    (found,) = said(analysed('use "x.yaml"\n', tmp_path))
    assert (found.severity, found.code) == ("warning", "DRA0312")
    assert found.message.startswith("the API server remarks: metadata.ownerReferences[0].uid: Required value")


ALTERNATIVES = """\
class gpu { where `true` }
claim c { request gpu: first available { big: 1 of gpu; small: 1 of gpu } }
pod p { claim gpu is c }
scenario "on" { create p; expect p is pending }
scenario "off" {
  gates { DRAPrioritizedList: false }
  create p
  expect p is pending
}
"""


def test_what_only_a_scenario_refuses_names_it(tmp_path: Path):
    text = "kubernetes 1.34\n" + ALTERNATIVES
    (found,) = said(analysed(text, tmp_path))
    assert found.message.startswith("the API server refuses `spec.devices.requests[0]")
    assert [(each.message, each.span.text) for each in found.related] == [
        ("with the settings of this scenario", '"off"')
    ]


def test_what_every_scenario_refuses_names_none(tmp_path: Path):
    text = "kubernetes 1.34\ngates { DRAPrioritizedList: false }\n" + ALTERNATIVES.replace(
        "gates {", "quirks {"
    ).replace("DRAPrioritizedList: false }\n  create", "}\n  create")
    (found,) = said(analysed(text, tmp_path))
    assert found.related == ()


def test_the_same_object_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked = []
    real = admission.admit_object

    def counted(*args, **named):
        asked.append(args[1])
        return real(*args, **named)

    monkeypatch.setattr(admission, "admit_object", counted)
    cluster = "  node n\n  class gpu { where `true` }\n"
    scenarios = [f'scenario "s{number}" {{\n{cluster}  create p\n  expect p is pending\n}}\n' for number in range(20)]
    analysis = analysed("pod p\n" + "".join(scenarios), tmp_path)
    assert not analysis.has_errors
    assert len(asked) == 3
