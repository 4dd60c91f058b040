"""What a fuzz has found, written down: what is written says the finding, and nothing else."""

import json

import pytest

CLUSTER = """\
kubernetes %s
node worker-1
slice gpus { driver: gpu.example.com; nodeName: worker-1; device gpu-[0..1] }
class gpu { where `device.driver == "gpu.example.com"` }
template one { request gpu: 1 of gpu }
priority low: 1
priority high: 100
pod small { claim gpu from one; priorityClassName: low }
pod big { claim gpu from one; priorityClassName: high }
"""
PREEMPTION = """\
fuzz "compare" {
  gates { DRAPreemption: %s }
  compare with { gates { DRAPreemption: %s } }
  repeat any 1..3 as i { at any 0s..60s create pod %s-${i} like any of [small, big] }
}
"""


def written(project, text, *options, code=1):
    """The run over a fuzz, and what it has written."""
    project.write("a.dra", text)
    ran = project.run("fuzz", "a.dra", "--max-examples", "50", *options)
    assert ran.code == code, ran.out + ran.err
    folder = project.root / "specs" / "regressions"
    return ran, [path.read_text() for path in folder.iterdir()] if folder.exists() else []


@pytest.mark.parametrize(
    ("own", "name", "expected"),
    [
        ("false", "p", ["pod p-2 runs on worker-1 with gpu-1", "pod p-3 is pending"]),
        # The victim is gone in the story as it is told first.
        ("true", "p", ["pod p-2 is gone", "pod p-3 runs on worker-1 with gpu-1"]),
        # The name of a pod says nothing of its state.
        ("false", "failed", ["pod failed-2 runs on worker-1 with gpu-1", "pod failed-3 is pending"]),
        ("false", "terminating", ["pod terminating-2 runs on worker-1 with gpu-1", "pod terminating-3 is pending"]),
    ],
)
def test_ends_under_other_settings_are_those_of_the_shrunk_story(project, own, name, expected):
    other = "true" if own == "false" else "false"
    _, [text] = written(project, CLUSTER % "1.38" + PREEMPTION % (own, other, name))
    assert f"gates {{ DRAPreemption: {other} }}" in text
    assert [line.strip().removeprefix("expect ") for line in text.splitlines() if "  expect " in line] == expected
    # It fails under the settings that are written, and passes under those of the fuzz.
    failed = project.run("test", "specs")
    assert failed.code == 1, failed.out + failed.err
    assert all(each in failed.out for each in expected)
    project.write("own.dra", text.replace(f"DRAPreemption: {other}", f"DRAPreemption: {own}"))
    assert project.run("test", "own.dra").code == 0


def test_pods_that_only_wait_otherwise_are_told_apart(project):
    """Both are pending, one of them with a node in view (it is tried again for ever, so one such story is enough)."""
    cluster = (
        CLUSTER.replace(
            "device gpu-[0..1]", "device gpu-[0..1] { bindingConditions: [ready]; bindingFailureConditions: [bad] }"
        )
        % "1.37"
    )
    quirk = "claim-named-twice-counts-twice"
    body = f"compare with {{ quirks {{ {quirk}: any of [true, false] }} }}"
    pod = "create pod p { claim r is shared; claim z is shared }"
    claim = "claim shared { request r: 1 of gpu }\n"
    _, [text] = written(project, f'{cluster}{claim}fuzz "x" {{ {body}; {pod} }}\n')
    assert [line.strip() for line in text.splitlines() if "  expect " in line] == ["expect pod p is not nominated"]
    assert project.run("fmt", "--check", "specs").code == 0
    assert project.run("test", "specs").code == 1
    project.write("own.dra", text.replace(f"{quirk}: false", f"{quirk}: true"))
    assert project.run("test", "own.dra").code == 0


def test_what_its_author_expects_is_no_end(project):
    body = PREEMPTION.replace("  repeat", "  create small\n  expect small runs\n  repeat")
    _, [text] = written(project, CLUSTER % "1.38" + body % ("false", "true", "p"))
    assert "expect small runs" not in text
    assert "expect pod " in text


