"""Several manifests in one file: what they may share, and what they may not."""

from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: { name: gpu-test }\n"
LABELLED = "apiVersion: v1\nkind: Namespace\nmetadata: { name: gpu-test, labels: { a: b } }\n"
CASES = {
    "the same object in two manifests is one object": (NAMESPACE, NAMESPACE, []),
    "two different objects of one name are a mistake": (NAMESPACE, LABELLED, ["DRA0202"]),
}


@pytest.mark.parametrize("name", CASES)
def test_two_manifests(name, tmp_path: Path):
    first, second, codes = CASES[name]
    (tmp_path / "a.yaml").write_text(first)
    (tmp_path / "b.yaml").write_text(second)
    spec = tmp_path / "a.dra"
    spec.write_text('kubernetes 1.37\nuse "a.yaml"\nuse "b.yaml"\npod p { namespace: gpu-test }\n')
    analysis = Analyzer().text(spec, "a.dra", spec.read_bytes())
    assert [found.code for found in analysis.diagnostics if found.severity == "error"] == codes


def test_a_manifest_may_be_larger_than_a_spec(tmp_path: Path):
    (tmp_path / "large.yaml").write_text(f"# {'x' * 3_000_000}\n{NAMESPACE}")
    (tmp_path / "spec.dra").write_text('use "large.yaml"\n')
    analysis = Analyzer().path(tmp_path / "spec.dra")
    assert not analysis.has_errors
    assert [item.key.name for item in analysis.objects] == ["gpu-test"]
