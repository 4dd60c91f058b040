"""The 127 manifests of public drivers: they import, mean the same afterwards, and read like specs."""

import json
import re

import pytest
import yaml
from reading import MANIFESTS, elaborated, imported, meaning, meanings, refused

from dralang.check.environment import manifest_object
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_source
from dralang.interop.exporting import export
from dralang.manifest.objects import read_manifest
from dralang.syntax import nodes as n
from dralang.syntax.reading import parse

# What a 1.37 API server refuses as well: versions that are gone, a field of 1.30, a file without `apiVersion`.
REFUSED = {
    "dra-driver-nvidia-gpu/demo/specs/quickstart/v1beta1/gpu-test-vfiopci.yaml": {
        "kind ResourceClaimTemplate has no version `resource.k8s.io/v1alpha3`"
    },
    "dra-driver-nvidia-gpu/demo/specs/selectors/claims.yaml": {
        "kind ResourceClaimTemplate has no version `resource.k8s.io/v1alpha2`"
    },
    "dra-driver-nvidia-gpu/demo/specs/selectors/pods.yaml": {"PodResourceClaim has no field `source`"},
    "dra-example-driver/demo/examples/device-taints-tolerations/device-taint-pod-noschedule/4-pod-not-scheduled.yaml": {
        "this is no Kubernetes object: it has no `apiVersion`"
    },
    "dra-example-driver/demo/examples/podgroup-resourceclaimtemplate/podgroup-resourceclaimtemplate.yaml": {
        "kind PodGroup has no version `scheduling.k8s.io/v1alpha2`"
    },
}
PATHS = {str(path.relative_to(MANIFESTS)): path for path in sorted(MANIFESTS.rglob("*.yaml"))}
TAKEN = [name for name in PATHS if name not in REFUSED]


def read(name):
    return PATHS[name].read_text(encoding="utf-8")


def test_all_127_are_here():
    assert len(PATHS) == 127
    assert len(TAKEN) == 122


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_server_refuses_is_refused_with_its_reason(name):
    found = refused(read(name), name)
    assert {item.message for item in found} == REFUSED[name]
    assert all(item.span is not None and item.span.text for item in found)


@pytest.mark.parametrize("name", TAKEN)
def test_a_manifest_means_the_same_as_a_spec_and_as_yaml_again(name):
    first = imported(read(name), name)
    objects = elaborated(first.text)
    assert len(objects) == first.count
    if not objects:
        return
    text, _ = export(objects)
    again = imported(text, name)
    assert again.text.partition("\n\n")[2] == first.text.partition("\n\n")[2]
    assert [*map(meaning, elaborated(again.text))] == [*map(meaning, objects)]


@pytest.mark.parametrize("name", TAKEN)
def test_used_or_imported_a_manifest_is_the_same_objects(name):
    manifest = read_manifest(SourceFile(name, read(name)), DiagnosticLog())
    used = {found.key: found.object for found in [manifest_object(each, DiagnosticLog()) for each in manifest.objects]}
    assert meanings(elaborated(imported(read(name), name).text)) == meanings(used.values())


@pytest.mark.parametrize("name", TAKEN)
def test_every_object_and_every_other_kind_is_accounted_for(name):
    manifest = read_manifest(SourceFile(name, read(name)), DiagnosticLog())
    found = imported(read(name), name)
    assert found.count == len(manifest.objects)
    for kind, count in manifest.foreign:
        assert any(re.search(rf"not modelled and left out:.*\b{count} {kind}\b", note) for note in found.notes)


@pytest.mark.parametrize("name", TAKEN)
def test_imported_text_is_formatted_uses_nothing_and_hides_no_documents(name):
    source = SourceFile(name, imported(read(name), name).text)
    log = DiagnosticLog()
    assert format_source(source, log) == source.text
    tree = parse(source, log)
    assert not log
    assert all(isinstance(item, n.Decl) for item in tree.items)
    assert [text for text in texts(tree) if is_document(text)] == []


def test_the_share_of_requests_that_came_out_in_sugar(capsys):
    requests = sugar = selectors = lines = 0
    for name in TAKEN:
        text = imported(read(name), name).text
        for bodies in map(request_bodies, elaborated(text)):
            requests += len(bodies)
            selectors += sum(len(body.selectors) for body in bodies)
        for node in walk(parse(SourceFile(name, text), DiagnosticLog())):
            if isinstance(node, n.Request):
                sugar += isinstance(node.spec, n.ExactSpec)
                lines += sum(isinstance(inner, n.Where) for inner in walk(node) if not node.is_alternative)
    with capsys.disabled():
        print(  # noqa: T201  # the number is the point
            f"\nrequests of the manifests in sugar: {sugar} of {requests} ({sugar / requests:.1%}); "
            f"their selectors: {lines} of {selectors} ({lines / selectors:.1%})"
        )
    assert (sugar, lines) == (requests, selectors)


def request_bodies(value):
    """The requests of a claim or template, every alternative for itself."""
    spec = {"ResourceClaim": lambda: value.spec, "ResourceClaimTemplate": lambda: value.spec.spec}.get(
        type(value).__name__
    )
    found = []
    for request in () if spec is None else spec().devices.requests:
        found += request.first_available or [request.exactly]
    return found


def walk(node):
    """A node and everything in it."""
    stack = [node]
    while stack:
        here = stack.pop()
        if isinstance(here, tuple):
            stack += here
        elif isinstance(here, n.Node | n.File):
            yield here
            stack += [getattr(here, name) for name in here.__struct_fields__ if name not in ("span", "source")]


def texts(tree):
    return [node.text for node in walk(tree) if isinstance(node, n.Word) and node.quoted]


def is_document(text):
    """Whether a text is a YAML or JSON map or list. What a shell, or a single `key: value`, looks like is none."""
    try:
        json.loads(text)
    except ValueError:
        pass
    else:
        return text[:1] in ("{", "[")
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return False
    return isinstance(found, dict) and "\n" in text and all(isinstance(key, str) for key in found)