def test_tags_and_titles_are_written_as_they_must_be(project):
    body = 'fuzz "title $${x} \\"q\\"" tagged "q r", plain { create small; expect small runs with gpu-1 }\n'
    ran, [text] = written(project, CLUSTER % "1.37" + body)
    assert 'scenario "title $${x} \\"q\\"" tagged "q r", plain, regression {' in text
    assert "cannot show" not in ran.out
    assert 'title ${x} "q"' in project.run("test", "specs").out


@pytest.mark.parametrize(
    ("story", "lines"),
    [
        ("create a; expect all of a is pending", ["create a", "expect all of a are pending"]),
        ("create b; at 5s { expect   all of b is pending }", ["create b", "at 5s expect all of b are pending"]),
        ("create a; within 5s   expect all of a is pending", ["create a", "within 5s expect all of a are pending"]),
        ("create b; never all of b is running", ["create b", "never all of b are running"]),
        (
            "repeat any 2..3 as i { create pod p-${i} like a }; expect p-1 run on w; expect all of p-* is gone",
            ["create pod p-1 like a", "expect all of p-* are gone"],
        ),
        # What stands in a hole is no part of the text of the fuzz.
        (
            "repeat any 1..3 as i { create pod p-${i} like a; expect p-${i} is gone }",
            ["create pod p-1 like a", "expect p-1 is gone"],
        ),
    ],
)
def test_expectations_that_the_formatter_words_otherwise(project, story, lines):
    ran, [text] = written(project, f'kubernetes 1.37\nnode w\npod a\npod b\nfuzz "x" {{ {story} }}\n')
    assert "cannot show" not in ran.out
    found = text[text.index("scenario ") :].splitlines()
    assert [line.strip() for line in found[1:-1]] == lines
    assert project.run("test", "specs").code == 1


@pytest.mark.parametrize(
    ("story", "lines"),
    [
        # The least that fails: one failure more than the time allows, and the shortest time.
        (
            "fail next any 1..9 bind of small; create small; within any 2s..20s expect small runs",
            ["fail next 2 bind of small", "create small", "within 2s expect small runs"],
        ),
        (
            "pause any of [garbage-collector, kubelet]; create small; within any of [5s, 9s] expect small runs",
            ["pause kubelet", "create small", "within 5s expect small runs"],
        ),
        (
            "delay any of [garbage-collector, scheduler] by any 0s..60s; create small; within 5s expect small runs",
            ["delay scheduler by 6s", "create small", "within 5s expect small runs"],
        ),
    ],
)
def test_faults_that_were_drawn_are_shrunk_and_written(project, story, lines):
    ran, [text] = written(project, CLUSTER % "1.37" + f'fuzz "x" {{ {story} }}\n')
    assert "cannot show" not in ran.out
    found = text[text.index("scenario ") :].splitlines()
    assert [line.strip() for line in found[1:-1]] == lines
    assert project.run("fmt", "--check", "specs").code == 0
    replayed = project.run("test", "specs")
    assert replayed.code == 1
    assert "small runs" in replayed.out
    assert "fails as in an earlier run" in project.run("fuzz", "a.dra").out


@pytest.mark.parametrize(
    ("story", "lines"),
    [
        ("repeat any 0..3 as i { create pod p-${i} {} }; expect all of p-* run", ["expect all of p-* run"]),
        ("maybe create pod p-1 {}; maybe delete p-1; expect p-1 runs", ["expect p-1 runs"]),
        ("maybe create pod team/p {}; expect team/p runs", ["expect team/p runs"]),
    ],
)
def test_a_pod_that_was_not_drawn_is_declared(project, story, lines):
    _, [text] = written(project, f'kubernetes 1.37\nnode w\nnamespace team\nfuzz "x" {{ {story} }}\n')
    declared, found = text.split("scenario ")
    assert declared.count("\npod ") == 1, "and no other one"
    assert [line.strip() for line in found.splitlines()[1:-1]] == lines
    assert project.run("fmt", "--check", "specs").code == 0
    assert project.run("test", "specs").code == 1


REDUCED = {
    "others wait too in the story that was drawn": (
        "cordon worker-1; create pod p-1 like small; create pod p-2 like small; "
        "at any 5s..9s create pod p-3 like big; expect all pods run"
    ),
    "another reason is left": (
        "create small; create big; maybe create pod p like big; cordon worker-1; create pod q like big; "
        "expect all pods run"
    ),
    "a drawn time becomes the shortest": (
        "pause kubelet; create small; at any 5s..9s create big; within any 20s..60s expect all pods run"
    ),
}


