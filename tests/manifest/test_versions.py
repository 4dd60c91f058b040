"""Older API versions are read as v1, with the places of the older text."""

from dralang.api.decode import decode
from dralang.api.kinds import KINDS
from dralang.api.located import Located
from dralang.check.environment import manifest_object
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile, Span
from dralang.manifest.objects import read_manifest

CLAIM = """apiVersion: resource.k8s.io/{version}
kind: ResourceClaim
metadata: {{name: c}}
spec:
  devices:
    requests:
    - name: gpu
{request}
"""
FLAT = "      deviceClassName: gpu\n      count: 2\n      selectors: [{cel: {expression: 'true'}}]"
NESTED = (
    "      exactly:\n        deviceClassName: gpu\n        count: 2\n        selectors: [{cel: {expression: 'true'}}]"
)
SLICE = """apiVersion: resource.k8s.io/{version}
kind: ResourceSlice
metadata: {{name: s}}
spec:
  driver: d.example.com
  allNodes: true
  pool: {{name: p, generation: 1, resourceSliceCount: 1}}
  devices:
  - name: gpu-0
{device}
"""
BASIC = "    basic:\n      attributes: {model: {string: a}}\n      capacity: {memory: {value: 1Gi}}"
PLAIN = "    attributes: {model: {string: a}}\n    capacity: {memory: {value: 1Gi}}"


def read(text):
    log = DiagnosticLog()
    found = read_manifest(SourceFile("x.yaml", text), log).objects
    declared = [manifest_object(each, log) for each in found]
    return declared, [(d.code, d.span.position.line if d.span else 0) for d in log.sorted()]


def test_v1beta1_claims_have_flat_requests():
    old, problems = read(CLAIM.format(version="v1beta1", request=FLAT))
    new, _ = read(CLAIM.format(version="v1", request=NESTED))
    assert problems == []
    assert old[0] is not None
    assert new[0] is not None
    assert old[0].object == new[0].object
    place = old[0].located.at(("spec", "devices", "requests", 0, "exactly", "deviceClassName"))
    assert place.span.position.line == 8


def test_v1beta1_slices_have_basic_devices():
    old, problems = read(SLICE.format(version="v1beta1", device=BASIC))
    new, _ = read(SLICE.format(version="v1", device=PLAIN))
    assert problems == []
    assert old[0] is not None
    assert new[0] is not None
    assert old[0].object == new[0].object


def test_a_field_of_another_version_is_refused_at_its_place():
    assert read(CLAIM.format(version="v1beta1", request=NESTED))[1] == [("DRA0301", 8)]
    assert read(CLAIM.format(version="v1", request=FLAT))[1][0] == ("DRA0301", 8)


def test_items_of_typed_lists_get_the_lists_kind():
    text = (
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClassList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n"
    )
    declared, problems = read(text)
    assert problems == []
    assert [each.key.name for each in declared if each is not None] == ["a", "b"]


def test_every_kind_decodes_from_nothing_but_its_name():
    for info in KINDS.values():
        log = DiagnosticLog()
        span = Span(SourceFile("x", "x"), 0, 1)
        assert (
            decode(info.type, Located({"metadata": Located({"name": Located("x", span)}, span)}, span), log) is not None
        )
