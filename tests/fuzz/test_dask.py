"""Chunks on a Dask cluster of several worker processes: the same findings, whoever is lost."""

import os
import signal
import subprocess
import sys
import time

import distributed
import pytest
from dask_cluster import ROOT, Cluster

from dralang.check.analysis import Analyzer
from dralang.fuzz import dask, identity
from dralang.fuzz.campaign import Campaign, Plan, Target
from dralang.fuzz.engine import EngineError
from dralang.fuzz.memory import Memory

DEVICES = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.example.com}}]}}}
"""
SPEC = """\
kubernetes 1.37
use std.example.gpu-node
use "one.yaml"
gpu-node(worker, gpus: 1)
pod small { claim gpu from one }

fuzz "holds" {
  repeat any 1..3 as i { at any 0ms..90s create pod h-${i} like small { priority: any 0..100000 } }
}

fuzz "rare" {
  create pod p like small { priority: any 0..9999 }
  expect all pods are settled
  expect `pods["p"].spec.priority % 149 != 13`
}
"""


class Ears:
    def progressed(self, outcomes, current):
        pass


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        for name in ("one", "two", "three"):
            made.worker(name)
        yield made
    finally:
        made.close()


@pytest.fixture
def spec(project):
    project.write("one.yaml", DEVICES)
    return project.write("a.dra", SPEC)


def campaign(path, ears=None, memory=None, **plan):
    analysis = Analyzer().path(path)
    assert not analysis.has_errors, analysis.diagnostics
    targets = [Target(path, scenario) for scenario in analysis.scenarios]
    return Campaign(targets, Plan(**plan), ears or Ears(), memory)


def found(run):
    run.run()
    assert run.broken is None
    return [
        (each.examples, each.last, each.choices, each.signature, each.states.count, each.reached)
        for each in run.outcomes
    ]


def test_a_cluster_finds_the_same_without_the_files(cluster, spec, project):
    alone = found(campaign(spec, seed=3, max_examples=120))
    assert [choices is None for _, _, choices, *_ in alone] == [True, False]
    assert alone[1][1] > 0, "the finding is not in the first chunk"
    run = campaign(spec, seed=3, max_examples=120, scheduler=cluster.address)
    spec.unlink()
    (project.root / "one.yaml").unlink()
    assert found(run) == alone


def test_a_worker_that_is_lost_in_the_middle_loses_no_example(cluster, spec, monkeypatch):
    alone = found(campaign(spec, seed=4, max_examples=200))
    victim = cluster.worker("victim")
    submit, result = dask.Dask.submit, dask.Dask.result
    done: list[str] = []

    def stopping(engine, order):
        if not done:
            victim.send_signal(signal.SIGSTOP)  # so that it has not done its work before it is lost
            done.append("stopped")
        return submit(engine, order)

    def killing(engine, order, handle):
        if done == ["stopped"]:
            cluster.wait_for_work_of("victim")
            victim.kill()
            victim.wait()
            done.append("killed")
        return result(engine, order, handle)

    monkeypatch.setattr(dask.Dask, "submit", stopping)
    monkeypatch.setattr(dask.Dask, "result", killing)
    assert found(campaign(spec, seed=4, max_examples=200, scheduler=cluster.address)) == alone
    assert done == ["stopped", "killed"]


def test_failing_examples_are_kept_and_played_first(cluster, spec, tmp_path):
    [_, first] = found(campaign(spec, memory=(memory := Memory(tmp_path)), seed=3, scheduler=cluster.address))
    assert first[2] is not None
    assert memory.save() == ""
    again = campaign(spec, memory=Memory(tmp_path), seed=9, max_examples=50, scheduler=cluster.address)
    [_, second] = found(again)
    assert again.outcomes[1].remembered
    assert (second[0], second[2], second[3]) == (0, first[2], first[3])


def test_the_time_is_that_of_the_cluster(cluster, spec):
    run = campaign(spec, seed=3, max_examples=None, seconds=4.0, scheduler=cluster.address)
    before = time.monotonic()
    run.run()
    assert time.monotonic() - before < 60
    assert run.outcomes[0].examples > 0


# ---- what goes wrong ------------------------------------------------------------------------------------------------


def test_without_the_extra(project, spec, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    ran = project.run("fuzz", "a.dra", "--engine", "dask", "--scheduler", "tcp://127.0.0.1:8786")
    assert ran.code == 4
    assert "error: `--engine dask` needs Dask" in ran.err
    assert "help: install it, here and where the workers run: `pip install 'dralang[dask]'`" in ran.err


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense", "other://127.0.0.1:1", "tcp://127.0.0.1:port"])
def test_nobody_answers(project, spec, monkeypatch, address):
    monkeypatch.setattr(dask, "REACHING", 1.0)
    before = time.monotonic()
    ran = project.run("fuzz", "a.dra", "--engine", "dask", "--scheduler", address)
    assert time.monotonic() - before < 30
    assert ran.code == 4
    assert f"error: no Dask scheduler answers at `{address}`" in ran.err
    assert "help: start one with `dask scheduler`" in ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "dask"], "needs the address of a scheduler"),
        (["--engine", "dask", "--scheduler", ""], "needs the address of a scheduler"),
        (["--scheduler", "tcp://127.0.0.1:1"], "`--scheduler` needs `--engine dask`"),
        (["--engine", "processes", "--scheduler", "tcp://127.0.0.1:1"], "`--scheduler` needs `--engine dask`"),
        (["--engine", "dask", "--scheduler", "tcp://127.0.0.1:1", "-n", "2"], "has the workers that it has"),
        (["--engine", "ray"], "cannot be `ray`"),
    ],
)
def test_options_that_do_not_go_together(project, spec, options, message):
    ran = project.run("fuzz", "a.dra", *options)
    assert ran.code == 4
    assert message in ran.err
    assert "help: " in ran.err


@pytest.fixture
def small_cluster(tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(folder)
    yield made
    made.close()


def test_a_scheduler_without_workers(project, spec, small_cluster, monkeypatch):
    monkeypatch.setattr(dask, "GATHERING", 0.5)
    ran = project.run("fuzz", "a.dra", "--engine", "dask", "--scheduler", small_cluster.address)
    assert ran.code == 4
    assert "has no workers" in ran.err
    assert f"help: start some: `dask worker {small_cluster.address}" in ran.err


@pytest.mark.parametrize(
    ("theirs", "message"),
    [
        ("{}", "has another dralang (code None, here "),
        ("{**REAL, 'code': '0'}", "has another dralang (code 0, here "),
        ("{**REAL, 'hypothesis': '6.0.0'}", "has Hypothesis 6.0.0, here is "),
        (None, "cannot load this dralang: ModuleNotFoundError"),
    ],
)
def test_a_worker_with_another_dralang(project, spec, small_cluster, tmp_path, theirs, message):
    package = tmp_path / "other" / "dralang"
    (package / "fuzz").mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "fuzz" / "__init__.py").touch()
    if theirs is not None:
        source = f"REAL = {dict(dask.IDENTITY)}\nIDENTITY = {theirs}\n"
        (package / "fuzz" / "identity.py").write_text(source)
    small_cluster.worker("other", package.parent)
    ran = project.run("fuzz", "a.dra", "--engine", "dask", "--scheduler", small_cluster.address)
    assert ran.code == 4
    assert "error: the Dask worker at tcp://" in ran.err
    assert message in ran.err
    assert "help: " in ran.err


def test_a_worker_with_another_dralang_that_comes_later(cluster, spec, monkeypatch):
    engine = dask.Dask(cluster.address)
    try:
        run = campaign(spec)
        order = run._order(run.outcomes[0], 0, 5)
        monkeypatch.setattr(identity, "IDENTITY", {**dask.IDENTITY, "code": "0"})
        monkeypatch.setattr(dask, "IDENTITY", identity.IDENTITY)
        with pytest.raises(EngineError, match=r"the Dask worker at tcp://.* has another dralang .*, here 0"):
            engine.result(order, engine.submit(order))
    finally:
        engine.close()


def test_all_workers_are_gone(spec, small_cluster, monkeypatch):
    monkeypatch.setattr(dask, "PATIENCE", 1.0)
    worker = small_cluster.worker("only")

    class Killer:
        def progressed(self, outcomes, current):
            worker.kill()
            worker.wait()

    run = campaign(spec, Killer(), max_examples=2_000, scheduler=small_cluster.address)
    run.run()
    assert run.broken is not None
    assert "has had no worker for 1 seconds" in run.broken.message
    assert sum(outcome.examples for outcome in run.outcomes) > 0, "what was done counts"


def test_the_scheduler_is_gone(project, small_cluster, monkeypatch):
    monkeypatch.setattr(dask, "PATIENCE", 1.0)
    project.write("one.yaml", DEVICES)
    project.write("a.dra", SPEC)
    small_cluster.worker("only")
    progressed = Campaign._take

    def killing(campaign, *rest):
        small_cluster.scheduler.kill()
        small_cluster.scheduler.wait()
        progressed(campaign, *rest)

    monkeypatch.setattr(Campaign, "_take", killing)
    arguments = ("--engine", "dask", "--scheduler", small_cluster.address, "-k", "holds", "--max-examples", "5000")
    ran = project.run("fuzz", "a.dra", *arguments)
    assert ran.code == 4, ran.out + ran.err
    assert "cannot be used any more" in ran.err
    assert "ok a.dra::holds: 50 examples" in ran.out, "the report"


def test_ctrl_c_ends_with_the_report(cluster, project, spec):
    command = [sys.executable, "-m", "dralang", "fuzz", "a.dra", "-k", "holds", "--max-examples", "100000"]
    process = subprocess.Popen(
        [*command, "--engine", "dask", "--scheduler", cluster.address],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    cluster.wait_for_work_of("one")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2, out + err
    assert "a.dra::holds: " in out, "the report"
    assert "interrupted" in out
    assert err == ""
    with distributed.Client(cluster.address, set_as_default=False) as client:
        end = time.monotonic() + 60
        while any(client.processing().values()):
            assert time.monotonic() < end, "the cluster is not bothered any longer"
            time.sleep(0.1)