@pytest.mark.parametrize("name", REDUCED)
def test_the_failure_that_is_told_is_that_of_the_story_that_is_written(project, name):
    project.write("a.dra", CLUSTER % "1.37" + f'fuzz "x" {{ {REDUCED[name]} }}\n')
    ran = project.run("fuzz", "a.dra", "--max-examples", "50", "--format", "json")
    [found] = json.loads(ran.out)["fuzzes"]
    [[replayed]] = [
        each["failures"]
        for file in json.loads(project.run("test", "specs", "--format", "json").out)["files"]
        for each in file["scenarios"]
    ]
    told = found["failure"]
    assert told["file"] == "a.dra"
    assert {key: told[key] for key in ("kind", "expected", "actual", "time", "why")} == {
        key: replayed[key] for key in ("kind", "expected", "actual", "time", "why")
    }


def test_settings_that_were_drawn_are_written(project):
    body = "gates { DRADeviceTaints: any of [true, false]; DRADeviceTaintRules: false }"
    story = f"{body}; taint device gpu-0 with k:NoSchedule; create small; expect small runs with gpu-1"
    _, [text] = written(project, CLUSTER % "1.37" + f'fuzz "x" {{ {story} }}\n')
    assert "gates { DRADeviceTaints: false, DRADeviceTaintRules: false }" in text
    assert project.run("fmt", "--check", "specs").code == 0
    assert project.run("test", "specs").code == 1


def test_a_story_that_cannot_be_stored_can_be_shown(project):
    project.write("specs/regressions", "a file where the folder is to be")
    project.write("a.dra", 'node w\npod a\nfuzz "x" { create a; expect a is gone }\n')
    ran = project.run("fuzz", "a.dra", "--max-examples", "5")
    assert ran.code == 1, ran.out + ran.err
    assert "cannot write" in ran.err
    assert "cannot show" not in ran.out
    assert "expect a is gone" in ran.out


XFAIL = """\
kubernetes 1.37
node w
pod a
fuzz "known" xfail "later" { create a; expect a is pending }
"""
UNEXPECTED = 'fuzz "unexpected" xfail "never" { create a; expect a runs }\n'


def test_what_is_expected_to_fail_is_no_finding(project):
    ran, texts = written(project, XFAIL, code=0)
    assert not texts
    assert "xfailed a.dra::known: 1 examples, 1 states (later)\n" in ran.out
    assert "FOUND" not in ran.out
    assert "0 found, 1 xfailed" in ran.out
    # The example that is remembered is all that the next run plays.
    again, _ = written(project, XFAIL, code=0)
    assert "xfailed a.dra::known: fails as in an earlier run (later)\n" in again.out
    # Without the mark the same example is a finding.
    _, [text] = written(project, XFAIL.replace(' xfail "later"', ""))
    assert "expect a is pending" in text


@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_who_is_to_fail_and_does_not_is_reported(project, options):
    ran, texts = written(project, XFAIL + UNEXPECTED, *options)
    assert not texts
    assert "xpassed a.dra::unexpected: " in ran.out
    assert "it is marked `xfail`: never; take the mark away" in ran.out
    assert "0 found, 1 xfailed, 1 xpassed" in ran.out
    assert project.run("test", "a.dra").code == 1, "`dralang test` says the same"


def test_what_is_expected_stands_in_the_document(project):
    ran, _ = written(project, XFAIL + UNEXPECTED, "--format", "json")
    document = json.loads(ran.out)
    told = [(each["found"], each["xfailed"], each["xpassed"]) for each in document["fuzzes"]]
    assert told == [(False, True, False), (False, False, True)]
    assert document["fuzzes"][0]["failure"] is not None
    summary = document["summary"]
    assert [summary[name] for name in ("found", "xfailed", "xpassed", "exitCode")] == [0, 1, 1, 1]


def test_nobody_expects_faults_of_dralang(project, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("broken")

    monkeypatch.setattr("dralang.fuzz.explore.play_example", lambda *_, **__: broken())
    project.write("a.dra", XFAIL)
    ran = project.run("fuzz", "a.dra", "--max-examples", "5")
    assert ran.code == 3
    assert "FOUND a.dra::known" in ran.out
