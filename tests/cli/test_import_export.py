"""`dralang import` and `dralang export`."""

import json
import random

import pytest
from cli_project import Project
from cli_specs import PASSING
from counts import count

CLAIM = """apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata:
  name: shared
spec:
  devices:
    requests:
    - name: gpu
      deviceClassName: gpu.example.com
"""
TEXT = """# imported from claim.yaml
# converted to the current version: 1 resource.k8s.io/v1beta1 ResourceClaim
# named but not imported: class gpu.example.com

claim shared { request gpu: 1 of gpu.example.com }
"""
NOTES = "".join(line.replace("# ", "note: ") + "\n" for line in TEXT.splitlines()[1:3])
YAML = """apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: shared
  namespace: default
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.example.com
        allocationMode: ExactCount
        count: 1
"""


def test_a_manifest_becomes_a_spec_on_standard_output_and_notes_on_standard_error(project: Project):
    project.write("claim.yaml", CLAIM)
    ran = project.run("import", "claim.yaml")
    assert (ran.code, ran.out, ran.err) == (0, TEXT, NOTES)


def test_standard_input_and_several_files_are_read_together(project: Project):
    project.write(
        "class.yaml", "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: gpu.example.com}\n"
    )
    ran = project.run("import", "-", "class.yaml", stdin=CLAIM)
    assert ran.code == 0
    assert ran.out.startswith("# imported from <stdin>, class.yaml\n")
    assert ran.out.endswith("\nclass gpu.example.com\n\nclaim shared { request gpu: 1 of gpu.example.com }\n")
    assert "named but not" not in ran.err


def test_the_result_can_go_to_a_file_and_is_formatted(project: Project):
    project.write("claim.yaml", CLAIM)
    ran = project.run("import", "claim.yaml", "-o", "claim.dra")
    assert (ran.code, ran.out) == (0, "")
    assert (project.root / "claim.dra").read_text() == TEXT
    assert project.run("fmt", "--check", "claim.dra").code == 0


def test_an_error_leaves_no_result(project: Project):
    project.write("claim.yaml", CLAIM.replace("deviceClassName", "deviceClasName"))
    ran = project.run("import", "claim.yaml", "-o", "claim.dra")
    assert (ran.code, ran.out) == (4, "")
    assert "has no field `deviceClasName`" in ran.err
    assert "claim.yaml:9:7" in ran.err
    assert not (project.root / "claim.dra").exists()


def test_a_file_without_any_modelled_object_gives_nothing(project: Project):
    project.write("x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    ran = project.run("import", "x.yaml")
    assert (ran.code, ran.out) == (5, "")
    assert "1 ConfigMap" in ran.err
    assert ran.err.endswith("note: there is no object of a kind that is modelled\n")


WRONG = {
    "no file": (("import",), "`dralang import` takes manifests"),
    "a missing file": (("import", "no.yaml"), "cannot read `no.yaml`: no such file or directory"),
    "a folder": (("import", "."), "`.` is a folder"),
    "a path that is none": (("import", "a\0b"), "is no path"),
    "a target that cannot be written": (("import", "claim.yaml", "-o", "no/x.dra"), "cannot write `no/x.dra`"),
    "two files to export": (("export", "a.dra", "b.dra"), "`dralang export` takes one file"),
    "a time without a unit": (("export", "a.dra", "--at", "10"), "`--at 10`: a duration needs a unit"),
    "a version that does not exist": (("export", "a.dra", "--api", "v2"), "`--api` cannot be `v2`"),
    "a scenario that does not exist": (("export", "a.dra::none"), "none"),
}


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_command_line_is_refused(project: Project, words: tuple[str, ...], message: str):
    project.write("claim.yaml", CLAIM)
    project.write("a.dra", PASSING)
    ran = project.run(*words)
    assert (ran.code, ran.out) == (4, "")
    assert message in ran.err


def test_declared_objects_become_yaml_though_something_is_missing(project: Project):
    project.write("claim.dra", TEXT)
    ran = project.run("export", "claim.dra")
    assert (ran.code, ran.out) == (0, YAML)
    assert "warning[DRA0201]: there is no class `gpu.example.com`" in ran.err


def test_what_a_server_takes_only_as_an_update_is_said(project: Project):
    project.write("a.dra", 'namespace a { metadata { resourceVersion: "7" } }\nnamespace b\n')
    ran = project.run("export", "a.dra")
    assert ran.code == 0
    assert 'resourceVersion: "7"' in ran.out
    assert ran.err == "note: 1 of the objects have a `resourceVersion`: a server takes them as updates only\n"


def test_a_file_with_errors_is_not_exported(project: Project):
    project.write("claim.dra", "claim shared { requests gpu: 1 of gpu }\n")
    ran = project.run("export", "claim.dra")
    assert (ran.code, ran.out) == (4, "")
    assert "error[DRA" in ran.err


def test_the_only_scenario_of_a_file_needs_no_name(project: Project):
    project.write("a.dra", PASSING)
    ran = project.run("export", "a.dra", "--at", "0s")
    assert ran.code == 0
    assert "  phase: Running\n" in ran.out
    assert ran.out == project.run("export", "a.dra::one fits").out


def test_one_scenario_must_be_chosen(project: Project):
    project.write("a.dra", PASSING + '\nscenario "another" {\n  expect all pods are settled\n}\n')
    ran = project.run("export", "a.dra", "--at", "0s")
    assert (ran.code, ran.out) == (4, "")
    assert "2 scenarios are meant" in ran.err
    assert "`a.dra::one fits`; `a.dra::another`" in ran.err


def test_yaml_becomes_a_spec_and_yaml_again_in_a_pipe(project: Project):
    text = project.run("import", "-", stdin=YAML).out
    assert project.run("export", "-", stdin=text).out == YAML


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_no_bytes_bring_the_import_down(project: Project, form: str):
    source = random.Random(form)
    value = {
        "apiVersion": "v1",
        "kind": "List",
        "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "w"}}] * 3,
    }
    start = json.dumps(value, indent=1).encode() if form == "json" else CLAIM.encode()
    codes = set()
    for _ in range(count(100, 2000)):
        data = bytearray(start)
        for _ in range(source.randint(1, 3)):
            at = source.randrange(len(data))
            data[at : at + source.choice((0, 1, 4))] = source.randbytes(source.choice((0, 1, 3)))
        ran = project.run("import", "-", stdin=bytes(data))
        assert ran.code in (0, 4, 5), ran.err
        assert bool(ran.out) == (ran.code == 0)
        codes.add(ran.code)
    assert codes >= {0, 4}
