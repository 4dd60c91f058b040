"""A scenario of too many steps is refused, wherever the step stands that is one too many."""

import pytest
from cli_project import Project

BODIES = {
    "one statement in the innermost body": "repeat 100 { repeat 100 { repeat 100 { settle } } }",
    "a last statement": "repeat 2 { repeat 49999 { settle } }",
    "one before others": "repeat 50000 { settle }; settle; settle",
    "in a block of time": "at 1s { repeat 300 { repeat 300 { settle } } }",
    "before and in a block of time": "repeat 50000 { settle }; after 1s { settle }",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_it_is_refused_once(project: Project, body: str):
    project.write("a.dra", f'kubernetes 1.37\nscenario "long" {{ {body} }}\n')
    ran = project.run("test", "a.dra")
    assert ran.out.count("more than 50,000 steps") == 1, ran.out
    assert "1 passed" not in ran.out


def test_as_many_as_there_may_be(project: Project):
    project.write("a.dra", 'kubernetes 1.37\nscenario "long" { repeat 49990 { settle } }\n')
    assert "1 passed" in project.run("test", "a.dra").out


def test_repetitions_of_nothing_end(project: Project):
    project.write("a.dra", 'kubernetes 1.37\nscenario "long" { repeat 50000 { repeat 50000 { repeat 50000 { } } } }\n')
    ran = project.run("test", "a.dra")
    assert ran.out.count("more than 100,000 repetitions") == 1, ran.out
