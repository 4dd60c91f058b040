"""Selectors that compile and are probably wrong."""

from pathlib import Path

import pytest

from dralang.check.analysis import Analyzer
from dralang.diagnostics.codes import CODES
from dralang.diagnostics.diagnostic import Diagnostic

LINTS = ("DRA0502", "DRA0503", "DRA0504")
MODEL = 'device.attributes["a.example.com"].model'
CLUSTER = """\
node n
slice s {
  driver: a.example.com
  nodeName: n
  device a-[0..9] { attributes { model: "x"; size: 1; version: v1.2.3 } }
  device b { attributes { size: 2; version: v1.2.4 } }
}
slice t { driver: b.example.com; nodeName: n; device c }
"""


def found(text: str, folder: Path) -> list[Diagnostic]:
    (folder / "dralang.toml").touch()
    analysis = Analyzer().text(folder / "a.dra", "a.dra", text.encode())
    assert not analysis.has_errors, analysis.diagnostics
    return [item for item in analysis.diagnostics if item.code in LINTS]


@pytest.mark.parametrize("code", LINTS)
def test_the_example_of_a_code_provokes_it(code: str, tmp_path: Path):
    assert {item.code for item in found(CODES[code].example, tmp_path)} == {code}


MISTAKES = {
    "always true": ("class g { where `1 < 2` }\n", "DRA0502", "1 < 2"),
    "always false, because of a part": (
        "class g { where `device.driver == \"a\" && false` }\n",
        "DRA0502",
        'device.driver == "a" && false',
    ),
    "a version and a text": (
        ('class g { where `device.driver == "a.example.com" && '
        'device.attributes["a.example.com"].version == "1.2.3"` }\n'),
        "DRA0503",
        'device.attributes["a.example.com"].version == "1.2.3"',
    ),
    "an attribute that other drivers lack": (f'class g {{ where `{MODEL} == "x"` }}\n', "DRA0504", f'{MODEL} == "x"'),
    "an attribute that a device of the class lacks": (
        ('class g { where `device.driver == "a.example.com"` }\n'
        f'claim c {{ request r: 1 of g where `{MODEL} == "x"` }}\n'),
        "DRA0504",
        f'{MODEL} == "x"',
    ),
    "in an alternative of a template": (
        ('class g { where `device.driver == "a.example.com"` }\n'
        f'template c {{ request r: first available {{ one: 1 of g where `{MODEL} == "x"` }} }}\n'),
        "DRA0504",
        f'{MODEL} == "x"',
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_a_warning_at_its_place(case: str, tmp_path: Path):
    text, code, place = MISTAKES[case]
    (item,) = found(CLUSTER + text, tmp_path)
    assert item.span is not None
    assert (item.code, item.severity, item.span.text) == (code, "warning", place)


RIGHT = {
    "no condition, on purpose": "class g { where `true` }\n",
    "a guard": f'class g {{ where `device.driver == "a.example.com" && has({MODEL}) && {MODEL} == "x"` }}\n',
    "a selector before it": (
        'class g {\n  where `device.driver == "a.example.com"`\n'
        '  where `device.attributes["a.example.com"].size == 1`\n'
        f'  where `{MODEL} == "x"`\n}}\n'
    ),
    "a version and a version": (
        'class g { where `device.driver == "a.example.com" && '
        'device.attributes["a.example.com"].version == semver("1.2.3")` }\n'
    ),
}


@pytest.mark.parametrize("case", RIGHT)
def test_what_is_right_is_left_alone(case: str, tmp_path: Path):
    assert found(CLUSTER + RIGHT[case], tmp_path) == []


def test_the_devices_of_a_scenario_count_for_it(tmp_path: Path):
    text = (
        "node n\npod p\n"
        f'class g {{ where `{MODEL} == "x"` }}\n'
        'scenario "one" {\n  slice s { driver: a.example.com; nodeName: n; device a }\n'
        "  create p\n  expect p is pending\n}\n"
    )
    assert [item.code for item in found(text, tmp_path)] == ["DRA0504"]
    assert found(text.replace("device a }", 'device a { attributes { model: "x" } } }'), tmp_path) == []


def test_a_manifest_has_a_note_and_a_used_file_nothing(tmp_path: Path):
    (tmp_path / "x.yaml").write_text(
        "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: g}\n"
        "spec:\n  selectors:\n  - cel:\n      expression: |\n        1 <\n        2\n"
    )
    (item,) = found('use "x.yaml"\n', tmp_path)
    assert (item.severity, item.span and item.span.text) == ("note", "1 <\n        2")
    (tmp_path / "x.dra").write_text("class g { where `1 < 2` }\n")
    assert found('use "x.dra"\n', tmp_path) == []


def test_many_devices_take_no_time(tmp_path: Path):
    slices = "".join(
        f"slice s-{number} {{ driver: a.example.com; nodeName: n; pool {{ name: p-{number} }};"
        f" device d-[0..99] {{ attributes {{ size: {number} }} }} }}\n"
        for number in range(20)
    )
    items = found(f'node n\n{slices}class g {{ where `{MODEL} == "x"` }}\n', tmp_path)
    assert [item.code for item in items] == ["DRA0504"]
