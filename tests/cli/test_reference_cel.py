"""`--reference-cel`: another evaluator behind the same scenarios."""

import pytest
from cli_project import Project
from cli_specs import FAILING, PASSING

from dralang.cel import reference


@pytest.mark.parametrize("command", ["test", "run"])
def test_the_same_verdicts_come_from_cel_python(project: Project, monkeypatch: pytest.MonkeyPatch, command: str):
    asked: list[str] = []
    real = reference.ReferenceExpressions.selector

    def selector(self: reference.ReferenceExpressions, expression: str):
        asked.append(expression)
        return real(self, expression)

    monkeypatch.setattr(reference.ReferenceExpressions, "selector", selector)
    project.write("good.dra", PASSING)
    project.write("bad.dra", FAILING)
    assert project.run(command, "good.dra").code == 0
    assert asked == []
    assert project.run(command, "good.dra", "--reference-cel").code == 0
    assert project.run(command, "bad.dra", "--reference-cel").code == 1
    assert any("device.driver" in expression for expression in asked)


VERSIONED = """\
kubernetes {version}
gates {{ DRAListTypeAttributes: true }}
node n
slice s {{ driver: a.example.com; nodeName: n; device a {{ attributes {{ zones: ["x", "y"] }} }} }}
class gpu {{ where `device.attributes["a.example.com"].zones.includes("x")` }}
claim c {{ request gpu: 1 of gpu }}
pod p {{ claim gpu is c }}
scenario "lists" {{
  create p
  expect p runs with a
}}
"""


@pytest.mark.parametrize("option", [(), ("--reference-cel",)])
def test_expressions_are_those_of_the_version(project: Project, option: tuple[str, ...]):
    project.write("a.dra", VERSIONED.format(version="1.37"))
    assert project.run("test", "a.dra", *option).code == 0
    project.write("a.dra", VERSIONED.format(version="1.35").replace("gates { DRAListTypeAttributes: true }\n", ""))
    ran = project.run("test", "a.dra", *option)
    assert ran.code == 4
    assert "undeclared reference to 'includes'" in ran.out + ran.err
