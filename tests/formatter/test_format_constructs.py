"""What authors write, and the one way to write it: at least one case for each rule of the grammar."""

import re

import pytest
from formatter.declarations_written import DECLARATIONS
from formatter.scenarios_written import SCENARIOS

from dralang.diagnostics.diagnostic import DiagnosticLog
from dralang.diagnostics.source import SourceFile
from dralang.formatter.format import format_source
from dralang.resources import grammar_path
from dralang.syntax import nodes
from dralang.syntax.reading import parse
from dralang.syntax.vocabulary import KEYWORDS
from dralang.syntax.walk import walk


def text_of(page: str) -> str:
    """A text of the tables without the indentation that it has here."""
    lines = page.strip("\n").rstrip(" ").splitlines()
    return "".join([line.removeprefix(" " * 8) + "\n" for line in lines])


def formatted(text: str) -> str:
    log = DiagnosticLog()
    result = format_source(SourceFile("a.dra", text), log)
    assert result is not None, [(str(item.span), item.code, item.message) for item in log.sorted()]
    return result


@pytest.mark.parametrize("name", DECLARATIONS)
def test_a_declaration_is_written_in_one_way(name):
    written, wanted = DECLARATIONS[name]
    assert formatted(text_of(written)) == text_of(wanted)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_is_written_in_one_way(name):
    written, wanted = SCENARIOS[name]
    assert formatted(text_of(written)) == text_of(wanted)


@pytest.mark.parametrize("name", [*DECLARATIONS, *SCENARIOS])
def test_what_is_formatted_stays_as_it_is(name):
    wanted = text_of({**DECLARATIONS, **SCENARIOS}[name][1])
    assert formatted(wanted) == wanted


def test_the_cases_have_every_keyword_that_the_grammar_and_the_vocabulary_know():
    words = set(
        re.findall(r"[a-z]+", " ".join([wanted for _, wanted in [*DECLARATIONS.values(), *SCENARIOS.values()]]))
    )
    of_grammar = set(re.findall(r'"([a-z]+)"', grammar_path().read_text(encoding="utf-8")))
    assert of_grammar == set(KEYWORDS)
    assert of_grammar - words == set()


def test_the_cases_have_every_kind_of_node():
    wanted = {
        found
        for found in vars(nodes).values()
        if isinstance(found, type) and issubclass(found, nodes.Node) and found is not nodes.Node
    }
    seen = set()
    for _, text in [*DECLARATIONS.values(), *SCENARIOS.values()]:
        seen |= {type(node) for node in walk(parse(SourceFile("a.dra", text_of(text)), DiagnosticLog()))}
    assert wanted - seen == set()
