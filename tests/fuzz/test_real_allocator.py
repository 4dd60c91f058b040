"""The allocator of Kubernetes as an oracle of fuzzes: what the scheduler asks ours in a story, it is asked too."""

import json
import shutil
from pathlib import Path

import pytest
from faults import Blind

from dralang.allocator import attempt_state
from dralang.allocator.profiles import allocator_profile
from dralang.allocator.state import AllocatedState
from dralang.api.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dralang.check.analysis import Analyzer
from dralang.fuzz.explore import Explorer, seed_of
from dralang.fuzz.how import How
from dralang.fuzz.questions import GAVE_UP, ORDER, Encoder, Hearing, holders_of
from dralang.fuzz.real_allocator import RealAllocator, built
from dralang.resources import oracle_dir
from dralang.run.player import play
from dralang.run.workshop import Workshop
from dralang.scenario.holes import SmallestChooser
from dralang.values.quantity import parse_quantity

NEEDS_GO = pytest.mark.skipif(shutil.which("go") is None, reason="the real allocator is built with Go")
RANDOM = 'kubernetes 1.37\n{head}\nfuzz "f" from std.random() {{ expect all pods are settled }}\n'
TAINTED = """\
kubernetes 1.37
node w
slice s {
  driver: a.example.com
  nodeName: w
  device d-0 { taint broken:NoSchedule }
  device d-1
}
class any-device { where `device.driver == "a.example.com"` }
template t { request r: 1 of any-device }
pod p { claim c from t }
fuzz "f" {
  create p
  maybe create pod q like p
}
"""
BROKEN = TAINTED.replace('`device.driver == "a.example.com"`', '`device.attributes["a.example.com"].colour == "red"`')


@pytest.fixture
def with_program(project, real_allocator_folder):
    """A project in whose cache the program has been built already."""
    program = built(real_allocator_folder)
    folder = project.root / ".dralang_cache" / program.parent.name
    folder.parent.mkdir()
    folder.symlink_to(program.parent)
    return project


def scenario_of(text):
    analysis = Analyzer().text(Path("a.dra"), "a.dra", text.encode())
    assert not analysis.has_errors, analysis.diagnostics
    return analysis.scenarios[0]


@NEEDS_GO
@pytest.mark.parametrize(
    "head", ["", "gates { DRADerivedAttributes: true; DRADeviceCompatibilityGroups: true; DRADeviceTaintRules: true }"]
)
def test_the_allocators_agree_in_drawn_stories(real_allocator_folder, head):
    scenario = scenario_of(RANDOM.format(head=head))
    how = How(against=("real-allocator",), program=str(built(real_allocator_folder)))
    explorer = Explorer(Workshop(), how=how)
    chunk = explorer.chunk(scenario, seed_of(0, scenario, 0), 50)
    explorer.close()
    assert (chunk.choices, chunk.signature) == (None, "")
    assert chunk.counts.keys() == {"real-allocator: questions put"}
    assert chunk.counts["real-allocator: questions put"] > 100


@NEEDS_GO
def test_other_devices_are_a_finding_with_a_case(with_program, monkeypatch):
    monkeypatch.setattr(attempt_state, "untolerated", lambda *_: None)
    # The invariants see that fault too, and who tells the story otherwise.
    monkeypatch.setattr("dralang.run.player.Watch", Blind)
    monkeypatch.setattr("dralang.fuzz.example.told_otherwise", lambda *_, **__: None)
    with_program.write("a.dra", TAINTED)
    command = ("fuzz", "a.dra", "--max-examples", "20", "--against", "real-allocator")
    ran = with_program.run(*command)
    assert ran.code == 1, ran.out + ran.err
    assert "real-allocator: the devices" in ran.out
    [path] = (with_program.root / "specs" / "regressions").iterdir()
    case = json.loads(path.read_text())
    assert case["want"][0]["status"] == "allocated"
    assert "create p" in ran.out
    assert "create pod q" not in ran.out, "what is not needed is left out"
    assert with_program.run("conform", str(path)).code == 1
    monkeypatch.undo()
    monkeypatch.chdir(with_program.root)
    assert with_program.run("conform", str(path)).code == 0
    assert with_program.run(*command).code == 0


@NEEDS_GO
def test_another_verdict_and_another_text_are_findings(real_allocator_folder, monkeypatch):
    how = How(against=("real-allocator",), program=str(built(real_allocator_folder)))

    def signature(text):
        explorer = Explorer(Workshop(), how=how)
        scenario = scenario_of(text)
        chunk = explorer.chunk(scenario, seed_of(0, scenario, 0), 10)
        explorer.close()
        return chunk.signature

    assert signature(TAINTED) == signature(BROKEN) == ""
    with monkeypatch.context() as patch:
        patch.setattr("dralang.fuzz.questions.answer_of", lambda *_: {"status": "unallocatable"})
        assert "the verdict of the allocator" in signature(TAINTED)
    with monkeypatch.context() as patch:
        patch.setattr("dralang.fuzz.questions.answer_of", lambda *_: {"status": "error", "message": "it is so"})
        assert "the error of the allocator" in signature(BROKEN)


@NEEDS_GO
def test_workers_ask_too(with_program):
    with_program.write("a.dra", TAINTED)
    command = ("fuzz", "a.dra", "--max-examples", "60", "--against", "real-allocator")
    alone, together = with_program.run(*command), with_program.run(*command, "-n", "2")
    assert alone.code == together.code == 0
    counted = [line for line in alone.out.splitlines() if line.startswith("compared real-allocator")]
    assert counted
    assert [line for line in together.out.splitlines() if line.startswith("compared")] == counted


