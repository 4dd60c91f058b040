"""A KubeSchedulerConfiguration among manifests becomes a `scheduler` block that means the same."""

from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.cli.main import main
from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.interop.importing import import_manifests

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
FULL = (
    HEAD
    + """leaderElection: {leaderElect: true}
podInitialBackoffSeconds: 3
profiles:
- schedulerName: gpu-scheduler
  percentageOfNodesToScore: 20
  plugins:
    multiPoint:
      disabled: [{name: "*"}]
      enabled: [{name: PrioritySort}, {name: DefaultBinder}, {name: NodeResourcesFit, weight: 5}, {name: NodeName}]
  pluginConfig:
  - name: NodeResourcesFit
    args:
      apiVersion: kubescheduler.config.k8s.io/v1
      kind: NodeResourcesFitArgs
      scoringStrategy: {type: MostAllocated, resources: [{name: example.com/gpu, weight: 2}]}
  - name: DynamicResources
    args: {filterTimeout: 20s}
"""
)
NODE = "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"


def imported(*texts):
    log = DiagnosticLog()
    sources = [SourceFile(f"m{number}.yaml", text) for number, text in enumerate(texts)]
    return import_manifests(sources, log), log.sorted()


def settings(text, folder):
    (folder / "dralang.toml").touch()
    analysis = Analyzer().text(folder / "a.dra", "a.dra", text.encode())
    assert not analysis.has_errors, [item.message for item in analysis.diagnostics]
    return analysis.settings.scheduler


def test_the_block_means_what_the_manifest_means(tmp_path: Path):
    (tmp_path / "scheduler.yaml").write_text(FULL)
    used = settings('use "scheduler.yaml"\n', tmp_path)
    found, said = imported(FULL + NODE)
    assert said == []
    assert found.count == 1
    assert used is not None
    assert settings(found.text, tmp_path) == used


def test_it_is_said_what_became_of_it():
    found, _ = imported(FULL)
    assert found.notes == (
        "the scheduler configuration is a `scheduler` block: it holds for every scenario of the file",
        "left out of the scheduler configuration, as it changes no decision: `leaderElection`",
    )
    assert "\nscheduler {\n  podInitialBackoffSeconds: 3\n" in found.text


def test_a_configuration_alone_is_something_to_import(tmp_path: Path, capsys):
    (tmp_path / "s.yaml").write_text(FULL)
    (tmp_path / "nothing.yaml").write_text(HEAD)
    assert main(["import", str(tmp_path / "s.yaml")]) == 0
    assert "scheduler {" in capsys.readouterr().out
    assert main(["import", str(tmp_path / "nothing.yaml")]) == 0
    assert "scheduler" not in capsys.readouterr().out.replace("nothing.yaml", "")


def test_the_same_configuration_twice_is_one():
    found, said = imported(FULL, FULL)
    assert said == []
    assert found.text.count("scheduler {") == 1


REFUSED = {
    "two that differ": ((FULL, HEAD + "podMaxBackoffSeconds: 9\n"), "DRA0208", "m1.yaml:1:1"),
    "what is not modelled": ((HEAD + "extenders: [{urlPrefix: x}]\n",), "DRA0313", "m0.yaml:3:1"),
    "a second profile": ((HEAD + "profiles:\n- schedulerName: a\n- schedulerName: b\n",), "DRA0313", "m0.yaml:5:3"),
    "an unknown field": ((HEAD + "profile: []\n",), "DRA0313", "m0.yaml:3:1"),
    "an older version": ((HEAD.replace("k8s.io/v1", "k8s.io/v1beta3"),), "DRA0406", "m0.yaml:1:13"),
}


@pytest.mark.parametrize(("texts", "code", "place"), REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_a_place(texts, code, place):
    found, (said, *_) = imported(*texts)
    assert found is None
    assert (said.code, str(said.span)) == (code, place)