@NEEDS_GO
def test_a_program_that_ends_is_told(tmp_path):
    program = tmp_path / "oracle"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    real = RealAllocator(program)
    with pytest.raises(RuntimeError, match="ended at case 1 of 1"):
        real.answer({"id": "a"})


# ---- what cannot be asked -------------------------------------------------------------------------------------------


def heard(text):
    story = scenario_of(text).template.draw(SmallestChooser()).scenario
    hearing = Hearing(Encoder())
    play(story, Workshop(), lambda simulation: setattr(simulation.scheduler.manager, "on_asked", hearing.hear))
    return hearing


def test_questions_come_once_and_as_cases():
    hearing = heard(TAINTED)
    [question] = hearing.questions.values()
    assert hearing.asked >= 1
    assert hearing.unsaid == {}
    case = question.case("a", "1.37")
    assert [each["kind"] for each in case["objects"]] == ["Node", "ResourceSlice", "DeviceClass", "ResourceClaim"]
    assert case["steps"] == [{"node": "w", "allocate": list(question.labels)}]
    assert question.answer["allocations"][question.labels[0]]["devices"]["results"][0]["device"] == "d-1"


def test_switched_quirks_cannot_be_asked_for():
    hearing = heard(TAINTED.replace("node w\n", "quirks { any-taint-effect-blocks: true }\nnode w\n"))
    assert hearing.questions == {}
    assert list(hearing.unsaid) == ["quirks are switched"]


STABLE = "gates { DRAConsumableCapacity: false, DRADeviceBindingConditions: false, DRAPartitionableDevices: false }\n"
SECOND_POOL = "slice s2 { driver: a.example.com; nodeName: w; pool { name: other }; device d-2 }\n"


def test_where_pools_are_visited_in_random_order_only_a_single_one_can_be_asked_about():
    alone = TAINTED.replace("node w\n", f"{STABLE}node w\n")
    assert heard(alone).unsaid == {}
    several = heard(alone.replace("class any-device", f"{SECOND_POOL}class any-device"))
    assert several.questions == {}
    assert set(several.unsaid) == {ORDER}


def test_searches_that_were_given_up_are_not_asked(monkeypatch):
    monkeypatch.setattr("dralang.allocator.allocate.DEFAULT_BUDGET", 0)
    monkeypatch.setattr("dralang.allocator.allocate.Attempt.__init__.__defaults__", (0,))
    assert set(heard(TAINTED).unsaid) == {GAVE_UP}


def share(device, number, **amounts):
    return DeviceRequestAllocationResult(
        driver="a.example.com",
        pool="p",
        device=device,
        share_id=f"s-{number}",
        consumed_capacity={name: parse_quantity(amount) for name, amount in amounts.items()},
    )


def test_what_is_in_use_is_told_by_claims():
    features = allocator_profile("1.37", {"DRAConsumableCapacity": True}).features
    plain = DeviceRequestAllocationResult(driver="a.example.com", pool="p", device="d-0")
    results = [plain, share("d-1", 1, room="1"), share("d-1", 2, room="1500m")]
    held = [AllocationResult(devices=DeviceAllocationResult(results=(result,))) for result in results]
    state = AllocatedState.of([("default/c", each) for each in held], features)
    holders = holders_of(state)
    assert holders is not None
    again = AllocatedState.of(
        [(str(number), each.status.allocation) for number, each in enumerate(holders) if each.status.allocation],
        features,
    )
    pool = ("a.example.com", "p")
    assert again.pool(pool).devices() == {"d-0", "d-1"}
    assert again.pool(pool).consumed == state.pool(pool).consumed


def test_what_no_claims_sum_up_to_is_counted():
    features = allocator_profile("1.37", {"DRAConsumableCapacity": True}).features
    one = AllocationResult(devices=DeviceAllocationResult(results=(share("d-1", 1),)))
    assert holders_of(AllocatedState.of([("default/c", one)], features)) is None


# ---- where it cannot be had -----------------------------------------------------------------------------------------


def test_without_go_there_is_a_way_out(project, monkeypatch):
    monkeypatch.setattr("dralang.fuzz.real_allocator.shutil.which", lambda _: None)
    project.write("a.dra", TAINTED)
    ran = project.run("fuzz", "a.dra", "--against", "real-allocator")
    assert ran.code == 4
    assert "DRA0801" in ran.err
    assert "install Go" in ran.err


def test_a_build_that_fails_says_why(project, monkeypatch):
    monkeypatch.setenv("PATH", str(project.root))
    project.write("go", "#!/bin/sh\necho no such module >&2\nexit 1\n").chmod(0o755)
    project.write("a.dra", TAINTED)
    ran = project.run("fuzz", "a.dra", "--against", "real-allocator")
    assert ran.code == 4
    assert "`go build` of the real allocator failed: no such module" in ran.err


def test_fuzzes_of_other_versions_are_refused(project, monkeypatch):
    monkeypatch.setattr("dralang.cli.fuzz_oracles.built", lambda *_: Path("never-started"))
    project.write("a.dra", TAINTED.replace("1.37", "1.36"))
    ran = project.run("fuzz", "a.dra", "--against", "real-allocator")
    assert ran.code == 4
    assert "DRA0802" in ran.err
    assert "a.dra:12" in ran.err
    assert "--k8s 1.37" in ran.err


def test_the_source_lies_with_the_package():
    assert {path.name for path in oracle_dir().iterdir()} == {"main.go", "go.mod", "go.sum"}
